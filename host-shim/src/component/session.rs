//! A table of references in an instance of its own.

use std::sync::Arc;

use callgate_engine::engine::Existence;
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use super::bindings::exports::callgate::gate::engine::Guest;
use super::decode::{json, unanswered};
use super::host::State;
use super::pool::{Loaded, Pool};
use crate::backend::{EngineFault, Resolution, Session, Unanswered};

/// An instance that holds the references of one session. After a fault it is gone, and with it every reference.
pub(super) struct ComponentSession {
    pool: Arc<Pool>,
    loaded: Option<Loaded>,
    table: ResourceAny,
}

impl ComponentSession {
    pub(super) fn new(pool: Arc<Pool>) -> Result<Self, Unanswered> {
        let (loaded, table) =
            pool.take(|guest, store, engine| guest.engine().call_references(store, engine))?;
        match table {
            Some(table) => Ok(Self {
                pool,
                loaded: Some(loaded),
                table,
            }),
            None => {
                pool.give_back(loaded);
                Err(Unanswered::NoWorld)
            }
        }
    }

    fn ask<T>(
        &mut self,
        question: impl FnOnce(&Guest, &mut Store<State>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, EngineFault> {
        let loaded = self.loaded.take().ok_or(EngineFault::Failed)?;
        let (loaded, answer) = self.pool.ask_instance(loaded, question)?;
        self.loaded = Some(loaded);
        Ok(answer)
    }
}

impl Session for ComponentSession {
    fn resolve(
        &mut self,
        address: &str,
        existence: Existence,
        context: Option<&str>,
    ) -> Result<Resolution, Unanswered> {
        let table = self.table;
        let must_exist = match existence {
            Existence::Required => true,
            Existence::NotRequired => false,
        };
        let found = self.ask(|guest, store, engine| {
            guest
                .engine()
                .call_resolve(store, engine, table, address, must_exist, context)
        })?;
        let found = found.map_err(unanswered)?;
        Ok(Resolution {
            reply: json(&found.reply)?,
            reference: found.reference,
        })
    }

    fn host_path(&mut self, reference: u64) -> Result<Option<String>, EngineFault> {
        let table = self.table;
        self.ask(|guest, store, _| guest.references().call_host_path(store, table, reference))
    }

    fn revoke(&mut self, reference: u64) -> Result<bool, EngineFault> {
        let table = self.table;
        self.ask(|guest, store, _| guest.references().call_revoke(store, table, reference))
    }

    fn revoke_all(&mut self) -> Result<(), EngineFault> {
        let table = self.table;
        self.ask(|guest, store, _| guest.references().call_revoke_all(store, table))
    }
}
