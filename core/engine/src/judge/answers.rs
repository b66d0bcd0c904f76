//! The texts that policy compares.

use super::asking::Asking;
use super::inputs::Inputs;
use crate::role::RoleId;

/// The text of a value that policy compares under the role: its canonical form, or the part of that which the role extracts.
pub(super) fn text_of<'a>(inputs: &'a Inputs, asking: &'a mut Asking, at: usize, role: RoleId) -> &'a str {
    let Some(operand) = inputs.operands.get(at) else {
        return "";
    };
    if asking.lookups.text(operand, at, role).is_none() {
        let text = asking.canonicalizer.text(operand, role);
        let changed = (*text != *operand.given()).then(|| text.into_owned());
        if let Some(answers) = asking.lookups.answers_mut(at) {
            answers.texts.push((role, changed));
        }
    }
    asking.lookups.text(operand, at, role).unwrap_or_default()
}
