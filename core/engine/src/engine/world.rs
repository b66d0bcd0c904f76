//! Questions about an engine's world, without a call.

use super::Engine;
use crate::host::{Facts, Host};
use crate::model::ReplyCode;
use crate::program::Program;
use crate::world::{Action, Context, References, Reply, VisibilityRef, World};

/// Says if something must already exist at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existence {
    /// If nothing is there, the reply is `WA-RES-I-004`.
    Required,
    /// It may be about to be created.
    NotRequired,
}

/// The operation that [`Places::enforce`] decides about.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The tool's command.
    pub command: &'a str,
    /// The root of the place.
    pub root: &'a str,
    /// The first name below the root, if there is one.
    pub subdirectory: Option<&'a str>,
    /// The address of the place, for conditions that ask about a path or a mod. It must be at that root and
    /// subdirectory.
    pub address: Option<&'a str>,
}

/// The places of an engine's world (SPEC §13).
pub struct Places<'e> {
    program: &'e Program,
    world: &'e World,
}

impl Engine {
    /// The world of this engine, if it has one.
    pub fn places(&self) -> Option<Places<'_>> {
        let program = &self.program;
        let world = program.world.as_ref()?;
        Some(Places { program, world })
    }
}

impl Places<'_> {
    /// A table for the references that [`Places::resolve`] gives; it holds as many as
    /// [`Limits::references`](crate::limits::Limits) says.
    pub fn references(&self) -> References {
        References::new(self.program.limits.references)
    }

    /// The place that an address names in the context's mode: the reply, which holds no path of the host, and a
    /// reference to the place if there is one.
    ///
    /// It is total: a host that fails leaves the address invalid.
    pub fn resolve(
        &self,
        address: &str,
        existence: Existence,
        context: &Context,
        references: &mut References,
        host: &dyn Host,
    ) -> (Reply, Option<VisibilityRef>) {
        let mut facts = Facts::new(host, false);
        let mut resolver = self.program.resolver(&mut facts);
        let located = match self
            .world
            .resolve_address(address, context.mode(), context, &mut resolver)
        {
            Ok(located) => located,
            Err(reply) => return (*reply, None),
        };
        if existence == Existence::Required && facts.realpath(located.path.as_str()).is_err() {
            return (Reply::bare(ReplyCode::NotFound), None);
        }
        match references.issue(located.path.clone()) {
            Some(reference) => (located.reply(), Some(reference)),
            None => (Reply::bare(ReplyCode::OutOfReferences), None),
        }
    }

    /// Returns `true` if the first rule for the place that lists the operation's command allows it in `mode`.
    ///
    /// The mode of the context does not count. A condition for which the host fails to answer does not hold.
    pub fn enforce(
        &self,
        mode: Option<&str>,
        operation: &Operation<'_>,
        context: &Context,
        host: &dyn Host,
    ) -> Reply {
        let mode = mode.filter(|mode| !mode.is_empty());
        let mut facts = Facts::new(host, false);
        let mut resolver = self.program.resolver(&mut facts);
        let place = (operation.root, operation.subdirectory);
        let located = match operation.address {
            None => None,
            Some(address) => match self.world.resolve_address(address, mode, context, &mut resolver) {
                Ok(located) if (&*located.root, located.subdirectory.as_deref()) == place => Some(located),
                Ok(_) => return Reply::bare(ReplyCode::InvalidAddress),
                Err(reply) => return *reply,
            },
        };
        let action = Action {
            tool: operation.tool,
            command: Some(operation.command),
        };
        let judged = self
            .world
            .judge(&action, mode, place, located.as_ref(), context, &mut resolver);
        judged.unwrap_or_else(|reply| *reply)
    }
}
