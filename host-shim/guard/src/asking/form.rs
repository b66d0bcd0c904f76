//! A question as a form of the client: MCP's elicitation, which has the same shape in both eras.

use std::time::Duration;

use serde_json::{Value, json};

use crate::queue::{Answer, Question};
use callgate_host::clean;

/// Bytes of the longest form. What is longer is asked by the other ways, where it is shown whole.
const LONGEST: usize = 16 * 1024;

/// Nobody reads a form in less. Clients that have no forms, or no person, decline in no time: that is nobody's answer.
const READ: Duration = Duration::from_secs(1);

/// The member of the form, and what a person may choose.
const MEMBER: &str = "answer";
const CHOICES: [(&str, Answer); 4] = [
    ("allow this once", Answer::Once),
    ("allow for this session", Answer::Session),
    ("always allow", Answer::Always),
    ("deny", Answer::Deny),
];

/// The params of `elicitation/create`; `None` if the question is too long for a form.
pub(super) fn params(question: &Question) -> Option<Value> {
    let message = message(question);
    let choices: Vec<&str> = CHOICES
        .iter()
        .filter(|(_, answer)| {
            // Where nothing can be covered, an approval is for this call alone.
            match answer {
                Answer::Once | Answer::Deny => true,
                Answer::Session => question.offer.is_some() && question.has_session,
                Answer::Always => question.offer.is_some(),
            }
        })
        .map(|(choice, _)| *choice)
        .collect();
    (message.len() <= LONGEST).then(|| {
        json!({
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": {MEMBER: {"type": "string", "title": "May the call be made?", "enum": choices}},
                "required": [MEMBER],
            },
        })
    })
}

/// The question for a person. Each line says whose words it holds.
fn message(question: &Question) -> String {
    let mut lines = vec![format!(
        "Callgate: may the tool `{}` of the server `{}` be called?",
        clean(&question.tool),
        clean(&question.server)
    )];
    lines.extend(question.touched());
    lines.push(format!(
        "Rule `{}`: {}",
        clean(&question.rule),
        clean(&question.reason)
    ));
    if let Some(offer) = &question.offer {
        let lasting = match question.has_session {
            true => "For this session, and always,",
            false => "Always",
        };
        lines.push(format!("{lasting} would cover: {}", clean(&offer.description)));
    }
    lines.join("\n")
}

/// The person's choice. `None` if that cannot be told: the form was dismissed, declined sooner than anybody reads it,
/// or filled with something else. The question stays open then.
pub(super) fn answer(result: &Value, shown_for: Duration) -> Option<Answer> {
    match result.get("action")?.as_str()? {
        "accept" => {
            let chosen = result.get("content")?.get(MEMBER)?.as_str()?;
            let known = CHOICES.iter().find(|(choice, _)| *choice == chosen)?;
            Some(known.1)
        }
        "decline" if shown_for >= READ => Some(Answer::Deny),
        _ => None,
    }
}

/// Returns `true` if a client says that it has forms.
pub(super) fn is_offered(capabilities: &Value) -> bool {
    let elicitation = capabilities.get("elicitation").and_then(Value::as_object);
    // Without a mode it is forms.
    elicitation.is_some_and(|modes| modes.is_empty() || modes.get("form").is_some_and(Value::is_object))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_choice_is_an_answer() {
        let chosen = |content: Value| json!({"action": "accept", "content": content});
        let late = Duration::from_secs(5);
        for (choice, expected) in CHOICES {
            assert_eq!(answer(&chosen(json!({"answer": choice})), READ), Some(expected));
        }
        for other in [
            json!({"answer": "allow"}),
            json!({"answer": true}),
            json!({}),
            json!(null),
        ] {
            assert_eq!(answer(&chosen(other), late), None);
        }
        for action in ["cancel", "Accept", ""] {
            assert_eq!(answer(&json!({"action": action}), late), None);
        }
        assert_eq!(answer(&json!(null), late), None);
        assert_eq!(answer(&json!({"action": "decline"}), late), Some(Answer::Deny));
        assert_eq!(
            answer(&json!({"action": "decline"}), Duration::from_millis(999)),
            None
        );
    }

    #[test]
    fn forms_are_used_only_where_the_client_has_them() {
        for (capabilities, expected) in [
            (json!({"elicitation": {}}), true),
            (json!({"elicitation": {"form": {}, "url": {}}}), true),
            (json!({"elicitation": {"url": {}}}), false),
            (json!({"elicitation": null}), false),
            (json!({"elicitation": {"form": null}}), false),
            (json!({}), false),
            (json!(null), false),
        ] {
            assert_eq!(is_offered(&capabilities), expected, "{capabilities}");
        }
    }
}
