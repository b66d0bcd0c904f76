//! The shapes of `core/engine/benches/worst_case.rs` in the component, with the core in this process beside it.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_engine::approval::Approvals;
use callgate_engine::config::DocumentKind;
use callgate_host::{CallText, EngineKind, Gate, InstanceLimits, Request};
use serde_json::{Value, json};

#[path = "../../../core/engine/benches/worst_case/ready.rs"]
mod ready;
#[path = "../../../core/engine/benches/worst_case/shapes.rs"]
mod shapes;

use super::milliseconds;
use ready::Ready;
use shapes::{Shape, shapes};

/// Verdicts a row, so that all rows take about a minute; of so few, the slowest is the 99th percentile.
const SAMPLES: usize = 5;

struct Row {
    name: &'static str,
    native: Duration,
    /// The time that the component takes to read the same text where it has nothing to judge.
    reading: Duration,
    fastest: Duration,
    median: Duration,
    p99: Duration,
    rule: String,
}

/// Prints the times of every shape whose name holds the argument after `worst-case`, the worst last, beyond reading
/// the call's text.
pub(super) fn print() {
    println!("\n| call at the limits | native | reading | fastest | median | p99 | rule |");
    println!("|---|---:|---:|---:|---:|---:|---|");
    let wanted = std::env::args()
        .skip_while(|argument| argument != "worst-case")
        .nth(1);
    let wanted = wanted.unwrap_or_default();
    let shapes = shapes();
    let shapes = shapes.iter().filter(|shape| shape.name.contains(&wanted));
    let mut rows: Vec<Row> = shapes.map(row).collect();
    rows.sort_by_key(|row| row.p99);
    for row in &rows {
        let times = [row.native, row.reading, row.fastest, row.median, row.p99].map(milliseconds);
        println!("| {} | {} | {} |", row.name, times.join(" | "), row.rule);
    }
    if let Some(worst) = rows.last() {
        println!("worst: {}, {}", milliseconds(worst.p99), worst.name);
    }
}

fn row(shape: &Shape) -> Row {
    let (native, rule) = times(shape, &shape.documents(), EngineKind::Native);
    let (component, other) = times(shape, &shape.documents(), EngineKind::Component);
    let nothing = [
        (DocumentKind::Policy, json!({"rules": []})),
        (DocumentKind::Annotations, json!({"servers": {}})),
    ];
    let (reading, _) = times(shape, &nothing, EngineKind::Component);
    assert!(
        rule == other || other.starts_with("refused"),
        "{}: {rule}, {other}",
        shape.name
    );
    let beyond = |at: usize| component[at].saturating_sub(reading[0]);
    Row {
        name: shape.name,
        native: native[0],
        reading: reading[0],
        fastest: beyond(0),
        median: beyond(SAMPLES / 2),
        p99: beyond(SAMPLES - 1),
        rule: other,
    }
}

/// The times of verdicts on the shape's call under these documents, the fastest first, and the rule that decides.
fn times(
    shape: &Shape,
    documents: &[(DocumentKind, Value)],
    engine: EngineKind,
) -> ([Duration; SAMPLES], String) {
    let limits = InstanceLimits {
        deadline: Duration::from_secs(60),
        ..InstanceLimits::default()
    };
    // Limits are those of a component, and choose it.
    let builder = Gate::builder()
        .limits(limits)
        .engine(engine)
        .host(Arc::new(Ready));
    let parts = documents.iter();
    let builder = parts.fold(builder, |builder, (kind, part)| {
        builder.part(*kind, part.to_string())
    });
    let gate = builder.build().expect("the documents are those of the benchmark");
    let mut approvals = Approvals::default();
    for approval in &shape.approvals {
        let added = approvals.add_json(approval);
        added.expect("the approvals are those of the benchmark");
    }
    let call = json!({"serverName": "git", "toolName": "t", "arguments": shape.arguments}).to_string();
    let context = shape.context.as_ref().map(ToString::to_string);
    let mut rule = String::new();
    let mut times = [Duration::ZERO; SAMPLES];
    for time in &mut times {
        let text = CallText::from(call.as_str());
        let text = context.iter().fold(text, |text, context| text.within(context));
        let request = match shape.gates {
            true => Request::gate(text),
            false => Request::prepared(text),
        };
        let request = request.approved(&approvals, None);
        let begun = Instant::now();
        let response = black_box(gate.judge(black_box(&request)));
        *time = begun.elapsed();
        rule = match response {
            Ok(response) => response.verdict.rule.into_owned(),
            // Approvals reach a component as a document, which may have fewer bytes.
            Err(error) => format!("refused: {}", error.message),
        };
    }
    times.sort();
    (times, rule)
}
