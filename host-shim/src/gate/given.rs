//! A call as it is given to a gate.

use callgate_core::{Call, CallError, Context};

/// The JSON text of a call, and that of its context where it has one.
///
/// The context is the host's word about the call. It stands beside the call, never in it: whatever an agent writes there
/// is passed over.
#[derive(Clone, Copy, Debug)]
pub struct Given<'c> {
    pub(crate) call: &'c str,
    pub(crate) context: Option<&'c str>,
}

impl<'c> Given<'c> {
    /// The call in a context, `{mode, command, …}` as [`Context`] has it.
    #[must_use]
    pub fn within(self, context: &'c str) -> Self {
        let context = Some(context);
        Self { context, ..self }
    }

    /// # Errors
    /// When the call is none, or the context is no object.
    pub(super) fn read(self) -> Result<Call<'c>, CallError> {
        let call = Call::from_json(self.call)?;
        let Some(context) = self.context else {
            return Ok(call);
        };
        let context = Context::from_json(context).map_err(|why| CallError {
            line: 1,
            column: 1,
            message: format!("the context: {why}"),
        })?;
        Ok(call.within(context))
    }
}

impl<'c> From<&'c str> for Given<'c> {
    fn from(call: &'c str) -> Self {
        let context = None;
        Self { call, context }
    }
}

impl<'c> From<&'c String> for Given<'c> {
    fn from(call: &'c String) -> Self {
        Self::from(call.as_str())
    }
}
