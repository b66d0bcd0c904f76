//! Verdicts of layers, one above the other, put together: the strictest of those with an opinion stands (SPEC §11a).

use super::{Decision, StructuralRule, Verdict};

/// Said of a call of which two layers would send different texts.
const DIFFERS: &str = "The layers of the policy would send the call in different forms, since their annotations or their sandboxes \
                       differ: give absolute paths without links, `~`, `.` and `..`, and URLs as they are normalized";

/// What a layer says of a call.
#[derive(Clone, Copy, Debug)]
pub struct Said<'s, 'p> {
    /// The verdict, as if the layer were alone.
    pub verdict: &'s Verdict<'p>,
    /// The arguments that it would send, as JSON text.
    pub arguments: Option<&'s str>,
    /// Its bundle leaves the server of the call to those below, where it does not know the tool.
    pub leaves: bool,
}

impl Said<'_, '_> {
    /// Returns `true` if the layer does not know the tool, and leaves it to those below.
    pub fn is_left(&self) -> bool {
        self.leaves && self.is_by(StructuralRule::UnknownTool)
    }

    /// Returns `true` if the layer says anything about the call: one that trusts the server allows whatever is sent.
    fn is_opinion(&self) -> bool {
        !self.is_left() && !self.is_by(StructuralRule::TrustedServer)
    }

    fn is_by(&self, rule: StructuralRule) -> bool {
        StructuralRule::parse(&self.verdict.rule) == Some(rule)
    }

    /// How strict the verdict is, and of two that allow the one by an approval first.
    fn rank(&self) -> (u8, bool) {
        (
            self.verdict.decision.strictness(),
            self.verdict.approval.is_some(),
        )
    }
}

/// The verdict of all layers.
#[derive(Clone, Debug)]
pub struct Joined<'p> {
    /// The verdict.
    pub verdict: Verdict<'p>,
    /// The place of the layer whose verdict stands, or would stand; the lowest comes last.
    pub layer: usize,
    /// They would send different texts, so that the call is denied.
    pub differs: bool,
}

/// The layers that say anything about the call, each with its place; the lowest if none does. Those above it are in their order, the
/// uppermost first.
pub fn opinions<'s, 'p>(above: &[Said<'s, 'p>], lowest: Said<'s, 'p>) -> Vec<(usize, Said<'s, 'p>)> {
    let all = above.iter().copied().chain([lowest]).enumerate();
    let opinions: Vec<_> = all.filter(|(_, said)| said.is_opinion()).collect();
    match opinions.is_empty() {
        true => vec![(above.len(), lowest)],
        false => opinions,
    }
}

/// The verdict of all layers.
pub fn join<'p>(above: &[Said<'_, 'p>], lowest: Said<'_, 'p>) -> Joined<'p> {
    let opinions = opinions(above, lowest);
    // The uppermost of the strictest.
    let strictest = opinions.iter().rev().max_by_key(|(_, said)| said.rank());
    let (layer, stands) = strictest.copied().unwrap_or((above.len(), lowest));
    let mut verdict = stands.verdict.clone();
    if let Decision::Escalate(roles) = &mut verdict.decision {
        // Whoever answers has to know everything that is asked. The reasons of others may name paths that an agent may not know.
        for (_, other) in opinions.iter().filter(|(at, _)| *at != layer) {
            let Decision::Escalate(also) = &other.verdict.decision else {
                continue;
            };
            for role in also {
                if !roles.contains(role) {
                    roles.push(role.clone());
                }
            }
            let (reason, rule) = (&verdict.reason, &other.verdict.rule);
            verdict.reason = format!("{reason}; rule `{rule}` of another layer asks too").into();
        }
    }
    let mut sent = opinions.iter().map(|(_, said)| said.arguments);
    // A denial sends nothing.
    let differs = verdict.decision != Decision::Deny && !sent.all(|sent| sent == stands.arguments);
    if differs {
        verdict = Verdict::deny(StructuralRule::InexactCall, DIFFERS);
    }
    Joined {
        verdict,
        layer,
        differs,
    }
}
