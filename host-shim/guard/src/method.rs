//! Which requests are the guard's business.

use percent_encoding::percent_decode_str;

/// The kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A tool is called.
    Call,
    /// The tools are listed.
    List,
    /// Anything else, which passes as it came.
    Other,
}

/// The most bytes that the name of a method may have.
const LONGEST: usize = 1024;

const CALL: &str = "tools/call";
const LIST: &str = "tools/list";

/// # Errors
/// A server may take the method for another one: it is spelled differently.
pub(super) fn kind_of(method: &str) -> Result<Kind, String> {
    match method {
        CALL => return Ok(Kind::Call),
        LIST => return Ok(Kind::List),
        _ if method.len() > LONGEST => {
            return Err(format!(
                "a method of {} bytes, expected at most {LONGEST}",
                method.len()
            ));
        }
        _ => {}
    }
    let letters = letters(method);
    match [CALL, LIST]
        .into_iter()
        .find(|known| self::letters(known) == letters)
    {
        Some(known) => Err(format!("the method `{method}`, expected `{known}`")),
        None => Ok(Kind::Other),
    }
}

/// Returns `true` if the guard itself goes by the params of such a message, and it is not a call.
pub(super) fn is_read(method: &str) -> bool {
    const READ: [&str; 4] = [
        "initialize",
        "notifications/cancelled",
        "server/discover",
        "subscriptions/listen",
    ];
    READ.contains(&method) || method == LIST
}

/// Returns `true` if a request reaches nothing of its server but tools, as it goes by this method.
pub fn is_of_tools(method: &str) -> bool {
    const KNOWN: [&str; 5] = [
        "initialize",
        "ping",
        "server/discover",
        "subscriptions/listen",
        "logging/setLevel",
    ];
    // A task is a call that was judged.
    KNOWN.contains(&method) || [CALL, LIST].contains(&method) || method.starts_with("tasks/")
}

/// The letters of a method without their case, escapes and everything between them.
fn letters(method: &str) -> String {
    super::strict::folded(&unescaped(method))
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect()
}

/// The text with its percent escapes resolved, and those that come out of them.
fn unescaped(text: &str) -> String {
    let mut text = text.to_owned();
    loop {
        let next = percent_decode_str(&text).decode_utf8_lossy().into_owned();
        if next == text {
            return text;
        }
        text = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_one_spelling() {
        assert_eq!(kind_of("tools/call"), Ok(Kind::Call));
        assert_eq!(kind_of("tools/list"), Ok(Kind::List));
        for other in [
            "ping",
            "",
            "tools/callback",
            "tools",
            "x/tools/call/y",
            "resources/list",
            "tasks/get",
        ] {
            assert_eq!(kind_of(other), Ok(Kind::Other), "{other}");
        }
        for disguised in [
            "Tools/Call",
            "TOOLS/LIST",
            " tools/call",
            "tools/call\0",
            "tools\\call",
            "tools//call",
            "/tools/call/",
            "tools.call",
            "tools%2fcall",
            "tools%252Fcall",
            "tool\u{17f}/call",
            "tools_call",
            "\u{feff}tools/call",
        ] {
            assert!(kind_of(disguised).is_err(), "{disguised:?}");
        }
    }
}
