//! Explanations for whoever runs the host, as most tests want them.

use callgate_engine::bind::Call;
use callgate_engine::engine::{Audience, Engine, Request};
use callgate_engine::host::Host;
use callgate_engine::judge::Explanation;

/// Judges a call for its explanation.
pub trait Explain {
    /// Explains the verdict of a call whose arguments are prepared.
    fn explain(&self, call: &Call<'_>, host: &dyn Host) -> Explanation;

    /// Explains the verdict of a call that is prepared too.
    fn explain_gate(&self, call: &Call<'_>, host: &dyn Host) -> Explanation;

    /// The same for an agent whose container calls the sandbox so.
    fn explain_in(&self, call: &Call<'_>, container: &str, host: &dyn Host) -> Explanation;
}

impl Explain for Engine {
    fn explain(&self, call: &Call<'_>, host: &dyn Host) -> Explanation {
        explained(self, Request::prepared(call), host)
    }

    fn explain_gate(&self, call: &Call<'_>, host: &dyn Host) -> Explanation {
        explained(self, Request::gate(call), host)
    }

    fn explain_in(&self, call: &Call<'_>, container: &str, host: &dyn Host) -> Explanation {
        explained(self, Request::gate(call).in_container(container), host)
    }
}

fn explained(engine: &Engine, request: Request<'_>, host: &dyn Host) -> Explanation {
    let response = engine.judge(&request.explained(Audience::Operator), host);
    response.explanation.expect("the request asks for it")
}
