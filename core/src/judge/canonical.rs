//! The canonical forms of bound values (SPEC §6): made once before judging, the same for judging and for forwarding.

use std::borrow::Cow;
use std::sync::Arc;

use url::Url;

use super::careful;
use super::operand::{Form, Operand, PathRest};
use super::places::Repositories;
use crate::bind::BoundValue;
use crate::host::Facts;
use crate::net::{self, Location, UrlKind};
use crate::path::{
    CanonicalPath, Resolver, Unresolvable, expand_tilde, is_literal, lexical, pathspec_readings,
};
use crate::program::{
    Compatibility, Program, RelativePaths, ServerPath, cost_of_addresses, readable_addresses,
};
use crate::role::{Category, RoleDefinition, RoleId, Step};
use crate::text::strip_directory;
use crate::world::{Action, Context, Located, Reply};

/// The base of relative paths.
#[derive(Clone, Copy)]
pub(crate) struct PathBase<'s> {
    /// The directory that relative paths are relative to.
    pub(crate) directory: &'s str,
    /// `(containerWorkspaceDir, the first directory of the sandbox)`: paths under the one are moved onto the other.
    pub(crate) container: Option<(&'s str, &'s str)>,
    /// `true` if relative paths are forwarded as they are, because the server resolves them in its own directory.
    pub(crate) keeps_relative: bool,
    /// `true` if the tool's server hands paths to git, which reads some as patterns.
    pub(crate) is_git: bool,
    /// The server's own names for the directories that it sees, if it sees them under other names.
    pub(crate) server_paths: Option<&'s [ServerPath]>,
}

/// Makes canonical forms; every question to the host goes through its memory.
pub(crate) struct Canonicalizer<'p, 'h> {
    pub(crate) program: &'p Program,
    pub(crate) facts: Facts<'h>,
    pub(crate) base: &'h PathBase<'h>,
    /// The server's names for the directories that it sees, by their canonical paths, once asked for.
    pub(super) shared: Option<Arc<[(CanonicalPath, &'h str)]>>,
}

impl<'p, 'h> Canonicalizer<'p, 'h> {
    pub(crate) fn new(program: &'p Program, facts: Facts<'h>, base: &'h PathBase<'h>) -> Self {
        Self {
            program,
            facts,
            base,
            shared: None,
        }
    }

    /// Makes the canonical form of a value, which is text so far; `base` is the path of the argument that it is relative to.
    pub(super) fn canonicalize(
        &mut self,
        operand: &mut Operand<'_, '_>,
        base: Option<Arc<str>>,
        context: &Context,
    ) {
        let mut url = None;
        match self.form(&operand.bound, base, context, &mut url) {
            Ok(Form::Text) => {}
            Ok(form) => operand.form = form,
            Err(why) => operand.form = Form::Unresolvable(why),
        }
        if url.is_some() {
            operand.answers_mut().url = url;
        }
    }

    fn form(
        &mut self,
        bound: &BoundValue<'_, '_>,
        base: Option<Arc<str>>,
        context: &Context,
        url: &mut Option<Box<Url>>,
    ) -> Result<Form, Unresolvable> {
        let program = self.program;
        let text = bound.text.as_deref();
        if let Some(refusal) = text.and_then(|text| careful::refusal(program, bound.role_set, text)) {
            return Err(refusal);
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
        }
        if bound.role_set.intersects(program.url_roles)
            && let Some(bytes) = net::long_host(text, program.limits.host_bytes, url)
        {
            let limit = program.limits.host_bytes;
            return Err(Unresolvable::TooLong { bytes, limit });
        }
        if is_resource && text.contains('\0') {
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
                }
                Ok(Form::Address(Box::new(resolution)))
            }
            Some(_) | None => Ok(Form::Text),
        }
    }

    fn path_form(
        &mut self,
        bound: &BoundValue<'_, '_>,
        base: Option<Arc<str>>,
    ) -> Result<Form, Unresolvable> {
        if bound.relative_to.is_some() && base.is_none() {
            return Err(Unresolvable::NoBase);
        }
        let text = bound.text.as_deref().ok_or(Unresolvable::IllFormed)?;
        let mut roles = bound.roles.iter().copied();
        let mut text = Cow::Borrowed(text);
        if let Some(role) = roles.find(|role| self.program.path_roles.contains(*role)) {
            let definition = self.program.registry.get(role);
            if definition.canonicalize != Step::Path {
                let step = definition.canonicalize;
                text = Cow::Owned(self.apply(definition, step, "canonicalize", &text).into_owned());
            }
        }
        let moved = self.moved(&text).map(Cow::into_owned);
        let given = moved.as_deref().unwrap_or(&text);
        let directory = base.as_deref().unwrap_or(self.base.directory);
        let is_refused = self.program.relative_paths == RelativePaths::Deny && base.is_none();
        if is_refused && !given.is_empty() && is_relative(given) {
            return Err(Unresolvable::Relative);
        }
        let is_careful = self.program.compatibility == Compatibility::Careful;
        let is_pattern = is_careful && self.base.is_git;
        if is_pattern && base.as_deref().is_some_and(is_in_git_directory) {
            return Err(Unresolvable::GitDirectory);
        }
        let readings = match is_pattern {
            true => pathspec_readings(given).ok_or(Unresolvable::Pathspec)?,
            false => Vec::new(),
        };
        let canonical = self.resolver().resolve(given, directory)?;
        if is_careful && self.resolver().has_equivalent(&canonical) {
            return Err(Unresolvable::Equivalent);
        }
        let readings = match is_pattern {
            true => self.other_paths(readings, directory, &canonical)?,
            false => Vec::new(),
        };
        let entry = match bound.role_set.contains(RoleId::DELETE_PATH) {
            true => self.resolver().entry(given, directory)?,
            false => None,
        };
        let is_of_repository = self.base.is_git && base.is_none();
        self.check_sent(entry.as_ref().unwrap_or(&canonical).as_str(), is_of_repository)?;
        let written = match self.program.protected.patterns.is_empty() {
            true => Vec::new(),
            false => self.written_forms(given, directory, &canonical, entry.is_some())?,
        };
        let is_plain = moved.is_none() && entry.is_none() && base.is_none() && written.is_empty();
        let rest = (!is_plain || !readings.is_empty()).then(|| {
            Box::new(PathRest {
                moved,
                entry,
                readings,
                base,
                written,
            })
        });
        Ok(Form::Path { canonical, rest })
    }

    /// The paths that git may take a value for beside the canonical one: `readings` of it as it is given, and those of what is
    /// sent. A link's name need not look like a pattern where its target's does.
    fn other_paths(
        &mut self,
        readings: Vec<String>,
        directory: &str,
        canonical: &CanonicalPath,
    ) -> Result<Vec<CanonicalPath>, Unresolvable> {
        // What the server is started in is not a part of the pattern.
        let sent = strip_directory(canonical.as_str(), directory).unwrap_or(canonical.as_str());
        let base = match sent.starts_with('/') {
            true => "/",
            false => directory,
        };
        // No path that is sent begins with a colon.
        let of_sent = match is_literal(sent) {
            true => Vec::new(),
            false => pathspec_readings(&format!("./{sent}")).ok_or(Unresolvable::Pathspec)?,
        };
        let of_sent = of_sent.iter().map(|reading| (reading, base));
        let mut found: Vec<CanonicalPath> = Vec::new();
        for (reading, base) in readings.iter().map(|reading| (reading, directory)).chain(of_sent) {
            let path = self.resolver().resolve(reading, base)?;
            if self.resolver().has_equivalent(&path) {
                return Err(Unresolvable::Equivalent);
            }
            if path != *canonical && !found.contains(&path) {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// Other paths that lead to the canonical one: the lexical form, and where the link is unless that is known.
    fn written_forms(
        &mut self,
        given: &str,
        directory: &str,
        canonical: &CanonicalPath,
        is_link: bool,
    ) -> Result<Vec<String>, Unresolvable> {
        self.facts
            .take_steps(self.program.protected.cost_of_patterns(given.len()));
        let mut forms = Vec::new();
        if !is_link && let Some(link) = self.resolver().entry(given, directory)? {
            forms.push(link.as_str().to_owned());
        }
        let expanded = expand_tilde(given, &self.program.home);
        let lexical = lexical(&expanded, directory);
        if *lexical != *canonical.as_str() {
            forms.push(lexical.into_owned());
        }
        Ok(forms)
    }

    fn resolver(&mut self) -> Resolver<'_, 'h> {
        self.program.resolver(&mut self.facts)
    }

    /// Resolves a path that is not an argument: a rule's directory, a protected path, the sandbox.
    pub(crate) fn directory(&mut self, lexical: &str) -> Result<CanonicalPath, Unresolvable> {
        self.resolver().resolve_lexical(lexical)
    }

    /// The same where the path exists and is not a link, and nothing above it is one.
    pub(crate) fn directory_without_links(&mut self, lexical: &str) -> Option<CanonicalPath> {
        self.resolver().existing_without_links(lexical)
    }

    /// The places directly in a directory at which a pattern of protected paths with a `**` may match, as far as something is
    /// there. Nothing can list what lies deeper.
    pub(super) fn protected_names_in(&mut self, directory: &str) -> Vec<String> {
        if self.facts.is_directory(directory) == Some(false) {
            return Vec::new();
        }
        let patterns = self.program.protected.patterns.iter();
        let names: Vec<String> = patterns.filter_map(|one| one.pattern.names_after_any()).collect();
        let places = names
            .iter()
            .map(|names| format!("{}/{names}", directory.trim_end_matches('/')));
        places.filter(|place| self.resolver().may_exist(place)).collect()
    }

    /// Where the link is, when `lexical` is one.
    pub(crate) fn directory_entry(&mut self, lexical: &str) -> Result<Option<CanonicalPath>, Unresolvable> {
        self.resolver().entry(lexical, "/")
    }

    /// A string that looks like a path, whatever its role.
    pub(crate) fn path_like(&mut self, text: &str) -> Result<CanonicalPath, Unresolvable> {
        let moved = self.moved(text).map(Cow::into_owned);
        let base = self.base.directory;
        self.resolver().resolve(moved.as_deref().unwrap_or(text), base)
    }

    /// The lexical form of a path as it was given, moved from the container's directory where it lies there.
    pub(crate) fn lexical(&self, text: &str) -> String {
        self.lexical_from(text, self.base.directory)
    }

    /// The same of a path that is relative to a directory of its own.
    pub(crate) fn lexical_from(&self, text: &str, base: &str) -> String {
        let moved = self.moved(text);
        let expanded = expand_tilde(moved.as_deref().unwrap_or(text), &self.program.home);
        lexical(&expanded, base).into_owned()
    }

    /// Asks the world whether a tool's command may be run at a place.
    pub(crate) fn judge_at(
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

    /// The value moved from the container's directory onto the host's, where it lies there.
    fn moved(&self, text: &str) -> Option<Cow<'h, str>> {
        let (container, allowed) = self.base.container?;
        // Below a container at the root is what begins with `//`, as the existing runtime has it.
        let (text, container) = match container.trim_end_matches('/') {
            "" => (text.strip_prefix('/')?, ""),
            trimmed => (text, trimmed),
        };
        let allowed = allowed.trim_end_matches('/');
        Some(match strip_directory(text, container)? {
            "" if allowed.is_empty() => Cow::Borrowed("/"),
            "" => Cow::Borrowed(allowed),
            names => Cow::Owned(format!("{allowed}/{names}")),
        })
    }

    /// Finds what the value names as a URL, or as a bare domain, under the role; `repositories` are where git remotes are
    /// looked up.
    pub(super) fn find_locations(
        &mut self,
        operand: &mut Operand<'_, '_>,
        role: RoleId,
        repositories: &Repositories,
    ) {
        self.locate(operand, role, repositories);
        let locations = operand.locations(role).iter();
        self.facts.take_steps(locations.map(Location::reading).sum());
    }

    fn locate(&mut self, operand: &mut Operand<'_, '_>, role: RoleId, repositories: &Repositories) {
        if matches!(operand.form, Form::Unknown) {
            operand
                .answers_mut()
                .locations
                .push((role, vec![Location::unknown()]));
            return;
        }
        let definition = self.program.registry.get(role);
        let kind = url_kind(role, definition);
        if kind == UrlKind::Bare {
            let cost = net::cost_of_parsing(self.text(operand, role));
            self.facts.take_steps(cost);
            let text = operand.text(role).unwrap_or_default();
            let location = match self.facts.has_failed() {
                true => Location::unknown(),
                false => Location::new(text, kind).into_owned(),
            };
            operand.answers_mut().locations.push((role, vec![location]));
            return;
        }
        let is_read_as_given = matches!(definition.canonicalize, Step::Url | Step::GitUrl);
        if let Some(Cow::Borrowed(text)) = operand.bound.text
            && is_read_as_given
            && kind != UrlKind::GitRemote
        {
            let location = Location::parsed(text, kind, operand.url());
            operand.answers_mut().locations.push((role, vec![location]));
            return;
        }
        let url = operand.url();
        let text = operand.bound.text.as_deref().unwrap_or_default();
        let text = match is_read_as_given {
            true => Cow::Borrowed(text),
            false => self.apply(definition, definition.canonicalize, "canonicalize", text),
        };
        let location = match kind {
            // The engine fills in the URL that git connects to.
            UrlKind::GitRemote if operand.bound.argument.is_none() => Location::new(&text, kind).into_owned(),
            // A name means something in a repository alone, and the gate's own directory is not the server's.
            UrlKind::GitRemote
                if !repositories.are_named
                    && self.program.compatibility == Compatibility::Careful
                    && !net::is_explicit(&text) =>
            {
                Location::unknown()
            }
            UrlKind::GitRemote => {
                let parsed = url.filter(|_| is_read_as_given);
                let urls = net::resolve_git_remote(&text, parsed, &repositories.directories, &mut self.facts);
                // A call whose steps have run out is denied, however many URLs are left.
                if self.facts.has_failed() {
                    operand
                        .answers_mut()
                        .locations
                        .push((role, vec![Location::unknown()]));
                    return;
                }
                let others = (!repositories.are_all).then(Location::unknown);
                let known = urls.iter().map(|url| {
                    let parsed = parsed.filter(|_| *url == *text);
                    Location::parsed(url, kind, parsed).into_owned()
                });
                let locations = known.chain(others).collect();
                operand.answers_mut().locations.push((role, locations));
                return;
            }
            UrlKind::Fetch | UrlKind::AsGiven | UrlKind::Bare => Location::new(&text, kind).into_owned(),
        };
        operand.answers_mut().locations.push((role, vec![location]));
    }

    /// The text that policy compares under the role: the canonical form, or the part of it that the role extracts.
    pub(crate) fn text<'o>(&mut self, operand: &'o mut Operand<'_, '_>, role: RoleId) -> &'o str {
        if !operand.texts.iter().any(|(known, _)| *known == role) {
            let definition = self.program.registry.get(role);
            let canonical = self.canonical(operand, definition);
            let text = match definition.extract_policy_value {
                Some(step) => Cow::Owned(
                    self.apply(definition, step, "extractPolicyValue", &canonical)
                        .into_owned(),
                ),
                None => canonical,
            };
            let changed = (*text != *operand.given()).then(|| text.into_owned());
            operand.texts.push((role, changed));
        }
        operand.text(role).unwrap_or_default()
    }

    /// The e-mail addresses that a mail program may read from the value's text under the role.
    pub(super) fn addresses<'o>(&mut self, operand: &'o mut Operand<'_, '_>, role: RoleId) -> &'o [String] {
        if operand.addresses(role).is_none() {
            let text = self.text(operand, role);
            let cost = cost_of_addresses(text);
            // Where the steps run out, the call is denied whatever is found.
            self.facts.take_steps(cost);
            let addresses = match self.facts.has_failed() {
                true => Vec::new(),
                false => readable_addresses(operand.text(role).unwrap_or_default()),
            };
            operand.answers_mut().addresses.push((role, addresses));
        }
        operand.addresses(role).unwrap_or_default()
    }

    pub(super) fn canonical<'o>(
        &mut self,
        operand: &'o Operand<'_, '_>,
        definition: &RoleDefinition,
    ) -> Cow<'o, str> {
        match (definition.category, &operand.form) {
            (Category::Path, Form::Path { canonical, .. }) => return canonical.as_str().into(),
            (Category::Address, Form::Address(resolution)) => {
                if let Ok(located) = &**resolution {
                    return located.address.as_str().into();
                }
            }
            _ => {}
        }
        if let Some(url) = operand.url()
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

/// Returns `true` for `.git` and what lies in it. A git server that is given such a path works in the work tree around it.
fn is_in_git_directory(path: &str) -> bool {
    path.split('/').any(|name| name.eq_ignore_ascii_case(".git"))
}

/// Returns `true` if the path starts from a directory that it does not name.
pub(super) fn is_relative(path: &str) -> bool {
    !path.starts_with(['/', '~'])
}

/// How a role's values are read as URLs.
pub(crate) fn url_kind(role: RoleId, definition: &RoleDefinition) -> UrlKind {
    if definition.category != Category::Url {
        UrlKind::Bare
    } else if role == RoleId::FETCH_URL {
        UrlKind::Fetch
    } else {
        match definition.canonicalize {
            Step::GitUrl => UrlKind::GitRemote,
            Step::Url => UrlKind::Fetch,
            _ => UrlKind::AsGiven,
        }
    }
}

/// The heuristic for a tool without annotation: a string that looks like a path becomes lexical (SPEC §6.7).
pub(crate) fn heuristic(text: &str, home: &str, base: &str) -> Option<String> {
    text.starts_with(['/', '.', '~'])
        .then(|| lexical(&expand_tilde(text, home), base).into_owned())
        .filter(|lexical| lexical != text)
}
