//! Layers seen as a whole, and what changes below others.

use std::fs;

use serde_json::{Value, json};

use super::{ABOVE, edit, layered, place, run};

#[test]
fn a_map_says_what_all_layers_say_together() {
    let project = layered();
    let (code, out, err) = run(&project, &[&["map"], &ABOVE[..]].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    let tools: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let (mut calls, mut said) = (Vec::new(), Vec::new());
    for tool in &tools {
        for row in tool["rows"].as_array().expect("rows") {
            let call = json!({"serverName": tool["serverName"], "toolName": tool["toolName"], "arguments": row["arguments"]});
            calls.push(call.to_string());
            said.push(["decision", "rule", "layer"].map(|name| row[name].clone()));
        }
    }
    fs::write(place(&project, "calls.jsonl"), calls.join("\n")).expect("a file");
    let explain = [&["explain", "../calls.jsonl"], &ABOVE[..]].concat();
    let (_, out, err) = run(&project, &explain);
    let judged: Vec<[Value; 3]> = out
        .lines()
        .map(|line| {
            let answer: Value = serde_json::from_str(line).expect("JSON");
            let (decision, rule) = (answer["decision"].clone(), answer["rule"].clone());
            [decision, rule, answer["explanation"]["layer"].clone()]
        })
        .collect();
    assert_eq!(judged, said, "{err}");
    for layer in [
        "../organisation/callgate.json",
        "../user/callgate.json",
        "callgate.json",
    ] {
        assert!(
            said.iter().any(|[_, _, found]| found == layer),
            "{layer}: {said:?}"
        );
    }
    // The organisation does not know this server's tools, and does not leave them.
    let weather = tools
        .iter()
        .find(|tool| tool["serverName"] == "weather")
        .expect("a tool");
    let rows = weather["rows"].as_array().expect("rows");
    assert_eq!(
        (rows.len(), &rows[0]["rule"]),
        (1, &json!("structural-unknown-tool"))
    );
    let flags = [&["map", "--format", "human"], &ABOVE[..]].concat();
    let (_, out, _) = run(&project, &flags);
    assert!(out.contains("by deny-diary of ../user/callgate.json"), "{out}");
}

#[test]
fn a_comparison_is_one_of_what_all_layers_say_together() {
    let project = layered();
    fs::create_dir(place(&project, "project/new")).expect("a folder");
    fs::copy(
        place(&project, "project/callgate.json"),
        place(&project, "project/new/callgate.json"),
    )
    .expect("a file");
    edit(&project, "project/new/callgate.json", |bundle| {
        bundle["sandbox"] = "..".into();
        bundle["policy"]["rules"] = json!([{"name": "anything", "if": {"server": ["filesystem", "project-search"]},
            "then": "allow", "reason": "r"}]);
    });
    let looser = |flags: &[&str]| {
        let arguments = [&["diff", ".", "new", "--fail-on", "looser"], flags].concat();
        let (code, out, err) = run(&project, &arguments);
        assert_eq!(code, Some(2), "{out}{err}");
        let lines = out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let changes: Vec<Value> = lines
            .filter_map(|line| line["looser"].as_array().cloned())
            .flatten()
            .collect();
        changes
            .iter()
            .map(|change| change["places"][0]["is"].to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let (alone, below) = (looser(&[]), looser(&ABOVE));
    let shown = |name: &str| {
        place(&project, "")
            .canonicalize()
            .expect("a folder")
            .join(name)
            .display()
            .to_string()
    };
    // Notes are the project's own to give; the diary is the user's, and what is elsewhere the organisation's.
    let home = format!("under {}", shown("").trim_end_matches('/'));
    assert!(alone.contains(&home) && below.contains(&home), "{alone}\n{below}");
    for name in [format!("under {}", shown("diary")), "elsewhere".to_owned()] {
        assert!(!below.contains(&name), "{name}: {below}");
    }
    assert!(alone.contains("elsewhere"), "{alone}");
}
