//! How long, and with how much memory, a verdict takes on calls that are made to take long, at the limits of SPEC §14,
//! with a host that answers at once. None is to take more than 50 ms, beyond reading and writing the call's text and the host's
//! answers, or more memory than 16 MiB and three times its own size.
//!
//! `cargo bench -p callgate-engine --bench worst_case`, on an otherwise idle machine. It prints the times of judging, the worst last
//! (on a busy machine the fastest says more than the others), with the part of the fastest that the host's answers took, and then
//! what each call allocates (`max alloc` is what was held at once). With `-- 'NAME'`, only that call is judged, once: to
//! count instructions.

use std::time::{Duration, Instant};

use callgate_engine::approval::Approvals;
use callgate_engine::bind::{Call, View};
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::{Engine, Request};
use callgate_engine::host::Host;
use divan::{AllocProfiler, Bencher, black_box};

#[path = "worst_case/ready.rs"]
mod ready;
#[path = "worst_case/shapes.rs"]
mod shapes;
#[path = "worst_case/timed.rs"]
mod timed;

use ready::Ready;
use shapes::{Shape, shapes};
use timed::Timed;

/// Verdicts a row; of so few, the slowest is the 99th percentile.
const SAMPLES: usize = 20;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    let mut names = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'));
    if let Some(shape) = names.find_map(|name| shapes().into_iter().find(|shape| shape.name == name)) {
        println!("{}", Judged::new(shape).answer());
        return;
    }
    let mut rows: Vec<Row> = shapes()
        .into_iter()
        .map(|shape| measure(&Judged::new(shape)))
        .collect();
    rows.sort_by_key(|row| row.p99);
    println!("| call | bytes | fastest | of it the host | median | p99 | rule |");
    println!("|---|---:|---:|---:|---:|---:|---|");
    for row in &rows {
        println!(
            "| {} | {} | {:.1?} | {:.1?} | {:.1?} | {:.1?} | {} |",
            row.name, row.bytes, row.fastest, row.host, row.median, row.p99, row.rule
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
    bencher.bench_local(|| judged.answer());
}

struct Row {
    name: &'static str,
    bytes: usize,
    fastest: Duration,
    host: Duration,
    median: Duration,
    p99: Duration,
    rule: String,
}

/// A shape with its engine.
struct Judged {
    engine: Engine,
    shape: Shape,
    text: String,
    approvals: Approvals,
}

impl Judged {
    #[expect(
        clippy::expect_used,
        reason = "a benchmark without an engine has nothing to measure"
    )]
    fn new(shape: Shape) -> Self {
        let documents = shape.documents();
        let parts = documents.iter();
        let builder = parts.fold(Engine::builder(), |builder, (kind, part)| {
            builder.part(*kind, DocumentSource::Value(part))
        });
        let engine = builder
            .build(&Ready)
            .expect("the documents are those of the benchmark");
        let mut approvals = Approvals::default();
        for approval in &shape.approvals {
            approvals
                .add_json(approval)
                .expect("the approvals are those of the benchmark");
        }
        let text = shape.arguments.to_string();
        Self {
            engine,
            shape,
            text,
            approvals,
        }
    }

    #[expect(
        clippy::expect_used,
        reason = "a benchmark without a call has nothing to measure"
    )]
    fn call(&self) -> Call<'_> {
        let call = Call::from_value("git", "t", &self.shape.arguments);
        match &self.shape.context {
            Some(context) => call
                .within_json(&context.to_string())
                .expect("the context is that of the benchmark"),
            None => call,
        }
    }

    /// The rule that decides.
    fn judge(&self, call: &Call<'_>, host: &dyn Host) -> String {
        let response = match self.shape.gates {
            true => self.engine.gate(call, host),
            false => {
                let request = Request::prepared(call).approved(&self.approvals, None);
                self.engine.judge(&request, host)
            }
        };
        response.verdict.rule.into_owned()
    }

    /// The same, with the call's text.
    fn answer(&self) -> String {
        let call = self.call();
        if !self.shape.gates {
            return self.judge(&call, &Ready);
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
            let call = judged.call();
            let begun = Instant::now();
            rule = judged.judge(&call, &Ready);
            begun.elapsed()
        })
        .collect();
    times.sort();
    let host = (0..3).map(|_| {
        let host = Timed::default();
        judged.judge(&judged.call(), &host);
        host.spent()
    });
    Row {
        name: judged.shape.name,
        bytes: judged.text.len(),
        fastest: times.first().copied().unwrap_or_default(),
        host: host.min().unwrap_or_default(),
        median: times.get(SAMPLES / 2).copied().unwrap_or_default(),
        p99: times.last().copied().unwrap_or_default(),
        rule,
    }
}
