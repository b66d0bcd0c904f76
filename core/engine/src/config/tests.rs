use serde_json::{Value, json};

use super::*;

/// The texts of the protected paths.
fn protected_texts(config: &Config) -> Vec<&str> {
    config.protected_paths.iter().map(|one| &*one.path).collect()
}
use crate::role::RoleId;

const POLICY: &str = r#"{"generatedAt":"t","constitutionHash":"c","inputHash":"h","rules":[]}"#;
const ANNOTATIONS: &str = r#"{"generatedAt":"t","servers":{}}"#;

/// Reads `documents` with an empty policy and empty annotations, where they do not have their own.
fn read_with(documents: &[(DocumentKind, &str)]) -> Result<Config, Vec<Diagnostic>> {
    let mut all: Vec<(DocumentKind, DocumentSource<'_>)> = documents
        .iter()
        .map(|(kind, text)| (*kind, DocumentSource::Text(text)))
        .collect();
    for (kind, text) in [
        (DocumentKind::Policy, POLICY),
        (DocumentKind::Annotations, ANNOTATIONS),
    ] {
        if documents.iter().all(|(one, _)| *one != kind) {
            all.push((kind, DocumentSource::Text(text)));
        }
    }
    read(&all)
}

fn check(documents: &[(DocumentKind, &str)], expected: &[&str]) {
    let faults = match read_with(documents) {
        Ok(config) => config.warnings,
        Err(faults) => faults,
    };
    let found: Vec<String> = faults.into_iter().map(without_position).collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
}

fn without_position(fault: Diagnostic) -> String {
    let position = None;
    Diagnostic { position, ..fault }.to_string()
}

#[test]
fn documents_are_written_by_hand() {
    let policy = r#"// What the agent may do
        {
          "$schema": "https://example.com/policy.schema.json",
          "rules": [
            { "name": "look", "if": { "server": "s", "tool": "get_*", "roles": "read-path" }, "then": "allow", "reason": "r" },
            { "name": "box", "if": { "paths": { "roles": "write-path", "within": "box" } }, /* in the folder */
              "then": "allow", "reason": "r", },
          ],
        }"#;
    let annotations = r#"{"servers": {"s": {"tools": [
        {"toolName": "get_x", "args": {"a": "read-path", "b": {"roles": "write-path", "relativeTo": "a", "absent": "x"},
         "c": {"default": "read-path", "when": [{"condition": {"arg": "d", "is": "truthy"}, "roles": "none"}]}}},
    ]}}}"#;
    let config = read_with(&[
        (DocumentKind::Policy, policy),
        (DocumentKind::Annotations, annotations),
        (DocumentKind::Folder, "\"/srv/app\""),
        (DocumentKind::Sandbox, "\".\""),
        (
            DocumentKind::ProtectedPaths,
            "[\"keys\", \"*.pem\", \"**/.env\", \"~/x\"]",
        ),
        (
            DocumentKind::World,
            r#"{"roots": {"r": "src"}, "visibility": [], "operations": []}"#,
        ),
        (
            DocumentKind::Ceiling,
            r#"{"tools": ["get_x"], "workspace_roots": ["."]}"#,
        ),
        (
            DocumentKind::Options,
            r#"{"workingDirectory": {"git": "."}, "serverAliases": {"s": "filesystem"}, "$schema": "s"}"#,
        ),
    ])
    .unwrap();
    assert_eq!(config.warnings, []);
    assert_eq!(config.sandbox, ["/srv/app".into()]);
    assert_eq!(
        protected_texts(&config),
        ["/srv/app/keys", "/srv/app/*.pem", "**/.env", "~/x"]
    );
    assert_eq!(
        config.options.working_directories,
        [("git".into(), "/srv/app".into())]
    );
    assert_eq!(config.ceiling.unwrap().workspace_roots, ["/srv/app".into()]);
    let [look, within] = config.policy.rules.as_slice() else {
        panic!("{:?}", config.policy.rules)
    };
    assert_eq!(look.conditions.roles, Some(vec![RoleId::READ_PATH]));
    assert_eq!(look.conditions.server, Some(vec!["s".into()]));
    assert_eq!(&*within.conditions.paths.as_ref().unwrap().within, "/srv/app/box");
}

#[test]
fn a_fault_has_its_line_and_column() {
    let faults = read_with(&[
        (
            DocumentKind::Policy,
            "// é\n{\"rules\": [{\"name\": \"n\", \"if\": {\"role\": 1},\n \"then\": \"alow\", \"reason\": \"r\"}]}",
        ),
        (DocumentKind::Lists, "{\"lists\": {},\n\"lists\": {},}"),
        (DocumentKind::TrustedServers, "[\n  \"é\", // x\n  é ]"),
    ]);
    let found: Vec<String> = faults.unwrap_err().iter().map(ToString::to_string).collect();
    let expected = [
        "2:33: error[unknown-key] at policy.rules[0].if.role: ",
        "3:10: error[unknown-value] at policy.rules[0].then: ",
        "2:1: error[duplicate-key] at lists.lists: ",
        "3:3: error[syntax] at trustedServers: not JSON: expected value",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
    let given = serde_json::from_str::<Value>("{\"rules\": 5}").unwrap();
    let faults = read(&[(DocumentKind::Policy, DocumentSource::Value(&given))]).unwrap_err();
    assert!(faults.iter().all(|fault| fault.position.is_none()));
}

#[test]
fn what_is_missing_is_not_configured() {
    let nothing = [(DocumentKind::Lists, "null"), (DocumentKind::Sandbox, " null\n")];
    for kind in DocumentKind::ALL.iter().filter(|kind| !kind.may_be_null()) {
        let faults = read_with(&[(*kind, "null")]).unwrap_err();
        assert_eq!(faults.len(), 1, "{kind}");
        let expected = format!("error[wrong-type] at {kind}: found `null`, expected");
        let found = without_position(faults[0].clone());
        assert!(found.starts_with(&expected), "{found}");
    }
    for config in [read_with(&nothing).unwrap(), read_with(&[]).unwrap()] {
        assert_eq!(config.sandbox, []);
        assert!(config.protected_paths.is_empty() && config.domain_allowlists.is_empty());
        assert!(config.trusted_servers.is_empty() && config.warnings.is_empty());
        assert_eq!(config.ceiling, None);
        assert_eq!(
            (config.lists, config.options),
            (Lists::default(), Options::default())
        );
    }
    check(
        &[(DocumentKind::Policy, "null")],
        &["error[wrong-type] at policy: found `null`"],
    );
    let faults = read(&[]).unwrap_err();
    assert_eq!(faults.len(), 2);
    assert_eq!(
        faults[0].to_string(),
        "error[missing-field] at policy: `policy` is missing, expected the document"
    );
}

#[test]
fn every_document_is_read() {
    let roles = json!([{"name": "secret", "description": "", "category": "opaque"}]);
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let (protected, sandbox) = (json!(["/etc", "~", "~/.ssh"]), json!("/box"));
    let (gated, trusted) = (json!({"fetch": ["*.x", ""], "a": []}), json!(["memory"]));
    let annotations = json!({"generatedAt": "t", "servers": {"s": {"inputHash": "h", "tools": [
        {"toolName": "t", "serverName": "s", "comment": "", "args": {"key": ["secret"]}},
    ]}}});
    let config = read(&[
        (DocumentKind::TrustedServers, DocumentSource::Value(&trusted)),
        (DocumentKind::Annotations, DocumentSource::Value(&annotations)),
        (DocumentKind::Policy, DocumentSource::Value(&value(POLICY))),
        (DocumentKind::ProtectedPaths, DocumentSource::Value(&protected)),
        (DocumentKind::Sandbox, DocumentSource::Value(&sandbox)),
        (DocumentKind::DomainAllowlists, DocumentSource::Value(&gated)),
        (
            DocumentKind::Options,
            DocumentSource::Text("{\"heuristicPaths\":\"off\"}"),
        ),
        (DocumentKind::Roles, DocumentSource::Value(&roles)),
    ])
    .unwrap();
    assert_eq!(config.annotations.tools.len(), 1);
    assert!(config.registry.find("secret").is_some());
    assert_eq!(protected_texts(&config), ["/etc", "~", "~/.ssh"]);
    assert_eq!(config.sandbox, ["/box".into()]);
    let gated = [
        ("fetch".into(), vec!["*.x".into(), "".into()]),
        ("a".into(), vec![]),
    ];
    assert_eq!(config.domain_allowlists, gated);
    assert_eq!(config.trusted_servers, ["memory".into()]);
    assert!(!config.options.heuristic_paths);
}

#[test]
fn every_document_is_read_strictly() {
    for (kind, text, expected) in [
        (
            DocumentKind::ProtectedPaths,
            "\"/etc\"",
            &["error[wrong-type] at protectedPaths: "][..],
        ),
        (
            DocumentKind::ProtectedPaths,
            "[\"\", \"etc\", \"~root\", \"$HOME/x\", \"/a\\u0000\", null]",
            &[
                "error[invalid-path] at protectedPaths[0]: ",
                "error[invalid-path] at protectedPaths[1]: found `\"etc\"`, a relative path, expected an absolute path",
                "error[invalid-path] at protectedPaths[2]: ",
                "error[invalid-path] at protectedPaths[3]: ",
                "error[invalid-path] at protectedPaths[4]: ",
                "error[wrong-type] at protectedPaths[5]: ",
            ],
        ),
        (
            DocumentKind::Sandbox,
            "\"\"",
            &["error[invalid-path] at sandbox: "],
        ),
        (
            DocumentKind::Sandbox,
            "[\"/box\"]",
            &["error[wrong-type] at sandbox: "],
        ),
        (
            DocumentKind::Sandbox,
            "\"box\"",
            &["warning[invalid-path] at sandbox: "],
        ),
        (DocumentKind::Sandbox, "\"~\"", &[]),
        (
            DocumentKind::DomainAllowlists,
            "[]",
            &["error[wrong-type] at domainAllowlists: "],
        ),
        (
            DocumentKind::DomainAllowlists,
            "{\"fetch\":null,\"git\":\"x\"}",
            &[
                "error[wrong-type] at domainAllowlists.fetch: found `null`",
                "error[wrong-type] at domainAllowlists.git: ",
            ],
        ),
        (
            DocumentKind::TrustedServers,
            "\"memory\"",
            &["error[wrong-type] at trustedServers: "],
        ),
        (
            DocumentKind::TrustedServers,
            "[\"\"]",
            &["error[invalid-value] at trustedServers[0]: "],
        ),
        (
            DocumentKind::TrustedServers,
            "[",
            &["error[syntax] at trustedServers: "],
        ),
        (
            DocumentKind::Annotations,
            "{}",
            &["error[missing-field] at annotations: "],
        ),
        (
            DocumentKind::Lists,
            "{\"generatedAt\":\"\",\"lists\":[]}",
            &["error[wrong-type] at lists.lists: "],
        ),
        // The rest is not read if options or roles have an error.
        (
            DocumentKind::Options,
            "{\"stric\":true}",
            &["error[unknown-key] at options.stric: "],
        ),
        (DocumentKind::Roles, "{}", &["error[wrong-type] at roles: "]),
    ] {
        check(&[(kind, text)], expected);
    }
    check(
        &[
            (DocumentKind::TrustedServers, "[]"),
            (DocumentKind::TrustedServers, "[]"),
        ],
        &["error[duplicate-key] at trustedServers: the document `trustedServers` is given twice"],
    );
    check(
        &[
            (DocumentKind::ProtectedPaths, "[\"etc\"]"),
            (DocumentKind::TrustedServers, "[1]"),
        ],
        &[
            "error[invalid-path] at protectedPaths[0]: ",
            "error[wrong-type] at trustedServers[0]: ",
        ],
    );
}

#[test]
fn missing_lists_are_warned_of_and_strict_loading_refuses_warnings() {
    let rule = json!({
        "name": "n", "description": "", "principle": "", "then": "deny", "reason": "",
        "if": {
            "domains": {"roles": ["fetch-url"], "allowed": ["x", "@l", "@toString"]},
            "lists": [{"roles": ["none"], "allowed": ["@m"], "matchType": "identifiers"}],
        },
    });
    let mut policy: Value = serde_json::from_str(POLICY).unwrap();
    policy["rules"] = json!([rule]);
    let list = json!({
        "values": [], "manualAdditions": [], "manualRemovals": [], "resolvedAt": "t", "inputHash": "h",
    });
    let lists = json!({"generatedAt": "t", "lists": {"l": list}}).to_string();
    let policy = policy.to_string();
    let documents = [
        (DocumentKind::Policy, policy.as_str()),
        (DocumentKind::Lists, lists.as_str()),
    ];
    let expected = [
        "warning[missing-list] at policy.rules[0].if.domains.allowed[2]: found `@toString`",
        "warning[missing-list] at policy.rules[0].if.lists[0].allowed[0]: found `@m`",
    ];
    check(&documents, &expected);
    assert!(read_with(&documents).is_ok());
    let mut strict = documents.to_vec();
    strict.push((DocumentKind::Options, "{\"strict\":true}"));
    check(&strict, &expected);
    assert!(read_with(&strict).is_err());
    assert!(read_with(&[(DocumentKind::Options, "{\"strict\":true}")]).is_ok());
}

#[test]
fn limits_come_from_the_options() {
    check(
        &[
            (
                DocumentKind::Options,
                "{\"limits\":{\"depth\":1,\"value_bytes\":4}}",
            ),
            (DocumentKind::ProtectedPaths, "[\"/etc\",\"/etc/shadow\"]"),
            (DocumentKind::DomainAllowlists, "{\"fetch\":[]}"),
            (DocumentKind::Policy, POLICY),
            (DocumentKind::Annotations, ANNOTATIONS),
        ],
        &[
            "error[limit] at policy.rules: nested more than 1 levels deep",
            "error[limit] at annotations.servers: ",
            "error[limit] at protectedPaths[1]: found `11` bytes, expected at most 4 (limit `value_bytes`)",
            "error[limit] at domainAllowlists.fetch: ",
        ],
    );
}

#[test]
fn every_fault_is_found_at_once() {
    check(
        &[
            (DocumentKind::Options, r#"{"strct": true}"#),
            (DocumentKind::Roles, r#"[{"name": "of my own"}]"#),
            (
                DocumentKind::Policy,
                r#"{"rules": [{"name": "n", "if": {"roles": ["of my own"], "paths": {"roles": "read-path", "within": ""}},
                    "then": "allow", "reason": ""}]}"#,
            ),
            (DocumentKind::ProtectedPaths, "[5]"),
            (DocumentKind::Invariants, r#"[{"name": "n"}]"#),
        ],
        &[
            "error[unknown-key] at options.strct",
            "error[missing-field] at roles[0]",
            "error[invalid-path] at policy.rules[0].if.paths.within",
            "error[wrong-type] at protectedPaths[0]",
            "error[missing-field] at invariants[0]: found `{\"name\":\"n\"}`, expected exactly one of `never` and `always`",
        ],
    );
}

#[test]
fn a_statement_that_says_nothing_is_refused() {
    let message = "found `@none`, a list that does not exist, expected a dynamic list";
    for (statement, expected) in [
        (
            r#"{"decision": []}"#,
            "error[invalid-value] at invariants[0].never.decision: found `[]`, expected at least one decision",
        ),
        (
            r#"{"decision": "allow", "domains": "a*b"}"#,
            "error[invalid-value] at invariants[0].never.domains: found `a*b`, which has a `*` where it is not a wildcard",
        ),
        (
            r#"{"decision": "allow", "values": ["@none"]}"#,
            &format!("error[missing-list] at invariants[0].never.values: {message}"),
        ),
    ] {
        let document = format!(r#"[{{"never": {statement}}}]"#);
        check(&[(DocumentKind::Invariants, &document)], &[expected]);
    }
}

const FILES: &str =
    r#"{"servers": {"files": {"tools": [{"toolName": "read", "args": {"path": "read-path"}}]}}}"#;

#[test]
fn servers_that_nobody_has_are_named() {
    let unknown = "warning[unknown-name] at ";
    check(
        &[
            (DocumentKind::Annotations, FILES),
            (
                DocumentKind::Options,
                r#"{"serverPaths": {"fils": {"/a": "/b"}}, "workingDirectory": {"files": "/a"}}"#,
            ),
            (
                DocumentKind::DomainAllowlists,
                r#"{"fecth": ["a.test"], "git": ["a.test"], "files": []}"#,
            ),
            // A server that is trusted needs no annotation.
            (DocumentKind::TrustedServers, r#"["file", "elsewhere"]"#),
        ],
        &[
            &format!("{unknown}options.serverPaths.fils: found the server `fils`"),
            &format!("{unknown}domainAllowlists.fecth: found the server `fecth`"),
            &format!("{unknown}trustedServers[0]: found the server `file`"),
        ],
    );
}

#[test]
fn a_server_that_the_sandbox_passes_over_is_named() {
    let sandbox = (DocumentKind::Sandbox, "\"/srv\"");
    let with = |options: &'static str| {
        [
            (DocumentKind::Annotations, FILES),
            sandbox,
            (DocumentKind::Options, options),
        ]
    };
    let expected = "warning[overridden] at sandbox: the sandbox does not hold for the server `files`";
    check(&with("{\"strict\": true}"), &[expected]);
    check(&with(r#"{"serverAliases": {"files": "filesystem"}}"#), &[]);
    check(&with(r#"{"sandboxServers": ["filesystem", "git"]}"#), &[]);
    check(&with(r#"{"compatibility": "runtime"}"#), &[]);
    check(&[(DocumentKind::Annotations, FILES)], &[]);
    check(
        &[
            (DocumentKind::Annotations, FILES),
            sandbox,
            (DocumentKind::TrustedServers, "[\"files\"]"),
        ],
        &[],
    );
}

#[test]
fn the_kind_of_a_server_is_that_of_its_tools() {
    let help = |tools: &str| {
        let annotations = format!(r#"{{"servers": {{"s": {{"tools": [{tools}]}}}}}}"#);
        let documents = [
            (DocumentKind::Annotations, &*annotations),
            (DocumentKind::Sandbox, "\"/srv\""),
        ];
        let warnings = read_with(&documents).unwrap().warnings;
        let [warning] = warnings.as_slice() else {
            panic!("{warnings:#?}");
        };
        warning.help.clone().unwrap()
    };
    let tool = |name: &str, roles: &str| format!(r#"{{"toolName": "{name}", "args": {{"a": {roles}}}}}"#);
    let (read, commit, get) = (
        tool("read", r#""read-path""#),
        tool("commit", r#"["read-path", "write-history"]"#),
        tool("get", r#""none""#),
    );
    let aliased = |kind: &str| format!(r#"`serverAliases: {{"s": "{kind}"}}`"#);
    assert!(help(&format!("{read}, {commit}")).contains(&aliased("git")));
    assert!(help(&read).contains(&aliased("filesystem")));
    // A server of clusters or of a forge, of whose tools some take a file.
    let other = help(&format!("{read}, {get}"));
    assert!(
        !other.contains("serverAliases") && other.contains("rules decide"),
        "{other}"
    );
}
