//! Deciding: a function of the program, the call and the host's answers. It is total: what cannot be judged
//! is denied with a named rule.
//!
//! A call goes through stages, in this order:
//!
//! | stage | file | from what to what |
//! |---|---|---|
//! | bind | `crate::bind` | the arguments, to values under the roles of the tool; the host is not asked |
//! | checks of the call | `checks` | shape, names, limits: what is wrong whatever the values are |
//! | canonical | `canonical` | values, to operands with their canonical forms |
//! | checks of the values | `checks` | protected paths, ceiling, world, sandbox, allowlists |
//! | rules | `rules` | the rule loop: each role by itself, over the rules that `candidates` finds |
//! | combine | `combine` | the verdicts of checks and roles, to the strictest |
//! | approve | `approvals` | an escalation that a person approved, to an allowance |
//! | prepare | `sent` | operands, to the arguments that are sent |
//!
//! A denial by a check ends it; escalations are collected. A failure of the host stays, and is looked at between the stages.

mod apart;
mod approvals;
mod arguments;
mod candidates;
mod canonical;
mod careful;
mod ceiling;
mod changes;
mod check;
mod checks;
mod combine;
mod conditions;
mod directories;
mod directory;
mod domains;
mod explained;
mod git;
mod granted;
mod hits;
mod listed;
mod lists;
mod locations;
mod lookups;
mod operand;
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
mod unjudged;
mod verdict;
mod world;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

pub use apart::Apart;
use approvals::Escalation;
pub use canonical::{Canonicalizer, PathBase};
pub use careful::refused_spelling;
pub use directories::{Directories, Grants, Known, Pinned};
pub use locations::url_kind;
pub use path_forms::heuristic;
pub use resolved::{Resolved, ResolvedValue, Wanted};
pub use sight::Sight;
pub use sight::ValueSight;
pub use structural::StructuralRule;
use trace::Trace;
pub use trace::{CheckStep, Explanation, RoleStep, RuleStep, ValueStep, WalkStep};
pub use verdict::{Decision, Verdict};
pub use world::PlaceSeen;

use crate::bind::{BoundArguments, BoundValue, Call, PointerToken, Prepared, Renamed, ShapeError};
use crate::cost::FURTHER_VALUE;
use crate::host::{Facts, Host, HostError};
use crate::model::ArgumentName;
use crate::program::{Program, ServerSettings, Tool};
use crate::role::{Category, Step};
use crate::role::{RoleId, RoleSet};
use crate::text::escape_token;
use check::Finding;
use combine::Undecided;
use lookups::Lookups;
use operand::{Form, Operand};

/// Indices of operands.
type Values = SmallVec<[usize; 2]>;

/// Indices of operands by role, one role after the other.
#[derive(Default)]
struct RoleValues {
    /// The roles, each with the end of its part.
    ends: SmallVec<[(RoleId, usize); 4]>,
    values: SmallVec<[usize; 4]>,
}

impl RoleValues {
    /// The part of a role; `None` if it was not added.
    fn part(&self, role: RoleId) -> Option<Range<usize>> {
        let mut start = 0;
        for (known, end) in &self.ends {
            if *known == role {
                return Some(start..*end);
            }
            start = *end;
        }
        None
    }

    fn get(&self, part: Range<usize>) -> &[usize] {
        self.values.get(part).unwrap_or_default()
    }
}

/// Everything about one call while it is judged.
pub struct Case<'p, 'c, 'h> {
    program: &'p Program,
    canonicalizer: Canonicalizer<'p, 'h>,
    directories: Directories<'p>,
    call: &'c Call<'c>,
    /// The configuration of the call's server.
    settings: &'p ServerSettings,
    tool: Option<&'p Tool>,
    arguments: BoundArguments<'p, 'c>,
    /// The values that have no canonical form yet.
    pending: std::vec::IntoIter<BoundValue<'p, 'c>>,
    /// The values that have one.
    operands: Vec<Operand<'p, 'c>>,
    /// The roles that any argument of the tool has in this call.
    tool_roles: RoleSet,
    /// The roles all of whose values lie within the sandbox.
    sandboxed: RoleSet,
    /// `true` if the paths behind addresses may be forwarded to the tool's server.
    may_forward_places: bool,
    lookups: Lookups<'p, 'c>,
    /// The operands under each role, once asked for.
    values: RoleValues,
    /// Members that stood under an alias.
    renamed: &'c [(usize, &'c str)],
    trace: Option<Trace>,
    /// The values for which no rule decided when a role was last denied by default.
    undecided: Undecided,
    /// The findings of checks that stand unless the call is denied.
    findings: Vec<Finding<'p>>,
    /// The escalation and the approvals that may cover it, if anyone asks.
    escalation: Option<Box<Escalation<'c>>>,
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
}

impl<'p, 'c, 'h> Case<'p, 'c, 'h> {
    /// A case about the task, whose arguments are to be [read](Self::read).
    pub fn new(program: &'p Program, known: Known<'p>, task: &Task<'p, 'c, 'h>, host: &'h dyn Host) -> Self {
        let (call, renamed) = match task.shape {
            Ok(Some(renamed)) => (&renamed.call, &*renamed.members),
            Ok(None) | Err(_) => (task.given, &[][..]),
        };
        Self {
            program,
            canonicalizer: Canonicalizer::new(
                program,
                Facts::bounded(host, task.traced, program.limits.steps),
                task.base,
            ),
            directories: Directories::new(program, known),
            call,
            settings: task.settings,
            tool: task.tool,
            arguments: BoundArguments::default(),
            operands: Vec::new(),
            pending: Vec::new().into_iter(),
            tool_roles: RoleSet::default(),
            sandboxed: RoleSet::default(),
            may_forward_places: false,
            lookups: Lookups::default(),
            values: RoleValues::default(),
            renamed,
            trace: task.traced.then(|| Trace::new(program.limits.explanation_steps)),
            undecided: Undecided::Call,
            findings: Vec::new(),
            escalation: None,
        }
    }

    /// Binds the call's arguments to the roles of its tool, if that is annotated; the host is not asked yet.
    pub fn read(&mut self, task: &Task<'p, 'c, 'h>) {
        match task.shape {
            Ok(_) => self.arguments.read(self.program, self.tool, self.call),
            Err(error) => self
                .arguments
                .refuse_shape(self.program, self.tool, self.call, error),
        }
        self.pending = std::mem::take(&mut self.arguments.values).into_iter();
        self.tool_roles = self.arguments.resolved.all();
    }

    /// Takes the next value that has no canonical form. Values beyond as many as one role may have cost what they hold; where some
    /// were left out, no steps are left.
    fn next_pending(&mut self) -> Option<BoundValue<'p, 'c>> {
        let bound = self.pending.next()?;
        if self.arguments.are_left_out {
            self.canonicalizer.facts.take_steps(usize::MAX);
        } else if self.operands.len() >= self.program.limits.values_per_role {
            self.canonicalizer.facts.take_steps(FURTHER_VALUE);
        }
        Some(bound)
    }

    /// The verdict. A host that fails makes it a denial, never anything else.
    pub fn judge(&mut self) -> Verdict<'p> {
        let verdict = self.decide();
        if self.escalation.is_some() && matches!(verdict.decision, Decision::Escalate(_)) {
            return self.approve(verdict);
        }
        verdict
    }

    /// The verdict before approvals.
    fn decide(&mut self) -> Verdict<'p> {
        let decided = checks::run(self);
        let leaves_rules = decided.is_some();
        let verdict = match decided {
            Some(verdict) => verdict,
            None if self.canonicalizer.facts.has_failed() => return self.host_failure(),
            None => self.judge_roles(),
        };
        self.note_escalation(&verdict);
        if leaves_rules && matches!(verdict.decision, Decision::Escalate(_)) {
            self.ask_rules_for_approval();
        }
        if self.canonicalizer.facts.has_failed() {
            return self.host_failure();
        }
        combine::with_findings(verdict, std::mem::take(&mut self.findings))
    }

    /// The verdict, and the two views of the call from the same canonical forms that were judged. After a denial no view
    /// holds the place behind an address.
    pub fn gate(&mut self) -> (Verdict<'p>, Prepared) {
        let verdict = self.judge();
        let is_denied = verdict.decision == Decision::Deny;
        if is_denied {
            self.may_forward_places = false;
        }
        match self.prepare() {
            Ok(prepared) => (verdict, prepared),
            Err(_) if is_denied => (verdict, Prepared::default()),
            Err(_) => (self.host_failure(), Prepared::default()),
        }
    }

    /// The verdict of [`gate`](Self::gate) alone. The views are made only where that asks the host or takes steps, so that it
    /// may fail.
    pub fn gate_verdict(&mut self) -> Verdict<'p> {
        let verdict = self.judge();
        if verdict.decision == Decision::Deny || self.is_surely_prepared() {
            return verdict;
        }
        match self.prepare() {
            Ok(_) => verdict,
            Err(_) => self.host_failure(),
        }
    }

    /// Returns `true` if making the views asks the host nothing: every value has its form, and no role is read by the
    /// host.
    fn is_surely_prepared(&self) -> bool {
        let registry = &self.program.registry;
        let is_asked = |step: Step| matches!(step, Step::Callback | Step::Path);
        let mut roles = self.operands.iter().flat_map(|operand| operand.bound.roles);
        let asks = |role: &RoleId| {
            let definition = registry.get(*role);
            let own = definition.category != Category::Path && is_asked(definition.canonicalize);
            own || definition.extract_policy_value.is_some_and(is_asked)
        };
        self.pending.len() == 0
            && self.canonicalizer.base.server_paths.is_none()
            && !self.has_addresses()
            && !roles.any(asks)
    }

    /// The two views of the call.
    ///
    /// # Errors
    /// When the host fails, or failed before.
    pub fn prepare(&mut self) -> Result<Prepared, HostError> {
        let context = self.call.context();
        while let Some(bound) = self.next_pending() {
            // No view is made of a call whose work has ended.
            if self.canonicalizer.facts.has_failed() {
                break;
            }
            // Nothing tells whether an address that was not judged may be used.
            if !bound.role_set.intersects(self.program.address_roles) {
                let base = self.base_of(&bound);
                let mut operand = Operand::new(bound, Form::Text);
                self.canonicalizer.canonicalize(&mut operand, base, context);
                self.operands.push(operand);
            }
        }
        self.canonicalizer.facts.check(())?;
        let mut replacements = Vec::new();
        let mut texts: BTreeMap<_, Vec<&Operand<'_, '_>>> = BTreeMap::new();
        for operand in &self.operands {
            match operand.text_of_parts() {
                Some(text) => texts.entry(text).or_default().push(operand),
                None => {
                    replacements.extend(self.canonicalizer.replacement(operand, self.may_forward_places));
                }
            }
        }
        for parts in texts.values() {
            let places = self.may_forward_places;
            replacements.extend(self.canonicalizer.replacement_of_parts(parts, places));
        }
        let renamed = self.renamed.iter();
        let renamed = renamed.map(|(at, key)| (*at, (*key).to_owned())).collect();
        self.canonicalizer.facts.check(Prepared {
            renamed,
            replacements,
        })
    }

    /// The verdict for a host failure, or for too much work. The host's message is withheld when it could reveal paths.
    fn host_failure(&mut self) -> Verdict<'p> {
        if self.canonicalizer.facts.is_exhausted() {
            let steps = self.program.limits.steps;
            let reason = format!("Limit exceeded: judging the call takes more than steps = {steps} steps");
            self.note("steps", false, || reason.clone());
            return Verdict::deny(StructuralRule::Limit, reason);
        }
        let hides = self.has_addresses();
        let message = match self.canonicalizer.facts.failure() {
            Some(error) if !hides => Some(error.message.clone()),
            Some(_) | None => None,
        };
        let reason = match &message {
            Some(message) => format!("The host failed to answer: {message}"),
            None => "The host failed to answer".to_owned(),
        };
        self.note("host", false, || {
            message.unwrap_or_else(|| "the host failed".to_owned())
        });
        Verdict::deny(StructuralRule::HostError, reason)
    }

    /// Records a structural check for an explanation.
    fn note(&mut self, check: &'static str, passed: bool, detail: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.check(check, passed, detail());
        }
    }

    fn server(&self) -> &'c str {
        &self.call.server
    }

    /// Returns `true` if an argument of the call is an address, so that no path of the host may be revealed.
    fn has_addresses(&self) -> bool {
        self.tool_roles.intersects(self.program.address_roles)
    }

    /// Indices of the operands under the role.
    fn values_of(&self, role: RoleId) -> Values {
        let mut values = Values::new();
        for (at, operand) in self.operands.iter().enumerate() {
            if operand.bound.role_set.contains(role) {
                values.push(at);
            }
        }
        values
    }

    /// The path of the argument that the value is relative to, if it is relative to one that has a path. That has its form
    /// already, since such values come first.
    fn base_of(&mut self, bound: &BoundValue<'p, '_>) -> Option<Arc<str>> {
        let Some(wanted) = bound.relative_to else {
            // It starts from where the server takes it, and it is not sent.
            bound.absent?;
            let directory = self.settings.working_directory.as_ref();
            let directory = directory.or_else(|| self.program.sandbox.first())?;
            return Some(Arc::from(&**directory));
        };
        let base = match self.lookups.bases.get(wanted) {
            Some(known) => known.clone(),
            None => self.find_base(wanted),
        }?;
        // The value's own path will begin with it: it is copied, and its components are looked at.
        self.canonicalizer.facts.take_steps(base.len());
        Some(base)
    }

    fn find_base(&mut self, wanted: &'p str) -> Option<Arc<str>> {
        let mut operands = self.operands.iter().filter(|operand| {
            let bound = &operand.bound;
            !bound.is_filled_in()
                && bound.place.is_empty()
                && bound.relative_to.is_none()
                && self.name_of_value(bound) == wanted
        });
        let base = operands.find_map(|operand| Some(Arc::from(operand.path()?.as_str())));
        self.canonicalizer.facts.take_steps(self.operands.len());
        self.lookups.bases.insert(wanted, base.clone());
        base
    }

    /// The name of an argument; empty for a value that the engine filled in.
    fn name_of(&self, argument: Option<usize>) -> &'c str {
        let member = argument.and_then(|at| self.call.arguments.members().get(at));
        member.map_or("", |(name, _)| name)
    }

    /// The name of the argument that holds the value, or for which the server takes it.
    fn name_of_value<'n>(&self, bound: &BoundValue<'n, '_>) -> &'n str
    where
        'c: 'n,
    {
        match bound.absent {
            Some(argument) => argument.name.first().unwrap_or_default(),
            None => self.name_of(bound.argument),
        }
    }

    /// Where the value stands, as a JSON Pointer (RFC 6901); empty for a value that the engine filled in.
    fn pointer(&self, bound: &BoundValue<'_, '_>) -> String {
        if let Some(argument) = bound.absent {
            return match &argument.name {
                ArgumentName::Top(name) => format!("/{}", escape_token(name)),
                pointer @ ArgumentName::Pointer(_) => pointer.to_string(),
            };
        }
        if bound.argument.is_none() {
            return String::new();
        }
        let start = format!("/{}", escape_token(self.name_of(bound.argument)));
        bound.place.iter().fold(start, |pointer, place| match place {
            PointerToken::Item(item) => format!("{pointer}/{item}"),
            PointerToken::Member(name) => format!("{pointer}/{}", escape_token(name)),
        })
    }
}
