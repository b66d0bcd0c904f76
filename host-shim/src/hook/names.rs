//! From the name that an agent gives a tool to a server and its tool.

use serde_json::{Map, Value};

use super::agent::{Agent, Event};
use super::options::HookOptions;
use super::tools;

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
        agent: Agent,
        event: Event,
        name: &str,
        input: &Map<String, Value>,
        options: &HookOptions,
    ) -> Result<Self, String> {
        let servers = &options.servers;
        if name.is_empty() {
            return Err("the tool has no name".to_owned());
        }
        if name.len() > LONGEST_NAME {
            return Err(format!("the tool's name has more than {LONGEST_NAME} bytes"));
        }
        let called = match agent {
            Agent::Cursor if options.leaves_execution && event == Event::Tool && name.starts_with("MCP:") => {
                Self::Later
            }
            Agent::Cursor => cursor(event, name, input, servers)?,
            Agent::GeminiCli => gemini(name, input, servers)?,
            _ => common(agent, name, input, servers)?,
        };
        match &called {
            // Its tools would be judged as those of the agent.
            Self::Mcp(readings) => match readings.iter().find(|(server, _)| is_agent(server)) {
                Some((server, _)) => Err(format!(
                    "the MCP server `{server}` has the name of an agent's own tools, expected another name"
                )),
                None => Ok(called),
            },
            Self::Own(_) | Self::Later => Ok(called),
        }
    }
}

fn is_agent(server: &str) -> bool {
    Agent::ALL.iter().any(|agent| agent.as_str() == server)
}

fn common(
    agent: Agent,
    name: &str,
    input: &Map<String, Value>,
    servers: &[String],
) -> Result<Called, String> {
    let own = || Called::Own(name.to_owned());
    if tools::has(agent, name) {
        return Ok(own());
    }
    let rest = match agent {
        Agent::ClaudeCode | Agent::Codex => name.strip_prefix("mcp__"),
        Agent::Vscode => name.strip_prefix("mcp_"),
        Agent::Goose => Some(name).filter(|name| name.contains("__")),
        Agent::CopilotCli => Some(name).filter(|name| name.contains('-')),
        Agent::Cursor | Agent::GeminiCli => None,
    };
    let Some(rest) = rest else { return Ok(own()) };
    if let Some(server) = input.get("mcp_server") {
        let server = server.get("name").and_then(Value::as_str);
        let server = server.ok_or("`mcp_server.name` is not a string")?;
        let tool = part_behind(agent, rest, server)
            .ok_or_else(|| format!("the tool `{name}` is not one of the MCP server `{server}`"))?;
        return Ok(Called::Mcp(vec![(server.to_owned(), tool.to_owned())]));
    }
    split(agent, rest, servers).map(Called::Mcp)
}

fn gemini(name: &str, input: &Map<String, Value>, servers: &[String]) -> Result<Called, String> {
    if let Some(context) = input.get("mcp_context").filter(|context| !context.is_null()) {
        let text = |member: &str| context.get(member).and_then(Value::as_str);
        return match (text("server_name"), text("tool_name")) {
            (Some(server), Some(tool)) => Ok(Called::Mcp(vec![(server.to_owned(), tool.to_owned())])),
            _ => Err("`mcp_context` has no `server_name` and `tool_name`".to_owned()),
        };
    }
    match name.strip_prefix("mcp_") {
        Some(rest) if !tools::has(Agent::GeminiCli, name) => {
            split(Agent::GeminiCli, rest, servers).map(Called::Mcp)
        }
        _ => Ok(Called::Own(name.to_owned())),
    }
}

fn cursor(
    event: Event,
    name: &str,
    input: &Map<String, Value>,
    servers: &[String],
) -> Result<Called, String> {
    let tool = match (event, name.strip_prefix("MCP:")) {
        (Event::Mcp, tool) => tool.unwrap_or(name),
        (_, Some(tool)) => tool,
        (_, None) => return Ok(Called::Own(name.to_owned())),
    };
    match input.get("mcp_server_name") {
        None | Some(Value::Null) if servers.is_empty() => Err(format!(
            "the agent does not say which MCP server has the tool `{tool}`, and `--mcp-server` does not say which there are"
        )),
        None | Some(Value::Null) => {
            let readings = servers.iter().map(|server| (server.clone(), tool.to_owned()));
            Ok(Called::Mcp(readings.collect()))
        }
        Some(Value::String(server)) if !server.is_empty() => {
            Ok(Called::Mcp(vec![(server.clone(), tool.to_owned())]))
        }
        Some(_) => Err("`mcp_server_name` is not a name".to_owned()),
    }
}

/// Every way to take the name apart, or those in which the server is a known one.
fn split(agent: Agent, name: &str, servers: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut readings = Vec::new();
    if servers.is_empty() {
        let separator = agent.separator();
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
fn part_behind<'n>(agent: Agent, name: &'n str, server: &str) -> Option<&'n str> {
    let spelled = agent.spelled(server);
    [server, &spelled].into_iter().find_map(|server| {
        let tool = name.strip_prefix(server)?.strip_prefix(agent.separator())?;
        Some(tool).filter(|tool| !tool.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(agent: Agent, name: &str, input: Value, servers: &[&str], expected: Result<Called, &str>) {
        let options = HookOptions {
            servers: servers.iter().map(|&name| name.to_owned()).collect(),
            ..HookOptions::default()
        };
        let input = input.as_object().unwrap();
        let found = Called::read(agent, Event::Tool, name, input, &options);
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
            Agent::ClaudeCode,
            "Bash",
            none(),
            &[],
            Ok(Called::Own("Bash".to_owned())),
        );
        check(
            Agent::ClaudeCode,
            "mcp__git__git_add",
            none(),
            &[],
            mcp(&[("git", "git_add")]),
        );
        check(
            Agent::ClaudeCode,
            "mcp__a__b__c",
            none(),
            &[],
            mcp(&[("a", "b__c"), ("a__b", "c")]),
        );
        check(
            Agent::ClaudeCode,
            "mcp__a___b",
            none(),
            &[],
            mcp(&[("a", "_b"), ("a_", "b")]),
        );
        check(
            Agent::ClaudeCode,
            "mcp__a__b__c",
            none(),
            &["a__b"],
            mcp(&[("a__b", "c")]),
        );
        check(
            Agent::ClaudeCode,
            "mcp__a__b",
            none(),
            &["x"],
            Err("not the name of a tool"),
        );
        check(
            Agent::ClaudeCode,
            "mcp__a",
            none(),
            &[],
            Err("not the name of a tool"),
        );
        check(
            Agent::ClaudeCode,
            "mcp__my_docs__read",
            json!({"mcp_server": {"name": "my docs", "source": "user"}}),
            &[],
            mcp(&[("my docs", "read")]),
        );
        check(
            Agent::ClaudeCode,
            "mcp__a__read",
            json!({"mcp_server": {"name": "b"}}),
            &[],
            Err("is not one of the MCP server `b`"),
        );
        check(
            Agent::Vscode,
            "mcp_a_b_c",
            none(),
            &[],
            mcp(&[("a", "b_c"), ("a_b", "c")]),
        );
        check(
            Agent::Vscode,
            "mcp_my-long-serve_x",
            none(),
            &["My-Long-Server-Name"],
            mcp(&[("My-Long-Server-Name", "x")]),
        );
        check(
            Agent::CopilotCli,
            "files-read",
            none(),
            &[],
            mcp(&[("files", "read")]),
        );
        check(
            Agent::GeminiCli,
            "mcp_a_b_c",
            json!({"mcp_context": {"server_name": "a_b", "tool_name": "c"}}),
            &[],
            mcp(&[("a_b", "c")]),
        );
        check(
            Agent::GeminiCli,
            "mcp_a_b",
            json!({"mcp_context": {"server_name": 1}}),
            &[],
            Err("no `server_name`"),
        );
        check(
            Agent::Goose,
            "developer__shell",
            none(),
            &[],
            Ok(Called::Own("developer__shell".to_owned())),
        );
        check(
            Agent::Goose,
            "files__read",
            none(),
            &[],
            mcp(&[("files", "read")]),
        );
        check(
            Agent::Cursor,
            "MCP:read",
            none(),
            &[],
            Err("does not say which MCP server"),
        );
        check(
            Agent::Cursor,
            "MCP:read",
            none(),
            &["a", "b"],
            mcp(&[("a", "read"), ("b", "read")]),
        );
        check(
            Agent::Cursor,
            "MCP:read",
            json!({"mcp_server_name": "a"}),
            &[],
            mcp(&[("a", "read")]),
        );
    }

    #[test]
    fn names_are_read_in_a_few_ways_at_most() {
        for (agent, begin, separator) in [
            (Agent::ClaudeCode, "mcp__a", "__b"),
            (Agent::Vscode, "mcp_a", "_b"),
            (Agent::CopilotCli, "a", "-b"),
            (Agent::Goose, "a", "__b"),
            (Agent::GeminiCli, "mcp_a", "_b"),
        ] {
            let name = |count: usize| format!("{begin}{}", separator.repeat(count));
            let options = HookOptions::default();
            let read = |name: &str| Called::read(agent, Event::Tool, name, &Map::new(), &options);
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
            assert!(Called::read(agent, Event::Tool, &name, &Map::new(), &known).is_ok());
        }
    }

    #[test]
    fn no_mcp_server_has_the_name_of_an_agent() {
        for named in Agent::ALL {
            let refused = || Err("has the name of an agent's own tools");
            let name = named.as_str();
            for agent in [Agent::ClaudeCode, Agent::Codex] {
                let tool = format!("mcp__{name}__Read");
                let said = json!({"mcp_server": {"name": name}});
                check(agent, &tool, json!({}), &[], refused());
                check(agent, &tool, said, &[], refused());
                check(agent, &tool, json!({}), &["files", name], refused());
            }
            let said = json!({"mcp_server_name": name});
            check(Agent::Cursor, "MCP:read", said, &[], refused());
            let said = json!({"mcp_context": {"server_name": name, "tool_name": "read"}});
            check(Agent::GeminiCli, "read", said, &[], refused());
            check(Agent::Goose, &format!("{name}__read"), json!({}), &[], refused());
        }
    }
}
