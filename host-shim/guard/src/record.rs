//! The lines of the log.

use std::borrow::Cow;
use std::time::Duration;

use callgate_engine::judge::Verdict;
use callgate_engine::text::escape_token;
use callgate_jsontext::Members;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::caller::Caller;
use super::counts::Counted;
use super::digest::digest;
use super::queue::Answerer;

/// How many values of a call a line holds, and how many bytes of each text. A line is bounded by them, whatever a call holds.
pub(super) const VALUES: usize = 64;
const TEXT: usize = 1024;

/// Roles whose values are somebody's words, and stay out of the log.
const WORDS: [&str; 2] = ["commit-message", "email-body"];

/// The content of a line. Times are in microseconds; digests are `sha256:` and hexadecimal digits.
///
/// INVARIANT: a text that does not come from the guard itself is written by [`short`] or its like.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(super) enum Record<'r> {
    /// A guard began.
    Start {
        /// The beginning of the ids of its calls.
        session: &'r str,
        /// The digest of the documents.
        policy: &'r str,
    },
    /// A call was judged. What is allowed is forwarded after this line is written.
    Decision {
        /// The call's name in this log.
        id: &'r str,
        #[serde(serialize_with = "short")]
        tool: &'r str,
        #[serde(skip_serializing_if = "Said::is_empty")]
        context: Said<'r>,
        decision: &'r str,
        #[serde(serialize_with = "short")]
        rule: &'r str,
        #[serde(serialize_with = "short")]
        reason: &'r str,
        /// The layer whose verdict this is, where there are several.
        #[serde(skip_serializing_if = "Option::is_none", serialize_with = "short_option")]
        layer: Option<&'r str>,
        #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "short_list")]
        escalated_roles: &'r [Cow<'r, str>],
        /// The id of the approval that let the call pass.
        #[serde(skip_serializing_if = "Option::is_none", serialize_with = "short_option")]
        approval: Option<&'r str>,
        /// How a person's answer to the question about this call came.
        #[serde(skip_serializing_if = "Option::is_none")]
        answered_by: Option<&'static str>,
        values: Vec<RoleValue<'r>>,
        /// How many values are not in `values`.
        values_left_out: usize,
        /// The names of arguments that have no value in `values`.
        #[serde(serialize_with = "short_list")]
        others: Vec<String>,
        /// The arguments that are forwarded, of which the digest is written; null if nothing is.
        #[serde(serialize_with = "digest_of")]
        sent: Option<&'r str>,
        policy: &'r str,
        micros: u128,
    },
    /// A forwarded call ended.
    Outcome {
        id: &'r str,
        outcome: Outcome,
        /// The code of an error.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<i64>,
        /// What was sent otherwise than it came, where the call failed.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        rewritten: &'r [Rewritten],
        micros: u128,
    },
    /// A message of the client was not passed on.
    Refused {
        #[serde(serialize_with = "short")]
        reason: &'r str,
    },
    /// The documents changed.
    Reload {
        /// The digest of the new ones.
        #[serde(skip_serializing_if = "Option::is_none")]
        policy: Option<&'r str>,
        /// Why they are refused; the old ones stay.
        #[serde(skip_serializing_if = "Option::is_none", serialize_with = "short_option")]
        refused: Option<&'r str>,
    },
    /// The line whose digest this one holds is gone, or changed: it was the last when the guard looked before.
    Cut {},
    /// The guard ended.
    Stop {
        #[serde(serialize_with = "short")]
        why: String,
    },
}

/// What the context of a call said of who asked and what was counted, in names of bounded length.
#[derive(Debug, Serialize)]
pub(super) struct Said<'r> {
    #[serde(flatten)]
    pub(super) caller: &'r Caller,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) counts: Option<&'r Counted>,
}

impl Said<'_> {
    fn is_empty(&self) -> bool {
        self.caller.is_empty() && self.counts.is_none()
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    /// With a result.
    Done,
    /// With a result that says that the tool failed.
    ToolError,
    /// With an error of the protocol.
    Error,
    /// The server wants something first, or goes on later.
    Unfinished,
    /// The server ended, or the guard did.
    NoAnswer,
    /// The client took it back.
    Cancelled,
}

impl Outcome {
    /// All of them.
    pub(super) const ALL: [Self; 6] = [
        Self::Done,
        Self::ToolError,
        Self::Error,
        Self::Unfinished,
        Self::NoAnswer,
        Self::Cancelled,
    ];

    /// What may be why a call failed, where the tool or the server says that it did.
    pub(super) fn why(self, rewritten: &[Rewritten]) -> &[Rewritten] {
        match self {
            Self::ToolError | Self::Error => rewritten,
            Self::Done | Self::Unfinished | Self::NoAnswer | Self::Cancelled => &[],
        }
    }
}

/// A text that is sent otherwise than it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Rewritten {
    /// A JSON Pointer.
    #[serde(serialize_with = "short")]
    pub(super) argument: String,
    #[serde(serialize_with = "short")]
    pub(super) raw: String,
    #[serde(serialize_with = "short")]
    pub(super) sent: String,
}

/// A value under a role, as it came and as it was judged.
#[derive(Debug, Serialize)]
pub(super) struct RoleValue<'r> {
    /// A JSON Pointer; empty for what the engine filled in.
    #[serde(serialize_with = "short")]
    argument: &'r str,
    #[serde(serialize_with = "short")]
    role: &'r str,
    #[serde(flatten)]
    value: Shown<'r>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Shown<'r> {
    Text {
        #[serde(serialize_with = "short")]
        raw: &'r str,
        #[serde(serialize_with = "short_option")]
        canonical: Option<&'r str>,
    },
    /// Somebody's words.
    Withheld { digest: String, bytes: usize },
}

/// A call that was judged.
pub(super) struct Judged<'r> {
    pub(super) id: &'r str,
    pub(super) tool: &'r str,
    pub(super) verdict: &'r Verdict<'r>,
    /// The arguments that the client gave.
    pub(super) arguments: Option<&'r RawValue>,
    /// Who asks.
    pub(super) caller: &'r Caller,
    /// What was counted, as the engine was told.
    pub(super) counted: Option<&'r Counted>,
    /// The explanation, for its values.
    pub(super) explanation: Option<&'r Value>,
    /// The arguments that are forwarded.
    pub(super) sent: Option<&'r str>,
    pub(super) policy: &'r str,
    pub(super) answered_by: Option<Answerer>,
    pub(super) took: Duration,
}

impl<'r> Judged<'r> {
    /// The layer whose verdict this is: the explanation names it, and nobody else has decided since.
    fn layer(&self) -> Option<&'r str> {
        let explanation = self.explanation?;
        let explained = explanation.get("verdict")?;
        let is_same = explained.get("rule")?.as_str()? == self.verdict.rule
            && explained.get("decision")?.as_str()? == self.verdict.decision.as_str();
        explanation.get("layer")?.as_str().filter(|_| is_same)
    }

    pub(super) fn record(&self) -> Record<'r> {
        let values = self.explanation.and_then(|explanation| explanation.get("values"));
        let all = values.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let values: Vec<RoleValue<'r>> = all.iter().take(VALUES).map(RoleValue::of).collect();
        Record::Decision {
            id: self.id,
            tool: self.tool,
            context: Said {
                caller: self.caller,
                counts: self.counted,
            },
            decision: self.verdict.decision.as_str(),
            rule: &self.verdict.rule,
            reason: &self.verdict.reason,
            layer: self.layer(),
            escalated_roles: self.verdict.escalated_roles(),
            approval: self.verdict.approval.as_deref(),
            answered_by: self.answered_by.map(Answerer::as_str),
            values_left_out: (all.len() - values.len()).saturating_add(left_out(self.explanation)),
            others: others(self.arguments, &values),
            values,
            sent: self.sent,
            policy: self.policy,
            micros: self.took.as_micros(),
        }
    }
}

/// How many values an explanation does not show.
pub(super) fn left_out(explanation: Option<&Value>) -> usize {
    let count = explanation.and_then(|explanation| explanation.get("valuesLeftOut"));
    let count = count.and_then(Value::as_u64).unwrap_or_default();
    usize::try_from(count).unwrap_or(usize::MAX)
}

impl<'r> RoleValue<'r> {
    /// From a step of an explanation.
    pub(super) fn of(step: &'r Value) -> Self {
        let text = |name: &str| step.get(name).and_then(Value::as_str);
        let (role, raw) = (text("role").unwrap_or_default(), text("raw").unwrap_or_default());
        Self {
            argument: text("argument").unwrap_or_default(),
            role,
            value: match WORDS.contains(&role) {
                true => Shown::Withheld {
                    digest: digest(raw.as_bytes()),
                    bytes: raw.len(),
                },
                false => Shown::Text {
                    raw,
                    canonical: text("canonical"),
                },
            },
        }
    }
}

/// The names of the arguments that have no value in the line.
fn others(arguments: Option<&RawValue>, values: &[RoleValue<'_>]) -> Vec<String> {
    let given: Option<Members<'_>> =
        arguments.and_then(|arguments| serde_json::from_str(arguments.get()).ok());
    let names = given.into_iter().flat_map(|given| given.0).map(|(name, _)| name);
    let is_shown = |name: &str| {
        let name = escape_token(name);
        values.iter().any(|value| {
            let argument = value.argument.strip_prefix('/');
            let below = argument.and_then(|argument| argument.strip_prefix(name.as_str()));
            below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        })
    };
    names.filter(|name| !is_shown(name)).take(VALUES).collect()
}

/// Writes the beginning of a text, and how long it is where that is not all.
pub(super) fn short<S: Serializer>(text: &impl AsRef<str>, serializer: S) -> Result<S::Ok, S::Error> {
    cut(text.as_ref()).serialize(serializer)
}

fn digest_of<S: Serializer>(text: &Option<&str>, serializer: S) -> Result<S::Ok, S::Error> {
    text.map(|text| digest(text.as_bytes())).serialize(serializer)
}

fn short_option<S: Serializer>(text: &Option<impl AsRef<str>>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_ref().map(|text| cut(text.as_ref())).serialize(serializer)
}

fn short_list<T: AsRef<str>, S: Serializer>(
    texts: &impl AsRef<[T]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let texts = texts.as_ref().iter().take(VALUES);
    serializer.collect_seq(texts.map(|text| cut(text.as_ref())))
}

fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= TEXT {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(TEXT);
    Cow::Owned(format!(
        "{}… ({} bytes)",
        text.get(..end).unwrap_or_default(),
        text.len()
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::audit::Audit;
    use crate::log::Log;

    #[test]
    fn words_are_withheld_and_long_texts_cut() {
        let shown = |role: &str, raw: &str| {
            let step = json!({"argument": "/a", "role": role, "raw": raw, "canonical": raw});
            serde_json::to_value(RoleValue::of(&step)).unwrap()
        };
        assert_eq!(
            shown("read-path", "x"),
            json!({"argument": "/a", "role": "read-path", "raw": "x", "canonical": "x"})
        );
        assert_eq!(
            shown("email-body", "secret"),
            json!({"argument": "/a", "role": "email-body", "digest": digest(b"secret"), "bytes": 6})
        );
        let long = shown("read-path", &"é".repeat(1000));
        let raw = long["raw"].as_str().unwrap();
        assert!(raw.len() < 1100 && raw.ends_with("… (2000 bytes)"), "{raw}");
    }

    /// A megabyte of characters that JSON writes as six.
    fn long() -> String {
        "\u{1}".repeat(1024 * 1024)
    }

    #[test]
    fn the_longest_line_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let guards = [false, true].map(|observes| Audit::open(path.clone(), observes).unwrap());
        let text = long();
        let step = json!({"argument": text, "role": text, "raw": text, "canonical": text});
        let explanation = json!({"values": vec![step; VALUES + 1]});
        let arguments: serde_json::Map<String, Value> = (0..=VALUES)
            .map(|at| (format!("{at}{text}"), Value::Null))
            .collect();
        let arguments = serde_json::value::to_raw_value(&arguments).unwrap();
        let roles = vec![Cow::Borrowed(text.as_str()); VALUES + 1];
        let verdict = Verdict {
            decision: callgate_engine::judge::Decision::Escalate(roles),
            rule: text.as_str().into(),
            reason: text.as_str().into(),
            approval: Some(text.as_str().into()),
        };
        let judged = Judged {
            id: "i",
            tool: &text,
            verdict: &verdict,
            caller: &Caller::default(),
            counted: None,
            arguments: Some(&arguments),
            explanation: Some(&explanation),
            sent: Some("{}"),
            policy: "p",
            answered_by: None,
            took: Duration::MAX,
        };
        let records = [
            judged.record(),
            Record::Refused { reason: &text },
            Record::Reload {
                policy: None,
                refused: Some(&text),
            },
            Record::Stop { why: text.clone() },
        ];
        // One guard finds what the other has written.
        for (at, record) in records.iter().enumerate() {
            guards[at % 2].write(&text, record).unwrap();
        }
        let lines = Log::open(&path).unwrap().map(Result::unwrap);
        let broken: Vec<String> = lines.filter_map(|line| line.broken).collect();
        assert_eq!(broken, [""; 0]);
        let longest = std::fs::read_to_string(&path).unwrap();
        let longest = longest.lines().map(str::len).max().unwrap();
        assert!((1_900_000..2_500_000).contains(&longest), "{longest}");
    }
}
