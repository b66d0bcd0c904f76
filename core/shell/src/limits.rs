//! The bounds of a reading. Work is proportional to the text and to what these allow.

/// The longest text that is read, in bytes.
pub(crate) const MAX_TEXT: usize = 32 * 1024;

/// How deep commands may stand in each other: groups, loops, substitutions. It bounds the stack.
pub(crate) const MAX_DEPTH: usize = 16;

/// The most commands of a text, those of each turn of a loop over written words included.
pub(crate) const MAX_COMMANDS: usize = 256;

/// The most words that commands have together, after expansion.
pub(crate) const MAX_WORDS: usize = 8 * 1024;

/// The most bytes of all words together, after expansion.
pub(crate) const MAX_BYTES: usize = 256 * 1024;

/// The most words that a word with braces stands for.
pub(crate) const MAX_BRACES: usize = 64;

/// The most working directories that a command may have, where it depends on whether an earlier `cd` succeeds.
pub(crate) const MAX_DIRECTORIES: usize = 8;
