//! The registry of a world's reply codes.

use serde::Serialize;

use crate::named::named;

named! {
    /// The kind of answer that a code stands for.
    pub enum ReplyStatus {
        /// The place was resolved, or the operation is allowed.
        Success = "success",
        /// The question is not valid.
        Invalid = "invalid",
        /// The operation is refused.
        Denied = "denied",
        /// A resource is exhausted.
        Error = "error",
    }
}

macro_rules! replies {
    ($($variant:ident = $code:literal, $status:ident, $message:literal;)+) => {
        /// Every reply code, by its area.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum ReplyCode { $(#[doc = concat!("`", $code, "`: ", $message)] #[serde(rename = $code)] $variant,)+ }

        impl ReplyCode {
            /// Every code, in the order of the registry.
            pub const ALL: &'static [ReplyCode] = &[$(ReplyCode::$variant,)+];

            /// The stable code, for programs.
            pub const fn as_str(self) -> &'static str {
                match self { $(ReplyCode::$variant => $code,)+ }
            }

            /// The kind of answer.
            pub const fn status(self) -> ReplyStatus {
                match self { $(ReplyCode::$variant => ReplyStatus::$status,)+ }
            }

            /// The message for a person.
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
    ReadUnruled = "EN-READ-D-001", Denied, "No rule allows reading here";
    ReadUnmet = "EN-READ-D-002", Denied, "The conditions for reading here are not met";
    WriteAllowed = "EN-WRITE-S-001", Success, "Writing is allowed";
    WriteUnruled = "EN-WRITE-D-001", Denied, "No rule allows writing here";
    WriteUnmet = "EN-WRITE-D-002", Denied, "The conditions for writing here are not met";
    DeleteAllowed = "EN-DELETE-S-001", Success, "Deleting is allowed";
    DeleteUnruled = "EN-DELETE-D-001", Denied, "No rule allows deleting here";
    DeleteUnmet = "EN-DELETE-D-002", Denied, "The conditions for deleting here are not met";
    GitAllowed = "EN-GIT-S-001", Success, "The git command is allowed";
    GitUnruled = "EN-GIT-D-001", Denied, "No rule allows this git command here";
    GitUnmet = "EN-GIT-D-002", Denied, "The conditions for this git command are not met";
    ExecAllowed = "EN-EXEC-S-001", Success, "Executing commands is allowed";
    ExecUnruled = "EN-EXEC-D-001", Denied, "No rule allows executing commands here";
    ExecUnmet = "EN-EXEC-D-002", Denied, "The conditions for executing commands here are not met";
}
