//! Layers of which some or all are components: the answers are those of native ones.

use std::path::PathBuf;
use std::sync::Arc;

use callgate_engine::engine::Audience;
use callgate_host::{EngineKind, Gate, Machine, Request, VirtualHost};
use serde_json::Value;

/// What is expected of calls in `examples/layers`; the command's tests hold it to this, too.
const CASES: &str = include_str!("../../command/tests/command/layers/cases.jsonl");

/// The layers of the example, each run in its way, in a home directory.
fn gate([organisation, user, project]: [EngineKind; 3]) -> Gate {
    let host = Arc::new(VirtualHost::new(Machine::new("/home/u", "/home/u/project")).unwrap());
    let layer = |name: &str, kind| {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/layers");
        let bundle = Gate::builder().bundle(folder.join(name).join("callgate.json"));
        let builder = bundle.folder(format!("/home/u/{name}")).name(name);
        builder.engine(kind).host(host.clone())
    };
    let upper = |name, kind| Arc::new(layer(name, kind).upper().build().unwrap());
    let lowest = layer("project", project).above(upper("organisation", organisation));
    lowest.above(upper("user", user)).build().unwrap()
}

#[test]
fn layers_answer_alike_however_each_is_run() {
    let (native, component) = (EngineKind::Native, EngineKind::Component);
    let expected = gate([native; 3]);
    for kinds in [
        [component; 3],
        [component, native, component],
        [native, component, native],
    ] {
        let gate = gate(kinds);
        assert_eq!(gate.tools(), expected.tools());
        for line in CASES.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let call = case["call"].to_string();
            let asked = Request::gate(&*call);
            let answer = |gate: &Gate| gate.judge(&asked.explained(Audience::Operator)).unwrap();
            let (found, wanted) = (answer(&gate), answer(&expected));
            assert_eq!(found.verdict.rule, case["rule"].as_str().unwrap(), "{line}");
            assert_eq!(found, wanted, "{line}");
            let explanation = found.explanation.unwrap();
            assert_eq!(explanation["layer"], case["layer"], "{line}");
            assert_eq!(explanation.to_string(), wanted.explanation.unwrap().to_string());
            assert_eq!(gate.offer(&asked), expected.offer(&asked), "{line}");
        }
    }
}
