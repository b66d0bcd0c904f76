//! The examples, run.

#[path = "../../examples/agent.rs"]
#[expect(dead_code, reason = "its `main` is the example's")]
mod agent;
#[path = "../../examples/agent_async.rs"]
#[expect(dead_code, reason = "its `main` is the example's")]
mod agent_async;
#[path = "../../examples/embed.rs"]
#[expect(dead_code, reason = "its `main` is the example's")]
mod embed;

#[track_caller]
fn check(out: &[u8], expected: &[&str]) {
    let text = String::from_utf8_lossy(out);
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn an_agent_s_calls_are_forwarded_as_they_were_judged() {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::create_dir(workspace.path().join("notes")).unwrap();
    let mut out = Vec::new();
    agent::run(workspace.path(), &mut out).unwrap();
    let expected = [
        "write_file: wrote <workspace>/notes/today.md (1 so far)",
        "read_text_file: was asked for <workspace>/notes/today.md",
        "read_text_file: refused by structural-protected-path: Access to protected path is forbidden: \
         <workspace>/.env (argument \"path\")",
        "read_text_file: refused by structural-protected-path: Access to protected path is forbidden: \
         /home/u/.ssh/id_ed25519 (argument \"path\")",
        "read_text_file: refused by ask-other-paths: Outside the project a person decides",
        "format_disk: refused by structural-unknown-tool: Unknown tool: filesystem/format_disk",
    ];
    check(&out, &expected);
    assert_eq!(
        std::fs::read_to_string(workspace.path().join("notes/today.md")).unwrap(),
        "# Today\n"
    );
}

#[test]
fn an_asynchronous_agent_is_served() {
    let mut out = Vec::new();
    agent_async::run(&mut out).unwrap();
    let expected = [
        "/etc/shadow: escalate (ask-other-paths)",
        "notes.md: allow (structural-sandbox-allow)",
        "src/main.rs: allow (structural-sandbox-allow)",
        "~/.ssh/id_ed25519: deny (structural-protected-path)",
    ];
    check(&out, &expected);
}

#[test]
fn a_host_of_one_s_own_is_asked_within_tight_limits() {
    let mut out = Vec::new();
    embed::run(&mut out).unwrap();
    let expected = [
        "/store/latest: allow (read-reports: reports are for everybody)",
        "/store/reports/hidden: deny (default-deny: No matching policy rule -- denied by default: no rule decides about \
         the `read-path` of argument \"key\": \"/store/secrets\")",
        "/store/reports/down: deny (structural-host-error: The host failed to answer: the store is down)",
        "4,001 keys: deny (structural-engine-fault: The engine needed more than 5000000 units of fuel while it judged \
         the call)",
    ];
    check(&out, &expected);
}
