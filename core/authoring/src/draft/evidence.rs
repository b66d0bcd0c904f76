//! Tables of evidence: what names, formats and descriptions say that an argument is.

use super::kind::Kind;
use super::tool::{Setting, Tool};
use super::words::{end_with, find, of_text};

/// Names, by how they end. The first row that matches decides, so rows that need a setting stand before those that do not,
/// and longer names before shorter ones. `false` marks names that often are something else.
const NAMES: &[(Setting, Kind, bool, &str)] = &[
    // Settings first: what a name means there.
    (
        Setting::Mail,
        Kind::EmailAddress,
        true,
        "to, cc, bcc, recipient, attendee, guest, invitee",
    ),
    (
        Setting::Mail,
        Kind::EmailBody,
        true,
        "body, message, html, html body, text, message text, comment",
    ),
    (
        Setting::Sharing,
        Kind::EmailAddress,
        true,
        "email, user, editor, viewer, commenter, writer, reader",
    ),
    (
        Setting::Sharing,
        Kind::Permission,
        true,
        "role, permission, access, access level, visibility",
    ),
    (Setting::Proxy, Kind::Domain, true, "domain, host, hostname"),
    (
        Setting::GitHub,
        Kind::Owner,
        true,
        "owner, org, organization, repo owner, repository owner",
    ),
    (
        Setting::GitHub,
        Kind::Repo,
        true,
        "repo, repository, repo name, repository name",
    ),
    (
        Setting::GitHub,
        Kind::RemotePath,
        false,
        "path, file path, filepath, filename, directory, file",
    ),
    (
        Setting::GitHub,
        Kind::Branch,
        true,
        "branch, head, base, ref, branch name, head ref, base ref, tag",
    ),
    (
        Setting::GitHub,
        Kind::CommitMessage,
        true,
        "commit message, commit title",
    ),
    (Setting::GitHubCommit, Kind::CommitMessage, true, "message"),
    (Setting::GitHubNew, Kind::Repo, true, "name"),
    (Setting::GitRemote, Kind::Remote, false, "name, old name"),
    (
        Setting::GitBranch,
        Kind::Branch,
        true,
        "name, new name, old name, start point, from",
    ),
    (
        Setting::Git,
        Kind::Remote,
        true,
        "remote, remote name, remote url, repo url, repository url, git url, url",
    ),
    (
        Setting::Git,
        Kind::Branch,
        true,
        "branch, branch name, ref, refspec, revision, rev, tag, tag name, base, head, commit, commit \
         hash, sha, onto, upstream, target, commits, object, since commit",
    ),
    (
        Setting::Git,
        Kind::CommitMessage,
        true,
        "message, commit message, tag message",
    ),
    (
        Setting::Git,
        Kind::Path,
        true,
        "repo, repository, pathspec, worktree",
    ),
    (
        Setting::Transfer,
        Kind::Source,
        true,
        "source, src, from, old, old name, input, original",
    ),
    (
        Setting::Transfer,
        Kind::Destination,
        true,
        "destination, dest, dst, target, to, new, new name, output",
    ),
    (Setting::Files, Kind::Source, true, "source, src, input"),
    (
        Setting::Files,
        Kind::Destination,
        true,
        "destination, dest, dst, output, out",
    ),
    (
        Setting::Files,
        Kind::Path,
        false,
        "target, name, location, entry, item",
    ),
    (
        Setting::Forge,
        Kind::RemotePath,
        false,
        "path, file path, filepath, filename, directory, file, previous path, old path, new path",
    ),
    (Setting::Upload, Kind::Data, true, "filename, file name, name"),
    (
        Setting::Crawl,
        Kind::Pattern,
        true,
        "include path, exclude path, select path",
    ),
    (Setting::Api, Kind::Data, false, "path, endpoint"),
    (Setting::Database, Kind::Data, false, "path"),
    (
        Setting::Mailbox,
        Kind::Data,
        true,
        "from, sender, from address, from email, reply to, in reply to, mailbox, folder, account, attachment name, attachment \
         filename",
    ),
    (Setting::Mailbox, Kind::EmailAddress, true, "address"),
    (
        Setting::MailFolder,
        Kind::Data,
        true,
        "path, new path, old path, source path, destination path",
    ),
    // The name of an attachment, or of the file that it is saved to.
    (Setting::Mailbox, Kind::Path, false, "filename, file name"),
    (Setting::Monitor, Kind::Url, false, "page, target, site"),
    (Setting::Cluster, Kind::Data, true, "image"),
    // Wherever they stand.
    (
        Setting::Any,
        Kind::Connection,
        false,
        "connection string, dsn, connection url, connection uri, database url, database uri, mongo uri, redis \
         url",
    ),
    (
        Setting::Any,
        Kind::Pattern,
        true,
        "exclude, exclude pattern, exclude path, exclude glob, exclude file, ignore, ignore pattern, \
         ignored path",
    ),
    (
        Setting::Any,
        Kind::Data,
        true,
        "chart, docker image, container image, image name, image tag, json path, page path, url path, site \
         path, route path, class path, object path, field path, property path, key path",
    ),
    (
        Setting::Any,
        Kind::Data,
        true,
        "file type, path type, mime type, content type, page path",
    ),
    (
        Setting::Any,
        Kind::Source,
        true,
        "source path, src path, from path, old path, input path, source file, input file, source dir, \
         source directory, input dir, input directory, old file path, source file path, input file path",
    ),
    (
        Setting::Any,
        Kind::Destination,
        true,
        "destination path, dest path, dst path, to path, new path, output path, output file, destination \
         file, output dir, output directory, out dir, destination directory, target path, target \
         directory, target dir, target file, save path, save dir, download path, download dir, \
         destination file path, output file path, output filename, destination folder, output folder, \
         target folder",
    ),
    (
        Setting::Any,
        Kind::Pattern,
        false,
        "path pattern, file pattern, glob, pattern, regex, regexp, query, q, filter, search, search term, \
         keyword, selector, xpath, json path",
    ),
    (
        Setting::Any,
        Kind::Path,
        true,
        "path, file, filepath, filename, file name, pathname, directory, dir, dirname, folder path, cwd, \
         workdir, working dir, working directory, work dir, workspace path, root path, root dir, root \
         directory, project root, repo path, repository path, project path, abs path, base path, base \
         dir, dirpath, dir path",
    ),
    (
        Setting::Any,
        Kind::Path,
        false,
        "folder, workspace, root, attachment, directory name, folder name, location path",
    ),
    (
        Setting::Any,
        Kind::Remote,
        true,
        "remote url, git url, repo url, repository url, clone url, ssh url",
    ),
    (
        Setting::Any,
        Kind::Url,
        true,
        "url, uri, href, webhook, web page, webpage, website",
    ),
    (
        Setting::Any,
        Kind::Url,
        false,
        "link, endpoint, site, address, image, callback",
    ),
    (Setting::Any, Kind::Owner, false, "owner, repo owner"),
    (Setting::Any, Kind::Repo, false, "repo, repo name"),
    (Setting::Any, Kind::Remote, false, "remote"),
    (Setting::Any, Kind::Branch, true, "branch, branch name, git ref"),
    (Setting::Any, Kind::Branch, false, "refspec, revision, ref"),
    (
        Setting::Any,
        Kind::CommitMessage,
        true,
        "commit message, commit title",
    ),
    (
        Setting::Any,
        Kind::EmailAddress,
        true,
        "email, email address, cc, bcc, recipient, attendee",
    ),
    (
        Setting::Any,
        Kind::Code,
        false,
        "code, command, cmd, script, shell, sql, expression, function, javascript, js, python, arg, \
         argument, argv, env, environment, statement, program, executable, binary, snippet, formula, \
         hook, param, parameter, options",
    ),
    (
        Setting::Any,
        Kind::Data,
        true,
        "content, title, subject, description, summary, label, color, colour, sort, sort by, order, order \
         by, direction, encoding, charset, locale, language, lang, timezone, time zone, cursor, page \
         token, next token, id, uuid, guid, state, status, level, priority, severity, mode, type, format, \
         unit, currency, date, time, datetime, timestamp, since, until, before, after, start date, end \
         date, start time, end time, due, version, count, limit, offset, size, width, height, depth, \
         page, per page, index, old text, new text, old string, new string, placeholder, prefix, suffix, \
         separator, delimiter, mime, quality, theme, font, checksum, user agent, password, passphrase",
    ),
];

/// The entries of a row.
fn listed(row: &'static str) -> impl Iterator<Item = &'static str> {
    row.split(", ")
}

/// Names of what is written, searched for or left out, and never opened, where nothing says that it is a resource.
const TEXTS: &str = "content, contents, text, message, body, note, comment, thought, question, prompt, title, subject, \
    description, summary, caption, label, observation, query, q, search, search term, keyword, pattern, regex, regexp, \
    selector, xpath, exclude, exclude pattern, exclude path, exclude glob, exclude file, ignore, ignore pattern, ignored path, \
    old text, new text, old string, new string, placeholder, detail, insight, reason, explanation, instruction, feedback, \
    answer, idea, fact, request, goal, heading, headline, paragraph, row, cell, entity name";

/// Returns `true` if an argument of this name that is data is a text.
pub(super) fn is_text(words: &[String]) -> bool {
    listed(TEXTS).any(|name| end_with(words, name))
        && !["path", "file", "glob"]
            .iter()
            .any(|kind| words.ends_with(&[(*kind).to_owned(), "pattern".to_owned()]))
}

/// Phrases at the start of descriptions of texts that are kept, shown or typed.
const TEXT_PHRASES: &str =
    "text to, value to fill, value to type, value to enter, entity name, rows of, message to, words to";

/// Returns `true` if the description of an argument that is data says that it is a text.
pub(super) fn speaks_of_text(description: &str) -> bool {
    let words = of_text(description);
    let first = words.iter().take_while(|(sentence, _)| *sentence == 0);
    let first: Vec<&str> = first.map(|(_, word)| word.as_str()).take(6).collect();
    listed(TEXT_PHRASES).any(|phrase| find(&first, phrase).is_some())
}

/// The kind that the name of an argument suggests, `true` if that is sure, and the end of the name that says so.
pub(super) fn by_name(words: &[String], tool: &Tool<'_>) -> Option<(Kind, bool, &'static str)> {
    let rows = NAMES.iter().filter(|(setting, ..)| tool.is_in(*setting));
    rows.flat_map(|(_, kind, is_sure, names)| listed(names).map(|name| (*kind, *is_sure, name)))
        .find(|(_, _, name)| end_with(words, name))
}

/// Values of `format`.
const FORMATS: &[(Kind, &str)] = &[
    (Kind::Url, "uri, url, iri, uri-reference, iri-reference"),
    (
        Kind::Path,
        "path, file-path, filepath, directory-path, directory, file",
    ),
    (Kind::EmailAddress, "email, idn-email"),
    (
        Kind::Data,
        "date-time, date, time, duration, uuid, color, byte, binary",
    ),
];

/// The kind that a `format` of JSON Schema suggests.
pub(super) fn by_format(format: &str) -> Option<Kind> {
    let known = FORMATS
        .iter()
        .find(|(_, formats)| listed(formats).any(|one| one == format));
    known.map(|(kind, _)| *kind)
}

/// Ids of what is no resource of this machine.
const IDS: &str =
    "node id, element id, shape id, vertex id, edge id, cell id, item id, task id, object id, entity id";

/// Phrases of descriptions, with the words of the first sentence in which they must begin to say what the argument itself is.
/// `false` marks phrases that may be about something of that kind: its name, or its content.
const PHRASES: &[(Kind, usize, bool, &str)] = &[
    (
        Kind::Data,
        5,
        true,
        "page token, mime type, sort order, file id, folder id, directory id, docker image, container image, \
         image name, chart name",
    ),
    (Kind::Data, 5, true, IDS),
    (
        Kind::Pattern,
        8,
        true,
        "element reference, element selector, css selector, element from, ref from, unique element, xpath",
    ),
    (
        Kind::Data,
        8,
        true,
        "attachment filename, attachment name, file content, content of, text content, base64 encoded, \
         base64 content, name of the resource, resource name, url path, url pathname, api path",
    ),
    (Kind::CommitMessage, 6, true, "commit message"),
    (
        Kind::EmailAddress,
        6,
        true,
        "email address, e mail address, recipient",
    ),
    (
        Kind::Branch,
        7,
        true,
        "branch, git ref, branch name, revision, refspec, commit to reset",
    ),
    (
        Kind::Remote,
        4,
        true,
        "remote url, git url, repository url, clone url, remote repository url, remote name",
    ),
    (Kind::Path, 3, false, "directory, file, folder"),
    (Kind::Path, 3, true, "filename, file name"),
    (
        Kind::Path,
        8,
        true,
        "file path, absolute path, relative path, path to, path of, directory path, local path, path \
         where, filepath",
    ),
    (Kind::Path, 4, true, "path"),
    (Kind::Url, 4, true, "url, uri, web address"),
    (Kind::Url, 8, true, "url of, url to, url for"),
    (
        Kind::Owner,
        4,
        true,
        "repository owner, owner of the repository, account owner",
    ),
    (Kind::Code, 4, false, "command, code, script, sql, expression"),
];

/// How a description names what the argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) kind: Kind,
    pub(super) phrase: &'static str,
    /// The first words say it, so it is about the argument itself.
    pub(super) is_leading: bool,
    /// It is what it is about, rather than its name or its content.
    pub(super) is_sure: bool,
    /// The place of the phrase in the first sentence.
    pub(super) at: usize,
}

impl Described {
    /// Returns `true` if it is the id of something that is no resource of this machine.
    pub(super) fn is_id(&self) -> bool {
        listed(IDS).any(|phrase| phrase == self.phrase)
    }
}

/// The kind that a description's first sentence suggests. A phrase near the start goes before one that is merely
/// mentioned, and the earliest before a later one.
pub(super) fn by_description(words: &[&str]) -> Option<Described> {
    let rows = PHRASES.iter().flat_map(|(kind, within, is_sure, phrases)| {
        listed(phrases).map(move |phrase| (*kind, *within, *is_sure, phrase))
    });
    let found = rows.filter_map(|(kind, within, is_sure, phrase)| {
        let at = find(words, phrase)?;
        Some(Described {
            kind,
            phrase,
            is_leading: at < within,
            is_sure: is_sure && at < within,
            at,
        })
    });
    // A single word that is merely mentioned says nothing.
    let counted = found.filter(|one| one.is_leading || one.phrase.contains(' '));
    counted.min_by_key(|one| (!one.is_leading, one.at, std::cmp::Reverse(one.phrase.len())))
}
