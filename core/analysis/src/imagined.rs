//! The engine as an analysis asks it: about calls that nobody made, on a disk that is not looked at.

use callgate_engine::bind::{Call, Prepared, Renamed, ShapeError, shape};
use callgate_engine::engine::{Engine, LinklessHost, Paths};
use callgate_engine::host::{Facts, Host};
use callgate_engine::judge::{
    Apart, Canonicalizer, Judging, Known, Pinned, PlaceSeen, Resolved, Sight, Task, Verdict, Wanted,
};
use callgate_engine::model::MutationClass;
use callgate_engine::program::{Program, ServerSettings, Tool};
use callgate_engine::world::{Action, Context};

use crate::remembered::Remembered;

/// A call given canonical keys, where it is of the shape that its tool has.
type Shape<'c> = Result<Option<Renamed<'c>>, ShapeError>;

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
        let program = engine.program();
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
        self.engine.program()
    }

    /// The host that says what links and repositories there are.
    pub(crate) fn given(&self) -> Option<&'e dyn Host> {
        match &self.host {
            ImaginedHost::Linkless(_) => None,
            ImaginedHost::Given(host) => Some(host.given()),
        }
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

    /// Returns `true` if a pattern of protected paths matches the path, or may match something that is removed with it; `is_read` if
    /// those that may be read do not count.
    pub(crate) fn is_matched(&self, path: &str, is_removed: bool, is_read: bool) -> bool {
        self.pinned.is_matched(path, is_removed, is_read)
    }

    /// The verdict for the call as a gate judges it.
    pub(crate) fn judge(&self, call: &Call<'_>) -> Verdict<'_> {
        let (settings, tool) = self.program().server_and_tool(call.server(), call.tool());
        let shape = shape(call, tool);
        self.with_shaped(call, &shape, (settings, tool), |judging| judging.gate_verdict())
    }

    /// The verdict, and what the call becomes.
    pub(crate) fn gate(&self, call: &Call<'_>) -> (Verdict<'_>, Prepared) {
        let (settings, tool) = self.program().server_and_tool(call.server(), call.tool());
        let shape = shape(call, tool);
        self.with_shaped(call, &shape, (settings, tool), |judging| judging.gate())
    }

    /// The outcome of each role of the call by itself.
    pub(crate) fn judge_apart(&self, call: &Call<'_>) -> Apart {
        self.with_judging(call, |judging| judging.judge_apart())
            .unwrap_or(Apart::REFUSED)
    }

    /// The call as it stands before it is judged; `None` for a call that is refused for its form.
    pub(crate) fn resolved(&self, call: &Call<'_>, wanted: Wanted) -> Option<Resolved> {
        self.with_judging(call, |judging| judging.resolved(wanted))
            .flatten()
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
        self.with_judging(call, |judging| judging.conditions_met())
            .flatten()
    }

    /// The call as judging sees it.
    pub(crate) fn sight(&self, call: &Call<'_>) -> Option<Sight> {
        self.with_judging(call, |judging| judging.sight()).flatten()
    }

    /// `None` where the call is not of the shape that its tool has.
    fn with_judging<'s, T>(
        &'s self,
        call: &Call<'_>,
        ask: impl FnOnce(&mut Judging<'s, '_, '_>) -> T,
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
        ask: impl FnOnce(&mut Judging<'s, '_, '_>) -> T,
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
            approving: None,
        };
        let mut judging = Judging::new(self.program(), Known::All(&self.pinned), &task, self.host.get());
        ask(&mut judging)
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
