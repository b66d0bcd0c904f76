//! Instances with the documents in them, ready for calls.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use callgate_core::{CallError, Diagnostic};
use serde_json::Value;
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use super::artifact::Artifact;
use super::bindings::callgate::gate::types;
use super::bindings::exports::callgate::gate::engine::Guest;
use super::decode::{call_error, diagnostics};
use super::fault::{Fault, Work};
use super::host::{Remembering, SharedHost, State};
use super::limits::InstanceLimits;
use super::ticker::TICK;
use crate::gate::{Gated, Given, Verdict};

/// By how much an instance may have grown in a call and still be kept: memory is never given back.
const KEPT_GROWTH: usize = 16 * 1024 * 1024;

/// An engine for many threads: as many instances as there are calls at a time.
pub(crate) struct Pool {
    artifact: Artifact,
    documents: Vec<types::Document>,
    host: SharedHost,
    /// Answers what the first instance asked while its documents were loaded.
    loading: SharedHost,
    limits: InstanceLimits,
    idle: Mutex<Vec<Loaded>>,
    warnings: Vec<Diagnostic>,
    took: Loading,
}

/// How long the parts of loading took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Loading {
    pub(crate) instantiating: Duration,
    pub(crate) documents: Duration,
}

/// Why documents cannot be loaded.
#[derive(Debug)]
pub(crate) enum LoadError {
    Refused(Vec<Diagnostic>),
    Fault(Fault),
}

impl From<Fault> for LoadError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A component in its own memory.
pub(crate) struct Instance {
    pub(super) store: Store<State>,
    /// Apart, since it is large: an instance moves in and out of the pool for each call.
    gate: Box<super::bindings::Gate>,
}

/// An instance with an engine in it.
pub(crate) struct Loaded {
    instance: Instance,
    engine: ResourceAny,
    /// Bytes of memory when the documents were loaded.
    settled: usize,
}

impl Pool {
    /// Loads the documents, by their names, into a first instance.
    pub(crate) fn new<'d>(
        artifact: Artifact,
        documents: impl Iterator<Item = (&'d str, &'d str)>,
        host: SharedHost,
        limits: InstanceLimits,
    ) -> Result<Self, LoadError> {
        let document = |(name, text): (&str, &str)| types::Document {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let remembering = Arc::new(Remembering::new(Arc::clone(&host)));
        let mut pool = Self {
            artifact,
            documents: documents.map(document).collect(),
            host,
            loading: Arc::clone(&remembering) as SharedHost,
            limits,
            idle: Mutex::default(),
            warnings: Vec::new(),
            took: Loading::default(),
        };
        let (mut first, took) = pool.load()?;
        pool.warnings = pool
            .within(Work::Loading, &mut first.instance, |instance| {
                let (guest, store) = instance.guest();
                guest.engine().call_warnings(store, first.engine)
            })
            .map(|found| diagnostics(&found))?;
        pool.took = took;
        pool.loading = Arc::new(remembering.recording());
        pool.give_back(first);
        Ok(pool)
    }

    /// What was noticed about the documents and did not stop loading.
    pub(crate) fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    pub(crate) fn took(&self) -> Loading {
        self.took
    }

    pub(crate) fn evaluate(&self, given: Given<'_>) -> Result<Result<Verdict, CallError>, Fault> {
        let answer = self.ask(|guest, store, engine| {
            guest
                .engine()
                .call_evaluate(store, engine, given.call, given.context)
        })?;
        Ok(answer.map(Into::into).map_err(call_error))
    }

    pub(crate) fn gate(
        &self,
        given: Given<'_>,
        container_workspace_dir: Option<&str>,
    ) -> Result<Result<Gated, CallError>, Fault> {
        let answer = self.ask(|guest, store, engine| {
            guest
                .engine()
                .call_gate(store, engine, given.call, given.context, container_workspace_dir)
        })?;
        Ok(answer.map(Into::into).map_err(call_error))
    }

    pub(crate) fn explain(
        &self,
        given: Given<'_>,
        audience: types::Audience,
    ) -> Result<Result<Value, CallError>, Fault> {
        let answer = self.ask(|guest, store, engine| {
            guest
                .engine()
                .call_explain(store, engine, given.call, given.context, audience)
        })?;
        Ok(answer.map(super::explained::explanation).map_err(call_error))
    }

    pub(crate) fn explain_gate(
        &self,
        given: Given<'_>,
        container_workspace_dir: Option<&str>,
        audience: types::Audience,
    ) -> Result<Result<Value, CallError>, Fault> {
        let answer = self.ask(|guest, store, engine| {
            guest.engine().call_explain_gate(
                store,
                engine,
                given.call,
                given.context,
                container_workspace_dir,
                audience,
            )
        })?;
        Ok(answer.map(super::explained::explanation).map_err(call_error))
    }

    /// Asks an instance that nobody else is asking. One that fails is thrown away with all that it holds.
    pub(super) fn ask<T>(
        &self,
        question: impl FnOnce(&Guest, &mut Store<State>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Fault> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut loaded = match idle {
            Some(loaded) => loaded,
            None => match self.load() {
                Ok((loaded, _)) => loaded,
                Err(LoadError::Fault(fault)) => return Err(fault),
                // The same documents were accepted before.
                Err(LoadError::Refused(_)) => return Err(Fault::Failed),
            },
        };
        let engine = loaded.engine;
        let answer = self.within(Work::Call, &mut loaded.instance, |instance| {
            let (guest, store) = instance.guest();
            question(guest, store, engine)
        })?;
        self.give_back(loaded);
        Ok(answer)
    }

    fn load(&self) -> Result<(Loaded, Loading), LoadError> {
        let begun = Instant::now();
        let mut instance = Instance::new(&self.artifact, Arc::clone(&self.loading), &self.limits)?;
        let instantiating = begun.elapsed();
        let loaded = self.within(Work::Loading, &mut instance, |instance| {
            let (guest, store) = instance.guest();
            guest.engine().call_load(store, &self.documents)
        })?;
        let engine = loaded.map_err(|found| LoadError::Refused(diagnostics(&found)))?;
        instance.store.data_mut().ask(Arc::clone(&self.host));
        let settled = instance.store.data().memory();
        let took = Loading {
            instantiating,
            documents: begun.elapsed().saturating_sub(instantiating),
        };
        Ok((
            Loaded {
                instance,
                engine,
                settled,
            },
            took,
        ))
    }

    fn within<T>(
        &self,
        work: Work,
        instance: &mut Instance,
        question: impl FnOnce(&mut Instance) -> wasmtime::Result<T>,
    ) -> Result<T, Fault> {
        instance.within(&self.artifact, &self.limits, work, question)
    }

    fn give_back(&self, loaded: Loaded) {
        if loaded.instance.store.data().memory() > loaded.settled.saturating_add(KEPT_GROWTH) {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.limits.idle_instances {
            idle.push(loaded);
        }
    }
}

impl Instance {
    /// An instance without an engine.
    pub(crate) fn new(artifact: &Artifact, host: SharedHost, limits: &InstanceLimits) -> Result<Self, Fault> {
        let mut store = Store::new(&artifact.engine, State::new(host, limits.memory));
        store.limiter(|state| state);
        prime(&mut store, limits, Work::Loading);
        let _running = artifact.ticker.running();
        let gate = artifact.pre.instantiate(&mut store);
        let gate = gate.map_err(|error| Fault::of(&error, limits, Work::Loading))?;
        Ok(Self {
            store,
            gate: Box::new(gate),
        })
    }

    /// What the component exports, and what it is called with.
    pub(super) fn guest(&mut self) -> (&Guest, &mut Store<State>) {
        (self.gate.callgate_gate_engine(), &mut self.store)
    }

    /// Does the work within the deadline and the other limits. After a fault the instance must not be used again.
    pub(super) fn within<T>(
        &mut self,
        artifact: &Artifact,
        limits: &InstanceLimits,
        work: Work,
        question: impl FnOnce(&mut Self) -> wasmtime::Result<T>,
    ) -> Result<T, Fault> {
        let begun = Instant::now();
        prime(&mut self.store, limits, work);
        let _running = artifact.ticker.running();
        let answer = question(self).map_err(|error| Fault::of(&error, limits, work))?;
        // The epochs stop the component. A host that kept it waiting may have ended it too late all the same.
        let deadline = work.deadline(limits);
        if self.store.data_mut().take_was_asked() && begun.elapsed() > deadline {
            return Err(Fault::Deadline(deadline));
        }
        Ok(answer)
    }
}

fn prime(store: &mut Store<State>, limits: &InstanceLimits, work: Work) {
    let ticks = work.deadline(limits).as_nanos().div_ceil(TICK.as_nanos());
    // The epoch that is running has begun already.
    store.set_epoch_deadline(u64::try_from(ticks).unwrap_or(u64::MAX / 2).saturating_add(1));
    if let Some(fuel) = work.fuel(limits) {
        // Cannot fail: the engine counts fuel whenever there is a limit of it.
        drop(store.set_fuel(fuel));
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Pool")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
