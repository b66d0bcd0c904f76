//! Calls that a policy counts: before the agent makes them.

use callgate_guard::{Caller, Counted, Counters, Counting};
use callgate_host::Gate;
use serde_json::Value;

use super::agents::Step;
use super::call::HookCall;
use super::options::HookOptions;

impl HookCall {
    /// What was counted, locked until the call is; `None` if that is nothing, or not known.
    pub(super) fn begin_counting(&self, counters: &Counters, options: &HookOptions) -> Option<Counting> {
        let counts = options.counts.as_ref().filter(|_| !counters.is_empty())?;
        let caller = Caller::of(self.caller.added_to(None).as_deref());
        let again = self.tool_name().filter(|_| self.event.step != Step::Tool);
        // Where it is not known a rule that looks at it asks.
        counts.begin(counters, &caller, again.as_deref()).ok()
    }

    /// The same without the lock.
    pub(super) fn counted(&self, gate: &Gate, options: &HookOptions) -> Option<Counted> {
        let counting = self.begin_counting(&Counters::of(gate), options);
        counting.as_ref().map(Counting::counted)
    }

    /// Counts a call that the agent may make; `false` if that is not certain.
    pub(super) fn count(
        &self,
        counters: &Counters,
        counting: Option<Counting>,
        explanation: Option<&Value>,
        options: &HookOptions,
    ) -> bool {
        if options.counts.is_none() || counters.is_empty() {
            return true;
        }
        let counting = counting.or_else(|| self.begin_counting(counters, options));
        // An agent that asks again is asked about by the same name.
        let tool = self
            .tool_name()
            .filter(|_| self.event.step == Step::Tool && self.agent.has_further());
        match counting {
            Some(counting) => counting.add(explanation, tool.as_deref()).is_ok(),
            None => !callgate_guard::is_counted(explanation),
        }
    }

    /// The tool, as each event of the agent names it.
    fn tool_name(&self) -> Option<String> {
        let mut readings = self.readings().into_iter();
        readings.next().map(|(server, tool)| format!("{server}/{tool}"))
    }
}
