//! From the name that an agent gives a tool to a server and its tool.

use serde_json::{Map, Value};

use super::agents::{Agent, Event, ServerIn, Step};
use super::options::HookOptions;

/// Bytes of the longest name of a tool: agents and models take 64 or 128.
const LONGEST_NAME: usize = 1024;

/// How many readings of a name are judged.
const MOST_READINGS: usize = 64;

/// The tool that is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// A tool of the agent itself.
    Own(String),
    /// A tool of an MCP server: every reading of its name, of which there is at least one.
    Mcp(Vec<(String, String)>),
    /// A tool of an MCP server that the agent asks about once more before it calls it.
    Later,
}

impl Called {
    /// Reads the name of a tool.
    ///
    /// # Errors
    /// Why the name cannot be that of a tool.
    pub(super) fn read(
        agent: &'static Agent,
        event: &Event,
        name: &str,
        input: &Map<String, Value>,
        options: &HookOptions,
    ) -> Result<Self, String> {
        if name.is_empty() {
            return Err("the tool has no name".to_owned());
        }
        if name.len() > LONGEST_NAME {
            return Err(format!("the tool's name has more than {LONGEST_NAME} bytes"));
        }
        let asks_again = || agent.asks_again(|step| step == Step::Mcp);
        if options.leaves_execution
            && event.step == Step::Tool
            && name.starts_with(agent.naming.prefix)
            && asks_again()
        {
            return Ok(Self::Later);
        }
        let Some(readings) = readings(agent, event, name, input, &options.servers)? else {
            return Ok(Self::Own(name.to_owned()));
        };
        // Its tools would be judged as those of the agent.
        match readings.iter().find(|(server, _)| Agent::named(server).is_some()) {
            Some((server, _)) => Err(format!(
                "the MCP server `{server}` has the name of an agent's own tools, expected another name"
            )),
            None => Ok(Self::Mcp(readings)),
        }
    }
}

/// The servers and tools that a name may stand for; `None` for a tool of the agent itself.
fn readings(
    agent: &Agent,
    event: &Event,
    name: &str,
    input: &Map<String, Value>,
    servers: &[String],
) -> Result<Option<Vec<(String, String)>>, String> {
    let naming = &agent.naming;
    let one = |server: &str, tool: &str| Ok(Some(vec![(server.to_owned(), tool.to_owned())]));
    if naming.server == ServerIn::Context
        && let Some(context) = input.get("mcp_context").filter(|context| !context.is_null())
    {
        let text = |member: &str| context.get(member).and_then(Value::as_str);
        return match (text("server_name"), text("tool_name")) {
            (Some(server), Some(tool)) => one(server, tool),
            _ => Err("`mcp_context` has no `server_name` and `tool_name`".to_owned()),
        };
    }
    let is_of_server = event.step == Step::Mcp;
    let rest = name
        .strip_prefix(naming.prefix)
        .filter(|rest| !naming.prefix.is_empty() || rest.contains(naming.separator));
    let rest = match rest {
        Some(rest) if is_of_server || !agent.table().has(name) => rest,
        None if is_of_server => name,
        Some(_) | None => return Ok(None),
    };
    match (
        naming.server,
        input.get("mcp_server"),
        input.get("mcp_server_name"),
    ) {
        (ServerIn::Name, Some(server), _) => {
            let server = server.get("name").and_then(Value::as_str);
            let server = server.ok_or("`mcp_server.name` is not a string")?;
            let tool = part_behind(agent, rest, server)
                .ok_or_else(|| format!("the tool `{name}` is not one of the MCP server `{server}`"))?;
            one(server, tool)
        }
        (ServerIn::Name | ServerIn::Context, _, _) => split(agent, rest, servers).map(Some),
        (ServerIn::Member, _, None | Some(Value::Null)) if servers.is_empty() => Err(format!(
            "the agent does not say which MCP server has the tool `{rest}`, and `--mcp-server` does not say which there are"
        )),
        (ServerIn::Member, _, None | Some(Value::Null)) => {
            let readings = servers.iter().map(|server| (server.clone(), rest.to_owned()));
            Ok(Some(readings.collect()))
        }
        (ServerIn::Member, _, Some(Value::String(server))) if !server.is_empty() => one(server, rest),
        (ServerIn::Member, _, Some(_)) => Err("`mcp_server_name` is not a name".to_owned()),
    }
}

/// Every way to take the name apart, or those in which the server is a known one.
fn split(agent: &Agent, name: &str, servers: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut readings = Vec::new();
    if servers.is_empty() {
        let separator = agent.naming.separator;
        for (at, _) in name
            .char_indices()
            .filter(|(at, _)| name.get(*at..).is_some_and(|rest| rest.starts_with(separator)))
        {
            let (server, tool) = (name.get(..at), name.get(at + separator.len()..));
            if let (Some(server), Some(tool)) = (server, tool)
                && !server.is_empty()
                && !tool.is_empty()
            {
                readings.push((server.to_owned(), tool.to_owned()));
            }
        }
    } else {
        for server in servers {
            if let Some(tool) = part_behind(agent, name, server) {
                readings.push((server.clone(), tool.to_owned()));
            }
        }
    }
    match readings.len() {
        0 => Err(format!(
            "`{name}` is not the name of a tool of a known MCP server"
        )),
        1..=MOST_READINGS => Ok(readings),
        _ => Err(format!(
            "the tool's name can be read in more than {MOST_READINGS} ways, and `--mcp-server` does not say which servers there are"
        )),
    }
}

/// The tool, if the name begins with the server.
fn part_behind<'n>(agent: &Agent, name: &'n str, server: &str) -> Option<&'n str> {
    let spelled = (agent.naming.spelled)(server);
    [server, &spelled].into_iter().find_map(|server| {
        let tool = name.strip_prefix(server)?.strip_prefix(agent.naming.separator)?;
        Some(tool).filter(|tool| !tool.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(
        agent: &str,
        name: &str,
        input: &Map<String, Value>,
        options: &HookOptions,
    ) -> Result<Called, String> {
        let agent = Agent::named(agent).unwrap();
        Called::read(agent, &agent.before_tool, name, input, options)
    }

    #[track_caller]
    fn check(agent: &str, name: &str, input: Value, servers: &[&str], expected: Result<Called, &str>) {
        let options = HookOptions {
            servers: servers.iter().map(|&name| name.to_owned()).collect(),
            ..HookOptions::default()
        };
        let input = input.as_object().unwrap();
        let found = read(agent, name, input, &options);
        match (&found, &expected) {
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
            _ => assert_eq!(found, expected.map_err(str::to_owned), "{name}"),
        }
    }

    fn mcp(readings: &[(&str, &str)]) -> Result<Called, &'static str> {
        let readings = readings
            .iter()
            .map(|(server, tool)| ((*server).to_owned(), (*tool).to_owned()));
        Ok(Called::Mcp(readings.collect()))
    }

    #[test]
    fn names_are_taken_apart_as_each_agent_writes_them() {
        let none = || json!({});
        check(
            "claude-code",
            "Bash",
            none(),
            &[],
            Ok(Called::Own("Bash".to_owned())),
        );
        check(
            "claude-code",
            "mcp__git__git_add",
            none(),
            &[],
            mcp(&[("git", "git_add")]),
        );
        check(
            "claude-code",
            "mcp__a__b__c",
            none(),
            &[],
            mcp(&[("a", "b__c"), ("a__b", "c")]),
        );
        check(
            "claude-code",
            "mcp__a___b",
            none(),
            &[],
            mcp(&[("a", "_b"), ("a_", "b")]),
        );
        check(
            "claude-code",
            "mcp__a__b__c",
            none(),
            &["a__b"],
            mcp(&[("a__b", "c")]),
        );
        check(
            "claude-code",
            "mcp__a__b",
            none(),
            &["x"],
            Err("not the name of a tool"),
        );
        check(
            "claude-code",
            "mcp__a",
            none(),
            &[],
            Err("not the name of a tool"),
        );
        check(
            "claude-code",
            "mcp__my_docs__read",
            json!({"mcp_server": {"name": "my docs", "source": "user"}}),
            &[],
            mcp(&[("my docs", "read")]),
        );
        check(
            "claude-code",
            "mcp__a__read",
            json!({"mcp_server": {"name": "b"}}),
            &[],
            Err("is not one of the MCP server `b`"),
        );
        check(
            "vscode",
            "mcp_a_b_c",
            none(),
            &[],
            mcp(&[("a", "b_c"), ("a_b", "c")]),
        );
        check(
            "vscode",
            "mcp_my-long-serve_x",
            none(),
            &["My-Long-Server-Name"],
            mcp(&[("My-Long-Server-Name", "x")]),
        );
        check(
            "copilot-cli",
            "files-read",
            none(),
            &[],
            mcp(&[("files", "read")]),
        );
        check(
            "gemini-cli",
            "mcp_a_b_c",
            json!({"mcp_context": {"server_name": "a_b", "tool_name": "c"}}),
            &[],
            mcp(&[("a_b", "c")]),
        );
        check(
            "gemini-cli",
            "mcp_a_b",
            json!({"mcp_context": {"server_name": 1}}),
            &[],
            Err("no `server_name`"),
        );
        check(
            "goose",
            "developer__shell",
            none(),
            &[],
            Ok(Called::Own("developer__shell".to_owned())),
        );
        check("goose", "files__read", none(), &[], mcp(&[("files", "read")]));
        check(
            "cursor",
            "MCP:read",
            none(),
            &[],
            Err("does not say which MCP server"),
        );
        check(
            "cursor",
            "MCP:read",
            none(),
            &["a", "b"],
            mcp(&[("a", "read"), ("b", "read")]),
        );
        check(
            "cursor",
            "MCP:read",
            json!({"mcp_server_name": "a"}),
            &[],
            mcp(&[("a", "read")]),
        );
    }

    #[test]
    fn names_are_read_in_a_few_ways_at_most() {
        for (agent, begin, separator) in [
            ("claude-code", "mcp__a", "__b"),
            ("vscode", "mcp_a", "_b"),
            ("copilot-cli", "a", "-b"),
            ("goose", "a", "__b"),
            ("gemini-cli", "mcp_a", "_b"),
        ] {
            let name = |count: usize| format!("{begin}{}", separator.repeat(count));
            let options = HookOptions::default();
            let read = |name: &str| read(agent, name, &Map::new(), &options);
            let Ok(Called::Mcp(readings)) = read(&name(MOST_READINGS)) else {
                panic!("{agent}");
            };
            assert_eq!(readings.len(), MOST_READINGS);
            assert!(
                read(&name(MOST_READINGS + 1))
                    .unwrap_err()
                    .contains("more than 64 ways")
            );
            assert!(read(&name(50_000)).unwrap_err().contains("more than 1024 bytes"));
            // Servers that are known leave one.
            let known = vec!["a".to_owned()];
            let known = HookOptions {
                servers: known,
                ..HookOptions::default()
            };
            let name = name(MOST_READINGS + 1);
            assert!(super::tests::read(agent, &name, &Map::new(), &known).is_ok());
        }
    }

    #[test]
    fn no_mcp_server_has_the_name_of_an_agent() {
        for named in Agent::ALL {
            let refused = || Err("has the name of an agent's own tools");
            let name = named.as_str();
            for agent in ["claude-code", "codex"] {
                let tool = format!("mcp__{name}__Read");
                let said = json!({"mcp_server": {"name": name}});
                check(agent, &tool, json!({}), &[], refused());
                check(agent, &tool, said, &[], refused());
                check(agent, &tool, json!({}), &["files", name], refused());
            }
            let said = json!({"mcp_server_name": name});
            check("cursor", "MCP:read", said, &[], refused());
            let said = json!({"mcp_context": {"server_name": name, "tool_name": "read"}});
            check("gemini-cli", "read", said, &[], refused());
            check("goose", &format!("{name}__read"), json!({}), &[], refused());
        }
    }
}
