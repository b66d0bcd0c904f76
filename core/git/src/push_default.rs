//! The ref that a push without a refspec updates.

use crate::entry::Entry;
use crate::files::Error;

/// `push.default`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PushDefault {
    Nothing,
    Matching,
    Upstream,
    Current,
    /// Git refuses to push where the upstream branch has another name.
    #[default]
    Simple,
}

impl PushDefault {
    /// `git_default_push_config`.
    pub(crate) fn read(entry: &Entry) -> Result<Self, Error> {
        Ok(match entry.required()? {
            b"nothing" => Self::Nothing,
            b"matching" => Self::Matching,
            b"upstream" | b"tracking" => Self::Upstream,
            b"current" => Self::Current,
            b"simple" => Self::Simple,
            _ => {
                return Err(entry.refused("`nothing`, `matching`, `simple`, `upstream` or `current`"));
            }
        })
    }
}
