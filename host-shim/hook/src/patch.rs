//! The files that a patch of the `*** Begin Patch` form touches.

/// The paths of a patch, as they are written in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) added: Vec<String>,
    pub(super) updated: Vec<String>,
    pub(super) deleted: Vec<String>,
    pub(super) moved_from: Vec<String>,
    pub(super) moved_to: Vec<String>,
}

/// Characters besides `\n` and `\r\n` at which some programs end a line: those of Python's `str.splitlines`, which has
/// more than Unicode's (<https://docs.python.org/3/library/stdtypes.html#str.splitlines>).
const LINE_ENDS: [char; 9] = [
    '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}',
];

impl Patch {
    /// Reads a patch.
    ///
    /// Programs that apply patches take lines for headers that are indented. A line that is a header but for its indentation
    /// counts as one here, so that there may be more files than the patch touches, never fewer. Characters at which some
    /// programs end a line and others do not are refused: what follows one could be a header.
    ///
    /// # Errors
    /// Why it is not a patch that every program reads alike.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if let Some(end) = text
            .replace("\r\n", "\n")
            .chars()
            .find(|one| LINE_ENDS.contains(one))
        {
            return Err(format!(
                "the patch has the character U+{:04X}, at which only some programs end a line",
                u32::from(end)
            ));
        }
        let mut lines = text.trim().lines();
        if lines.next().map(str::trim_end) != Some("*** Begin Patch") {
            return Err("the patch does not begin with `*** Begin Patch`".to_owned());
        }
        let mut patch = Self::default();
        let mut updated: Option<String> = None;
        let mut has_ended = false;
        for line in lines {
            if has_ended {
                return Err("the patch goes on after `*** End Patch`".to_owned());
            }
            let header = line.trim();
            if let Some(path) = header.strip_prefix("*** Add File:") {
                patch.added.push(path_of(path)?);
                updated = None;
            } else if let Some(path) = header.strip_prefix("*** Update File:") {
                let path = path_of(path)?;
                patch.updated.push(path.clone());
                updated = Some(path);
            } else if let Some(path) = header.strip_prefix("*** Delete File:") {
                patch.deleted.push(path_of(path)?);
                updated = None;
            } else if let Some(path) = header.strip_prefix("*** Move to:") {
                let from = updated
                    .clone()
                    .ok_or("the patch moves a file that it does not update")?;
                patch.moved_from.push(from);
                patch.moved_to.push(path_of(path)?);
            } else if header == "*** End Patch" {
                has_ended = line.trim_end() == header;
            } else if header == "*** End of File" {
                // It belongs to the change before it.
            } else if header.starts_with("***") {
                return Err(format!("the patch has the line `{header}`, which is not known"));
            } else if !line.is_empty() && !line.starts_with(['+', '-', ' ', '@']) {
                return Err("the patch has a line that is neither a header nor a change".to_owned());
            }
        }
        let has_files = !(patch.added.is_empty() && patch.updated.is_empty() && patch.deleted.is_empty());
        match (has_ended, has_files) {
            (true, true) => Ok(patch),
            (false, _) => Err("the patch does not end with `*** End Patch`".to_owned()),
            (true, false) => Err("the patch names no file".to_owned()),
        }
    }
}

fn path_of(text: &str) -> Result<String, String> {
    let path = text.strip_prefix(' ').unwrap_or(text);
    // Some programs take `~` for the home directory, and others for a name.
    let is_plain =
        !path.is_empty() && path.trim() == path && !path.starts_with('~') && !path.contains(char::is_control);
    match is_plain {
        true => Ok(path.to_owned()),
        false => Err("the patch has a path that programs could read differently".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Result<Patch, String> {
        Patch::read(&lines.join("\n"))
    }

    #[test]
    fn every_file_is_found() {
        let patch = read(&[
            "*** Begin Patch",
            "*** Add File: new.txt",
            "+hello",
            "*** Update File: a b.txt",
            "*** Move to: /etc/b.txt",
            "@@ fn main",
            " context",
            "-old",
            "+new",
            "*** End of File",
            "*** Delete File: gone.txt",
            "  *** Delete File: indented.txt",
            "*** End Patch",
            "",
        ])
        .unwrap();
        let texts = |texts: &[&str]| -> Vec<String> { texts.iter().map(|&text| text.to_owned()).collect() };
        assert_eq!(
            patch,
            Patch {
                added: texts(&["new.txt"]),
                updated: texts(&["a b.txt"]),
                deleted: texts(&["gone.txt", "indented.txt"]),
                moved_from: texts(&["a b.txt"]),
                moved_to: texts(&["/etc/b.txt"]),
            }
        );
    }

    #[test]
    fn a_line_ends_where_every_program_ends_it() {
        for end in LINE_ENDS {
            let content = format!("+x{end}*** Delete File: /etc/passwd");
            let path = format!("*** Add File: a{end}*** Delete File: /etc/passwd");
            let after = format!("*** End Patch{end}");
            for lines in [
                [content.as_str(), "*** End Patch"],
                [path.as_str(), "*** End Patch"],
                ["+x", after.as_str()],
            ] {
                let error = read(&[&["*** Begin Patch", "*** Add File: a"][..], &lines[..]].concat());
                let error = error.unwrap_err();
                assert!(error.contains("only some programs"), "{lines:?}: {error}");
            }
        }
        let lines = [
            "*** Begin Patch\r",
            "*** Add File: a\r",
            "+x\r",
            "*** End Patch\r",
            "",
        ];
        assert_eq!(read(&lines).unwrap().added, ["a"]);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for (lines, expected) in [
            (&["*** Add File: a", "*** End Patch"][..], "does not begin"),
            (&["*** Begin Patch", "*** Add File: a"], "does not end"),
            (&["*** Begin Patch", "*** End Patch"], "names no file"),
            (
                &["*** Begin Patch", "*** Rename File: a", "*** End Patch"],
                "not known",
            ),
            (
                &["*** Begin Patch", "*** Add File: ", "*** End Patch"],
                "read differently",
            ),
            (
                &["*** Begin Patch", "*** Add File:  a", "*** End Patch"],
                "read differently",
            ),
            (
                &["*** Begin Patch", "*** Add File: a\u{7}", "*** End Patch"],
                "read differently",
            ),
            (
                &["*** Begin Patch", "*** Add File: ~/a", "*** End Patch"],
                "read differently",
            ),
            (
                &["*** Begin Patch", "*** Move to: a", "*** End Patch"],
                "does not update",
            ),
            (
                &["*** Begin Patch", "*** Add File: a", "hello", "*** End Patch"],
                "neither a header",
            ),
            (
                &[
                    "*** Begin Patch",
                    "*** Add File: a",
                    "*** End Patch",
                    "*** Add File: b",
                ],
                "goes on",
            ),
        ] {
            let error = read(lines).unwrap_err();
            assert!(error.contains(expected), "{lines:?}: {error}");
        }
    }
}
