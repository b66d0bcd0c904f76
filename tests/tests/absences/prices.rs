//! A number that prices a step stands in `cost` alone.

use super::search::check;
use super::source::{Source, Token, core_sources};

#[test]
fn a_step_is_priced_in_one_table() {
    let mut faults = Vec::new();
    for source in core_sources().iter().filter(|source| source.top() != "cost") {
        let own: Vec<&str> = declared(source);
        for (at, token) in source.tokens.iter().enumerate() {
            let rest = &source.tokens[at + 1..];
            let (priced, most) = match token.text.as_str() {
                "take_steps" => (within(rest, "(", ")"), 1),
                "fn" if rest[0].text.starts_with("cost") => (within(rest, "{", "}"), usize::MAX),
                _ => continue,
            };
            let is_price = |token: &&Token| {
                let number = token.text.replace('_', "").parse::<usize>();
                number.is_ok_and(|number| number > most) || own.contains(&&*token.text)
            };
            let wrong = priced.iter().filter(is_price);
            faults.extend(wrong.map(|token| format!("{}: {}", source.at(token.line), token.text)));
        }
    }
    check("prices outside `cost`", faults);
}

/// The tokens up to where the first of these brackets is closed.
fn within<'t>(tokens: &'t [Token], open: &str, close: &str) -> &'t [Token] {
    let mut depth = 0_usize;
    let end = tokens.iter().position(|token| {
        depth += usize::from(token.text == open);
        let is_last = token.text == close && depth == 1;
        depth = depth.saturating_sub(usize::from(token.text == close));
        is_last
    });
    &tokens[..end.unwrap_or_default()]
}

/// The numbers that the file declares.
fn declared(source: &Source) -> Vec<&str> {
    let fours = source.tokens.windows(4);
    let numbers = fours.filter(|four| four[0].text == "const" && four[3].text == "usize");
    numbers.map(|four| &*four[1].text).collect()
}
