//! Reading a side-effect level in annotations and ceilings.

use crate::diagnostic::{Code, Severity};
use crate::model::SideEffectLevel;
use crate::named::Named;

use super::{Node, did_you_mean, listed};

impl Node<'_, '_> {
    /// A side-effect level. An unknown word is read as `none`, which allows nothing, with a warning.
    pub fn side_effect_level(&self) -> SideEffectLevel {
        let Some(name) = self.string() else {
            return SideEffectLevel::default();
        };
        SideEffectLevel::parse(name).unwrap_or_else(|| {
            self.fault(Severity::Warning, Code::UnknownValue, || {
                let message = format!(
                    "found {}, which is taken for `none`, expected one of {}",
                    self.found(),
                    listed(SideEffectLevel::names())
                );
                (message, did_you_mean(name, SideEffectLevel::names()))
            });
            SideEffectLevel::None
        })
    }
}
