//! One case: its operations, and the comparison of their outcomes.

use serde_json::{Value, json};

use super::expected::Expected;
use super::fields::Fields;
use super::secrets::Secrets;
use crate::subject::{ApprovedCall, ApprovedQuestion, Operation, Outcome, WorldQuestion};

pub(super) struct Case {
    pub(super) why: String,
    pub(super) op: String,
    pub(super) operations: Vec<Operation>,
    expect: Expected,
    has_world: bool,
}

impl Case {
    /// # Errors
    /// A member is missing, malformed or unknown, or the case expects nothing.
    pub(super) fn read(mut fields: Fields, has_world: bool) -> Result<Self, String> {
        let op: String = fields.take("op")?;
        let why = fields.optional("why")?.unwrap_or_default();
        let expect: Expected = fields.take("expect")?;
        if expect.is_empty() {
            return Err(format!("`{op}` expects nothing"));
        }
        let operations = operations(&op, &mut fields, has_world).and_then(|operations| {
            fields.finish()?;
            Ok(operations)
        });
        Ok(Self {
            operations: operations.map_err(|message| format!("`{op}`: {message}"))?,
            why,
            op,
            expect,
            has_world,
        })
    }

    /// Combines the outcomes of the operations into the one that `expect` is about.
    pub(super) fn outcome(&self, outcomes: Vec<Outcome>) -> Outcome {
        let mut answers = Vec::new();
        for outcome in outcomes {
            match outcome {
                Outcome::Answer(answer) => answers.push(answer),
                Outcome::Refused(_) | Outcome::Fault(_) => return outcome,
            }
        }
        match (self.op.as_str(), answers.as_mut_slice()) {
            ("explain", [verdict, explanation]) => explained(verdict, explanation.take()),
            ("explain" | "explainGate", [both]) => explained(&both["verdict"], both["explanation"].clone()),
            ("evaluate", [both]) if both.get("verdict").is_some() => Outcome::Answer(both["verdict"].take()),
            (_, [answer]) => Outcome::Answer(answer.take()),
            (_, answers) => Outcome::Fault(format!("found {} outcomes, expected one", answers.len())),
        }
    }

    /// The expected outcome, if the actual one is different or contains a path that only the host may know.
    pub(super) fn check(&self, outcome: &Outcome, secrets: &Secrets) -> Result<(), Value> {
        self.expect.check(outcome)?;
        let Outcome::Answer(answer) = outcome else {
            return Ok(());
        };
        match secrets.named_in(&self.shown(answer)) {
            Some(secret) => Err(json!({"doesNotName": secret})),
            None => Ok(()),
        }
    }

    /// The part of the answer that an agent sees, without what the agent itself gave.
    fn shown(&self, answer: &Value) -> String {
        match self.op.as_str() {
            _ if !self.has_world => String::new(),
            "resolve" => answer["reply"].to_string(),
            "enforce" | "evaluate" => answer.to_string(),
            "gate" => {
                let mut explanation = answer["explanation"].clone();
                for value in explanation["values"].as_array_mut().into_iter().flatten() {
                    value["raw"] = Value::Null;
                }
                format!("{}{explanation}", answer["verdict"])
            }
            _ => String::new(),
        }
    }
}

/// The explanation, if judging gives the same verdict.
fn explained(verdict: &Value, explanation: Value) -> Outcome {
    if explanation["verdict"] == *verdict {
        Outcome::Answer(explanation)
    } else {
        let other = &explanation["verdict"];
        Outcome::Fault(format!("judging gives {verdict}, explaining gives {other}"))
    }
}

fn operations(op: &str, fields: &mut Fields, has_world: bool) -> Result<Vec<Operation>, String> {
    if let Some(question) = approved(op, fields) {
        return Ok(vec![Operation::Approved(ApprovedCall {
            ask: question,
            request: fields.text("call")?,
            context: fields.optional_text("context"),
            container_workspace_dir: fields.optional("containerWorkspaceDir")?,
            approvals: fields.optional_text("approvals"),
            offered_for: fields.optional_text("offeredFor"),
            now: fields.optional("now")?,
        })]);
    }
    let operation = match op {
        "gate" => gate(fields, has_world)?,
        "evaluate" => {
            let (request, context) = (fields.text("call")?, fields.optional_text("context"));
            match context {
                Some(_) => Operation::World(WorldQuestion::Evaluate { request, context }),
                None => Operation::Evaluate { request, times: 1 },
            }
        }
        "explain" => {
            let (request, context) = (fields.text("call")?, fields.optional_text("context"));
            if context.is_none() {
                let times = 1;
                return Ok(vec![
                    Operation::Evaluate {
                        request: request.clone(),
                        times,
                    },
                    Operation::Explain { request },
                ]);
            }
            Operation::World(WorldQuestion::Evaluate { request, context })
        }
        "resolve" => Operation::World(WorldQuestion::Resolve {
            address: fields.take("address")?,
            require_exists: fields.optional("requireExists")?.unwrap_or(true),
            context: fields.optional_text("context"),
        }),
        "enforce" => Operation::World(WorldQuestion::Enforce {
            mode: fields.optional("mode")?,
            tool: fields.take("tool")?,
            command: fields.take("command")?,
            root: fields.take("root")?,
            subdirectory: fields.optional("subdirectory")?,
            address: fields.optional("address")?,
            context: fields.optional_text("context"),
        }),
        "references" => Operation::World(WorldQuestion::References {
            steps: fields.take("steps")?,
        }),
        "diagnostics" => Operation::World(WorldQuestion::Diagnostics),
        "semantics" => Operation::Semantics {
            server: fields.take("server")?,
            tool: fields.take("tool")?,
        },
        "warnings" => Operation::Diagnostics,
        "construct" => Operation::Construct,
        function => Operation::Function {
            name: function.to_owned(),
            args: fields.take("args")?,
        },
    };
    Ok(vec![operation])
}

/// The question with approvals, if the case has any.
fn approved(op: &str, fields: &Fields) -> Option<ApprovedQuestion> {
    let has_approvals = ["approvals", "offeredFor", "now"]
        .iter()
        .any(|key| fields.has(key));
    match op {
        "offer" => Some(ApprovedQuestion::Offer),
        "explainGate" => Some(ApprovedQuestion::ExplainGate),
        "gate" if has_approvals => Some(ApprovedQuestion::Gate),
        "evaluate" | "explain" if has_approvals => Some(ApprovedQuestion::Evaluate),
        _ => None,
    }
}

/// If the engine has a world, the explanation for an agent is requested too.
fn gate(fields: &mut Fields, has_world: bool) -> Result<Operation, String> {
    let (request, context) = (fields.text("call")?, fields.optional_text("context"));
    if has_world || context.is_some() {
        return Ok(Operation::World(WorldQuestion::Gate { request, context }));
    }
    Ok(Operation::Gate {
        request,
        container_workspace_dir: fields.optional("containerWorkspaceDir")?,
    })
}
