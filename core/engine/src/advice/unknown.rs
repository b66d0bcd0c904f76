//! Advice about a call of a tool that nobody annotated.

use crate::document::{did_you_mean, listed};
use crate::sort;

/// Help for a call of a tool that no annotation names: a server or a tool of a similar name. `tools` are the server and the
/// name of each that there is.
pub fn help_for_unknown_tool<'n>(
    server: &str,
    tool: &str,
    tools: impl IntoIterator<Item = (&'n str, &'n str)>,
) -> String {
    /// Servers that are listed.
    const MOST_NAMES: usize = 8;
    let tools: Vec<(&str, &str)> = tools.into_iter().collect();
    let servers = sort::set(tools.iter().map(|(server, _)| *server));
    if !servers.contains(server) {
        return did_you_mean(server, servers.iter().copied()).unwrap_or_else(|| {
            if servers.is_empty() {
                return "the annotations name no server; `callgate annotate` drafts them from a server's tools".to_owned();
            }
            let names = listed(servers.iter().copied().take(MOST_NAMES));
            format!("no annotation names this server; there are {names}")
        });
    }
    let names = tools.iter().filter(|(of, _)| *of == server);
    did_you_mean(tool, names.map(|(_, name)| *name))
        .unwrap_or_else(|| {
            "the annotations do not describe this tool of the server; `callgate annotate` drafts what is missing".to_owned()
        })
}
