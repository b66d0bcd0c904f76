//! Compares answers with recorded ones.

use serde_json::{Map, Value};

use crate::subject::Outcome;

/// The requirement on an answer, compared with the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requirement {
    /// The same. For a recorded exception, any refusal or denial.
    Recorded,
    /// A verdict that is at least as strict (deny, then escalate, then allow). A refusal counts as a denial.
    NeverLooser,
    /// Any value with the shape of the operation's answers.
    WellFormed,
    /// The lexical form of the path in question.
    Lexical,
    /// For each value, either the recorded one or the given one.
    GivenOrRecorded,
    /// The recorded string with the `/` that it lost at its end.
    WithSlash,
    /// `true`.
    True,
    /// A boolean, `true` only if the recorded one is.
    NeverTruer,
    /// No approval of further directories or further calls.
    NeverWider,
}

/// The part of the question that answers are compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'c> {
    pub(super) op: &'c str,
    /// The arguments of the call, or the positional arguments of the function.
    pub(super) args: &'c Value,
    pub(super) home: &'c str,
    pub(super) cwd: &'c str,
}

/// Returns `true` if `outcome` meets `requirement`.
pub(super) fn meets(
    requirement: Requirement,
    asked: &Asked<'_>,
    recorded: &Value,
    outcome: &Outcome,
) -> bool {
    let got = match outcome {
        Outcome::Answer(value) => value,
        Outcome::Refused(_) => {
            return match requirement {
                Requirement::Recorded => is_exception(recorded),
                Requirement::NeverLooser => true,
                Requirement::WellFormed
                | Requirement::Lexical
                | Requirement::GivenOrRecorded
                | Requirement::WithSlash
                | Requirement::True
                | Requirement::NeverTruer
                | Requirement::NeverWider => false,
            };
        }
        Outcome::Fault(_) => return false,
    };
    match requirement {
        Requirement::Recorded if is_exception(recorded) => got["decision"] == "deny",
        Requirement::Recorded => reduced(asked, got) == reduced(asked, recorded),
        Requirement::NeverLooser => {
            let least = if is_exception(recorded) {
                Some(1)
            } else {
                strictness(recorded)
            };
            is_verdict(got) && strictness(got) >= least
        }
        Requirement::WellFormed => is_well_formed(asked, recorded, got),
        Requirement::Lexical => {
            let path = asked.args[0].as_str().unwrap_or_default();
            got.as_str() == Some(lexical(path, asked.home, asked.cwd).as_str())
        }
        Requirement::GivenOrRecorded => match asked.op {
            "prepareToolArgs" => {
                is_well_formed(asked, recorded, got)
                    && ["argsForTransport", "argsForPolicy"]
                        .iter()
                        .all(|view| is_mixed(&got[view], &recorded[view], asked.args))
            }
            _ => is_mixed(got, recorded, &asked.args[0]),
        },
        Requirement::WithSlash => {
            let texts = got.as_str().zip(recorded.as_str());
            texts.is_some_and(|(got, recorded)| got.strip_suffix('/') == Some(recorded))
        }
        Requirement::True => *got == Value::Bool(true),
        Requirement::NeverTruer => got
            .as_bool()
            .zip(recorded.as_bool())
            .is_some_and(|(got, was)| was || !got),
        Requirement::NeverWider => is_well_formed(asked, recorded, got) && is_no_wider(got, recorded),
    }
}

fn is_exception(recorded: &Value) -> bool {
    recorded.get("throws").is_some()
}

fn strictness(verdict: &Value) -> Option<u8> {
    match verdict["decision"].as_str()? {
        "allow" => Some(0),
        "escalate" => Some(1),
        "deny" => Some(2),
        _ => None,
    }
}

/// Returns `true` if `value` is `{decision, rule, reason, escalatedRoles?}` and nothing else.
pub(super) fn is_verdict(value: &Value) -> bool {
    let Some(members) = value.as_object() else {
        return false;
    };
    let is_text = |key: &str| members.get(key).is_some_and(Value::is_string);
    let roles = match members.get("escalatedRoles") {
        None => members.len() == 3,
        Some(Value::Array(roles)) => {
            let texts = !roles.is_empty() && roles.iter().all(Value::is_string);
            members.len() == 4 && texts && members["decision"] == "escalate"
        }
        Some(_) => false,
    };
    strictness(value).is_some() && is_text("rule") && is_text("reason") && roles
}

fn is_well_formed(asked: &Asked<'_>, recorded: &Value, got: &Value) -> bool {
    match asked.op {
        "evaluate" => is_verdict(got),
        "prepareToolArgs" => ["argsForTransport", "argsForPolicy"].iter().all(|view| {
            let names = got[view].as_object().zip(asked.args.as_object());
            names.is_some_and(|(view, args)| view.keys().eq(args.keys()))
        }),
        "resolveStoredAnnotation" => {
            let names = got["args"].as_object().zip(asked.args[0]["args"].as_object());
            names.is_some_and(|(resolved, stored)| resolved.keys().eq(stored.keys()))
        }
        "getAnnotation" => got.is_null() || got["args"].is_object(),
        "resolveRealPath" | "directoryForPath" => got.as_str().is_some_and(|path| path.starts_with('/')),
        "rewriteResultContent" => {
            let blocks = got.as_array().zip(asked.args[0].as_array());
            blocks.is_some_and(|(got, given)| got.len() == given.len())
        }
        "whitelist" => {
            let same_length = |key: &str| {
                let lists = got[key].as_array().zip(recorded[key].as_array());
                lists.is_some_and(|(got, recorded)| got.len() == recorded.len())
            };
            same_length("extract") && same_length("match")
        }
        _ => std::mem::discriminant(got) == std::mem::discriminant(recorded),
    }
}

/// Returns `true` if each value of `got` is that of `recorded` or of `given`; strings are compared one by one.
fn is_mixed(got: &Value, recorded: &Value, given: &Value) -> bool {
    if got == recorded || got == given {
        return true;
    }
    match got {
        Value::Object(members) => members.iter().all(|(name, value)| {
            let (recorded, given) = (recorded.get(name), given.get(name));
            is_mixed(
                value,
                recorded.unwrap_or(&Value::Null),
                given.unwrap_or(&Value::Null),
            )
        }),
        Value::Array(items) => items.iter().enumerate().all(|(at, item)| {
            recorded
                .get(at)
                .zip(given.get(at))
                .is_some_and(|(recorded, given)| is_mixed(item, recorded, given))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns `true` if the whitelist `got` contains only recorded directories, and matches only calls that the recorded
/// one matched.
fn is_no_wider(got: &Value, recorded: &Value) -> bool {
    let known: Vec<(&Value, &str)> = directories(recorded).collect();
    let within = |path: &str, dir: &str| {
        path == dir || dir == "/" || path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
    };
    let covered = directories(got).all(|(role, path)| {
        known
            .iter()
            .any(|(known, dir)| *known == role && within(path, dir))
    });
    let matches = |value: &Value| value["match"].as_array().cloned().unwrap_or_default();
    let quiet = matches(got)
        .iter()
        .zip(&matches(recorded))
        .all(|(got, was)| *was != -1 || *got == -1);
    covered && quiet
}

fn directories(whitelist: &Value) -> impl Iterator<Item = (&Value, &str)> {
    items(&whitelist["extract"])
        .flat_map(|one| items(&one["patterns"]))
        .flat_map(|pattern| items(&pattern["constraints"]))
        .filter_map(|constraint| Some((&constraint["role"], constraint["directory"].as_str()?)))
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// `answer` without the ids and times of whitelist patterns, which are never compared.
fn reduced(asked: &Asked<'_>, answer: &Value) -> Value {
    let mut answer = answer.clone();
    if asked.op == "whitelist"
        && let Some(extractions) = answer["extract"].as_array_mut()
    {
        for patterns in extractions
            .iter_mut()
            .filter_map(|one| one["patterns"].as_array_mut())
        {
            for pattern in patterns.iter_mut().filter_map(Value::as_object_mut) {
                keep_compared(pattern);
            }
        }
    }
    answer
}

fn keep_compared(pattern: &mut Map<String, Value>) {
    const COMPARED: [&str; 5] = [
        "serverName",
        "toolName",
        "constraints",
        "originalReason",
        "description",
    ];
    pattern.retain(|key, _| COMPARED.contains(&key.as_str()));
}

/// The lexical form of a path (SPEC §2.1, §2.2).
fn lexical(path: &str, home: &str, cwd: &str) -> String {
    let text = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ if path.starts_with('/') => path.to_owned(),
        _ => format!("{cwd}/{path}"),
    };
    let mut names: Vec<&str> = Vec::new();
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            _ => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

#[cfg(test)]
mod tests;
