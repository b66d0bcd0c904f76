//! The order in which the members of a call are looked at.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::value::Value;
use crate::program::{Compatibility, Program, Tool, ToolMember};
use crate::sort;

/// The members of a call with what its tool says about them.
pub(super) struct Order<'p> {
    /// In the order of the call; none without a tool.
    known: SmallVec<[&'p ToolMember; 4]>,
    /// The members in the order in which they are looked at; empty where that is the order of the call.
    changed: Vec<usize>,
}

impl<'p> Order<'p> {
    /// The order of the annotation, then that of the names, so that no verdict depends on the order in which the call has
    /// them. The existing runtime takes them as they come.
    pub(super) fn new(
        program: &Program,
        tool: Option<&'p Tool>,
        members: &[(Cow<'_, str>, Value<'_>)],
    ) -> Self {
        let mut known = SmallVec::<[&ToolMember; 4]>::new();
        if let Some(tool) = tool {
            known.extend(members.iter().map(|(name, _)| tool.member(name)));
        }
        let place = |at: usize| {
            let first = known.get(at).and_then(|member| member.arguments.first());
            let name = members.get(at).map(|(name, _)| &**name);
            (first.copied().unwrap_or(usize::MAX), name)
        };
        let mut changed = Vec::new();
        if program.compatibility == Compatibility::Careful && !(0..members.len()).is_sorted_by_key(place) {
            changed.extend(0..members.len());
            sort::sort_by(&mut changed, |one, other| place(*one).cmp(&place(*other)));
        }
        Self { known, changed }
    }

    /// The place in the call of the member that is looked at as this one, and what the tool says about it.
    pub(super) fn nth(&self, at: usize) -> (usize, Option<&'p ToolMember>) {
        let at = self.changed.get(at).copied().unwrap_or(at);
        (at, self.known.get(at).copied())
    }
}
