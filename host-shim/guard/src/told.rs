//! What an agent is told of a verdict where it may learn nothing of the host.

use callgate_engine::judge::{StructuralRule, Verdict};
use serde_json::Value;

use super::record::Rewritten;

/// What stands in place of a path.
const HIDDEN: &str = "…";

/// The reason of a verdict without paths that the agent did not give itself. A rule's own words stay: whoever wrote the policy chose
/// them for agents to read.
pub(super) fn reason_for_agent(verdict: &Verdict<'_>, arguments: &str) -> String {
    match StructuralRule::parse(&verdict.rule) {
        Some(StructuralRule::InexactCall) => verdict.reason.to_string(),
        Some(_) => without_paths(&verdict.reason, arguments),
        None => verdict.reason.to_string(),
    }
}

/// A path goes to the quote that ends it, or to the end where it is not quoted: it may have spaces.
fn without_paths(reason: &str, arguments: &str) -> String {
    let mut told = String::with_capacity(reason.len());
    let mut rest = reason;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        if first != '/' || before.is_alphanumeric() {
            let (one, others) = rest.split_at(first.len_utf8());
            told.push_str(one);
            (before, rest) = (first, others);
            continue;
        }
        let is_url = told.ends_with(':') && rest.starts_with("//") && !told.ends_with("file:");
        let quote = told
            .chars()
            .next_back()
            .filter(|last| matches!(last, '"' | '`' | '\''));
        let end = match (is_url, quote) {
            (true, _) => rest.find(['"', '`', ' ']),
            (false, Some(quote)) => rest.find(quote),
            (false, None) if told.ends_with("file:") => rest.find(['"', '`']),
            (false, None) => None,
        };
        let (path, others) = rest.split_at(end.unwrap_or(rest.len()));
        told.push_str(if is_url || arguments.contains(path) {
            path
        } else {
            HIDDEN
        });
        (before, rest) = (' ', others);
    }
    told
}

/// Why a call cannot be sent as it came, and how it can: by the URLs and names that were judged. What may be a path is not told.
pub(super) fn what_to_send(rewritten: &[Rewritten]) -> String {
    let is_path = |text: &str| text.starts_with("file:") || (text.contains('/') && !text.contains("://"));
    let told = rewritten.iter().filter(|one| !is_path(&one.sent));
    let told: Vec<String> = told
        .map(|one| format!("{} as {}", one.argument, Value::from(one.sent.as_str())))
        .collect();
    let how = match told.is_empty() {
        true => "give absolute paths without links, `~`, `.` and `..`".to_owned(),
        false => format!("give {}", told.join(", ")),
    };
    format!(
        "The call is judged in another form than it was given, and it cannot be rewritten on its way: {how}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_the_agent_did_not_give_are_hidden() {
        for (reason, expected) in [
            ("no rule: \"/srv/a b\" is outside", "no rule: \"…\" is outside"),
            ("forbidden: /srv/a b", "forbidden: …"),
            ("`/given/x` leads to `/srv/x`", "`/given/x` leads to `…`"),
            ("/srv/x", "…"),
            (
                "the URL \"https://a.example/b\" and and/or",
                "the URL \"https://a.example/b\" and and/or",
            ),
            ("\"file:///srv/x\" is not allowed", "\"file:…\" is not allowed"),
            ("é `/srv` \"/srv\"", "é `…` \"…\""),
        ] {
            assert_eq!(
                without_paths(reason, r#"{"path":"/given/x"}"#),
                expected,
                "{reason}"
            );
        }
    }
}
