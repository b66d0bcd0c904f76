//! Layers: a verdict is the strictest of those that have an opinion.

use callgate_engine::approval::Moment;
use serde_json::{Value, json};

use super::*;

fn builder(name: &str, parts: &Value) -> GateBuilder {
    let text = |part: &str| parts.get(part).cloned().unwrap_or(json!({})).to_string();
    let mut own = parts.clone();
    let members = own.as_object_mut().unwrap();
    members.remove("rules");
    members.insert("policy".to_owned(), "policy.json".into());
    Gate::builder()
        .bundle_texts(crate::BundleTexts {
            place: name.to_owned(),
            folder: Some("/work".to_owned()),
            files: vec![
                ("callgate.json".to_owned(), own.to_string()),
                ("policy.json".to_owned(), text("rules")),
            ],
        })
        .host(world())
}

fn reads(server: &str, role: &str) -> Value {
    json!({server: {"tools": [{"toolName": "read", "args": {"path": role}}]}})
}

fn rule(name: &str, within: &str, then: &str) -> Value {
    json!({"name": name, "if": {"paths": {"roles": ["read-path"], "within": within}}, "then": then, "reason": name})
}

fn organisation() -> Value {
    json!({
        "rules": {"rules": [
            rule("org asks", "/work/shared", "escalate"),
            rule("org denies", "/work/keys", "deny"),
            rule("org allows", "/work", "allow"),
        ]},
        "annotations": {"servers": reads("files", "read-path")},
        "protectedPaths": ["/etc/secret", "own-secret", {"path": "kept", "against": "write"}],
        "trustedServers": ["trusted"],
        "leaves": "own*",
    })
}

fn project() -> Value {
    let mut annotations = reads("files", "read-path");
    for server in ["own", "other", "trusted"] {
        annotations[server] = reads(server, "read-path")[server].clone();
    }
    json!({
        "rules": {"rules": [
            rule("project asks", "/work/asked", "escalate"),
            rule("project asks too", "/work/shared/asked", "escalate"),
            rule("project denies", "/work/dist", "deny"),
            rule("project allows", "/", "allow"),
        ]},
        "annotations": {"servers": annotations},
    })
}

fn upper(name: &str, parts: &Value) -> Arc<Gate> {
    Arc::new(builder(name, parts).upper().build().unwrap())
}

fn layered() -> Gate {
    builder("project", &project())
        .above(upper("org", &organisation()))
        .build()
        .unwrap()
}

fn call_of(server: &str, path: &str) -> String {
    json!({"serverName": server, "toolName": "read", "arguments": {"path": path}}).to_string()
}

#[track_caller]
fn check(gate: &Gate, server: &str, path: &str, expected: &str) {
    let verdict = gate.gate(&*call_of(server, path)).unwrap().verdict;
    assert_eq!(
        format!("{} {}", verdict.decision.as_str(), verdict.rule),
        expected,
        "{server} {path}: {}",
        verdict.reason
    );
}

#[test]
fn the_strictest_verdict_of_those_with_an_opinion_stands() {
    let gate = layered();
    check(&gate, "files", "/work/a", "allow org allows");
    check(&gate, "files", "/work/shared/a", "escalate org asks");
    check(&gate, "files", "/work/keys/a", "deny org denies");
    check(&gate, "files", "/work/dist/a", "deny project denies");
    // No layer's grant reaches beyond that of another.
    check(&gate, "files", "/etc/passwd", "deny default-deny");
    // Left to the project, which still decides; and what nobody left.
    check(&gate, "own", "/etc/passwd", "allow project allows");
    check(&gate, "own", "/work/dist", "deny project denies");
    check(
        &gate,
        "own",
        "/work/x/../own-secret/a",
        "deny structural-protected-path",
    );
    check(&gate, "own", "/etc/secret", "deny structural-protected-path");
    // To a layer that does not know the tool it may be a path that is written.
    check(&gate, "own", "/work/kept", "deny structural-protected-path");
    let protected = gate.documents().iter();
    let protected = protected.filter(|document| document.part == DocumentKind::ProtectedPaths);
    let text = &protected
        .map(|document| &*document.text)
        .collect::<Vec<_>>()
        .concat();
    let expected = json!(["/etc/secret", "/work/own-secret", {"path": "/work/kept", "against": "write"}]);
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), expected);
    check(&gate, "other", "/work/a", "deny structural-unknown-tool");
    // Trusted above, and judged below.
    check(&gate, "trusted", "x/../a", "allow project allows");
    check(&gate, "trusted", "/work/dist", "deny project denies");
    let tools = gate.tools().unwrap().into_iter();
    let servers: Vec<String> = tools.map(|tool| tool.server).collect();
    assert_eq!(servers, ["files", "own", "trusted"]);
    // A layer that stands alone leaves nothing.
    let alone = builder("org", &organisation()).build().unwrap();
    check(&alone, "own", "/work/a", "deny structural-unknown-tool");
}

#[test]
fn an_explanation_has_the_verdict_of_each_layer() {
    let explained = |server: &str, path: &str| layered().explain(&*call_of(server, path)).unwrap();
    let layers = |explanation: &Value| {
        let each = explanation["layers"].as_array().unwrap().iter();
        let each = each.map(|one| {
            format!(
                "{} {}{}",
                one["layer"].as_str().unwrap(),
                one["verdict"]["decision"].as_str().unwrap(),
                if one["left"] == true { " left" } else { "" }
            )
        });
        (explanation["layer"].clone(), each.collect::<Vec<_>>())
    };
    let keys = layers(&explained("files", "/work/keys/a"));
    assert_eq!(
        keys,
        (json!("org"), vec!["org deny".into(), "project allow".into()])
    );
    let own = layers(&explained("own", "/work/a"));
    assert_eq!(
        own,
        (
            json!("project"),
            vec!["org deny left".into(), "project allow".into()]
        )
    );
}

#[test]
fn layers_that_read_arguments_differently_allow_nothing() {
    // To the project it is no path, so that it would be sent as it is.
    let any = json!([{"name": "any", "if": {"server": "files"}, "then": "allow", "reason": "any"}]);
    let project = json!({"rules": {"rules": any}, "annotations": {"servers": reads("files", "none")}});
    let gate = builder("project", &project)
        .above(upper("org", &organisation()))
        .build()
        .unwrap();
    check(&gate, "files", "a/../b", "deny structural-inexact-call");
    check(&gate, "files", "/work/b", "allow org allows");
    let explanation = explain_gate(&gate, &call_of("files", "a/../b"), None).unwrap();
    assert_eq!(explanation["verdict"]["rule"], "structural-inexact-call");
    assert_eq!(explanation.get("layer"), None);
}

#[test]
fn an_approval_is_one_of_the_layer_that_asks() {
    let gate = layered();
    let call = call_of("files", "/work/asked/a");
    let asked = Request::gate(&*call);
    let mut offer = gate.offer(&asked).unwrap().unwrap();
    offer.expires_at = Some("2030-01-01T00:00:00Z".to_owned());
    let mut approvals = Approvals::default();
    approvals.add(&offer).unwrap();
    let now = Moment::parse("2026-01-01T00:00:00Z").unwrap();
    let approved = gate.judge(&asked.approved(&approvals, Some(now))).unwrap();
    assert_eq!(approved.verdict.decision, Decision::Allow);
    assert!(approved.verdict.approval.is_some());
    let other = call_of("files", "/work/shared/a");
    let other = Request::gate(&*other);
    let refused = gate.judge(&other.approved(&approvals, Some(now))).unwrap();
    assert_eq!(refused.verdict.rule, "org asks");
    // Where two ask, one offer is not enough.
    let both = call_of("files", "/work/shared/asked/a");
    let both = Request::gate(&*both);
    assert_eq!(gate.offer(&both).unwrap(), None);
    let verdict = gate.judge(&both).unwrap().verdict;
    let reason = "org asks; rule `project asks too` of another layer asks too";
    assert_eq!((&*verdict.rule, &*verdict.reason), ("org asks", reason));
    assert_eq!(verdict.escalated_roles(), ["read-path"]);
    // A denial is not offered, whoever else asks.
    let denied = call_of("own", "/etc/secret");
    assert_eq!(gate.offer(&Request::gate(&*denied)).unwrap(), None);
}

#[test]
fn what_a_layer_asks_under_the_name_of_another_s_rule_is_approved_there_alone() {
    let mut lower = project();
    lower["rules"]["rules"][0] = rule("org asks", "/work/shared-not", "escalate");
    let gate = builder("project", &lower)
        .above(upper("org", &organisation()))
        .build()
        .unwrap();
    let now = Moment::parse("2026-03-01T12:00:00Z");
    let path = |path: &str| call_of("files", path);
    for (asked, other, layer) in [
        ("/work/shared-not/a", "/work/shared/a", None),
        ("/work/shared/a", "/work/shared-not/a", Some("org")),
    ] {
        let call = path(asked);
        let offer = gate.offer(&Request::prepared(&call)).unwrap().unwrap();
        assert_eq!(offer.layer.as_deref(), layer);
        // Any values of the role.
        let mut approvals = Approvals::default();
        let mut wide = serde_json::to_value(&offer).unwrap();
        wide["constraints"][0]["directory"] = "/work".into();
        approvals.add_json(&wide.to_string()).unwrap();
        let decision = |path: &str| {
            let call = call_of("files", path);
            let asked = Request::prepared(&call).approved(&approvals, now);
            gate.judge(&asked).unwrap().verdict.decision
        };
        assert_eq!(decision(asked), Decision::Allow);
        assert!(matches!(decision(other), Decision::Escalate(_)), "{other}");
        // Nor does it hold where the layers are not.
        if layer.is_some() {
            let alone = builder("org", &organisation()).build().unwrap();
            let asked = Request::prepared(&call).approved(&approvals, now);
            let verdict = alone.judge(&asked).unwrap().verdict;
            assert!(matches!(verdict.decision, Decision::Escalate(_)));
        }
    }
}

#[test]
fn tools_of_agents_are_not_added_to_what_is_left() {
    let tools = || vec![json!({"toolName": "Read", "args": {"path": "read-path"}})];
    let agent = |builder: GateBuilder| builder.server("agent", "filesystem", tools(), None);
    let gate = |leaves: &str| {
        let mut organisation = organisation();
        organisation["leaves"] = leaves.into();
        let above = agent(builder("org", &organisation).upper()).build().unwrap();
        let gate = agent(builder("project", &project()).above(Arc::new(above)));
        gate.build().unwrap()
    };
    let call =
        json!({"serverName": "agent", "toolName": "Read", "arguments": {"path": "/etc/a"}}).to_string();
    let decision = |leaves: &str| gate(leaves).gate(&*call).unwrap().verdict.decision;
    assert_eq!(decision("agent"), Decision::Allow);
    assert_eq!(decision("own"), Decision::Deny);
}

#[test]
fn counts_are_those_of_all_layers() {
    let counting = |name: &str| json!({"name": name, "seconds": 60, "if": {"tool": "read"}});
    let (mut organisation, mut project) = (organisation(), project());
    organisation["rules"]["counters"] = json!([counting("org-reads")]);
    project["rules"]["counters"] = json!([counting("project-reads")]);
    let gate = |project: &Value| {
        builder("project", project)
            .above(upper("org", &organisation))
            .build()
    };
    let explained = gate(&project)
        .unwrap()
        .explain(&*call_of("files", "/work/a"))
        .unwrap();
    let counters = explained["counters"].as_array().unwrap().iter();
    let names: Vec<&Value> = counters.map(|counter| &counter["counter"]).collect();
    assert_eq!(names, ["org-reads", "project-reads"]);
    project["rules"]["counters"] = json!([counting("org-reads")]);
    assert!(matches!(gate(&project), Err(GateError::Layers(_))));
}

#[test]
fn what_looks_at_one_policy_refuses_layers() {
    let gate = layered();
    assert!(gate.compile(gate.host()).is_err());
    assert_eq!(gate.compile_layers(gate.host()).unwrap().len(), 2);
    let call = call_of("files", "/work/a");
    let explanation = gate.explain(&*call).unwrap();
    assert!(gate.recorded(&*call, &explanation).is_err());
}

#[test]
fn layers_that_do_not_go_together_are_refused() {
    let below = |name: &str, above: Gate| builder(name, &project()).above(Arc::new(above)).build();
    let organisation = || builder("org", &organisation()).build().unwrap();
    assert!(matches!(below("org", organisation()), Err(GateError::Layers(_))));
    assert!(matches!(below("x", layered()), Err(GateError::Layers(_))));
    assert!(below("x", organisation()).is_ok());
    let with = |part: &str, value: Value| {
        let mut parts = self::organisation();
        parts[part] = value;
        builder("org", &parts).build().unwrap()
    };
    // Of a tool that it does not know a layer knows no URL, so what it restricts is not left.
    let restricted = below("x", with("domainAllowlists", json!({"own": ["a.test"]}))).unwrap();
    check(&restricted, "own", "/work/a", "deny structural-unknown-tool");
    assert!(
        restricted
            .tools()
            .unwrap()
            .iter()
            .all(|tool| tool.server != "own")
    );
    // Its ceiling holds for tools that it does not know too.
    let ceiling = below("x", with("ceiling", json!({"tools": ["write"]}))).unwrap();
    check(&ceiling, "own", "/work/a", "deny structural-capability-ceiling");
}
