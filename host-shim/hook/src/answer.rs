//! The answer to an agent, in its own protocol.

use callgate_engine::judge::StructuralRule;
use serde_json::Value;

use super::agents::{Agent, Asks, Event};
use super::call::{HookCall, event_of_fault};
use super::protocols::Fate;

/// The exit code that denies with every agent.
const DENIES: u8 = 2;

/// The most characters of a reason.
const MOST_SHOWN: usize = 2_000;

/// The output of a hook, and the code that it ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookAnswer {
    /// For the agent: one JSON document, or nothing.
    pub stdout: String,
    /// For the agent or a person: why a call does not pass.
    pub stderr: String,
    /// How the process ends.
    pub code: u8,
}

/// What is answered, and to whom a person's decision is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    Allow,
    /// The hook has nothing against the call, and a person decides, or the agent.
    Left,
    /// A person is asked.
    Ask,
    /// A person would have to be asked, and cannot.
    Unasked,
    Deny,
}

impl Answered {
    /// Returns `true` if the call may be made.
    pub(super) fn passes(self) -> bool {
        matches!(self, Self::Allow | Self::Left | Self::Ask)
    }
}

/// The answer to a question that cannot be judged: a denial in the agent's own protocol, with an exit code that denies too.
pub fn fault(agent: &'static Agent, input: &str, reason: &str) -> HookAnswer {
    fault_at(event_of_fault(agent, input), reason)
}

pub(super) fn fault_at(event: &Event, reason: &str) -> HookAnswer {
    let reason = format!(
        "The call cannot be judged, so it is denied: {reason} (rule `{}`)",
        StructuralRule::HookFault
    );
    HookAnswer::written(event, Fate::Deny, &shown("", &reason), None, DENIES)
}

impl HookAnswer {
    /// The answer to a call that was judged, with other arguments than those that the agent gave.
    pub(super) fn of(call: &HookCall, answered: Answered, reason: &str, arguments: Option<&Value>) -> Self {
        let (fate, before) = match answered {
            Answered::Allow => (Fate::Allow, "allowed: ".to_owned()),
            Answered::Left => (Fate::Left, String::new()),
            Answered::Ask => (Fate::Ask, "a person decides: ".to_owned()),
            Answered::Unasked => (Fate::Deny, unasked(call)),
            Answered::Deny => (Fate::Deny, "denied: ".to_owned()),
        };
        let reason = shown(&before, reason);
        Self::written(call.event, fate, &reason, arguments, call.agent.denial_code)
    }

    fn written(event: &Event, fate: Fate, reason: &str, arguments: Option<&Value>, denial_code: u8) -> Self {
        let answer = (event.protocol)(fate, reason, arguments);
        let stdout = answer.map(|answer| format!("{answer}\n")).unwrap_or_default();
        let (stderr, code) = match fate {
            Fate::Deny => (format!("{reason}\n"), denial_code),
            Fate::Allow | Fate::Left | Fate::Ask => (String::new(), 0),
        };
        Self { stdout, stderr, code }
    }
}

fn unasked(call: &HookCall) -> String {
    let is_word = |mode: &&str| mode.len() < 32 && mode.chars().all(char::is_alphanumeric);
    let asks = call.agent.asks(call.event);
    match (asks, call.mode.as_deref().filter(is_word)) {
        (Asks::Never(about), _) => {
            format!("a person would have to decide, and cannot be asked {about}: ")
        }
        (Asks::InModes { .. }, Some(mode)) => {
            format!("a person would have to decide, and is not asked in the mode `{mode}`: ")
        }
        (Asks::InModes { .. } | Asks::Trusted | Asks::Always, _) => {
            "a person would have to decide, and cannot be asked here: ".to_owned()
        }
    }
}

fn shown(before: &str, reason: &str) -> String {
    let reason: String = reason.chars().take(MOST_SHOWN).collect();
    format!("Callgate: {before}{reason}")
}
