//! `callgate suggest`: rules that would allow what is not allowed, the most frequent first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use callgate_analysis::Advice;
use callgate_authoring::lines::{Line, read_line};
use callgate_host::{Audience, CallText, Decision, Gate, Request};
use clap::Args;
use serde_json::{Value, json};

use crate::advice;
use crate::answers::{Contexts, Problem};
use crate::calls::{self, Calls, LocatedCall};
use crate::setup::Setup;
use crate::source::Source;
use crate::terminal::{BOLD, DIM, Exit, Failure, GREEN, Out, clean, counted, paint, style_of};

/// How many different calls of one kind a suggestion is held against.
const MOST_CALLS: usize = 64;

/// Suggest rules for calls that are not allowed, the most frequent first; nothing is changed
///
/// Takes logs of `callgate guard --audit`, and files of calls, one a line. Calls that the documents do not allow are put together
/// by tool, rule and what their arguments are. For each kind the smallest rules are shown that would allow all of them (a rule lists
/// hosts and names, and each directory has one), the rule before which they must stand, and what else they would let through; or what
/// has to change instead, also in the annotation. In a
/// log, calls that a person approved count too. As JSON one line a suggestion. A rule is not a recommendation: read what it lets
/// through. With a world `--contexts` takes the context of each call from the file, and `--context` gives that of the guard, which
/// its log does not hold.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Suggest {
    /// The logs, or files of calls
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Show this many suggestions at most
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    most: usize,
    #[command(flatten)]
    contexts: Contexts,
    #[command(flatten)]
    setup: Setup,
}

const EXAMPLES: &str = "\
For example:
  callgate suggest ~/.local/state/callgate.jsonl
  callgate suggest --bundle conf/callgate.json calls.jsonl --format json";

/// Calls of one kind that are not allowed.
#[derive(Clone)]
struct Kind {
    server: String,
    tool: String,
    decision: &'static str,
    rule: String,
    count: usize,
    /// Different ones, each with its context.
    calls: Vec<(String, Option<String>)>,
    /// Where the first stands.
    place: String,
}

/// The calls that were looked at.
#[derive(Default)]
struct Found {
    /// By what is joined, and within that by the directories, hosts and names that they are about.
    kinds: BTreeMap<Vec<String>, BTreeMap<Vec<String>, Kind>>,
    allowed: usize,
    /// Calls that cannot be judged, each with its place and why.
    unknown: Vec<(String, String)>,
}

impl Suggest {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        self.contexts.check()?;
        self.setup.check_alone()?;
        let gate = self.setup.gate()?;
        let mut found = Found::default();
        for file in &self.files {
            for LocatedCall { place, call, context } in self.stopped(file, &gate)? {
                match call.and_then(|call| found.add(&gate, &place, (call, context))) {
                    Ok(()) => {}
                    Err(why) => found.unknown.push((place, why)),
                }
            }
        }
        let mut kinds: Vec<(Kind, Advice)> = Vec::new();
        for parts in found.kinds.into_values() {
            kinds.extend(self.advised(&gate, parts.into_values().collect())?);
        }
        kinds.sort_by_key(|(kind, _)| std::cmp::Reverse(kind.count));
        let left = kinds.len().saturating_sub(self.most);
        kinds.truncate(self.most);
        let mut names = BTreeSet::new();
        for (kind, advice) in &mut kinds {
            name_apart(advice, &mut names);
            show(kind, advice, out)?;
        }
        if out.human {
            for (place, why) in &found.unknown {
                let text = format!("{place} is not judged: {why}");
                out.line(&paint(DIM, &clean(&text)))?;
            }
            if left > 0 {
                let kinds = counted(left, "more kind of calls", "more kinds of calls");
                out.line(&format!("{kinds}, which --most shows"))?;
            }
            if kinds.is_empty() {
                let sum = match (found.allowed, found.unknown.is_empty()) {
                    (0, true) => paint(DIM, "found no call that was not allowed"),
                    (0, false) => paint(DIM, "no call can be judged"),
                    (_, _) => paint(GREEN, "every call that can be judged is allowed"),
                };
                out.line(&sum)?;
            }
            return Ok(Exit::Allow);
        }
        let unknown: Vec<Value> = found
            .unknown
            .iter()
            .map(|(place, why)| json!({"place": place, "why": why}))
            .collect();
        out.json(
            &json!({"suggestions": kinds.len(), "left": left, "allowed": found.allowed, "unknown": unknown}),
        )?;
        Ok(Exit::Allow)
    }

    /// What would allow the calls of these kinds together; of each by itself, where no rule allows all of them.
    fn advised(&self, gate: &Gate, kinds: Vec<Kind>) -> Result<Vec<(Kind, Advice)>, Failure> {
        let advice = |kind: &Kind| {
            let requests: Vec<Request<'_>> = kind.calls.iter().map(request).collect();
            advice::of(gate, &self.setup, &requests).map_err(|problem| match problem {
                Problem::Failure(failure) => failure,
                Problem::Call(error) => Failure::Fault(error.to_string()),
            })
        };
        let joined = kinds.iter().cloned().reduce(Kind::join);
        let Some(joined) = joined else {
            return Ok(Vec::new());
        };
        let found = advice(&joined)?;
        if kinds.len() == 1 || !matches!(found, Advice::NoRule { .. }) {
            return Ok(vec![(joined, found)]);
        }
        let each = kinds.into_iter().map(|kind| {
            let advice = advice(&kind)?;
            Ok((kind, advice))
        });
        each.collect()
    }

    /// The calls in a file, each with its place; or why a line is not a call. Of a log only those that were not allowed.
    fn stopped(&self, file: &Path, gate: &Gate) -> Result<Vec<LocatedCall>, Failure> {
        let source = Source::open(file)?;
        if source.is_log() {
            return crate::logged::stopped(source, gate, self.contexts.of(None));
        }
        let _ = gate;
        let mut calls = Calls::of(source);
        let mut found = Vec::new();
        while let Some(calls::Line { line, text }) = calls.next()? {
            let place = format!("{}:{line}", file.display());
            let read = text.and_then(|text| match read_line(&text, None) {
                Ok((_, Line::Call(asked))) => {
                    let context = self.contexts.of(asked.context).map(str::to_owned);
                    Ok(Some((asked.call.into_owned(), context)))
                }
                Ok((_, Line::Other(_))) => Ok(None),
                Err(refused) => Err(refused.error.message.clone()),
            });
            let (call, context) = match read {
                Ok(Some((call, context))) => (Ok(call), context),
                Ok(None) => continue,
                Err(why) => (Err(why), None),
            };
            found.push(LocatedCall { place, call, context });
        }
        Ok(found)
    }
}

fn show(kind: &Kind, advice: &Advice, out: &mut Out) -> Result<(), Failure> {
    let first = kind
        .calls
        .first()
        .map(|(call, _)| call.as_str())
        .unwrap_or_default();
    if out.human {
        let what = counted(kind.count, "call", "calls");
        out.line(&format!(
            "{} of {}/{}: {} by {}",
            paint(BOLD, &what),
            clean(&kind.server),
            clean(&kind.tool),
            paint(style_of(kind.decision), kind.decision),
            clean(&kind.rule)
        ))?;
        out.line(&format!(
            "{} {} {}",
            paint(DIM, "such as"),
            clean(first),
            paint(DIM, &clean(&format!("({})", kind.place)))
        ))?;
        out.text(&advice::shown(advice))?;
        return out.line("");
    }
    let call: Value = serde_json::from_str(first).unwrap_or_default();
    let mut line = json!({
        "count": kind.count, "serverName": kind.server, "toolName": kind.tool, "decision": kind.decision,
        "rule": kind.rule, "call": call, "place": kind.place,
    });
    if let (Some(members), Value::Object(advice)) = (line.as_object_mut(), advice::json(advice)) {
        // The rule that decides is there already, and for what no rule allows it may be another one.
        members.insert("suggestion".to_owned(), Value::Object(advice));
    }
    out.json(&line)
}

impl Kind {
    /// The calls of both, of which most are kept.
    fn join(mut self, other: Self) -> Self {
        self.count += other.count;
        let room = MOST_CALLS.saturating_sub(self.calls.len());
        self.calls.extend(other.calls.into_iter().take(room));
        self
    }
}

impl Found {
    fn add(&mut self, gate: &Gate, place: &str, call: (String, Option<String>)) -> Result<(), String> {
        let request = request(&call).explained(Audience::Operator);
        let response = gate.judge(&request).map_err(|error| error.to_string())?;
        let explanation = response.explanation.unwrap_or_default();
        if let Some(why) = crate::logged::asks_for_more(&explanation) {
            return Err(why);
        }
        let verdict = response.verdict;
        if verdict.decision == Decision::Allow {
            self.allowed += 1;
            return Ok(());
        }
        let text = |name: &str| explanation[name].as_str().unwrap_or_default().to_owned();
        let kind = Kind {
            server: text("serverName"),
            tool: text("toolName"),
            decision: verdict.decision.as_str(),
            rule: verdict.rule.into_owned(),
            count: 0,
            calls: Vec::new(),
            place: place.to_owned(),
        };
        let mut key = vec![
            kind.server.clone(),
            kind.tool.clone(),
            kind.decision.to_owned(),
            kind.rule.clone(),
        ];
        let (roles, about) = about(&explanation);
        key.extend(roles);
        let known = self.kinds.entry(key).or_default().entry(about).or_insert(kind);
        known.count += 1;
        if known.calls.len() < MOST_CALLS && !known.calls.contains(&call) {
            known.calls.push(call);
        }
        Ok(())
    }
}

/// The roles of a call's values, and what they are about: directories, hosts, names.
fn about(explanation: &Value) -> (BTreeSet<String>, Vec<String>) {
    let values = explanation["values"].as_array().into_iter().flatten();
    let (mut roles, mut found) = (BTreeSet::new(), BTreeSet::new());
    for value in values {
        let role = value["role"].as_str().unwrap_or_default();
        let raw = value["raw"].as_str().unwrap_or_default();
        let text = value["canonical"].as_str().unwrap_or(raw);
        let place = match text.rsplit_once('/') {
            Some((directory, _)) if text.starts_with('/') => directory,
            Some((_, _)) if text.contains("://") => text.split('/').nth(2).unwrap_or_default(),
            Some(_) | None => text,
        };
        found.insert(format!("{role} {place}"));
        roles.insert(role.to_owned());
    }
    (roles, found.into_iter().collect())
}

/// Gives the rules names that no other rule of the suggestions has, so that all of them can be taken.
fn name_apart(advice: &mut Advice, known: &mut BTreeSet<String>) {
    let Advice::Rules(suggestion) = advice else { return };
    for rule in &mut suggestion.rules {
        let name = rule["name"].as_str().unwrap_or_default().to_owned();
        let numbered = (2..).map(|number: usize| format!("{name}-{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        if let Some(free) = names.find(|name| !known.contains(name)) {
            known.insert(free.clone());
            rule["name"] = free.into();
        }
    }
}

/// The engine's question about a call in its context.
fn request((call, context): &(String, Option<String>)) -> Request<'_> {
    let call = CallText::from(call);
    Request::gate(match context {
        Some(context) => call.within(context),
        None => call,
    })
}
