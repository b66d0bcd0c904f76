//! The settings that a component is run with.

use std::sync::Arc;

use super::COMPONENT;
use super::artifact::Compiled;
use super::cache::Cache;
use super::limits::InstanceLimits;
use super::pool::{LoadError, Pool};
use crate::backend::{NotStarted, SharedHost, Started};
use crate::documents::Document;
use crate::timings::Starting;

#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) bytes: Option<Vec<u8>>,
    /// The compiled form of the bytes, if there is one already.
    pub(crate) compiled: Option<Compiled>,
    pub(crate) limits: InstanceLimits,
    pub(crate) cache: Cache,
}

impl Settings {
    pub(crate) fn start(self, documents: &[Document], host: SharedHost) -> Result<Started, NotStarted> {
        let compiled = match self.compiled {
            Some(compiled) => Ok(compiled),
            None => {
                let bytes = self.bytes.as_deref().unwrap_or(COMPONENT);
                Compiled::of(bytes, self.limits.fuel.is_some(), &self.cache)
            }
        };
        let compiled = compiled.map_err(NotStarted::Component)?;
        let origin = compiled.origin();
        let named = documents
            .iter()
            .map(|document| (document.part.as_str(), document.text.as_str()));
        let pool = Pool::new(compiled, named, host, self.limits).map_err(|error| match error {
            LoadError::Refused(diagnostics) => NotStarted::Refused(diagnostics),
            LoadError::Fault(fault) => fault.into(),
        })?;
        Ok(Started {
            component: Some(Starting {
                compiling: origin.took,
                cached: origin.cached,
                instance: pool.took().instantiating,
            }),
            loading: pool.took().documents,
            warnings: pool.warnings().to_vec(),
            backend: Arc::new(pool),
        })
    }
}
