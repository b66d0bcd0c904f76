//! This analysis.

use std::time::{Duration, Instant};

use callgate_engine::bind::Call;
use callgate_engine::diagnostic::Code;
use callgate_analysis::{Comparison, Outcome, ToolChanges, VerdictChange, check_invariants, lint_policy};
use callgate_engine::judge::Decision;
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::{Engine, LinklessHost};
use serde_json::{Value, json};

use crate::policies::{Answer, Example, Policy, Question, Rule, Shown, What};

/// The documents of a policy as text, as Cedar has them.
struct Documents {
    policy: String,
    annotations: String,
    invariants: String,
}

impl Documents {
    fn new(policy: &Policy, invariants: &Value) -> Self {
        let (grants, restrictions): (Vec<_>, Vec<_>) =
            policy.iter().enumerate().partition(|(_, rule)| rule.is_grant);
        // The first rule that holds decides, and in Cedar whatever forbids does.
        let rules: Vec<Value> = restrictions.into_iter().chain(grants).map(written).collect();
        let tool = |name: &str, argument: &str, role: &str| {
            let schema = json!({"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]});
            json!({"toolName": name, "args": {argument: role}, "inputSchema": schema})
        };
        let tools = json!([
            tool("fetch", "url", "fetch-url"),
            tool("read", "path", "read-path"),
            tool("write", "path", "write-path"),
            tool("push", "branch", "branch-name"),
        ]);
        Self {
            policy: json!({"rules": rules}).to_string(),
            annotations: json!({"servers": {"s": {"tools": tools}}}).to_string(),
            invariants: invariants.to_string(),
        }
    }

    fn parts(&self) -> [(DocumentKind, DocumentSource<'_>); 3] {
        [
            (DocumentKind::Policy, (&self.policy).into()),
            (DocumentKind::Annotations, (&self.annotations).into()),
            (DocumentKind::Invariants, (&self.invariants).into()),
        ]
    }

    fn engine(&self) -> Engine {
        let parts = self.parts().into_iter();
        let builder = parts.fold(Engine::builder(), |builder, (kind, text)| {
            builder.part(kind, text)
        });
        builder.build(&host()).expect("an engine")
    }
}

fn host() -> LinklessHost {
    LinklessHost::new("/home/u", "/")
}

/// A rule, whose name is its place in the policy.
fn written((at, rule): (usize, &Rule)) -> Value {
    let condition = match &rule.what {
        What::Fetch(host) => json!({"domains": {"roles": "fetch-url", "allowed": [host]}}),
        What::FetchBelow(host) => {
            json!({"domains": {"roles": "fetch-url", "allowed": [format!("*.{host}")]}})
        }
        What::Read(directory) => json!({"paths": {"roles": "read-path", "within": directory}}),
        What::Write(directory) => json!({"paths": {"roles": "write-path", "within": directory}}),
        What::Push(branch) => {
            let list = json!({"roles": "branch-name", "allowed": [branch], "matchType": "identifiers"});
            json!({"tool": "push", "lists": [list]})
        }
    };
    let effect = if rule.is_grant { "allow" } else { "deny" };
    json!({"name": format!("r{at}"), "if": condition, "then": effect, "reason": "r"})
}

/// Returns `true` if the policy allows the call.
pub(crate) fn allows(policy: &Policy, example: &Example) -> bool {
    let engine = Documents::new(policy, &json!([])).engine();
    let value = &example.value;
    let arguments = match example.tool.as_str() {
        "fetch" => json!({"url": format!("https://{value}/")}),
        "push" => json!({"branch": value}),
        _ => json!({"path": value}),
    };
    let call = Call::from_value("s", &example.tool, &arguments);
    let response = engine.gate(&call, &host());
    matches!(response.verdict.decision, Decision::Allow)
}

/// The answer, and how long it took until the analysis began.
pub(crate) fn answer(question: &Question) -> (Answer, Duration) {
    let begun = Instant::now();
    match question {
        Question::Equal(old, new) | Question::NotLooser(old, new) => {
            let [old, new] = [old, new].map(|policy| Documents::new(policy, &json!([])).engine());
            let asked = begun.elapsed();
            let is_one_way = matches!(question, Question::NotLooser(..));
            (compared(&Comparison::new(&old, &new), is_one_way), asked)
        }
        Question::Never(policy, what) => {
            let What::Read(directory) = what else {
                panic!("only reading is asked about")
            };
            let never = json!({"decision": ["allow", "escalate"], "roles": "read-path", "within": directory});
            let engine = Documents::new(policy, &json!([{"never": never}])).engine();
            let asked = begun.elapsed();
            (held(&engine), asked)
        }
        Question::AllDecide(policy) => {
            let documents = Documents::new(policy, &json!([]));
            let asked = begun.elapsed();
            (linted(&documents), asked)
        }
    }
}

/// The first change, or the first one that makes the policy looser.
fn compared(comparison: &Comparison<'_>, is_one_way: bool) -> Answer {
    let changes = |(server, tool)| comparison.tool(server, tool).expect("a tool");
    // All tools are looked at, whatever is found, as for a person who reads the difference.
    let changes: Vec<ToolChanges> = comparison.tools().into_iter().map(changes).collect();
    changes.iter().find_map(|changes| {
        assert!(changes.unknown.is_empty(), "{:?}", changes.unknown);
        let stricter = changes.stricter.first().filter(|_| !is_one_way);
        let VerdictChange { arguments, .. } = changes.looser.first().or(stricter)?;
        Some(Shown::Call(example(&changes.tool_name, arguments)))
    })
}

fn held(engine: &Engine) -> Answer {
    let statements = check_invariants(engine, None, &|_| {});
    match statements.first().map(|found| &found.outcome) {
        Some(Outcome::Proven { .. }) => None,
        Some(Outcome::Refuted { call, .. }) => {
            let tool = call["toolName"].as_str().expect("a tool");
            Some(Shown::Call(example(tool, &call["arguments"])))
        }
        found => panic!("{found:?}"),
    }
}

fn linted(documents: &Documents) -> Answer {
    let findings = lint_policy(&documents.parts(), &host(), None, &|_| {}).expect("an engine");
    let useless = findings
        .iter()
        .filter(|found| found.diagnostic.code == Code::NeverDecides);
    // A message begins with the rule's name in quotes.
    let name = |message: &str| message.split(['`', '\'', '"']).nth(1).map(str::to_owned);
    let rules: Vec<usize> = useless
        .map(|found| {
            let name = name(&found.diagnostic.message).expect("a name");
            name.trim_start_matches('r').parse().expect("a number")
        })
        .collect();
    (!rules.is_empty()).then_some(Shown::Rules(rules))
}

/// A call of ours by its only value.
fn example(tool: &str, arguments: &Value) -> Example {
    let members = arguments.as_object().expect("an object");
    let value = members.values().next().and_then(Value::as_str).expect("a text");
    let host = value
        .strip_prefix("https://")
        .map(|rest| rest.split('/').next().unwrap_or_default());
    Example {
        tool: tool.to_owned(),
        value: host.unwrap_or(value).to_owned(),
    }
}
