//! The checks before any rule (SPEC §8.1 to §8.3), in their order, which is security-critical.

use std::borrow::Cow;

use super::{Evaluation, Verdict};
use crate::bind::{Operand, Refusal, Value};
use crate::host::HostError;
use crate::net::domain_matches_allowlist;
use crate::path::{Failure, Unresolvable};
use crate::program::{ResolvedRoles, UnknownArguments, distinct};
use crate::role::{RoleId, RoleSet};
use crate::seed::{FILESYSTEM, GIT, INTROSPECTION_TOOL, SANDBOXED_SERVERS};

/// What the structural checks leave to the rules.
pub(crate) enum Outcome<'p> {
    /// Nothing: the call is decided.
    Decided(Verdict<'p>),
    /// These resource roles of the tool, in order, and among them those that the sandbox resolved.
    Open {
        roles: Cow<'p, [RoleId]>,
        resolved: RoleSet,
    },
}

impl<'p> Evaluation<'p, '_, '_> {
    /// `pending` takes an escalation that the rest of the judgement may still turn into a denial.
    pub(super) fn structural(&mut self, pending: &mut Option<Verdict<'p>>) -> Result<Outcome<'p>, HostError> {
        if let Some(Refusal::Shape(error)) = &self.reading.refusal {
            let (found, reason) = (error.to_string(), format!("Unreadable argument: {error}"));
            self.note("argument-shape", false, || found);
            return Ok(Outcome::Decided(Verdict::deny(
                "structural-unreadable-argument",
                reason,
            )));
        }
        if self.program.trusted_servers.contains(self.server()) {
            let reason = format!("Server \"{}\" is trusted", self.server());
            self.note("trusted-server", true, || reason.clone());
            return Ok(Outcome::Decided(Verdict::allow("trusted-server", reason)));
        }
        if let Some(verdict) = self.check_readable(pending)? {
            return Ok(Outcome::Decided(verdict));
        }
        if let Some(verdict) = self.check_protected()? {
            return Ok(Outcome::Decided(verdict));
        }
        if let Some(verdict) = self.check_introspection() {
            return Ok(Outcome::Decided(verdict));
        }
        if let Some(verdict) = self.check_ceiling()? {
            return Ok(Outcome::Decided(verdict));
        }
        if let Some(verdict) = self.check_places()? {
            return Ok(Outcome::Decided(verdict));
        }
        let resolved = self.resolve_by_sandbox()?;
        self.enrich_git(pending)?;
        if let Some(verdict) = self.check_domains(pending)? {
            return Ok(Outcome::Decided(verdict));
        }
        if self.tool.is_none() {
            let reason = format!("Unknown tool: {}/{}", self.server(), self.call.tool);
            self.note("unknown-tool", false, || reason.clone());
            return Ok(Outcome::Decided(Verdict::deny("structural-unknown-tool", reason)));
        }
        Ok(Outcome::Open {
            roles: match (self.tool, &self.reading.resolved) {
                (Some(tool), ResolvedRoles::Fixed(_)) => Cow::Borrowed(&tool.resource_roles),
                (_, resolved) => Cow::Owned(distinct(resolved, self.program.resource_roles)),
            },
            resolved,
        })
    }

    /// Unknown and unreadable arguments, limits, and values without a canonical form.
    fn check_readable(
        &mut self,
        pending: &mut Option<Verdict<'p>>,
    ) -> Result<Option<Verdict<'p>>, HostError> {
        let verdict = match &self.reading.refusal {
            Some(Refusal::Unreadable(why)) => Some(Verdict::deny(
                "structural-unreadable-argument",
                format!("Unreadable argument: {why}"),
            )),
            Some(Refusal::Limit(why)) => Some(Verdict::deny(
                "structural-limit",
                format!("Limit exceeded: {why}"),
            )),
            // It was the first check.
            Some(Refusal::Shape(_)) | None => None,
        };
        if let Some(verdict) = verdict {
            self.note("readable-arguments", false, || verdict.reason.to_string());
            return Ok(Some(verdict));
        }
        if let Some(at) = self.reading.unknown {
            let name = self.call.arguments.members().get(at).map_or("", |(name, _)| name);
            let reason = format!(
                "Unknown argument: {name:?} of {}/{}",
                self.call.server, self.call.tool
            );
            self.note("known-arguments", false, || reason.clone());
            match self.program.unknown_arguments {
                UnknownArguments::Schema | UnknownArguments::Deny => {
                    return Ok(Some(Verdict::deny("structural-unknown-argument", reason)));
                }
                UnknownArguments::Escalate => {
                    *pending = Some(Verdict::escalate(
                        Vec::new(),
                        "structural-unknown-argument",
                        reason,
                    ));
                }
                UnknownArguments::Ignore => {}
            }
        }
        self.check_resolvable()
    }

    fn check_resolvable(&mut self) -> Result<Option<Verdict<'p>>, HostError> {
        for at in 0..self.reading.operands.len() {
            let Some(operand) = self.reading.operands.get_mut(at) else {
                continue;
            };
            if operand.role_set.intersects(self.program.address_roles) {
                self.forms.see(operand, &self.call.context());
            }
            let failure = if operand.role_set.intersects(self.program.path_roles) {
                self.forms.resolve(operand).err()
            } else if operand.text.is_none() && operand.role_set.intersects(self.program.resource_roles) {
                Some(Failure::Unresolvable(Unresolvable::IllFormed))
            } else if operand.role_set.intersects(self.program.resource_roles)
                && operand.text.as_deref().is_some_and(|text| text.contains('\0'))
            {
                // A NUL ends the string for programs written in C.
                Some(Failure::Unresolvable(Unresolvable::Nul))
            } else if operand.role_set.contains(RoleId::BRANCH_NAME)
                && operand.text.as_deref().is_some_and(|text| text.starts_with('-'))
            {
                Some(Failure::Unresolvable(Unresolvable::Option))
            } else {
                None
            };
            match failure {
                None => {}
                Some(Failure::Host(error)) => return Err(error),
                Some(Failure::Unresolvable(why)) => {
                    let verdict = self.unresolvable(at, &why);
                    self.note("resolvable-values", false, || verdict.reason.to_string());
                    return Ok(Some(verdict));
                }
            }
        }
        self.note("resolvable-values", true, || {
            "every resource value has a canonical form".to_owned()
        });
        Ok(None)
    }

    fn unresolvable(&self, at: usize, why: &Unresolvable) -> Verdict<'p> {
        let operand = self.operand(at);
        let name = operand
            .and_then(|operand| operand.argument)
            .and_then(|at| self.call.arguments.members().get(at))
            .map_or("", |(name, _)| name);
        let shown = shorten(operand.map_or("", Operand::raw));
        let reason = format!("Unresolvable value of argument {name:?}: {shown:?}: {why}");
        match why {
            Unresolvable::TooLong { .. } => Verdict::deny("structural-limit", reason),
            _ => Verdict::deny("structural-unresolvable-value", reason),
        }
    }

    /// Protected paths: values of path roles, then whatever looks like a path.
    fn check_protected(&mut self) -> Result<Option<Verdict<'p>>, HostError> {
        if self.program.protected.is_empty() {
            return Ok(None);
        }
        let mut candidates = Vec::new();
        for operand in &self.reading.operands {
            let deletes = operand.role_set.contains(RoleId::DELETE_PATH);
            for path in operand.path().into_iter().chain(operand.entry()) {
                candidates.push((path.clone(), deletes, None));
            }
            if let Some(located) = operand.located() {
                candidates.push((located.path.clone(), false, Some(located.address.clone())));
            }
        }
        for at in 0..self.reading.path_like.len() {
            let Some((_, text)) = self.reading.path_like.get(at) else {
                continue;
            };
            match self.forms.path_like(text) {
                Ok(path) => candidates.push((path, false, None)),
                Err(Failure::Unresolvable(_)) => {}
                Err(Failure::Host(error)) => return Err(error),
            }
        }
        if candidates.is_empty() {
            return Ok(None);
        }
        let case = self.program.path_case;
        let (protected, sandbox) = self.directories.protection(&mut self.forms)?;
        let mut hit = None;
        'search: for (path, deletes, address) in &candidates {
            let folded = case.fold(path);
            for entry in protected {
                let covered = entry.covers(&folded) && !sandbox.excepts(path, entry, case);
                if covered || (*deletes && entry.lies_within(&folded)) {
                    hit = Some(address.clone().unwrap_or_else(|| path.to_string()));
                    break 'search;
                }
            }
        }
        let Some(path) = hit else {
            self.note("protected-paths", true, || {
                "no value lies within a protected path".to_owned()
            });
            return Ok(None);
        };
        let reason = format!("Access to protected path is forbidden: {path}");
        self.note("protected-paths", false, || reason.clone());
        Ok(Some(Verdict::deny("structural-protected-path", reason)))
    }

    fn check_introspection(&mut self) -> Option<Verdict<'p>> {
        let asked = self.tool.is_some()
            && self.server() == FILESYSTEM
            && self.call.tool == INTROSPECTION_TOOL
            && self.call.arguments.members().is_empty();
        asked.then(|| {
            let reason = "Introspection tool is always allowed";
            self.note("introspection", true, || reason.to_owned());
            Verdict::allow("structural-introspection-allow", reason)
        })
    }

    /// The sandbox-safe roles all of whose values lie within the sandbox.
    fn resolve_by_sandbox(&mut self) -> Result<RoleSet, HostError> {
        let mut resolved = RoleSet::default();
        if self.program.sandbox.is_empty() || !SANDBOXED_SERVERS.contains(&self.server()) {
            return Ok(resolved);
        }
        let safe = distinct(&self.reading.resolved, RoleSet::SANDBOX_SAFE);
        for role in safe {
            let operands = self.reading.operands.iter();
            let values = operands.filter(|operand| operand.role_set.contains(role));
            if values.clone().next().is_none() {
                continue;
            }
            let sandbox = self.directories.sandbox(&mut self.forms)?;
            if values.clone().all(|operand| sandbox.holds(operand)) {
                resolved.insert(role);
                if let Some(trace) = &mut self.trace {
                    let (name, within) = (self.program.registry.name(role), sandbox.shown_around(values));
                    trace.check(
                        "sandbox",
                        true,
                        format!("every `{name}` value lies within {within}"),
                    );
                }
            }
        }
        Ok(resolved)
    }

    /// Gives an absent git remote the URLs of the default remote.
    ///
    /// Where the server has an allowlist and nothing tells where git would connect to, the call escalates,
    /// unless the rules deny it.
    fn enrich_git(&mut self, pending: &mut Option<Verdict<'p>>) -> Result<(), HostError> {
        if self.server() != GIT {
            return Ok(());
        }
        let Some(tool) = self.tool else { return Ok(()) };
        let wanting: Vec<&'p [RoleId]> = tool
            .arguments
            .iter()
            .zip(self.reading.resolved.iter())
            .filter(|(_, roles)| roles.contains(&RoleId::GIT_REMOTE_URL))
            .filter(|(argument, _)| argument.segments().is_empty() && self.is_blank(argument))
            .map(|(_, roles)| roles)
            .collect();
        if wanting.is_empty() {
            return Ok(());
        }
        let repository = match self.repository_argument()? {
            Some(repository) => repository,
            None if self.names_repository() => return Ok(()),
            None => self.program.current.to_string(),
        };
        if !self.may_read_repository(&repository)? {
            return Ok(());
        }
        let urls = self.forms.facts.git_default_remote_urls(&repository)?;
        let shown = self.repository_shown(&repository);
        if urls.is_empty() && self.program.allowlists.contains_key(GIT) {
            let reason =
                format!("The git remote of {shown} is not known, and server \"git\" has an allowlist");
            let roles = vec![self.program.registry.name(RoleId::GIT_REMOTE_URL)];
            pending.get_or_insert(Verdict::escalate(roles, "structural-domain-escalate", reason));
        }
        self.note("git-default-remote", true, || {
            format!("{shown}: {}", urls.join(", "))
        });
        for roles in wanting {
            let blank = |operand: &Operand<'_, '_>| {
                operand.text.as_deref() == Some("") && std::ptr::eq(operand.roles, roles)
            };
            if !urls.is_empty() {
                self.reading.operands.retain(|operand| !blank(operand));
            }
            for url in &urls {
                self.reading
                    .operands
                    .push(Operand::new(None, Vec::new(), Some(url.clone().into()), roles));
            }
        }
        Ok(())
    }

    /// Whether git's configuration may be asked: the repository lies within the sandbox, where there is one.
    fn may_read_repository(&mut self, repository: &str) -> Result<bool, HostError> {
        let sandbox = self.directories.sandbox(&mut self.forms)?;
        if sandbox.is_empty() {
            return Ok(true);
        }
        // What an address names is moved by no container and needs no base: it is canonical.
        match self.forms.path_like(repository) {
            Ok(path) => Ok(sandbox.grants(&path)),
            Err(Failure::Unresolvable(_)) => Ok(false),
            Err(Failure::Host(error)) => Err(error),
        }
    }

    /// Whether the argument names no remote: absent, empty, or without a string.
    fn is_blank(&self, argument: &crate::program::ToolArgument) -> bool {
        let crate::model::ArgumentName::Top(wanted) = &argument.name else {
            return false;
        };
        let members = self.call.arguments.members();
        let Some((_, value)) = members.iter().find(|(name, _)| **name == **wanted) else {
            return true;
        };
        match value.read(self.program.limits.depth).as_deref() {
            Ok(Value::Null | Value::Bool(_) | Value::Number(_)) => true,
            Ok(Value::Text(text)) => text.is_empty(),
            Ok(Value::Array(items)) => items
                .iter()
                .all(|item| matches!(item, Value::Null | Value::Bool(_) | Value::Number(_))),
            _ => false,
        }
    }

    /// The server's domain allowlist.
    ///
    /// A domain outside it escalates the call at once. A value that passes only as text, because no strict
    /// reading grants it, and a remote that the engine filled in escalate as well, but the rules are heard all
    /// the same and may deny.
    fn check_domains(&mut self, pending: &mut Option<Verdict<'p>>) -> Result<Option<Verdict<'p>>, HostError> {
        let Some((allowlist, patterns)) = self.program.allowlists.get(self.server()) else {
            return Ok(None);
        };
        for at in 0..self.reading.operands.len() {
            let Some(roles) = self.operand(at).map(|operand| operand.roles) else {
                continue;
            };
            for role in roles
                .iter()
                .copied()
                .filter(|role| self.program.url_roles.contains(*role))
            {
                let definition = self.program.registry.get(role);
                let outside = self
                    .locate(at, role)?
                    .iter()
                    .find(|one| allowlist.grants(one).is_none());
                if let Some(domain) = outside.map(|one| one.display_domain().to_owned()) {
                    let server = self.server();
                    let reason =
                        format!("URL domain \"{domain}\" is not in the allowlist for server \"{server}\"");
                    self.note("domain-allowlist", false, || reason.clone());
                    let roles = vec![&*definition.name];
                    let verdict = Verdict::escalate(roles, "structural-domain-escalate", reason);
                    let given = self.operand(at).is_some_and(|operand| operand.argument.is_some());
                    if given && !domain_matches_allowlist(&domain, patterns) {
                        return Ok(Some(verdict));
                    }
                    pending.get_or_insert(verdict);
                }
            }
        }
        self.note("domain-allowlist", true, || {
            "every URL is in the server's allowlist".to_owned()
        });
        Ok(None)
    }
}

/// A value for a message: its beginning, where it is long.
pub(super) fn shorten(text: &str) -> String {
    const SHOWN: usize = 200;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
