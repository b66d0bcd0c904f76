//! The roles of one argument, with the evidence for them.

use super::evidence::{self, Described};
use super::kind::Kind;
use super::place::{in_order, in_repository, on_disk, only_read, side_of};
use super::schema::Leaf;
use super::tool::{Setting, Tool};
use super::words::{foreign_place, of_name, of_text, without_count};
use callgate_engine::role::RoleId;

/// Names of arguments that hold a whole line for a shell.
const COMMANDS: [&str; 6] = [
    "command",
    "cmd",
    "command line",
    "cmdline",
    "shell command",
    "bash command",
];

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
    /// The argument that says whether a value is a URL, where it may be a path too.
    pub(super) url_flag: Option<String>,
    /// It names no resource by its roles, and may reach one all the same.
    pub(super) is_asked: bool,
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
            self.roles
                .retain(|role| !matches!(*role, RoleId::NONE | RoleId::TEXT));
        }
        self.relative_to = self
            .relative_to
            .take()
            .filter(|base| other.relative_to.as_ref() == Some(base));
        self.is_asked |= other.is_asked;
        self.url_flag = self.url_flag.take().filter(|_| other.url_flag.is_some());
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
    if is_path && description.contains("=/") {
        return Draft {
            roles: vec![RoleId::NONE],
            relative_to: None,
            why: format!(
                "{}, with a name and `=` before it, so that no role reads it",
                finding.why
            ),
            is_sure: false,
            unless_added: None,
            url_flag: None,
            is_asked: true,
        };
    }
    if is_path {
        return path(leaf, &words, &description, tool, finding);
    }
    let is_command = COMMANDS
        .iter()
        .any(|name| words.iter().map(String::as_str).eq(name.split(' ')));
    if finding.kind == Kind::Code && is_command && tool.takes_command_lines() && tool.is_one_text(leaf.top) {
        return Draft {
            roles: vec![RoleId::SHELL_COMMAND],
            relative_to: tool.working_directory().map(str::to_owned),
            why: format!(
                "{}, and the tool speaks of a shell: it is judged by what its programs touch, if a POSIX shell of this machine runs it",
                finding.why
            ),
            is_sure: false,
            unless_added: None,
            url_flag: None,
            is_asked: false,
        };
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
        Kind::Connection | Kind::RemotePath | Kind::Code | Kind::Pattern | Kind::Data => RoleId::NONE,
    };
    // A URI that may name a file is judged as what it names.
    let speaks_of_files = description.contains("file:") || tool.listed.description.contains("file:");
    let role = match role {
        RoleId::FETCH_URL if speaks_of_files && !tool.is_in(Setting::Git) => RoleId::RESOURCE_URI,
        role => role,
    };
    let is_data = role == RoleId::NONE && matches!(finding.kind, Kind::Data | Kind::Pattern);
    let is_text = evidence::is_text(&words) || evidence::speaks_of_text(&description);
    let role = match is_data && !is_always_new && is_text {
        true => RoleId::TEXT,
        false => role,
    };
    let why = match finding.kind {
        Kind::RemotePath => format!("{}; its owner and repository are judged", finding.why),
        _ if is_always_new => "it is the name of a remote that the tool makes".to_owned(),
        Kind::Url if role == RoleId::RESOURCE_URI => {
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
        url_flag: None,
        is_asked: finding.kind == Kind::Connection,
        relative_to: None,
        is_sure: is_always_new || finding.is_sure,
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
            url_flag: None,
            is_asked: false,
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
                url_flag: None,
                is_asked: false,
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
        let holds = "it may hold anything, since its schema does not say what is in it";
        let mut draft = none(holds.to_owned(), false)?;
        if words.iter().any(|word| word == "launch") {
            draft.is_asked = true;
            draft.why += ", the program to start among it";
        }
        return Some(draft);
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
    let said = text
        .iter()
        .take_while(|(sentence, _)| *sentence == 0)
        .map(|(_, word)| word.as_str());
    let first: Vec<&str> = foreign_place(description).into_iter().chain(said).collect();
    let described = evidence::by_description(&first).map(|found| local_sense(found, tool));
    let named = evidence::by_name(words, tool);
    match (named, described) {
        (Some((kind, true, _)), Some(said)) if kind == Kind::Data && overrides(said) => Finding {
            kind: said.kind,
            is_sure: false,
            why: describe(said),
        },
        // `from` and `to` are the ends of an edge as well.
        (Some((kind, ..)), Some(said)) if said.is_id() && is_end(words) && kind != Kind::Data => Finding {
            kind: Kind::Data,
            is_sure: true,
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
                        && (kind != Kind::RemotePath || LOCAL.contains(&said.phrase)) =>
                {
                    Finding {
                        kind: said.kind,
                        is_sure: said.is_sure,
                        why: describe(said),
                    }
                }
                // A name of many meanings needs a description that agrees.
                None if is_bare(words) && !is_sure && kind == Kind::Path && !first.is_empty() => Finding {
                    kind: Kind::Data,
                    is_sure: false,
                    why: format!(
                        "only the name `{name}` suggests a path, and its description speaks of none"
                    ),
                },
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
        Kind::Remote if tool.is_in(Setting::Cluster) => Kind::Url,
        Kind::Path
            if (tool.is_in(Setting::GitHub) || tool.is_in(Setting::Forge))
                && !LOCAL.contains(&said.phrase) =>
        {
            Kind::RemotePath
        }
        kind => kind,
    };
    Described { kind, ..said }
}

/// Phrases for paths of this disk.
const LOCAL: [&str; 2] = ["local path", "absolute path"];

/// Returns `true` for names of what a tool takes something from or puts it at.
fn is_end(words: &[String]) -> bool {
    let ends = [
        "from",
        "to",
        "source",
        "target",
        "old",
        "new",
        "src",
        "dst",
        "destination",
        "input",
        "output",
    ];
    matches!(words, [word] if ends.contains(&word.as_str()))
}

/// Returns `true` for names that say `path` in one tool and something else in many others.
fn is_bare(words: &[String]) -> bool {
    let bare = ["target", "name", "location", "entry", "item"];
    words.last().is_some_and(|word| bare.contains(&word.as_str()))
}

/// Returns `true` if a description says more than a name that names no resource.
fn overrides(said: Described) -> bool {
    let is_resource = !matches!(
        said.kind,
        Kind::Data | Kind::Code | Kind::Pattern | Kind::CommitMessage
    );
    // `File content` is about what a file holds.
    let is_vague = said.kind == Kind::Path && !said.is_sure;
    is_resource && !is_vague && said.at < 3
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
    } else if let Some(what) = only_read(finding.kind, words, description, tool) {
        (vec![RoleId::READ_PATH], None, what.to_owned(), true)
    } else {
        on_disk(side_of(finding.kind, words, tool), description, tool)
    };
    let url_flag = tool.url_flag().filter(|_| roles.contains(&RoleId::FETCH_URL));
    Draft {
        url_flag: url_flag.map(str::to_owned),
        is_asked: false,
        roles,
        relative_to,
        why: format!("{}, and {what}", finding.why),
        is_sure: finding.is_sure && is_clear || url_flag.is_some(),
        unless_added: None,
    }
}
