//! A fault of a document, for a person.

use std::fmt::Write as _;

use callgate_engine::diagnostic::{Code, Diagnostic};
use callgate_host::{Fault, clean};

use super::style::{BOLD, DIM, RED, YELLOW, paint};

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
