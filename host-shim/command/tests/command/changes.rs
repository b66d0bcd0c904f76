//! Clients are told when a reload hides other tools from them.

use serde_json::{Value, json};

use crate::guarding::Guarded;
use crate::project::Project;

/// A server with two tools, which acknowledges what its clients subscribe to.
const TWO_TOOLS: &str = r#"while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
    *'"tools/list"'*) result='{"tools":[{"name":"read_text_file"},{"name":"write_file"}]}';;
    *'"subscriptions/listen"'*)
        printf '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{"toolsListChanged":true}}}\n' "$id"
        continue;;
    *) continue;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done"#;

fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Nobody has annotated `write_file` any more.
fn forget_a_tool(project: &Project) {
    project.edit("annotations.json", |document| {
        let tools = document["servers"]["filesystem"]["tools"].as_array_mut();
        tools
            .expect("tools")
            .retain(|tool| tool["toolName"] != "write_file");
    });
}

#[test]
fn a_client_hears_that_a_reload_hides_a_tool() {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &[], TWO_TOOLS);
    guarded.send(&request(
        0,
        "initialize",
        &json!({"protocolVersion": "2025-06-18"}),
    ));
    let tools = &guarded.receive()["result"]["capabilities"]["tools"];
    assert_eq!(tools, &json!({"listChanged": true}));
    guarded.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    guarded.send(&request(1, "tools/list", &json!({})));
    let listed = guarded.receive();
    assert_eq!(
        listed["result"]["tools"].as_array().map(Vec::len),
        Some(2),
        "{listed}"
    );
    forget_a_tool(&project);
    assert_eq!(guarded.receive()["method"], "notifications/tools/list_changed");
    guarded.send(&request(2, "tools/list", &json!({})));
    assert_eq!(
        guarded.receive()["result"]["tools"],
        json!([{"name": "read_text_file"}])
    );
    assert_eq!(guarded.end().0, Some(0));
}

#[test]
fn clients_over_http_hear_it_on_the_streams_that_they_keep() {
    use crate::http::{Listening, MODERN, next_event};
    use crate::wire;

    let project = Project::new();
    let guard = Listening::script(&project, &[], TWO_TOOLS);
    let session = guard.begin();
    let named = [("mcp-session-id", &*session)];
    guard.post(
        &named,
        &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    );
    let listed = guard.post(&named, &request(1, "tools/list", &json!({})));
    assert_eq!(
        listed.answer()["result"]["tools"].as_array().map(Vec::len),
        Some(2)
    );
    let mut own = wire::open(&guard.address, "GET /mcp", &named, "");
    let meta = json!({"io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {}});
    let listen = request(
        7,
        "subscriptions/listen",
        &json!({"notifications": {"toolsListChanged": true}, "_meta": meta}),
    );
    let headers = [
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "subscriptions/listen"),
    ];
    let mut subscribed = wire::open(&guard.address, "POST /mcp", &headers, &listen.to_string());
    let first = next_event(&mut subscribed);
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    forget_a_tool(&project);
    let changed = "notifications/tools/list_changed";
    assert_eq!(next_event(&mut own), json!({"jsonrpc": "2.0", "method": changed}));
    assert_eq!(
        next_event(&mut subscribed),
        json!({"jsonrpc": "2.0", "method": changed,
            "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": 7}}})
    );
}
