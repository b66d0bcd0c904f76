//! A call as JSON text, judged in every way. An explanation has the verdict that it explains, and the same call gets the
//! same verdict again.

#![no_main]

use std::sync::LazyLock;

use callgate_engine::bind::{Arguments, Call};
use callgate_engine::engine::{Audience, Engine, Request};
use callgate_engine::host::Host;
use callgate_fuzz::{Guessing, engine};
use libfuzzer_sys::fuzz_target;

static ENGINE: LazyLock<Engine> = LazyLock::new(engine);

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let servers = ["filesystem", "git", "fetch", "unknown"];
    let server = servers[usize::from(*first) % servers.len()];
    // The text is the arguments, or the whole call if it begins with a space.
    let call = match text.strip_prefix(' ') {
        Some(whole) => match Call::from_json(whole) {
            Ok(call) => call,
            Err(_) => return,
        },
        None => Call::new(server, "tool", Arguments::from_json(text)),
    };
    let verdict = ENGINE.evaluate(&call, &Guessing);
    assert_eq!(verdict, ENGINE.evaluate(&call, &Guessing));
    let explain = |request: Request<'_>, host: &dyn Host| {
        let response = ENGINE.judge(&request.explained(Audience::Operator), host);
        response.explanation.expect("the request asks for it")
    };
    let explanation = explain(Request::prepared(&call), &Guessing);
    assert_eq!(explanation.verdict, verdict);
    let replayed = explain(Request::prepared(&call), &explanation.recording);
    assert_eq!(replayed.verdict, explanation.verdict);
    let gated = ENGINE.gate(&call, &Guessing);
    let explained = explain(Request::gate(&call), &Guessing);
    assert_eq!(explained.verdict, gated.verdict);
    let _ = ENGINE.judge(&Request::gate(&call).in_container("/workspace"), &Guessing);
    let _ = ENGINE.prepare(&call, Some("/srv/project"), None, &Guessing);
});
