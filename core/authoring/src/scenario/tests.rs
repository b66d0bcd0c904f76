use proptest::prelude::*;

use super::*;

const CALL: &str = r#"{"serverName": "s", "toolName": "t", "arguments": {"a": 1.50}}"#;

fn shown(text: &str) -> Vec<String> {
    match read_scenarios(text) {
        Ok(scenarios) => scenarios
            .iter()
            .map(|one| {
                let name = one.name.as_deref().unwrap_or("-");
                let expect = one.expect.map_or("-", Expectation::as_str);
                let rule = one.rule.as_deref().unwrap_or("-");
                format!("{} {name} {expect} {rule}", one.call.position)
            })
            .collect(),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(shown(text), expected, "{text}");
}

#[test]
fn a_file_is_lines_an_array_or_an_object() {
    let one = format!(r#"{{"call": {CALL}, "expect": "allow"}}"#);
    let two = format!(r#"{{"name": "n", "expect": "not-allow", "rule": "r", "call": {CALL}}}"#);
    check(&one, &["1:10 - allow -"]);
    check(
        &format!("\n// é\n{one}\r\n\n  {two} // x\n"),
        &["3:10 - allow -", "5:61 n not-allow r"],
    );
    check(
        &format!("/* a\n b */ {one}\n{two}"),
        &["2:16 - allow -", "3:59 n not-allow r"],
    );
    check(
        &format!("[{one},\n {two},\n]"),
        &["1:11 - allow -", "2:60 n not-allow r"],
    );
    check(
        &format!("{{\"scenarios\": [{one}, {two}], \"description\": \"d\",}}"),
        &["1:25 - allow -", "1:167 n not-allow r"],
    );
    check(
        &one.replace(", \"expect\"", ",\n \"expect\""),
        &["1:10 - allow -"],
    );
}

#[test]
fn tests_and_verdicts_of_the_existing_runtime_are_scenarios() {
    let test = format!(
        r#"{{"description": "d", "request": {CALL}, "expectedDecision": "not-allow", "reasoning": "", "source": "s"}}"#
    );
    let file =
        format!(r#"{{"generatedAt": "", "constitutionHash": "", "inputHash": "", "scenarios": [{test}]}}"#);
    check(&file, &["1:108 d not-allow -"]);
    let verdict = r#"{"decision": "deny", "rule": "r", "reason": "", "escalatedRoles": ["a"]}"#;
    check(
        &format!(r#"{{"request": {CALL}, "verdict": {verdict}}}"#),
        &["1:13 - deny r"],
    );
}

#[test]
fn what_a_file_says_once_holds_for_all() {
    let own = format!(
        r#"{{"call": {CALL}, "rule": "r", "world": {{"home": "/h", "cwd": "/c"}}, "context": {{"mode": "m", "subject": "s"}}}}"#
    );
    let bare = format!(r#"{{"call": {CALL}, "rule": "r"}}"#);
    let recorded = format!(r#"{{"call": {CALL}, "rule": "r", "recording": {{}}}}"#);
    let text = format!(
        "{{\"scenarios\": [{own}, {bare}, {recorded}],\n\"world\": {{\"usual\": 1}}, \"context\": {{}}}}"
    );
    let found = read_scenarios(&text).unwrap();
    let places: Vec<String> = found
        .iter()
        .map(|one| match one.place.as_ref().unwrap() {
            ScenarioPlace::World(part) => format!("world {} {} {}", part.text, part.path, part.position),
            ScenarioPlace::Recording(part) => format!("recording {} {}", part.text, part.path),
        })
        .collect();
    assert_eq!(
        places,
        [
            r#"world {"home": "/h", "cwd": "/c"} scenarios[0].world 1:111"#,
            r#"world {"usual": 1} scenarios.world 2:10"#,
            "recording {} scenarios[2].recording",
        ]
    );
    let contexts: Vec<&str> = found
        .iter()
        .map(|one| &*one.context.as_ref().unwrap().text)
        .collect();
    assert_eq!(contexts, [r#"{"mode": "m", "subject": "s"}"#, "{}", "{}"]);
    assert_eq!(found[0].call.text, CALL);
}

#[test]
fn a_call_may_be_text() {
    let text = r#"{"call": "{\"serverName\": 1, \"serverName\": 2}", "expect": "deny"}"#;
    let found = read_scenarios(text).unwrap();
    assert_eq!(found[0].call.text, r#"{"serverName": 1, "serverName": 2}"#);
}

#[test]
fn what_is_wrong_has_its_place() {
    let with = |rest: &str| format!("\n {{\"call\": {CALL}{rest}}}");
    for (text, expected) in [
        (
            with(""),
            "2:2: error[missing-field] at scenarios[0]: nothing is said of the verdict, expected `expect`, `rule` or both",
        ),
        (
            with(", \"expect\": \"alow\""),
            "2:85: error[unknown-value] at scenarios[0].expect: found `\"alow\"`, expected one of `allow`, `escalate`, `deny`, \
             `not-allow` (help: did you mean `allow`?)",
        ),
        (
            with(", \"expect\": null"),
            "2:85: error[wrong-type] at scenarios[0].expect: found `null`, expected one of `allow`, `escalate`, `deny`, `not-allow`",
        ),
        (
            with(", \"expect\": \"deny\", \"rul\": 1"),
            "2:93: error[unknown-key] at scenarios[0].rul: found the key `rul`, expected one of `name`, `call`, `world`, \
             `recording`, `context`, `expect`, `rule` (help: did you mean `rule`?)",
        ),
        (
            with(", \"rule\": \"r\", \"rule\": \"r\""),
            "2:88: error[duplicate-key] at scenarios[0].rule: the key `rule` is given twice, expected once",
        ),
        (
            with(", \"rule\": \"\""),
            "2:83: error[invalid-value] at scenarios[0].rule: found `\"\"`, expected a name",
        ),
        (
            with(", \"rule\": \"r\", \"world\": {}, \"recording\": {}"),
            "2:2: error[invalid-value] at scenarios[0]: found `world` and `recording`, expected one of them",
        ),
        (
            with(", \"rule\": \"r\", \"world\": \"w.json\""),
            "2:97: error[wrong-type] at scenarios[0].world: found `\"w.json\"`, expected an object, a world",
        ),
        (
            with(", \"rule\": \"r\", \"context\": {\"mod\": 1}"),
            "2:100: error[unknown-key] at scenarios[0].context.mod: found the key `mod`, expected one of `mode`, `command`, `subject`, `agent`, `session`, `counts`, \
             `has_contract`, `contract_key`, `script_host_path`, `content_sha256`, `script_signature`, `command_whitelist`, \
             `session_mods`, `mod_name`, `host` (help: did you mean `mode`?)",
        ),
        (
            "\n5".to_owned(),
            "2:1: error[wrong-type] at scenarios[0]: found `5`, expected an object",
        ),
        (
            "[{}]".to_owned(),
            "1:2: error[missing-field] at scenarios[0]: the field `call` is missing, expected a call `{serverName, toolName, \
             arguments}`",
        ),
        (
            "{\"call\": 1, \"rule\": \"r\"}".to_owned(),
            "1:10: error[wrong-type] at scenarios[0].call: found `1`, expected a call `{serverName, toolName, arguments}`, or its \
             JSON text",
        ),
        (
            "{\"call\": {\"serverName\": \"s\", \"toolName\": \"t\", \"context\": {}}, \"rule\": \"r\"}"
                .to_owned(),
            "1:47: error[unknown-key] at scenarios[0].call.context: found the key `context` within the call, expected it beside \
             the call (help: an agent writes the call, the host its context)",
        ),
        (
            format!("{{\"request\": {CALL}}}"),
            "1:1: error[missing-field] at scenarios[0]: found a `request`, expected either `expectedDecision` or `verdict` beside \
             it",
        ),
        (
            "[1, 2".to_owned(),
            "1:5: error[syntax] at scenarios: not JSON: EOF while parsing a list",
        ),
        (
            "[]".to_owned(),
            "error[missing-field] at scenarios: found no scenario, expected at least one",
        ),
        (
            "// nothing\n".to_owned(),
            "error[missing-field] at scenarios: found no scenario, expected at least one",
        ),
        (
            "{\"scenarios\": {}}".to_owned(),
            "1:15: error[wrong-type] at scenarios.scenarios: found `{}`, expected an array of scenarios",
        ),
        (
            "{\"scenarios\": [], \"wrld\": 1}".to_owned(),
            "1:19: error[unknown-key] at scenarios.wrld: found the key `wrld`, expected one of `scenarios`, `world`, `context`, \
             `description`, `generatedAt`, `constitutionHash`, `inputHash` (help: did you mean `world`?)",
        ),
    ] {
        let found = shown(&text);
        assert_eq!(
            found.first().map(String::as_str),
            Some(expected),
            "{text}\n{found:?}"
        );
    }
}

#[test]
fn every_faulty_line_is_named() {
    let good = format!(r#"{{"call": {CALL}, "rule": "r"}}"#);
    check(
        &format!("{good}\n{{\"call\": \n{good}\n{{\"expect\": \"deny\"}}"),
        &[
            "2:9: error[syntax] at scenarios[1]: not JSON: EOF while parsing a value",
            "4:1: error[missing-field] at scenarios[3]: the field `call` is missing, expected a call `{serverName, toolName, \
             arguments}`",
        ],
    );
    // One document of several lines that is cut is not taken for lines.
    check(
        &format!("{{\"scenarios\": [\n{good}\n]\n"),
        &["4:1: error[syntax] at scenarios: not JSON: EOF while parsing an object"],
    );
    check(
        &format!("{good},\n{good}"),
        &[
            "1:86: error[syntax] at scenarios[0]: not JSON: trailing characters (help: lines have no comma between them; an array \
             stands in `[` and `]`)",
        ],
    );
    check(
        CALL,
        &[
            "1:1: error[missing-field] at scenarios[0]: found a call, expected a scenario (help: `{\"call\": …, \"expect\": …}` is a \
             scenario; `callgate eval` judges calls)",
        ],
    );
    let many = "{}\n".repeat(150);
    let found = shown(&many);
    assert_eq!(found.len(), 101);
    assert!(found[100].contains("200 more are not listed"), "{}", found[100]);
}

#[test]
fn places_in_a_part_are_places_in_the_file() {
    let text = "\n {\"rule\": \"r\", \"call\": {\"serverName\": \"é\", // x\n  \"toolName\": \"t\"}}";
    let found = read_scenarios(text).unwrap();
    let call = &found[0].call;
    assert_eq!(call.text, "{\"serverName\": \"é\",     \n  \"toolName\": \"t\"}");
    for (line, byte, expected) in [
        (1, 1, "2:24"),
        (1, 17, "2:40"),
        (1, 20, "2:42"),
        (2, 3, "3:3"),
        (9, 99, "10:1"),
    ] {
        assert_eq!(call.position_of(line, byte).to_string(), expected);
    }
}

proptest! {
    /// Whatever a file holds, each fault says where, and nothing is left out in silence.
    #[test]
    fn no_text_is_passed_over(
        parts in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\n", " ", "//", "/*", "*/", "\"call\"", "\"expect\"", "\"deny\"", "\"scenarios\"",
            "\"world\"", "\"é\"", "1", "null", "\\", "\"",
            "{\"call\": {\"serverName\": \"s\", \"toolName\": \"t\"}, \"expect\": \"deny\"}",
        ]), 0..24),
    ) {
        let text = parts.concat();
        match read_scenarios(&text) {
            Ok(scenarios) => {
                let written = text.matches("\"toolName\"").count();
                prop_assert!(!scenarios.is_empty() && scenarios.len() <= written);
            }
            Err(faults) => {
                prop_assert!(!faults.is_empty());
                let lines = text.split('\n').count();
                for position in faults.iter().filter_map(|fault| fault.position) {
                    prop_assert!((1..=lines).contains(&position.line), "{text:?}: {faults:?}");
                }
            }
        }
    }
}
