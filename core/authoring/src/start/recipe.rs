//! The files of a bundle for servers that have a pack.

use std::fmt::Write as _;

use callgate_engine::seed::SHELL;
use callgate_engine::text::clean;
use serde_json::{Map, Value, json};

use crate::packs::{Pack, PackError};

/// A server that somebody has, and the pack for it.
pub struct Chosen {
    /// The server's name.
    pub server: String,
    /// The pack.
    pub pack: &'static Pack,
    /// The folders of the host that it sees under other names, each with its name there.
    pub(super) mounts: Vec<(String, String)>,
}

/// The name of the file of a bundle.
pub(super) const BUNDLE_FILE: &str = "callgate.json";

/// The name of the file of annotations.
pub(super) const ANNOTATIONS_FILE: &str = "annotations.json";

/// The name of the file of scenarios.
pub(super) const SCENARIOS_FILE: &str = "scenarios.jsonl";

fn takes_commands(pack: &Pack) -> Result<bool, PackError> {
    let tools = pack.annotated_tools()?;
    let mut roles = tools
        .iter()
        .filter_map(|tool| tool.get("args")?.as_object())
        .flat_map(Map::values);
    Ok(roles.any(|roles| roles == "shell-command"))
}

/// The text of `callgate.json`.
pub(super) fn bundle(chosen: &[Chosen]) -> Result<String, PackError> {
    let (mut rules, mut in_sandbox) = (String::new(), Vec::new());
    let (mut aliases, mut paths) = (Map::new(), Map::new());
    for (at, one) in chosen.iter().enumerate() {
        let about = one.pack.about()?;
        if let Some(kind) = about.kind {
            in_sandbox.push(&*one.server);
            // What its commands run is judged as calls of this server, by the paths of this machine.
            if one.mounts.is_empty() && !in_sandbox.contains(&SHELL) && takes_commands(one.pack)? {
                in_sandbox.push(SHELL);
            }
            if !one.mounts.is_empty() {
                let names = one
                    .mounts
                    .iter()
                    .map(|(host, inside)| (host.clone(), inside.clone().into()));
                paths.insert(one.server.clone(), names.collect::<Map<_, _>>().into());
            }
            if kind != one.server {
                aliases.insert(one.server.clone(), kind.into());
            }
        }
        let is_of_pack = |other: &&Chosen| other.pack.name == one.pack.name;
        if chosen.iter().take(at).any(|other| is_of_pack(&other)) {
            continue;
        }
        let servers: Vec<&str> = chosen.iter().filter(is_of_pack).map(|one| &*one.server).collect();
        let _ = writeln!(
            rules,
            "      // {}: {}",
            clean(&servers.join(", ")),
            about.description
        );
        for rule in about.rules {
            rules += &rule_of(rule, &servers);
        }
    }
    // A server that takes paths and does more than serve files needs rules for them, and no sandbox.
    let mut options = json!({"unknownArguments": "deny", "sandboxServers": in_sandbox});
    for (key, value) in [("serverAliases", aliases), ("serverPaths", paths)] {
        if let Some(options) = options.as_object_mut().filter(|_| !value.is_empty()) {
            options.insert(key.to_owned(), value.into());
        }
    }
    let tests = match chosen.is_empty() {
        true => String::new(),
        false => format!(
            "  \"tests\": [\"{SCENARIOS_FILE}\"], // Calls with what is expected of them: `callgate test` runs them.\n"
        ),
    };
    Ok(format!(
        r#"// What an agent may do with its servers. `callgate validate` checks this file, `callgate map` shows what it allows.
{{
  "sandbox": ".", // In this folder some servers may read and write: `sandboxServers`. Rules are for everything else.
  // No call touches these, whatever the rules say. These documents and git's may be read: who writes them decides what is allowed, or what git runs.
  "protectedPaths": [
    "~/.ssh", "**/.env", {{ "path": "**/.git", "against": "write" }},
    {{ "path": ".husky", "against": "write" }}, {{ "path": ".githooks", "against": "write" }},
    {{ "path": "callgate.json", "against": "write" }}, {{ "path": "{ANNOTATIONS_FILE}", "against": "write" }},
  ],
  "policy": {{
    "rules": [ // The first rule that holds for a value decides: allow, escalate (a person is asked) or deny.
{rules}    ], // What no rule decides about is denied.
  }},
  "annotations": "{ANNOTATIONS_FILE}", // What the arguments of each server's tools mean. A tool that is not there is denied.
  "options": {}, // An argument that is not annotated is denied. The sandbox is for these servers.
{tests}}}
"#,
        spaced(&options)
    ))
}

/// A rule for these servers, on two lines.
fn rule_of(mut rule: Map<String, Value>, servers: &[&str]) -> String {
    if let Some(conditions) = rule.get_mut("if").and_then(Value::as_object_mut) {
        let servers = match servers {
            [server] => json!(server),
            servers => json!(servers),
        };
        conditions.insert("server".to_owned(), servers);
    }
    let of = |name: &str| spaced(rule.get(name).unwrap_or(&Value::Null));
    format!(
        "      {{ \"name\": {}, \"if\": {},\n        \"then\": {}, \"reason\": {} }},\n",
        of("name"),
        of("if"),
        of("then"),
        of("reason")
    )
}

/// The text of the annotations: two lines a tool.
pub(super) fn annotations(chosen: &[Chosen]) -> Result<String, PackError> {
    let mut servers = Vec::new();
    for one in chosen {
        let mut tools = Vec::new();
        for mut tool in one.pack.annotated_tools()? {
            let schema = tool
                .as_object_mut()
                .and_then(|tool| tool.shift_remove("inputSchema"));
            let annotated = spaced(&tool);
            let annotated = annotated.strip_suffix(" }").unwrap_or(&annotated);
            let schema = spaced(&schema.unwrap_or(json!({})));
            tools.push(format!(
                "        {annotated},\n          \"inputSchema\": {schema} }}"
            ));
        }
        servers.push(format!(
            "    {}: {{\n      \"tools\": [\n{}\n      ]\n    }}",
            json!(one.server),
            tools.join(",\n")
        ));
    }
    Ok(format!(
        "{{\n  \"servers\": {{\n{}\n  }}\n}}\n",
        servers.join(",\n")
    ))
}

/// The scenarios of all of them.
pub(super) fn scenarios(chosen: &[Chosen]) -> Result<String, PackError> {
    let mut text = String::new();
    for one in chosen {
        for scenario in one.pack.scenarios(&one.server)? {
            let _ = writeln!(text, "{}", spaced(&scenario));
        }
    }
    Ok(text)
}

/// Why a bundle cannot have a server of this name for the pack, if it cannot.
pub(super) fn unsuitable(server: &str, pack: &Pack, chosen: &[Chosen]) -> Result<Option<String>, PackError> {
    if server.is_empty() || server.contains('*') || server.contains(char::is_control) {
        // In a rule `*` would stand for every other server too.
        return Ok(Some(
            "its name is empty, or holds `*` or a control character, expected another name".to_owned(),
        ));
    }
    if let Some(other) = chosen.iter().find(|one| one.server == server) {
        return Ok(Some(format!(
            "its name is given twice, for the packs `{}` and `{}`, expected a name for each",
            other.pack.name, pack.name
        )));
    }
    let kind = pack.about()?.kind;
    let is_of_other_kind = KINDS.contains(&server) && kind.as_deref().is_some_and(|kind| kind != server);
    Ok(is_of_other_kind.then(|| {
        format!("servers called `{server}` are of another kind to the engine, expected another name")
    }))
}

/// The names that are kinds of servers.
const KINDS: [&str; 2] = ["filesystem", "git"];

/// A value on one line, with spaces.
fn spaced(value: &Value) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let members = members
                .iter()
                .map(|(key, value)| format!("{}: {}", json!(key), spaced(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        scalar => scalar.to_string(),
    }
}
