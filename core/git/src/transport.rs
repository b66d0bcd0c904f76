//! The URLs that git handles itself, as opposed to those for which it starts a program that the URL names
//! (`transport_get` in `transport.c` of git).

use crate::files::Error;

/// Git's own transports. `http` and `ftp` are programs as well, but come with git.
const TRANSPORTS: &[&[u8]] = &[
    b"file", b"ftp", b"ftps", b"git", b"git+ssh", b"http", b"https", b"rsync", b"ssh", b"ssh+git",
];

/// A URL as text, if git would connect to it by a transport of its own.
///
/// # Errors
/// The URL is empty or not UTF-8, or git would start a helper for it (`ext::`, `<name>::`, `<name>://`).
pub(crate) fn text(url: Vec<u8>) -> Result<String, Error> {
    if url.is_empty() {
        return Err(Error::new("git's configuration leads to an empty URL"));
    }
    if let Some(helper) = helper(&url) {
        return Err(refused(helper, &url));
    }
    String::from_utf8(url).map_err(|error| {
        let url = String::from_utf8_lossy(error.as_bytes()).into_owned();
        Error::new(format!(
            "git's configuration has a URL that is not UTF-8: `{url}`"
        ))
    })
}

/// The error for a URL or a remote for which git starts a helper.
pub(crate) fn refused(helper: &[u8], url: &[u8]) -> Error {
    Error::new(format!(
        "git would start the program `git-remote-{}` for `{}`",
        String::from_utf8_lossy(helper),
        String::from_utf8_lossy(url)
    ))
}

fn helper(url: &[u8]) -> Option<&[u8]> {
    let is_of_scheme = |(index, byte): &(usize, &u8)| {
        byte.is_ascii_alphanumeric() || (*index > 0 && matches!(byte, b'+' | b'-' | b'.'))
    };
    let length = url.iter().enumerate().take_while(is_of_scheme).count();
    let (scheme, rest) = url.split_at(length);
    let is_own = || {
        let scheme = scheme.to_ascii_lowercase();
        TRANSPORTS.contains(&scheme.as_slice())
    };
    let names_helper =
        rest.starts_with(b"::") || (rest.starts_with(b"://") && !scheme.is_empty() && !is_own());
    names_helper.then_some(scheme)
}
