//! The engine as an analysis asks it: about calls that nobody made, on a disk that is not looked at.

use std::borrow::Cow;

use super::remembered::Remembered;
use super::{Engine, Paths};
use crate::bind::{Call, Renamed, ShapeError, shape};
use crate::host::{Facts, Host, HostError, RealpathError};
use crate::judge::{Apart, Canonicalizer, Case, Pinned, PlaceSeen, Resolved, Sight, Task, Verdict, Wanted};
use crate::model::MutationClass;
use crate::path::PathCase;
use crate::program::{Program, ServerSettings, Tool};
use crate::world::{Action, Context};

/// A call given canonical keys, where it is of the shape that its tool has.
type Shape<'c> = Result<Option<Box<Renamed<'c>>>, Box<ShapeError>>;

/// A host that asks nobody: every path exists and is not a link, no remote is configured, and no branch is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinklessHost {
    home: Box<str>,
    current: Box<str>,
    ignores_path_case: bool,
    /// The branch of every repository, if it has one; `None` where no directory is a repository.
    branch: Option<Box<str>>,
}

impl LinklessHost {
    /// With these directories, both absolute; the case of names matters.
    pub fn new(home: &str, current: &str) -> Self {
        Self {
            home: home.into(),
            current: current.into(),
            ignores_path_case: false,
            branch: Some(Box::default()),
        }
    }

    /// With the directories of another host, and its way with the case of names.
    pub fn like(host: &dyn Host) -> Self {
        Self {
            home: host.home_dir().into(),
            current: host.current_dir().into(),
            ignores_path_case: host.ignores_path_case(),
            branch: Some(Box::default()),
        }
    }

    /// With the directories that the program knows, and this branch in every repository. An empty name stands for a
    /// detached head.
    pub(crate) fn on_branch(program: &Program, branch: &str) -> Self {
        Self {
            home: program.home.clone(),
            current: program.current.clone(),
            ignores_path_case: program.path_case == PathCase::Insensitive,
            branch: Some(branch.into()),
        }
    }

    /// The same where no directory is a repository.
    pub(crate) fn without_repositories(program: &Program) -> Self {
        Self {
            branch: None,
            ..Self::on_branch(program, "")
        }
    }

    /// An answer about a repository.
    fn of_repository<T>(&self, answer: T) -> Result<T, HostError> {
        match self.branch {
            Some(_) => Ok(answer),
            None => Err(HostError::new("not a git repository")),
        }
    }
}

impl Host for LinklessHost {
    fn home_dir(&self) -> &str {
        &self.home
    }

    fn current_dir(&self) -> &str {
        &self.current
    }

    fn ignores_path_case(&self) -> bool {
        self.ignores_path_case
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        Ok(path.into())
    }

    fn read_link(&self, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }

    fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
        // The directory's contents are not known here: removing it would remove every name that is protected anywhere.
        Ok(Some(false))
    }

    fn git_remote_urls(&self, _: &str, _: &str) -> Result<Vec<String>, HostError> {
        self.of_repository(Vec::new())
    }

    fn git_default_remote_urls(&self, _: &str) -> Result<Vec<String>, HostError> {
        self.of_repository(Vec::new())
    }

    fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![url.to_owned()])
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        self.of_repository(self.branch.as_deref().unwrap_or_default().to_owned())
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        self.of_repository(Some(Vec::new()))
    }
}

/// An engine, and the disk on which it is asked: one without links, or that of a host.
pub(crate) struct Imagined<'e> {
    engine: &'e Engine,
    host: ImaginedHost<'e>,
    pinned: Pinned,
}

/// A directory as it is written, and its canonical form if that is another.
pub(crate) struct DirectoryForms {
    written: String,
    canonical: Option<String>,
}

impl DirectoryForms {
    /// The directory that it stands for, as judging takes it: as it is written where nothing tells.
    pub(crate) fn meant(&self) -> &str {
        self.canonical.as_deref().unwrap_or(&self.written)
    }

    /// As it is written, then what it stands for.
    pub(crate) fn into_all(self) -> impl Iterator<Item = String> {
        std::iter::once(self.written).chain(self.canonical)
    }
}

enum ImaginedHost<'e> {
    Linkless(LinklessHost),
    Given(Remembered<'e>),
}

impl<'e> Imagined<'e> {
    /// With the links of a host, or on a disk without any.
    pub(crate) fn new(engine: &'e Engine, host: Option<&'e dyn Host>) -> Self {
        let program = &engine.program;
        let host = match host {
            Some(host) => ImaginedHost::Given(Remembered::new(host)),
            None => ImaginedHost::Linkless(LinklessHost::on_branch(program, "")),
        };
        let pinned = Pinned::resolve(&mut Canonicalizer::new(
            program,
            Facts::new(host.get(), false),
            &engine.base(Paths::Prepared, program.server("")),
        ));
        Self { engine, host, pinned }
    }

    pub(crate) fn program(&self) -> &'e Program {
        &self.engine.program
    }

    /// Returns `true` if a host says what links and repositories there are.
    pub(crate) fn asks_host(&self) -> bool {
        matches!(self.host, ImaginedHost::Given(_))
    }

    /// The directory in every form that judging compares.
    pub(crate) fn forms(&self, lexical: &str) -> DirectoryForms {
        let base = self.engine.base(Paths::Prepared, self.program().server(""));
        let facts = Facts::new(self.host.get(), false);
        let mut canonicalizer = Canonicalizer::new(self.program(), facts, &base);
        let known = canonicalizer.directory(lexical).ok();
        let known = known.map(|known| known.as_str().to_owned());
        DirectoryForms {
            written: lexical.to_owned(),
            canonical: known.filter(|known| known != lexical),
        }
    }

    /// Returns `true` if a pattern of protected paths matches the path, or may match something that is removed with it.
    pub(crate) fn is_matched(&self, path: &str, is_removed: bool) -> bool {
        self.pinned.is_matched(path, is_removed)
    }

    /// The verdict for the call as a gate judges it.
    pub(crate) fn judge(&self, call: &Call<'_>) -> Verdict<'_> {
        let (settings, tool) = self.program().server_and_tool(call.server(), call.tool());
        let shape = shape(call, tool);
        self.with_shaped(call, &shape, (settings, tool), |case| case.gate_verdict())
    }

    /// The outcome of each role of the call by itself.
    pub(crate) fn judge_apart(&self, call: &Call<'_>) -> Apart {
        self.with_case(call, |case| case.judge_apart())
            .unwrap_or(Apart::REFUSED)
    }

    /// The call as it stands before it is judged; `None` for a call that is refused for its form.
    pub(crate) fn resolved(&self, call: &Call<'_>, wanted: Wanted) -> Option<Resolved> {
        self.with_case(call, |case| case.resolved(wanted)).flatten()
    }

    /// How the world answers to a call of the tool that names the address, in the context.
    pub(crate) fn place_seen(&self, tool: &Tool, address: &str, context: &Context) -> PlaceSeen {
        let mut seen = PlaceSeen {
            is_visible: false,
            is_allowed: false,
            is_removed: false,
            has_failed: false,
        };
        let program = self.program();
        let Some(world) = &program.world else {
            return seen;
        };
        let action = Action {
            tool: &tool.name,
            command: context.command(),
        };
        seen.is_removed =
            world.removes(&action) || tool.semantics.kind.mutation_class() == MutationClass::Destructive;
        let mut facts = Facts::new(self.host.get(), false);
        let mut resolver = program.resolver(&mut facts);
        let mode = context.mode();
        let Ok(located) = world.resolve_address(address, mode, context, &mut resolver) else {
            seen.has_failed = facts.has_failed();
            return seen;
        };
        let place = (&*located.root, located.subdirectory.as_deref());
        let judged = world.judge(&action, mode, place, Some(&located), context, &mut resolver);
        seen.is_visible = true;
        seen.is_allowed = judged.is_ok();
        seen.has_failed = facts.has_failed();
        seen
    }

    /// How the call meets each condition of the tool's rules on arguments; `None` where it is not of the shape that its tool
    /// has.
    pub(crate) fn conditions(&self, call: &Call<'_>) -> Option<Vec<u8>> {
        self.with_case(call, |case| case.conditions_met()).flatten()
    }

    /// The call as judging sees it.
    pub(crate) fn sight(&self, call: &Call<'_>) -> Option<Sight> {
        self.with_case(call, |case| case.sight()).flatten()
    }

    /// `None` where the call is not of the shape that its tool has.
    fn with_case<'s, T>(
        &'s self,
        call: &Call<'_>,
        ask: impl FnOnce(&mut Case<'s, '_, '_>) -> T,
    ) -> Option<T> {
        let (settings, tool) = self.program().server_and_tool(call.server(), call.tool());
        let shape = shape(call, tool);
        if shape.is_err() {
            return None;
        }
        Some(self.with_shaped(call, &shape, (settings, tool), ask))
    }

    fn with_shaped<'s, 'c, T>(
        &'s self,
        call: &'c Call<'c>,
        shape: &'c Shape<'c>,
        (settings, tool): (&'s ServerSettings, Option<&'s Tool>),
        ask: impl FnOnce(&mut Case<'s, '_, '_>) -> T,
    ) -> T {
        let paths = Paths::Gate {
            container_workspace_dir: None,
        };
        let task = Task {
            settings,
            tool,
            given: call,
            shape,
            base: &self.engine.base(paths, settings),
            traced: false,
        };
        let mut case = Case::new(self.program(), Some(&self.pinned), &task, self.host.get());
        case.read(&task);
        ask(&mut case)
    }
}

impl ImaginedHost<'_> {
    fn get(&self) -> &dyn Host {
        match self {
            Self::Linkless(host) => host,
            Self::Given(host) => host,
        }
    }
}
