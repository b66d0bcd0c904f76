//! The files of the table. This is all that the crate takes from outside its source.

pub(super) const FILES: &[&str] = &[
    include_str!("../table/development.json"),
    include_str!("../table/files.json"),
    include_str!("../table/git.json"),
    include_str!("../table/shell.json"),
    include_str!("../table/system.json"),
    include_str!("../table/text.json"),
];

/// The JSON Schema of a document of programs, as text.
pub const SCHEMA: &str = include_str!("../programs.schema.json");
