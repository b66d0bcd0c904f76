//! The engines, machines and calls of the suite's own cases, which the questions are made of.

use std::path::Path;

use serde_json::Value;

use crate::file::{FileError, file};
use crate::subject::{
    Batch, EngineParts, Need, Operation, Outcome, Subject, SubjectKind, Surroundings, WorldQuestion,
};

/// One engine of a case file, with the calls that the file asks it about.
pub(super) struct Setting {
    pub(super) surroundings: Surroundings,
    pub(super) engine: EngineParts,
    pub(super) questions: Vec<Question>,
}

/// A call of a case.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) call: Value,
    pub(super) context: Option<String>,
    pub(super) approvals: Option<String>,
}

/// The settings of case files, whose cases are not judged.
pub(super) fn gather(files: &[impl AsRef<Path>]) -> Result<Vec<Setting>, FileError> {
    let mut gathering = Gathering::default();
    for path in files {
        file(&mut gathering, path.as_ref(), &mut |_| {})?;
    }
    Ok(gathering.settings)
}

#[derive(Default)]
struct Gathering {
    settings: Vec<Setting>,
}

impl Subject for Gathering {
    fn name(&self) -> &str {
        "gathering"
    }

    fn kind(&self) -> SubjectKind {
        SubjectKind::Native
    }

    fn offers(&self, need: Need) -> bool {
        // What the native host and a component both have.
        !matches!(
            need,
            Need::IgnorableFolding | Need::Windows | Need::Free | Need::Fuel | Need::Functions
        )
    }

    fn run(&mut self, batch: &Batch) -> Vec<Outcome> {
        if let Some(engine) = &batch.engine
            && is_steady(&batch.surroundings)
        {
            let questions = batch.operations.iter().filter_map(question);
            self.settings.push(Setting {
                surroundings: batch.surroundings.clone(),
                engine: engine.clone(),
                questions: questions.collect(),
            });
        }
        batch
            .operations
            .iter()
            .map(|_| Outcome::Refused("not judged".to_owned()))
            .collect()
    }
}

/// Returns `true` for a machine that answers alike whenever it is asked. A recording answers nothing but what was asked
/// when it was made.
fn is_steady(surroundings: &Surroundings) -> bool {
    match surroundings {
        Surroundings::Machine(machine) => machine.get("realpath").is_none(),
        Surroundings::Recording(_) => false,
    }
}

fn question(operation: &Operation) -> Option<Question> {
    let (request, context, approvals) = match operation {
        Operation::Evaluate { request, .. }
        | Operation::Gate { request, .. }
        | Operation::Explain { request } => (request, None, None),
        Operation::World(
            WorldQuestion::Gate { request, context } | WorldQuestion::Evaluate { request, context },
        ) => (request, context.clone(), None),
        Operation::Approved(asked) => (&asked.request, asked.context.clone(), asked.approvals.clone()),
        _ => return None,
    };
    let call: Value = serde_json::from_str(request).ok()?;
    call.is_object().then_some(Question {
        call,
        context,
        approvals,
    })
}
