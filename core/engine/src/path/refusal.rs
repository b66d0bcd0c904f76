//! Why a path has no canonical form, and the values that are refused without asking the host (SPEC §2.5).

use std::fmt;

use crate::host::RealpathError;
use crate::limits::Limits;

use super::PathCase;

/// Why programs would not agree on the place that a path names.
///
/// [`Display`](fmt::Display) completes the sentence “the path …”.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unresolvable {
    /// The value or a link's target is longer than [`Limits::value_bytes`]; the call is denied by `structural-limit`.
    TooLong {
        /// The length found, in bytes.
        bytes: usize,
        /// The bound, in bytes.
        limit: usize,
    },
    Empty,
    /// The tool's server sees the disk under other names, and none of them is of this place.
    NotShared,
    /// It is relative to an argument that has no canonical path.
    NoBase,
    /// It is relative to a directory that no option names.
    NoDirectory,
    /// It is relative where the options ask for absolute paths.
    Relative,
    /// For some programs a NUL ends the path, for others it does not.
    Nul,
    /// It begins with `-`, so a program that it is handed to would read it as an option.
    Option,
    /// It is a remote that names a transport helper, which git would run.
    Helper,
    /// It is the name of an owner or repository, and holds what would lead elsewhere in a URL.
    Name,
    /// It may be several values in one text, which some servers split.
    Several,
    /// It stands in a text of several values, and holds what is read there as the end of one.
    Separator,
    /// It is JSON in a string, which some servers unpack.
    Json {
        /// The thing that was found, with its article.
        found: &'static str,
    },
    /// It is not well-formed Unicode, which programs decode differently.
    IllFormed,
    /// `~name`: for some programs another user's home directory, for others a name.
    NamedHome,
    /// A `file:` URI: some programs decode it, for others it is a name.
    FileUri,
    /// It is not clearly a path, or a URI of a file of this machine, of a web page, or of data in itself.
    Uri,
    /// The path, or a link on the way, means something different in each process.
    ProcessRelative,
    /// It lies in a directory through which macOS gives other names to every file.
    OtherNames,
    /// A `..` follows a link, and its two readings lead to different places.
    Ambiguous,
    /// It does not exist, but does in another Unicode form, which some servers take for it.
    Equivalent,
    /// Git would read it as a pattern.
    Pathspec,
    /// It holds white space that some programs leave out: a tab or a line break, or anything around it.
    Space,
    /// Git servers put the value of an environment variable in the place of its name.
    Variable,
    /// It is relative to a directory of git's own; git reads it from the work tree, which is somewhere else.
    GitDirectory,
    /// A link's target is empty, or has a `..` after a missing name.
    BrokenLink,
    /// There are more than [`Limits::links`] links on the way.
    TooManyLinks {
        /// The bound, in links.
        limit: usize,
    },
    /// The host found a loop of links.
    Loop,
    /// A directory on the way may not be searched.
    Denied,
    /// The canonical path is not UTF-8.
    NotUtf8,
    /// Not even the root directory exists.
    NoAncestor,
    /// Any other file-system error.
    Other,
}

impl fmt::Display for Unresolvable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self {
            Self::TooLong { bytes, limit } => {
                return write!(formatter, "has {bytes} bytes, more than the {limit} allowed");
            }
            Self::TooManyLinks { limit } => {
                return write!(formatter, "leads through more than {limit} symbolic links");
            }
            Self::Json { found } => {
                return write!(
                    formatter,
                    "is {found} in a string, which servers unpack, expected text that is not JSON"
                );
            }
            Self::Several => {
                "may be several values with `,` or `;` between them, which some servers split, expected one value, or an array of them"
            }
            Self::Separator => {
                "holds the separator of the values in its text, a `\"`, or a `\\` at its end, so that servers read other values there"
            }
            Self::Empty => "is empty",
            Self::NotShared => "has no name on the server, expected a path within its `serverPaths`",
            Self::NoBase => "is relative to an argument that is not one path",
            Self::NoDirectory => {
                "is relative, and nothing says where the server starts, expected `workingDirectory` or `sandbox`"
            }
            Self::Relative => "is relative, expected an absolute path or `~/…`",
            Self::Nul => "holds a NUL",
            Self::Option => "begins with `-`, which programs take for an option",
            Self::Helper => "names a transport helper, which git would run",
            Self::Name => {
                "is empty, `.` or `..`, begins with `-`, or holds white space, a control character or one of `/ \\ ? # %`, expected a name"
            }
            Self::IllFormed => "is not well-formed Unicode",
            Self::NamedHome => "begins with `~name`, which programs read differently",
            Self::FileUri => "is a `file:` URI, which programs read differently",
            Self::Uri => {
                "is not clearly a path, an `http:` or `https:` URL, a `file:` URI of a file of this machine, or a `data:` URI"
            }
            Self::ProcessRelative => "means something else in each process",
            Self::OtherNames => {
                "lies in `/.nofollow`, `/.resolve` or `/.vol`, through which macOS gives other names to files"
            }
            Self::Ambiguous => "has a `..` after a symbolic link, which programs read differently",
            Self::Equivalent => {
                "does not exist, but does in another Unicode form, which programs take for it; expected that form"
            }
            Self::Pathspec => {
                "begins with `:`, or holds one of `* ? \\` or a `[…]` of many characters, so git would read it as a pattern, expected a path"
            }
            Self::Space => {
                "holds a tab or a line break, or begins or ends with white space, which some programs leave out"
            }
            Self::Variable => "holds `$` before a name, which git servers take for an environment variable",
            Self::GitDirectory => "is relative to a path in `.git`, expected one relative to the work tree",
            Self::BrokenLink => "leads through a symbolic link whose target cannot exist",
            Self::Loop => "leads through a loop of symbolic links",
            Self::Denied => "leads through a directory that may not be searched",
            Self::NotUtf8 => "leads to a place whose name is not UTF-8",
            Self::NoAncestor => "has no ancestor that exists",
            Self::Other => "cannot be resolved by the file system",
        };
        formatter.write_str(reason)
    }
}

impl Unresolvable {
    /// Returns `true` if programs may take the text for another place than the one that its names spell, so that
    /// nothing is known about it.
    pub fn may_lead_elsewhere(self, text: &str) -> bool {
        match self {
            Self::Nul
            | Self::IllFormed
            | Self::ProcessRelative
            | Self::OtherNames
            | Self::Ambiguous
            | Self::Equivalent
            | Self::Space
            | Self::Variable
            | Self::GitDirectory
            | Self::BrokenLink
            | Self::TooManyLinks { .. }
            | Self::NotUtf8 => true,
            // `~5 minutes` is nobody's home.
            Self::NamedHome => is_named_home(text),
            // A longer text is then a link's target.
            Self::TooLong { limit, .. } => text.len() <= limit,
            Self::Several
            | Self::Separator
            | Self::Empty
            | Self::NotShared
            | Self::NoBase
            | Self::NoDirectory
            | Self::Relative
            | Self::Option
            | Self::Helper
            | Self::Name
            | Self::Json { .. }
            | Self::FileUri
            | Self::Uri
            | Self::Pathspec
            | Self::Loop
            | Self::Denied
            | Self::NoAncestor
            | Self::Other => false,
        }
    }
}

/// Returns `true` if a user may have the name after the `~`.
fn is_named_home(text: &str) -> bool {
    let name = text.trim_start_matches('~').split('/').next().unwrap_or_default();
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '$');
    name.starts_with(|first: char| first.is_alphabetic() || first == '_') && name.chars().all(is_part)
}

/// The host's answer to `realpath`: a place, nothing there, or why the path has no canonical form.
pub(super) fn existing<T>(answer: Result<T, RealpathError>) -> Result<Option<T>, Unresolvable> {
    match answer {
        Ok(real) => Ok(Some(real)),
        // A host failure is checked once, at the end; until then nothing is there.
        Err(RealpathError::NotFound | RealpathError::Host(_)) => Ok(None),
        Err(RealpathError::Loop) => Err(Unresolvable::Loop),
        Err(RealpathError::Denied) => Err(Unresolvable::Denied),
        Err(RealpathError::NotUtf8) => Err(Unresolvable::NotUtf8),
        Err(RealpathError::Other) => Err(Unresolvable::Other),
    }
}

/// Refuses values that programs read differently, whatever is in the file system.
pub fn check_value(value: &str, limits: &Limits) -> Result<(), Unresolvable> {
    check_length(value, limits)?;
    if value.is_empty() {
        return Err(Unresolvable::Empty);
    }
    if value.contains('\0') {
        return Err(Unresolvable::Nul);
    }
    if value
        .strip_prefix('~')
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
    {
        return Err(Unresolvable::NamedHome);
    }
    if is_file_uri(value) {
        return Err(Unresolvable::FileUri);
    }
    Ok(())
}

/// Refuses a value or a link's target that is too long.
pub(super) fn check_length(text: &str, limits: &Limits) -> Result<(), Unresolvable> {
    if text.len() > limits.value_bytes {
        return Err(Unresolvable::TooLong {
            bytes: text.len(),
            limit: limits.value_bytes,
        });
    }
    Ok(())
}

/// Refuses a collapsed path whose names say nothing of the place: its meaning depends on the process, or macOS gives every file a
/// name there (`/.vol`: by device and number; `/.nofollow` and `/.resolve`: with flags of `openat(2)`). A disk may be judged from
/// another system than the tool's, so they are refused on all.
pub(super) fn check_names(path: &str, case: PathCase) -> Result<(), Unresolvable> {
    // The first letter rules out most paths.
    if case == PathCase::Sensitive && !matches!(path.as_bytes(), [b'/', b'p' | b'd' | b'.', ..]) {
        return Ok(());
    }
    let mut names = path.split('/').skip(1).map(|name| case.fold_text(name));
    let Some(top) = names.next() else {
        return Ok(());
    };
    if matches!(&*top, ".nofollow" | ".resolve" | ".vol") {
        return Err(Unresolvable::OtherNames);
    }
    let Some(name) = names.next() else {
        return Ok(());
    };
    let of_a_process = match &*top {
        "proc" => {
            matches!(&*name, "self" | "thread-self")
                || (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()))
        }
        "dev" => matches!(&*name, "fd" | "stdin" | "stdout" | "stderr" | "tty"),
        _ => false,
    };
    if of_a_process {
        Err(Unresolvable::ProcessRelative)
    } else {
        Ok(())
    }
}

/// Returns `true` if a URL parser would read the scheme `file`
/// (<https://url.spec.whatwg.org/#concept-basic-url-parser>): it skips leading white space and control characters,
/// and tabs and line breaks anywhere.
fn is_file_uri(value: &str) -> bool {
    if value.starts_with(['/', '~', '.']) {
        return false;
    }
    let mut rest = value
        .chars()
        .skip_while(|character| {
            character.is_whitespace() || character.is_control() || *character == '\u{feff}'
        })
        .filter(|character| !matches!(character, '\t' | '\n' | '\r'));
    "file:".chars().all(|expected| {
        rest.next()
            .is_some_and(|found| found.eq_ignore_ascii_case(&expected))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_programs_read_differently_are_refused() {
        use Unresolvable::{Empty, FileUri, NamedHome, Nul};
        for (value, expected) in [
            ("", Err(Empty)),
            ("a\0", Err(Nul)),
            ("~bob", Err(NamedHome)),
            ("~+/..", Err(NamedHome)),
            ("~~", Err(NamedHome)),
            ("file:", Err(FileUri)),
            ("file:///etc/passwd", Err(FileUri)),
            ("FiLe:x", Err(FileUri)),
            (" \u{1}\t\u{a0}\u{feff}file:/x", Err(FileUri)),
            ("fi\nle\t:/x", Err(FileUri)),
            ("~", Ok(())),
            ("~/x", Ok(())),
            ("./~bob", Ok(())),
            ("/~bob", Ok(())),
            (" ", Ok(())),
            ("./file:", Ok(())),
            ("file", Ok(())),
            ("profile:x", Ok(())),
            ("a\tb\n", Ok(())),
        ] {
            assert_eq!(check_value(value, &Limits::default()), expected, "{value:?}");
        }
    }

    #[test]
    fn the_length_is_bounded_in_bytes() {
        let limits = Limits {
            value_bytes: 4,
            ..Limits::default()
        };
        assert_eq!(check_value("/éa", &limits), Ok(()));
        let too_long = Unresolvable::TooLong { bytes: 5, limit: 4 };
        assert_eq!(check_value("/éé", &limits), Err(too_long));
        assert_eq!(too_long.to_string(), "has 5 bytes, more than the 4 allowed");
    }

    #[test]
    fn names_that_say_nothing_of_the_place_are_known() {
        use PathCase::{Insensitive, Sensitive};
        for (path, case, refused) in [
            ("/proc/self", Sensitive, true),
            ("/proc/self/root/etc", Sensitive, true),
            ("/proc/thread-self/cwd", Sensitive, true),
            ("/proc/1", Sensitive, true),
            ("/proc/4242/root", Sensitive, true),
            ("/dev/fd/3", Sensitive, true),
            ("/dev/stdin", Sensitive, true),
            ("/dev/stdout", Sensitive, true),
            ("/dev/stderr", Sensitive, true),
            ("/dev/tty", Sensitive, true),
            ("/Dev/FD/3", Insensitive, true),
            ("/proc/\u{17f}elf", Insensitive, true),
            ("/.nofollow/etc/passwd", Sensitive, true),
            ("/.resolve/1/etc/passwd", Sensitive, true),
            ("/.vol/16777233/2", Sensitive, true),
            ("/.vol", Sensitive, true),
            ("/.VOL/1/2", Insensitive, true),
            ("/.VOL/1/2", Sensitive, false),
            ("/.volume/x", Sensitive, false),
            ("/srv/.vol/x", Sensitive, false),
            ("/Dev/FD/3", Sensitive, false),
            ("/", Sensitive, false),
            ("/proc", Sensitive, false),
            ("/proc/cpuinfo", Sensitive, false),
            ("/proc/1a", Sensitive, false),
            ("/proc/selfish", Sensitive, false),
            ("/dev/null", Sensitive, false),
            ("/dev/tty0", Sensitive, false),
            ("/srv/proc/self", Sensitive, false),
        ] {
            assert_eq!(check_names(path, case).is_err(), refused, "{path:?} {case:?}");
        }
    }
}
