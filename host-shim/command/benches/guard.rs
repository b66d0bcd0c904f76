//! The time that the guard adds to a call, and that of a hook: `cargo bench -p callgate`, on a
//! machine that does nothing else. Prints the tables of this crate's README; with the name of a row after `--`, such as
//! `hooks`, only that one.
//!
//! The server is this program itself, which answers every request at once. Each row asks it directly and through guards, in turn.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The argument that makes this program the server.
const SERVER: &str = "--server-that-answers";

/// Calls of one row, and how many are asked of one before the next has its turn.
const CALLS: usize = 20_000;
const TURN: usize = 100;

const IN_FLIGHT: usize = 1_000;
const MEGABYTES: usize = 10;

/// Processes of a hook in one row.
const HOOKS: usize = 300;
const MANY: usize = 100_000;

/// The tools of a server with many, and the rules of its policy.
const TOOLS: usize = 200;
const RULES: usize = 1_000;

const BUNDLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/bundle");

fn main() {
    if std::env::args().any(|argument| argument == SERVER) {
        return answer();
    }
    let folder = std::env::temp_dir().join(format!("callgate-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    type Row = fn(&Path);
    let rows: [(&str, Row); 6] = [
        ("latency", latency),
        ("in-flight", in_flight),
        ("large", large),
        ("growth", growth),
        ("listing", listing),
        ("hooks", hooks),
    ];
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    for (name, row) in rows {
        if named.is_empty() || named.iter().any(|wanted| wanted == name) {
            row(&folder);
        }
    }
    fs::remove_dir_all(folder).expect("it is this program's own");
}

/// The server: an answer to whatever has an id.
fn answer() {
    let (mut input, mut output) = (BufReader::with_capacity(64 * 1024, io::stdin()), io::stdout());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let head = String::from_utf8_lossy(&line[..line.len().min(64)]).into_owned();
        if let Some((_, after)) = head.split_once("\"id\":") {
            let id: String = after.chars().take_while(char::is_ascii_digit).collect();
            let result = match head.contains("\"tools/list\"") {
                true => json!({ "tools": (0..TOOLS).map(tool).collect::<Vec<_>>() }),
                false => json!({ "content": [] }),
            };
            let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
            output.write_all(answer.as_bytes()).expect("the client reads");
            output.flush().expect("the client reads");
        }
        line = Vec::new();
    }
}

fn server() -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a program"));
    command.arg(SERVER);
    command
}

fn guard(flags: &[&str], bundle: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command
        .args(["guard", "--engine", "native", "--server", "filesystem"])
        .args(flags)
        .arg("--")
        .arg(std::env::current_exe().expect("a program"))
        .arg(SERVER)
        .current_dir(bundle);
    command
}

/// A server, or a guard before one.
struct Peer {
    name: &'static str,
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    calls: usize,
}

impl Peer {
    /// Starts it and makes it warm.
    fn start(name: &'static str, command: Command) -> Self {
        let mut peer = Self::cold(name, command);
        for _ in 0..500 {
            peer.call("src/main.rs");
        }
        peer
    }

    fn cold(name: &'static str, mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().expect("an output"));
        Self {
            name,
            child,
            to,
            from,
            calls: 0,
        }
    }

    fn direct() -> Self {
        Self::start("without", server())
    }

    fn guarded(name: &'static str, flags: &[&str]) -> Self {
        Self::start(name, guard(flags, Path::new(BUNDLE)))
    }

    fn message(&mut self, arguments: &str) -> String {
        self.calls += 1;
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{{\"name\":\"write_file\",\"arguments\":{{{arguments}}}}}}}\n",
            self.calls
        )
    }

    fn send(&mut self, message: &str) {
        let to = self.to.as_mut().expect("an input");
        to.write_all(message.as_bytes()).expect("it reads");
    }

    fn receive(&mut self) {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("it answers");
        assert!(
            line.contains("\"result\":{\"content\":[]}"),
            "{}: {line}",
            self.name
        );
    }

    fn list(&mut self) {
        self.calls += 1;
        let id = self.calls;
        self.send(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n"
        ));
        let mut line = String::new();
        self.from.read_line(&mut line).expect("it answers");
        assert!(line.contains("\"name\":\"tool_"), "{}: {line}", self.name);
    }

    fn call(&mut self, path: &str) -> Duration {
        let message = self.message(&format!("\"path\":\"{path}\",\"content\":\"x\""));
        let begin = Instant::now();
        self.send(&message);
        self.receive();
        begin.elapsed()
    }

    /// A line of what the kernel says of the process, in kilobytes.
    fn memory(&self, name: &str) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number.and_then(|number| number.parse().ok()).unwrap_or_default()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.child.wait();
    }
}

fn audit(folder: &Path) -> PathBuf {
    folder.join("log.jsonl")
}

fn peers(folder: &Path) -> [Peer; 3] {
    let log = audit(folder);
    [
        Peer::direct(),
        Peer::guarded("with the guard", &[]),
        Peer::guarded(
            "with the guard and a log",
            &["--audit", log.to_str().expect("UTF-8")],
        ),
    ]
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

fn latency(folder: &Path) {
    let mut peers = peers(folder);
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..CALLS / TURN {
        for (peer, times) in peers.iter_mut().zip(&mut times) {
            times.extend((0..TURN).map(|_| peer.call("src/main.rs")));
        }
    }
    println!("| one call after the other | p50 | p99 | added p50 | added p99 |");
    println!("|---|---:|---:|---:|---:|");
    let mut base = [0.0; 2];
    for (at, (peer, times)) in peers.iter().zip(&mut times).enumerate() {
        times.sort_unstable();
        let [p50, p99] = [50, 99].map(|percent| micros(times[times.len() * percent / 100]));
        if at == 0 {
            base = [p50, p99];
            println!("| {} | {p50:.0} µs | {p99:.0} µs | | |", peer.name);
        } else {
            println!(
                "| {} | {p50:.0} µs | {p99:.0} µs | {:.0} µs | {:.0} µs |",
                peer.name,
                p50 - base[0],
                p99 - base[1]
            );
        }
    }
}

fn in_flight(folder: &Path) {
    println!("\n| {IN_FLIGHT} calls in flight | all answered after | a call |");
    println!("|---|---:|---:|");
    for mut peer in peers(folder) {
        let mut fastest = Duration::MAX;
        for _ in 0..10 {
            let messages: String = (0..IN_FLIGHT)
                .map(|_| peer.message("\"path\":\"src/main.rs\",\"content\":\"x\""))
                .collect();
            let begin = Instant::now();
            let mut to = peer.to.take().expect("an input");
            let writer = thread::spawn(move || {
                to.write_all(messages.as_bytes()).expect("it reads");
                to
            });
            (0..IN_FLIGHT).for_each(|_| peer.receive());
            fastest = fastest.min(begin.elapsed());
            peer.to = Some(writer.join().expect("it has written"));
        }
        println!(
            "| {} | {:.1} ms | {:.1} µs |",
            peer.name,
            fastest.as_secs_f64() * 1e3,
            micros(fastest) / IN_FLIGHT as f64
        );
    }
}

fn large(folder: &Path) {
    println!(
        "\n| an argument of {MEGABYTES} MB | a call | most memory beyond that before, in sizes of the argument |"
    );
    println!("|---|---:|---:|");
    let size = MEGABYTES * 1_000_000;
    let log = audit(folder);
    let flags = ["--audit", log.to_str().expect("UTF-8")];
    for (name, content) in [
        ("letters", "x".repeat(size)),
        ("lines with escapes", "a line of text\\n".repeat(size / 16)),
    ] {
        let mut direct = Peer::direct();
        for peer in [
            &mut direct,
            &mut Peer::guarded("with the guard and a log", &flags),
        ] {
            let before = peer.memory("VmHWM");
            let mut fastest = Duration::MAX;
            for _ in 0..5 {
                let message = peer.message(&format!("\"path\":\"src/main.rs\",\"content\":\"{content}\""));
                let begin = Instant::now();
                peer.send(&message);
                peer.receive();
                fastest = fastest.min(begin.elapsed());
            }
            let more = peer.memory("VmHWM").saturating_sub(before);
            println!(
                "| {name}, {} | {:.1} ms | {:.2} |",
                peer.name,
                fastest.as_secs_f64() * 1e3,
                more as f64 * 1024.0 / size as f64
            );
        }
    }
}

fn growth(folder: &Path) {
    let log = audit(folder);
    let mut peer = Peer::guarded(
        "with the guard and a log",
        &["--audit", log.to_str().expect("UTF-8")],
    );
    (0..1_000).for_each(|_| {
        peer.call("src/main.rs");
    });
    let before = peer.memory("VmRSS");
    (0..MANY).for_each(|_| {
        peer.call("src/main.rs");
    });
    println!(
        "\nresident memory of the guard: {before} KB after 1,500 calls, {} KB after {MANY} more",
        peer.memory("VmRSS")
    );
}

/// One of many tools.
fn tool(at: usize) -> Value {
    let text = json!({"type": "string", "description": "where it is, or what it is about"});
    json!({
        "name": format!("tool_{at}"),
        "description": "Does something that takes a sentence to say",
        "inputSchema": {
            "type": "object",
            "properties": {"source": text, "destination": text, "url": text, "note": text},
            "required": ["source"],
        },
    })
}

/// How long a client waits for the first list, of which the guard has to say what is certain to be denied, and for the next.
fn listing(folder: &Path) {
    let rule = |at: usize| match at % 4 {
        0 => {
            json!({"tool": format!("tool_{}", at % TOOLS), "paths": {"roles": "read-path", "within": format!("/srv/{at}")}})
        }
        1 => json!({"paths": {"roles": "write-path", "within": format!("/home/u/{at}")}}),
        2 => {
            json!({"tool": format!("tool_{}", at % TOOLS), "domains": {"roles": "fetch-url", "allowed": [format!("h{at}.example.com")]}})
        }
        _ => {
            json!({"tool": format!("tool_{}", at % TOOLS), "args": [{"arg": "note", "equals": format!("n{at}")}]})
        }
    };
    let effect = |at: usize| ["allow", "escalate", "deny"][at % 3];
    let rules = (0..RULES)
        .map(|at| json!({"name": format!("rule-{at}"), "if": rule(at), "then": effect(at), "reason": "r"}));
    let annotated = |at| {
        let mut tool = tool(at);
        tool["toolName"] = tool["name"].take();
        tool["args"] =
            json!({"source": "read-path", "destination": "write-path", "url": "fetch-url", "note": "none"});
        let members = tool.as_object_mut().expect("an object");
        members.retain(|name, _| ["toolName", "args", "inputSchema"].contains(&name.as_str()));
        tool
    };
    let bundle = json!({
        "policy": {"rules": rules.collect::<Vec<_>>()},
        "annotations": {"servers": {"filesystem": {"tools": (0..TOOLS).map(annotated).collect::<Vec<_>>()}}},
        "sandbox": ".",
        "protectedPaths": ["~/.ssh", "**/.env", "callgate.json"],
    });
    fs::write(folder.join("callgate.json"), bundle.to_string()).expect("it can be written");
    println!("\n| `tools/list` of {TOOLS} tools, {RULES} rules | from the start | once more |");
    println!("|---|---:|---:|");
    for (name, is_guarded) in [("without", false), ("with the guard", true)] {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..10 {
            let begin = Instant::now();
            let command = if is_guarded { guard(&[], folder) } else { server() };
            let mut peer = Peer::cold(name, command);
            peer.list();
            times[0].push(begin.elapsed());
            let begin = Instant::now();
            peer.list();
            times[1].push(begin.elapsed());
        }
        let [first, next] = times.map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2].as_secs_f64() * 1e3
        });
        println!("| {name} | {first:.1} ms | {next:.2} ms |");
    }
}

/// A hook from the start of its process to its end, beside a process that does nothing.
fn hooks(folder: &Path) {
    let bundle = Path::new(BUNDLE).join("callgate.json");
    let log = audit(folder);
    let hook = |flags: &[&Path]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.args(["hook", "claude-code", "--bundle"]).arg(&bundle);
        command.args(flags.iter().map(|flag| flag.as_os_str()));
        command
    };
    let mut rows = [
        ("a process that does nothing", server()),
        ("a hook", hook(&[])),
        ("a hook with a log", hook(&[Path::new("--audit"), &log])),
    ];
    let question = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": folder, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "a"}, "tool_use_id": "t",
    });
    let question = question.to_string();
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..HOOKS {
        for ((name, command), times) in rows.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            let mut child = command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("it starts");
            let mut to = child.stdin.take().expect("an input");
            // A server that does nothing may have ended.
            let _ = to.write_all(question.as_bytes());
            drop(to);
            let output = child.wait_with_output().expect("it ends");
            times.push(begin.elapsed());
            let is_answer = String::from_utf8_lossy(&output.stdout).contains("permissionDecision");
            assert!(
                is_answer || *name == "a process that does nothing",
                "{name}: {output:?}"
            );
        }
    }
    println!("\n| {HOOKS} processes | p50 | p99 |\n|---|---:|---:|");
    for ((name, _), mut times) in rows.iter().zip(times) {
        times.sort();
        let at = |share: usize| micros(times[times.len() * share / 100]) / 1e3;
        println!("| {name} | {:.1} ms | {:.1} ms |", at(50), at(99));
    }
}
