//! A scenario whose every part is right, and the place where it is judged.

use std::sync::Arc;

use callgate_authoring::scenario::{Scenario, ScenarioPart, ScenarioPlace, read_scenarios};
use callgate_engine::bind::{Call, CallError};
use callgate_engine::diagnostic::{Code, Diagnostic};
use callgate_engine::host::{Host, Recording};
use callgate_engine::world::Context;
use callgate_virtual_host::{Machine, VirtualHost};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A host that judges and analyses share.
pub type Shared = Arc<dyn Host + Send + Sync>;

/// A scenario whose every part is right.
pub struct Case {
    /// The scenario.
    pub scenario: Scenario,
    /// The server of its call.
    pub server: String,
    /// The tool of its call.
    pub tool: String,
    /// Where it is judged; `None` for wherever such scenarios are.
    host: Option<Shared>,
}

/// Reads the text of a file of scenarios.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_cases(text: &str) -> Result<Vec<Case>, Vec<Diagnostic>> {
    let (mut cases, mut faults) = (Vec::new(), Vec::new());
    for scenario in read_scenarios(text)? {
        match Case::new(scenario) {
            Ok(case) => cases.push(case),
            // A fault of the file is reported once.
            Err(fault) if faults.contains(&fault) => {}
            Err(fault) => faults.push(fault),
        }
    }
    match faults.is_empty() {
        true => Ok(cases),
        false => Err(faults),
    }
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
    pub fn place(&self) -> Option<(String, &Shared)> {
        let key = match self.scenario.place.as_ref()? {
            ScenarioPlace::World(part) => format!("world {}", part.text),
            ScenarioPlace::Recording(part) => format!("recording {}", part.text),
        };
        Some((key, self.host.as_ref()?))
    }

    /// Its call, in its context.
    ///
    /// # Errors
    /// When the text is not a call, which it was when the file was read.
    pub fn call(&self) -> Result<Call<'_>, CallError> {
        let call = Call::from_json(&self.scenario.call.text)?;
        match &self.scenario.context {
            Some(context) => call.within_json(&context.text),
            None => Ok(call),
        }
    }

    /// Its name, or the call.
    pub fn title(&self) -> String {
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
    pub fn line(&self) -> usize {
        self.scenario.call.position.line
    }
}

fn host(place: &ScenarioPlace) -> Result<Shared, Diagnostic> {
    let (host, part): (Shared, _) = match place {
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
