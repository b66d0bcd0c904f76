//! How long Cedar's analysis and this one take to answer the same question about the same policy, in one run.
//!
//! `CVC5=PROGRAM cargo run --release` in this folder, on an otherwise idle machine; the program is cvc5, or `solver.py` here for who
//! has only its library. Numbers as arguments are the numbers of rules, by default 36, 200 and 1,000.
//!
//! The rules say what both can say (`policies.rs`). Cedar is asked twice: with paths, hosts and branches as texts, where a directory
//! is `like`, and as entities, where it is `in`. A text is taken for a path in canonical form, which Cedar leaves to its caller. Each
//! time is from the policy's text to the answer: reading it, making what is asked, asking. Both must answer alike, and as is right;
//! and the engines of both must decide about each call that one of them shows as it says.

mod ours;
mod policies;
mod theirs;

use std::time::{Duration, Instant};

use policies::{ALL, Answer, Asked, Example, Policy, Question, Shown};
use theirs::{Cedar, Form};

/// How often each question is asked; the medians are shown.
const RUNS: usize = 5;

/// How long a question may take.
const MOST: Duration = Duration::from_secs(120);

/// A question that takes longer is asked once, and not of more rules.
const LONG: Duration = Duration::from_secs(5);

/// Times of one question: until it is asked, and until it is answered.
#[derive(Default)]
struct Times {
    asked: Vec<Duration>,
    answered: Vec<Duration>,
    /// There was no answer in time.
    is_over: bool,
}

impl Times {
    fn add(&mut self, begun: Instant, asked: Duration) {
        self.answered.push(begun.elapsed());
        self.asked.push(asked);
    }

    fn is_enough(&self) -> bool {
        self.answered.len() >= RUNS || self.answered.last().is_some_and(|last| *last > LONG)
    }

    fn answered(&mut self) -> Option<Duration> {
        median(&mut self.answered)
    }

    fn cell(&mut self) -> String {
        match self.answered() {
            Some(time) => format!("{time:.1?}"),
            None if self.is_over => format!("more than {MOST:?}"),
            None => "–".to_owned(),
        }
    }

    /// The time after it is asked.
    fn solver(&mut self) -> String {
        let times = self.answered().zip(median(&mut self.asked));
        times.map_or("–".to_owned(), |(answered, asked)| {
            format!("{:.1?}", answered.saturating_sub(asked))
        })
    }
}

fn median(times: &mut [Duration]) -> Option<Duration> {
    times.sort();
    times.get(times.len() / 2).copied()
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
        true => vec![36, 200, 1_000],
        false => given,
    };
    println!(
        "| rules | question | answer | Cedar, texts | of that the solver | Cedar, entities | here | times |"
    );
    println!("|---:|---|---|---:|---:|---:|---:|---:|");
    hold_difference();
    let mut table = Table::default();
    for count in counts {
        for (at, asked) in ALL.iter().enumerate() {
            table.row(count, at, asked).await;
        }
    }
    println!("\n`–`: not asked, since it took more than {LONG:?} with fewer rules.");
    println!(
        "{} calls that one of the two shows are decided alike by the engines of both.",
        table.shown
    );
}

#[derive(Default)]
struct Table {
    /// The questions that took Cedar long, by their places.
    long: Vec<(usize, Form)>,
    /// Calls that one of the two showed.
    shown: usize,
}

impl Table {
    async fn row(&mut self, count: usize, at: usize, asked: &Asked) {
        let question = (asked.question)(count);
        let (answer, mut texts) = self.theirs(Form::Texts, at, asked, &question).await;
        let (_, mut entities) = self.theirs(Form::Entities, at, asked, &question).await;
        let (own, mut ours) = ours(asked, &question);
        if let Some(answer) = answer {
            self.hold(&question, &answer, &own);
        }
        let is_same = asked.is_so == asked.is_so_of_entities;
        let is_so = |is_so| if is_so { "yes" } else { "no" };
        let answer = match is_same {
            true => is_so(asked.is_so).to_owned(),
            false => format!(
                "{}; of entities {}",
                is_so(asked.is_so),
                is_so(asked.is_so_of_entities)
            ),
        };
        // Against the form that is faster, where both say the same.
        let faster = match entities.answered() {
            Some(entities) if is_same => texts.answered().map(|texts| texts.min(entities)),
            _ => texts.answered(),
        };
        let times = faster
            .zip(ours.answered())
            .map_or(String::new(), |(theirs, ours)| {
                format!("{:.0}", theirs.div_duration_f64(ours))
            });
        println!(
            "| {count} | {} | {answer} | {} | {} | {} | {} | {times} |",
            asked.name,
            texts.cell(),
            texts.solver(),
            entities.cell(),
            ours.cell(),
        );
    }

    /// Cedar's answer, unless it takes too long.
    async fn theirs(
        &mut self,
        form: Form,
        at: usize,
        asked: &Asked,
        question: &Question,
    ) -> (Option<Answer>, Times) {
        let (mut last, mut times) = (None, Times::default());
        if self.long.contains(&(at, form)) {
            return (last, times);
        }
        let mut cedar = Cedar::new(form, MOST);
        // The solver is up, which is not what is timed.
        cedar.answer(&(ALL[1].question)(2)).await;
        let expected = match form {
            Form::Texts => asked.is_so,
            Form::Entities => asked.is_so_of_entities,
        };
        while !times.is_enough() {
            let begun = Instant::now();
            let answer = tokio::time::timeout(MOST, cedar.answer(question)).await;
            let Ok((answer, before)) = answer else {
                times.is_over = true;
                break;
            };
            times.add(begun, before);
            assert_eq!(answer.is_none(), expected, "Cedar: {}, {answer:?}", asked.name);
            last = Some(answer);
        }
        if times.is_over || times.answered().is_some_and(|time| time > LONG) {
            self.long.push((at, form));
        }
        (last, times)
    }

    /// Holds what each shows against the engine of the other.
    fn hold(&mut self, question: &Question, theirs: &Answer, ours: &Answer) {
        match (theirs, ours) {
            (Some(Shown::Call(theirs)), Some(Shown::Call(ours))) => {
                hold_call(question, theirs);
                hold_call(question, ours);
                self.shown += 2;
            }
            (Some(Shown::Rules(theirs)), Some(Shown::Rules(ours))) => {
                assert_eq!(theirs, ours, "rules that decide nothing");
            }
            _ => (),
        }
    }
}

fn ours(asked: &Asked, question: &Question) -> (Answer, Times) {
    let (mut last, mut times) = (None, Times::default());
    while !times.is_enough() {
        let begun = Instant::now();
        let (answer, before) = ours::answer(question);
        times.add(begun, before);
        assert_eq!(answer.is_none(), asked.is_so, "here: {}, {answer:?}", asked.name);
        last = answer;
    }
    (last, times)
}

/// The engines differ about a path that is not in canonical form: Cedar compares the text that it is given. No answer of an analysis
/// depends on it, as long as only canonical paths are asked about.
fn hold_difference() {
    let policy = policies::policy(2);
    let example = Example {
        tool: "read".to_owned(),
        value: "/srv/1/data/../../../etc/passwd".to_owned(),
    };
    assert!(theirs::allows(&policy, &example));
    assert!(!ours::allows(&policy, &example));
}

/// Asks both engines about a call that is shown.
fn hold_call(question: &Question, example: &Example) {
    let policies: Vec<&Policy> = match question {
        Question::Equal(old, new) | Question::NotLooser(old, new) => vec![old, new],
        Question::Never(policy, _) | Question::AllDecide(policy) => vec![policy],
    };
    let theirs: Vec<bool> = policies
        .iter()
        .map(|policy| theirs::allows(policy, example))
        .collect();
    let ours: Vec<bool> = policies
        .iter()
        .map(|policy| ours::allows(policy, example))
        .collect();
    assert_eq!(theirs, ours, "{example:?}");
    let shows = match question {
        Question::Equal(..) => theirs[0] != theirs[1],
        Question::NotLooser(..) => !theirs[0] && theirs[1],
        Question::Never(..) | Question::AllDecide(_) => theirs[0],
    };
    assert!(shows, "{example:?}");
}
