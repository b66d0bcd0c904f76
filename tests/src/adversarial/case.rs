//! The shape of a case, and the operations that it becomes.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::directives::expand;
use super::judge::Must;
use crate::subject::{EngineParts, Need, Operation, Subject, SubjectKind};

/// One line of the file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) class: String,
    pub(super) level: Level,
    #[serde(default)]
    pub(super) raw_only: bool,
    #[serde(rename = "why")]
    _why: String,
    #[serde(rename = "source")]
    _source: String,
    host: CaseHost,
    pub(super) setup: String,
    pub(super) world: Option<Value>,
    #[serde(default)]
    pub(super) engine: Map<String, Value>,
    pub(super) input: Input,
    must: Must,
    needs: Option<CaseNeed>,
    /// The defaults that the case is about, where it is about one set of them.
    defaults: Option<Defaults>,
    #[serde(default, rename = "reference")]
    _reference: Value,
    #[serde(default, rename = "note")]
    _note: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// Every gate must do so.
    Must,
    /// Defence in depth, or a documented choice.
    Should,
}

/// The two sets of defaults (SPEC, first page).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Defaults {
    Careful,
    Runtime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CaseHost {
    Any,
    Js,
    Wasmtime,
}

/// The names that the cases use for their needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum CaseNeed {
    #[serde(rename = "case-insensitive host flag or native realpath")]
    CaseInsensitive,
    #[serde(rename = "normalization-insensitive host flag or native realpath")]
    NormalizationInsensitive,
    #[serde(rename = "ignorable-folding host flag or native realpath")]
    IgnorableFolding,
    #[serde(rename = "windows host")]
    Windows,
    #[serde(rename = "git callback must resolve URLs too")]
    GitUrl,
    #[serde(rename = "git callback must not fall back to origin")]
    GitDefaultRemote,
    #[serde(rename = "git callback must know push semantics")]
    GitPush,
    #[serde(rename = "host runner step")]
    Script,
    #[serde(rename = "host runner: engine.free() then evaluate must throw, never allow")]
    Free,
    #[serde(rename = "host runner")]
    Fuel,
}

/// The operation on the engine.
#[derive(Debug, Deserialize, Serialize)]
#[serde(
    tag = "fn",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub(super) enum Input {
    Evaluate {
        #[serde(
            default,
            deserialize_with = "present",
            skip_serializing_if = "Option::is_none"
        )]
        request: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        js_expr: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cleanup: Option<String>,
    },
    EvaluateJson {
        raw_request: Value,
    },
    Gate {
        request: Value,
        #[serde(default)]
        container_workspace_dir: Option<String>,
    },
    Load {
        request: Value,
        #[serde(default)]
        raw: Map<String, Value>,
    },
    Script {
        steps: Vec<ScriptStep>,
    },
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "op", rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum ScriptStep {
    Evaluate {
        request: Value,
        expect: Must,
        #[serde(default = "once")]
        times: u32,
    },
    New {
        #[serde(default)]
        engine: Map<String, Value>,
    },
    Free,
    Fuel {
        #[serde(default)]
        value: Option<u64>,
    },
}

/// An operation, and its required outcome.
pub(super) struct Step {
    pub(super) operation: Operation,
    pub(super) must: Must,
}

impl Case {
    /// Returns `true` if the case is for this kind of subject, and the subject's host offers what it needs.
    ///
    /// The engine's paths are POSIX. Windows cases apply without a Windows host, to show that nothing leaks.
    pub(super) fn is_due(&self, subject: &dyn Subject) -> bool {
        let kind = match self.host {
            CaseHost::Any => true,
            CaseHost::Js => subject.kind() == SubjectKind::Js,
            CaseHost::Wasmtime => subject.kind() == SubjectKind::Wasmtime,
        };
        let need = match self.needs {
            None | Some(CaseNeed::Windows) => None,
            Some(CaseNeed::CaseInsensitive) => Some(Need::CaseInsensitive),
            Some(CaseNeed::NormalizationInsensitive) => Some(Need::NormalizationInsensitive),
            Some(CaseNeed::IgnorableFolding) => Some(Need::IgnorableFolding),
            Some(CaseNeed::GitUrl) => Some(Need::GitUrl),
            Some(CaseNeed::GitDefaultRemote) => Some(Need::GitDefaultRemote),
            Some(CaseNeed::GitPush) => Some(Need::GitPush),
            Some(CaseNeed::Script) => Some(Need::Script),
            Some(CaseNeed::Free) => Some(Need::Free),
            Some(CaseNeed::Fuel) => Some(Need::Fuel),
        };
        kind && need.is_none_or(|need| subject.offers(need))
    }

    /// The sets of defaults that the case holds under.
    pub(super) fn defaults(&self) -> Vec<Defaults> {
        match self.defaults {
            Some(one) => vec![one],
            None => vec![Defaults::Careful, Defaults::Runtime],
        }
    }

    /// The engine's options, which depend on the defaults, on the case's class and on how the world compares names.
    pub(super) fn options(&self, world: &Value, defaults: Defaults) -> Value {
        let mut options = Map::new();
        options.insert("compatibility".to_owned(), json!(defaults));
        if self.class == "arg-unknown" {
            options.insert("unknownArguments".to_owned(), json!("deny"));
        }
        let folds = ["caseInsensitive", "normalizationInsensitive", "ignorables"];
        if folds.iter().any(|flag| world["fs"][flag] == true) {
            options.insert("pathCase".to_owned(), json!("insensitive"));
        }
        Value::Object(options)
    }

    /// Documents given as strings, which need not be JSON.
    pub(super) fn raw_documents(&self) -> impl Iterator<Item = (&str, &str)> {
        let raw = match &self.input {
            Input::Load { raw, .. } => Some(raw),
            Input::Evaluate { .. }
            | Input::EvaluateJson { .. }
            | Input::Gate { .. }
            | Input::Script { .. } => None,
        };
        raw.into_iter()
            .flatten()
            .filter_map(|(name, text)| Some((name.as_str(), text.as_str()?)))
    }

    /// The operations, in order; `rebuilt` makes the engine of a script's `new` step.
    pub(super) fn steps(
        &self,
        rebuilt: impl Fn(&Map<String, Value>) -> Result<EngineParts, String>,
    ) -> Result<Vec<Step>, String> {
        let one = |operation| {
            Ok(vec![Step {
                operation,
                must: self.must.clone(),
            }])
        };
        match &self.input {
            Input::Evaluate {
                request: Some(request),
                js_expr: None,
                cleanup: None,
            } if self.raw_only => one(Operation::Gate {
                request: text(request)?,
                container_workspace_dir: None,
            }),
            Input::Evaluate {
                request: Some(request),
                js_expr: None,
                cleanup: None,
            }
            | Input::Load { request, .. } => one(evaluate(request, 1)?),
            Input::Evaluate {
                request: None,
                js_expr: Some(expression),
                cleanup,
            } => one(Operation::EvaluateJs {
                expression: expression.clone(),
                cleanup: cleanup.clone(),
            }),
            Input::Evaluate { .. } => Err("expected either `request` or `jsExpr`".to_owned()),
            Input::EvaluateJson { raw_request } => {
                let written: String = serde_json::from_str(&text(raw_request)?)
                    .map_err(|error| format!("`rawRequest` is not a text: {error}"))?;
                one(Operation::EvaluateText { text: written })
            }
            Input::Gate {
                request,
                container_workspace_dir,
            } => one(Operation::Gate {
                request: text(request)?,
                container_workspace_dir: container_workspace_dir.clone(),
            }),
            Input::Script { steps } => steps.iter().map(|step| step.step(&rebuilt)).collect(),
        }
    }
}

impl ScriptStep {
    fn step(
        &self,
        rebuilt: &impl Fn(&Map<String, Value>) -> Result<EngineParts, String>,
    ) -> Result<Step, String> {
        let silent = |operation| Step {
            operation,
            must: Must::NoCrash,
        };
        Ok(match self {
            Self::Evaluate {
                request,
                expect,
                times,
            } => Step {
                operation: evaluate(request, *times)?,
                must: expect.clone(),
            },
            Self::New { engine } => silent(Operation::Replace {
                engine: rebuilt(engine)?,
            }),
            Self::Free => silent(Operation::Free),
            Self::Fuel { value } => silent(Operation::Fuel { value: *value }),
        })
    }
}

/// Documents as the JSON text that an engine is built from.
pub(super) fn parts(documents: &Map<String, Value>, options: Value) -> Result<EngineParts, String> {
    let mut parts = EngineParts::default();
    for (name, document) in documents {
        parts.set(name, text(document)?);
    }
    if options.as_object().is_some_and(|options| !options.is_empty()) {
        parts.set("options", options.to_string());
    }
    Ok(parts)
}

fn evaluate(request: &Value, times: u32) -> Result<Operation, String> {
    Ok(Operation::Evaluate {
        request: text(request)?,
        times,
    })
}

fn text(value: &Value) -> Result<String, String> {
    expand(value).map_err(|error| error.to_string())
}

fn once() -> u32 {
    1
}

/// Reads a value that is present, even `null`, as `Some`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
