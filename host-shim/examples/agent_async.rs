//! An asynchronous agent host: verdicts on threads that may block, many at a time, each given up after a while.
//!
//! `cargo run -p callgate-host --example agent_async`

use std::borrow::Cow;
use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use callgate_host::{Gate, Verdict};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinSet, spawn_blocking};

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

/// Judges some calls at the same time.
///
/// # Errors
/// When the gate cannot be built, or nobody reads what is written to `out`.
pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()?;
    let mut lines = runtime.block_on(judge_all())?;
    lines.sort();
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(())
}

async fn judge_all() -> Result<Vec<String>, Box<dyn Error>> {
    let (questions, asked) = mpsc::channel(64);
    tokio::spawn(answer_all(asked));
    let gate = Gate::builder()
        .bundle(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/examples/bundle/callgate.json"
        ))
        .sandbox("/work")
        .host(Arc::new(AsyncHost {
            questions,
            runtime: Handle::current(),
        }));
    // Reading the documents, and compiling a component where one is asked for, would hold a worker of the runtime up.
    let gate = Arc::new(spawn_blocking(|| gate.build()).await??);
    let mut calls = JoinSet::new();
    for path in ["notes.md", "src/main.rs", "/etc/shadow", "~/.ssh/id_ed25519"] {
        let gate = Arc::clone(&gate);
        calls.spawn(async move { (path, judge(gate, path).await) });
    }
    let mut lines = Vec::new();
    while let Some(judged) = calls.join_next().await {
        let (path, verdict) = judged?;
        let verdict = verdict.map_or_else(
            |error| format!("deny ({error})"),
            |verdict| format!("{} ({})", verdict.decision.as_str(), verdict.rule),
        );
        lines.push(format!("{path}: {verdict}"));
    }
    Ok(lines)
}

/// One verdict, within ten seconds. What takes longer is denied; its thread ends by the gate's own deadline.
async fn judge(gate: Arc<Gate>, path: &str) -> Result<Verdict<'static>, String> {
    let call = format!(
        r#"{{"serverName": "filesystem", "toolName": "read_text_file", "arguments": {{"path": "{path}"}}}}"#
    );
    let judged = spawn_blocking(move || gate.evaluate(&call));
    let judged = tokio::time::timeout(Duration::from_secs(10), judged).await;
    let judged = judged.map_err(|_| "no verdict in time")?;
    judged
        .map_err(|error| error.to_string())?
        .map_err(|error| error.to_string())
}

/// A question, and where its answer is waited for.
type Question = (String, oneshot::Sender<Result<String, RealpathError>>);

/// A host whose answers come from a task, as they would from another machine.
struct AsyncHost {
    questions: mpsc::Sender<Question>,
    runtime: Handle,
}

async fn answer_all(mut asked: mpsc::Receiver<Question>) {
    while let Some((path, answer)) = asked.recv().await {
        tokio::time::sleep(Duration::from_millis(1)).await;
        // Whoever asked may have given up.
        drop(answer.send(Ok(path)));
    }
}

impl Host for AsyncHost {
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
        let gone = || RealpathError::Host(HostError::new("nobody answers any more"));
        let (answer, waiting) = oneshot::channel();
        // This is a thread that may block: the gate is only ever asked on one.
        self.runtime.block_on(async {
            self.questions
                .send((path.to_owned(), answer))
                .await
                .map_err(|_| gone())?;
            waiting.await.map_err(|_| gone())?.map(Cow::Owned)
        })
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
