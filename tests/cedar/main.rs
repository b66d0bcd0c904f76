//! How long Cedar's analysis and this one take to answer the same question about the same policy, in one run.
//!
//! `CVC5=PROGRAM cargo run --release` in this folder, on an otherwise idle machine; the program is cvc5, or `solver.py` here for who
//! has only its library. Numbers as arguments are the numbers of rules, by default 10, 36, 100, 300 and 1,000.
//!
//! The rules say what both can say: every other one allows a tool to fetch from a host, whose name Cedar compares as a string, and
//! the others allow a tool to read below a directory, which is `like` in Cedar. Each time is from the policy's text to the answer:
//! reading it, making what is asked, asking. Both must answer alike, and as is right.

use std::str::FromStr as _;
use std::time::{Duration, Instant};

use callgate_core::{Comparison, DocumentKind, Engine, LinklessHost, Outcome, check_invariants};
use cedar_policy::{PolicySet, Schema};
use cedar_policy_symcc::solver::LocalSolver;
use cedar_policy_symcc::{CedarSymCompiler, CompiledPolicySet};
use serde_json::{Value, json};

/// How often each question is asked; the medians are shown.
const RUNS: usize = 5;

/// How long a question may take.
const MOST: Duration = Duration::from_secs(120);

#[derive(Clone, Copy)]
enum Question {
    /// The same rules in another order allow the same.
    OtherOrder,
    /// They do if the last is about another place.
    OneDiffers,
    /// Nothing is read below a directory that no rule is about.
    NeverElsewhere,
    /// Nothing is read below the directory of a rule.
    NeverThere,
}

impl Question {
    const ALL: [(Self, &str, bool); 4] = [
        (Self::OtherOrder, "equal, in another order?", true),
        (Self::OneDiffers, "equal, where one differs?", false),
        (Self::NeverElsewhere, "never below /etc?", true),
        (Self::NeverThere, "never below /srv/1/data?", false),
    ];
}

/// The places of so many rules in order; `is_changed`: the last is about another place.
fn places(count: usize, is_reversed: bool, is_changed: bool) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    if let Some(last) = places.last_mut().filter(|_| is_changed) {
        *last += 8;
    }
    if is_reversed {
        places.reverse();
    }
    places
}

fn cedar_policy(places: &[usize]) -> String {
    let rule = |at: &usize| match at % 2 {
        0 => format!(
            "permit(principal, action == Action::\"fetch\", resource) when {{ context.host == \"h{at}.example.com\" }};\n"
        ),
        _ => format!(
            "permit(principal, action == Action::\"read\", resource) when {{ {} }};\n",
            below(&format!("/srv/{at}/data"))
        ),
    };
    places.iter().map(rule).collect()
}

fn below(directory: &str) -> String {
    format!("context.path == \"{directory}\" || context.path like \"{directory}/*\"")
}

const SCHEMA: &str = r#"
    entity User;
    entity Thing;
    action fetch appliesTo { principal: [User], resource: [Thing], context: { host: String } };
    action read appliesTo { principal: [User], resource: [Thing], context: { path: String } };
"#;

struct Cedar {
    schema: Schema,
    compiler: CedarSymCompiler<LocalSolver>,
}

impl Cedar {
    fn new() -> Self {
        let solver = LocalSolver::cvc5().expect("a solver");
        Self {
            schema: Schema::from_cedarschema_str(SCHEMA).expect("a schema").0,
            compiler: CedarSymCompiler::new(solver).expect("a solver"),
        }
    }

    /// The answer, and how long it took until the solver was asked.
    async fn answer(&mut self, question: Question, count: usize) -> (bool, Duration) {
        let begun = Instant::now();
        let one = cedar_policy(&places(count, false, false));
        let other = match question {
            Question::OtherOrder => cedar_policy(&places(count, true, false)),
            Question::OneDiffers => cedar_policy(&places(count, true, true)),
            Question::NeverElsewhere => reading("/etc"),
            Question::NeverThere => reading("/srv/1/data"),
        };
        let [one, other] = [one, other].map(|text| PolicySet::from_str(&text).expect("a policy"));
        let compiled: Vec<_> = self
            .schema
            .request_envs()
            .map(|env| {
                [&one, &other]
                    .map(|set| CompiledPolicySet::compile(set, &env, &self.schema).expect("a policy"))
            })
            .collect();
        let asked = begun.elapsed();
        for [one, other] in &compiled {
            let found = match question {
                Question::OtherOrder | Question::OneDiffers => {
                    self.compiler
                        .check_equivalent_with_counterexample_opt(one, other)
                        .await
                }
                Question::NeverElsewhere | Question::NeverThere => {
                    self.compiler
                        .check_disjoint_with_counterexample_opt(one, other)
                        .await
                }
            };
            if found.expect("an answer").is_some() {
                return (false, asked);
            }
        }
        (true, asked)
    }
}

/// The policy that allows reading below the directory.
fn reading(directory: &str) -> String {
    format!(
        "permit(principal, action == Action::\"read\", resource) when {{ {} }};",
        below(directory)
    )
}

fn engine(places: &[usize], invariants: &Value) -> Engine {
    let rule = |at: &usize| {
        let conditions = match at % 2 {
            0 => {
                json!({"tool": "fetch", "domains": {"roles": "fetch-url", "allowed": [format!("h{at}.example.com")]}})
            }
            _ => {
                json!({"tool": "read", "paths": {"roles": "read-path", "within": format!("/srv/{at}/data")}})
            }
        };
        json!({"name": format!("r{at}"), "if": conditions, "then": "allow", "reason": "r"})
    };
    let policy = json!({"rules": places.iter().map(rule).collect::<Vec<Value>>()});
    let tool = |name: &str, argument: &str, role: &str| {
        let schema =
            json!({"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]});
        json!({"toolName": name, "args": {argument: role}, "inputSchema": schema})
    };
    let tools = json!([
        tool("fetch", "url", "fetch-url"),
        tool("read", "path", "read-path")
    ]);
    // As Cedar has it, from text.
    let [policy, annotations, invariants] =
        [&policy, &json!({"servers": {"s": {"tools": tools}}}), invariants].map(Value::to_string);
    Engine::builder()
        .part(DocumentKind::Policy, policy.as_str())
        .part(DocumentKind::Annotations, annotations.as_str())
        .part(DocumentKind::Invariants, invariants.as_str())
        .build(&LinklessHost::new("/home/u", "/"))
        .expect("an engine")
}

/// The answer, and how long it took until the analysis began.
fn own_answer(question: Question, count: usize) -> (bool, Duration) {
    let begun = Instant::now();
    let never = |directory: &str| json!([{"never": {"decision": ["allow", "escalate"], "roles": "read-path", "within": directory}}]);
    let (other, invariants) = match question {
        Question::OtherOrder => (Some(places(count, true, false)), json!([])),
        Question::OneDiffers => (Some(places(count, true, true)), json!([])),
        Question::NeverElsewhere => (None, never("/etc")),
        Question::NeverThere => (None, never("/srv/1/data")),
    };
    let one = engine(&places(count, false, false), &invariants);
    let other = other.map(|places| engine(&places, &invariants));
    let asked = begun.elapsed();
    let Some(other) = other else {
        return match check_invariants(&one, None, &|_| {})
            .first()
            .map(|found| &found.outcome)
        {
            Some(Outcome::Proven { .. }) => (true, asked),
            Some(Outcome::Refuted { .. }) => (false, asked),
            found => panic!("{found:?}"),
        };
    };
    let comparison = Comparison::new(&one, &other);
    let is_equal = comparison.tools().into_iter().all(|(server, tool)| {
        let changes = comparison.tool(server, tool).expect("a tool");
        assert!(changes.unknown.is_empty(), "{:?}", changes.unknown);
        changes.looser.is_empty() && changes.stricter.is_empty()
    });
    (is_equal, asked)
}

/// Times of one question: until it is asked, and until it is answered.
#[derive(Default)]
struct Times {
    asked: Vec<Duration>,
    answered: Vec<Duration>,
}

impl Times {
    fn add(&mut self, begun: Instant, asked: Duration) {
        self.answered.push(begun.elapsed());
        self.asked.push(asked);
    }

    fn shown(&mut self) -> String {
        format!(
            "{:.1?} | {:.1?}",
            median(&mut self.asked),
            median(&mut self.answered)
        )
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(compare());
}

async fn compare() {
    let given: Vec<usize> = std::env::args()
        .skip(1)
        .map(|one| one.parse().expect("a number"))
        .collect();
    let counts = match given.is_empty() {
        true => vec![10, 36, 100, 300, 1_000],
        false => given,
    };
    let mut cedar = Cedar::new();
    // The solver is up, and what it takes to ask it anything at all is known.
    cedar.answer(Question::OneDiffers, 2).await;
    println!("| rules | question | Cedar: asked after | answered | here: asked after | answered | times |");
    println!("|---:|---|---:|---:|---:|---:|---:|");
    for count in counts {
        for (question, name, expected) in Question::ALL {
            let (mut theirs, mut ours) = (Times::default(), Times::default());
            for _ in 0..RUNS {
                let begun = Instant::now();
                let Ok((answer, asked)) = tokio::time::timeout(MOST, cedar.answer(question, count)).await
                else {
                    // Its unfinished work would be in the way of the next question.
                    cedar = Cedar::new();
                    break;
                };
                theirs.add(begun, asked);
                assert_eq!(answer, expected, "Cedar: {count} rules, {name}");
                let begun = Instant::now();
                let (answer, asked) = own_answer(question, count);
                ours.add(begun, asked);
                assert_eq!(answer, expected, "here: {count} rules, {name}");
            }
            if ours.answered.len() < RUNS {
                println!("| {count} | {name} | | more than {MOST:?} | | | |");
                continue;
            }
            let (their_cells, our_cells) = (theirs.shown(), ours.shown());
            let ratio = median(&mut theirs.answered).div_duration_f64(median(&mut ours.answered));
            println!("| {count} | {name} | {their_cells} | {our_cells} | {ratio:.0} |");
        }
    }
}
