//! The cost of the component beside the core in this process: `cargo bench -p callgate-host`, on a machine that does
//! nothing else. Prints the tables of this crate's README. With `-- worst-case`, only the calls at the limits are judged.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use callgate_engine::config::DocumentKind;
use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use callgate_host::{EngineKind, Gate, GateBuilder, InstanceLimits, RealHost};
use serde_json::Value;

#[path = "component/worst_case.rs"]
mod worst_case;

/// Verdicts between two looks at the clock.
const SAMPLE: usize = 2_000;
/// Samples of each column, taken in turn. The fastest counts: whatever else the machine does only adds to it.
const SAMPLES: usize = 25;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bundle");

fn main() {
    if std::env::args().any(|argument| argument == "worst-case") {
        worst_case::print();
        return;
    }
    let calls = [
        (
            "no question to the host: unknown tool",
            call("none", "nothing", r#"{"x": 1}"#),
        ),
        (
            "no question to the host: a URL",
            call("fetch", "fetch", r#"{"url": "https://docs.rs/url"}"#),
        ),
        (
            "a path in the sandbox",
            call("filesystem", "read_text_file", r#"{"path": "src/main.rs"}"#),
        ),
        (
            "a path outside it",
            call("filesystem", "read_text_file", r#"{"path": "/srv/data/x"}"#),
        ),
        (
            "a repository",
            call(
                "git",
                "git_push",
                r#"{"repo_path": "/work/repo", "remote": "origin", "branch": "x"}"#,
            ),
        ),
    ];
    verdicts("host that answers at once", &calls, || Arc::new(Ready));
    let path = format!(r#"{{"path": "{FOLDER}/policy.json"}}"#);
    let real = [("a path on this disk", call("filesystem", "read_text_file", &path))];
    verdicts("real host", &real, || {
        Arc::new(RealHost::new("/root", FOLDER).expect("the folder is there"))
    });
    corpus();
    worst_case::print();
    starting();
    throughput(&calls[2].1);
    memory();
}

fn call(server: &str, tool: &str, arguments: &str) -> String {
    format!(r#"{{"serverName": "{server}", "toolName": "{tool}", "arguments": {arguments}}}"#)
}

fn builder(engine: EngineKind, host: Arc<dyn Host + Send + Sync>) -> GateBuilder {
    let builder = Gate::builder().engine(engine).host(host);
    builder
        .bundle(format!("{FOLDER}/callgate.json"))
        .part(DocumentKind::Sandbox, r#""/work""#)
}

fn verdicts(host: &str, calls: &[(&str, String)], fresh: impl Fn() -> Arc<dyn Host + Send + Sync>) {
    heading(host);
    let native = builder(EngineKind::Native, fresh())
        .build()
        .expect("the documents are valid");
    let component = builder(EngineKind::Component, fresh())
        .build()
        .expect("the documents are valid");
    for (name, call) in calls {
        row(name, &native, &component, std::slice::from_ref(call));
    }
}

/// The calls that a corpus recorded, server by server: `CALLGATE_CORPUS`, or `../shared/corpus` beside the workspace.
fn corpus() {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let folder = std::env::var_os("CALLGATE_CORPUS").map_or_else(beside, PathBuf::from);
    let Ok(lines) = std::fs::read_to_string(folder.join("verdicts.jsonl")) else {
        println!("\nno corpus at {}", folder.display());
        return;
    };
    let mut servers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines.lines() {
        let recorded: Value = serde_json::from_str(line).expect("a line of a corpus is JSON");
        let request = &recorded["request"];
        let server = request["serverName"]
            .as_str()
            .expect("a request names its server");
        servers
            .entry(server.to_owned())
            .or_default()
            .push(request.to_string());
    }
    let gate = |engine| {
        let builder = Gate::builder()
            .engine(engine)
            .host(Arc::new(Ready))
            .file(DocumentKind::Policy, folder.join("compiled-policy.json"))
            .file(DocumentKind::Annotations, folder.join("tool-annotations.json"))
            .file(DocumentKind::Lists, folder.join("dynamic-lists.json"))
            .part(DocumentKind::Sandbox, r#""/home/provos/.ironcurtain/sandbox""#)
            .protect("/etc/shadow")
            .protect("/home/provos/.ssh");
        builder.build().expect("the documents of the corpus are valid")
    };
    let [native, component] = [EngineKind::Native, EngineKind::Component].map(gate);
    heading("a call of the corpus, host that answers at once");
    for (server, calls) in &servers {
        row(server, &native, &component, calls);
    }
    let all: Vec<String> = servers.into_values().flatten().collect();
    row("all of them", &native, &component, &all);
}

fn heading(host: &str) {
    println!("\n| {host} | native | component | ratio | `gate`, native | `gate`, component | ratio |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
}

/// The time of one verdict, on average over `calls`, in both engines.
fn row(name: &str, native: &Gate, component: &Gate, calls: &[String]) {
    for call in calls {
        assert_eq!(native.gate(call), component.gate(call));
    }
    let evaluate = |gate: &Gate| sample(calls, |call| drop(black_box(gate.evaluate(call))));
    let gated = |gate: &Gate| sample(calls, |call| drop(black_box(gate.gate(call))));
    let mut fastest = [Duration::MAX; 4];
    for _ in 0..SAMPLES {
        let samples = [
            evaluate(native),
            evaluate(component),
            gated(native),
            gated(component),
        ];
        fastest = std::array::from_fn(|column| samples[column].min(fastest[column]));
    }
    let [one, other, gate_one, gate_other] = fastest;
    println!(
        "| {name} | {} | {} | {:.1} | {} | {} | {:.1} |",
        microseconds(one),
        microseconds(other),
        other.as_secs_f64() / one.as_secs_f64(),
        microseconds(gate_one),
        microseconds(gate_other),
        gate_other.as_secs_f64() / gate_one.as_secs_f64(),
    );
}

/// The time of one piece of work.
fn sample(calls: &[String], work: impl Fn(&str)) -> Duration {
    let begun = Instant::now();
    let each = calls.iter().cycle().take(SAMPLE);
    each.for_each(|call| work(black_box(call)));
    begun.elapsed() / u32::try_from(SAMPLE).expect("a sample is small")
}

fn microseconds(time: Duration) -> String {
    format!("{:.2} µs", time.as_secs_f64() * 1e6)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn starting() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let build = || {
        let builder = builder(EngineKind::Component, Arc::new(Ready)).cache_folder(folder.path());
        builder.build().expect("the documents are valid").timings()
    };
    let cold = build();
    let mut warm: Vec<_> = (0..SAMPLES).map(|_| build()).collect();
    warm.sort_by_key(|timings| timings.total());
    let warm = warm[SAMPLES / 2];
    let [started, restarted] =
        [cold, warm].map(|timings| timings.component.expect("a component was started"));
    println!("\n| starting | cold | warm |\n|---|---:|---:|");
    for (part, cold, warm) in [
        ("documents read", cold.reading, warm.reading),
        ("component", started.compiling, restarted.compiling),
        ("an instance", started.instance, restarted.instance),
        ("documents loaded", cold.loading, warm.loading),
        ("ready", cold.total(), warm.total()),
    ] {
        println!("| {part} | {} | {} |", milliseconds(cold), milliseconds(warm));
    }
}

fn throughput(call: &str) {
    println!("\n| verdicts a second | 1 thread | 2 threads |\n|---|---:|---:|");
    for engine in [EngineKind::Native, EngineKind::Component] {
        let gate = builder(engine, Arc::new(Ready))
            .build()
            .expect("the documents are valid");
        let rates = [1, 2].map(|threads| rate(&gate, call, threads));
        println!("| {} | {:.0} | {:.0} |", engine.as_str(), rates[0], rates[1]);
    }
}

fn rate(gate: &Gate, call: &str, threads: u32) -> f64 {
    const CALLS: u32 = 200_000;
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| (0..CALLS).for_each(|_| drop(black_box(gate.evaluate(black_box(call))))));
        }
    });
    f64::from(CALLS * threads) / begun.elapsed().as_secs_f64()
}

/// The growth of the process for each instance: as many calls at once wait for their host.
fn memory() {
    const INSTANCES: usize = 64;
    let host = Arc::new(Waiting(Barrier::new(INSTANCES + 1)));
    let limits = InstanceLimits {
        idle_instances: INSTANCES,
        deadline: Duration::from_secs(600),
        ..InstanceLimits::default()
    };
    let gate = builder(EngineKind::Component, Arc::clone(&host) as _)
        .limits(limits)
        .build();
    let gate = gate.expect("the documents are valid");
    let before = resident();
    thread::scope(|scope| {
        for at in 0..INSTANCES {
            let gate = &gate;
            let path = format!(r#"{{"path": "/elsewhere/{at}"}}"#);
            scope.spawn(move || drop(gate.evaluate(&call("filesystem", "read_text_file", &path))));
        }
        host.0.wait();
        let grown = resident().saturating_sub(before) / INSTANCES;
        println!(
            "\nresident memory of an instance with its documents and its thread: {} KiB",
            grown / 1024
        );
        host.0.wait();
    });
}

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}

/// Every path exists and is canonical already; every repository has one remote.
struct Ready;

impl Host for Ready {
    fn home_dir(&self) -> &str {
        "/home/u"
    }

    fn current_dir(&self) -> &str {
        "/work"
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        Ok(path.into())
    }

    fn git_remote_urls(&self, _: &str, _: &str) -> Result<Vec<String>, HostError> {
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

/// A host whose answers about paths of a call wait for all the others.
struct Waiting(Barrier);

impl Host for Waiting {
    fn home_dir(&self) -> &str {
        "/home/u"
    }

    fn current_dir(&self) -> &str {
        "/work"
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        if path.starts_with("/elsewhere") {
            self.0.wait();
            self.0.wait();
        }
        Ok(path.into())
    }

    fn git_remote_urls(&self, _: &str, _: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn git_default_remote_urls(&self, _: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
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
