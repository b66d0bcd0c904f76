//! An explanation as a tree that a person can follow.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;

use callgate_host::clean;

use super::failure::Failure;
use super::style::{BOLD, DIM, GREEN, RED, brief, paint, style_of, width, wrapped};

/// Characters of a value that are shown; a whole one is in the JSON.
const MOST: usize = 160;

/// The tree, a line a step.
/// `help` is what a person can do about the verdict; `is_verbose` shows what the host was asked.
pub(crate) fn tree(explanation: &Value, help: Option<&str>, is_verbose: bool) -> Result<String, Failure> {
    let read = Explanation::deserialize(explanation);
    let read = read.map_err(|error| Failure::Fault(format!("the explanation cannot be read: {error}")))?;
    let mut text = String::new();
    read.tree(help, is_verbose).write(&mut text, "", "");
    Ok(text)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Explanation {
    verdict: Verdict,
    server_name: String,
    tool_name: String,
    values: Vec<ValueStep>,
    checks: Vec<Check>,
    roles: Vec<Role>,
    #[serde(default)]
    commands: Vec<Command>,
    steps_left_out: usize,
    recording: Recording,
    /// The layer whose verdict and steps these are.
    layer: Option<String>,
    #[serde(default)]
    layers: Vec<LayerStep>,
}

/// What a layer says.
#[derive(Deserialize)]
struct LayerStep {
    layer: String,
    verdict: Verdict,
    #[serde(default)]
    left: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Verdict {
    decision: String,
    rule: String,
    reason: String,
    #[serde(default)]
    escalated_roles: Vec<String>,
}

#[derive(Deserialize)]
struct ValueStep {
    argument: String,
    role: String,
    raw: String,
    canonical: Option<String>,
    #[serde(default)]
    absent: bool,
}

#[derive(Deserialize)]
struct Check {
    check: String,
    passed: bool,
    detail: String,
}

#[derive(Deserialize)]
struct Role {
    role: Option<String>,
    walks: Vec<Walk>,
}

#[derive(Deserialize)]
struct Walk {
    alone: Option<String>,
    rules: Vec<Rule>,
    decision: String,
    rule: String,
}

#[derive(Deserialize)]
struct Rule {
    rule: String,
    effect: String,
    holds: bool,
    condition: Option<String>,
    detail: String,
}

/// A part of a shell command.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Command {
    argument: String,
    start: usize,
    end: usize,
    not_understood: Option<String>,
    judged: Option<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    tool_name: String,
    verdict: Verdict,
    values: Vec<ValueStep>,
    checks: Vec<Check>,
    roles: Vec<Role>,
}

#[derive(Deserialize)]
struct Recording {
    exchanges: Vec<serde_json::Map<String, Value>>,
}

struct Node {
    text: String,
    children: Vec<Node>,
}

impl Node {
    fn new(text: impl Into<String>, children: impl IntoIterator<Item = Node>) -> Self {
        Self {
            text: text.into(),
            children: children.into_iter().collect(),
        }
    }

    fn leaf(text: impl Into<String>) -> Self {
        Self::new(text, [])
    }

    fn write(&self, text: &mut String, first: &str, rest: &str) {
        let mark = if self.children.is_empty() { "" } else { "│" };
        let hanging = format!("{rest}{mark:<3}");
        let wrapped = wrapped(&self.text, width(first), &paint(DIM, &hanging));
        let _ = writeln!(text, "{}{wrapped}", paint(DIM, first));
        for (at, child) in self.children.iter().enumerate() {
            let (branch, below) = if at + 1 == self.children.len() {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            child.write(text, &format!("{rest}{branch}"), &format!("{rest}{below}"));
        }
    }
}

impl Explanation {
    fn tree(&self, help: Option<&str>, is_verbose: bool) -> Node {
        let Verdict {
            decision,
            rule,
            reason,
            escalated_roles,
        } = &self.verdict;
        let mut sections = vec![Node::leaf(format!(
            "{} {}",
            paint(DIM, "because"),
            decided(rule, reason),
        ))];
        if !escalated_roles.is_empty() {
            let roles = clean(&escalated_roles.join(", ")).into_owned();
            sections.push(Node::leaf(format!("{} {roles}", paint(DIM, "escalated roles"))));
        }
        if let Some(help) = help {
            sections.push(Node::leaf(format!("{} {}", paint(DIM, "help:"), clean(help))));
        }
        if !self.layers.is_empty() {
            sections.push(Node::new(
                paint(BOLD, "layers"),
                self.layers.iter().map(LayerStep::node),
            ));
        }
        if let Some(layer) = &self.layer {
            let whose = format!("{} {}", paint(DIM, "what follows is of layer"), clean(layer));
            sections.push(Node::leaf(whose));
        }
        if !self.values.is_empty() {
            let values = self.values.iter().map(ValueStep::node);
            sections.push(Node::new(paint(BOLD, "values"), values));
        }
        if !self.checks.is_empty() {
            sections.push(Node::new(
                paint(BOLD, "structural checks"),
                self.checks.iter().map(Check::node),
            ));
        }
        sections.extend(self.roles.iter().map(Role::node));
        if !self.commands.is_empty() {
            let parts = self.commands.iter().map(|part| part.node(&self.values));
            sections.push(Node::new(paint(BOLD, "parts of the command"), parts));
        }
        sections.extend(self.recording.node(is_verbose));
        if self.steps_left_out > 0 {
            sections.push(Node::leaf(format!(
                "{} further steps were left out",
                self.steps_left_out
            )));
        }
        let title = format!("{}/{}", self.server_name, self.tool_name);
        let decision = paint(style_of(decision), &clean(decision));
        Node::new(format!("{decision} {}", clean(&title)), sections)
    }
}

impl LayerStep {
    fn node(&self) -> Node {
        let Verdict {
            decision,
            rule,
            reason,
            ..
        } = &self.verdict;
        let layer = clean(&self.layer);
        Node::leaf(match self.left {
            true => format!("{layer}: leaves the tool to the layers below"),
            false => format!(
                "{layer}: {} {}",
                paint(style_of(decision), &clean(decision)),
                decided(rule, reason)
            ),
        })
    }
}

impl Command {
    fn node(&self, values: &[ValueStep]) -> Node {
        let whole = values.iter().find(|value| value.argument == self.argument);
        let text = whole.and_then(|value| value.raw.get(self.start..self.end));
        let text = brief(text.unwrap_or_default(), MOST);
        let Some(part) = &self.judged else {
            let why = clean(self.not_understood.as_deref().unwrap_or_default()).into_owned();
            return Node::leaf(format!("`{text}` {}: {why}", paint(RED, "is not understood")));
        };
        let verdict = &part.verdict;
        let decision = paint(style_of(&verdict.decision), &clean(&verdict.decision));
        let title = format!("`{text}` as shell/{}: {decision}", clean(&part.tool_name));
        let because = format!(
            "{} {}",
            paint(DIM, "because"),
            decided(&verdict.rule, &verdict.reason)
        );
        let values = part.values.iter().map(ValueStep::node);
        let checks = part.checks.iter().map(Check::node);
        let steps = values.chain(checks).chain(part.roles.iter().map(Role::node));
        Node::new(title, [Node::leaf(because)].into_iter().chain(steps))
    }
}

impl ValueStep {
    fn node(&self) -> Node {
        let place = if self.argument.is_empty() {
            "filled in"
        } else {
            &self.argument
        };
        let absent = if self.absent { ", absent," } else { "" };
        let head = format!(
            "{}{absent} {}",
            clean(place),
            paint(DIM, &format!("as {}", clean(&self.role)))
        );
        let raw = brief(&self.raw, MOST);
        Node::leaf(match &self.canonical {
            Some(canonical) if *canonical == self.raw => format!("{head}: `{raw}`, canonical as it stands"),
            Some(canonical) => format!("{head}: `{raw}` → `{}`", brief(canonical, MOST)),
            None => format!("{head}: `{raw}` {}", paint(RED, "has no canonical form")),
        })
    }
}

impl Check {
    fn node(&self) -> Node {
        let head = format!("{} {}", mark(self.passed), clean(&self.check));
        Node::leaf(match self.detail.as_str() {
            "" => head,
            detail => format!("{head}: {}", brief(detail, 2 * MOST)),
        })
    }
}

impl Role {
    fn node(&self) -> Node {
        let title = match &self.role {
            Some(role) => format!("role {}", clean(role)),
            None => "no resource role".to_owned(),
        };
        Node::new(paint(BOLD, &title), self.walks.iter().map(Walk::node))
    }
}

impl Walk {
    fn node(&self) -> Node {
        let whose = match &self.alone {
            Some(value) => format!("`{}` alone", brief(value, MOST)),
            None => "all values together".to_owned(),
        };
        let decision = paint(style_of(&self.decision), &clean(&self.decision));
        Node::new(
            format!("{whose}: {decision} by {}", clean(&self.rule)),
            self.rules.iter().map(Rule::node),
        )
    }
}

impl Rule {
    fn node(&self) -> Node {
        let Self {
            rule,
            effect,
            holds,
            condition,
            detail,
        } = self;
        let head = format!(
            "{} {} {}",
            mark(*holds),
            clean(rule),
            paint(DIM, &format!("({})", clean(effect)))
        );
        let detail = brief(detail, 2 * MOST);
        Node::leaf(match condition {
            Some(condition) => format!("{head}: {}: {detail}", clean(condition)),
            None => format!("{head}: {detail}"),
        })
    }
}

impl Recording {
    fn node(&self, is_verbose: bool) -> Option<Node> {
        let count = self.exchanges.len();
        if count > 0 && !is_verbose {
            let questions = if count == 1 { "question" } else { "questions" };
            let text = format!("the host was asked {count} {questions} (-v shows them)");
            return Some(Node::leaf(paint(DIM, &text)));
        }
        let questions = self.exchanges.iter().map(|exchange| {
            let mut text = exchange
                .get("ask")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            for (name, value) in exchange
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "ask" | "answer"))
            {
                let _ = match name.as_str() {
                    "path" => write!(text, " {}", text_of(value)),
                    _ => write!(text, " {name} {}", text_of(value)),
                };
            }
            let answer = exchange.get("answer").map(answer).unwrap_or_default();
            Node::leaf(format!("{} → {}", brief(&text, MOST), brief(&answer, MOST)))
        });
        (!self.exchanges.is_empty()).then(|| Node::new(paint(BOLD, "the host was asked"), questions))
    }
}

/// The answer of a host, without the name of the kind of answer.
fn answer(answer: &Value) -> String {
    let inner = answer.as_object().and_then(|members| members.iter().next());
    match inner {
        Some((kind, value)) if kind == "failed" => format!("failed: {}", text_of(value)),
        Some((kind, value)) if value.is_null() => format!("no {kind}"),
        Some((_, value)) => text_of(value),
        None => text_of(answer),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn decided(rule: &str, reason: &str) -> String {
    format!("{}: {}", clean(rule), clean(reason))
}

fn mark(good: bool) -> String {
    if good {
        paint(GREEN, "✓")
    } else {
        paint(RED, "✗")
    }
}
