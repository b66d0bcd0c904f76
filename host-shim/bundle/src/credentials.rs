//! What servers of bundles are told about who asks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use reqwest::header::HeaderValue;

/// A secret for each server. One is told to the server that it is for, and to no other.
#[derive(Clone, Default)]
pub struct Credentials(Vec<(String, Secret)>);

#[derive(Clone)]
pub(crate) enum Secret {
    Token(String),
    Password(String),
}

impl Credentials {
    /// Reads `HOST=TOKEN` and `HOST=USER:PASSWORD`, separated by white space. A host that has a port is `HOST:PORT`.
    ///
    /// # Errors
    /// When a part has another form. The message does not repeat it.
    pub fn read(text: &str) -> Result<Self, String> {
        let read = text.split_whitespace().enumerate().map(|(at, part)| {
            let read = part
                .split_once('=')
                .filter(|(host, secret)| !host.is_empty() && !host.contains('/') && !secret.is_empty());
            let (host, secret) = read.ok_or_else(|| {
                format!(
                    "part {} is not a secret, expected `HOST=TOKEN` or `HOST=USER:PASSWORD`",
                    at + 1
                )
            })?;
            let secret = match secret.contains(':') {
                true => Secret::Password(secret.to_owned()),
                false => Secret::Token(secret.to_owned()),
            };
            Ok((host.to_owned(), secret))
        });
        read.collect::<Result<_, String>>().map(Self)
    }

    /// The secret for a server.
    pub(crate) fn of(&self, server: &Url) -> Option<&Secret> {
        let host = server.host_str()?;
        let named = match server.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let found = self.0.iter().find(|(host, _)| *host == named);
        found.map(|(_, secret)| secret)
    }
}

impl Secret {
    /// The header that tells it.
    pub(crate) fn header(&self) -> Result<HeaderValue, String> {
        match self {
            Self::Token(token) => header("Bearer", token),
            Self::Password(both) => header("Basic", &STANDARD.encode(both)),
        }
    }
}

/// A value of `authorization`.
pub(crate) fn header(scheme: &str, secret: &str) -> Result<HeaderValue, String> {
    let header = HeaderValue::try_from(format!("{scheme} {secret}"));
    let mut header = header.map_err(|_| "a secret has a character that no header may have".to_owned())?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_for_one_server() {
        let credentials = Credentials::read("a.example=t1\n a.example:5000=u:p=1 ").unwrap();
        let told = |url: &str| {
            let secret = credentials.of(&Url::parse(url).unwrap())?;
            Some(secret.header().unwrap().to_str().unwrap().to_owned())
        };
        assert_eq!(told("https://a.example/x").as_deref(), Some("Bearer t1"));
        assert_eq!(told("https://a.example:443/x").as_deref(), Some("Bearer t1"));
        assert_eq!(told("http://a.example:5000/").as_deref(), Some("Basic dTpwPTE="));
        assert_eq!(told("https://b.a.example/x"), None);
        for wrong in ["s3cr3t", "=s3cr3t", "https://a.example=s3cr3t", "a.example="] {
            let error = Credentials::read(wrong).err().unwrap();
            assert!(
                error.starts_with("part 1 is not a secret") && !error.contains("s3cr3t"),
                "{error}"
            );
        }
    }
}
