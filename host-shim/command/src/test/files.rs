//! The files of scenarios: what each holds, and everything that is wrong with them.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_authoring::scenario::{Scenario, ScenarioPart, ScenarioPlace, read_scenarios};
use callgate_engine::bind::{Call, CallError};
use callgate_engine::diagnostic::{Code, Diagnostic};
use callgate_engine::document::{MOST_FILE_BYTES, document_text};
use callgate_engine::host::{Host, Recording};
use callgate_engine::world::Context;
use callgate_host::{Fault, Machine, VirtualHost};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::terminal::Failure;

/// A file of scenarios.
pub(super) struct File {
    pub(super) name: String,
    pub(super) cases: Vec<Case>,
}

/// A scenario whose every part is right.
pub(super) struct Case {
    pub(super) scenario: Scenario,
    pub(super) server: String,
    pub(super) tool: String,
    /// Where it is judged; `None` for wherever such scenarios are.
    pub(super) host: Option<Arc<dyn Host + Send + Sync>>,
}

impl File {
    pub(super) fn has_context(&self) -> bool {
        self.cases.iter().any(|case| case.scenario.context.is_some())
    }

    /// # Errors
    /// Everything that is wrong with any of the files: nothing is left out.
    pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<Self>, Failure> {
        let (mut files, mut faults) = (Vec::new(), Vec::new());
        for path in paths {
            let name = match is_standard_input(path) {
                true => "standard input".to_owned(),
                false => path.display().to_string(),
            };
            match read(path)? {
                Ok(cases) => files.push(Self { name, cases }),
                Err(found) => faults.extend(found.into_iter().map(|diagnostic| Fault {
                    file: Some(name.clone()),
                    diagnostic,
                })),
            }
        }
        match faults.is_empty() {
            true => Ok(files),
            false => Err(Failure::Refused(faults)),
        }
    }
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

fn read(path: &Path) -> Result<Result<Vec<Case>, Vec<Diagnostic>>, Failure> {
    let mut bytes = Vec::new();
    let most = MOST_FILE_BYTES as u64 + 1;
    let read = match is_standard_input(path) {
        true => std::io::stdin().lock().take(most).read_to_end(&mut bytes),
        false => std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    if let Err(error) = read {
        return Err(Failure::Helped {
            message: format!("cannot read `{}`: {error}", path.display()),
            help: "expected a file of scenarios".to_owned(),
        });
    }
    let scenarios = document_text(bytes, "scenarios").map_err(|fault| vec![fault]);
    let scenarios = match scenarios.and_then(|text| read_scenarios(&text)) {
        Ok(scenarios) => scenarios,
        Err(faults) => return Ok(Err(faults)),
    };
    let (mut cases, mut faults) = (Vec::new(), Vec::new());
    for scenario in scenarios {
        match Case::new(scenario) {
            Ok(case) => cases.push(case),
            // A fault of the file is reported once.
            Err(fault) if faults.contains(&fault) => {}
            Err(fault) => faults.push(fault),
        }
    }
    Ok(match faults.is_empty() {
        true => Ok(cases),
        false => Err(faults),
    })
}

impl Case {
    fn new(scenario: Scenario) -> Result<Self, Diagnostic> {
        let call = Call::from_json(&scenario.call.text).map_err(|error| {
            let message = format!("the text is not a call: {error}");
            fault(&scenario.call, message)
        })?;
        let (server, tool) = (call.server().to_owned(), call.tool().to_owned());
        if let Some(context) = &scenario.context {
            Context::from_json(&context.text).map_err(|why| fault(context, why))?;
        }
        let host = scenario.place.as_ref().map(host).transpose()?;
        Ok(Self {
            scenario,
            server,
            tool,
            host,
        })
    }

    /// Where it is judged, if that is a place of its own: what tells it from others, and its host.
    pub(super) fn place(&self) -> Option<(String, &Arc<dyn Host + Send + Sync>)> {
        let key = match self.scenario.place.as_ref()? {
            ScenarioPlace::World(part) => format!("world {}", part.text),
            ScenarioPlace::Recording(part) => format!("recording {}", part.text),
        };
        Some((key, self.host.as_ref()?))
    }

    /// Its call, in its context.
    pub(super) fn call(&self) -> Result<Call<'_>, Failure> {
        let invalid = |error: CallError| Failure::Invalid(error.to_string());
        let call = Call::from_json(&self.scenario.call.text).map_err(invalid)?;
        match &self.scenario.context {
            Some(context) => call.within_json(&context.text).map_err(invalid),
            None => Ok(call),
        }
    }

    /// Its name, or the call.
    pub(super) fn title(&self) -> String {
        if let Some(name) = &self.scenario.name {
            return name.clone();
        }
        let call: Value = serde_json::from_str(&self.scenario.call.text).unwrap_or_default();
        match call.get("arguments") {
            Some(arguments) => format!("{}/{} {arguments}", self.server, self.tool),
            None => format!("{}/{}", self.server, self.tool),
        }
    }

    /// The line that its call stands on.
    pub(super) fn line(&self) -> usize {
        self.scenario.call.position.line
    }
}

fn host(place: &ScenarioPlace) -> Result<Arc<dyn Host + Send + Sync>, Diagnostic> {
    let (host, part): (Arc<dyn Host + Send + Sync>, _) = match place {
        ScenarioPlace::World(part) => {
            // Read as text for the places of faults, and as a value because that is stricter.
            parsed::<Machine>(part)?;
            let host = VirtualHost::from_value(&parsed(part)?);
            let host = host.map_err(|error| fault(part, error.to_string()))?;
            (Arc::new(host), part)
        }
        ScenarioPlace::Recording(part) => (Arc::new(parsed::<Recording>(part)?), part),
    };
    for (what, directory) in [("home", host.home_dir()), ("current", host.current_dir())] {
        let is_plain = directory
            .split('/')
            .skip(1)
            .all(|name| !matches!(name, "." | ".."));
        if !directory.starts_with('/') || directory.contains('\0') || !is_plain {
            let message = format!(
                "found `{directory}` as the {what} directory, expected an absolute path without `.` and `..`"
            );
            return Err(fault(part, message));
        }
    }
    Ok(host)
}

/// The thing that a part describes, or its fault and where that is.
fn parsed<T: DeserializeOwned>(part: &ScenarioPart) -> Result<T, Diagnostic> {
    serde_json::from_str(&part.text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let place = format!(" at line {line} column {column}");
        Diagnostic {
            position: Some(part.position_of(line, column)),
            ..fault(part, message.replacen(&place, "", 1))
        }
    })
}

fn fault(part: &ScenarioPart, message: String) -> Diagnostic {
    Diagnostic {
        position: Some(part.position),
        ..Diagnostic::error(Code::InvalidValue, &*part.path, message)
    }
}
