//! How long a verdict takes on each recorded call of a corpus that asks the host nothing, server by server.
//!
//! `CALLGATE_CORPUS=DIR cargo bench -p callgate-engine --bench corpus`, on an otherwise idle machine; without the
//! variable the corpus is looked for at `../shared/corpus`.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use callgate_engine::bind::Call;
use callgate_engine::engine::Engine;
use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use serde_json::Value;

#[expect(dead_code, reason = "the calls of that benchmark are not timed here")]
#[path = "verdicts.rs"]
mod verdicts;

/// Verdicts between two readings of the clock.
const SAMPLE: u32 = 500;
/// Samples of each call, one in each round over all calls. The fastest counts, since anything else that the machine does
/// only adds time.
const SAMPLES: usize = 40;
/// The budget of a verdict without a question to the host.
const BUDGET: Duration = Duration::from_nanos(500);

fn main() {
    let Some(calls) = recorded() else {
        println!("no corpus at {}", verdicts::corpus_folder().display());
        return;
    };
    let engine = verdicts::documents().engine();
    let mut timed: Vec<(Call<'_>, Duration)> = calls
        .iter()
        .filter_map(|request| {
            let name = |key: &str| request.get(key)?.as_str();
            let arguments = request.get("arguments")?;
            Some(Call::from_value(
                name("serverName")?,
                name("toolName")?,
                arguments,
            ))
        })
        .filter(|call| {
            let host = Silent::default();
            engine.evaluate(call, &host);
            !host.was_asked.get()
        })
        .map(|call| (call, Duration::MAX))
        .collect();
    for _ in 0..SAMPLES {
        for (call, fastest) in &mut timed {
            *fastest = sample(&engine, call).min(*fastest);
        }
    }
    let mut servers: BTreeMap<&str, Vec<(Duration, &str)>> = BTreeMap::new();
    for (call, fastest) in &timed {
        servers
            .entry(call.server())
            .or_default()
            .push((*fastest, call.tool()));
    }
    println!("| calls without a question to the host | calls | median | slowest | over {BUDGET:?} |");
    println!("|---|---:|---:|---:|---:|");
    let mut all = Vec::new();
    for (server, mut times) in servers {
        row(server, &mut times);
        all.extend(times);
    }
    row("all", &mut all);
}

fn row(name: &str, times: &mut [(Duration, &str)]) {
    times.sort();
    if let (Some((median, _)), Some((slowest, tool))) = (times.get(times.len() / 2), times.last()) {
        let over = times.iter().filter(|(took, _)| *took > BUDGET).count();
        println!(
            "| {name} | {} | {median:?} | {slowest:?}, `{tool}` | {over} |",
            times.len()
        );
    }
}

/// The requests of the corpus.
fn recorded() -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(verdicts::corpus_folder().join("verdicts.jsonl")).ok()?;
    let request = |line: &str| serde_json::from_str::<Value>(line).ok()?.get("request").cloned();
    text.lines().map(request).collect()
}

fn sample(engine: &Engine, call: &Call<'_>) -> Duration {
    let host = Silent::default();
    let begun = Instant::now();
    for _ in 0..SAMPLE {
        black_box(engine.evaluate(black_box(call), &host));
    }
    begun.elapsed() / SAMPLE
}

/// A host that notes whether it was asked anything.
#[derive(Default)]
struct Silent {
    was_asked: Cell<bool>,
}

impl Host for Silent {
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
        self.was_asked.set(true);
        Ok(path.into())
    }

    fn git_remote_urls(&self, _repo: &str, _remote: &str) -> Result<Vec<String>, HostError> {
        self.was_asked.set(true);
        Ok(Vec::new())
    }

    fn git_default_remote_urls(&self, _repo: &str) -> Result<Vec<String>, HostError> {
        self.was_asked.set(true);
        Ok(Vec::new())
    }

    fn read_link(&self, _: &str) -> Result<Option<String>, HostError> {
        self.was_asked.set(true);
        Ok(None)
    }

    fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
        self.was_asked.set(true);
        Ok(Some(false))
    }

    fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.was_asked.set(true);
        Ok(vec![url.to_owned()])
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        self.was_asked.set(true);
        Ok(String::new())
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        Ok(Some(Vec::new()))
    }

    fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
        Ok(None)
    }
}
