//! Reading a side-effect level in annotations and ceilings.

use crate::diagnostic::{Code, Severity};
use crate::model::SideEffectLevel;

use super::{Node, did_you_mean, listed};

impl Node<'_, '_> {
    /// A side-effect level. An unknown word is read as `none`, which allows nothing, with a warning.
    pub(crate) fn side_effect_level(&self) -> SideEffectLevel {
        let Some(name) = self.string() else {
            return SideEffectLevel::default();
        };
        if SideEffectLevel::find(name).is_none() {
            self.fault(Severity::Warning, Code::UnknownValue, || {
                let names = SideEffectLevel::ALL.map(SideEffectLevel::as_str);
                let message = format!(
                    "found {}, which is taken for `none`, expected one of {}",
                    self.found(),
                    listed(names)
                );
                (message, did_you_mean(name, names))
            });
        }
        SideEffectLevel::parse(name)
    }
}
