//! The canonical forms of values, and the two views of one call that they make (SPEC §6).

use std::borrow::Cow;

use crate::bind::{Operand, Replacement};
use crate::host::{Facts, HostError};
use crate::net::{self, Location, UrlKind};
use crate::path::{CanonicalPath, Failure, Resolver, Unresolvable, expand_tilde, lexical};
use crate::program::Program;
use crate::role::{Category, Registry, RoleDefinition, RoleId, Step};
use crate::text::strip_directory;
use crate::world::{Action, Context, Located, Refused, Reply};

/// Where values come from and where they are taken to be.
#[derive(Clone, Copy)]
pub(crate) struct Shaped<'s> {
    /// The directory that relative paths are relative to.
    pub(crate) base: &'s str,
    /// `(containerWorkspaceDir, the first directory of the sandbox)`: paths under the one are moved onto the other.
    pub(crate) container: Option<(&'s str, &'s str)>,
    /// Whether relative paths travel as they are, because the server resolves them in its own directory.
    pub(crate) relative_as_given: bool,
}

/// Makes canonical forms; every question to the host goes through its memory.
pub(crate) struct Forms<'p, 'h> {
    pub(crate) program: &'p Program,
    pub(crate) facts: Facts<'h>,
    pub(crate) shaped: Shaped<'h>,
}

impl<'p, 'h> Forms<'p, 'h> {
    fn resolver(&mut self) -> Resolver<'_, 'h> {
        Resolver {
            facts: &mut self.facts,
            home: &self.program.home,
            limits: &self.program.limits,
            path_case: self.program.path_case,
        }
    }

    /// Resolves a path that is not an argument: a rule's directory, a protected path, the sandbox.
    pub(crate) fn directory(&mut self, lexical: &str) -> Result<CanonicalPath, Failure> {
        self.resolver().resolve(lexical, "/")
    }

    /// Where the link is, when `lexical` is one.
    pub(crate) fn directory_entry(&mut self, lexical: &str) -> Result<Option<CanonicalPath>, Failure> {
        self.resolver().entry(lexical, "/")
    }

    /// A string that looks like a path, whatever its role.
    pub(crate) fn path_like(&mut self, text: &str) -> Result<CanonicalPath, Failure> {
        let moved = self.moved(text).map(Cow::into_owned);
        let base = self.shaped.base;
        self.resolver().resolve(moved.as_deref().unwrap_or(text), base)
    }

    /// The lexical form of a path as it was given, moved from the container's directory where it lies there.
    pub(crate) fn lexical(&self, text: &str) -> String {
        let moved = self.moved(text);
        let expanded = expand_tilde(moved.as_deref().unwrap_or(text), &self.program.home);
        lexical(&expanded, self.shaped.base).into_owned()
    }

    /// Gives the operand its canonical path, and its entry where a link would be removed.
    pub(crate) fn resolve(&mut self, operand: &mut Operand<'_, '_>) -> Result<(), Failure> {
        if operand.path.is_some() {
            return Ok(());
        }
        let Some(text) = operand.text.as_deref() else {
            return Err(Failure::Unresolvable(Unresolvable::IllFormed));
        };
        let path_role = operand
            .roles
            .iter()
            .copied()
            .find(|role| self.program.path_roles.contains(*role));
        let mut text = Cow::Borrowed(text);
        if let Some(role) = path_role {
            let definition = self.program.registry.get(role);
            if definition.canonicalize != Step::Path {
                let step = definition.canonicalize;
                text = Cow::Owned(
                    self.apply(definition, step, "canonicalize", &text)
                        .map_err(Failure::Host)?,
                );
            }
        }
        let moved = self.moved(&text).map(Cow::into_owned);
        let given = moved.as_deref().unwrap_or(&text);
        let base = self.shaped.base;
        let path = self.resolver().resolve(given, base)?;
        if operand.role_set.contains(RoleId::DELETE_PATH) {
            operand.entry = self.resolver().entry(given, base)?;
        }
        operand.path_text = moved;
        operand.path = Some(path);
        Ok(())
    }

    /// Finds the place that an address names, by the call's context.
    pub(crate) fn see(&mut self, operand: &mut Operand<'_, '_>, context: &Context) {
        let (Some(world), Some(text)) = (&self.program.world, operand.text.as_deref()) else {
            return;
        };
        if operand.seen.is_none() {
            let seen = world.see(text, context.mode(), context, &mut self.resolver());
            operand.seen = Some(Box::new(seen));
        }
    }

    /// Asks the world whether a tool's command may be done at a place.
    pub(crate) fn judge_at(
        &mut self,
        located: &Located,
        action: &Action<'_>,
        context: &Context,
    ) -> Option<Result<Reply, Refused>> {
        let world = self.program.world.as_ref()?;
        let place = (&*located.root, located.subdirectory.as_deref());
        let resolver = &mut self.resolver();
        Some(world.judge(action, context.mode(), place, Some(located), context, resolver))
    }

    /// The value moved from the container's directory onto the host's, where it lies there.
    fn moved(&self, text: &str) -> Option<Cow<'h, str>> {
        let (container, allowed) = self.shaped.container?;
        // Below a container at the root is what begins with `//`, as the existing runtime has it.
        let (text, container) = match container.trim_end_matches('/') {
            "" => (text.strip_prefix('/')?, ""),
            trimmed => (text, trimmed),
        };
        let allowed = allowed.trim_end_matches('/');
        Some(match strip_directory(text, container)? {
            "" => Cow::Borrowed(allowed),
            names => Cow::Owned(format!("{allowed}/{names}")),
        })
    }

    /// What the value names as a URL under the role; `repository` is where git remotes are looked up.
    pub(crate) fn locate(
        &mut self,
        operand: &mut Operand<'_, '_>,
        role: RoleId,
        repository: Option<&str>,
    ) -> Result<(), HostError> {
        let definition = self.program.registry.get(role);
        let kind = url_kind(role, definition);
        if kind == UrlKind::Bare {
            self.spell(operand, role)?;
            let location = operand.text_under(role).map(|text| Location::new(text, kind));
            operand.locations.retain(|(known, _)| *known != kind);
            operand.locations.push((kind, location.into_iter().collect()));
            return Ok(());
        }
        if operand.locations.iter().any(|(known, _)| *known == kind) {
            return Ok(());
        }
        let text = operand.text.as_deref().unwrap_or_default();
        let text = match definition.canonicalize {
            Step::Url | Step::GitUrl => Cow::Borrowed(text),
            step => Cow::Owned(self.apply(definition, step, "canonicalize", text)?),
        };
        let locations = match kind {
            UrlKind::GitRemote => net::resolve_git_remote(&text, repository, &mut self.facts)?
                .urls()
                .map(|url| Location::new(url, kind))
                .collect(),
            UrlKind::Fetch | UrlKind::Other | UrlKind::Bare => vec![Location::new(&text, kind)],
        };
        operand.locations.push((kind, locations));
        Ok(())
    }

    /// What policy compares under the role: the canonical form, or what the role extracts from it.
    pub(crate) fn spell(&mut self, operand: &mut Operand<'_, '_>, role: RoleId) -> Result<(), HostError> {
        if operand.texts.iter().any(|(known, _)| *known == role) {
            return Ok(());
        }
        let definition = self.program.registry.get(role);
        let canonical = self.canonical(operand, definition)?;
        let text = match definition.extract_policy_value {
            Some(step) => self.apply(definition, step, "extractPolicyValue", &canonical)?,
            None => canonical,
        };
        operand.texts.push((role, text));
        Ok(())
    }

    /// The canonical form under one role.
    fn canonical(
        &mut self,
        operand: &Operand<'_, '_>,
        definition: &RoleDefinition,
    ) -> Result<String, HostError> {
        if let (Category::Path, Some(path)) = (definition.category, &operand.path) {
            return Ok(path.as_str().to_owned());
        }
        if let (Category::Address, Some(located)) = (definition.category, operand.located()) {
            return Ok(located.address.clone());
        }
        let text = operand.text.as_deref().unwrap_or_default().to_owned();
        self.apply(definition, definition.canonicalize, "canonicalize", &text)
    }

    /// One step of a role; a path that cannot be resolved keeps its lexical form.
    pub(crate) fn apply(
        &mut self,
        definition: &RoleDefinition,
        step: Step,
        name: &str,
        text: &str,
    ) -> Result<String, HostError> {
        Ok(match step {
            Step::Identity => text.to_owned(),
            Step::Path => {
                let base = self.shaped.base;
                self.resolver().resolve_plain(text, base)?.to_string()
            }
            Step::Callback => self.facts.role_value(&definition.name, name, text)?,
            Step::Lowercase | Step::Url | Step::GitUrl | Step::Domain | Step::Redact | Step::StripControl => {
                step.apply(text)
            }
        })
    }

    /// What becomes of the operand in both views (SPEC §6.2 to §6.6); `None` where nothing does.
    pub(crate) fn replacement(
        &mut self,
        operand: &mut Operand<'_, '_>,
    ) -> Result<Option<Replacement>, HostError> {
        let (Some(argument), Some(text)) = (operand.argument, operand.text.as_deref().map(str::to_owned))
        else {
            return Ok(None);
        };
        let registry = &self.program.registry;
        let roles = || operand.roles.iter().copied();
        let first = roles().find(|role| registry.get(*role).is_resource_identifier());
        let first = first.or_else(|| {
            roles().find(|role| !Registry::is_builtin(*role) && registry.get(*role).is_prepared())
        });
        let Some(first) = first else { return Ok(None) };
        let definition = registry.get(first);
        if definition.category == Category::Address {
            return Ok(located_replacement(operand, argument, &text));
        }
        let canonical = if definition.category == Category::Path {
            match self.resolve(operand) {
                Ok(()) => self.canonical(operand, definition)?,
                Err(Failure::Unresolvable(_)) => return Ok(None),
                Err(Failure::Host(error)) => return Err(error),
            }
        } else {
            self.canonical(operand, definition)?
        };
        let policy = match definition.extract_policy_value {
            Some(step) => self.apply(definition, step, "extractPolicyValue", &canonical)?,
            None => canonical.clone(),
        };
        let given = operand.path_text.as_deref().unwrap_or(&text);
        let relative = definition.category == Category::Path
            && self.shaped.relative_as_given
            && !given.starts_with(['/', '~']);
        let transport = if relative {
            operand.path_text.clone()
        } else {
            Some(canonical)
        };
        let transport = transport.filter(|transport| *transport != text);
        let policy = (policy != text).then_some(policy);
        Ok((transport.is_some() || policy.is_some()).then(|| Replacement {
            argument,
            place: operand.place.clone(),
            transport,
            policy,
        }))
    }
}

/// An address becomes a path for the tool's server alone, and only once it may be used.
fn located_replacement(operand: &Operand<'_, '_>, argument: usize, text: &str) -> Option<Replacement> {
    let located = operand.located().filter(|_| operand.is_cleared)?;
    let policy = (located.address != text).then(|| located.address.clone());
    Some(Replacement {
        argument,
        place: operand.place.clone(),
        transport: Some(located.path.as_str().to_owned()),
        policy,
    })
}

impl Operand<'_, '_> {
    /// What the value names as a URL under the role, once [`Forms::locate`] has succeeded.
    pub(crate) fn locations(&self, role: RoleId, definition: &RoleDefinition) -> &[Location] {
        let kind = url_kind(role, definition);
        let known = self.locations.iter().find(|(known, _)| *known == kind);
        known
            .map(|(_, locations)| locations.as_slice())
            .unwrap_or_default()
    }

    /// What policy compares under the role, once [`Forms::spell`] has succeeded.
    pub(crate) fn text_under(&self, role: RoleId) -> Option<&str> {
        self.texts
            .iter()
            .find(|(known, _)| *known == role)
            .map(|(_, text)| text.as_str())
    }
}

/// How a role's values are read as URLs.
fn url_kind(role: RoleId, definition: &RoleDefinition) -> UrlKind {
    if definition.category != Category::Url {
        UrlKind::Bare
    } else if role == RoleId::FETCH_URL {
        UrlKind::Fetch
    } else if definition.canonicalize == Step::GitUrl {
        UrlKind::GitRemote
    } else {
        UrlKind::Other
    }
}

/// The heuristic for a tool without annotation: what looks like a path becomes lexical (SPEC §6.7).
pub(crate) fn heuristic(text: &str, home: &str, base: &str) -> Option<String> {
    text.starts_with(['/', '.', '~'])
        .then(|| lexical(&expand_tilde(text, home), base).into_owned())
        .filter(|lexical| lexical != text)
}
