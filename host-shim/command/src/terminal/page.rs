//! A page of Markdown for a terminal.
//!
//! It shows the parts of Markdown that the reference pages use: headings, paragraphs, lists, tables and blocks of code.
//! Anything else is shown as it is written.

use super::style::{BOLD, DIM, paint, width, wrapped};

/// The page, at most 80 columns wide where its words allow it.
pub(crate) fn rendered(markdown: &str) -> String {
    let mut shown = String::new();
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            for code in lines.by_ref().take_while(|line| !line.starts_with("```")) {
                shown.push_str(&format!("    {}\n", paint(DIM, code)));
            }
        } else if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.trim_start_matches('#').trim();
            shown.push_str(&format!("{}\n", paint(BOLD, heading)));
        } else if line.starts_with('|') {
            let mut rows = vec![cells(line)];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(cells(row));
            }
            shown.push_str(&table(&rows));
        } else if line.is_empty() {
            shown.push('\n');
        } else {
            let mut text = line.to_owned();
            while let Some(more) = lines.next_if(|line| continues(line)) {
                text.push(' ');
                text.push_str(more.trim_start());
            }
            // An item of a list within a list keeps its place.
            let item = text.trim_start();
            let indent = text.len() - item.len();
            let hanging = " ".repeat(indent + marker(item));
            let shown_item = wrapped(&styled(item), indent, &hanging);
            shown.push_str(&format!("{}{shown_item}\n", " ".repeat(indent)));
        }
    }
    shown
}

/// Returns `true` if the line belongs to the paragraph, or the item of a list, above it.
fn continues(line: &str) -> bool {
    !line.is_empty() && !line.starts_with(['#', '|', '`']) && marker(line.trim_start()) == 0
        || line.starts_with('`') && !line.starts_with("```")
}

/// How wide the mark of a list's item is, `- ` or `1. `.
fn marker(line: &str) -> usize {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if line.starts_with("- ") {
        2
    } else if digits > 0 && line[digits..].starts_with(". ") {
        digits + 2
    } else {
        0
    }
}

fn cells(row: &str) -> Vec<String> {
    // A `\|` is a character of a cell.
    let row = row.replace("\\|", "\u{0}");
    let row = row.trim().trim_matches('|');
    let cells = row.split('|');
    cells.map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// Two columns side by side; more as a block a row, in which each cell follows the name of its column.
fn table(rows: &[Vec<String>]) -> String {
    let Some((names, rows)) = rows.split_first() else {
        return String::new();
    };
    let rows = rows.iter().filter(|row| {
        let is_rule = |cell: &String| cell.chars().all(|one| matches!(one, '-' | ':'));
        !row.iter().all(is_rule)
    });
    let mut shown = String::new();
    if names.len() == 2 {
        let left = rows.clone().filter_map(|row| row.first());
        let left = left
            .map(|cell| width(&styled(cell)))
            .filter(|wide| *wide <= 30)
            .max();
        let left = left.unwrap_or(30) + 2;
        let indent = " ".repeat(left);
        for row in rows {
            let first = styled(row.first().map_or("", String::as_str));
            let wide = width(&first);
            let second = styled(row.get(1).map_or("", String::as_str));
            let gap = if wide < left {
                " ".repeat(left - wide)
            } else {
                format!("\n{indent}")
            };
            shown.push_str(&format!("{first}{gap}{}\n", wrapped(&second, left, &indent)));
        }
        return shown;
    }
    for row in rows {
        for (at, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let name = names.get(at).map_or("", String::as_str);
            let line = match at {
                0 => styled(cell),
                _ if name.is_empty() => format!("    {}", wrapped(&styled(cell), 4, "    ")),
                _ => {
                    let before = 4 + width(name) + 2;
                    format!(
                        "    {} {}",
                        paint(DIM, &format!("{name}:")),
                        wrapped(&styled(cell), before, "    ")
                    )
                }
            };
            shown.push_str(&format!("{line}\n"));
        }
    }
    shown
}

/// The text with its `**strong**` parts in bold. Within `code` two stars are two stars.
fn styled(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut is_bold = false;
    for (at, part) in text.split('`').enumerate() {
        if at > 0 {
            shown.push('`');
        }
        if at % 2 == 1 {
            shown.push_str(part);
            continue;
        }
        for (at, part) in part.split("**").enumerate() {
            is_bold ^= at > 0;
            // A line may break between words, which must not end the style.
            let words = part.split(' ').map(|word| match is_bold && !word.is_empty() {
                true => paint(BOLD, word),
                false => word.to_owned(),
            });
            shown.push_str(&words.collect::<Vec<_>>().join(" "));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(markdown: &str, expected: &str) {
        let shown = rendered(markdown);
        assert_eq!(anstream::adapter::strip_str(&shown).to_string(), expected);
    }

    #[test]
    fn a_page_is_shown_as_it_reads() {
        check(
            "# Title\n\nA paragraph of\ntwo **lines** with `**/code`.\n\n- one\n  more of it\n- **two**\n\n1. first\n",
            "Title\n\nA paragraph of two lines with `**/code`.\n\n- one more of it\n- two\n\n1. first\n",
        );
        check(
            "1. first\n   of it\n   1. within\n      it\n   2. more\n2. second\n",
            "1. first of it\n   1. within it\n   2. more\n2. second\n",
        );
        check("```json call:allow\n{\"a\": 1}\n```\n", "    {\"a\": 1}\n");
        check(
            "| a | b |\n|---|---|\n| `x` | y \\| z |\n| longer | w |\n",
            "`x`     y | z\nlonger  w\n",
        );
        check(
            "| rule | means | do |\n|---|---|---|\n| `x` | y | z |\n",
            "`x`\n    means: y\n    do: z\n",
        );
    }

    #[test]
    fn lines_are_broken_between_words() {
        let text = format!("- {}", "word ".repeat(30).trim());
        for line in rendered(&text).lines() {
            assert!(line.len() <= 80, "{line}");
            assert!(line.starts_with("- ") || line.starts_with("  word"), "{line}");
        }
    }
}
