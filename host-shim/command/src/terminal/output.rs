//! Standard output: lines of JSON, text for a person, or Markdown.

use std::io::{self, IsTerminal as _, Write};

use clap::ValueEnum;
use serde::Serialize;

use super::failure::Failure;

/// How answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a person
    Human,
    /// One line of JSON an answer
    Json,
    /// Markdown, for a pull request: of map and diff
    Md,
}

/// When human answers are coloured.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    pub(crate) fn choose(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// Standard output.
pub(crate) struct Out {
    stream: Box<dyn Write>,
    /// Answers are for a person.
    pub(crate) human: bool,
    /// They are Markdown.
    pub(crate) markdown: bool,
}

impl Out {
    pub(crate) fn new(format: Option<Format>) -> Self {
        let human = match format {
            Some(format) => format == Format::Human,
            None => io::stdout().is_terminal(),
        };
        let markdown = format == Some(Format::Md);
        let stream: Box<dyn Write> = if human {
            Box::new(anstream::stdout().lock())
        } else if markdown {
            // A file of Markdown has no colours, whoever paints.
            Box::new(anstream::StripStream::new(io::stdout().lock()))
        } else {
            Box::new(io::stdout().lock())
        };
        Self {
            stream,
            human,
            markdown,
        }
    }

    /// Writes text as it is and sees to it that it leaves this process.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.stream.write_all(text.as_bytes())?;
        Ok(self.stream.flush()?)
    }

    pub(crate) fn line(&mut self, line: &str) -> Result<(), Failure> {
        self.text(&format!("{line}\n"))
    }

    pub(crate) fn json(&mut self, answer: &impl Serialize) -> Result<(), Failure> {
        let line = serde_json::to_string(answer).map_err(io::Error::from)?;
        self.line(&line)
    }
}
