//! Deciding: a function of the program, the call and the host's answers. It is total: what cannot be judged
//! is denied with a named rule.

mod canonical;
mod ceiling;
mod combine;
mod conditions;
mod directories;
mod places;
mod rules;
mod sandbox;
mod structural;
mod trace;
mod verdict;
mod walk;

pub(crate) use canonical::{Forms, Shaped, heuristic};
pub(crate) use directories::{Directories, Pinned};
pub(crate) use trace::Trace;
pub use trace::{CheckStep, Explanation, RoleStep, RuleStep, ValueStep, WalkStep};
pub use verdict::{Decision, Verdict};

use crate::bind::{Call, Operand, Place, Prepared, Reading, ShapeError};
use crate::host::{Facts, Host, HostError};
use crate::path::Failure;
use crate::program::{Program, ResolvedRoles, Tool};
use crate::role::{Category, RoleId, RoleSet};
use crate::text::escape_token;

/// Everything about one call while it is judged.
pub(crate) struct Evaluation<'p, 'c, 'h> {
    pub(crate) program: &'p Program,
    pub(crate) forms: Forms<'p, 'h>,
    pub(crate) directories: Directories<'p>,
    pub(crate) call: &'c Call<'c>,
    pub(crate) tool: Option<&'p Tool>,
    pub(crate) reading: Reading<'p, 'c>,
    /// The roles that any argument of the tool bears in this call.
    pub(crate) tool_roles: RoleSet,
    /// Where git remotes of this call are looked up, once asked for.
    repository: Option<Option<String>>,
    /// Members that stood under an alias, for what is prepared.
    renamed: Vec<(usize, String)>,
    pub(crate) trace: Option<Trace>,
}

/// A call with canonical keys, or one of the wrong shape, and what is done with it.
pub(crate) struct Task<'c, 'h> {
    pub(crate) call: &'c Call<'c>,
    pub(crate) renamed: Vec<(usize, String)>,
    pub(crate) misshapen: Option<ShapeError>,
    pub(crate) shaped: Shaped<'h>,
    /// Whether steps and the host's answers are kept for an explanation.
    pub(crate) traced: bool,
}

impl<'p, 'c, 'h> Evaluation<'p, 'c, 'h> {
    /// Reads the call of the tool, if that is annotated; nothing is asked of the host yet.
    pub(crate) fn new(
        program: &'p Program,
        pinned: Option<&'p Pinned>,
        tool: Option<&'p Tool>,
        task: Task<'c, 'h>,
        host: &'h dyn Host,
    ) -> Self {
        let Task {
            call,
            renamed,
            misshapen,
            shaped,
            traced,
        } = task;
        let reading = Reading::new(program, tool, call, misshapen);
        let tool_roles = match (tool, &reading.resolved) {
            (Some(tool), ResolvedRoles::Fixed(_)) => tool.roles,
            (_, resolved) => resolved.iter().flatten().copied().collect(),
        };
        Self {
            program,
            forms: Forms {
                program,
                facts: Facts::new(host, traced),
                shaped,
            },
            directories: Directories::new(program, pinned),
            call,
            tool,
            reading,
            tool_roles,
            repository: None,
            renamed,
            trace: traced.then(|| Trace::new(program.limits.explanation_steps)),
        }
    }

    /// The verdict. A host that fails makes it a denial, never anything else.
    pub(crate) fn judge(&mut self) -> Verdict<'p> {
        match self.try_judge() {
            Ok(verdict) => verdict,
            Err(error) => self.failed(&error),
        }
    }

    /// What a host that fails makes of a call; its words may hold paths that only it may know.
    pub(crate) fn failed(&mut self, error: &HostError) -> Verdict<'p> {
        let hides = self.bears_addresses();
        self.note("host", false, || {
            if hides {
                "the host failed".to_owned()
            } else {
                error.message.clone()
            }
        });
        let reason = if hides {
            "The host failed to answer".to_owned()
        } else {
            format!("The host failed to answer: {error}")
        };
        Verdict::deny("structural-host-error", reason)
    }

    fn try_judge(&mut self) -> Result<Verdict<'p>, HostError> {
        let mut pending = None;
        let verdict = match self.structural(&mut pending)? {
            structural::Outcome::Decided(verdict) => verdict,
            structural::Outcome::Open { roles, resolved } => self.judge_roles(&roles, resolved)?,
        };
        Ok(match pending {
            Some(pending) => combine::stricter(verdict, pending),
            None => verdict,
        })
    }

    /// Records a structural check for an explanation.
    pub(crate) fn note(&mut self, check: &'static str, passed: bool, detail: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.check(check, passed, detail());
        }
    }

    pub(crate) fn server(&self) -> &'c str {
        &self.call.server
    }

    /// Indices of the operands that bear the role.
    pub(crate) fn values_of(&self, role: RoleId) -> Vec<usize> {
        let operands = self.reading.operands.iter().enumerate();
        operands
            .filter(|(_, operand)| operand.role_set.contains(role))
            .map(|(at, _)| at)
            .collect()
    }

    pub(crate) fn operand(&self, at: usize) -> Option<&Operand<'p, 'c>> {
        self.reading.operands.get(at)
    }

    /// The repository whose remotes the call means: the argument `path`, else the first path, else the current
    /// directory. `None` where it has no canonical form.
    pub(crate) fn repository(&mut self) -> Result<Option<String>, HostError> {
        if let Some(known) = &self.repository {
            return Ok(known.clone());
        }
        let found = match self.repository_argument()? {
            Some(found) => Some(found),
            None if self.names_repository() => None,
            None => Some(self.program.current.to_string()),
        };
        self.repository = Some(found.clone());
        Ok(found)
    }

    fn names_repository(&self) -> bool {
        self.path_argument().is_some() || !self.first_path().is_empty()
    }

    fn first_path(&self) -> Vec<usize> {
        let places = self.program.path_roles.union(self.program.address_roles);
        let operands = self.reading.operands.iter().enumerate();
        operands
            .filter(|(_, operand)| operand.role_set.intersects(places))
            .map(|(at, _)| at)
            .take(1)
            .collect()
    }

    fn path_argument(&self) -> Option<String> {
        let (_, value) = self
            .call
            .arguments
            .members()
            .iter()
            .find(|(name, _)| name == "path")?;
        match value.read(1).ok()?.as_ref() {
            crate::bind::Value::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// The canonical path of the repository that an argument names.
    pub(crate) fn repository_argument(&mut self) -> Result<Option<String>, HostError> {
        let named = self.path_argument();
        if let Some(operand) = self.addressed_repository(named.is_some()) {
            // Where its place is not known the call is denied already.
            return Ok(operand.located().map(|located| located.path.as_str().to_owned()));
        }
        let resolved = match named {
            Some(text) => self.forms.path_like(&text),
            None => match self
                .first_path()
                .first()
                .and_then(|at| self.reading.operands.get_mut(*at))
            {
                Some(operand) => self
                    .forms
                    .resolve(operand)
                    .map(|()| operand.path().cloned())
                    .and_then(|path| path.ok_or(Failure::Unresolvable(crate::path::Unresolvable::Empty))),
                None => return Ok(None),
            },
        };
        match resolved {
            Ok(path) => Ok(Some(path.as_str().to_owned())),
            Err(Failure::Unresolvable(_)) => Ok(None),
            Err(Failure::Host(error)) => Err(error),
        }
    }
}

impl Evaluation<'_, '_, '_> {
    /// The two views of the call, from the same canonical forms that were judged.
    pub(crate) fn prepared(&mut self) -> Result<Prepared, HostError> {
        let mut replacements = Vec::new();
        for operand in &mut self.reading.operands {
            replacements.extend(self.forms.replacement(operand)?);
        }
        Ok(Prepared {
            renamed: self.renamed.clone(),
            replacements,
        })
    }

    /// The canonical form that an explanation shows, from what the judgement has made already.
    pub(crate) fn shown(&self, at: usize, role: RoleId) -> Option<String> {
        let operand = self.operand(at)?;
        let definition = self.program.registry.get(role);
        match definition.category {
            Category::Path => operand.path().map(|path| path.as_str().to_owned()),
            Category::Url => {
                let domains: Vec<&str> = operand
                    .locations(role, definition)
                    .iter()
                    .map(|one| one.display_domain())
                    .collect();
                (!domains.is_empty()).then(|| domains.join(", "))
            }
            Category::Identifier | Category::Opaque => operand.text_under(role).map(str::to_owned),
            Category::Address => operand.located().map(|located| located.address.clone()),
        }
    }

    /// Where the operand stands, as a JSON Pointer (RFC 6901); empty for what the engine filled in.
    pub(crate) fn pointer(&self, at: usize) -> String {
        let Some(operand) = self.operand(at) else {
            return String::new();
        };
        let Some((name, _)) = operand
            .argument
            .and_then(|at| self.call.arguments.members().get(at))
        else {
            return String::new();
        };
        operand
            .place
            .iter()
            .fold(format!("/{}", escape_token(name)), |pointer, place| match place {
                Place::Item(item) => format!("{pointer}/{item}"),
                Place::Member(name) => format!("{pointer}/{}", escape_token(name)),
            })
    }
}
