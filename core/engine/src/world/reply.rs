//! A world's replies.

use serde::{Serialize, Serializer};

use crate::model::ReplyCode;
use crate::named::named;

named! {
    /// The kind of an operation, which only affects the reply code.
    pub enum Area {
        Read = "read",
        Write = "write",
        Delete = "delete",
        Git = "git",
        Exec = "exec",
    }
}

/// The outcome of judging an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Allowed,
    NoRule,
    Unmet,
}

impl ReplyCode {
    /// The code for an operation in an area.
    pub const fn of(area: Area, outcome: Outcome) -> Self {
        let [allowed, unruled, unmet] = match area {
            Area::Read => [Self::ReadAllowed, Self::ReadUnruled, Self::ReadUnmet],
            Area::Write => [Self::WriteAllowed, Self::WriteUnruled, Self::WriteUnmet],
            Area::Delete => [Self::DeleteAllowed, Self::DeleteUnruled, Self::DeleteUnmet],
            Area::Git => [Self::GitAllowed, Self::GitUnruled, Self::GitUnmet],
            Area::Exec => [Self::ExecAllowed, Self::ExecUnruled, Self::ExecUnmet],
        };
        match outcome {
            Outcome::Allowed => allowed,
            Outcome::NoRule => unruled,
            Outcome::Unmet => unmet,
        }
    }
}

/// A world's answer: `{code, status, message, data}`. It never contains a path of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The stable code, which implies status and message.
    pub code: ReplyCode,
    /// The details.
    pub data: ReplyData,
}

/// The data of a reply. It contains no unrecognized input of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ReplyData {
    /// No data.
    Nothing {},
    /// Why an address is not valid.
    Fault {
        /// `form`, `unknown-root`, `unknown-mod` or `unresolvable`.
        reason: &'static str,
    },
    /// A place of the world.
    Place {
        /// The canonical address, `root:<key>/<rel>` or `mod:<name>/<rel>`, without links.
        resolved: String,
        /// The root that holds it.
        root_key: String,
        /// The first name below the root; `None` for the root itself.
        subdirectory: Option<String>,
        /// Everything after the first `/` of `resolved`.
        relative_path: String,
        /// The mod that the address names.
        mod_name: Option<String>,
    },
    /// The judgement of an operation or of visibility.
    Judgement {
        /// The mode.
        mode: String,
        /// The root.
        root_key: String,
        /// The first name below the root.
        subdirectory: Option<String>,
        /// The names of the conditions that do not hold, in the rule's order.
        failed_conditions: Vec<String>,
    },
}

impl Reply {
    pub(crate) fn bare(code: ReplyCode) -> Self {
        let data = ReplyData::Nothing {};
        Self { code, data }
    }

    /// The judgement of an operation, or of visibility.
    pub fn judgement(
        code: ReplyCode,
        mode: &str,
        root: &str,
        subdirectory: Option<&str>,
        failed_conditions: Vec<String>,
    ) -> Self {
        let data = ReplyData::Judgement {
            mode: mode.to_owned(),
            root_key: root.to_owned(),
            subdirectory: subdirectory.map(str::to_owned),
            failed_conditions,
        };
        Self { code, data }
    }

    /// The code, the message and the failed conditions, for a verdict's reason.
    pub fn sentence(&self) -> String {
        let head = format!("{}: {}", self.code.as_str(), self.code.message());
        match &self.data {
            ReplyData::Judgement {
                failed_conditions, ..
            } if !failed_conditions.is_empty() => format!("{head}: {}", failed_conditions.join(", ")),
            ReplyData::Fault { reason } => format!("{head}: {reason}"),
            ReplyData::Nothing {} | ReplyData::Place { .. } | ReplyData::Judgement { .. } => head,
        }
    }
}

impl Serialize for Reply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Reply", 4)?;
        fields.serialize_field("code", &self.code)?;
        fields.serialize_field("status", &self.code.status())?;
        fields.serialize_field("message", self.code.message())?;
        fields.serialize_field("data", &self.data)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::ReplyStatus;

    #[test]
    fn a_code_says_its_status_and_its_area() {
        let all: BTreeSet<&str> = ReplyCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(all.len(), ReplyCode::ALL.len());
        for code in ReplyCode::ALL {
            let letter = match code.status() {
                ReplyStatus::Success => "-S-",
                ReplyStatus::Invalid => "-I-",
                ReplyStatus::Denied => "-D-",
                ReplyStatus::Error => "-E-",
            };
            assert!(code.as_str().contains(letter), "{}", code.as_str());
        }
        for (area, name) in [
            (Area::Read, "READ"),
            (Area::Write, "WRITE"),
            (Area::Delete, "DELETE"),
            (Area::Git, "GIT"),
            (Area::Exec, "EXEC"),
        ] {
            for (outcome, end) in [
                (Outcome::Allowed, "S-001"),
                (Outcome::NoRule, "D-001"),
                (Outcome::Unmet, "D-002"),
            ] {
                let code = ReplyCode::of(area, outcome);
                assert_eq!(code.as_str(), format!("EN-{name}-{end}"));
            }
        }
    }

    #[test]
    fn a_reply_is_code_status_message_data() {
        let reply = Reply {
            code: ReplyCode::WriteUnmet,
            data: ReplyData::Judgement {
                mode: "m".to_owned(),
                root_key: "r".to_owned(),
                subdirectory: None,
                failed_conditions: vec!["has_contract".to_owned()],
            },
        };
        assert_eq!(
            serde_json::to_string(&reply).unwrap(),
            r#"{"code":"EN-WRITE-D-002","status":"denied","message":"The conditions for writing here are not met","data":{"mode":"m","root_key":"r","subdirectory":null,"failed_conditions":["has_contract"]}}"#
        );
        assert_eq!(
            reply.sentence(),
            "EN-WRITE-D-002: The conditions for writing here are not met: has_contract"
        );
        let bare = Reply::bare(ReplyCode::NotVisible);
        assert_eq!(
            serde_json::to_value(&bare).unwrap()["data"],
            serde_json::json!({})
        );
    }
}
