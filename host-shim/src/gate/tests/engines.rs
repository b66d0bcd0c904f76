//! The core in this process and the component, in a build that runs one, are one engine.

use super::*;

#[test]
fn both_engines_give_the_same_bytes() {
    let gates = ENGINES.map(gate_with);
    let (native, other) = (&gates[0], &gates[gates.len() - 1]);
    let text = |value: Result<Value, CallError>| value.map(|value| value.to_string());
    for path in ["a", "out/hosts", "~/.ssh/id", "", "/etc/../etc/x", "é\\ud83d"] {
        let call = call(path);
        assert_eq!(native.evaluate(&call), other.evaluate(&call), "{path}");
        assert_eq!(
            native.judge(&Request::gate(&call).in_container("/box")),
            other.judge(&Request::gate(&call).in_container("/box")),
            "{path}"
        );
        assert_eq!(text(native.explain(&call)), text(other.explain(&call)), "{path}");
        let explained = [native, other].map(|gate| text(explain_gate(gate, &call, Some("/box"))));
        assert_eq!(explained[0], explained[1], "{path}");
    }
}

#[test]
fn both_engines_answer_every_other_question_alike() {
    let gates = ENGINES.map(world_gate);
    let (first, second) = (&gates[0], &gates[gates.len() - 1]);
    assert_eq!(first.tools().unwrap(), second.tools().unwrap());
    let Tool { server, name, .. } = first.tools().unwrap().remove(0);
    assert_eq!(first.semantics(&server, &name), second.semantics(&server, &name));
    assert_eq!(first.semantics(&server, "no-such-tool"), Ok(None));
    assert_eq!(first.ceiling(), second.ceiling());
    assert!(first.ceiling().unwrap().is_some());
    let operation = Operation {
        tool: "file",
        command: "write",
        root: "notes",
        subdirectory: None,
        address: None,
    };
    for mode in [None, Some("play"), Some("edit")] {
        let one = first.enforce(mode, &operation, None);
        assert_eq!(one, second.enforce(mode, &operation, None));
        assert!(one.is_ok());
    }
    for gate in &gates {
        let found = gate.enforce(None, &operation, Some("[]"));
        assert!(matches!(found, Err(Unanswered::Context(_))), "{found:?}");
    }
}
