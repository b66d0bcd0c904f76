//! Ways to allow a call, as answers show them.

use std::fmt::Write as _;

use callgate_analysis::{Advice, ToolChanges};
use callgate_core::docs;
use callgate_host::{Gate, Request};
use serde_json::{Value, json};

use crate::answers::Problem;
use crate::diff;
use crate::setup::Setup;
use crate::terminal::{BOLD, DIM, Failure, YELLOW, clean, paint, wrapped};

/// Ways to allow all of these calls of one tool.
pub(crate) fn of(gate: &Gate, setup: &Setup, requests: &[Request<'_>]) -> Result<Advice, Problem> {
    let host = setup.host()?;
    let advice = gate.suggest(host.as_ref(), requests)?;
    advice.map_err(|error| Failure::Invalid(error.to_string()).into())
}

/// The advice of the reference page about a rule of the engine.
fn remedy(rule: &str) -> Option<&'static str> {
    let page = docs::page("structural-rules")?;
    let begin = format!("| `{rule}` |");
    let row = page.text.lines().find(|line| line.starts_with(&begin))?;
    Some(row.split('|').nth(4)?.trim())
}

/// The change that is needed where no rule helps.
fn instead(rule: &str) -> String {
    match remedy(rule) {
        Some(remedy) if rule.starts_with("structural-") => remedy.to_owned(),
        Some(_) | None => {
            "a rule that looks at no value would, and no other was found: no list and no host allows a value that programs read \
             in different ways, such as a URL of another protocol than http(s)"
                .to_owned()
        }
    }
}

pub(crate) fn json(advice: &Advice) -> Value {
    let mut answer = json!(advice);
    if let (Advice::NoRule { rule, .. }, Some(members)) = (advice, answer.as_object_mut()) {
        members.insert("instead".to_owned(), instead(rule).into());
    }
    answer
}

/// For a person.
pub(crate) fn shown(advice: &Advice) -> String {
    let mut text = String::new();
    match advice {
        Advice::Allowed => {}
        Advice::NoRule { rule, .. } => {
            let what = format!("no rule allows it, because of {rule}. What to do instead:");
            let _ = writeln!(text, "{}", paint(YELLOW, &clean(&what)));
            let _ = writeln!(text, "  {}", wrapped(&instead(rule), 2, "  "));
        }
        Advice::Annotation {
            argument,
            roles,
            drafted,
            why,
        } => {
            let list = |roles: &[String]| {
                let roles: Vec<String> = roles.iter().map(|role| format!("`{role}`")).collect();
                roles.join(", ")
            };
            let what = "it is the annotation that seems to be wrong, so that no rule is for this:";
            let _ = writeln!(text, "{}", paint(YELLOW, what));
            let said = format!(
                "it gives `{argument}` the roles {}, and a draft from the tool's schema gives {} ({why}). `callgate help roles` says \
                 what each is for; correct the annotation if that is so; only if it is not, a rule is what is missing",
                list(roles),
                list(drafted)
            );
            let _ = writeln!(text, "  {}", wrapped(&clean(&said), 2, "  "));
        }
        Advice::Rules(suggestion) => {
            let what = match (suggestion.rules.len(), &suggestion.before) {
                (1, Some(before)) => format!("this rule would allow it, if it stands before `{before}`:"),
                (1, None) => "this rule would allow it, wherever it stands:".to_owned(),
                (_, Some(before)) => format!("these rules would allow it, if they stand before `{before}`:"),
                (_, None) => "these rules would allow it, wherever they stand:".to_owned(),
            };
            let _ = writeln!(text, "{}", paint(BOLD, &clean(&what)));
            for rule in &suggestion.rules {
                let pretty = serde_json::to_string_pretty(rule).unwrap_or_default();
                for line in pretty.lines() {
                    let _ = writeln!(text, "  {}", clean(line));
                }
            }
            let _ = writeln!(
                text,
                "{}",
                paint(DIM, "what it lets through that was not allowed before:")
            );
            for changes in &suggestion.looser {
                let looser = ToolChanges {
                    stricter: Vec::new(),
                    other_rule: Vec::new(),
                    ..changes.clone()
                };
                for line in diff::listed(&looser).lines() {
                    let _ = writeln!(text, "  {line}");
                }
            }
        }
    }
    text
}
