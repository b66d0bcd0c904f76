//! The separator of the values that one text holds, as far as its description says so.

use serde_json::Value;

use super::schema::Leaf;
use callgate_engine::role::RoleId;

/// Phrases for lists in one text.
const PHRASES: &[(&str, &[&str])] = &[
    (
        ",",
        &[
            "comma-separated",
            "comma separated",
            "comma-delimited",
            "separated by comma",
            "separated by a comma",
        ],
    ),
    (
        ";",
        &[
            "semicolon-separated",
            "semicolon separated",
            "separated by semicolon",
        ],
    ),
    (
        "\n",
        &[
            "newline-separated",
            "newline separated",
            "separated by newline",
            "one per line",
        ],
    ),
    (
        "json",
        &[
            "json array",
            "json-encoded array",
            "json list",
            "json-encoded list",
        ],
    ),
];

/// The `separator` of an argument that is a text by its schema and names paths or URLs; `None` where nothing tells.
pub(super) fn of(leaf: &Leaf<'_>, schema: &Value, roles: &[RoleId]) -> Option<&'static str> {
    let is_text = schema.get("type").and_then(Value::as_str) == Some("string");
    let names_places = roles
        .iter()
        .any(|role| !matches!(*role, RoleId::NONE | RoleId::TEXT));
    if leaf.place != leaf.top || !is_text || !names_places {
        return None;
    }
    let text = leaf.facts.descriptions.join(". ").to_lowercase();
    let said = |(_, phrases): &&(&str, &[&str])| phrases.iter().any(|phrase| text.contains(phrase));
    let mut found = PHRASES.iter().filter(said).map(|(separator, _)| *separator);
    // Where several are spoken of, a person decides.
    found.next().filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::draft::schema::Leaves;

    #[test]
    fn a_description_says_what_stands_between_values() {
        let read = &[RoleId::READ_PATH][..];
        let text = "string";
        for (kind, description, roles, expected) in [
            (text, "Comma-separated list of paths", read, Some(",")),
            (text, "Paths, separated by semicolons", read, Some(";")),
            (text, "Files to read, one per line", read, Some("\n")),
            (text, "JSON array of file paths", read, Some("json")),
            (text, "Comma-separated URLs", &[RoleId::FETCH_URL], Some(",")),
            (text, "Comma-separated labels", &[RoleId::NONE], None),
            (text, "Comma-separated or newline-separated paths", read, None),
            (text, "Path of the file", read, None),
            ("array", "Comma-separated list of paths", read, None),
        ] {
            let schema = json!({"type": kind, "description": description, "items": {"type": "string"}});
            let leaves = Leaves::default().of(&schema, "files", &schema);
            assert_eq!(of(&leaves[0], &schema, roles), expected, "{description}");
        }
    }
}
