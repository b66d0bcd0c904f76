//! The question to an engine about a call, and its answer.

use crate::approval::{Approvals, Approving, Moment};
use crate::bind::{Arguments, Call, Prepared, View};
use crate::judge::{Explanation, Verdict};

/// A question about one call, in the form `C`.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a, C = &'a Call<'a>> {
    /// The call, with the context that the host gave it.
    pub call: C,
    /// The base of relative paths in the arguments.
    pub paths: Paths<'a>,
    /// Who reads the explanation; `None` for a verdict without one, which costs less.
    pub explain: Option<Audience>,
    /// Approvals by a person: a call that escalates is allowed if one covers it. `None` for no approvals.
    pub approvals: Option<Approving<'a>>,
}

/// The base of a call's relative paths, and whether its arguments are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths<'a> {
    /// The current directory: the arguments were prepared already and are judged as they are.
    Prepared,
    /// The sandbox: the arguments are prepared and judged in one pass, and what was judged is what should be forwarded.
    Gate {
        /// The path of the sandbox in the container of the agent. Paths below it are moved to the sandbox; where the
        /// sandbox has several directories, to the first.
        container_workspace_dir: Option<&'a str>,
    },
}

/// Who reads an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Whoever runs the host: everything.
    Operator,
    /// The agent, who must learn nothing about the host: [`Explanation::for_agent`].
    Agent,
}

/// The engine's answer to a [`Request`].
#[derive(Clone, Debug)]
pub struct Response<'e, 'c> {
    /// The decision, with its reason.
    pub verdict: Verdict<'e>,
    /// How the arguments to forward differ from those that were given; `None` unless the request was to gate the call.
    pub prepared: Option<Prepared>,
    /// The steps that led to the verdict, if the request asked for them.
    pub explanation: Option<Explanation>,
    pub(super) given: &'c Arguments<'c>,
}

impl<'a, C> Request<'a, C> {
    /// Asks about a call whose arguments are prepared.
    pub fn prepared(call: impl Into<C>) -> Self {
        Self {
            call: call.into(),
            paths: Paths::Prepared,
            explain: None,
            approvals: None,
        }
    }

    /// Asks to prepare and judge a call.
    pub fn gate(call: impl Into<C>) -> Self {
        Self {
            paths: Paths::Gate {
                container_workspace_dir: None,
            },
            ..Self::prepared(call)
        }
    }

    /// Says what the agent's container calls the sandbox. Paths below that are moved to the sandbox; the call is then
    /// prepared and judged in one pass.
    #[must_use]
    pub fn in_container(self, workspace_dir: impl Into<Option<&'a str>>) -> Self {
        let paths = Paths::Gate {
            container_workspace_dir: workspace_dir.into(),
        };
        Self { paths, ..self }
    }

    /// Asks for an explanation too.
    #[must_use]
    pub fn explained(self, audience: Audience) -> Self {
        let explain = Some(audience);
        Self { explain, ..self }
    }

    /// Lets the call pass if it escalates and an approval covers it. Nothing else becomes of approvals: the core keeps
    /// none, and has no clock, so an approval that ends applies only if `now` says when the call is made.
    #[must_use]
    pub fn approved(self, approvals: &'a Approvals, now: Option<Moment>) -> Self {
        let approvals = Some(Approving { approvals, now });
        Self { approvals, ..self }
    }
}

impl Explanation {
    pub(super) fn shown_to(self, audience: Audience) -> Self {
        match audience {
            Audience::Operator => self,
            Audience::Agent => self.for_agent(),
        }
    }
}

impl Response<'_, '_> {
    /// The arguments to forward if the verdict lets the call pass, as JSON text. What is not replaced keeps its
    /// spelling, numbers included.
    ///
    /// `None` unless the request was to gate the call, and for arguments that are not an object or did not come as JSON.
    pub fn arguments(&self) -> Option<String> {
        self.prepared.as_ref()?.write(self.given, View::Transport)
    }
}
