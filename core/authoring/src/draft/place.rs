//! The roles of a path, by what the tool does.

use super::git;
use super::kind::Kind;
use super::schema::Leaf;
use super::tool::{Setting, Tool};
use super::verb::{self, NamedVerb, Side, Verb};
use super::words::of_text;
use callgate_engine::role::RoleId;

/// Why a path is read, whatever the tool does with what the path is for; `None` if that is not clear.
pub(super) fn only_read(
    kind: Kind,
    words: &[String],
    description: &str,
    tool: &Tool<'_>,
) -> Option<&'static str> {
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    let ends = |names: &[&str]| words.last().is_some_and(|word| names.contains(&word.as_str()));
    let is_directory = ends(&["cwd", "workdir"]) || has(&["working", "work"]) && ends(&["dir", "directory"]);
    let is_output = kind == Kind::Destination || has(&["output", "out", "destination", "dest", "save"]);
    let removes = tool.does(Verb::Delete) || tool.does(Verb::Move);
    if has(&["executable", "binary", "program"]) {
        return Some("what it names is started");
    }
    if is_directory && tool.is_command() {
        return Some("it is where a command starts");
    }
    if tool.chooses_place() && !removes {
        return Some("the tool makes it the place of later calls");
    }
    if is_output {
        return None;
    }
    if has(&["values", "manifest", "kubeconfig"]) || tool.acts_on_cluster() && describes_input(description) {
        return Some("what it describes is elsewhere");
    }
    if tool.installs_app() {
        return Some("what is installed goes elsewhere");
    }
    if tool.only_looks_into() && !removes {
        return Some("the tool takes something out of it");
    }
    let is_unpacked = tool.words.iter().any(|word| UNPACKING.contains(&word.as_str()));
    (is_unpacked && tool.has_destination()).then_some("what it holds goes elsewhere")
}

/// Verbs of tools that take what an archive holds.
const UNPACKING: [&str; 4] = ["extract", "unzip", "untar", "unpack"];

/// Returns `true` if a description speaks of a file that says what is wanted.
fn describes_input(description: &str) -> bool {
    let about = of_text(description);
    let writes = verb::about_argument(description).iter().any(|one| {
        matches!(
            one.word.as_str(),
            "write" | "save" | "store" | "output" | "export"
        )
    });
    let mut first = about.iter().take_while(|(sentence, _)| *sentence == 0);
    let speaks = first.any(|(_, word)| {
        matches!(
            word.as_str(),
            "yaml" | "yml" | "manifest" | "from" | "values" | "file"
        )
    });
    speaks && !writes
}

/// The roles, the argument that relative paths start from, why, and whether that is clear.
type Roles = (Vec<RoleId>, Option<String>, String, bool);

/// The roles of a path, by what the tool does.
pub(super) fn on_disk(named_side: Side, description: &str, tool: &Tool<'_>) -> Roles {
    let about = verb::about_argument(description);
    // `a file to create it from` is read.
    let is_from = of_text(description)
        .iter()
        .any(|(sentence, word)| *sentence == 0 && word == "from");
    let side = match named_side {
        Side::Either if !is_from => side_in(&about),
        side => side,
    };
    // A verb that starts a program says nothing of what happens to a path.
    let tells = |said: &&NamedVerb| said.verb != Verb::Run;
    let named: Vec<&NamedVerb> = tool.named.iter().filter(tells).collect();
    let described: Vec<&NamedVerb> = tool.described.iter().filter(tells).collect();
    let mut is_clear = true;
    let mut said: Vec<(&NamedVerb, &str)> = named.iter().map(|one| (*one, "the tool's name")).collect();
    // A description adds what a name leaves out.
    let reads = named.iter().all(|one| one.verb.only_reads());
    let adds = described
        .iter()
        .filter(|one| named.is_empty() || !one.verb.only_reads());
    for one in adds {
        is_clear &= named.is_empty() || !reads;
        said.push((one, "the tool's description"));
    }
    said.extend(about.iter().filter(tells).map(|one| (one, "its description")));
    let mut roles: Vec<RoleId> = Vec::new();
    for (one, _) in &said {
        let verb = match side {
            Side::Either => tool.effect_on_file(one.verb),
            Side::Source | Side::Destination => one.verb,
        };
        is_clear &= verb == one.verb;
        roles.extend(verb.path_roles(side));
    }
    // A picture that is added to a document is read, and an export may name what is exported.
    let adds = |one: &(&NamedVerb, &str)| {
        matches!(one.0.word.as_str(), "add" | "export" | "exports" | "adds" | "put")
    };
    if side == Side::Either && said.iter().any(adds) && !roles.contains(&RoleId::READ_PATH) {
        roles.push(RoleId::READ_PATH);
        is_clear = false;
    }
    if named_side == Side::Destination && !roles.is_empty() && !roles.contains(&RoleId::DELETE_PATH) {
        roles.push(RoleId::WRITE_PATH);
    }
    let hints = tool.listed.hints;
    let may_change = hints.is_read_only == Some(false) || hints.is_destructive == Some(true);
    let only_reads = said.iter().all(|(one, _)| one.verb == Verb::Read);
    let mut what = match said.first() {
        Some(_) => {
            let listed: Vec<String> = said
                .iter()
                .map(|(one, place)| format!("{place} says `{}`", one.word))
                .collect();
            deduplicated(listed).join(", ")
        }
        None => {
            roles.extend(Verb::Run.path_roles(side));
            is_clear = false;
            "nothing says what happens to it".to_owned()
        }
    };
    if only_reads && may_change && !said.is_empty() && about.is_empty() {
        roles.push(RoleId::WRITE_PATH);
        what += ", but the server hints that the tool changes something";
        is_clear = false;
    }
    // A hint speaks against a description, never against a name.
    if hints.is_read_only == Some(true) && roles.contains(&RoleId::DELETE_PATH) {
        if !named
            .iter()
            .any(|one| matches!(one.verb, Verb::Delete | Verb::Move))
        {
            roles.retain(|role| *role != RoleId::DELETE_PATH);
            roles.extend([RoleId::READ_PATH, RoleId::WRITE_PATH]);
        }
        is_clear = false;
    }
    if tool.is_in(Setting::UrlOrPath) && roles == [RoleId::READ_PATH] && tool.url_flag().is_none() {
        what += ", and the tool speaks of URLs too";
        return (vec![RoleId::RESOURCE_URI], None, what, is_clear);
    }
    if tool.is_in(Setting::UrlOrPath) {
        roles.push(RoleId::FETCH_URL);
        what += ", but the tool speaks of URLs too";
        is_clear = false;
    }
    (in_order(&roles), None, what, is_clear)
}

/// The end of a transfer that an argument's name speaks of.
pub(super) fn side_of(kind: Kind, words: &[String], tool: &Tool<'_>) -> Side {
    let exports = tool.words.iter().any(|word| word == "export");
    let is_of_tool = |word: &String| tool.words.contains(word) && !FILES.contains(&word.as_str());
    let has = |sides: &[&str]| words.iter().any(|word| sides.contains(&word.as_str()));
    match kind {
        Kind::Source => Side::Source,
        Kind::Destination => Side::Destination,
        // `export_csv` writes `csv_path`.
        _ if exports && words.iter().any(is_of_tool) => Side::Destination,
        _ if has(&["source", "src", "input", "old", "original"]) => Side::Source,
        _ if has(&[
            "destination",
            "dest",
            "dst",
            "output",
            "out",
            "target",
            "new",
            "save",
        ]) =>
        {
            Side::Destination
        }
        _ => Side::Either,
    }
}

/// The end of a transfer that an argument's description speaks of.
fn side_in(about: &[NamedVerb]) -> Side {
    match about.first() {
        Some(said) if said.verb == Verb::Write => Side::Destination,
        _ => Side::Either,
    }
}

/// The roles of a repository, or of files in it, by git's command.
pub(super) fn in_repository(leaf: &Leaf<'_>, words: &[String], description: &str, tool: &Tool<'_>) -> Roles {
    let lists = |said: &[NamedVerb]| !said.is_empty() && said.iter().all(|one| one.verb == Verb::Read);
    let only_lists = lists(&tool.described) && !tool.has_choice;
    let deletes = tool.does(Verb::Delete);
    let (command, word) = git::command(&tool.words, tool.does(Verb::Write), deletes, only_lists);
    let is_clear = !word.is_empty();
    let what = if is_clear {
        format!("the tool's name says `{word}`")
    } else {
        "no command of git is known by the tool's name".to_owned()
    };
    let repository = tool.repository;
    if repository == Some(leaf.top) && leaf.place == leaf.top {
        return (in_order(command.repository), None, what, is_clear);
    }
    let is_within =
        description.to_lowercase().contains("relative to") && description.to_lowercase().contains("repo");
    let is_file = words.last().is_some_and(|word| FILES.contains(&word.as_str()));
    let is_base = repository
        .filter(|_| is_within || is_file && !words.iter().any(|word| OUTSIDE.contains(&word.as_str())));
    (
        in_order(command.files),
        is_base.map(str::to_owned),
        what,
        is_clear,
    )
}

/// The last words of names of files in a repository.
const FILES: [&str; 7] = [
    "file", "files", "filename", "filepath", "path", "paths", "pathspec",
];

/// Words of names of places outside a repository.
const OUTSIDE: [&str; 5] = ["worktree", "local", "new", "target", "output"];

/// Each role once, in the order of the registry.
pub(super) fn in_order(roles: &[RoleId]) -> Vec<RoleId> {
    let mut roles = roles.to_vec();
    roles.sort_unstable();
    roles.dedup();
    roles
}

fn deduplicated(mut texts: Vec<String>) -> Vec<String> {
    let mut seen = Vec::new();
    texts.retain(|text| {
        let is_new = !seen.contains(text);
        seen.push(text.clone());
        is_new
    });
    texts
}
