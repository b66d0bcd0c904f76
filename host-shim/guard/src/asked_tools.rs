//! Asking a server for its tools as it writes them, to pin them.
//!
//! A client's library gives what it knows of a tool, and a pin is of everything that any client may act on.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use callgate_jsontext::Members;
use serde_json::json;
use serde_json::value::RawValue;

use super::child::{Program, Running};
use super::lines::{self, Line};
use super::message::{Id, Message, text_of};
use super::reply;

/// The most pages of a list that are asked for, and the most tools on all of them.
const PAGES: usize = 1_000;
const TOOLS: usize = 10_000;

/// Bytes of the longest message of a server.
const LONGEST: usize = lines::FROM_SERVER;

pub(super) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// One request to a server.
pub(super) struct ListRequest<'a> {
    pub(super) id: &'a Id,
    pub(super) text: String,
}

/// The tools of a program, all pages together, as JSON text; it is ended afterwards.
///
/// # Errors
/// It cannot be started, does not answer `within` this time, or answers with something else.
pub fn tools_of_program(program: &Program, within: Duration) -> Result<String, String> {
    let deadline = Instant::now() + within;
    let started = Running::start(program);
    let (running, output) = started.map_err(|error| format!("cannot be started: {error}"))?;
    let (tell, told) = channel();
    let reading = thread::Builder::new().name("server".into());
    let reading = reading.spawn(move || {
        let mut stream = std::io::BufReader::new(output);
        while let Ok(Some(line)) = lines::next(&mut stream, LONGEST) {
            let Line::Text(line) = line else { continue };
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    reading.map_err(|error| error.to_string())?;
    let listed = list(
        |asked| {
            running.send(asked.text);
            loop {
                let left = deadline.saturating_duration_since(Instant::now());
                let line = told.recv_timeout(left).map_err(|error| match error {
                    RecvTimeoutError::Timeout => late(within),
                    RecvTimeoutError::Disconnected => "ended before it said which tools it has".to_owned(),
                })?;
                match Message::read(&line) {
                    Ok(Message::Response { id: Some(id), .. }) if id == *asked.id => return Ok(line),
                    Ok(Message::Request(request)) => running.send(own_answer(&request.id, &request.method)),
                    Ok(Message::Notification { .. } | Message::Response { .. }) | Err(_) => {}
                }
            }
        },
        || running.send(INITIALIZED.to_owned()),
    );
    running.close();
    // How it ended says nothing: it was told to.
    let _ = running.stop();
    listed
}

pub(super) fn late(within: Duration) -> String {
    format!("did not answer within {} s", within.as_secs())
}

/// The answer to a server's request, which this client cannot do.
fn own_answer(id: &Id, method: &str) -> String {
    match method {
        "ping" => reply::result(id, &json!({})),
        _ => reply::error(
            Some(&id.json),
            reply::METHOD_NOT_FOUND,
            "this client only lists tools",
        ),
    }
}

/// Begins, and asks for all pages.
pub(super) fn list(
    mut ask: impl FnMut(ListRequest<'_>) -> Result<String, String>,
    begun: impl FnOnce(),
) -> Result<String, String> {
    let mut count = 0;
    let mut result = |method: &str, params: &serde_json::Value| -> Result<String, String> {
        let id = Id::own(&format!("callgate/{count}"));
        count += 1;
        let text = reply::request(&id, method, params);
        let answer = ask(ListRequest { id: &id, text })?;
        let unreadable = || format!("answers `{method}` with something else: {}", brief(&answer));
        let members: Members<'_> = serde_json::from_str(&answer).map_err(|_| unreadable())?;
        Ok(members.get("result").ok_or_else(unreadable)?.get().to_owned())
    };
    let client = json!({"name": "callgate", "version": env!("CARGO_PKG_VERSION")});
    let opening = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    result("initialize", &opening)?;
    begun();
    let mut tools: Vec<Box<RawValue>> = Vec::new();
    let mut params = json!({});
    for _ in 0..PAGES {
        let page = result("tools/list", &params)?;
        let unreadable = || format!("has no readable list of tools: {}", brief(&page));
        let members: Members<'_> = serde_json::from_str(&page).map_err(|_| unreadable())?;
        let listed = members.get("tools").ok_or_else(unreadable)?;
        let listed: Vec<Box<RawValue>> = serde_json::from_str(listed.get()).map_err(|_| unreadable())?;
        tools.extend(listed);
        if tools.len() > TOOLS {
            return Err(format!("has more than {TOOLS} tools"));
        }
        match text_of(members.get("nextCursor")) {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return serde_json::to_string(&tools).map_err(|error| error.to_string()),
        }
    }
    Err(format!("has more than {PAGES} pages of tools"))
}

/// Characters that are shown of an answer.
const SHOWN: usize = 200;

fn brief(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
