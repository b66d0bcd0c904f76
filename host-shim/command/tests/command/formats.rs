//! Results for other programs, held against the published descriptions of their formats.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use serde_json::{Value, json};

use crate::project::{Project, reading};
use crate::scenarios::{good, scenario};

/// The schema of JUnit XML that Jenkins publishes (MIT).
const JUNIT: &str = include_str!("junit-10.xsd");

/// Attributes that are not in that schema: the place of a scenario, which GitLab, CircleCI and pytest write so too.
const JUNIT_MORE: &[(&str, &str)] = &[("testcase", "file"), ("testcase", "line")];

/// The schema of one element.
#[derive(Debug, Default)]
struct Shape {
    /// The attributes, and whether each is required.
    attributes: BTreeMap<String, bool>,
    children: BTreeSet<String>,
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element.try_get_attribute(name).expect("attributes")?;
    Some(found.value.into_owned())
}

fn name_of(element: &BytesStart<'_>) -> String {
    element.name().as_ref().to_owned()
}

/// Every start of an element with the names of those around it.
fn elements(xml: &str) -> Vec<(Vec<String>, BytesStart<'_>)> {
    let mut reader = Reader::from_str(xml);
    let (mut open, mut found) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(start) => {
                let name = name_of(&start);
                found.push((open.clone(), start));
                open.push(name);
            }
            Event::Empty(start) => found.push((open.clone(), start)),
            Event::End(_) => {
                open.pop();
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

/// The elements of the schema: its attributes and references stand within the declaration of their element.
fn shapes() -> BTreeMap<String, Shape> {
    let mut shapes: BTreeMap<String, Shape> = BTreeMap::new();
    let mut declared = String::new();
    for (around, element) in elements(JUNIT) {
        match (name_of(&element).as_str(), around.len()) {
            ("xs:element", 1) => {
                declared = attribute(&element, "name").expect("a name");
                shapes.insert(declared.clone(), Shape::default());
            }
            ("xs:complexType" | "xs:simpleType", 1) => declared.clear(),
            (kind, _) => {
                let Some(shape) = shapes.get_mut(&declared) else {
                    continue;
                };
                if kind == "xs:attribute" {
                    let is_required = attribute(&element, "use").is_some_and(|word| word == "required");
                    shape
                        .attributes
                        .insert(attribute(&element, "name").expect("a name"), is_required);
                } else if let Some(child) = attribute(&element, "ref") {
                    shape.children.insert(child);
                }
            }
        }
    }
    shapes
}

#[test]
fn results_are_junit_as_its_schema_has_it() {
    let project = Project::new();
    let lines = good()
        + &scenario(
            &reading("/etc/hosts"),
            json!({"name": "<hosts> & \"others\" \u{1b}[2J\u{0}\u{ffff}", "expect": "allow"}),
        );
    project.write("s.jsonl", &lines);
    project.write("t.jsonl", good());
    project.check(
        &["test", "s.jsonl", "t.jsonl", "--junit", "r.xml"],
        1,
        &["\"failed\":1"],
        &[],
    );
    let xml = fs::read_to_string(project.folder.path().join("project/r.xml")).expect("a file");
    let shapes = shapes();
    assert!(shapes["testcase"].attributes["name"] && shapes["testsuite"].attributes["errors"]);
    let elements = elements(&xml);
    assert!(elements.len() > 9, "{xml}");
    for (around, element) in elements {
        let name = name_of(&element);
        let shape = shapes.get(&name).unwrap_or_else(|| panic!("an element `{name}`"));
        match around.last() {
            Some(parent) => assert!(shapes[parent].children.contains(&name), "`{name}` in `{parent}`"),
            None => assert_eq!(name, "testsuites"),
        }
        for (required, _) in shape.attributes.iter().filter(|(_, is_required)| **is_required) {
            assert!(
                attribute(&element, required).is_some(),
                "`{name}` without `{required}`"
            );
        }
        for given in element.attributes() {
            let given = given.expect("an attribute");
            let key: &str = given.key.as_ref();
            let is_known = shape.attributes.contains_key(key) || JUNIT_MORE.contains(&(&*name, key));
            assert!(is_known, "`{key}` of `{name}`");
            let value = &*given.value;
            // The schema's SUREFIRE_TIME: seconds with up to three places.
            if key == "time" {
                let (seconds, rest) = value.split_once('.').expect("a fraction");
                let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
                assert!(
                    is_number(seconds) && is_number(rest) && rest.len() <= 3,
                    "{value}"
                );
            }
        }
    }
}

/// The objects of SARIF 2.1.0 that the command writes: the section of the standard, where they stand, the properties that it
/// requires, and others that it knows and that are written.
type Object = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

/// <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>
const SARIF: &[Object] = &[
    ("3.13", "", &["version", "runs"], &["$schema"]),
    ("3.14", "/runs/*", &["tool"], &["results"]),
    ("3.18", "/runs/*/tool", &["driver"], &[]),
    ("3.19", "/runs/*/tool/driver", &["name"], &["version", "rules"]),
    ("3.49", "/runs/*/tool/driver/rules/*", &["id"], &[]),
    (
        "3.27",
        "/runs/*/results/*",
        &["message"],
        &["ruleId", "level", "locations", "properties"],
    ),
    ("3.11", "/runs/*/results/*/message", &["text"], &[]),
    (
        "3.28",
        "/runs/*/results/*/locations/*",
        &[],
        &["physicalLocation"],
    ),
    (
        "3.29",
        "/runs/*/results/*/locations/*/physicalLocation",
        &["artifactLocation"],
        &["region"],
    ),
    (
        "3.4",
        "/runs/*/results/*/locations/*/physicalLocation/artifactLocation",
        &["uri"],
        &[],
    ),
    (
        "3.30",
        "/runs/*/results/*/locations/*/physicalLocation/region",
        &["startLine"],
        &["startColumn"],
    ),
];

/// Holds every object below the value against the table; `place` has `*` for an item of an array.
fn hold_sarif(value: &Value, place: &str) {
    // A property bag (3.8) holds anything.
    if place.ends_with("/properties") {
        assert!(value.is_object(), "{value}");
        return;
    }
    match value {
        Value::Array(items) => items
            .iter()
            .for_each(|item| hold_sarif(item, &format!("{place}/*"))),
        Value::Object(members) => {
            let row = SARIF.iter().find(|(_, known, ..)| *known == place);
            let (section, _, required, others) = row.unwrap_or_else(|| panic!("an object at {place}"));
            for key in *required {
                assert!(members.contains_key(*key), "section {section} requires `{key}`");
            }
            for (key, member) in members {
                let is_known = required.contains(&&**key) || others.contains(&&**key);
                assert!(is_known, "section {section} has no `{key}`");
                hold_sarif(member, &format!("{place}/{key}"));
            }
        }
        _ => {}
    }
}

#[test]
fn findings_are_sarif_as_the_standard_has_it() {
    let project = Project::new();
    project.edit("policy.json", |policy| {
        let rules = policy["rules"].as_array_mut().expect("rules");
        rules.push(json!({
            "name": "too-late", "if": {"paths": {"roles": "write-path", "within": "/etc/ssh"}}, "then": "deny", "reason": "r",
        }));
    });
    let output = project.run(&["lint", "--sarif"]);
    let log: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    hold_sarif(&log, "");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let ids: BTreeSet<&str> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
    assert_eq!(ids.len(), rules.len(), "each rule once (3.19.23)");
    let results = run["results"].as_array().expect("results");
    assert!(results.len() > 1, "{log}");
    for result in results {
        assert!(
            ids.contains(result["ruleId"].as_str().expect("a rule")),
            "{result}"
        );
        let levels = ["none", "note", "warning", "error"];
        assert!(
            levels.contains(&result["level"].as_str().expect("a level")),
            "3.27.10: {result}"
        );
        assert!(
            !result["message"]["text"].as_str().expect("a text").is_empty(),
            "{result}"
        );
        for location in result["locations"].as_array().expect("locations") {
            let place = &location["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().expect("a reference");
            let is_plain = |one: char| one.is_ascii_alphanumeric() || "-._~/%".contains(one);
            assert!(!uri.is_empty() && uri.chars().all(is_plain), "RFC 3986: {uri}");
            if let Some(region) = place.get("region") {
                let at = |key: &str| region[key].as_u64().expect("a positive number");
                assert!(
                    at("startLine") > 0 && at("startColumn") > 0,
                    "3.30.5, 3.30.6: {region}"
                );
            }
        }
    }
}
