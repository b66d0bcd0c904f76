//! How long a verdict takes, with a host that answers at once.
//!
//! `cargo bench -p callgate-engine --bench verdicts`, on an otherwise idle machine; `allocations` counts the allocations
//! of the same calls. With `CALLGATE_CORPUS=DIR` (or a corpus at `../shared/corpus`) the calls without host questions and
//! those with paths are judged under that policy, otherwise under a generated one.

use std::borrow::Cow;
use std::path::PathBuf;

use callgate_engine::bind::Call;
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::Engine;
use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use divan::{Bencher, black_box};
use serde_json::{Value, json};

pub(crate) fn main() {
    // A sample is many verdicts, so that reading the clock does not count.
    divan::Divan::default().sample_size(500).config_with_args().main();
}

/// Every path exists and is canonical already; there are no repositories.
pub(crate) struct Ready;

impl Host for Ready {
    fn home_dir(&self) -> &str {
        "/home/provos"
    }

    fn current_dir(&self) -> &str {
        "/"
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        Ok(path.into())
    }

    fn git_remote_urls(&self, _repo: &str, _remote: &str) -> Result<Vec<String>, HostError> {
        Ok(vec!["https://github.com/acme/widgets.git".to_owned()])
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.git_remote_urls(repo, "origin")
    }

    fn read_link(&self, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }

    fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
        Ok(Some(false))
    }

    fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![url.to_owned()])
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        Ok(String::new())
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        Ok(Some(Vec::new()))
    }

    fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
        Ok(None)
    }
}

/// The documents of an engine.
pub(crate) struct Documents {
    policy: Value,
    annotations: Value,
    lists: Value,
}

impl Documents {
    #[expect(
        clippy::expect_used,
        reason = "a benchmark without an engine has nothing to measure"
    )]
    pub(crate) fn engine(&self) -> Engine {
        let (protected, sandbox) = (
            json!(["/etc/shadow", "~/.ssh"]),
            json!("/home/provos/.ironcurtain/sandbox"),
        );
        let allowlists = json!({"fetch": ["*"]});
        Engine::builder()
            .part(DocumentKind::Policy, DocumentSource::Value(&self.policy))
            .part(
                DocumentKind::Annotations,
                DocumentSource::Value(&self.annotations),
            )
            .part(DocumentKind::Lists, DocumentSource::Value(&self.lists))
            .part(DocumentKind::ProtectedPaths, DocumentSource::Value(&protected))
            .part(DocumentKind::Sandbox, DocumentSource::Value(&sandbox))
            .part(DocumentKind::DomainAllowlists, DocumentSource::Value(&allowlists))
            .build(&Ready)
            .expect("the documents are those of the benchmark")
    }
}

/// Where the corpus is, if there is one.
pub(crate) fn corpus_folder() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    std::env::var_os("CALLGATE_CORPUS").map_or_else(beside, PathBuf::from)
}

/// The corpus where there is one, else a policy of the same shape.
pub(crate) fn documents() -> Documents {
    let folder = corpus_folder();
    let read = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).ok()?;
        serde_json::from_str(&text).ok()
    };
    let corpus = || {
        Some(Documents {
            policy: read("compiled-policy.json")?,
            annotations: read("tool-annotations.json")?,
            lists: read("dynamic-lists.json")?,
        })
    };
    corpus().unwrap_or_else(|| generated(36))
}

/// `count` rules of mixed kinds, most of them for other tools, values and directories than the calls below.
fn generated(count: usize) -> Documents {
    let rule = |name: String, condition: Value, effect: &str| json!({"name": name, "description": "", "principle": "", "if": condition, "then": effect, "reason": "r"});
    let mut rules: Vec<Value> = (0..count.saturating_sub(5))
        .map(|at| {
            let (condition, effect) = match at % 5 {
                0 => (json!({"server": ["github"], "tool": [format!("tool_{at}")]}), "allow"),
                1 => (
                    json!({"server": ["fetch"], "domains": {"roles": ["fetch-url"], "allowed": [format!("s{at}.example")]}}),
                    "deny",
                ),
                2 => (
                    json!({"lists": [{"roles": ["github-repo"], "allowed": [format!("repo-{at}")], "matchType": "identifiers"}]}),
                    "escalate",
                ),
                3 => (
                    json!({"roles": ["read-path"], "paths": {"roles": ["read-path"], "within": format!("~/d{}", at % 40)}}),
                    "allow",
                ),
                _ => (json!({"server": [format!("server-{at}")]}), "escalate"),
            };
            rule(format!("rule-{at}"), condition, effect)
        })
        .collect();
    rules.push(rule(
        "documents".into(),
        json!({"paths": {"roles": ["read-path"], "within": "~/Documents"}}),
        "allow",
    ));
    rules.push(rule("read".into(), json!({"server": ["filesystem"]}), "escalate"));
    rules.push(rule("issues".into(), json!({"server": ["github"]}), "allow"));
    rules.push(rule(
        "news".into(),
        json!({"domains": {"roles": ["fetch-url"], "allowed": ["*.bbc.com"]}}),
        "allow",
    ));
    rules.push(rule("fetch".into(), json!({"server": ["fetch"]}), "escalate"));
    with_rules(&rules)
}

/// `count` rules of one effect, an eighth of them about tools that the calls below are of.
fn ruled(count: usize, effect: &str, condition: impl Fn(usize) -> Value) -> Documents {
    let rules: Vec<Value> = (0..count)
        .map(|at| {
            let mut condition = condition(at);
            let tool = match at % 8 {
                0 => json!(["read_text_file", "http_fetch", "list_issues"]),
                _ => json!(format!("tool_{at}")),
            };
            if let Some(conditions) = condition.as_object_mut() {
                conditions.insert("tool".to_owned(), tool);
            }
            json!({"name": format!("rule-{at}"), "if": condition, "then": effect, "reason": format!("Reason {at}")})
        })
        .collect();
    with_rules(&rules)
}

fn with_rules(rules: &[Value]) -> Documents {
    let tool = |server: &str, name: &str, args: Value| json!({"toolName": name, "serverName": server, "comment": "", "args": args, "inputSchema": {}});
    let annotations = json!({"generatedAt": "", "servers": {
        "filesystem": {"inputHash": "", "tools": [
            tool("filesystem", "read_text_file", json!({"path": ["read-path"]})),
            tool("filesystem", "read_multiple_files", json!({"paths": ["read-path"]})),
            tool("filesystem", "write_file", json!({"path": ["write-path"], "content": ["none"]})),
        ]},
        "github": {"inputHash": "", "tools": [
            tool("github", "list_issues", json!({"owner": ["github-owner"], "repo": ["github-repo"]})),
        ]},
        "fetch": {"inputHash": "", "tools": [tool("fetch", "http_fetch", json!({"url": ["fetch-url"]}))]},
    }});
    Documents {
        policy: json!({"generatedAt": "", "constitutionHash": "", "inputHash": "", "rules": rules}),
        annotations,
        lists: json!({"generatedAt": "", "lists": {}}),
    }
}

fn judge(bencher: Bencher<'_, '_>, engine: &Engine, server: &str, tool: &str, arguments: &Value) {
    let call = Call::from_value(server, tool, arguments);
    bencher.bench_local(|| black_box(engine.evaluate(black_box(&call), &Ready)));
}

/// Calls that need no answer from the host.
mod no_host {
    use super::*;

    #[divan::bench]
    fn github(bencher: Bencher<'_, '_>) {
        let arguments = json!({"owner": "acme", "repo": "widgets"});
        judge(
            bencher,
            &documents().engine(),
            "github",
            "list_issues",
            &arguments,
        );
    }

    #[divan::bench]
    fn fetch(bencher: Bencher<'_, '_>) {
        let arguments = json!({"url": "https://www.bbc.com/news/world"});
        judge(bencher, &documents().engine(), "fetch", "http_fetch", &arguments);
    }

    #[divan::bench]
    fn opaque_roles(bencher: Bencher<'_, '_>) {
        let arguments = json!({"query": "quarterly report", "pageSize": 10});
        judge(
            bencher,
            &documents().engine(),
            "google-workspace",
            "drive_search",
            &arguments,
        );
    }

    #[divan::bench]
    fn unknown_tool(bencher: Bencher<'_, '_>) {
        judge(
            bencher,
            &documents().engine(),
            "github",
            "no_such_tool",
            &json!({"owner": "acme"}),
        );
    }
}

/// Calls with paths, the host answering at once.
mod paths {
    use super::*;

    #[divan::bench]
    fn in_sandbox(bencher: Bencher<'_, '_>) {
        let arguments = json!({"path": "/home/provos/.ironcurtain/sandbox/src/main.rs"});
        judge(
            bencher,
            &documents().engine(),
            "filesystem",
            "read_text_file",
            &arguments,
        );
    }

    #[divan::bench]
    fn by_rule(bencher: Bencher<'_, '_>) {
        let arguments = json!({"path": "/home/provos/Documents/report.pdf"});
        judge(
            bencher,
            &documents().engine(),
            "filesystem",
            "read_text_file",
            &arguments,
        );
    }

    #[divan::bench(args = [1, 16, 256, 4_096], sample_size = 5)]
    fn values(bencher: Bencher<'_, '_>, count: usize) {
        let paths: Vec<String> = (0..count)
            .map(|at| format!("/home/provos/Documents/f{at}.txt"))
            .collect();
        judge(
            bencher,
            &documents().engine(),
            "filesystem",
            "read_multiple_files",
            &json!({"paths": paths}),
        );
    }
}

/// Commands of a shell, of which each program is judged.
mod commands {
    use super::*;

    const LINE: &str = "cd src && git status --short | head -20; grep -rn TODO . | wc -l";

    #[divan::bench(args = [("5 programs", LINE), ("1 program", "ls -la src")])]
    fn line(bencher: Bencher<'_, '_>, (_, command): (&str, &str)) {
        let annotations = json!({"servers": {"agent": {"tools": [
            {"toolName": "Bash", "args": {"command": "shell-command", "timeout": "none"}},
        ]}}});
        let documents = Documents {
            annotations,
            ..generated(36)
        };
        let arguments = json!({"command": command, "timeout": 1000});
        judge(bencher, &documents.engine(), "agent", "Bash", &arguments);
    }
}

/// The same call under policies of different sizes.
mod rules {
    use super::*;

    const SIZES: [usize; 4] = [36, 1_000, 10_000, 100_000];

    #[divan::bench(args = SIZES)]
    fn github(bencher: Bencher<'_, '_>, count: usize) {
        let arguments = json!({"owner": "acme", "repo": "widgets"});
        judge(
            bencher,
            &generated(count).engine(),
            "github",
            "list_issues",
            &arguments,
        );
    }

    #[divan::bench(args = SIZES)]
    fn fetch(bencher: Bencher<'_, '_>, count: usize) {
        let arguments = json!({"url": "https://www.bbc.com/news/world"});
        judge(
            bencher,
            &generated(count).engine(),
            "fetch",
            "http_fetch",
            &arguments,
        );
    }

    #[divan::bench(args = SIZES)]
    fn read_file(bencher: Bencher<'_, '_>, count: usize) {
        let arguments = json!({"path": "/home/provos/Documents/report.pdf"});
        judge(
            bencher,
            &generated(count).engine(),
            "filesystem",
            "read_text_file",
            &arguments,
        );
    }
}

/// Engines where an eighth of the rules, all of which grant, are about the tool that is called.
mod growth {
    use super::*;

    const SIZES: [usize; 3] = [36, 1_000, 10_000];

    #[derive(Clone, Copy, Debug)]
    enum By {
        Paths,
        Urls,
        /// An owner and a repository, where owners have repositories of the same names.
        Identifiers,
        Tool,
    }

    const KINDS: [By; 4] = [By::Paths, By::Urls, By::Identifiers, By::Tool];

    fn documents_by(by: By, count: usize) -> Documents {
        let list = |role: &str, name: String| json!({"roles": [role], "allowed": [name], "matchType": "identifiers"});
        ruled(count, "allow", |at| match by {
            By::Paths => json!({"paths": {"roles": ["read-path"], "within": format!("~/d{at}")}}),
            By::Urls => json!({"domains": {"roles": ["fetch-url"], "allowed": [format!("*.s{at}.example")]}}),
            By::Identifiers => json!({"lists": [
                list("github-owner", format!("owner-{}", at / 80)),
                list("github-repo", format!("repo-{}", at / 8 % 10)),
            ]}),
            By::Tool => json!({}),
        })
    }

    /// The call is of what the last rule about the tool grants.
    fn judge_by(bencher: Bencher<'_, '_>, by: By, count: usize) {
        let at = (count - 1) / 8 * 8;
        let pair = json!({"owner": format!("owner-{}", at / 80), "repo": format!("repo-{}", at / 8 % 10)});
        let (server, tool, arguments) = match by {
            By::Paths => {
                let path = format!("/home/provos/d{at}/report.pdf");
                ("filesystem", "read_text_file", json!({"path": path}))
            }
            By::Urls => {
                let url = format!("https://www.s{at}.example/news/world");
                ("fetch", "http_fetch", json!({"url": url}))
            }
            By::Identifiers | By::Tool => ("github", "list_issues", pair),
        };
        judge(
            bencher,
            &documents_by(by, count).engine(),
            server,
            tool,
            &arguments,
        );
    }

    #[divan::bench(args = SIZES)]
    fn paths(bencher: Bencher<'_, '_>, count: usize) {
        judge_by(bencher, By::Paths, count);
    }

    #[divan::bench(args = SIZES)]
    fn urls(bencher: Bencher<'_, '_>, count: usize) {
        judge_by(bencher, By::Urls, count);
    }

    #[divan::bench(args = SIZES)]
    fn identifiers(bencher: Bencher<'_, '_>, count: usize) {
        judge_by(bencher, By::Identifiers, count);
    }

    #[divan::bench(args = SIZES)]
    fn tool(bencher: Bencher<'_, '_>, count: usize) {
        judge_by(bencher, By::Tool, count);
    }

    /// Restrictions, whose directories are all asked about: one that has moved must not be missed.
    #[divan::bench(args = SIZES, sample_size = 50)]
    fn restricted_paths(bencher: Bencher<'_, '_>, count: usize) {
        let mut documents = ruled(
            count,
            "deny",
            |at| json!({"paths": {"roles": ["read-path"], "within": format!("~/d{at}")}}),
        );
        if let Some(rules) = documents.policy.get_mut("rules").and_then(Value::as_array_mut) {
            rules.push(json!({"name": "others", "if": {}, "then": "allow", "reason": "r"}));
        }
        let arguments = json!({"path": "/home/provos/report.pdf"});
        judge(
            bencher,
            &documents.engine(),
            "filesystem",
            "read_text_file",
            &arguments,
        );
    }

    /// Building an engine of 10,000 rules. Under `allocations` what is allocated, less what is deallocated, is what it holds.
    #[divan::bench(args = KINDS, sample_size = 1, sample_count = 10)]
    fn building(bencher: Bencher<'_, '_>, by: By) {
        let documents = documents_by(by, 10_000);
        bencher.bench_local(|| documents.engine());
    }
}

/// An argument that no role names, by its size in bytes.
#[divan::bench(args = [10, 10_000_000])]
fn unnamed_argument(bencher: Bencher<'_, '_>, bytes: usize) {
    let arguments = json!({"path": "/home/provos/.ironcurtain/sandbox/a.txt", "content": "x".repeat(bytes)});
    judge(
        bencher,
        &documents().engine(),
        "filesystem",
        "write_file",
        &arguments,
    );
}
