//! Instances with the documents in them, ready for calls.

use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use callgate_engine::diagnostic::Diagnostic;
use callgate_engine::host::Recording;
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use super::artifact::Compiled;
use super::bindings::callgate::gate::types;
use super::bindings::exports::callgate::gate::engine::Guest;
use super::decode::diagnostics;
use super::fault::{Work, fault};
use super::host::State;
use super::limits::InstanceLimits;
use super::ticker::TICK;
use crate::backend::{EngineFault, SharedHost};

/// By how much an instance may have grown in a call and still be kept: memory is never given back.
const KEPT_GROWTH: usize = 16 * 1024 * 1024;

/// An engine for many threads: as many instances as there are calls at a time.
pub(crate) struct Pool {
    compiled: Compiled,
    documents: Vec<types::Document>,
    host: SharedHost,
    /// Answers what an instance asks while its documents are loaded: the host for the first one; for every later one what
    /// it answered then, so that pinned directories are those of the moment when the gate was built.
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
    Fault(EngineFault),
}

impl LoadError {
    fn refused(diagnostics_text: &str) -> Self {
        match diagnostics(diagnostics_text) {
            Ok(diagnostics) => Self::Refused(diagnostics),
            Err(fault) => Self::Fault(fault),
        }
    }
}

impl From<EngineFault> for LoadError {
    fn from(fault: EngineFault) -> Self {
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
    /// The questions to the host while they were loaded, with its answers.
    recording: Recording,
}

impl Pool {
    /// Loads the documents, by their names, into a first instance.
    pub(crate) fn new<'d>(
        compiled: Compiled,
        documents: impl Iterator<Item = (&'d str, &'d str)>,
        host: SharedHost,
        limits: InstanceLimits,
    ) -> Result<Self, LoadError> {
        let document = |(name, text): (&str, &str)| types::Document {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let mut pool = Self {
            compiled,
            documents: documents.map(document).collect(),
            loading: Arc::clone(&host),
            host,
            limits,
            idle: Mutex::default(),
            warnings: Vec::new(),
            took: Loading::default(),
        };
        let (mut first, took) = pool.load()?;
        let warnings = pool.within(Work::Loading, &mut first.instance, |instance| {
            let (guest, store) = instance.guest();
            guest.engine().call_warnings(store, first.engine)
        })?;
        pool.warnings = diagnostics(&warnings)?;
        pool.took = took;
        pool.loading = Arc::new(mem::take(&mut first.recording));
        pool.give_back(first);
        Ok(pool)
    }

    /// Warnings about the documents, which did not stop loading.
    pub(crate) fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    pub(crate) fn took(&self) -> Loading {
        self.took
    }

    /// Asks an instance that nobody else is asking. One that fails is thrown away with all that it holds.
    pub(super) fn ask<T>(
        &self,
        question: impl FnOnce(&Guest, &mut Store<State>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, EngineFault> {
        let (loaded, answer) = self.take(question)?;
        self.give_back(loaded);
        Ok(answer)
    }

    /// The same, with the instance, which nobody else will ask until it is given back.
    pub(super) fn take<T>(
        &self,
        question: impl FnOnce(&Guest, &mut Store<State>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<(Loaded, T), EngineFault> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let loaded = match idle {
            Some(loaded) => loaded,
            None => match self.load() {
                Ok((loaded, _)) => loaded,
                Err(LoadError::Fault(fault)) => return Err(fault),
                // The same documents were accepted before.
                Err(LoadError::Refused(_)) => return Err(EngineFault::Failed),
            },
        };
        self.ask_instance(loaded, question)
    }

    pub(super) fn ask_instance<T>(
        &self,
        mut loaded: Loaded,
        question: impl FnOnce(&Guest, &mut Store<State>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<(Loaded, T), EngineFault> {
        let engine = loaded.engine;
        let answer = self.within(Work::Call, &mut loaded.instance, |instance| {
            let (guest, store) = instance.guest();
            question(guest, store, engine)
        })?;
        Ok((loaded, answer))
    }

    fn load(&self) -> Result<(Loaded, Loading), LoadError> {
        let begun = Instant::now();
        let mut instance = Instance::new(&self.compiled, Arc::clone(&self.loading), &self.limits)?;
        let instantiating = begun.elapsed();
        let loaded = self.within(Work::Loading, &mut instance, |instance| {
            let (guest, store) = instance.guest();
            guest.engine().call_load(store, &self.documents)
        })?;
        let engine = loaded.map_err(|found| LoadError::refused(&found))?;
        let recording = instance.store.data_mut().ask(Arc::clone(&self.host));
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
                recording,
            },
            took,
        ))
    }

    fn within<T>(
        &self,
        work: Work,
        instance: &mut Instance,
        question: impl FnOnce(&mut Instance) -> wasmtime::Result<T>,
    ) -> Result<T, EngineFault> {
        instance.within(&self.compiled, &self.limits, work, question)
    }

    pub(super) fn give_back(&self, loaded: Loaded) {
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
    pub(crate) fn new(
        compiled: &Compiled,
        host: SharedHost,
        limits: &InstanceLimits,
    ) -> Result<Self, EngineFault> {
        let mut store = Store::new(&compiled.engine, State::new(host, limits.memory));
        store.limiter(|state| state);
        prime(&mut store, limits, Work::Loading);
        let _running = compiled.ticker.running();
        let gate = compiled.pre.instantiate(&mut store);
        let gate = gate.map_err(|error| fault(&error, limits, Work::Loading))?;
        Ok(Self {
            store,
            gate: Box::new(gate),
        })
    }

    /// The exports of the component, and the store that they are called with.
    pub(super) fn guest(&mut self) -> (&Guest, &mut Store<State>) {
        (self.gate.callgate_gate_engine(), &mut self.store)
    }

    /// Does the work within the deadline and the other limits. After a fault the instance must not be used again.
    pub(super) fn within<T>(
        &mut self,
        compiled: &Compiled,
        limits: &InstanceLimits,
        work: Work,
        question: impl FnOnce(&mut Self) -> wasmtime::Result<T>,
    ) -> Result<T, EngineFault> {
        let begun = Instant::now();
        prime(&mut self.store, limits, work);
        let _running = compiled.ticker.running();
        let answer = question(self).map_err(|error| fault(&error, limits, work))?;
        // The epochs stop the component. A host that kept it waiting may have ended it too late all the same.
        let deadline = work.deadline(limits);
        if self.store.data_mut().end() && begun.elapsed() > deadline {
            return Err(EngineFault::Deadline(deadline));
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
