//! The answers of `callgate test`, for JavaScript.

use callgate_analysis::Analysis;
use callgate_analysis::scenarios::{
    Case, Outcome, ScenarioFile, Shared, judge_all, reached, read_cases, sum,
};
use callgate_boundary_wasm::refusal;
use callgate_engine::bind::CallError;
use callgate_engine::bundle::read_bundle;
use callgate_engine::diagnostic::{Code, Diagnostic};
use callgate_engine::document::document_text;
use callgate_engine::engine::{Audience, BuildError, Engine, LinklessHost, Request};
use callgate_engine::host::Host;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::analysis::{Listener, WasmPolicy};

/// Files of scenarios.
#[wasm_bindgen]
#[derive(Default)]
pub struct WasmScenarios {
    files: Vec<ScenarioFile>,
}

#[wasm_bindgen]
impl WasmScenarios {
    /// No file yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file by the name that it has in answers.
    ///
    /// # Errors
    /// Everything that is wrong with it; it is not added then.
    pub fn add(&mut self, name: String, bytes: Vec<u8>) -> Result<(), JsValue> {
        let text = document_text(bytes, "scenarios").map_err(|fault| vec![fault]);
        let cases = text.and_then(|text| read_cases(&text));
        let cases = cases.map_err(|faults| refusal(&"the scenarios are refused", &faults))?;
        self.files.push(ScenarioFile { name, cases });
        Ok(())
    }

    /// Returns `true` if a scenario has a context.
    #[wasm_bindgen(js_name = hasContext)]
    pub fn has_context(&self) -> bool {
        let mut cases = self.files.iter().flat_map(|file| &file.cases);
        cases.any(|case| case.scenario.context.is_some())
    }
}

#[wasm_bindgen]
impl WasmPolicy {
    /// Returns `true` if the documents have a world.
    #[wasm_bindgen(js_name = hasWorld)]
    pub fn has_world(&self) -> bool {
        self.engine().places().is_some()
    }

    /// Judges scenarios and tells what comes of each, a line a scenario, and a last line that counts. `disk`: those without a world
    /// are judged with the links and repositories of the host. `covers`: the last line has what the scenarios reach.
    ///
    /// # Errors
    /// The faults of the documents in the world of a scenario. The message says which; it is empty if they are of all.
    #[wasm_bindgen(js_name = tellScenarios)]
    pub fn tell_scenarios(
        &self,
        scenarios: &WasmScenarios,
        disk: bool,
        covers: bool,
        listener: &Listener,
    ) -> Result<(), JsValue> {
        let asked = self.host().asked();
        let linkless = LinklessHost::like(&asked);
        let host: &dyn Host = if disk { &asked } else { &linkless };
        let usual = Judge {
            engine: self.build(host, None).map_err(Stopped::from)?,
            host: Place::Usual(host),
        };
        let mut outcomes = judge_all(
            &scenarios.files,
            &usual,
            |file, case, host| {
                let built = self.build(host.as_ref(), Some(host.current_dir()));
                let engine = built.map_err(|error| Stopped {
                    place: format!("in the world of the scenario at {file}:{}:", case.line()),
                    faults: error.diagnostics,
                })?;
                let host = Place::Own(Shared::clone(host));
                Ok::<_, Stopped>(Judge { engine, host })
            },
            |file, case, judge| Ok(judge.outcome(file, case)?),
        )?;
        let coverage = if covers {
            let analysis = Analysis::with_host(&usual.engine, host);
            let found = reached(&outcomes, &analysis, |host| {
                self.build(host.as_ref(), Some(host.current_dir()))
            });
            let found = found.map_err(Stopped::from)?.map_err(Stopped::from)?;
            outcomes
                .iter_mut()
                .for_each(|outcome| outcome.look_for_rule(&found));
            Some(found)
        } else {
            None
        };
        if outcomes.iter().all(|outcome| listener.tell(&outcome.to_json())) {
            listener.tell(&sum(&outcomes, coverage.as_ref()));
        }
        Ok(())
    }
}

/// An engine, and where it judges.
struct Judge<'h> {
    engine: Engine,
    host: Place<'h>,
}

/// Where scenarios are judged.
enum Place<'h> {
    Usual(&'h dyn Host),
    /// The place of some scenarios alone.
    Own(Shared),
}

impl Judge<'_> {
    fn host(&self) -> &dyn Host {
        match &self.host {
            Place::Usual(host) => *host,
            Place::Own(host) => host.as_ref(),
        }
    }

    fn outcome<'c>(&self, file: &'c str, case: &'c Case) -> Result<Outcome<'c>, CallError> {
        let call = case.call()?;
        let request = Request::gate(&call);
        let verdict = self.engine.judge(&request, self.host()).verdict.into_owned();
        // Nobody is told how long it took.
        let mut outcome = Outcome::new(file, case, verdict, 0);
        if !outcome.has_passed() {
            let explained = self
                .engine
                .judge(&request.explained(Audience::Operator), self.host());
            let explanation = explained
                .explanation
                .and_then(|one| serde_json::to_value(one).ok());
            outcome.explain(explanation, self.engine.tools());
        }
        Ok(outcome)
    }
}

/// Why no scenario is judged any more.
struct Stopped {
    /// Where, for a person; empty if that is not one scenario.
    place: String,
    faults: Vec<Diagnostic>,
}

impl From<BuildError> for Stopped {
    fn from(error: BuildError) -> Self {
        Self {
            place: String::new(),
            faults: error.diagnostics,
        }
    }
}

impl From<CallError> for Stopped {
    fn from(error: CallError) -> Self {
        // It was read before: whatever is wrong, no scenario is passed over.
        let fault = Diagnostic::error(Code::InvalidValue, "scenarios", error.to_string());
        Self {
            place: String::new(),
            faults: vec![fault],
        }
    }
}

impl From<Stopped> for JsValue {
    fn from(Stopped { place, faults }: Stopped) -> Self {
        refusal(&place, &faults)
    }
}

/// The files of scenarios that a bundle names.
#[wasm_bindgen(js_name = bundleTests)]
pub fn bundle_tests(bytes: Vec<u8>) -> Vec<String> {
    document_text(bytes, "bundle").map_or_else(|_| Vec::new(), |text| read_bundle(&text).tests)
}
