//! Shell commands, read from their text: what they would run and touch.
//!
//! ```
//! use callgate_shell::{Surroundings, read};
//!
//! let surroundings = Surroundings { directory: "/repo", home: "/home/u" };
//! let reading = read("cd src && grep -n 'fn main' *.rs > ../found.txt", &surroundings);
//! assert!(reading.is_understood());
//! let [_, grep] = reading.commands.as_slice() else { panic!() };
//! assert_eq!(grep.words[2].exact(), Some("fn main"));
//! assert_eq!(grep.directories.as_deref(), Some(&["/repo/src".to_owned()][..]));
//!
//! let reading = read("rm $(cat list)", &surroundings);
//! // The words are not known, and what runs in the substitution is.
//! assert_eq!(reading.commands[0].words[1].exact(), Some("list"));
//! assert_eq!(reading.commands[1].words[1].exact(), None);
//!
//! assert!(!read("f() { ls; }", &surroundings).is_understood());
//! ```
//!
//! - **Read, never guessed.** A text is understood if dash, bash and zsh run the same commands of it, with the same words, the same
//!   redirections and in the same directories; where dash differs from the others in a way that is known, a command stands there once
//!   as each reads it ([`Shells`]). Everything else is [`NotUnderstood`], with its place and its [`Construct`].
//! - **More is read than runs**: both branches of a condition, what comes after `exit`, and a turn of a loop for each of its words.
//! - **Pure and bounded.** The same text in the same [`Surroundings`] is read in the same way everywhere; work is proportional to the
//!   text, which has at most 32 KiB, and to the limits of what it stands for.
//!
//! Who reads: `core/programs` says what the words mean, and the engine judges them in
//! `core/engine/src/judge/commands.rs`.
//!
//! Not seen are aliases, functions and options that the shell has before it reads the text, `CDPATH`, and programs that stand in the
//! `PATH` under the name of another.

mod characters;
mod fault;
mod limits;
mod reading;
mod syntax;
mod walk;

pub use fault::{Construct, NotUnderstood, Place};
pub use reading::{
    Assignment, Command, Joiner, Reading, Redirection, RedirectionKind, Shells, Value, Within, Word,
};

pub use walk::is_builtin;

/// Where a text runs.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The working directory, absolute.
    pub directory: &'a str,
    /// The home directory, absolute.
    pub home: &'a str,
}

/// Reads the text of a command.
#[must_use]
pub fn read(text: &str, surroundings: &Surroundings<'_>) -> Reading {
    walk::read(text, surroundings)
}
