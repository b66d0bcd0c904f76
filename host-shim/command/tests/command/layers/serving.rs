//! Layers before the decision service.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};

use super::{ABOVE, edit, layered, place};
use crate::guarding::{log, until};
use crate::http::Listening;
use crate::wire::ask;

/// The decision of AuthZEN's door about a file, with its effect and rule.
fn evaluated(service: &Listening, tool: &str, path: &str) -> (bool, String, String) {
    let request = json!({
        "subject": {"type": "agent", "id": "a"},
        "action": {"name": "tools/call"},
        "resource": {"type": "tool", "id": tool, "properties": {"server": "filesystem"}},
        "context": {"arguments": {"path": path}},
    });
    let json = [("content-type", "application/json")];
    let place = "POST /access/v1/evaluation";
    let answer = ask(&service.address, place, &json, &request.to_string()).json();
    let text = |name: &str| answer["context"][name].as_str().expect("a text").to_owned();
    let decision = answer["decision"].as_bool().expect("a decision");
    (decision, text("effect"), text("id"))
}

#[test]
fn the_service_judges_by_all_layers_and_takes_up_each_that_changes() {
    let project = layered();
    let file = project.folder.path().join("project/log.jsonl");
    let file = file.to_str().expect("UTF-8");
    let arguments = [&["serve", "--listen", "0", "--audit", file][..], &ABOVE[..]].concat();
    let mut command = project.command("home/project", &arguments);
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the service starts");
    let mut said = BufReader::new(child.stderr.take().expect("an output")).lines();
    let mut lines = said.by_ref().map_while(Result::ok);
    let address = lines.find_map(|line| Some(line.split_once("listening on ")?.1.to_owned()));
    let address = address.expect("the service says where it listens");
    thread::spawn(move || said.for_each(drop));
    let service = Listening { child, address };

    let home = place(&project, "").canonicalize().expect("a folder");
    let shown = |name: &str| home.join(name).to_str().expect("UTF-8").to_owned();
    let check = |name: &str, tool: &str, expected: (bool, &str, &str)| {
        let (decision, effect, rule) = evaluated(&service, tool, &shown(name));
        assert_eq!((decision, &*effect, &*rule), expected, "{name}");
    };
    let read = "read_text_file";
    check("project/a.txt", read, (true, "allow", "allow-home"));
    // What the project allows the organisation asks about, and what both of these allow the user denies.
    check("shared/a.txt", "write_file", (false, "escalate", "ask-shared"));
    check("diary/a.txt", read, (false, "deny", "deny-diary"));
    // Below both the project asks.
    check("notes", read, (false, "escalate", "ask-rest"));
    check(
        "organisation/callgate.json",
        "write_file",
        (false, "deny", "structural-protected-path"),
    );

    let reloads = |refused: bool| {
        let log = log(&project).into_iter();
        let reloads = log.filter(|line| line["kind"] == "reload" && line.get("refused").is_some() == refused);
        reloads.count()
    };
    // One that is broken is not taken up, and the last good one stays.
    let good = fs::read(place(&project, "user/callgate.json")).expect("a file");
    fs::write(place(&project, "user/callgate.json"), "{").expect("a file");
    until(|| reloads(true) == 1);
    check("diary/a.txt", read, (false, "deny", "deny-diary"));
    check("project/a.txt", read, (true, "allow", "allow-home"));
    fs::write(place(&project, "user/callgate.json"), good).expect("a file");
    until(|| reloads(false) == 1);
    edit(&project, "organisation/callgate.json", |bundle| {
        let deny = json!({"name": "no-projects", "then": "deny", "reason": "r",
            "if": {"paths": {"roles": "read-path", "within": "~/project"}}});
        bundle["policy"]["rules"]
            .as_array_mut()
            .expect("rules")
            .insert(0, deny);
    });
    until(|| reloads(false) == 2);
    check("project/a.txt", read, (false, "deny", "no-projects"));
    let log = log(&project);
    let layers = log.iter().filter(|line| line["kind"] == "decision");
    let layers: Vec<&Value> = layers.map(|line| &line["layer"]).collect();
    let (organisation, user) = ("../organisation/callgate.json", "../user/callgate.json");
    assert_eq!(layers[..4], [organisation, organisation, user, "callgate.json"]);
    assert_eq!(*layers.last().expect("a decision"), organisation);
}
