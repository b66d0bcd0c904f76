//! The canonical forms of bound values (SPEC §6): made once before judging, the same for judging and for forwarding.

use std::borrow::Cow;
use std::sync::Arc;

use url::Url;

use super::careful;
use super::operand::{Form, Operand};
use crate::bind::{BoundValue, UriForm};
use crate::host::Facts;
use crate::net;
use crate::path::{CanonicalPath, Resolver, Unresolvable};
use crate::program::{Program, ServerPath};
use crate::role::{Category, RoleDefinition, RoleId, Step, is_plain_name};
use crate::world::{Action, Context, Located, Reply};

/// The base of relative paths.
#[derive(Clone, Copy)]
pub struct PathBase<'s> {
    /// The directory that relative paths are relative to.
    pub directory: &'s str,
    /// `(containerWorkspaceDir, the first directory of the sandbox)`: paths under the one are moved onto the other.
    pub container: Option<(&'s str, &'s str)>,
    /// `true` if relative paths are forwarded as they are, because the server resolves them in its own directory.
    pub keeps_relative: bool,
    /// `true` if a path may be sent as it was given: relative ones are, or the call was prepared before.
    pub may_send_given: bool,
    /// `true` if the tool's server hands paths to git, which reads some as patterns.
    pub is_git: bool,
    /// The server's own names for the directories that it sees, if it sees them under other names.
    pub server_paths: Option<&'s [ServerPath]>,
}

/// Makes canonical forms; every question to the host goes through its memory.
pub struct Canonicalizer<'p, 'h> {
    pub(crate) program: &'p Program,
    pub(crate) facts: Facts<'h>,
    pub(crate) base: PathBase<'h>,
    /// The server's names for the directories that it sees, by their canonical paths, once asked for.
    pub(super) shared: Option<Arc<[(CanonicalPath, &'h str)]>>,
}

impl<'p, 'h> Canonicalizer<'p, 'h> {
    pub fn new(program: &'p Program, facts: Facts<'h>, base: &'h PathBase<'h>) -> Self {
        Self {
            program,
            facts,
            base: *base,
            shared: None,
        }
    }

    /// Makes the canonical form of a value; `base` is the path of the argument that it is relative to.
    pub(super) fn operand<'v, 'c>(
        &mut self,
        bound: BoundValue<'v, 'c>,
        base: Option<Arc<str>>,
        context: &Context,
    ) -> Operand<'v, 'c> {
        let mut url = None;
        let form = self.form(&bound, base, context, &mut url);
        let form = form.unwrap_or_else(Form::Unresolvable);
        let mut operand = Operand { bound, form, url };
        if let Some(part) = operand.bound.part
            && operand.bound.role_set.intersects(self.program.judged_roles)
            && !matches!(operand.form, Form::Unresolvable(_))
        {
            let [transport, policy] = self.views(&operand);
            if part.separator.is_in(&transport) || part.separator.is_in(&policy) {
                operand.form = Form::Unresolvable(Unresolvable::Separator);
            }
        }
        operand
    }

    fn form(
        &mut self,
        bound: &BoundValue<'_, '_>,
        base: Option<Arc<str>>,
        context: &Context,
        url: &mut Option<Url>,
    ) -> Result<Form, Unresolvable> {
        let program = self.program;
        let text = bound.text.as_deref();
        let given = bound.uri.as_ref().map(|_| bound.raw());
        match &bound.uri {
            Some(uri) if matches!(uri.form, UriForm::Unclear) => return Err(Unresolvable::Uri),
            Some(_) if given.is_some_and(careful::holds_urls) => return Err(Unresolvable::Several),
            Some(_) | None => {}
        }
        // Below its base a path is sent relative to it.
        let is_sent_absolute =
            bound.relative_to.is_none() && !self.base.is_git && self.sends_canonical(bound);
        let refusal = text.and_then(|text| careful::refusal(program, bound.role_set, text, is_sent_absolute));
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        if text.is_some_and(|text| !self.has_name(bound, text)) {
            return Err(Unresolvable::Name);
        }
        if bound.role_set.intersects(program.path_roles) {
            return self.path_form(bound, base);
        }
        let is_resource = bound.role_set.intersects(program.resource_roles);
        let Some(text) = bound.text.as_deref() else {
            return match is_resource {
                true => Err(Unresolvable::IllFormed),
                false => Ok(Form::Text),
            };
        };
        if bound.role_set.intersects(program.url_roles) {
            self.facts.take_steps(net::cost_of_parsing(text));
            if self.facts.has_failed() {
                return Ok(Form::Text);
            }
            *url = Url::parse(text).ok();
            let (bytes, limit) = (net::host_length(text, url.as_ref()), program.limits.host_bytes);
            if bytes > limit {
                return Err(Unresolvable::TooLong { bytes, limit });
            }
        }
        if is_resource && text.as_bytes().contains(&0) {
            // A NUL ends the string for programs written in C.
            return Err(Unresolvable::Nul);
        }
        if bound.role_set.contains(RoleId::BRANCH_NAME) && text.starts_with('-') {
            return Err(Unresolvable::Option);
        }
        match &program.world {
            Some(world) if bound.role_set.intersects(program.address_roles) => {
                let resolution = world.resolve_address(text, context.mode(), context, &mut self.resolver());
                if let Ok(located) = &resolution {
                    self.check_sent(located.path.as_str(), false)?;
                    self.check_place(located)?;
                }
                Ok(Form::Address(resolution))
            }
            Some(_) | None => Ok(Form::Text),
        }
    }

    /// Returns `true` unless the value is an identifier that has to be a name, and is not one where it is judged or sent. A host that
    /// fails to say so denies the call for that.
    fn has_name(&mut self, bound: &BoundValue<'_, '_>, text: &str) -> bool {
        let program = self.program;
        let names = bound.role_set.intersection(program.name_roles);
        if names.is_empty() || !program.defaults.wants_one_reading {
            return true;
        }
        let is_resource = |role: &&RoleId| program.resource_roles.contains(**role);
        let is_sent_as_name = bound
            .roles
            .iter()
            .find(is_resource)
            .is_some_and(|role| names.contains(*role));
        let is_judged_as_name = names.iter().all(|role| {
            let definition = program.registry.get(role);
            let canonical = self.apply(definition, definition.canonicalize, "canonicalize", text);
            is_plain_name(&canonical)
        });
        self.facts.has_failed() || (is_judged_as_name && (is_sent_as_name || is_plain_name(text)))
    }

    /// Refuses an address whose path programs take for that of another place, or for several paths.
    fn check_place(&mut self, located: &Located) -> Result<(), Unresolvable> {
        if !self.program.defaults.wants_one_reading {
            return Ok(());
        }
        if self.resolver().equivalent(&located.path)?.is_some() {
            return Err(Unresolvable::Equivalent);
        }
        match self.holds_paths(&located.lexical, "/", &located.path) {
            true => Err(Unresolvable::Several),
            false => Ok(()),
        }
    }

    pub(super) fn resolver(&mut self) -> Resolver<'_, 'h> {
        self.program.resolver(&mut self.facts)
    }

    /// Asks the world whether a tool's command may be run at a place.
    pub fn judge_at(
        &mut self,
        located: &Located,
        action: &Action<'_>,
        context: &Context,
    ) -> Option<Result<Reply, Box<Reply>>> {
        let world = self.program.world.as_ref()?;
        let place = (&*located.root, located.subdirectory.as_deref());
        let resolver = &mut self.resolver();
        Some(world.judge(action, context.mode(), place, Some(located), context, resolver))
    }

    /// The text that policy compares under the role: the canonical form, or the part of it that the role extracts.
    pub(super) fn text<'o>(&mut self, operand: &'o Operand<'_, '_>, role: RoleId) -> Cow<'o, str> {
        let definition = self.program.registry.get(role);
        let canonical = self.canonical(operand, definition);
        match definition.extract_policy_value {
            Some(step) => {
                let text = self.apply(definition, step, "extractPolicyValue", &canonical);
                Cow::Owned(text.into_owned())
            }
            None => canonical,
        }
    }

    pub(super) fn canonical<'o>(
        &mut self,
        operand: &'o Operand<'_, '_>,
        definition: &RoleDefinition,
    ) -> Cow<'o, str> {
        match (definition.category, &operand.form) {
            (Category::Path, Form::Path { canonical, .. }) => return canonical.as_str().into(),
            (Category::Address, Form::Address(Ok(located))) => return located.address.as_str().into(),
            _ => {}
        }
        if let Some(url) = &operand.url
            && matches!(definition.canonicalize, Step::Url | Step::GitUrl)
        {
            let is_remote = definition.canonicalize == Step::GitUrl;
            return net::normalize_parsed(operand.given(), url, is_remote).into();
        }
        self.apply(
            definition,
            definition.canonicalize,
            "canonicalize",
            operand.given(),
        )
    }

    /// One step of a role; a path that cannot be resolved keeps its lexical form.
    pub(super) fn apply<'t>(
        &mut self,
        definition: &RoleDefinition,
        step: Step,
        name: &str,
        text: &'t str,
    ) -> Cow<'t, str> {
        match step {
            Step::Identity => Cow::Borrowed(text),
            Step::Path => {
                let base = self.base.directory;
                Cow::Owned(self.resolver().resolve_or_lexical(text, base).to_string())
            }
            Step::Callback => Cow::Owned(self.facts.role_value(&definition.name, name, text)),
            Step::Lowercase | Step::Url | Step::GitUrl | Step::Domain | Step::Redact | Step::StripControl => {
                step.apply(text)
            }
        }
    }
}
