//! A service for tests.

use std::sync::Arc;

use callgate_engine::config::DocumentKind;
use callgate_host::{Gate, Machine, VirtualHost};

use crate::service::{Asker, Service, ServiceOptions};

const POLICY: &str = r#"{"rules": [
    {"name": "docs", "if": {"domains": {"roles": ["fetch-url"], "allowed": ["docs.example"]}}, "then": "allow", "reason": "It is public"},
    {"name": "reports", "if": {"tool": "report"}, "then": "escalate", "reason": "A person decides"}
]}"#;

const ANNOTATIONS: &str = r#"{"servers": {"web": {"tools": [
    {"toolName": "fetch", "args": {"url": ["fetch-url"], "note": "none"}},
    {"toolName": "read", "args": {"path": ["read-path"]}},
    {"toolName": "report", "args": {}}
]}}}"#;

/// A service that lets the server `web` fetch from one domain, and read in one folder.
pub(crate) fn service(server: Option<&str>) -> Arc<Service> {
    let machine = Machine::new("/home/u", "/srv/secret-place");
    let gate = Gate::builder()
        .part(DocumentKind::Policy, POLICY)
        .part(DocumentKind::Annotations, ANNOTATIONS)
        .part(DocumentKind::Sandbox, r#""/srv/secret-place""#)
        .part(
            DocumentKind::Options,
            r#"{"serverAliases": {"web": "filesystem"}}"#,
        )
        .host(Arc::new(VirtualHost::new(machine).unwrap()))
        .build()
        .unwrap();
    let options = ServiceOptions {
        server: server.map(str::to_owned),
        asking: None,
        audit: None,
        only_tools: false,
        callers_from_evaluations: false,
        context: None,
        counts: None,
        address: None,
        warn: |_| (),
    };
    Arc::new(Service::new(gate, options).unwrap())
}

/// A service that nobody in particular asks.
pub(crate) fn asker(service: &Service) -> Asker<'_> {
    Asker {
        service,
        subject: None,
    }
}

/// A call of a tool, as JSON-RPC.
pub(crate) fn call(tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}
