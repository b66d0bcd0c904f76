//! Shell commands. Whatever is read is read again in the same way, and stands where it is said to stand.

#![no_main]

use callgate_programs::{Table, describe};
use callgate_shell::{Surroundings, read};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static TABLE: Table = Table::builtin();
}

fuzz_target!(|text: &str| {
    let surroundings = Surroundings {
        directory: "/repo",
        home: "/home/u",
    };
    let reading = read(text, &surroundings);
    assert_eq!(reading, read(text, &surroundings), "again");
    let described = TABLE.with(|table| describe(&reading, table, surroundings.home));
    let places = reading.commands.iter().map(|command| command.place);
    let places = places.chain(described.invocations.iter().map(|one| one.place));
    for place in places.chain(described.not_understood.iter().map(|fault| fault.place)) {
        assert!(text.get(place.start..place.end).is_some(), "{place:?}");
    }
    // What a comment says changes nothing of a text that is understood and ends in no here-document.
    if reading.is_understood() && !text.contains("<<") {
        let commented = read(&format!("{text}\n# rm -rf x"), &surroundings);
        assert!(commented.commands == reading.commands || !commented.is_understood());
    }
});
