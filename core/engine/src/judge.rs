//! Deciding: a function of the program, the call and the host's answers. It is total: what cannot be judged
//! is denied with a named rule.
//!
//! A call goes through stages, in this order:
//!
//! | stage | file | from what to what |
//! |---|---|---|
//! | bind | `inputs`, `crate::bind` | the arguments, to values under the roles of the tool; the host is not asked |
//! | checks of the call | `checks` | shape, names, limits: what is wrong whatever the values are |
//! | canonical | `operands`, `canonical` | values, to operands with their canonical forms |
//! | checks of the values | `checks` | protected paths, ceiling, world, sandbox |
//! | absent remotes | `git` | arguments that are not given, to the URLs that git would use |
//! | checks of all of it | `checks` | allowlists |
//! | commands | `commands` | the programs of a shell command, each to a verdict by the stages above |
//! | rules | `rules` | the rule loop: each role by itself, over the rules that `candidates` finds |
//! | combine | `combine` | the verdicts of checks and roles, to the strictest |
//! | approve | `approvals` | an escalation that a person approved, to an allowance |
//! | prepare | `sent` | operands, to the arguments that are sent |
//!
//! A denial by a check ends it; escalations are collected. A failure of the host stays, and is looked at between the stages.
//!
//! Each stage is a function of two things. `Inputs` is what is given, to which only the stages *canonical* and *absent remotes* add.
//! `Asking` is what changes: the [`Facts`], which ask the host, remember its answers and count steps by their meter; `Lookups`, what
//! was found in the call so far; and `Trace`, which watches.

mod answers;
mod apart;
mod approvals;
mod arguments;
mod asking;
mod candidates;
mod canonical;
mod careful;
mod ceiling;
mod change;
mod changes;
mod check;
mod checks;
mod combine;
mod commands;
mod conditions;
mod counted;
mod counts;
mod directories;
mod directory;
mod domains;
mod explained;
mod git;
mod granted;
mod hits;
mod inputs;
pub mod layers;
mod links;
mod listed;
mod lists;
mod locations;
mod look;
mod lookups;
mod operand;
mod operands;
mod part;
mod path_forms;
mod pattern;
mod places;
mod protected;
mod reason;
mod refs;
mod repository;
mod resolved;
mod rules;
mod sandbox;
mod sent;
mod sight;
mod structural;
mod touch;
mod trace;
mod trees;
mod unjudged;
mod verdict;
mod why;
mod work_tree;
mod world;

use std::collections::BTreeSet;

pub use apart::Apart;
pub use canonical::{Canonicalizer, PathBase};
pub use careful::refused_spelling;
pub use directories::{Directories, Grants, Known, Pinned};
pub use locations::url_kind;
pub use path_forms::heuristic;
pub use resolved::{Resolved, ResolvedValue, Wanted};
pub use sight::Sight;
pub use sight::ValueSight;
pub use structural::StructuralRule;
pub use trace::{
    CheckStep, CommandStep, CounterStep, Explanation, PartStep, RoleStep, RuleStep, ValueStep, WalkStep,
};
pub use verdict::{Decision, Verdict};
pub use world::PlaceSeen;

use crate::approval::{Approving, Offer};
use crate::bind::{Call, Prepared, Renamed, ShapeError};
use crate::host::{Facts, Host, HostError};
use crate::program::{Program, ServerSettings, Tool};
use approvals::Escalated;
use asking::Asking;
use inputs::Inputs;
use lookups::Lookups;
use reason::host_failure;
use trace::Trace;

/// One call while it is judged.
pub struct Judging<'p, 'c, 'h> {
    inputs: Inputs<'p, 'c>,
    asking: Asking<'p, 'h>,
    /// The approvals that may cover the call, if anyone asks.
    approving: Option<Approving<'c>>,
    /// `true` if the paths behind addresses may be forwarded to the tool's server.
    may_forward_places: bool,
}

/// A call, and how it is judged.
pub struct Task<'p, 'c, 'h> {
    pub settings: &'p ServerSettings,
    /// The tool, if it is annotated.
    pub tool: Option<&'p Tool>,
    /// The call as it was given, and what was made of it.
    pub given: &'c Call<'c>,
    pub shape: &'c Result<Option<Renamed<'c>>, ShapeError>,
    pub base: &'h PathBase<'h>,
    /// `true` if steps and the host's answers are kept for an explanation.
    pub traced: bool,
    /// The approvals that may cover the call, if anyone asks.
    pub approving: Option<Approving<'c>>,
}

impl<'p, 'c, 'h> Judging<'p, 'c, 'h> {
    /// Binds the call's arguments; the host is not asked yet.
    pub fn new(program: &'p Program, known: Known<'p>, task: &Task<'p, 'c, 'h>, host: &'h dyn Host) -> Self {
        let facts = Facts::bounded(host, task.traced, program.limits.steps);
        Self {
            inputs: Inputs::bind(program, task),
            asking: Asking {
                canonicalizer: Canonicalizer::new(program, facts, task.base),
                directories: Directories::new(program, known),
                lookups: Lookups::default(),
                trace: task.traced.then(|| Trace::new(program.limits.explanation_steps)),
                held: task.approving.map(|_| BTreeSet::new()),
                lacks_counts: false,
                counted: Vec::new(),
            },
            approving: task.approving,
            may_forward_places: false,
        }
    }

    /// The verdict. A host that fails makes it a denial, never anything else.
    pub fn judge(&mut self) -> Verdict<'p> {
        let (verdict, escalated) = self.decide();
        match self.approving {
            Some(approving) if matches!(verdict.decision, Decision::Escalate(_)) => {
                approvals::approve(&self.inputs, &mut self.asking, approving, verdict, escalated)
            }
            Some(_) | None => verdict,
        }
    }

    /// The verdict before approvals, and what they would have to cover.
    fn decide(&mut self) -> (Verdict<'p>, Escalated) {
        let (inputs, asking) = (&mut self.inputs, &mut self.asking);
        (asking.lacks_counts, asking.counted) = (false, Vec::new());
        let checked = checks::run(inputs, asking);
        let inputs = &*inputs;
        self.may_forward_places = checked.may_forward_places;
        let leaves_rules = checked.decided.is_some();
        let verdict = match checked.decided {
            Some(verdict) => verdict,
            None if asking.has_failed() => return (host_failure(inputs, asking), Escalated::default()),
            None => commands::judge_roles(inputs, asking, checked.sandboxed),
        };
        let mut escalated = Escalated::default();
        if asking.held.is_some() {
            let findings = checked.possible.iter().chain(&checked.certain);
            for one in findings.chain([&verdict]) {
                escalated.add(inputs.program, one);
            }
            if leaves_rules && matches!(verdict.decision, Decision::Escalate(_)) {
                let rest = commands::judge_roles(inputs, asking, checked.sandboxed);
                escalated.add_unasked(inputs.program, &rest);
            }
        }
        if verdict.decision != Decision::Deny {
            counted::count(inputs, asking, leaves_rules);
        }
        let verdict = match asking.has_failed() {
            true => host_failure(inputs, asking),
            false => combine::with_findings(verdict, checked.certain, checked.possible),
        };
        (verdict, escalated)
    }

    /// The verdict, and the two views of the call from the same canonical forms that were judged. After a denial no view
    /// holds the place behind an address.
    pub fn gate(&mut self) -> (Verdict<'p>, Prepared) {
        let verdict = self.judge();
        let is_denied = verdict.decision == Decision::Deny;
        self.may_forward_places &= !is_denied;
        match self.prepare() {
            Ok(prepared) => (verdict, prepared),
            Err(_) if is_denied => (verdict, Prepared::default()),
            Err(_) => (host_failure(&self.inputs, &mut self.asking), Prepared::default()),
        }
    }

    /// The verdict of [`gate`](Self::gate) alone. The views are made only where that asks the host or takes steps, so that it
    /// may fail.
    pub fn gate_verdict(&mut self) -> Verdict<'p> {
        let verdict = self.judge();
        if verdict.decision == Decision::Deny || sent::is_surely_prepared(&self.inputs, &self.asking) {
            return verdict;
        }
        match self.prepare() {
            Ok(_) => verdict,
            Err(_) => host_failure(&self.inputs, &mut self.asking),
        }
    }

    /// The two views of the call.
    ///
    /// # Errors
    /// When the host fails, or failed before.
    pub fn prepare(&mut self) -> Result<Prepared, HostError> {
        sent::prepare(&mut self.inputs, &mut self.asking, self.may_forward_places)
    }

    /// The constraints of an approval that would cover the call. `None` if it does not escalate, and if something that
    /// escalates cannot be constrained.
    pub fn offer(&mut self) -> Option<Offer> {
        self.asking.held = Some(BTreeSet::new());
        let (verdict, escalated) = self.decide();
        approvals::offer(&self.inputs, &mut self.asking, verdict, escalated)
    }

    /// The verdict with everything that led to it.
    pub fn explain(&mut self, verdict: Verdict<'_>) -> Explanation {
        explained::explain(&self.inputs, &mut self.asking, verdict)
    }

    /// Judges each role by itself.
    pub fn judge_apart(&mut self) -> Apart {
        apart::judge_apart(&mut self.inputs, &mut self.asking)
    }

    /// The call as judging sees it; `None` for a call of an unknown tool, of a trusted server, and for one that is
    /// refused for its form.
    pub fn sight(&mut self) -> Option<Sight> {
        sight::sight(&mut self.inputs, &mut self.asking)
    }

    /// Resolves the call; `None` for a call of an unknown tool, and for one that is refused for its form.
    pub fn resolved(&mut self, wanted: Wanted) -> Option<Resolved> {
        resolved::resolved(&mut self.inputs, &mut self.asking, wanted)
    }

    /// The first byte says if roles of arguments are unsure in the call, the others how it meets each condition of the tool's rules on
    /// arguments, whether or not it is refused for its form.
    pub fn conditions_met(&mut self) -> Option<Vec<u8>> {
        resolved::conditions_met(&mut self.inputs, &mut self.asking)
    }
}
