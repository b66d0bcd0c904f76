//! The refs on the other side that a push updates because the configuration says so (`builtin/push.c` and `remote.c` of
//! git).

use std::collections::BTreeSet;

use crate::files::Error;
use crate::push_default::PushDefault;
use crate::remotes::Remotes;
use crate::repository::{HEADS, Repository, is_reference_name};

/// The most refs in one answer; of more it cannot be told which they are.
const MAX_REFS: usize = 1_000;

/// The names that git tries for a short one, each as what stands before it and after it (`ref_rev_parse_rules`).
const RULES: &[(&[u8], &[u8])] = &[
    (b"", b""),
    (b"refs/", b""),
    (b"refs/tags/", b""),
    (HEADS, b""),
    (b"refs/remotes/", b""),
    (b"refs/remotes/", b"/HEAD"),
];

/// A refspec of `remote.<name>.push`.
#[derive(Debug, PartialEq, Eq)]
enum Refspec<'s> {
    /// `:`, every branch that both sides have.
    Matching,
    /// `^name`, which only excludes.
    Negative,
    /// The refs of this name or pattern, under the same name.
    Same(&'s [u8]),
    /// The first name or pattern to the second one.
    To(&'s [u8], &'s [u8]),
}

impl<'s> Refspec<'s> {
    /// `parse_refspec`. Names are not checked: git refuses to push if one is not valid.
    fn read(text: &'s [u8]) -> Result<Self, Error> {
        let refused = || {
            let text = String::from_utf8_lossy(text).into_owned();
            Error::new(format!(
                "git's configuration has the refspec `{text}` for a push, which has no destination"
            ))
        };
        if text.starts_with(b"^") {
            return Ok(Self::Negative);
        }
        let pair = text.strip_prefix(b"+").unwrap_or(text);
        let Some(colon) = pair.iter().rposition(|byte| *byte == b':') else {
            return if pair.is_empty() {
                Err(refused())
            } else {
                Ok(Self::Same(pair))
            };
        };
        let (from, to) = pair.split_at(colon);
        match (from, to.split_at(1).1) {
            (b"", b"") => Ok(Self::Matching),
            (_, b"") => Err(refused()),
            (from, to) => Ok(Self::To(from, to)),
        }
    }
}

/// The parts of a push that decide which refs it updates.
pub(crate) struct Push<'a> {
    pub(crate) remotes: &'a Remotes<'a>,
    pub(crate) repository: &'a Repository,
    /// The branch that is checked out.
    pub(crate) branch: Option<&'a [u8]>,
    refs: BTreeSet<Vec<u8>>,
    /// `false` if it cannot be told what else is updated.
    is_told: bool,
}

impl<'a> Push<'a> {
    pub(crate) fn new(
        remotes: &'a Remotes<'a>,
        repository: &'a Repository,
        branch: Option<&'a [u8]>,
    ) -> Self {
        Self {
            remotes,
            repository,
            branch,
            refs: BTreeSet::new(),
            is_told: true,
        }
    }

    /// The destinations of `git push <remote> <reference>`, each of which may be empty, beyond the ref of the same name;
    /// `None` if they cannot be told.
    pub(crate) fn refs(mut self, remote: &[u8], reference: &[u8]) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let names = self.remotes.pushed_to(remote, self.branch)?;
        let mut refspecs = Vec::with_capacity(names.len());
        for name in &names {
            let texts = self.remotes.settings.push_refspecs(name);
            // Each is compared with every full name of the reference.
            let bytes: usize = texts.iter().map(Vec::len).sum();
            self.remotes.files.steps().take(bytes * (RULES.len() + 1))?;
            let texts = texts.iter();
            let read: Result<Vec<Refspec<'a>>, Error> = texts.map(|text| Refspec::read(text)).collect();
            refspecs.push((*name, read?));
        }
        if reference.is_empty() {
            for (name, refspecs) in &refspecs {
                self.without_ref(name, refspecs)?;
            }
        }
        // Programs that start git may pass the current branch by its name.
        let current = self.branch.map(|branch| [HEADS, branch].concat());
        let current = current.filter(|_| matches!(reference, b"" | b"HEAD"));
        let mut sources: Vec<Vec<u8>> = candidates(reference);
        sources.extend(current);
        for source in &sources {
            for (_, refspecs) in &refspecs {
                self.mapped(source, refspecs);
            }
            if let Some(branch) = source.strip_prefix(HEADS)
                && self.remotes.settings.push_mode == PushDefault::Upstream
            {
                self.upstream(branch)?;
            }
            self.symbolic(source)?;
        }
        Ok((self.is_told && self.refs.len() <= MAX_REFS).then(|| self.refs.into_iter().collect()))
    }

    /// `do_push` and `setup_default_push_refspecs`.
    fn without_ref(&mut self, remote: &[u8], refspecs: &[Refspec<'a>]) -> Result<(), Error> {
        if self.remotes.settings.is_mirror(remote) {
            self.is_told = false;
        }
        for refspec in refspecs {
            match refspec {
                Refspec::Negative => {}
                Refspec::Same(b"HEAD" | b"@") => {}
                Refspec::Same(name) | Refspec::To(_, name) if !name.contains(&b'*') => {
                    self.refs.insert(name.to_vec());
                    if let Refspec::Same(_) = refspec {
                        candidates(name)
                            .iter()
                            .try_for_each(|source| self.symbolic(source))?;
                    }
                }
                Refspec::Matching | Refspec::Same(_) | Refspec::To(..) => self.is_told = false,
            }
        }
        match self.remotes.settings.push_mode {
            PushDefault::Matching if refspecs.is_empty() => self.is_told = false,
            // The upstream branch is added with the current branch.
            PushDefault::Matching
            | PushDefault::Upstream
            | PushDefault::Nothing
            | PushDefault::Current
            | PushDefault::Simple => {}
        }
        Ok(())
    }

    /// Where the first refspec that fits sends `source` (`refspec_append_mapped`).
    fn mapped(&mut self, source: &[u8], refspecs: &[Refspec<'a>]) {
        let destination = refspecs.iter().find_map(|refspec| match refspec {
            Refspec::To(from, to) => destination(source, from, to),
            Refspec::Matching | Refspec::Negative | Refspec::Same(_) => None,
        });
        let Some(destination) = destination else {
            return;
        };
        // A tag that stays a tag is not a branch: most short names are not those of tags.
        let may_be_branch = destination.starts_with(HEADS) || !destination.starts_with(b"refs/");
        if destination != source && (may_be_branch || source.starts_with(HEADS)) {
            self.refs.insert(destination);
        }
    }

    /// The upstream branch, on whatever remote it is. If there are several, git may refuse to push.
    fn upstream(&mut self, branch: &[u8]) -> Result<(), Error> {
        let merges = self.remotes.settings.merges(branch);
        let bytes = merges.iter().map(Vec::len).sum();
        self.remotes.files.steps().take(bytes)?;
        self.refs.extend(merges.iter().cloned());
        Ok(())
    }

    /// Without a destination, a symbolic reference is pushed to the branch that it leads to (`match_explicit`).
    fn symbolic(&mut self, source: &[u8]) -> Result<(), Error> {
        if !self.repository.format.has_reference_files {
            self.is_told = false;
            return Ok(());
        }
        let target = self.repository.resolve(self.remotes.files, source)?;
        self.refs.extend(target.filter(|target| target != source));
        Ok(())
    }
}

/// The full names that a name may be short for.
fn candidates(name: &[u8]) -> Vec<Vec<u8>> {
    let full = RULES.iter().map(|(before, after)| [before, name, after].concat());
    full.filter(|full| is_reference_name(full)).collect()
}

/// The name that `to` maps `source` to if `from` matches it (`match_name_with_pattern`).
fn destination(source: &[u8], from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    let star = |text: &[u8]| text.iter().position(|byte| *byte == b'*');
    let Some(at) = star(from) else {
        return (source == from).then(|| to.to_vec());
    };
    let (before, after) = (from.get(..at)?, from.get(at + 1..)?);
    let middle = source.strip_prefix(before)?.strip_suffix(after)?;
    let Some(at) = star(to) else {
        return Some(to.to_vec());
    };
    Some([to.get(..at)?, middle, to.get(at + 1..)?].concat())
}
