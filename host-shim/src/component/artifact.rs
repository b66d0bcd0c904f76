//! From the bytes of a component to something that can be instantiated.

use std::fmt;
use std::hash::{Hash as _, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Config, Engine, Inlining};

use super::bindings::{Gate, GatePre};
use super::cache::{self, Cache};
use super::host::State;
use super::ticker::Ticker;
use crate::backend::unusable::{IMPORTS, Unusable};

/// A component that is compiled, for any number of gates; cheap to clone.
#[derive(Clone)]
pub struct Compiled {
    pub(super) pre: GatePre<State>,
    pub(super) engine: Engine,
    pub(super) ticker: Arc<Ticker>,
    origin: Origin,
}

/// Where the machine code came from, and how long that took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// `true` if it was on disk already.
    pub(crate) cached: bool,
    pub(crate) took: Duration,
}

impl Compiled {
    /// Compiles the component of this crate, or finds it compiled where gates keep theirs. One that burns fuel is for
    /// gates whose limits name fuel.
    ///
    /// # Errors
    /// When this machine cannot run it.
    pub fn new(burns_fuel: bool) -> Result<Self, Unusable> {
        Self::of(super::COMPONENT, burns_fuel, &Cache::Usual)
    }

    /// Compiles a component, or finds it compiled in the cache, where it is kept otherwise.
    pub(crate) fn of(bytes: &[u8], burns_fuel: bool, cache: &Cache) -> Result<Self, Unusable> {
        let begun = Instant::now();
        let machine = |error: &dyn fmt::Display| Unusable::Machine(format!("{error:#}"));
        let engine = Engine::new(&config(burns_fuel)).map_err(|error| machine(&error))?;
        let (component, cached) = compiled(&engine, bytes, cache.folder().as_deref())?;
        let pre = linked(&engine, &component)?;
        let ticker = Ticker::start(engine.clone()).map_err(|error| machine(&error))?;
        Ok(Self {
            pre,
            engine,
            ticker: Arc::new(ticker),
            origin: Origin {
                cached,
                took: begun.elapsed(),
            },
        })
    }

    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }
}

fn config(burns_fuel: bool) -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .consume_fuel(burns_fuel)
        // The engine is built without threads and without other features that a host would have to think about.
        .wasm_relaxed_simd(false)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        // Nobody reads the places of traps; leaving them out makes the code that is kept smaller.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        // Each function that is entered looks at the epoch; most are small and called for every answer of the host.
        .compiler_inlining(Inlining::Yes);
    config
}

fn compiled(engine: &Engine, bytes: &[u8], cache: Option<&Path>) -> Result<(Component, bool), Unusable> {
    let name = key(engine, bytes);
    if let Some(kept) = cache.and_then(|folder| cache::read(folder, &name))
        && let Some(component) = deserialized(engine, &kept)
    {
        return Ok((component, true));
    }
    let component = Component::from_binary(engine, bytes);
    let component = component.map_err(|error| Unusable::Malformed(format!("{error:#}")))?;
    if let Some(folder) = cache {
        // Without it the next start takes longer, and that is all.
        let kept = component.serialize();
        drop(kept.map(|code| cache::write(folder, &name, &code)));
    }
    Ok((component, false))
}

#[expect(
    unsafe_code,
    reason = "machine code is run as it is; the cache gives only what this user wrote, unchanged"
)]
fn deserialized(engine: &Engine, kept: &[u8]) -> Option<Component> {
    // SAFETY: `cache::read` gives bytes that `cache::write` got from `Component::serialize`, for the same key. Code of
    // another version of wasmtime or for other settings has another key, and is refused by wasmtime besides.
    unsafe { Component::deserialize(engine, kept) }.ok()
}

/// The name of the file for a compiled component, made from everything that it depends on.
fn key(engine: &Engine, bytes: &[u8]) -> String {
    struct Settings(Sha256);

    impl Hasher for Settings {
        fn finish(&self) -> u64 {
            0
        }

        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
    }

    let mut settings = Settings(Sha256::new_with_prefix(Sha256::digest(bytes)));
    engine.precompile_compatibility_hash().hash(&mut settings);
    let digest = settings.0.finalize();
    let hexadecimal: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{hexadecimal}.cwasm")
}

fn linked(engine: &Engine, component: &Component) -> Result<GatePre<State>, Unusable> {
    let kind = component.component_type();
    let imports = kind.imports(engine).map(|(name, _)| name.to_owned());
    let foreign: Vec<String> = imports.filter(|name| !IMPORTS.contains(&name.as_str())).collect();
    if !foreign.is_empty() {
        return Err(Unusable::Imports(foreign));
    }
    let contract = |error: wasmtime::Error| Unusable::Contract(format!("{error:#}"));
    let mut linker = Linker::new(engine);
    Gate::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state).map_err(contract)?;
    GatePre::new(linker.instantiate_pre(component).map_err(contract)?).map_err(contract)
}
