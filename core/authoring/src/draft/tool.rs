//! One tool, and what is known of it before its arguments are looked at.

use std::collections::BTreeMap;

use super::tools_list::ListedTool;
use super::verb::{self, NamedVerb, Verb};
use super::words::{end_with, foreign_place, is_form_of, of_name, of_text};
use callgate_engine::model::ToolKind;

/// Where a name has a meaning of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Any,
    /// Local repositories.
    Git,
    /// A tool for branches or tags of a local repository.
    GitBranch,
    /// A tool for remotes of a local repository.
    GitRemote,
    GitHub,
    /// A tool that writes a commit on GitHub.
    GitHubCommit,
    /// A tool that makes a repository on GitHub.
    GitHubNew,
    /// Something is sent to people.
    Mail,
    /// Access is given to people.
    Sharing,
    Proxy,
    /// Files are moved or copied.
    Transfer,
    /// The tool is about files.
    Files,
    /// It speaks of URLs, and no argument is called one.
    UrlOrPath,
    /// A repository that a forge keeps.
    Forge,
    /// Mailboxes of people.
    Mailbox,
    /// A tool for folders of mail.
    MailFolder,
    /// Pages of the web are watched.
    Monitor,
    /// Resources of a cluster.
    Cluster,
    /// A tool that sends on what an argument holds.
    Upload,
    /// Pages of a site are selected.
    Crawl,
    /// Requests to one service.
    Api,
    /// A database.
    Database,
}

/// A tool with what its name and description say.
#[derive(Debug)]
pub(super) struct Tool<'v> {
    pub(super) listed: ListedTool<'v>,
    /// The words of its name.
    pub(super) words: Vec<String>,
    /// The verbs in its name.
    pub(super) named: Vec<NamedVerb>,
    /// The verbs at the start of its description.
    pub(super) described: Vec<NamedVerb>,
    /// The words of the name, and of the description's first sentence.
    about: Vec<String>,
    /// The words of the server's name.
    server: Vec<String>,
    /// The names of its arguments by their words.
    arguments: BTreeMap<Vec<String>, &'v str>,
    /// Where it belongs.
    settings: Vec<Setting>,
    /// The argument that says which local repository is meant.
    pub(super) repository: Option<&'v str>,
    /// It has an argument that chooses what it does.
    pub(super) has_choice: bool,
    /// An argument holds the bytes of a file.
    takes_base64: bool,
}

/// Verbs of tools that write below the path that they name, whatever they are given.
const BRING_TREES: [&str; 7] = [
    "sync",
    "synchronize",
    "mirror",
    "extract",
    "unzip",
    "untar",
    "unpack",
];

impl<'v> Tool<'v> {
    /// Returns `true` if the name says that a tree arrives where the tool writes, or an argument that it removes what is not in it.
    /// Tools that copy and move need no word for it: the engine sees if a directory is copied.
    pub(super) fn brings_tree(&self) -> bool {
        let says = |verb: &str| self.words.iter().any(|word| is_form_of(word, verb));
        let deletes = |words: &Vec<String>| words.iter().map(String::as_str).eq(["delete", "extra"]);
        BRING_TREES.iter().any(|verb| says(verb)) || self.arguments.keys().any(deletes)
    }

    pub(super) fn new(listed: ListedTool<'v>, server: &str) -> Self {
        let words = of_name(listed.name);
        let text = of_text(listed.description);
        let file = foreign_place(listed.description).map(|_| "file".to_owned());
        let first = text
            .into_iter()
            .take_while(|(sentence, _)| *sentence == 0)
            .map(|(_, word)| word);
        let properties = listed.top().properties;
        let takes_base64 = properties.iter().any(|(name, parts)| {
            let texts = parts.iter().filter_map(|part| part.get("description")?.as_str());
            let mut texts = texts.chain([*name]);
            texts.any(|text| text.to_lowercase().contains("base64"))
        });
        let arguments = properties.into_iter().map(|(name, _)| (of_name(name), name));
        let mut tool = Self {
            named: verb::in_name(listed.name),
            described: verb::at_start(listed.description),
            about: words.iter().cloned().chain(first).chain(file).collect(),
            server: of_name(server),
            arguments: arguments.collect(),
            settings: Vec::new(),
            repository: None,
            has_choice: false,
            takes_base64,
            words,
            listed,
        };
        tool.settings = SETTINGS
            .iter()
            .copied()
            .filter(|setting| tool.belongs(*setting))
            .collect();
        tool.has_choice = tool.choice().is_some();
        if tool.is_in(Setting::Git) {
            tool.repository = REPOSITORIES.iter().find_map(|words| tool.argument(words));
        }
        tool
    }

    /// Returns `true` if the name or the first sentence of the description has one of the words.
    fn mentions(&self, words: &[&str]) -> bool {
        let mut spoken = self.about.iter();
        spoken.any(|word| words.iter().any(|one| is_form_of(word, one)))
    }

    fn is_named(&self, words: &[&str]) -> bool {
        let mut named = self.words.iter();
        named.any(|word| words.iter().any(|one| is_form_of(word, one)))
    }

    fn argument(&self, words: &[&str]) -> Option<&'v str> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        self.arguments.get(&words).copied()
    }

    fn has_argument(&self, words: &[&str]) -> bool {
        self.argument(words).is_some()
    }

    fn is_of_server(&self, names: &[&str]) -> bool {
        self.server.iter().any(|word| names.contains(&word.as_str()))
    }

    pub(super) fn does(&self, verb: Verb) -> bool {
        self.named.iter().any(|said| said.verb == verb)
    }

    /// The effect on a file that an argument names, of a verb that may be about something else: what the file holds, or
    /// describes.
    pub(super) fn effect_on_file(&self, verb: Verb) -> Verb {
        match verb {
            _ if self.is_named(&FILE_WORDS) => verb,
            Verb::Write | Verb::Delete | Verb::Move if self.mentions(&PART_WORDS) => Verb::Edit,
            Verb::Delete if self.is_named(&THING_WORDS) => Verb::Alter,
            _ => verb,
        }
    }

    /// The argument that chooses what it does.
    pub(super) fn choice(&self) -> Option<&'v str> {
        CHOICES.iter().find_map(|name| self.argument(&[name]))
    }

    pub(super) fn is_in(&self, setting: Setting) -> bool {
        self.settings.contains(&setting)
    }

    fn belongs(&self, setting: Setting) -> bool {
        match setting {
            Setting::Any => true,
            Setting::Git => self.is_git(),
            Setting::GitBranch => self.is_git() && self.is_named(&["branch", "tag"]),
            Setting::GitRemote => self.is_git() && self.is_named(&["remote"]),
            Setting::GitHub => self.is_github(),
            Setting::GitHubCommit => self.is_github() && self.mentions(&["file", "commit"]),
            Setting::GitHubNew => {
                self.is_github() && self.is_named(&["repository", "repo"]) && self.does(Verb::Write)
            }
            Setting::Mail => {
                self.mentions(&[
                    "mail",
                    "email",
                    "gmail",
                    "draft",
                    "invite",
                    "invitation",
                    "attendee",
                    "calendar",
                    "event",
                ]) || self.is_named(&["send", "post", "reply", "forward"])
            }
            Setting::Sharing => self.is_named(&["share", "permission", "acl", "protected", "sharing"]),
            Setting::Proxy => self.is_of_server(&["proxy"]),
            Setting::Transfer => {
                let said = self.named.iter().chain(&self.described);
                let transfers = said
                    .clone()
                    .any(|said| matches!(said.verb, Verb::Move | Verb::Copy));
                transfers && self.mentions(&FILE_WORDS)
            }
            Setting::Files => self.mentions(&FILE_WORDS),
            Setting::UrlOrPath => {
                // `isUrl` says what another argument is.
                let asks = |words: &Vec<String>| words.first().is_some_and(|word| word == "is");
                let is_url =
                    |words: &Vec<String>| !asks(words) && (end_with(words, "url") || end_with(words, "uri"));
                self.mentions(&["url"]) && !self.arguments.keys().any(is_url)
            }
            Setting::Forge => self.is_forge(),
            Setting::MailFolder => self.is_named(&["mailbox", "inbox"]),
            Setting::Monitor => self.is_named(&["monitor", "crawl", "scrape"]),
            Setting::Cluster => self.acts_on_cluster(),
            Setting::Mailbox => {
                let words = ["mail", "email", "gmail", "imap", "smtp", "inbox", "mailbox"];
                self.is_of_server(&words) || self.mentions(&words)
            }
            Setting::Upload => {
                let sends = self.does(Verb::Send) && !self.does(Verb::Write);
                sends && self.takes_base64
            }
            Setting::Crawl => {
                self.has_argument(&["url"]) && self.is_named(&["crawl", "map", "scrape", "extract", "site"])
            }
            Setting::Api => self.has_argument(&["method"]) && !self.mentions(&FILE_WORDS),
            Setting::Database => {
                let parts = ["collection", "table", "index"];
                parts.iter().any(|part| self.has_argument(&[part])) && !self.mentions(&FILE_WORDS)
            }
        }
    }

    /// Local repositories: a server or a tool that is called git, or an argument that says where a repository is.
    fn is_git(&self) -> bool {
        !self.is_github()
            && (self.is_of_server(&["git"])
                || self.words.first().is_some_and(|word| word == "git")
                || self.has_argument(&["repo", "path"])
                || self.has_argument(&["repository", "path"]))
    }

    /// A repository that a forge keeps: the forge is named, or an argument says which of its projects is meant, and one at which
    /// revision. What is uploaded to it lies on this disk.
    fn is_forge(&self) -> bool {
        let is_named = self.is_of_server(&FORGES) || self.mentions(&FORGES);
        let has = |names: &[&[&str]]| names.iter().any(|name| self.has_argument(name));
        let has_project = has(&[&["project", "id"], &["owner"], &["namespace"], &["repo", "slug"]]);
        let has_revision = has(&[
            &["ref"],
            &["branch"],
            &["sha"],
            &["commit", "id"],
            &["start", "branch"],
        ]);
        !self.does(Verb::Send) && !self.is_git() && has_project && (is_named || has_revision)
    }

    /// Its description says that it takes this argument, or another one in its place.
    pub(super) fn offers(&self, argument: &str) -> bool {
        let text = self.listed.description;
        let quoted = ['"', '`', '\''].map(|quote| format!("{quote}{argument}{quote}"));
        let rest = text.to_lowercase().find("one of").and_then(|at| text.get(at..));
        rest.is_some_and(|rest| quoted.iter().any(|name| rest.contains(name)))
    }

    /// The kind of a tool that does something besides what it does to the paths that it names: it runs a program, or sends something
    /// away. A sandbox that holds the path does not allow that.
    pub(super) fn acts(&self) -> Option<ToolKind> {
        let programs = [
            &["command"][..],
            &["cmd"],
            &["commands"],
            &["code"],
            &["script"],
            &["argv"],
        ];
        let things = [
            "command", "process", "shell", "script", "code", "program", "bash", "terminal",
        ];
        let runs = self.does(Verb::Run) && self.is_named(&things);
        if runs || programs.iter().any(|name| self.has_argument(name)) && !self.has_choice {
            return Some(ToolKind::Execute);
        }
        self.does(Verb::Send).then_some(ToolKind::Fetch)
    }

    /// It opens pages in a browser, which takes `localhost:3000` for a URL.
    pub(super) fn is_browser(&self) -> bool {
        let browsers = [
            "browser",
            "playwright",
            "puppeteer",
            "chrome",
            "chromium",
            "firefox",
            "selenium",
            "devtools",
        ];
        self.is_of_server(&browsers) || self.is_named(&["browser", "navigate", "goto"])
    }

    /// The argument that says whether another one is a URL.
    pub(super) fn url_flag(&self) -> Option<&'v str> {
        self.argument(&["is", "url"])
    }

    /// It starts a program, which judges its working directory by itself.
    pub(super) fn is_command(&self) -> bool {
        let runs = self.named.iter().any(|said| said.verb == Verb::Run);
        runs || self.has_argument(&["command"]) || self.has_argument(&["cmd"])
    }

    /// It hands a line to a shell of this machine: it speaks of one, of no other machine or language, and no argument says anything but
    /// where, how long and why the line runs.
    pub(super) fn takes_command_lines(&self) -> bool {
        let is_plain = |words: &Vec<String>| {
            let is_known = |one: &String| PLAIN_WORDS.contains(&one.as_str());
            words.iter().any(is_known) || self.is_directory(words)
        };
        let directories = self.arguments.keys().filter(|words| self.is_directory(words));
        self.mentions(&["shell", "bash", "terminal"])
            && !self.mentions(&FOREIGN_WORDS)
            && !self.is_of_server(&FOREIGN_WORDS)
            && directories.count() < 2
            && self.arguments.keys().all(is_plain)
    }

    /// Its schema says that the argument is a text, and no list of them.
    pub(super) fn is_one_text(&self, argument: &str) -> bool {
        let properties = self.listed.top().properties.into_iter();
        let parts = properties
            .filter(|(name, _)| *name == argument)
            .flat_map(|(_, parts)| parts);
        let mut types = parts.map(|part| part.get("type").and_then(|one| one.as_str()));
        types.all(|one| one == Some("string"))
    }

    /// The argument that says where a command runs.
    pub(super) fn working_directory(&self) -> Option<&'v str> {
        let mut arguments = self.arguments.iter();
        arguments
            .find(|(words, _)| self.is_directory(words))
            .map(|(_, name)| *name)
    }

    fn is_directory(&self, words: &[String]) -> bool {
        ["cwd", "dir", "workdir", "directory"]
            .iter()
            .any(|name| end_with(words, name))
    }

    /// It says where what it takes out of a file goes.
    pub(super) fn has_destination(&self) -> bool {
        let ends = |words: &Vec<String>| {
            let mut words = words.iter();
            words.any(|word| DESTINATIONS.contains(&word.as_str()))
        };
        self.arguments.keys().any(ends)
    }

    /// It takes something out of a file that is not called an archive.
    pub(super) fn only_looks_into(&self) -> bool {
        let extracts = self.words.iter().any(|word| word == "extract");
        extracts && !self.mentions(&["archive", "zip", "tar", "compressed"])
    }

    /// It changes something that a file describes, in another place than that file's.
    pub(super) fn acts_on_cluster(&self) -> bool {
        self.mentions(&CLUSTER_WORDS) || self.is_of_server(&CLUSTER_WORDS)
    }

    /// It brings an app to a device.
    pub(super) fn installs_app(&self) -> bool {
        self.is_named(&["install"]) && self.is_named(&["app", "apk", "ipa", "application", "plugin"])
    }

    /// It makes a working directory or a project the one that later calls mean.
    pub(super) fn chooses_place(&self) -> bool {
        self.is_named(&["set", "switch", "change", "open", "use"])
            && self.is_named(&["working", "cwd", "workspace", "project", "root", "vault"])
            && !self.is_named(&["file", "config", "setting", "content"])
    }

    fn is_github(&self) -> bool {
        self.is_of_server(&["github"])
            || self.mentions(&["github"])
            || self.has_argument(&["owner"])
                && (self.has_argument(&["repo"]) || self.has_argument(&["repository"]))
    }
}

const SETTINGS: [Setting; 22] = [
    Setting::Any,
    Setting::Git,
    Setting::GitBranch,
    Setting::GitRemote,
    Setting::GitHub,
    Setting::GitHubCommit,
    Setting::GitHubNew,
    Setting::Mail,
    Setting::Sharing,
    Setting::Proxy,
    Setting::Transfer,
    Setting::Files,
    Setting::UrlOrPath,
    Setting::Forge,
    Setting::Mailbox,
    Setting::MailFolder,
    Setting::Monitor,
    Setting::Cluster,
    Setting::Upload,
    Setting::Crawl,
    Setting::Api,
    Setting::Database,
];

/// Names of arguments that choose what a tool does.
const CHOICES: [&str; 5] = ["action", "command", "mode", "operation", "subcommand"];

/// Forges other than GitHub, which has names of its own.
const FORGES: [&str; 6] = ["gitlab", "gitea", "forgejo", "bitbucket", "gitee", "codeberg"];

/// Names of where something goes.
const DESTINATIONS: [&str; 7] = ["destination", "dest", "dst", "output", "out", "target", "to"];

/// Words for clusters, and the tools for them.
const CLUSTER_WORDS: [&str; 5] = ["kubectl", "kubernetes", "k8s", "helm", "cluster"];

/// Words for other machines, and for what reads commands that is no shell of POSIX.
const FOREIGN_WORDS: [&str; 22] = [
    "ssh",
    "remote",
    "container",
    "docker",
    "pod",
    "kubectl",
    "kubernetes",
    "k8s",
    "adb",
    "android",
    "mobile",
    "emulator",
    "vm",
    "powershell",
    "windows",
    "python",
    "javascript",
    "sql",
    "database",
    "redis",
    "browser",
    "api",
];

/// Words of arguments that do not change what a line for a shell does.
const PLAIN_WORDS: [&str; 9] = [
    "command",
    "cmd",
    "cmdline",
    "timeout",
    "description",
    "explanation",
    "reason",
    "purpose",
    "background",
];

/// Words that say that a tool is about files.
const FILE_WORDS: [&str; 7] = [
    "file",
    "directory",
    "folder",
    "filesystem",
    "disk",
    "path",
    "archive",
];

/// Words for what a file holds or describes.
const PART_WORDS: [&str; 28] = [
    "node",
    "edge",
    "layer",
    "tag",
    "watermark",
    "password",
    "metadata",
    "highlight",
    "frontmatter",
    "sheet",
    "worksheet",
    "row",
    "column",
    "cell",
    "range",
    "chart",
    "slide",
    "paragraph",
    "bookmark",
    "resource",
    "app",
    "application",
    "release",
    "deployment",
    "service",
    "package",
    "plugin",
    "manifest",
];

/// Words for what may be a file, or something in one.
const THING_WORDS: [&str; 10] = [
    "note", "image", "picture", "table", "comment", "shape", "entry", "record", "page", "section",
];

/// Names of the argument that says which repository is meant, by how sure they are.
const REPOSITORIES: &[&[&str]] = &[
    &["repo", "path"],
    &["repository", "path"],
    &["repo"],
    &["repository"],
    &["repo", "dir"],
    &["repo", "directory"],
    &["git", "dir"],
    &["project", "path"],
    &["path"],
    &["cwd"],
    &["working", "directory"],
    &["working", "dir"],
    &["directory"],
    &["dir"],
];
