//! The calls in a guard's log, judged by other documents.

use callgate_host::StructuralRule;
use std::collections::BTreeSet;
use std::fs;
use std::io;

use callgate_engine::document::without_comments;
use callgate_engine::model::Effect;
use callgate_engine::text::unescape_token;
use callgate_guard::{Caller, Counted, Log, said};
use callgate_host::{Audience, CallText, Gate, Request};
use serde::{Deserialize as _, Serialize};
use serde_json::{Map, Value, json};

use crate::calls::LocatedCall;
use crate::source::Source;
use crate::terminal::{DIM, Failure, Out, clean, counted, paint, style_of};

/// Placeholder for a value that the log does not hold. It is neither a path nor a URL.
const UNKNOWN: &str = "a value that the log does not hold";

/// The decisions of a log under other documents.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Judged {
    /// How many calls were judged again.
    pub(crate) judged: usize,
    /// Decisions that change, and those that another rule makes.
    pub(crate) changes: Vec<Change>,
    /// Calls that the log says too little about.
    unknown: Vec<Unknown>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Change {
    place: String,
    time: Value,
    server: Value,
    tool: Value,
    values: Value,
    before: Decided,
    after: Decided,
}

#[derive(Serialize)]
struct Decided {
    decision: String,
    rule: String,
    reason: String,
}

#[derive(Serialize)]
struct Unknown {
    place: String,
    why: String,
}

impl Change {
    /// Returns `true` if the decision is another one, and not its rule alone.
    pub(crate) fn is_of_decision(&self) -> bool {
        self.before.decision != self.after.decision
    }
}

impl Judged {
    /// Judges every call of a log.
    pub(crate) fn add(&mut self, log: Source, gate: &Gate, context: Option<&str>) -> Result<(), Failure> {
        let conditions = conditions(gate)?;
        each(log, |place, record| {
            match again(&record, (gate, context), &conditions) {
                Ok((before, after)) => {
                    self.judged += 1;
                    if (&before.decision, &before.rule) != (&after.decision, &after.rule) {
                        self.changes.push(Change {
                            place,
                            time: record["time"].clone(),
                            server: record["server"].clone(),
                            tool: record["tool"].clone(),
                            values: record["values"].clone(),
                            before,
                            after,
                        });
                    }
                }
                Err(why) => self.unknown.push(Unknown { place, why }),
            }
        })
    }

    pub(crate) fn show(&self, out: &mut Out) -> Result<(), Failure> {
        for change in &self.changes {
            let Decided { decision, rule, .. } = &change.before;
            let after = &change.after;
            let text = |value: &Value| clean(value.as_str().unwrap_or_default()).into_owned();
            out.line(&format!(
                "{} {} → {} {}/{} {}",
                paint(DIM, &text(&change.time)),
                paint(style_of(decision), &clean(decision)),
                paint(style_of(&after.decision), &clean(&after.decision)),
                text(&change.server),
                text(&change.tool),
                clean(&change.place),
            ))?;
            for value in change.values.as_array().into_iter().flatten() {
                let shown = value["canonical"].as_str().or(value["raw"].as_str());
                out.line(&format!(
                    "  {} as {}: {}",
                    text(&value["argument"]),
                    text(&value["role"]),
                    clean(shown.unwrap_or_default())
                ))?;
            }
            out.line(&format!(
                "  {} → {}: {}",
                clean(rule),
                clean(&after.rule),
                clean(&after.reason)
            ))?;
        }
        for unknown in &self.unknown {
            let text = format!("{} is not judged: {}", unknown.place, unknown.why);
            out.line(&paint(DIM, &clean(&text)))?;
        }
        let changed = self
            .changes
            .iter()
            .filter(|change| change.is_of_decision())
            .count();
        out.line(&format!(
            "{} judged, {}, {} by another rule alone, {} not judged",
            self.judged,
            counted(changed, "decision changes", "decisions change"),
            self.changes.len() - changed,
            self.unknown.len()
        ))
    }
}

/// Gives each decision about a call by the rules, with its place, to `take`.
fn each(log: Source, mut take: impl FnMut(String, Value)) -> Result<(), Failure> {
    let name = log.name.clone();
    let name = name.display();
    let fault = |error: io::Error| Failure::Fault(format!("cannot read `{name}`: {error}"));
    for line in Log::new(log.into_reader()) {
        let line = line.map_err(fault)?;
        let place = format!("{name}:{}", line.number);
        if let Some(reason) = line.broken {
            // Somebody has changed it: what it says was not judged so.
            return Err(Failure::Invalid(format!("{place}: {reason}")));
        }
        let record = line.record;
        let rule = record["rule"].as_str().unwrap_or_default();
        let is_of_the_guard = match StructuralRule::parse(rule) {
            Some(
                StructuralRule::UnpinnedTool
                | StructuralRule::Audit
                | StructuralRule::Stopped
                | StructuralRule::ExpiredBundle,
            ) => true,
            // Nobody answered in time.
            Some(StructuralRule::Approval) => record["decision"] == "deny",
            _ => false,
        };
        // The line of the question says what the rules say.
        if record["kind"] == "decision" && !is_of_the_guard && record.get("answeredBy").is_none() {
            take(place, record);
        }
    }
    Ok(())
}

/// The decision about a call and the one that would be made now; or why the log does not say enough.
fn again(
    record: &Value,
    (gate, context): (&Gate, Option<&str>),
    conditions: &BTreeSet<String>,
) -> Result<(Decided, Decided), String> {
    let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
    let mut before = Decided {
        decision: text("decision"),
        rule: text("rule"),
        reason: text("reason"),
    };
    if before.rule == StructuralRule::Approval.as_str() {
        // Approvals are not documents: without them a person is asked.
        Effect::Escalate.as_str().clone_into(&mut before.decision);
    }
    let call = call_of(record, conditions)?;
    let call = CallText::from(&call);
    let context = in_context(record, context);
    let call = context.as_deref().map_or(call, |context| call.within(context));
    let request = Request::gate(call).explained(Audience::Operator);
    let response = gate.judge(&request).map_err(|error| error.to_string())?;
    let judged = response.explanation.unwrap_or_default();
    if let Some(why) = asks_for_more(&judged) {
        return Err(why);
    }
    let after = Decided {
        decision: response.verdict.decision.as_str().to_owned(),
        rule: response.verdict.rule.into_owned(),
        reason: response.verdict.reason.into_owned(),
    };
    // The log may not hold the part of the call that was wrong.
    let was_wrong = matches!(
        StructuralRule::parse(&before.rule),
        Some(
            StructuralRule::ProtectedPath
                | StructuralRule::UnknownArgument
                | StructuralRule::UnknownTool
                | StructuralRule::UnpinnedTool
                | StructuralRule::UnreadableArgument
                | StructuralRule::UnresolvableValue
        )
    );
    let has_others = record["others"]
        .as_array()
        .is_some_and(|others| !others.is_empty());
    if was_wrong && has_others && after.decision != before.decision {
        return Err(format!(
            "`{}` was about something that the log may not hold",
            before.rule
        ));
    }
    Ok((before, after))
}

/// The context of a call of a log: who asked and what was counted, as the log says it, and what is said of the rest.
fn in_context(record: &Value, context: Option<&str>) -> Option<String> {
    let named = |respect: &str| record["context"][respect].as_str().map(str::to_owned);
    let caller = Caller {
        subject: named("subject"),
        agent: named("agent"),
        session: named("session"),
    };
    let counted: Option<Counted> = Counted::deserialize(&record["context"]["counts"]).ok();
    said(caller.added_to(context), counted.as_ref())
}

/// Why the judgement of a call of a log is not that of the call: it looks at what the log does not hold.
pub(crate) fn asks_for_more(explanation: &Value) -> Option<String> {
    let mut values = explanation["values"].as_array().into_iter().flatten();
    let value = values.find(|value| value["raw"] == UNKNOWN)?;
    let argument = value["argument"].as_str().unwrap_or_default();
    Some(format!(
        "the policy judges `{argument}`, which the log does not hold"
    ))
}

/// The calls of a log that were not allowed, or only by a person, each with its place; or why the log does not say enough.
///
/// Of the context a log holds who asked, and the rest is the guard's own.
pub(crate) fn stopped(log: Source, gate: &Gate, context: Option<&str>) -> Result<Vec<LocatedCall>, Failure> {
    let conditions = conditions(gate)?;
    let mut found = Vec::new();
    each(log, |place, record| {
        if record["decision"] != Effect::Allow.as_str() || record["rule"] == StructuralRule::Approval.as_str()
        {
            found.push(LocatedCall {
                place,
                call: call_of(&record, &conditions),
                context: in_context(&record, context),
            });
        }
    })?;
    Ok(found)
}

/// Returns `true` if a text of the log may be the beginning of a longer one.
fn is_cut(text: &str) -> bool {
    text.ends_with(" bytes)")
}

/// The call that a line of the log is about, as far as the log holds it.
fn call_of(record: &Value, conditions: &BTreeSet<String>) -> Result<String, String> {
    if ["server", "tool"]
        .iter()
        .any(|name| record[*name].as_str().is_some_and(is_cut))
    {
        return Err("the log does not hold the whole name of the tool".to_owned());
    }
    if record["valuesLeftOut"] != 0 {
        return Err("it has more values than the log holds".to_owned());
    }
    let mut arguments = Map::new();
    for value in record["values"].as_array().into_iter().flatten() {
        let pointer = value["argument"].as_str().unwrap_or_default();
        let Some(raw) = value["raw"].as_str() else {
            return Err(format!("the log does not hold the words of `{pointer}`"));
        };
        if raw == "[redacted]" || is_cut(raw) || is_cut(pointer) {
            return Err(format!("the log does not hold the whole value of `{pointer}`"));
        }
        // Where a path leads was settled then.
        let canonical = value["canonical"].as_str().filter(|path| path.starts_with('/'));
        if !pointer.is_empty() {
            put(&mut arguments, pointer, canonical.unwrap_or(raw));
        }
    }
    let others: Vec<&str> = record["others"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for other in &others {
        if conditions.contains(*other) {
            return Err(format!(
                "a condition asks for `{other}`, which the log does not hold"
            ));
        }
        arguments.insert((*other).to_owned(), json!(UNKNOWN));
    }
    let call = json!({"serverName": record["server"], "toolName": record["tool"], "arguments": arguments});
    Ok(call.to_string())
}

/// Puts a value where its pointer says; a number is the place in an array.
fn put(arguments: &mut Map<String, Value>, pointer: &str, text: &str) {
    let mut tokens = pointer.split('/').skip(1).map_while(unescape_token);
    let Some(name) = tokens.next() else { return };
    let mut at = arguments.entry(name).or_insert(Value::Null);
    for token in tokens {
        at = match token.parse::<usize>() {
            Ok(item) if item < 65_536 => {
                if !at.is_array() {
                    *at = json!([]);
                }
                let Some(items) = at.as_array_mut() else { return };
                while items.len() <= item {
                    items.push(Value::Null);
                }
                let Some(value) = items.get_mut(item) else { return };
                value
            }
            Ok(_) | Err(_) => {
                if !at.is_object() {
                    *at = json!({});
                }
                let Some(members) = at.as_object_mut() else {
                    return;
                };
                members.entry(token).or_insert(Value::Null)
            }
        };
    }
    // Under several roles it is the same value; the first role says what is sent.
    if at.is_null() {
        *at = json!(text);
    }
}

/// The names of the arguments that conditions in the documents ask for.
fn conditions(gate: &Gate) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    for file in gate.files() {
        let text = fs::read_to_string(file)
            .map_err(|error| Failure::Fault(format!("cannot read `{}`: {error}", file.display())))?;
        let document = serde_json::from_str(&without_comments(&text)).unwrap_or_default();
        collect(&document, &mut names);
    }
    Ok(names)
}

fn collect(document: &Value, names: &mut BTreeSet<String>) {
    match document {
        Value::Object(members) => {
            if let Some(Value::String(name)) = members.get("arg") {
                let pointer = name.strip_prefix('/');
                let first = pointer.and_then(|pointer| unescape_token(pointer.split('/').next()?));
                names.insert(first.unwrap_or_else(|| name.clone()));
            }
            members.values().for_each(|value| collect(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
