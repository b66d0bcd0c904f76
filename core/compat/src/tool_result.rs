//! Tool results from a container: the host's directory is shown under the container's name for it (SPEC §6).

use serde_json::Value as Json;

/// Replaces `host_dir` by `container_dir` in the `text` of `type: "text"` blocks, wherever it ends a path component.
///
/// The replacement is literal. Returns `None` for each block that does not change.
pub fn rewrite_result_content(content: &[Json], host_dir: &str, container_dir: &str) -> Vec<Option<Json>> {
    content
        .iter()
        .map(|block| rewrite_block(block, host_dir, container_dir))
        .collect()
}

fn rewrite_block(block: &Json, host_dir: &str, container_dir: &str) -> Option<Json> {
    let object = block.as_object()?;
    if object.get("type").and_then(Json::as_str) != Some("text") {
        return None;
    }
    let text = rewrite_text(object.get("text")?.as_str()?, host_dir, container_dir)?;
    let mut changed = object.clone();
    changed.insert("text".to_owned(), Json::String(text));
    Some(Json::Object(changed))
}

/// The text with every mention of the directory replaced; `None` if the text does not change.
pub fn rewrite_text(text: &str, host_dir: &str, container_dir: &str) -> Option<String> {
    let host_dir = host_dir.trim_end_matches('/');
    if host_dir.is_empty() || !text.contains(host_dir) {
        return None;
    }
    let mut rewritten = String::with_capacity(text.len());
    let mut parts = text.split(host_dir).peekable();
    let mut changed = false;
    while let Some(part) = parts.next() {
        rewritten.push_str(part);
        if let Some(rest) = parts.peek() {
            // An empty rest is followed by the directory again, or by the end.
            if ends_name(rest) {
                rewritten.push_str(container_dir);
                changed = true;
            } else {
                rewritten.push_str(host_dir);
            }
        }
    }
    changed.then_some(rewritten)
}

/// Returns `true` if a file name ends before `rest`. A `.` continues the name only if more of a name follows.
fn ends_name(rest: &str) -> bool {
    let continues = |one: char| one.is_alphanumeric() || matches!(one, '_' | '-');
    match rest.chars().next() {
        None => true,
        Some('.') => !rest.trim_start_matches('.').chars().next().is_some_and(continues),
        Some(first) => !continues(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_replaced_where_its_name_ends() {
        #[track_caller]
        fn check(text: &str, expected: Option<&str>) {
            assert_eq!(
                rewrite_text(text, "/srv/box", "/w$&x").as_deref(),
                expected,
                "{text:?}"
            );
        }
        check("/srv/box", Some("/w$&x"));
        check("in /srv/box/a and /srv/box.", Some("in /w$&x/a and /w$&x."));
        check("file:///srv/box/a?b", Some("file:///w$&x/a?b"));
        check("/srv/box2/x /srv/box-old /srv/box.bak /srv/box_", None);
        check("/srv/boxé", None);
        check("/srv/box\n/srv/box2", Some("/w$&x\n/srv/box2"));
        check("", None);
    }

    #[test]
    fn only_text_blocks_change() {
        let content = [
            serde_json::json!({"type": "text", "text": "/srv/box/a", "annotations": {"audience": ["/srv/box"]}}),
            serde_json::json!({"type": "image", "data": "/srv/box"}),
            serde_json::json!("/srv/box"),
        ];
        let rewritten = rewrite_result_content(&content, "/srv/box/", "/workspace");
        let expected = serde_json::json!(
            {"type": "text", "text": "/workspace/a", "annotations": {"audience": ["/srv/box"]}}
        );
        assert_eq!(rewritten, [Some(expected), None, None]);
    }
}
