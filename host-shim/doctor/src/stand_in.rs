//! A server of MCP without a tool, for a guard to stand before. It answers whatever it is asked, until nobody asks any more.

use std::io::{self, BufRead as _, Write as _};

use serde_json::{Value, json};

/// What it says to a call, which no guard should let pass.
pub(super) const REACHED: &str = "the call has reached the server";

/// Answers on standard output what a client of MCP asks on standard input, as a server that has no tool, until it leaves.
pub fn serve() {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "callgate-doctor", "version": env!("CARGO_PKG_VERSION")},
            }),
            Some("tools/list") => json!({"tools": []}),
            Some("tools/call") => json!({"content": [{"type": "text", "text": REACHED}]}),
            _ => json!({}),
        };
        let written = writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result}));
        if written.and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}
