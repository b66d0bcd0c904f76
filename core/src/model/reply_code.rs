//! The registry of codes that a world answers with.

use serde::{Deserialize, Serialize, Serializer};

/// What kind of answer a code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplyStatus {
    /// What was asked for is there.
    Success,
    /// The question cannot be answered as it was put.
    Invalid,
    /// The operation is refused.
    Denied,
    /// Something ran out.
    Error,
}

macro_rules! replies {
    ($($variant:ident = $code:literal, $status:ident, $message:literal;)+) => {
        /// Every code that a world can answer with, by the area that it is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ReplyCode { $(#[doc = concat!("`", $code, "`: ", $message)] $variant,)+ }

        impl ReplyCode {
            /// Every code, in the order of the registry.
            pub const ALL: &'static [ReplyCode] = &[$(ReplyCode::$variant,)+];

            /// The code as programs branch on it.
            pub const fn as_str(self) -> &'static str {
                match self { $(ReplyCode::$variant => $code,)+ }
            }

            /// What kind of answer it is.
            pub const fn status(self) -> ReplyStatus {
                match self { $(ReplyCode::$variant => ReplyStatus::$status,)+ }
            }

            /// What it says to a person.
            pub const fn message(self) -> &'static str {
                match self { $(ReplyCode::$variant => $message,)+ }
            }
        }
    };
}

replies! {
    NoMode = "WA-SYS-I-001", Invalid, "No mode is set";
    Resolved = "WA-RES-S-001", Success, "The address is resolved";
    InvalidAddress = "WA-RES-I-001", Invalid, "The address is not valid";
    NotVisible = "WA-RES-I-003", Invalid, "The address is not visible";
    NotFound = "WA-RES-I-004", Invalid, "Nothing exists at the address";
    OutOfReferences = "WA-RES-E-001", Error, "There is no room for another reference";
    ReadAllowed = "EN-READ-S-001", Success, "Reading is allowed";
    ReadUnruled = "EN-READ-D-001", Denied, "No rule allows this reading here";
    ReadUnmet = "EN-READ-D-002", Denied, "The conditions for this reading are not met";
    WriteAllowed = "EN-WRITE-S-001", Success, "Writing is allowed";
    WriteUnruled = "EN-WRITE-D-001", Denied, "No rule allows this writing here";
    WriteUnmet = "EN-WRITE-D-002", Denied, "The conditions for this writing are not met";
    DeleteAllowed = "EN-DELETE-S-001", Success, "Deleting is allowed";
    DeleteUnruled = "EN-DELETE-D-001", Denied, "No rule allows this deleting here";
    DeleteUnmet = "EN-DELETE-D-002", Denied, "The conditions for this deleting are not met";
    GitAllowed = "EN-GIT-S-001", Success, "The git command is allowed";
    GitUnruled = "EN-GIT-D-001", Denied, "No rule allows this git command here";
    GitUnmet = "EN-GIT-D-002", Denied, "The conditions for this git command are not met";
    ExecAllowed = "EN-EXEC-S-001", Success, "Executing is allowed";
    ExecUnruled = "EN-EXEC-D-001", Denied, "No rule allows this executing here";
    ExecUnmet = "EN-EXEC-D-002", Denied, "The conditions for this executing are not met";
}

impl Serialize for ReplyCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
