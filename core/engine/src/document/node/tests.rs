use serde_json::{Value, json};

use super::*;

fn check(value: Value, read: impl Fn(&Node<'_, '_>), expected: &[&str]) {
    let report = Report::default();
    read(&Node::document(&Json::from(&value), "doc", &report));
    let found: Vec<String> = report
        .finish("doc")
        .iter()
        .map(|fault| {
            let help = fault
                .help
                .as_ref()
                .map_or(String::new(), |help| format!(" ({help})"));
            format!("{} {}: {}{help}", fault.code, fault.path, fault.message)
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn nothing_is_coerced() {
    check(
        json!("x"),
        |node| assert!(node.array("an array of x").is_none()),
        &["wrong-type doc: found `\"x\"`, expected an array of x"],
    );
    check(
        json!(null),
        |node| assert!(node.object().is_none()),
        &["wrong-type doc: found `null`, expected an object"],
    );
    check(
        json!(1),
        |node| assert!(node.string().is_none()),
        &["wrong-type doc: found `1`, expected a string"],
    );
    check(
        json!("true"),
        |node| assert!(node.boolean().is_none()),
        &["wrong-type doc: found `\"true\"`, expected `true` or `false`"],
    );
    check(
        json!(["a", 1, "b", null]),
        |node| assert!(node.strings().is_none()),
        &[
            "wrong-type doc[1]: found `1`, expected a string",
            "wrong-type doc[3]: found `null`, expected a string",
        ],
    );
    check(
        json!(""),
        |node| assert!(node.name().is_none()),
        &["invalid-value doc: found `\"\"`, expected a name"],
    );
}

#[test]
fn unknown_names_are_answered_with_the_near_one() {
    let table = [("allow", 1), ("deny", 2)];
    check(
        json!("deny"),
        |node| assert_eq!(node.one_of(&table), Some(2)),
        &[],
    );
    check(
        json!("Allow"),
        |node| assert!(node.one_of(&table).is_none()),
        &["unknown-value doc: found `\"Allow\"`, expected one of `allow`, `deny` (did you mean `allow`?)"],
    );
    check(
        json!(true),
        |node| assert!(node.one_of(&table).is_none()),
        &["wrong-type doc: found `true`, expected one of `allow`, `deny`"],
    );
    check(
        json!(["read-path", "read-paths"]),
        |node| assert!(node.roles(&Registry::default()).is_none()),
        &["unknown-role doc[1]: found `\"read-paths\"`, expected a role (did you mean `read-path`?)"],
    );
    check(
        json!({"domain": 1, "domains": 2, "zz": 3}),
        |node| assert!(!node.object().unwrap().unknown_keys(&["domains"], Severity::Error)),
        &[
            "unknown-key doc.domain: found the key `domain`, expected one of `domains` (did you mean `domains`?)",
            "unknown-key doc.zz: found the key `zz`, expected one of `domains`",
        ],
    );
}

#[test]
fn long_values_are_cut_between_characters() {
    let long = json!({"text": "é".repeat(100)});
    let shown = found(&Json::from(&long));
    assert!(
        shown.starts_with("`{\"text\":\"éé") && shown.ends_with("é…`"),
        "{shown}"
    );
    assert!(shown.len() <= SHOWN + 5);
    assert_eq!(
        super::super::suggest::shorten(&"é".repeat(100)).chars().count(),
        SHOWN + 3
    );
    let limits = Limits {
        value_bytes: 2,
        ..Limits::default()
    };
    check(
        json!(["ab", "abc"]),
        |node| assert!(node.patterns(&limits).is_none()),
        &["limit doc[1]: found `3` bytes, expected at most 2 (limit `value_bytes`)"],
    );
}
