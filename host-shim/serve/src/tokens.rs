//! The bearer tokens of those who may ask: <https://www.rfc-editor.org/rfc/rfc6750#section-2.1>.

use std::fmt;
use std::sync::{PoisonError, RwLock};

use hyper::header::{AUTHORIZATION, HeaderMap};
use sha2::{Digest as _, Sha256};

/// How many tokens there may be: an old one and a new one, for each who asks.
const TOKENS: usize = 64;

/// Tokens, any of which lets a request in. Without one, every request is let in.
#[derive(Default)]
pub struct Tokens(RwLock<Vec<[u8; 32]>>);

/// Why tokens cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub struct TokensError(&'static str);

impl fmt::Display for TokensError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

impl std::error::Error for TokensError {}

impl Tokens {
    /// The tokens of a text, one a line.
    ///
    /// # Errors
    /// There is none or there are too many, or one has characters that no header has.
    pub fn read(text: &str) -> Result<Self, TokensError> {
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        if lines.is_empty() || lines.len() > TOKENS {
            return Err(TokensError("expected 1 to 64 tokens, one a line"));
        }
        if !lines
            .iter()
            .all(|line| line.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err(TokensError(
                "a token holds white space or other characters that no header has",
            ));
        }
        Ok(Self(RwLock::new(lines.into_iter().map(digest).collect())))
    }

    /// Takes others in place of these, from the next request on.
    pub fn replace(&self, others: Self) {
        let others = others.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = others;
    }

    /// Returns `true` if no token is asked for.
    pub fn is_empty(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Returns `true` if a request may come in.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            return true;
        }
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        let given = value.to_str().ok().and_then(|value| {
            let (scheme, given) = value.split_once(' ')?;
            scheme
                .eq_ignore_ascii_case("bearer")
                .then(|| digest(given.trim()))
        });
        // Digests are compared, so that the time does not say how much of a guess is right.
        given.is_some_and(|given| known.contains(&given))
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn admits(tokens: &Tokens, values: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        tokens.admit(&headers)
    }

    #[test]
    fn any_of_the_tokens_lets_in_and_nothing_else() {
        let tokens = Tokens::read("old\n\n new \n").unwrap();
        for value in ["Bearer old", "bearer new"] {
            assert!(admits(&tokens, &[value]), "{value}");
        }
        for values in [
            &[][..],
            &["Bearer"],
            &["Bearer ol"],
            &["Bearer oldd"],
            &["Basic old"],
            &["old"],
            &["Bearer "],
            &["Bearer old", "Bearer new"],
        ] {
            assert!(!admits(&tokens, values), "{values:?}");
        }
        assert!(admits(&Tokens::default(), &[]));
        tokens.replace(Tokens::read("newer").unwrap());
        assert!(admits(&tokens, &["Bearer newer"]) && !admits(&tokens, &["Bearer old"]));
    }

    #[test]
    fn a_text_without_a_usable_token_is_refused() {
        for text in ["", "\n \n", "a b", "ä", &"x\n".repeat(65)] {
            assert!(Tokens::read(text).is_err(), "{text}");
        }
    }
}
