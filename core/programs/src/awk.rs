//! Programs of `awk`.

/// Returns `true` if the program only reads its input and prints: nothing in it runs, reads or writes anything else.
///
/// Whether a character stands in a string, in a pattern or by itself is not told apart: what begins each depends on what stands before.
pub(super) fn is_plain(text: &str) -> bool {
    // `ARGV` names the files that are read; the tables of gawk name variables and functions by their values.
    const WORDS: &[&str] = &[
        "system", "getline", "ENVIRON", "ARG", "SYMTAB", "FUNCTAB", "PROCINFO", "include", "load",
    ];
    // A single `|` is a pipe, `>` writes, and `@` calls what a variable names.
    !text.replace("||", "").contains(['|', '>', '@', '\\']) && !WORDS.iter().any(|word| text.contains(word))
}
