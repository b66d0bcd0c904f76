//! The table of programs.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failing test stops where it fails"
)]

use callgate_programs::{Table, TableFault, describe};
use callgate_shell::{Surroundings, read};
use serde_json::Value;

#[test]
fn each_file_is_read() {
    for text in Table::files() {
        let mut table = Table::default();
        let document: Value = serde_json::from_str(text).unwrap();
        // What shells have themselves no other document may describe.
        let own = "shells have a command of their own by this name";
        let faults = table.add(&document);
        let others: Vec<_> = faults
            .iter()
            .filter(|one| one.fault != TableFault::Invalid(own.to_owned()))
            .collect();
        assert!(others.is_empty(), "{others:?}");
        assert!(table.names().count() > 2);
    }
    assert!(
        Table::builtin().names().count() >= 120,
        "{}",
        Table::builtin().names().count()
    );
}

/// The construct of a command that is not understood.
fn fault(table: &Table, command: &str) -> Option<String> {
    let surroundings = Surroundings {
        directory: "/repo",
        home: "/home/u",
    };
    let reading = read(command, &surroundings);
    let described = describe(&reading, table, "/home/u");
    described
        .not_understood
        .first()
        .map(|fault| fault.construct.to_string())
}

#[test]
fn most_commands_of_agents_are_understood() {
    let text = include_str!("../../shell/tests/data/commands.jsonl");
    let table = Table::builtin();
    let mut understood = 0;
    let mut wrong = Vec::new();
    let rows: Vec<Value> = text
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    for row in &rows {
        let command = row["command"].as_str().unwrap();
        let found = fault(&table, command);
        understood += usize::from(found.is_none());
        if found.as_deref() != row["not"].as_str() {
            wrong.push(format!(
                "{}",
                serde_json::json!({"command": command, "not": found})
            ));
        }
    }
    println!("{understood} of {} commands are understood", rows.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.len() >= 1_000);
    assert!(understood * 100 >= rows.len() * 85, "{understood}");
}
