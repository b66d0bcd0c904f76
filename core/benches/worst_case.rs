//! How long, and with how much memory, a verdict takes on calls that are made to take long, at the limits of SPEC §14,
//! with a host that answers at once. None is to take more than 50 ms, beyond reading the call's text, or more memory than
//! 16 MiB and three times its own size.
//!
//! `cargo bench -p callgate-core --bench worst_case`, on an otherwise idle machine. It prints the times, the worst last
//! (on a busy machine the fastest says more than the others),
//! and then what each call allocates (`max alloc` is what was held at once).

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, Instant};

use callgate_core::{Call, DocumentKind, DocumentSource, Engine, Host, HostError, RealpathError, View};
use divan::{AllocProfiler, Bencher, black_box};
use serde_json::{Value, json};

/// Verdicts a row; of so few, the slowest is the 99th percentile.
const SAMPLES: usize = 20;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    let mut rows: Vec<Row> = shapes()
        .into_iter()
        .map(|shape| measure(&Judged::new(shape)))
        .collect();
    rows.sort_by_key(|row| row.p99);
    println!("| call | bytes | fastest | median | p99 | rule |");
    println!("|---|---:|---:|---:|---:|---|");
    for row in &rows {
        println!(
            "| {} | {} | {:.1?} | {:.1?} | {:.1?} | {} |",
            row.name, row.bytes, row.fastest, row.median, row.p99, row.rule
        );
    }
    if let Some(worst) = rows.last() {
        println!("worst: {:.1?}, {}", worst.p99, worst.name);
    }
    divan::Divan::default()
        .sample_size(1)
        .sample_count(3)
        .config_with_args()
        .main();
}

#[divan::bench(args = shapes())]
fn memory(bencher: Bencher<'_, '_>, shape: &Shape) {
    let judged = Judged::new(shape.clone());
    bencher.bench_local(|| judged.judge());
}

struct Row {
    name: &'static str,
    bytes: usize,
    fastest: Duration,
    median: Duration,
    p99: Duration,
    rule: String,
}

/// One kind of call with the rules that make it slow.
#[derive(Clone)]
struct Shape {
    name: &'static str,
    rules: Vec<Value>,
    roles: Value,
    arguments: Value,
    protected: Vec<String>,
    /// The patterns of a ceiling on the values, one constraint each.
    constraints: Vec<String>,
    gates: bool,
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl Shape {
    fn new(name: &'static str, rules: Vec<Value>, role: &str, values: Value) -> Self {
        Self {
            name,
            rules,
            roles: json!({"values": [role]}),
            arguments: json!({"values": values}),
            protected: Vec::new(),
            constraints: Vec::new(),
            gates: false,
        }
    }
}

/// A shape with its engine.
struct Judged {
    engine: Engine,
    shape: Shape,
    text: String,
}

impl Judged {
    #[expect(
        clippy::expect_used,
        reason = "a benchmark without an engine has nothing to measure"
    )]
    fn new(shape: Shape) -> Self {
        let policy =
            json!({"generatedAt": "", "constitutionHash": "", "inputHash": "", "rules": shape.rules});
        let tool = json!({"toolName": "t", "serverName": "git", "comment": "", "args": shape.roles, "inputSchema": {}});
        let annotations = json!({"generatedAt": "", "servers": {"git": {"inputHash": "", "tools": [tool]}}});
        let protected = json!(shape.protected);
        let constraints = shape.constraints.iter();
        let constraints: Vec<Value> = constraints
            .map(|pattern| json!({"tool": "t", "arg_patterns": [pattern], "arg_key": "values"}))
            .collect();
        let ceiling = json!({"tools": [], "capabilities": {}, "workspace_roots": [], "tool_arg_constraints": constraints});
        let engine = Engine::builder()
            .part(DocumentKind::Ceiling, DocumentSource::Value(&ceiling))
            .part(DocumentKind::Policy, DocumentSource::Value(&policy))
            .part(DocumentKind::Annotations, DocumentSource::Value(&annotations))
            .part(DocumentKind::ProtectedPaths, DocumentSource::Value(&protected))
            .build(&Ready)
            .expect("the documents are those of the benchmark");
        let text = shape.arguments.to_string();
        Self { engine, shape, text }
    }

    /// The rule that decides.
    fn judge(&self) -> String {
        let call = Call::from_value("git", "t", &self.shape.arguments);
        if !self.shape.gates {
            return self.engine.evaluate(&call, &Ready).rule.into_owned();
        }
        let response = self.engine.gate(&call, &Ready);
        if let Some(prepared) = &response.prepared {
            black_box(prepared.apply_to_json(&self.text, View::Transport));
        }
        response.verdict.rule.into_owned()
    }
}

fn measure(judged: &Judged) -> Row {
    let mut rule = String::new();
    let mut times: Vec<Duration> = (0..SAMPLES)
        .map(|_| {
            let begun = Instant::now();
            rule = judged.judge();
            begun.elapsed()
        })
        .collect();
    times.sort();
    Row {
        name: judged.shape.name,
        bytes: judged.text.len(),
        fastest: times.first().copied().unwrap_or_default(),
        median: times.get(SAMPLES / 2).copied().unwrap_or_default(),
        p99: times.last().copied().unwrap_or_default(),
        rule,
    }
}

fn rule(name: usize, condition: &Value, effect: &str) -> Value {
    json!({"name": format!("r{name}"), "description": "", "principle": "", "if": condition, "then": effect, "reason": "r"})
}

/// Rules with a condition each, of one effect, and one that allows what is left.
fn rules(count: usize, effect: &str, condition: impl Fn(usize) -> Value) -> Vec<Value> {
    let given = (0..count).map(|at| rule(at, &condition(at), effect));
    given
        .chain([rule(count, &json!({"server": ["git"]}), "allow")])
        .collect()
}

fn list(role: &str, kind: &str, allowed: &[String]) -> Value {
    json!({"lists": [{"roles": [role], "allowed": allowed, "matchType": kind}]})
}

fn domains(role: &str, allowed: &[String]) -> Value {
    json!({"domains": {"roles": [role], "allowed": allowed}})
}

fn each(count: usize, text: impl Fn(usize) -> String) -> Value {
    (0..count).map(text).collect()
}

fn shapes() -> Vec<Shape> {
    const MOST: usize = 16_384;
    let labels = |count: usize| "a.".repeat(count);
    let mail = |at: usize| format!("u{at}@x.test");
    let url = |at: usize| format!("https://h{at}.ok.test/");
    let many = |at: usize, count: usize| -> Vec<String> {
        (0..count).map(|one| format!("d{one}.s{at}.test")).collect()
    };
    let remote = "git-remote-url";
    let (email, fetch, read) = ("email-address", "fetch-url", "read-path");
    let mut shapes = vec![
        Shape::new(
            "one URL of 16,370 labels",
            rules(65, "deny", |at| domains(fetch, &[format!("*.c{at}.test")])),
            fetch,
            json!(format!("https://{}ok.test/", labels(16_370))),
        ),
        Shape::new(
            "40 URLs of 16,370 labels",
            rules(65, "deny", |at| domains(fetch, &[format!("*.c{at}.test")])),
            fetch,
            each(40, |_| format!("https://{}ok.test/", labels(16_370))),
        ),
        Shape::new(
            "16,384 URLs of 120 labels, lists of 100 domains",
            rules(36, "deny", |at| domains(fetch, &many(at, 100))),
            fetch,
            each(MOST, |at| format!("https://{}h{at}.test/", labels(119))),
        ),
        Shape::new(
            "long suffixes",
            rules(36, "deny", |at| {
                domains(fetch, &[format!("*.{}.c{at}.test", "b".repeat(63))])
            }),
            fetch,
            each(MOST, url),
        ),
        Shape::new(
            "10,000 e-mail addresses, 5 lists",
            rules(5, "allow", |at| list(email, "emails", &[mail(at + 90_000)])),
            email,
            each(10_000, mail),
        ),
        Shape::new(
            "16,384 e-mail addresses, 5 denied lists",
            rules(5, "deny", |at| list(email, "emails", &[mail(at + 90_000)])),
            email,
            each(MOST, mail),
        ),
        Shape::new(
            "16,384 recipients with names, 36 denied lists",
            rules(36, "deny", |at| list(email, "emails", &[mail(at + 90_000)])),
            email,
            each(MOST, |at| format!("\"U, {at}\" (x) <MAILTO:u{at}@x.test>")),
        ),
        Shape::new(
            "16,384 URLs, 36 rules",
            rules(36, "deny", |at| domains(fetch, &[format!("c{at}.test")])),
            fetch,
            each(MOST, url),
        ),
        Shape::new(
            "16,384 URLs, 36 rules of 100 domains",
            rules(36, "deny", |at| domains(fetch, &many(at, 100))),
            fetch,
            each(MOST, url),
        ),
        Shape::new(
            "16,384 URLs, each with its rule",
            rules(MOST, "allow", |at| domains(fetch, &[format!("h{at}.ok.test")])),
            fetch,
            each(MOST, url),
        ),
        Shape::new(
            "16,384 URLs, 10,000 rules of 65 domains",
            rules(1_000, "deny", |at| domains(fetch, &many(at, 65))),
            fetch,
            each(MOST, url),
        ),
        Shape::new(
            "2,000 remote names",
            rules(36, "deny", |at| domains(remote, &[format!("c{at}.test")])),
            remote,
            each(2_000, |at| format!("r{at}")),
        ),
        Shape::new(
            "16,384 remotes as URLs",
            rules(36, "deny", |at| domains(remote, &[format!("c{at}.test/a/*")])),
            remote,
            each(MOST, |at| format!("git@h{at}.test:a/b")),
        ),
        Shape::new(
            "broken URLs with many hosts",
            rules(36, "deny", |at| domains(fetch, &[format!("c{at}.test")])),
            fetch,
            each(480, |_| format!("hxxp:{}", "a.b ".repeat(8_000))),
        ),
        Shape::new(
            "16,384 owners, 36 lists of 100",
            rules(36, "deny", |at| {
                list("github-owner", "identifiers", &many(at, 100))
            }),
            "github-owner",
            each(MOST, |at| format!("o{at}")),
        ),
        Shape::new(
            "16,384 paths, 36 directories",
            rules(
                36,
                "allow",
                |at| json!({"paths": {"roles": [read], "within": format!("/d{at}")}}),
            ),
            read,
            each(MOST, |at| format!("/srv/f{at}")),
        ),
        Shape::new(
            "16,384 paths, 10,000 directories",
            rules(
                10_000,
                "deny",
                |at| json!({"paths": {"roles": [read], "within": format!("/d{at}")}}),
            ),
            read,
            each(MOST, |at| format!("/srv/f{at}")),
        ),
        Shape::new(
            "deep paths",
            rules(1, "allow", |_| json!({"roles": [read]})),
            read,
            each(500, |at| format!("/{}{at}", "a/".repeat(2_000))),
        ),
        Shape::new(
            "an escalating rule over two roles",
            rules(
                36,
                "escalate",
                |at| json!({"domains": {"roles": [fetch], "allowed": ["*.ok.test"]}, "lists": [{"roles": [email], "allowed": [mail(at)], "matchType": "emails"}]}),
            ),
            fetch,
            each(8_192, url),
        ),
        Shape::new(
            "16,384 values under the role of no rule",
            rules(1, "deny", |_| list(email, "emails", &[mail(1)])),
            "commit-message",
            each(MOST, mail),
        ),
        Shape::new(
            "more values than a role may have",
            rules(1, "deny", |_| list(email, "emails", &[mail(1)])),
            email,
            each(300_000, mail),
        ),
    ];
    if let Some(shape) = shapes
        .iter_mut()
        .find(|shape| shape.name.contains("over two roles"))
    {
        shape.roles = json!({"values": [fetch], "to": [email]});
        shape.arguments = json!({"values": each(8_192, url), "to": each(8_192, mail)});
    }
    let mut paths = Shape::new(
        "gate of 16,384 paths that change",
        rules(
            1,
            "deny",
            |_| json!({"paths": {"roles": [read], "within": "/no"}}),
        ),
        read,
        each(MOST, |at| format!("/srv//f{at}")),
    );
    paths.gates = true;
    shapes.push(paths);
    let mut members = Shape::new(
        "gate of 16,384 members that change",
        rules(
            1,
            "deny",
            |_| json!({"paths": {"roles": [read], "within": "/no"}}),
        ),
        read,
        json!(null),
    );
    members.roles = json!({"/*": [read]});
    members.arguments = (0..MOST)
        .map(|at| (format!("m{at}"), json!(format!("/srv//f{at}"))))
        .collect::<serde_json::Map<_, _>>()
        .into();
    members.gates = true;
    shapes.push(members);
    for (name, text, count) in [
        (
            "a text of 8 MiB that looks like a path",
            format!("/{}x", "./".repeat(4_194_304)),
            1,
        ),
        ("500,000 texts that look like paths", "./a".to_owned(), 500_000),
    ] {
        let mut shape = Shape::new(
            name,
            rules(1, "deny", |_| json!({"server": ["none"]})),
            "none",
            each(count, |at| format!("{text}{at}")),
        );
        shape.protected = (0..20).map(|at| format!("/etc/p{at}")).collect();
        shapes.push(shape.clone());
        shape.name = match count {
            1 => "a text of 8 MiB that looks like a path, and patterns",
            _ => "500,000 texts that look like paths, and patterns",
        };
        shape.protected = (0..20).map(|at| format!("**/p{at}*")).collect();
        shapes.push(shape);
    }
    for (name, pattern) in [
        ("deep paths and a pattern", "**/x"),
        (
            "deep paths and a long pattern",
            "**/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/b",
        ),
        ("deep paths and a pattern with many stars", "**/*a*a*a*a*b/**/*c"),
    ] {
        let mut shape = Shape::new(
            name,
            rules(1, "deny", |_| json!({"server": ["none"]})),
            "read-path",
            each(400, |at| format!("{}/{at}", "/a".repeat(16_000))),
        );
        shape.protected = vec![pattern.to_owned()];
        shapes.push(shape);
    }
    let owner = "github-owner";
    for (name, role, count, text, pattern, constraints) in [
        (
            "16,384 owners and a constraint",
            owner,
            MOST,
            "acme".to_owned(),
            "*",
            1,
        ),
        (
            "16,384 owners and 5 constraints",
            owner,
            MOST,
            "acme".to_owned(),
            "acme*",
            5,
        ),
        (
            "16,384 paths and a constraint",
            read,
            MOST,
            "d".to_owned(),
            "**",
            1,
        ),
        (
            "16,384 texts like paths and a constraint",
            "none",
            MOST,
            "./d".to_owned(),
            "**",
            1,
        ),
        (
            "16,000 long texts and a pattern with many stars",
            "none",
            16_000,
            "a".repeat(900),
            "a*a*a*a*a*a*a*b",
            1,
        ),
        (
            "a text of 32,000 bytes and a pattern with many stars",
            "none",
            1,
            "a".repeat(32_000),
            "a*a*a*a*a*a*a*b",
            1,
        ),
    ] {
        let mut shape = Shape::new(
            name,
            rules(1, "deny", |_| json!({"server": ["none"]})),
            role,
            each(count, |at| format!("{text}{at}")),
        );
        shape.constraints = vec![pattern.to_owned(); constraints];
        shapes.push(shape);
    }
    shapes.push(Shape::new(
        "50,000 rules with conditions on a long argument",
        rules(50_000, "deny", |at| json!({"args": [{"arg": "values", "equals": format!("{at}{}", "x".repeat(8_000_000 / 50_000))}]})),
        "branch-name",
        json!("x".repeat(8_000_000)),
    ));
    shapes.push(Shape::new(
        "50,000 rules with patterns of names, and conditions on a path",
        rules(
            50_000,
            "deny",
            |at| json!({"tool": ["t*"], "args": [{"arg": "values", "in": ["a", format!("{at}")]}]}),
        ),
        "read-path",
        json!("/a/b"),
    ));
    shapes
}

/// Every path exists and is canonical already; every remote has one URL.
struct Ready;

impl Host for Ready {
    fn home_dir(&self) -> &str {
        "/home/u"
    }

    fn current_dir(&self) -> &str {
        "/"
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        Ok(path.into())
    }

    fn git_remote_urls(&self, _repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![format!("https://github.com/acme/{remote}.git")])
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
}
