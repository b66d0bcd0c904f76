//! Addresses of places in a world.

/// A parsed address. The place need not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address<'t> {
    pub base: Base<'t>,
    /// Everything after the first `/`, as given.
    pub relative: &'t str,
}

/// The start of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base<'t> {
    /// `root:<key>`.
    Root(&'t str),
    /// `ROOT_<KEY>:`, the key in upper case. Accepted but never produced.
    LegacyRoot(&'t str),
    /// `mod:<name>`, or `mod:<name>:`, which is accepted but never produced.
    Mod(&'t str),
}

impl<'t> Address<'t> {
    /// Parses an address; `None` if it is not one.
    ///
    /// Plain paths, `root:ROOT_…`, an address without a `/`, and a rest that is absolute or climbs above its start
    /// are refused: with a `..` that leads out and back in, an agent could guess the names of the host's directories.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let (head, relative) = text.split_once('/')?;
        if relative.starts_with('/') || climbs_out(relative) {
            return None;
        }
        let base = if let Some(key) = head.strip_prefix("root:") {
            if key.starts_with("ROOT_") {
                return None;
            }
            Base::Root(key)
        } else if let Some(name) = head.strip_prefix("mod:") {
            Base::Mod(name.strip_suffix(':').unwrap_or(name))
        } else {
            Base::LegacyRoot(head.strip_prefix("ROOT_")?.strip_suffix(':')?)
        };
        Some(Self { base, relative })
    }
}

/// Returns `true` if the text is an address as it is compared: of a place without links.
pub fn is_canonical_address(text: &str) -> bool {
    let is_written_out = |address: Address<'_>| {
        let mut names = address.relative.split('/');
        !matches!(address.base, Base::LegacyRoot(_))
            && (address.relative.is_empty() || names.all(|name| !matches!(name, "" | "." | "..")))
    };
    // `mod:<name>:/` is the older form of a mod's.
    let is_older = text.split_once(":/").is_some_and(|(head, _)| !head.contains('/'));
    Address::parse(text).is_some_and(is_written_out) && !is_older
}

/// Why a root may not have this key, if it may not.
pub(crate) fn refuse_key(key: &str) -> Option<&'static str> {
    if key.starts_with("ROOT_") {
        return Some("which begins like a legacy address");
    }
    refuse_name(key)
}

/// Why a mod may not have this name, if it may not.
pub(crate) fn refuse_name(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("which is empty")
    } else if name.contains('/') {
        Some("which contains a `/`")
    } else if name.ends_with(':') {
        Some("which ends in `:`")
    } else if name.contains(char::is_control) {
        Some("which contains a control character")
    } else {
        None
    }
}

/// Returns `true` if the path ever climbs above its start, even if it returns.
fn climbs_out(relative: &str) -> bool {
    let mut depth = 0_usize;
    for name in relative.split('/') {
        match name {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return true,
            },
            _ => depth += 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_namespaces_and_their_legacy_forms_are_read() {
        for (text, base, relative) in [
            ("root:repo/a/b", Base::Root("repo"), "a/b"),
            ("root:repo/", Base::Root("repo"), ""),
            ("ROOT_REPO:/a", Base::LegacyRoot("REPO"), "a"),
            ("mod:More Things: 2/a", Base::Mod("More Things: 2"), "a"),
            ("mod:Name:/a", Base::Mod("Name"), "a"),
            ("root:repo:/a", Base::Root("repo:"), "a"),
            ("root:/a", Base::Root(""), "a"),
            ("root:repo/a/../b/..", Base::Root("repo"), "a/../b/.."),
            ("mod:../a", Base::Mod(".."), "a"),
        ] {
            assert_eq!(Address::parse(text), Some(Address { base, relative }), "{text:?}");
        }
    }

    #[test]
    fn what_is_not_an_address_is_refused() {
        for text in [
            "",
            "a/b",
            "./a",
            "/etc/passwd",
            "~/a",
            "root:repo",
            "root:ROOT_REPO/a",
            "ROOT_REPO/a",
            "ROOT:repo/a",
            "Root:repo/a",
            "MOD:Name/a",
            "file:///etc",
            "repo:/a",
            "root:repo//etc",
            "root:repo/..",
            "root:repo/a/../../b",
            "root:repo/../repo/a",
            "mod:Name/./../x",
            " root:repo/a",
        ] {
            assert_eq!(Address::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_address_that_is_compared_is_written_out() {
        for text in [
            "root:repo/",
            "root:repo/a:/b",
            "mod:More Things: 2/a",
            "root:repo/.a",
        ] {
            assert!(is_canonical_address(text), "{text:?}");
        }
        for text in [
            "ROOT_REPO:/a",
            "mod:Name:/a",
            "root:repo/a/",
            "root:repo/a//b",
            "root:repo/./a",
            "root:repo/a/../b",
            "root:repo",
            "/srv/repo/a",
        ] {
            assert!(!is_canonical_address(text), "{text:?}");
        }
    }

    #[test]
    fn names_end_unambiguously() {
        for name in ["", "a/b", "a:", "a\n"] {
            assert!(
                refuse_name(name).is_some() && refuse_key(name).is_some(),
                "{name:?}"
            );
        }
        assert!(refuse_key("ROOT_A").is_some() && refuse_name("ROOT_A").is_none());
        assert_eq!(refuse_key("ck3raven_data"), None);
    }
}
