//! Where answers go: standard output as lines of JSON or for a person, faults to standard error, an exit code.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use callgate_engine::diagnostic::{Code, Diagnostic};
use callgate_engine::model::Effect;
pub(crate) use callgate_host::clean;
use callgate_host::{Fault, GateError};
use clap::ValueEnum;
use serde::Serialize;

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

/// How the process ends, from what lets a call pass to what cannot even judge it: where there are several
/// answers, the last of these stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    Allow,
    Escalate,
    Deny,
    Invalid,
    Fault,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Allow => 0,
            Exit::Escalate => 3,
            Exit::Deny => 2,
            Exit::Invalid => 4,
            Exit::Fault => 1,
        })
    }
}

/// Why a command cannot answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something that is not the fault of a document.
    Fault(String),
    /// The same, with what to do about it.
    Helped { message: String, help: String },
    /// A document that is not a bundle, a policy or the like.
    Invalid(String),
    /// Documents that cannot be read, or not be loaded, with what to do about it where that is known.
    Unloaded { message: String, help: Option<String> },
    /// Documents that are refused.
    Refused(Vec<Fault>),
    /// Whoever read the answers has gone away.
    Closed,
}

impl Failure {
    /// The fault in a few words.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Fault(message)
            | Self::Invalid(message)
            | Self::Helped { message, .. }
            | Self::Unloaded { message, .. } => message,
            Self::Refused(_) => "documents are refused",
            Self::Closed => "nobody reads the answer",
        }
    }

    /// Tells standard error, and gives the exit code that says the same.
    pub(crate) fn report(self) -> Exit {
        match self {
            Self::Fault(message) => {
                complain(&message);
                Exit::Fault
            }
            Self::Helped { message, help } => {
                complain(&message);
                helping(&help);
                Exit::Fault
            }
            Self::Unloaded { message, help } => {
                complain(&message);
                help.iter().for_each(|help| helping(help));
                Exit::Invalid
            }
            Self::Invalid(message) => {
                complain(&message);
                Exit::Invalid
            }
            Self::Refused(faults) => {
                let mut stderr = anstream::stderr();
                for fault in faults {
                    let _ = write!(stderr, "{}", diagnosis(&fault));
                }
                Exit::Invalid
            }
            Self::Closed => Exit::Fault,
        }
    }
}

impl From<GateError> for Failure {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Refused(faults) => Self::Refused(faults),
            GateError::Component(_) => Self::Fault(error.to_string()),
            GateError::Unreadable { .. } => Self::Unloaded {
                message: error.to_string(),
                help: Some("expected the file of a document, as the bundle or a flag names it".to_owned()),
            },
            GateError::Engine(_) => Self::Unloaded {
                message: error.to_string(),
                help: None,
            },
            GateError::Host(_) => Self::Fault(error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Fault(format!("cannot write the answer: {error}"))
        }
    }
}

fn helping(help: &str) {
    let _ = writeln!(anstream::stderr(), "  {} {}", paint(DIM, "help:"), clean(help));
}

/// One line on standard error, `error: …`. Whether it arrives cannot be helped.
fn complain(message: &str) {
    let mut stderr = anstream::stderr();
    let _ = writeln!(stderr, "{} {}", paint(RED, "error:"), clean(message));
}

/// One line on standard error for whoever watches.
pub(crate) fn note(message: &str) {
    let mut stderr = anstream::stderr();
    let _ = writeln!(stderr, "{} {}", paint(DIM, "note:"), clean(message));
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

pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default().bold();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

/// The text in a style; what does not come from this program must be [`clean`] before.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// `1 region`, `2 regions`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    let what = if count == 1 { one } else { many };
    format!("{count} {what}")
}

/// Columns that answers for a person take at most, where their words allow it.
const WIDTH: usize = 80;

/// The text, whose lines after the first begin with `indent`; it is broken between words. `before` is how wide what
/// stands before the text is.
pub(crate) fn wrapped(text: &str, before: usize, indent: &str) -> String {
    let (mut lines, mut column) = (String::new(), before);
    let indented = width(indent);
    for (at, word) in text.split(' ').enumerate() {
        let wide = width(word);
        if at > 0 {
            if column + 1 + wide > WIDTH && column > indented {
                lines.push('\n');
                lines.push_str(indent);
                column = indented;
            } else {
                lines.push(' ');
                column += 1;
            }
        }
        lines.push_str(word);
        column += wide;
    }
    lines
}

/// How many columns the text takes, its styles left out.
pub(crate) fn width(text: &str) -> usize {
    anstream::adapter::strip_str(text)
        .map(|part| part.chars().count())
        .sum()
}

/// The style of `allow`, `escalate` and `deny`.
pub(crate) fn style_of(decision: &str) -> Style {
    match Effect::parse(decision) {
        Some(Effect::Allow) => GREEN,
        Some(Effect::Escalate) => YELLOW,
        Some(Effect::Deny) | None => RED,
    }
}

/// Text from elsewhere, fit for a terminal: at most `most` characters of it.
pub(crate) fn brief(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}… ({} bytes)", clean(&text[..end]), text.len()),
        None => clean(text).into_owned(),
    }
}

/// A fault on two or three lines.
pub(crate) fn diagnosis(fault: &Fault) -> String {
    let diagnostic = &fault.diagnostic;
    let (style, severity) = if fault.is_error() {
        (RED, "error")
    } else {
        (YELLOW, "warning")
    };
    let label = paint(style, &format!("{severity}[{}]", diagnostic.code));
    let mut text = format!("{label} {}", paint(BOLD, &clean(&diagnostic.path)));
    if let Some(file) = &fault.file {
        let _ = write!(text, " in {}", clean(file));
        if let Some(position) = diagnostic.position {
            let _ = write!(text, ":{position}");
        }
    } else if diagnostic.path.starts_with("options") {
        text.push_str(" in --options");
    }
    let _ = writeln!(text, "\n  {}", clean(&diagnostic.message));
    if let Some(help) = diagnostic.help.as_deref().or_else(|| where_to_give(fault)) {
        let _ = writeln!(text, "  {} {}", paint(DIM, "help:"), clean(help));
    }
    text
}

/// How a document is given that is missing as a whole.
fn where_to_give(fault: &Fault) -> Option<&'static str> {
    match fault.diagnostic.path.as_str() {
        _ if fault.diagnostic.code != Code::MissingField || !is_about_the_whole(fault) => None,
        "policy" => Some("the bundle's key `policy`, or --policy FILE, gives it"),
        "annotations" => Some("the bundle's key `annotations`, or --annotations FILE, gives it"),
        _ => None,
    }
}

/// A document that is missing, and not a member of one that is there.
fn is_about_the_whole(fault: &Fault) -> bool {
    let Diagnostic { path, message, .. } = &fault.diagnostic;
    message.starts_with(&format!("`{path}` is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_elsewhere_cannot_drive_the_terminal() {
        for (text, expected) in [
            ("plain ünïcode 日本", "plain ünïcode 日本"),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("a\r\nb\tc\0", "a\\r\\nb\\tc\\0"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("exe\u{202e}txt", "exe\\u{202e}txt"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
        ] {
            assert_eq!(clean(text), expected);
        }
        assert_eq!(brief("日本語", 2), "日本… (9 bytes)");
        assert_eq!(brief("日本", 2), "日本");
    }
}
