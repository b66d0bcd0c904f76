//! An agent's hook is one file, its tools and a row of the list: no other file of the hooks names an agent.

use std::path::Path;

use super::search::check;
use super::source::{Source, sources};

/// The list of agents, beside the folder of their files.
const LIST: &str = "agents.rs";
const FOLDER: &str = "agents/";

/// What some agents have in common.
const SHARED: &str = "family";

#[test]
fn an_agents_hook_is_added_in_its_own_file_and_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host-shim");
    let mut files = sources(&root.join("hook/src"), "lib.rs");
    let command = sources(&root.join("command/src"), "main.rs");
    files.extend(
        command
            .into_iter()
            .filter(|source| source.file.starts_with("hook")),
    );
    let agents = files
        .iter()
        .filter_map(|source| source.file.strip_prefix(FOLDER)?.strip_suffix(".rs"))
        .filter(|name| *name != SHARED);
    let agents: Vec<String> = agents.map(str::to_owned).collect();
    assert!(agents.len() > 6, "{agents:?}");
    let (own, others): (Vec<&Source>, Vec<&Source>) = files
        .iter()
        .partition(|source| source.file == LIST || source.file.starts_with(FOLDER));
    let mut faults = Vec::new();
    for agent in &agents {
        let names = [agent.clone(), format!("{:?}", agent.replace('_', "-"))];
        let in_list = own.iter().filter(|source| source.file == LIST);
        let in_list = in_list.flat_map(|source| &source.tokens);
        let rows = in_list.filter(|token| names.contains(&token.text)).count();
        // Its module and its row.
        faults.extend((rows != 2).then(|| format!("{LIST} names `{agent}` {rows} times")));
        for source in &others {
            let named = source.tokens.iter().filter(|token| names.contains(&token.text));
            faults.extend(named.map(|token| format!("{}:{}: {}", source.file, token.line, token.text)));
        }
    }
    check("an agent that more than two files know", faults);
}
