//! The text as it is written: tokens, words and commands, in the reading that dash, bash and zsh share.

mod cursor;
mod parser;
mod redirects;
pub(crate) mod tree;
mod words;

pub(crate) use parser::parse;
