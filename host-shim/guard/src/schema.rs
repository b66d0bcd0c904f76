//! The JSON Schema of a line of the log.

use callgate_engine::model::Effect;
use serde_json::{Value, json};

use super::audit::FORMAT;
use super::queue::Answerer;
use super::record::{Outcome, VALUES};

/// The schema of a line of the log, of the draft 2020-12.
///
/// Members and kinds of lines may be added to this format; what is there does not change its meaning.
pub fn line_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Callgate: audit",
        "description": "A line of the log that `callgate guard --audit` writes. Texts are cut after 1,024 bytes, and say then how long they were.",
        "oneOf": [start(), decision(), outcome(), refused(), reload(), cut(), stop()],
        "$defs": {
            "digest": {
                "type": "string",
                "pattern": "^sha256:[0-9a-f]{64}$",
                "description": "SHA-256, in hexadecimal digits.",
            },
            "value": value(),
        },
    })
}

/// A line of a kind, with what all lines have.
fn line(kind: &str, description: &str, required: &[&str], of_kind: Value) -> Value {
    let mut properties = json!({
        "format": {"const": FORMAT, "description": "The version of the lines."},
        "time": {"type": "string", "format": "date-time", "description": "When it was written, in UTC."},
        "previous": {
            "anyOf": [digest("The digest of the text of the line before."), {"type": "null"}],
            "description": "The digest of the line before, without its line break; null in the first line.",
        },
        "server": text("The configured name of the server."),
        "kind": {"const": kind},
        "observed": {"const": true, "description": "The guard enforces nothing."},
    });
    if let (Some(all), Value::Object(of_kind)) = (properties.as_object_mut(), of_kind) {
        all.extend(of_kind);
    }
    let common = ["format", "time", "previous", "server", "kind"];
    let required: Vec<&str> = common.iter().chain(required).copied().collect();
    json!({"type": "object", "description": description, "properties": properties, "required": required})
}

fn start() -> Value {
    line(
        "start",
        "A guard began.",
        &["session", "policy", "observed"],
        json!({
            "session": text("What the ids of its calls begin with."),
            "policy": digest("The digest of the documents."),
            "observed": flag("Nothing is enforced."),
        }),
    )
}

fn decision() -> Value {
    line(
        "decision",
        "A call was judged. What is allowed is forwarded after this line is written.",
        &[
            "id",
            "tool",
            "decision",
            "rule",
            "reason",
            "values",
            "valuesLeftOut",
            "others",
            "sent",
            "policy",
            "micros",
        ],
        json!({
            "id": text("The call's name in this log. A call that a person is asked about has another line, and another name, when there is an answer."),
            "tool": text("The tool's name."),
            "context": {
                "type": "object",
                "description": "Who asked, as far as the context of the call says it: rules look at it by `if.context`. And what was counted.",
                "properties": {
                    "subject": text("A person or a service."),
                    "agent": text("The program that acts for one."),
                    "session": text("A conversation of that program."),
                    "counts": {
                        "type": "object",
                        "description": "How many calls each counter of the policy had counted: rules look at it by `if.counts`.",
                        "additionalProperties": {"type": "integer", "minimum": 0},
                    },
                },
            },
            "decision": {"enum": Effect::ALL},
            "rule": text("The rule that decided."),
            "reason": text("Its reason."),
            "layer": text("The layer whose verdict this is, where several bundles stand one above the other: its bundle's name and revision, or its file."),
            "escalatedRoles": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "description": "The roles that escalated.",
            },
            "approval": text("What let the call pass: the id of an approval, or of the line whose question a person answered."),
            "answeredBy": {
                "enum": Answerer::ALL.map(Answerer::as_str),
                "description": "How a person's answer to the question about this call came.",
            },
            "values": {
                "type": "array",
                "items": {"$ref": "#/$defs/value"},
                "maxItems": VALUES,
                "description": "What the call would touch: its values under roles.",
            },
            "valuesLeftOut": count("How many values are not in `values`."),
            "others": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": VALUES,
                "description": "The names of arguments that have no value here.",
            },
            "sent": {
                "anyOf": [digest("The digest of the arguments that are forwarded, as JSON text."), {"type": "null"}],
                "description": "The digest of the arguments that are forwarded; null if nothing is.",
            },
            "policy": digest("The digest of the documents that the call was judged by."),
            "micros": count("How long judging took, in microseconds."),
        }),
    )
}

fn outcome() -> Value {
    line(
        "outcome",
        "A call ended.",
        &["id", "outcome", "micros"],
        json!({
            "id": text("The call's name, as its decision has it."),
            "outcome": {
                "enum": Outcome::ALL,
                "description": "How the call ended: with a result, with one that says that the tool failed, with an error of the protocol, unfinished because the server asks something first or goes on later, without an answer, or cancelled by the client.",
            },
            "code": {"type": "integer", "description": "The code of an error."},
            "rewritten": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["argument", "raw", "sent"],
                    "properties": {
                        "argument": text("Where it is, as a JSON Pointer."),
                        "raw": text("As the client gave it."),
                        "sent": text("As it was sent."),
                    },
                },
                "description": "Texts that were sent otherwise than the client gave them, where the call failed: one of them may be why.",
            },
            "micros": count("How long after it was sent, or asked about, in microseconds."),
        }),
    )
}

fn refused() -> Value {
    let members = json!({"reason": text("Why.")});
    line(
        "refused",
        "A message of the client was not passed on.",
        &["reason"],
        members,
    )
}

fn reload() -> Value {
    let members = json!({
        "policy": digest("The digest of the new documents, if they hold from now on."),
        "refused": text("Why they are refused; the old ones stay."),
    });
    let mut schema = line("reload", "The documents changed.", &[], members);
    if let Some(schema) = schema.as_object_mut() {
        let either = json!([{"required": ["policy"]}, {"required": ["refused"]}]);
        schema.insert("oneOf".to_owned(), either);
    }
    schema
}

fn cut() -> Value {
    line(
        "cut",
        "The line whose digest this one holds is gone, or changed. It was the last when the guard looked before; the guard writes no more until the log is moved away, and allows nothing.",
        &[],
        json!({}),
    )
}

fn stop() -> Value {
    line("stop", "A guard ended.", &["why"], json!({"why": text("Why.")}))
}

fn value() -> Value {
    let argument = text("The argument, as a JSON Pointer; empty for what the engine filled in.");
    let role = text("The role.");
    let members = |more: Value, required: &[&str]| {
        let mut properties = json!({"argument": argument, "role": role});
        if let (Some(all), Value::Object(more)) = (properties.as_object_mut(), more) {
            all.extend(more);
        }
        let required = [&["argument", "role"], required].concat();
        json!({"type": "object", "properties": properties, "required": required})
    };
    let shown = json!({
        "raw": text("The value as it came; a placeholder where the role redacts."),
        "canonical": {"type": ["string", "null"], "description": "What it was judged as; null if it has no such form."},
    });
    let withheld = json!({
        "digest": digest("The digest of somebody's words, which are not in the log."),
        "bytes": count("How long they are."),
    });
    json!({"oneOf": [members(shown, &["raw", "canonical"]), members(withheld, &["digest", "bytes"])]})
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn flag(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

fn count(description: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": description})
}

fn digest(description: &str) -> Value {
    json!({"$ref": "#/$defs/digest", "description": description})
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::caller::Caller;
    use crate::record::{Record, Rewritten, RoleValue, Said};

    /// Every kind of line with all of its members, and with as few as it may have. A member that is added is missing here.
    fn records() -> Vec<[Record<'static>; 2]> {
        const ROLES: &[Cow<'static, str>] = &[Cow::Borrowed("read-path")];
        let said = |is_whole: bool| -> Said<'static> {
            let name = || is_whole.then(|| "n".to_owned());
            let caller = Caller {
                subject: name(),
                agent: name(),
                session: name(),
            };
            Said {
                caller: Box::leak(Box::new(caller)),
                counts: is_whole.then(|| &*Box::leak(Box::default())),
            }
        };
        let decision = |is_whole: bool| Record::Decision {
            id: "i",
            tool: "t",
            context: said(is_whole),
            decision: "allow",
            rule: "r",
            reason: "r",
            layer: is_whole.then_some("l"),
            escalated_roles: if is_whole { ROLES } else { &[] },
            approval: is_whole.then_some("a"),
            answered_by: is_whole.then_some("client"),
            values: Vec::new(),
            values_left_out: 0,
            others: Vec::new(),
            sent: None,
            policy: "p",
            micros: 0,
        };
        let rewritten = || {
            let text = || "x".to_owned();
            let one = Rewritten {
                argument: text(),
                raw: text(),
                sent: text(),
            };
            Vec::leak(vec![one])
        };
        let outcome = |is_whole: bool| Record::Outcome {
            id: "i",
            outcome: Outcome::Error,
            code: is_whole.then_some(1),
            rewritten: if is_whole { rewritten() } else { &[] },
            micros: 0,
        };
        let reload = |is_whole: bool| Record::Reload {
            policy: is_whole.then_some("p"),
            refused: is_whole.then_some("r"),
        };
        let start = || Record::Start {
            session: "s",
            policy: "p",
        };
        let refused = || Record::Refused { reason: "r" };
        let stop = || Record::Stop { why: "w".to_owned() };
        vec![
            [decision(true), decision(false)],
            [outcome(true), outcome(false)],
            [reload(true), reload(false)],
            [start(), start()],
            [refused(), refused()],
            [Record::Cut {}, Record::Cut {}],
            [stop(), stop()],
        ]
    }

    fn members(value: &impl serde::Serialize) -> BTreeSet<String> {
        let Ok(Value::Object(members)) = serde_json::to_value(value) else {
            panic!("an object");
        };
        members.keys().cloned().collect()
    }

    fn names(of: &Value) -> BTreeSet<String> {
        match of {
            Value::Array(names) => names
                .iter()
                .map(|name| name.as_str().unwrap().to_owned())
                .collect(),
            Value::Object(members) => members.keys().cloned().collect(),
            _ => BTreeSet::new(),
        }
    }

    /// The members that every line has beside those of its kind, and the one that it may have.
    const OF_A_LINE: [&str; 5] = ["format", "time", "previous", "server", "observed"];

    #[test]
    fn the_schema_has_the_members_of_the_lines() {
        let schema = line_schema();
        let kinds = schema["oneOf"].as_array().unwrap();
        let mut known: BTreeMap<&str, &Value> = kinds
            .iter()
            .map(|kind| (kind["properties"]["kind"]["const"].as_str().unwrap(), kind))
            .collect();
        for [whole, least] in records() {
            let written = serde_json::to_value(&whole).unwrap();
            let kind = written["kind"].as_str().unwrap();
            let said = known.remove(kind).unwrap_or_else(|| panic!("{kind}"));
            let without = |mut names: BTreeSet<String>| {
                names.retain(|name| !OF_A_LINE.contains(&name.as_str()));
                names
            };
            assert_eq!(without(names(&said["properties"])), members(&whole), "{kind}");
            assert_eq!(without(names(&said["required"])), members(&least), "{kind}");
        }
        assert!(known.is_empty(), "{known:?}");
    }

    #[test]
    fn the_schema_has_the_members_of_values_and_rewritten_texts() {
        let schema = line_schema();
        let shown = json!({"argument": "/a", "role": "read-path", "raw": "x", "canonical": "x"});
        let withheld = json!({"argument": "/a", "role": "email-body", "raw": "x", "canonical": "x"});
        for (at, step) in [shown, withheld].iter().enumerate() {
            let said = &schema["$defs"]["value"]["oneOf"][at];
            let written = members(&RoleValue::of(step));
            assert_eq!(names(&said["properties"]), written);
            assert_eq!(names(&said["required"]), written);
        }
        let [whole, _] = &records()[1];
        let written = serde_json::to_value(whole).unwrap();
        let said = &schema["oneOf"][2]["properties"]["rewritten"]["items"];
        assert_eq!(names(&said["properties"]), names(&written["rewritten"][0]));
    }
}
