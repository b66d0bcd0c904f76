//! The files of the table. This is all that the crate takes from outside its source.

pub(super) const FILES: &[&str] = &[
    include_str!("../../programs/development.json"),
    include_str!("../../programs/files.json"),
    include_str!("../../programs/git.json"),
    include_str!("../../programs/shell.json"),
    include_str!("../../programs/system.json"),
    include_str!("../../programs/text.json"),
];
