//! Decisions and verdicts for people and as JSON.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::judge::{Decision, Verdict};

impl fmt::Display for Decision<'_> {
    /// `allow`, `escalate` or `deny`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// As its word. The roles that escalated are in the JSON of the verdict.
impl Serialize for Decision<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Verdict<'_> {
    /// `deny by default-deny: …`, or `escalate by ask (read-path): …` with the roles that escalated.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} by {}", self.decision, self.rule)?;
        let roles = self.escalated_roles();
        if !roles.is_empty() {
            write!(formatter, " ({})", roles.join(", "))?;
        }
        write!(formatter, ": {}", self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_a_line() {
        let verdict = Verdict::escalate(vec!["read-path", "fetch-url"], "ask", "a person decides");
        assert_eq!(
            verdict.to_string(),
            "escalate by ask (read-path, fetch-url): a person decides"
        );
        let verdict = Verdict::deny("default-deny", "no rule");
        assert_eq!(verdict.to_string(), "deny by default-deny: no rule");
        assert_eq!(serde_json::to_string(&verdict.decision).unwrap(), "\"deny\"");
        assert_eq!(format!("{:>8}", Decision::Allow), "   allow");
    }
}
