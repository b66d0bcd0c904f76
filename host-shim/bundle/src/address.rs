//! Where a bundle is fetched from.

use std::net::IpAddr;

use reqwest::Url;

/// The address of a bundle: of HTTPS, or in a registry of OCI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Url(Url),
    Registry(Reference),
}

/// A manifest in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The registry, with `/` as its path.
    pub(crate) registry: Url,
    /// The repository.
    pub(crate) name: String,
    /// A tag, or the digest of the manifest.
    pub(crate) tag: String,
}

/// Returns `true` for what begins as an address does, and not as a file.
pub fn is_address(text: &str) -> bool {
    let begins = ["https://", "http://", "oci://"];
    begins.iter().any(|begin| text.starts_with(begin))
}

impl Address {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let shown = text.escape_debug();
        if let Some(rest) = text.strip_prefix("oci://") {
            let reference = Reference::read(rest);
            return reference.map(Self::Registry).ok_or_else(|| {
                format!("`{shown}` is not an address, expected `oci://REGISTRY/NAME:TAG` or `oci://REGISTRY/NAME@sha256:HEX`")
            });
        }
        let url = Url::parse(text).ok().filter(is_private);
        url.map(Self::Url)
            .ok_or_else(|| format!("`{shown}` is not an address, expected `https://…` or `oci://…`"))
    }

    /// The address of the server.
    pub(crate) fn server(&self) -> &Url {
        match self {
            Self::Url(url) => url,
            Self::Registry(reference) => &reference.registry,
        }
    }
}

impl Reference {
    fn read(text: &str) -> Option<Self> {
        let (host, rest) = text.split_once('/')?;
        let (name, tag) = match rest.split_once('@') {
            Some((name, digest)) => (name, digest),
            None => rest.rsplit_once(':')?,
        };
        let is_tag = match tag.strip_prefix("sha256:") {
            Some(hex) => hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
            None => is_tag(tag) && !rest.contains('@'),
        };
        if !is_tag || !is_name(name) {
            return None;
        }
        // A registry of this machine needs no certificate, as with other clients.
        let secure = Url::parse(&format!("https://{host}/")).ok()?;
        let scheme = if is_own(&secure) { "http" } else { "https" };
        let registry = Url::parse(&format!("{scheme}://{host}/")).ok()?;
        let is_bare =
            registry.path() == "/" && registry.username().is_empty() && registry.password().is_none();
        let is_bare = is_bare && registry.query().is_none() && registry.fragment().is_none();
        is_bare.then(|| Self {
            registry,
            name: name.to_owned(),
            tag: tag.to_owned(),
        })
    }

    /// The address of something of the repository, such as `manifests/TAG`.
    pub(crate) fn of_repository(&self, what: &str) -> Url {
        let mut url = self.registry.clone();
        url.set_path(&format!("/v2/{}/{what}", self.name));
        url
    }

    /// Whether the manifest is named by its digest.
    pub(crate) fn digest(&self) -> Option<&str> {
        Some(self.tag.as_str()).filter(|tag| tag.starts_with("sha256:"))
    }
}

/// <https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests>
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() < 256
        && name.split('/').all(|part| {
            let (first, last) = (part.bytes().next(), part.bytes().last());
            first.is_some_and(is_plain)
                && last.is_some_and(is_plain)
                && part
                    .bytes()
                    .all(|byte| is_plain(byte) || matches!(byte, b'.' | b'_' | b'-'))
        })
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    tag.len() <= 128
        && tag.bytes().next().is_some_and(is_word)
        && tag
            .bytes()
            .all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

/// Returns `true` for a server of this machine.
pub(crate) fn is_own(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified()
        }
        Err(_) => host == "localhost",
    }
}

/// Returns `true` if nobody on the way reads along.
pub(crate) fn is_private(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && is_own(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_this_machine_is_one() {
        for (host, is_this) in [
            ("127.0.0.1", true),
            ("127.0.0.3", true),
            ("2130706433", true),
            ("0.0.0.0", true),
            ("[::1]", true),
            ("[::ffff:127.0.0.1]", true),
            ("localhost", true),
            ("LOCALHOST", true),
            ("policies.example", false),
            ("10.0.0.1", false),
        ] {
            let url = Url::parse(&format!("https://{host}/")).unwrap();
            assert_eq!(is_own(&url), is_this, "{host}");
        }
    }

    #[test]
    fn an_address_is_of_https_or_in_a_registry() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let by_digest = format!("oci://ghcr.io/acme/policies@{digest}");
        let found = by_digest.replace(
            "oci://ghcr.io/acme/policies@",
            "https://ghcr.io/v2/acme/policies/manifests/",
        );
        for (text, expected) in [
            (
                "https://policies.example/acme.json",
                Some("https://policies.example/acme.json"),
            ),
            ("http://localhost:1/a", Some("http://localhost:1/a")),
            ("http://policies.example/a", None),
            ("ftp://policies.example/a", None),
            (
                "oci://ghcr.io/acme/policies:7",
                Some("https://ghcr.io/v2/acme/policies/manifests/7"),
            ),
            (
                "oci://localhost:5000/a:v1.0",
                Some("http://localhost:5000/v2/a/manifests/v1.0"),
            ),
            ("oci://[::1]:5000/a:x", Some("http://[::1]:5000/v2/a/manifests/x")),
            (&by_digest, Some(&*found)),
            // A tag is not guessed, and a registry is one.
            ("oci://ghcr.io/acme/policies", None),
            ("oci://ghcr.io/acme/policies:", None),
            ("oci://ghcr.io/acme/policies:a/b", None),
            ("oci://ghcr.io/acme/../policies:7", None),
            ("oci://ghcr.io/Acme:7", None),
            ("oci://ghcr.io/acme%2f:7", None),
            ("oci://ghcr.io/acme@sha256:00", None),
            ("oci://ghcr.io/acme@7", None),
            ("oci://user:word@ghcr.io/acme:7", None),
            ("oci://ghcr.io?x/acme:7", None),
            ("oci:///acme:7", None),
            ("oci://acme:7", None),
        ] {
            let read = Address::read(text).ok().map(|address| match address {
                Address::Url(url) => url,
                Address::Registry(reference) => {
                    reference.of_repository(&format!("manifests/{}", reference.tag))
                }
            });
            assert_eq!(read.as_ref().map(Url::as_str), expected, "{text}");
        }
    }
}
