//! Verdicts as numbers: a verdict that an engine gives repeatedly crosses to JavaScript once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use callgate_engine::judge::Verdict;

/// The number of a verdict that is not shared; it is fetched each time.
pub(super) const UNSHARED: u32 = u32::MAX;

/// How many verdicts are kept. If a policy has more, the others are fetched each time.
const MOST: usize = 1 << 16;

/// Stands beside the number of a verdict whose reason depends on the call: only that is fetched each time.
const WITH_REASON: u32 = 1 << 16;

/// The address and length of text that an engine holds: it lives as long as the engine and never changes.
type TextRange = (usize, usize);

/// A decision's strictness, rule and reason.
type VerdictParts = (u8, TextRange, TextRange);

/// The verdicts that one engine has given.
#[derive(Default)]
pub(super) struct Verdicts {
    /// For each of them, the numbers by the roles that escalated.
    numbers: BTreeMap<VerdictParts, Vec<(Vec<TextRange>, u32)>>,
    shared: Vec<Verdict<'static>>,
    unshared: Option<Verdict<'static>>,
    /// The reason of the last verdict, where it depends on the call.
    reason: String,
}

impl Verdicts {
    /// The verdict's number.
    pub(super) fn number(&mut self, verdict: &Verdict<'_>) -> u32 {
        let Some(rule) = text_range(&verdict.rule).filter(|_| verdict.approval.is_none()) else {
            return self.keep(verdict);
        };
        // No text is at the address 0.
        let (reason, flag) = match text_range(&verdict.reason) {
            Some(reason) => (reason, 0),
            None => ((0, 0), WITH_REASON),
        };
        if flag == WITH_REASON {
            self.reason.clear();
            self.reason.push_str(&verdict.reason);
        }
        let roles = verdict.escalated_roles().iter().map(text_range);
        let Some(roles) = roles.collect::<Option<Vec<TextRange>>>() else {
            return self.keep(verdict);
        };
        let key = (verdict.decision.strictness(), rule, reason);
        let numbers = self.numbers.entry(key).or_default();
        if let Some((_, number)) = numbers.iter().find(|(known, _)| *known == roles) {
            return *number | flag;
        }
        match u32::try_from(self.shared.len()) {
            Ok(number) if self.shared.len() < MOST => {
                numbers.push((roles, number));
                self.shared.push(verdict.clone().into_owned());
                number | flag
            }
            _ => self.keep(verdict),
        }
    }

    /// The reason of the last verdict, where its number says that it depends on the call.
    pub(super) fn reason(&self) -> &str {
        &self.reason
    }

    /// The verdict of that number.
    pub(super) fn verdict(&self, number: u32) -> Option<&Verdict<'static>> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        self.shared.get(at).or(self.unshared.as_ref())
    }

    fn keep(&mut self, verdict: &Verdict<'_>) -> u32 {
        self.unshared = Some(verdict.clone().into_owned());
        UNSHARED
    }
}

/// `None` for text that the engine does not hold.
#[expect(clippy::ptr_arg, reason = "it matters whether the text is borrowed")]
fn text_range(text: &Cow<'_, str>) -> Option<TextRange> {
    match text {
        Cow::Borrowed(text) => Some((text.as_ptr().addr(), text.len())),
        Cow::Owned(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use callgate_engine::judge::Decision;

    use super::*;

    #[test]
    fn a_repeated_verdict_has_the_same_number() {
        let mut verdicts = Verdicts::default();
        let say = |roles: Vec<&'static str>| Verdict {
            decision: Decision::Escalate(roles.into_iter().map(Cow::Borrowed).collect()),
            rule: Cow::Borrowed("rule"),
            reason: Cow::Borrowed("because"),
            approval: None,
        };
        let [first, second] = [vec!["read-path"], vec!["read-path", "fetch-url"]];
        assert_eq!(verdicts.number(&say(first.clone())), 0);
        assert_eq!(verdicts.number(&say(second)), 1);
        assert_eq!(verdicts.number(&say(first)), 0);
        assert_eq!(verdicts.verdict(1).unwrap().escalated_roles()[1], "fetch-url");
        let own = Verdict {
            decision: Decision::Deny,
            rule: Cow::Borrowed("rule"),
            reason: Cow::Owned("because".to_owned()),
            approval: None,
        };
        assert_eq!(verdicts.number(&own), 2 | WITH_REASON);
        assert_eq!(verdicts.verdict(2).unwrap().decision, Decision::Deny);
        assert_eq!(verdicts.reason(), "because");
        let other = Verdict {
            reason: Cow::Owned("for another reason".to_owned()),
            ..own.clone()
        };
        assert_eq!(verdicts.number(&other), 2 | WITH_REASON);
        assert_eq!(verdicts.reason(), "for another reason");
        let approved = Verdict {
            approval: Some("a".into()),
            ..own
        };
        assert_eq!(verdicts.number(&approved), UNSHARED);
        assert_eq!(verdicts.verdict(UNSHARED).unwrap().decision, Decision::Deny);
    }
}
