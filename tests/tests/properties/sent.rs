//! A gate sends what it judged: gating it again gives the same verdict and the same arguments.

use callgate_engine::config::DocumentKind;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::{build, document, host, sent_on, text};
use crate::common::cases::{Request, case, config, path};
use crate::common::engines::{annotations, tool};

/// The servers' own names for the host's directories, if they see them under other names.
const NAMES: [(&str, &str); 2] = [("/box", "/work"), ("/", "/host")];

fn tools() -> Value {
    let stored = |server: &str| {
        let mut stored = tool(
            &format!("{server}/act"),
            json!({
                "path": ["write-path"], "remove": ["read-path", "delete-path"], "repo": ["read-path"],
                "files": {"roles": ["read-path"], "relativeTo": "repo"},
                "gone": {"roles": ["delete-path"], "relativeTo": "repo"},
                "remote": ["git-remote-url"], "owner": ["github-owner"],
            }),
        );
        stored["arg_schema"] = json!({"arg_aliases": {"file": "path"}});
        stored
    };
    annotations(&[stored("filesystem"), stored("git")])
}

fn request() -> impl Strategy<Value = Request> {
    let remote = select(vec![
        "origin",
        "fork",
        "https://GitHub.com/o/r.git",
        "HTTPS://good.test:443/o/r/",
        "git@evil.test:o/r",
        "none",
    ]);
    let paths = || prop::collection::vec(path(), 0..3).prop_map(Value::from);
    let one = |weight| prop::option::weighted(weight, path().prop_map(Value::from));
    let arguments = (
        one(0.3),
        one(0.3),
        prop::option::weighted(0.4, paths()),
        one(0.8),
        prop::option::weighted(0.4, paths()),
        one(0.4),
        prop::option::weighted(0.4, remote.prop_map(Value::from)),
        prop::option::weighted(0.2, select(vec![json!("ACME"), json!("evil")])),
    );
    (select(vec!["filesystem", "git"]), arguments).prop_map(
        |(server, (path, file, remove, repo, files, gone, remote, owner))| {
            let given = [
                ("path", path),
                ("file", file),
                ("remove", remove),
                ("repo", repo),
                ("files", files),
                ("gone", gone),
                ("remote", remote),
                ("owner", owner),
            ];
            let members = given
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)));
            Request {
                server: server.to_owned(),
                tool: "act".to_owned(),
                arguments: Value::Object(members.collect::<Map<_, _>>()),
            }
        },
    )
}

/// The paths of a request in the names of the host again.
fn in_host_names(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) => {
            let renamed = NAMES.iter().find_map(|(host, server)| {
                let rest = text.strip_prefix(server)?;
                match rest.is_empty() || rest.starts_with('/') {
                    true if rest.is_empty() => Some((*host).to_owned()),
                    true => Some(format!("{}{rest}", host.trim_end_matches('/'))),
                    false => None,
                }
            });
            Value::String(renamed.unwrap_or_else(|| text.clone()))
        }
        Value::Array(items) => items.iter().map(in_host_names).collect(),
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(
                members
                    .map(|(name, value)| (name.clone(), in_host_names(value)))
                    .collect(),
            )
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => arguments.clone(),
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn what_was_sent_is_judged_alike(case in case(), requests in prop::collection::vec(request(), 4), renames in any::<bool>()) {
        let host = host(&case);
        let mut options = document(&case, DocumentKind::Options).expect("there are options").clone();
        if renames {
            let names: Map<String, Value> = NAMES.iter().map(|(host, server)| ((*host).to_owned(), json!(server))).collect();
            options["serverPaths"] = json!({"filesystem": names, "git": names});
        }
        let documents = case.documents.clone().with(DocumentKind::Options, options).with(DocumentKind::Annotations, tools());
        let engine = build(&documents, &host);
        for request in &requests {
            let call = request.call();
            let first = engine.gate(&call, &host);
            if first.verdict.decision.strictness() == 2 {
                continue;
            }
            let sent = sent_on(&first, &request.arguments);
            let arguments = if renames { in_host_names(&sent) } else { sent.clone() };
            let again = Request { arguments, ..request.clone() };
            let call = again.call();
            let second = engine.gate(&call, &host);
            prop_assert_eq!(text(&second.verdict), text(&first.verdict), "{:?} sent {}", request, sent);
            prop_assert_eq!(&sent_on(&second, &again.arguments), &sent, "{:?}", request);
        }
    }
}
