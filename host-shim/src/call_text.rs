//! A call as text.

use callgate_core::{Call, CallError};

/// The JSON text of a call, and that of its context if it has one.
///
/// The context is the host's word about the call. It stands beside the call, never in it: whatever an agent writes there
/// is ignored.
#[derive(Clone, Copy, Debug)]
pub struct CallText<'c> {
    pub(crate) call: &'c str,
    pub(crate) context: Option<&'c str>,
}

impl<'c> CallText<'c> {
    /// The call in a context, `{mode, command, …}` as [`Context`](callgate_core::Context) has it.
    #[must_use]
    pub fn within(self, context: &'c str) -> Self {
        let context = Some(context);
        Self { context, ..self }
    }

    /// The text of the call itself.
    pub fn text(self) -> &'c str {
        self.call
    }

    /// # Errors
    /// When the text is not a call, or the context is not an object.
    pub(crate) fn read(self) -> Result<Call<'c>, CallError> {
        let call = Call::from_json(self.call)?;
        match self.context {
            Some(context) => call.within_json(context),
            None => Ok(call),
        }
    }
}

impl<'c> From<&'c str> for CallText<'c> {
    fn from(call: &'c str) -> Self {
        let context = None;
        Self { call, context }
    }
}

impl<'c> From<&'c String> for CallText<'c> {
    fn from(call: &'c String) -> Self {
        Self::from(call.as_str())
    }
}
