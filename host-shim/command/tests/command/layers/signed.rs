//! Signed bundles that stand above another.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::{guard, layered, place, refused, run, write};
use crate::bundles::running::in_seconds;
use crate::guarding::{log, until};
use crate::project::call;

#[test]
fn a_signed_layer_is_used_while_it_is_good() {
    let project = layered();
    let run_in = |arguments: &[&str]| {
        let output = project.run_in("home/organisation", arguments);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    run_in(&["bundle", "keygen", "../acme"]);
    let sign = |revision: &str, expires: &str| {
        let made = [
            "--revision",
            revision,
            "--expires",
            expires,
            "--out",
            "../org.json",
        ];
        run_in(&[&["bundle", "build", "--name", "acme"], &made[..]].concat());
        run_in(&["bundle", "sign", "../org.json", "--key", "../acme.key"]);
    };
    let signed = |revision: &str| sign(revision, "1h");
    signed("7");
    let call = call("filesystem", "read_text_file", json!({"path": "a.txt"}));
    let flags = [
        "--above",
        "../org.json",
        "--above-key",
        "../acme.pub",
        "--above-name",
        "acme",
    ];
    let eval = |command: &str| run(&project, &[&[command, &call], &flags[..]].concat());
    let (code, out, err) = eval("explain");
    assert_eq!(code, Some(0), "{out}{err}");
    let answer: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(answer["explanation"]["layer"], "acme@7");
    signed("8");
    assert_eq!(eval("eval").0, Some(0));
    // No older one is used any more, nor one of another name, nor one that is not signed.
    signed("7");
    let (code, _, err) = eval("eval");
    assert_eq!(code, Some(4), "{err}");
    signed("9");
    let other = [&["eval", &call], &flags[..5], &["other"]].concat();
    refused(&project, &other, 4, "other");
    let unsigned = [
        "eval",
        &call,
        "--above",
        "../organisation",
        "--above-key",
        "../acme.pub",
    ];
    refused(&project, &unsigned, 4, "it is not a signed bundle");
    let mut guarded = guard(&project, &flags);
    assert_eq!(guarded.ask(1, "a.txt")["result"], json!({"content": []}));
    for path in [
        "~/org.json",
        "~/acme.pub",
        "~/.local/state/callgate/bundles/acme.json",
    ] {
        let rule = &write(&mut guarded, path)["result"]["_meta"]["callgate/rule"];
        assert_eq!(rule, "structural-protected-path", "{path}");
    }
    fs::write(place(&project, "org.json"), "{}").expect("a file");
    until(|| {
        log(&project)
            .iter()
            .any(|line| line["kind"] == "reload" && line.get("refused").is_some())
    });
    assert_eq!(guarded.ask(3, "a.txt")["result"], json!({"content": []}));
    // The end of any layer is the end of all.
    sign("10", &in_seconds(3));
    until(|| {
        std::thread::sleep(Duration::from_millis(200));
        guarded.ask(4, "a.txt")["result"]["_meta"]["callgate/rule"] == "structural-expired-bundle"
    });
    assert_eq!(guarded.end().0, Some(0));
}
