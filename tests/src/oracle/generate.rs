//! Questions: engines of the suite's cases with their documents changed, and calls with their arguments changed.

use std::path::Path;

use fastrand::Rng;
use serde_json::{Map, Value};

use super::gather::{Question, Setting, gather};
use crate::file::FileError;
use crate::subject::{ApprovedCall, ApprovedQuestion, Batch, EngineParts, Operation, WorldQuestion};

/// How many calls an engine is asked about.
const CALLS: usize = 40;

/// Batches without end, the same for the same seed.
pub struct Questions {
    settings: Vec<Setting>,
    /// Texts of all calls, which take each other's places.
    texts: Vec<String>,
    rng: Rng,
}

impl Questions {
    /// Questions made of the cases in `files`.
    ///
    /// # Errors
    /// A file cannot be read, or has no cases.
    pub fn new(files: &[impl AsRef<Path>], seed: u64) -> Result<Self, FileError> {
        let mut settings = gather(files)?;
        settings.retain(|setting| !setting.questions.is_empty());
        let mut texts = Vec::new();
        for question in settings.iter().flat_map(|setting| &setting.questions) {
            collect(&question.call["arguments"], &mut texts);
        }
        texts.sort();
        texts.dedup();
        // Texts at the limits take most of the time and say little.
        texts.retain(|text| text.len() < 500);
        Ok(Self {
            settings,
            texts,
            rng: Rng::with_seed(seed),
        })
    }

    fn batch(&mut self) -> Option<Batch> {
        let rng = &mut self.rng;
        let setting = self.settings.get(rng.usize(..self.settings.len()))?;
        let mut engine = setting.engine.clone();
        // A changed document is refused more often than not, and then no call is judged.
        for _ in 0..[0, 0, 0, 1, 1, 2][rng.usize(..6)] {
            engine = changed_engine(&engine, &self.texts, rng);
        }
        let mut operations = vec![Operation::Construct];
        for _ in 0..CALLS {
            let mut question = setting
                .questions
                .get(rng.usize(..setting.questions.len()))?
                .clone();
            // Another call of the same file names the same tools more often than not.
            for _ in 0..rng.usize(..3) {
                change(&mut question.call["arguments"], &self.texts, rng);
            }
            let other = setting.questions.get(rng.usize(..setting.questions.len()))?;
            operations.push(operation(question, other, rng));
        }
        Some(Batch {
            surroundings: setting.surroundings.clone(),
            engine: Some(engine),
            operations,
        })
    }
}

impl Iterator for Questions {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        self.batch()
    }
}

/// Asks about a call in one of the ways that hosts have.
fn operation(question: Question, other: &Question, rng: &mut Rng) -> Operation {
    let Question {
        call,
        context,
        approvals,
    } = question;
    let request = call.to_string();
    if context.is_some() {
        return Operation::World(match rng.bool() {
            true => WorldQuestion::Gate { request, context },
            false => WorldQuestion::Evaluate { request, context },
        });
    }
    match rng.u8(..10) {
        0 => Operation::Evaluate { request, times: 1 },
        1..=3 => {
            // What is offered for a call covers the same call, and may cover one that is like it.
            let offered = if rng.bool() {
                call.to_string()
            } else {
                other.call.to_string()
            };
            Operation::Approved(ApprovedCall {
                ask: match rng.u8(..4) {
                    0 => ApprovedQuestion::Offer,
                    1 => ApprovedQuestion::Evaluate,
                    _ => ApprovedQuestion::Gate,
                },
                request,
                context: None,
                container_workspace_dir: None,
                approvals,
                offered_for: Some(offered),
                now: Some(Value::from(1_700_000_000_000_u64)),
            })
        }
        _ => Operation::Gate {
            request,
            container_workspace_dir: None,
        },
    }
}

/// The engine with one of its documents changed in one place.
fn changed_engine(engine: &EngineParts, texts: &[String], rng: &mut Rng) -> EngineParts {
    let mut changed = EngineParts::default();
    let count = engine.iter().count();
    let chosen = if count == 0 { 0 } else { rng.usize(..count) };
    for (at, (name, text)) in engine.iter().enumerate() {
        let document = (at == chosen)
            .then(|| serde_json::from_str::<Value>(text).ok())
            .flatten();
        let text = match document {
            Some(mut document) => {
                change(&mut document, texts, rng);
                document.to_string()
            }
            None => text.to_owned(),
        };
        changed.set(name, text);
    }
    changed
}

/// Changes a value in one place: a member or an item goes, comes twice or moves, a text becomes another.
fn change(value: &mut Value, texts: &[String], rng: &mut Rng) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let at = rng.usize(..members.len());
            let Some(name) = members.keys().nth(at).cloned() else {
                return;
            };
            match rng.u8(..12) {
                0 => drop(members.shift_remove(&name)),
                1 => *members = turned(members),
                _ => {
                    if let Some(member) = members.get_mut(&name) {
                        change(member, texts, rng);
                    }
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let at = rng.usize(..items.len());
            match rng.u8(..8) {
                0 => drop(items.remove(at)),
                1 => {
                    let other = rng.usize(..items.len());
                    items.swap(at, other);
                }
                2 => items.extend(items.get(at).cloned()),
                _ => {
                    if let Some(item) = items.get_mut(at) {
                        change(item, texts, rng);
                    }
                }
            }
        }
        leaf => *leaf = other_leaf(leaf, texts, rng),
    }
}

/// The members in the reverse order.
fn turned(members: &Map<String, Value>) -> Map<String, Value> {
    let members = members.iter().rev();
    members
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn other_leaf(leaf: &Value, texts: &[String], rng: &mut Rng) -> Value {
    let text = rng.choice(texts).cloned().unwrap_or_default();
    match rng.u8(..12) {
        0 => Value::Null,
        1 => Value::Bool(rng.bool()),
        2 => Value::from(rng.i32(-2..3)),
        3 => Value::Array(vec![leaf.clone(), Value::from(text)]),
        4 => match leaf.as_str() {
            Some(given) => Value::from(format!("{given}/{text}")),
            None => Value::from(text),
        },
        5 => match leaf.as_str() {
            Some(given) => Value::from(given.to_uppercase()),
            None => Value::from(text),
        },
        _ => match ["allow", "deny", "escalate"]
            .iter()
            .find(|word| leaf.as_str() == Some(word))
        {
            Some(_) => Value::from(["allow", "deny", "escalate"][rng.usize(..3)]),
            None => Value::from(text),
        },
    }
}

/// The texts of a value.
fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.values().for_each(|member| collect(member, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
