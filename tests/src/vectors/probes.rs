//! The required answers to the probes: one probe for each known weakness, and some for contrast.
//!
//! Each row follows the probe's `safer` text and SPEC §2 to §9. The recorded answer is a failure if the row requires
//! another one.

use serde_json::{Value, json};

use crate::compare::{Asked, Requirement, meets};
use crate::subject::Outcome;

/// The required answer to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Must {
    /// The recorded answer: a contrast case, or behaviour that is kept.
    Recorded,
    /// A denial by that rule.
    Deny(&'static str),
    /// An escalation by the server's domain allowlist.
    DomainEscalate,
    /// A refusal to build the engine, or a denial.
    RefuseOrDeny,
    /// Exactly this result, in JSON.
    Exactly(&'static str),
    /// These arguments, in JSON, in both views.
    BothViews(&'static str),
    /// A whitelist with these matches.
    Matches(&'static [i64]),
}

use Must::*;

const PROTECTED: Must = Deny("structural-protected-path");
const UNRESOLVABLE: Must = Deny("structural-unresolvable-value");
const UNREADABLE: Must = Deny("structural-unreadable-argument");
/// No pattern allows the value, so neither the allowlist nor the rule does, and the stricter answer holds.
const DEFAULT_DENY: Must = Deny("default-deny");
/// The name of the probes' rules that deny.
const BY_RULE: Must = Deny("deny");

/// The probes by the names of their groups, in the order of the file.
pub(super) const PROBES: &[(&str, Must)] = &[
    ("probe-01-root-directory", BY_RULE),
    ("probe-02-root-directory", PROTECTED),
    ("probe-03-dangling-symlink", PROTECTED),
    ("probe-04-symlink-loop", UNRESOLVABLE),
    ("probe-05-depth-64", Deny("default-deny")),
    ("probe-06-depth-64", Recorded),
    ("probe-07-nul-byte", UNRESOLVABLE),
    ("probe-08-lexical-dotdot", UNRESOLVABLE),
    (
        "probe-09-lexical-dotdot",
        BothViews(r#"{"path": "escape/../shadow"}"#),
    ),
    ("probe-10-protected-ancestor", PROTECTED),
    ("probe-11-nested-protected", PROTECTED),
    ("probe-12-nonstring-resource-arg", UNREADABLE),
    ("probe-13-nonstring-resource-arg", UNREADABLE),
    ("probe-14-unannotated-arg", Recorded),
    ("probe-15-relative-path-cwd", Recorded),
    ("probe-16-empty-path-is-cwd", UNRESOLVABLE),
    ("probe-17-sandbox-overrides-deny", Recorded),
    ("probe-18-introspection-overrides-deny", Recorded),
    ("probe-19-proto-name", PROTECTED),
    (
        "probe-20-proto-name",
        BothViews(r#"{"path": "/srv/box/a.txt", "constructor": "x"}"#),
    ),
    ("probe-21-proto-name", BY_RULE),
    ("probe-22-proto-name", Exactly("null")),
    ("probe-23-annotation-key-collision", PROTECTED),
    ("probe-24-unknown-role", RefuseOrDeny),
    ("probe-25-enrichment-after-gate", DomainEscalate),
    ("probe-26-empty-remote", BY_RULE),
    ("probe-27-git-path-arg-name", BY_RULE),
    ("probe-28-tilde-git-path", BY_RULE),
    ("probe-29-git-helper-remote", DomainEscalate),
    ("probe-30-git-helper-remote", DomainEscalate),
    ("probe-31-git-helper-remote", DomainEscalate),
    ("probe-32-ssh-slash-before-colon", DomainEscalate),
    ("probe-33-git-newline", Deny("default-deny")),
    ("probe-34-url-first-role-only", DomainEscalate),
    ("probe-35-no-constraint-allow", Recorded),
    ("probe-36-deny-needs-all", BY_RULE),
    ("probe-37-identifier-case", BY_RULE),
    ("probe-38-host-case", BY_RULE),
    ("probe-39-host-case", BY_RULE),
    ("probe-40-trailing-dot-host", BY_RULE),
    ("probe-41-opaque-role-rule", BY_RULE),
    ("probe-42-opaque-role-rule", Recorded),
    ("probe-43-disjoint-conditions", BY_RULE),
    ("probe-44-list-domains-raw-url", BY_RULE),
    ("probe-45-wildcard-unparsable", DEFAULT_DENY),
    ("probe-46-wildcard-unparsable", DEFAULT_DENY),
    ("probe-47-wildcard-unparsable", DEFAULT_DENY),
    ("probe-48-ip-obfuscated", DomainEscalate),
    ("probe-49-ip-obfuscated", DomainEscalate),
    ("probe-50-scheme-ignored", DEFAULT_DENY),
    ("probe-51-port-ignored", Recorded),
    (
        "probe-52-normalize-url-slash",
        BothViews(r#"{"url": "https://example.com/?next=/"}"#),
    ),
    (
        "probe-53-normalize-url-slash",
        BothViews(r#"{"url": "https://example.com/a//"}"#),
    ),
    ("probe-54-tilde-user", BothViews(r#"{"path": "~bob/x"}"#)),
    // The first role, a URL's, decides what is sent. Evaluating judges the path role in its own form (SPEC §6.5).
    (
        "probe-55-first-role-canonicalize",
        BothViews(r#"{"source": "../../etc/shadow"}"#),
    ),
    (
        "probe-56-result-dollar",
        Exactly(r#"[{"type": "text", "text": "/w$&x/a"}]"#),
    ),
    (
        "probe-57-result-boundary",
        Exactly(r#"[{"type": "text", "text": "/srv/box2/x"}]"#),
    ),
    ("probe-58-conditional-recanonicalize", Recorded),
    ("probe-59-whitelist-named-remote", Matches(&[-1])),
    // Closed only if the match is given the roles that escalated, and the probe does not give them.
    ("probe-60-whitelist-uncovered-role", Recorded),
    ("probe-61-whitelist-parent-dir", Matches(&[-1])),
    ("probe-62-whitelist-empty-domain", Matches(&[-1])),
];

/// The required answer to the probe `name`.
pub(super) fn must(name: &str) -> Option<Must> {
    PROBES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, must)| *must)
}

impl Must {
    /// Returns what was expected, if `outcome` is different.
    pub(super) fn check(self, asked: &Asked<'_>, recorded: &Value, outcome: &Outcome) -> Result<(), Value> {
        let expected = |met: bool, value: Value| if met { Ok(()) } else { Err(value) };
        let verdict = |decision: &str, rule: &str| {
            let met = answer(outcome).is_some_and(|got| got["decision"] == decision && got["rule"] == rule);
            expected(met, json!({"decision": decision, "rule": rule}))
        };
        match self {
            Recorded => expected(
                meets(Requirement::Recorded, asked, recorded, outcome),
                recorded.clone(),
            ),
            Deny(rule) => verdict("deny", rule),
            DomainEscalate => verdict("escalate", "structural-domain-escalate"),
            RefuseOrDeny => {
                let denied = answer(outcome).is_some_and(|got| got["decision"] == "deny");
                expected(
                    denied || matches!(outcome, Outcome::Refused(_)),
                    json!("refused, or deny"),
                )
            }
            Exactly(text) => exactly(outcome, parsed(text)),
            BothViews(text) => {
                let view = parsed(text);
                exactly(outcome, json!({"argsForTransport": view, "argsForPolicy": view}))
            }
            Matches(indices) => {
                let met = answer(outcome).is_some_and(|got| got["match"] == json!(indices));
                expected(met, json!({"match": indices}))
            }
        }
    }
}

fn answer(outcome: &Outcome) -> Option<&Value> {
    match outcome {
        Outcome::Answer(value) => Some(value),
        Outcome::Refused(_) | Outcome::Fault(_) => None,
    }
}

fn exactly(outcome: &Outcome, expected: Value) -> Result<(), Value> {
    if answer(outcome) == Some(&expected) {
        Ok(())
    } else {
        Err(expected)
    }
}

/// Parses the JSON of a row. If it is invalid, the result is a string that no answer equals.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}
