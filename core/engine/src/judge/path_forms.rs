//! The canonical forms of paths (SPEC §2), and what else a path may stand for.

use std::borrow::Cow;
use std::sync::Arc;

use super::canonical::Canonicalizer;
use super::careful;
use super::operand::{Form, Operand, PathRest};
use crate::bind::{BoundValue, ReadUri, UriForm};
use crate::cost::READING_BYTES;
use crate::net;
use crate::path::{
    CanonicalPath, Pathspec, Unresolvable, expand_tilde, is_literal, lexical, pathspec_readings,
};
use crate::program::RelativePaths;
use crate::role::{RoleId, Step};
use crate::text::strip_directory;

/// Names of one path that may exist in another Unicode form.
const MOST_FORMS: usize = 16;

impl<'h> Canonicalizer<'_, 'h> {
    pub(super) fn path_form(
        &mut self,
        bound: &BoundValue<'_, '_>,
        base: Option<Arc<str>>,
    ) -> Result<Form, Unresolvable> {
        if bound.relative_to.is_some() && base.is_none() {
            return Err(Unresolvable::NoBase);
        }
        let text = bound.text.as_deref().ok_or(Unresolvable::IllFormed)?;
        if bound.absent.is_some() && base.is_none() && is_relative(text) {
            return Err(Unresolvable::NoDirectory);
        }
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
        let mut given = Cow::Borrowed(moved.as_deref().unwrap_or(&text));
        let directory = base.as_deref().unwrap_or(self.base.directory);
        let is_refused = self.program.relative_paths == RelativePaths::Deny && base.is_none();
        if is_refused && !given.is_empty() && is_relative(&given) {
            return Err(Unresolvable::Relative);
        }
        let is_careful = self.program.defaults.wants_one_reading;
        let is_pattern = is_careful && self.base.is_git;
        if is_pattern && base.as_deref().is_some_and(is_in_git_directory) {
            return Err(Unresolvable::GitDirectory);
        }
        let readings = match is_pattern {
            true => match pathspec_readings(&given) {
                Some(readings) => readings,
                None => return self.pattern_form(&given, base),
            },
            false => Vec::new(),
        };
        let mut canonical = self.resolver().resolve(&given, directory)?;
        let mut forms = 0;
        while is_careful && let Some(other) = self.resolver().equivalent(&canonical)? {
            if forms == MOST_FORMS || !self.sends_canonical(bound) {
                return Err(Unresolvable::Equivalent);
            }
            forms += 1;
            canonical = self.resolver().resolve(&other, "/")?;
            given = Cow::Owned(other);
        }
        if is_careful && self.holds_paths(&given, directory, &canonical) {
            return Err(Unresolvable::Several);
        }
        let mut readings = match is_pattern {
            true => self.other_paths(readings, directory, &canonical)?,
            false => Vec::new(),
        };
        if let Some(uri) = &bound.uri {
            readings.extend(self.other_files(uri, bound.raw(), &canonical)?);
        }
        let entry = match bound.role_set.contains(RoleId::DELETE_PATH) {
            true => self.resolver().entry(&given, directory)?,
            false => None,
        };
        let is_of_repository = self.base.is_git && base.is_none();
        self.check_sent(entry.as_ref().unwrap_or(&canonical).as_str(), is_of_repository)?;
        let written = match self.program.protected.patterns.is_empty() {
            true => Vec::new(),
            false => self.written_forms(&given, directory, &canonical, entry.is_some())?,
        };
        let rest = PathRest {
            moved,
            entry,
            readings,
            pattern: None,
            base,
            written,
        };
        Ok(Form::Path { canonical, rest })
    }

    /// The form of a pattern of git below the directory of another argument: the directory that it ranges over.
    fn pattern_form(&mut self, given: &str, base: Option<Arc<str>>) -> Result<Form, Unresolvable> {
        let directory = base.as_deref().ok_or(Unresolvable::Pathspec)?;
        let pattern = Pathspec::parse(given).ok_or(Unresolvable::Pathspec)?;
        // Alone, what is left out stands for all of the work tree, wherever in it the server is.
        let is_known = !pattern.is_exclusion || self.resolver().may_exist(&format!("{directory}/.git"));
        let ranged = match &*pattern.directory {
            "" => ".",
            ranged => ranged,
        };
        let canonical = self.resolver().resolve(ranged, directory)?;
        if !is_known || !is_literal(canonical.as_str()) {
            return Err(Unresolvable::Pathspec);
        }
        if self.resolver().equivalent(&canonical)?.is_some() {
            return Err(Unresolvable::Equivalent);
        }
        self.check_sent(canonical.as_str(), false)?;
        let written = match self.program.protected.patterns.is_empty() {
            true => Vec::new(),
            false => self.written_forms(ranged, directory, &canonical, false)?,
        };
        Ok(Form::Path {
            canonical,
            rest: PathRest {
                pattern: Some(pattern),
                base,
                written,
                ..PathRest::default()
            },
        })
    }

    /// Returns `true` if the value is sent as its canonical path, and not as it was given.
    pub(super) fn sends_canonical(&self, bound: &BoundValue<'_, '_>) -> bool {
        let mut resources = bound
            .roles
            .iter()
            .filter(|role| self.program.resource_roles.contains(**role));
        let is_path = resources
            .next()
            .is_some_and(|role| self.program.path_roles.contains(*role));
        is_path && !self.base.may_send_given
    }

    /// Returns `true` if the text is not a name that exists, and one of the parts that separators make of it would be a path by
    /// itself: it exists, is protected, or says by its beginning that it is one.
    pub(super) fn holds_paths(&mut self, given: &str, directory: &str, canonical: &CanonicalPath) -> bool {
        /// More parts than names have.
        const MOST: usize = 32;
        let Some(parts) = careful::parts(given) else {
            return false;
        };
        if self.resolver().may_exist(canonical.as_str()) {
            return false;
        }
        for (at, part) in parts.filter(|part| !part.is_empty()).enumerate() {
            self.facts.take_steps(1 + part.len() / READING_BYTES);
            let is_first = at == 0;
            if at == MOST || (!is_first && begins_path(part)) {
                return true;
            }
            let Ok(path) = self.resolver().resolve(part, directory) else {
                continue;
            };
            let exists = self.resolver().may_exist(path.as_str());
            // A new file may be named after the directory that it begins with.
            let is_value = exists && (!is_first || self.facts.is_directory(path.as_str()) == Some(false));
            let protected = &self.program.protected;
            self.facts
                .take_steps(protected.paths.len() + protected.cost_of_patterns(path.as_str().len()));
            if is_value || protected.names(path.as_str()) {
                return true;
            }
        }
        false
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
            self.facts.take_steps(reading.len() / READING_BYTES);
            let path = self.resolver().resolve(reading, base)?;
            if self.resolver().equivalent(&path)?.is_some() {
                return Err(Unresolvable::Equivalent);
            }
            if path != *canonical && !found.contains(&path) {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// The files that exist and that a reader of URIs may open where it is given what is sent, beside the one that is named.
    fn other_files(
        &mut self,
        uri: &ReadUri<'_>,
        given: &str,
        canonical: &CanonicalPath,
    ) -> Result<Vec<CanonicalPath>, Unresolvable> {
        let path = canonical.as_str();
        let sent = match &uri.form {
            UriForm::File { rest } => net::file_uri(path, rest, given),
            UriForm::Path | UriForm::Web | UriForm::Unclear => Cow::Borrowed(path),
        };
        let mut found: Vec<CanonicalPath> = Vec::new();
        for reading in net::other_readings(&sent, path) {
            self.facts.take_steps(1 + reading.len() / READING_BYTES);
            let other = self.resolver().resolve(&reading, "/")?;
            let is_new = other != *canonical && !found.contains(&other);
            if is_new && self.resolver().may_exist(other.as_str()) {
                found.push(other);
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

    /// Resolves a path that is not an argument: a rule's directory, a protected path, the sandbox.
    pub fn directory(&mut self, lexical: &str) -> Result<CanonicalPath, Unresolvable> {
        self.resolver().resolve_lexical(lexical)
    }

    /// The same where the path exists and is not a link, and nothing above it is one.
    pub fn directory_without_links(&mut self, lexical: &str) -> Option<CanonicalPath> {
        self.resolver().existing_without_links(lexical)
    }

    /// Where the link is, when `lexical` is one.
    pub fn directory_entry(&mut self, lexical: &str) -> Result<Option<CanonicalPath>, Unresolvable> {
        self.resolver().entry(lexical, "/")
    }

    /// A string that looks like a path, whatever its role.
    pub fn path_like(&mut self, text: &str) -> Result<CanonicalPath, Unresolvable> {
        let moved = self.moved(text).map(Cow::into_owned);
        let base = self.base.directory;
        self.resolver().resolve(moved.as_deref().unwrap_or(text), base)
    }

    /// The lexical form of a path as it was given, moved from the container's directory where it lies there.
    pub fn lexical(&self, text: &str) -> String {
        self.lexical_from(text, self.base.directory)
    }

    /// The same of a path that is relative to a directory of its own.
    pub fn lexical_from(&self, text: &str, base: &str) -> String {
        let moved = self.moved(text);
        let expanded = expand_tilde(moved.as_deref().unwrap_or(text), &self.program.home);
        lexical(&expanded, base).into_owned()
    }

    /// The lexical form of a value as it was given.
    pub(super) fn lexical_of(&self, operand: &Operand<'_, '_>) -> String {
        let base = operand.path_rest().and_then(|rest| rest.base.as_deref());
        self.lexical_from(operand.given(), base.unwrap_or(self.base.directory))
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
}

/// Returns `true` for `.git` and what lies in it. A git server that is given such a path works in the work tree around it.
fn is_in_git_directory(path: &str) -> bool {
    path.split('/').any(|name| name.eq_ignore_ascii_case(".git"))
}

/// Returns `true` if the path starts from a directory that it does not name.
pub(super) fn is_relative(path: &str) -> bool {
    !path.starts_with(['/', '~'])
}

/// The heuristic for a tool without annotation: a string that looks like a path becomes lexical (SPEC §6.7).
pub fn heuristic(text: &str, home: &str, base: &str) -> Option<String> {
    text.starts_with(['/', '.', '~'])
        .then(|| lexical(&expand_tilde(text, home), base).into_owned())
        .filter(|lexical| lexical != text)
}

/// Returns `true` for a text that says by its beginning that it is a path.
fn begins_path(text: &str) -> bool {
    text.starts_with('/')
        || matches!(text, "~" | "..")
        || ["~/", "./", "../"].iter().any(|one| text.starts_with(one))
}
