//! The roles of one argument, with the evidence for them.

use super::evidence::{self, Described, Kind};
use super::git;
use super::schema::Leaf;
use super::tool::{Setting, Tool};
use super::verb::{self, NamedVerb, Side, Verb};
use super::words::{of_name, of_text, without_count};
use crate::role::RoleId;

/// The draft for an argument, or for a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) roles: Vec<RoleId>,
    /// The argument that its relative paths start from.
    pub(super) relative_to: Option<String>,
    pub(super) why: String,
    pub(super) is_sure: bool,
    /// The argument that chooses what the tool does, where it has no role when that is `add`.
    pub(super) unless_added: Option<String>,
}

impl Draft {
    /// Adds what was drafted for the same place in another alternative of the schema.
    pub(super) fn join(&mut self, other: Self) {
        if self.why != other.why {
            self.why = format!("{}; {}", self.why, other.why);
        }
        self.is_sure &= other.is_sure && self.roles == other.roles;
        self.roles.extend(other.roles);
        self.roles = in_order(&self.roles);
        if self.roles.len() > 1 {
            self.roles.retain(|role| *role != RoleId::NONE);
        }
        self.relative_to = self
            .relative_to
            .take()
            .filter(|base| other.relative_to.as_ref() == Some(base));
        self.unless_added = self.unless_added.take().filter(|_| other.unless_added.is_some());
    }

    /// Returns `true` if it names no resource, as far as was found.
    pub(super) fn is_none(&self) -> bool {
        self.roles == [RoleId::NONE]
    }
}

/// The kind of an argument, and why.
struct Finding {
    kind: Kind,
    is_sure: bool,
    why: String,
}

/// Drafts the roles of a leaf.
pub(super) fn draft(leaf: &Leaf<'_>, tool: &Tool<'_>) -> Draft {
    let words = without_count(of_name(leaf.name));
    let description = leaf.facts.descriptions.join(". ");
    if let Some(none) = without_text(leaf, &words, tool) {
        return none;
    }
    let finding = find(leaf, &words, &description, tool);
    let is_path = matches!(finding.kind, Kind::Path | Kind::Source | Kind::Destination);
    if is_path {
        return path(leaf, &words, &description, tool, finding);
    }
    let is_new_remote = finding.kind == Kind::Remote && tool.is_in(Setting::GitRemote) && *words == ["name"];
    let is_renamed = tool.is_in(Setting::GitRemote) && *words == ["new", "name"];
    let is_added = is_new_remote && !tool.has_choice && tool.words.iter().any(|word| word == "add");
    let is_always_new = is_added || is_renamed;
    let role = match finding.kind {
        _ if is_always_new => RoleId::NONE,
        Kind::Url => RoleId::FETCH_URL,
        Kind::Remote => RoleId::GIT_REMOTE_URL,
        Kind::Owner => RoleId::GITHUB_OWNER,
        Kind::Repo => RoleId::GITHUB_REPO,
        Kind::Branch => RoleId::BRANCH_NAME,
        Kind::CommitMessage => RoleId::COMMIT_MESSAGE,
        Kind::EmailAddress => RoleId::EMAIL_ADDRESS,
        Kind::EmailBody => RoleId::EMAIL_BODY,
        Kind::Permission => RoleId::SHARE_PERMISSION,
        Kind::Domain => RoleId::PROXY_DOMAIN,
        Kind::Path | Kind::Source | Kind::Destination => RoleId::READ_PATH,
        Kind::RemotePath | Kind::Code | Kind::Pattern | Kind::Data => RoleId::NONE,
    };
    let why = match finding.kind {
        Kind::RemotePath => format!("{}; its owner and repository are judged", finding.why),
        _ if is_always_new => "it is the name of a remote that the tool makes".to_owned(),
        Kind::Url if description.contains("file:") || tool.listed.description.contains("file:") => {
            format!("{}; it speaks of `file:` too, which names a path", finding.why)
        }
        Kind::Code => format!(
            "{}; no role is for that, so allow the tool only as far as you trust it",
            finding.why
        ),
        _ => finding.why,
    };
    Draft {
        roles: vec![role],
        relative_to: None,
        is_sure: is_always_new || finding.is_sure && !why.contains("`file:`"),
        why,
        unless_added: tool.choice().filter(|_| is_new_remote).map(str::to_owned),
    }
}

/// The draft of what holds no text, or only texts that the schema lists.
fn without_text(leaf: &Leaf<'_>, words: &[String], tool: &Tool<'_>) -> Option<Draft> {
    let none = |why: String, is_sure| {
        Some(Draft {
            roles: vec![RoleId::NONE],
            relative_to: None,
            why,
            is_sure,
            unless_added: None,
        })
    };
    if leaf.facts.is_deep {
        return none("it is nested too deep to be looked at".to_owned(), false);
    }
    if let Some(choices) = leaf.facts.closed_choices() {
        if let Some((Kind::Permission, _, name)) = evidence::by_name(words, tool) {
            return Some(Draft {
                roles: vec![RoleId::SHARE_PERMISSION],
                relative_to: None,
                why: format!("the name `{name}` says that it is {}", Kind::Permission.noun()),
                is_sure: true,
                unless_added: None,
            });
        }
        let names_places = |one: &&&str| one.contains('/') && !one.contains(' ') || one.contains("://");
        return match choices.iter().find(names_places) {
            Some(one) if !one.contains("://") && is_media_type(one) => {
                none("it is a media type".to_owned(), true)
            }
            Some(one) => none(
                format!("it is one of a few texts, and `{one}` looks like a place"),
                false,
            ),
            None => none("it is one of the words that its schema lists".to_owned(), true),
        };
    }
    if leaf.facts.is_open {
        return none(
            "it may hold anything, since its schema does not say what is in it".to_owned(),
            false,
        );
    }
    if !leaf.facts.is_text {
        return none("its type is not text".to_owned(), true);
    }
    None
}

/// Returns `true` for texts such as `image/png`.
fn is_media_type(text: &str) -> bool {
    let kinds = [
        "application",
        "audio",
        "font",
        "image",
        "message",
        "model",
        "multipart",
        "text",
        "video",
    ];
    text.split_once('/')
        .is_some_and(|(kind, _)| kinds.contains(&kind))
}

/// Weighs the evidence. A format says most. A name that is known says more than a description, unless that begins with what
/// is judged more strictly.
fn find(leaf: &Leaf<'_>, words: &[String], description: &str, tool: &Tool<'_>) -> Finding {
    if let Some((kind, format)) = leaf
        .facts
        .formats
        .iter()
        .find_map(|format| Some((evidence::by_format(format)?, *format)))
    {
        let is_remote = kind == Kind::Url && tool.is_in(Setting::Git);
        let kind = if is_remote { Kind::Remote } else { kind };
        return Finding {
            kind,
            is_sure: true,
            why: format!("the format `{format}` says that it is {}", kind.noun()),
        };
    }
    let text = of_text(description);
    let first: Vec<&str> = text
        .iter()
        .take_while(|(sentence, _)| *sentence == 0)
        .map(|(_, word)| word.as_str())
        .collect();
    let described = evidence::by_description(&first).map(|found| local_sense(found, tool));
    let named = evidence::by_name(words, tool);
    match (named, described) {
        (Some((kind, true, _)), Some(said)) if kind == Kind::Data && overrides(said) => Finding {
            kind: said.kind,
            is_sure: false,
            why: describe(said),
        },
        (Some((kind, is_sure, name)), said) => {
            let agrees = said.is_some_and(|said| same(said.kind, kind) && said.is_sure);
            match said {
                // A name that may be anything, and a description that says what it is.
                Some(said)
                    if !is_sure
                        && said.is_leading
                        && !agrees
                        && kind != Kind::Pattern
                        && kind != Kind::RemotePath =>
                {
                    Finding {
                        kind: said.kind,
                        is_sure: said.is_sure,
                        why: describe(said),
                    }
                }
                _ => Finding {
                    kind,
                    is_sure: is_sure || agrees && !matches!(kind, Kind::Pattern | Kind::Code),
                    why: format!("the name `{name}` says that it is {}", kind.noun()),
                },
            }
        }
        (None, Some(said)) => Finding {
            kind: said.kind,
            is_sure: said.is_sure,
            why: describe(said),
        },
        (None, None) => by_example(leaf),
    }
}

/// A URL that a tool for git takes is that of a remote.
fn local_sense(said: Described, tool: &Tool<'_>) -> Described {
    let kind = match said.kind {
        Kind::Url if tool.is_in(Setting::Git) => Kind::Remote,
        Kind::Path
            if tool.is_in(Setting::GitHub)
                && said.phrase != "local path"
                && said.phrase != "absolute path" =>
        {
            Kind::RemotePath
        }
        kind => kind,
    };
    Described { kind, ..said }
}

/// Returns `true` if a description says more than a name that names no resource.
fn overrides(said: Described) -> bool {
    let is_resource = !matches!(
        said.kind,
        Kind::Data | Kind::Code | Kind::Pattern | Kind::CommitMessage
    );
    is_resource && said.at < 3
}

fn same(one: Kind, other: Kind) -> bool {
    let is_path = |kind| matches!(kind, Kind::Path | Kind::Source | Kind::Destination);
    one == other || is_path(one) && is_path(other)
}

fn describe(said: Described) -> String {
    format!(
        "the description speaks of `{}`, so that it is {}",
        said.phrase,
        said.kind.noun()
    )
}

/// The kind by the default or the pattern of a value, if nothing else tells.
fn by_example(leaf: &Leaf<'_>) -> Finding {
    let is_url = |text: &str| text.starts_with("http") && text.contains("://");
    let is_path = |text: &str| {
        text == "."
            || ["/", "./", "../", "~/"]
                .iter()
                .any(|start| text.starts_with(start))
    };
    let pattern = leaf
        .facts
        .patterns
        .iter()
        .map(|pattern| pattern.trim_start_matches('^').replace('\\', ""));
    let mut texts = leaf.facts.default.map(str::to_owned).into_iter().chain(pattern);
    let found = texts.find_map(|text| {
        let kind = if is_url(&text.replacen("https?", "https", 1)) {
            Kind::Url
        } else if is_path(&text) {
            Kind::Path
        } else {
            return None;
        };
        Some((kind, text))
    });
    match found {
        Some((kind, text)) => Finding {
            kind,
            is_sure: false,
            why: format!(
                "the schema speaks of `{}`, so that it seems to be {}",
                text.chars().take(40).collect::<String>(),
                kind.noun()
            ),
        },
        None => Finding {
            kind: Kind::Data,
            is_sure: false,
            why: "nothing says what it is, so it may name anything".to_owned(),
        },
    }
}

fn path(leaf: &Leaf<'_>, words: &[String], description: &str, tool: &Tool<'_>, finding: Finding) -> Draft {
    let is_of_git = tool.is_in(Setting::Git);
    let (roles, relative_to, what, is_clear) = if is_of_git {
        in_repository(leaf, words, description, tool)
    } else {
        on_disk(side_of(finding.kind, words, tool), description, tool)
    };
    Draft {
        roles,
        relative_to,
        why: format!("{}, and {what}", finding.why),
        is_sure: finding.is_sure && is_clear,
        unless_added: None,
    }
}

type Roles = (Vec<RoleId>, Option<String>, String, bool);

/// The roles of a path, by what the tool does.
fn on_disk(named_side: Side, description: &str, tool: &Tool<'_>) -> Roles {
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
        if hints.is_destructive == Some(true) {
            roles.push(RoleId::DELETE_PATH);
        }
        what += ", but the server hints that the tool changes something";
        is_clear = false;
    }
    if tool.is_in(Setting::UrlOrPath) {
        roles.push(RoleId::FETCH_URL);
        what += ", but the tool speaks of URLs too";
        is_clear = false;
    }
    (in_order(&roles), None, what, is_clear)
}

/// The end of a transfer that an argument's name speaks of.
fn side_of(kind: Kind, words: &[String], tool: &Tool<'_>) -> Side {
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
fn in_repository(leaf: &Leaf<'_>, words: &[String], description: &str, tool: &Tool<'_>) -> Roles {
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
fn in_order(roles: &[RoleId]) -> Vec<RoleId> {
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
