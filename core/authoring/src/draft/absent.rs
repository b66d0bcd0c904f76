//! The meaning of an argument that is not given, as far as its description, its schema or the tool's verb says so.

use super::schema::Leaf;
use super::tool::Tool;
use super::verb::Verb;
use callgate_engine::model::Absent;
use callgate_engine::role::RoleId;

/// Sentences that say what happens without the argument.
const WITHOUT: &[&str] = &[
    "default",
    "if not ",
    "when not ",
    "omitted",
    "if unset",
    "otherwise",
];

/// Names of the directory in which a server is started.
const HERE: &[&str] = &[
    "current working directory",
    "current directory",
    "working directory",
    "cwd",
    "`.`",
    "'.'",
    "\".\"",
];

/// A file that is only written where somebody asks for it.
const SAVES: &[&str] = &[
    "to save",
    "save to",
    "saved to",
    "instead of returning",
    "instead of attaching",
    "if provided",
    "if specified",
    "if given",
    "when provided",
    "when specified",
];

/// A file or a URL that only some calls name.
const SOMETIMES: &[&str] = &[
    "if provided",
    "if specified",
    "if given",
    "when provided",
    "when specified",
    "used for",
    "(only ",
    "only for",
    "only used",
    "only when",
    "required for",
    "required when",
    "optional filter",
    "optional if",
    "alternative to",
    "instead of",
    "either this",
    "provide either",
];

/// An argument of one of the things that a tool does, where another argument chooses between them.
const OF_ONE_CHOICE: &[&str] = &[
    "(for ",
    "only for",
    "used for",
    "required for",
    "used with",
    "when mode",
    "when action",
];

/// The `absent` of an argument that the schema does not require: `nothing`, or a value; `None` where nothing tells. A `default` of the
/// schema says it already.
pub(super) fn of(leaf: &Leaf<'_>, roles: &[RoleId], tool: &Tool<'_>) -> Option<String> {
    if leaf.place != leaf.top || leaf.facts.default.is_some() || !leaf.facts.is_text {
        return None;
    }
    let text = leaf.facts.descriptions.join(". ").to_lowercase();
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let only = |known: &[RoleId]| roles.iter().all(|role| known.contains(role));
    let mut without = text
        .split(['\n', ';'])
        .flat_map(|line| line.split(". "))
        .filter(|sentence| has(sentence, WITHOUT));
    let is_path = roles.iter().any(|role| PATHS.contains(role));
    if is_path && only(PATHS) && without.clone().any(|sentence| has(sentence, HERE)) {
        return Some(".".to_owned());
    }
    // A name that the server makes, or an answer in place of a file, is nothing of the caller's. Any other default is somewhere.
    let is_made = |sentence: &str| {
        !sentence.contains("default") || has(sentence, &["{", "return", "response", "inline", "none", "null"])
    };
    if !without.all(is_made) {
        return None;
    }
    let is_file = only(&[RoleId::READ_PATH, RoleId::WRITE_PATH]);
    let is_written = roles.contains(&RoleId::WRITE_PATH) && is_file;
    let is_chosen = tool.has_choice && only(FILES) && has(&text, OF_ONE_CHOICE);
    // Who looks at something writes a file only where one is asked for.
    let is_saved = has(&text, SAVES) || only(&[RoleId::WRITE_PATH]) && looks(tool);
    let is_within = only(&[RoleId::READ_PATH]) && tool.repository.is_some_and(|name| name != leaf.top);
    let is_left_out = leaf.facts.is_empty_by_default && (is_within || only(&[RoleId::FETCH_URL]));
    let is_nothing = is_written && is_saved
        || (is_file || only(&[RoleId::FETCH_URL])) && (has(&text, SOMETIMES) || tool.offers(leaf.top))
        || is_left_out
        || is_chosen;
    is_nothing.then(|| Absent::NOTHING.to_owned())
}

/// Returns `true` if the name says that the tool only looks at something.
fn looks(tool: &Tool<'_>) -> bool {
    let is_picture = tool
        .words
        .iter()
        .any(|word| matches!(word.as_str(), "screenshot" | "snapshot"));
    let reads = tool.named.iter().all(|said| said.verb == Verb::Read);
    reads && (is_picture || !tool.named.is_empty())
}

/// Roles of paths that may name a directory to work in.
const PATHS: &[RoleId] = &[
    RoleId::READ_PATH,
    RoleId::WRITE_PATH,
    RoleId::WRITE_HISTORY,
    RoleId::DELETE_HISTORY,
];

/// Roles of files, which a tool may remove too.
const FILES: &[RoleId] = &[RoleId::READ_PATH, RoleId::WRITE_PATH, RoleId::DELETE_PATH];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::draft::schema::Leaves;
    use crate::draft::tools_list::listed;

    #[test]
    fn a_description_says_what_absence_means() {
        let (read, write) = (RoleId::READ_PATH, RoleId::WRITE_PATH);
        for (description, roles, expected) in [
            (
                "Filename to save the messages to. If not provided, messages are returned as text.",
                &[write][..],
                Some("nothing"),
            ),
            (
                "File name to save the screenshot to. Defaults to `page-{timestamp}.png` if not specified.",
                &[write],
                Some("nothing"),
            ),
            (
                "The absolute path, or a path relative to the current working directory, to save the snapshot to instead of attaching it to the response.",
                &[write],
                Some("nothing"),
            ),
            (
                "Directory to list. Defaults to the current working directory.",
                &[read],
                Some("."),
            ),
            ("If omitted, the working directory is used", &[read], Some(".")),
            (
                "Target URL (only type=url)",
                &[RoleId::FETCH_URL],
                Some("nothing"),
            ),
            (
                "URL to navigate to in the new tab, used for new.",
                &[RoleId::FETCH_URL],
                Some("nothing"),
            ),
            (
                "Where to save it. Defaults to the Downloads folder.",
                &[write],
                None,
            ),
            ("The file to change", &[write], None),
            ("Optional file to read", &[read], None),
            ("Folder to empty, if provided", &[RoleId::DELETE_PATH], None),
            (
                "Folder to empty. Defaults to the current directory",
                &[RoleId::DELETE_PATH],
                None,
            ),
            ("Remote, if provided", &[RoleId::GIT_REMOTE_URL], None),
            (
                "Repository URL (optional if using a local chart)",
                &[RoleId::FETCH_URL],
                Some("nothing"),
            ),
            (
                "Path of a script. Provide either this or function, but not both.",
                &[read, write],
                Some("nothing"),
            ),
            (
                "Path for the new worktree (for add/move operations)",
                &[read, write, RoleId::DELETE_PATH],
                None,
            ),
        ] {
            let named = json!({"name": "use"});
            let schema = json!({"type": "string", "description": description});
            let leaves = Leaves::default().of(&schema, "x", &schema);
            let tool = Tool::new(listed(&named), "s");
            let found = leaves.first().and_then(|leaf| of(leaf, roles, &tool));
            assert_eq!(found.as_deref(), expected, "{description}");
        }
    }

    #[test]
    fn a_tool_says_what_it_takes_in_place_of_an_argument() {
        let drop = json!({"name": "drop", "description": "Drops files or data. At least one of \"x\" or \"data\" must be given."});
        let worktree =
            json!({"name": "worktree", "inputSchema": {"properties": {"mode": {"type": "string"}}}});
        for (tool, description, roles) in [
            (
                &drop,
                "Absolute paths of files to drop",
                &[RoleId::READ_PATH, RoleId::WRITE_PATH][..],
            ),
            (
                &worktree,
                "Path for the new worktree (for add/move operations)",
                &[RoleId::READ_PATH, RoleId::WRITE_PATH, RoleId::DELETE_PATH],
            ),
        ] {
            let tool = Tool::new(listed(tool), "s");
            let schema = json!({"type": "string", "description": description});
            let leaves = Leaves::default().of(&schema, "x", &schema);
            let found = leaves.first().and_then(|leaf| of(leaf, roles, &tool));
            assert_eq!(found.as_deref(), Some("nothing"), "{description}");
        }
    }

    #[test]
    fn a_verb_or_an_empty_default_says_it_too() {
        let (read, write) = (RoleId::READ_PATH, RoleId::WRITE_PATH);
        let text = json!({"type": "string"});
        for (name, schema, roles, expected) in [
            ("get_console_messages", &text, &[write][..], Some("nothing")),
            ("take_screenshot", &text, &[write], Some("nothing")),
            ("export_page", &text, &[write], None),
            ("get_console_messages", &text, &[read, write], None),
            ("frobnicate", &text, &[write], None),
            ("list_and_remove", &text, &[write], None),
            ("get_console_messages", &text, &[read], None),
            (
                "get_page",
                &json!({"type": "string", "description": "Where to save it. Defaults to the Downloads folder."}),
                &[write],
                None,
            ),
            (
                "export_page",
                &json!({"type": "string", "default": null}),
                &[RoleId::FETCH_URL],
                Some("nothing"),
            ),
            (
                "export_page",
                &json!({"type": "string", "default": ""}),
                &[RoleId::FETCH_URL],
                Some("nothing"),
            ),
            (
                "export_page",
                &json!({"type": "string", "default": "x"}),
                &[RoleId::FETCH_URL],
                None,
            ),
            (
                "export_page",
                &json!({"type": "string", "default": ""}),
                &[read],
                None,
            ),
            (
                "export_page",
                &json!({"type": "string", "default": null}),
                &[write],
                None,
            ),
        ] {
            let named = json!({"name": name});
            let tool = Tool::new(listed(&named), "s");
            let leaves = Leaves::default().of(schema, "x", schema);
            let found = leaves.first().and_then(|leaf| of(leaf, roles, &tool));
            assert_eq!(found.as_deref(), expected, "{name} {schema}");
        }
    }
}
