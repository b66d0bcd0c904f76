//! A build that runs no component.

#[cfg(test)]
use crate::backend::EngineKind;
use crate::backend::{NotStarted, SharedHost, Started, Unusable};
use crate::documents::Document;

/// The ways to run an engine.
#[cfg(test)]
pub(crate) const ENGINES: [EngineKind; 1] = [EngineKind::Native];

#[derive(Default)]
pub(crate) struct Settings;

impl Settings {
    pub(crate) fn start(self, _: &[Document], _: SharedHost) -> Result<Started, NotStarted> {
        Err(NotStarted::Component(Unusable::Absent))
    }
}
