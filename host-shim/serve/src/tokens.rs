//! The bearer tokens of those who may ask: <https://www.rfc-editor.org/rfc/rfc6750#section-2.1>.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use hyper::header::{AUTHORIZATION, HeaderMap};
use sha2::{Digest as _, Sha256};

/// How many tokens there may be: an old one and a new one, for each who asks.
const TOKENS: usize = 64;

/// Bytes of the longest name of a subject.
const NAME: usize = 256;

/// Tokens, any of which lets a request in. Without one, every request is let in.
#[derive(Default)]
pub struct Tokens(RwLock<Vec<Token>>);

struct Token {
    digest: [u8; 32],
    /// Whom it is for.
    subject: Option<Arc<str>>,
}

/// The subject that a request's token names, if it names one.
pub(crate) type Subject = Option<Arc<str>>;

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
    /// The tokens of a text, one a line, each with the name of whom it is for after white space, if rules are to know that.
    ///
    /// # Errors
    /// There is none or there are too many, one has characters that no header has, or a name is too long.
    pub fn read(text: &str) -> Result<Self, TokensError> {
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        if lines.is_empty() || lines.len() > TOKENS {
            return Err(TokensError("expected 1 to 64 tokens, one a line"));
        }
        let tokens: Result<Vec<Token>, TokensError> = lines.into_iter().map(Token::read).collect();
        tokens.map(|tokens| Self(RwLock::new(tokens)))
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

    /// The subject of a request that may come in; `None` if it may not.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Option<Subject> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            return Some(None);
        }
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return None;
        };
        let given = value.to_str().ok().and_then(|value| {
            let (scheme, given) = value.split_once(' ')?;
            scheme
                .eq_ignore_ascii_case("bearer")
                .then(|| digest(given.trim()))
        });
        // Digests are compared, so that the time does not say how much of a guess is right.
        let given = given?;
        let token = known.iter().find(|token| token.digest == given);
        token.map(|token| token.subject.clone())
    }
}

impl Token {
    fn read(line: &str) -> Result<Self, TokensError> {
        let (token, subject) = match line.split_once(char::is_whitespace) {
            Some((token, subject)) => (token, Some(subject.trim())),
            None => (line, None),
        };
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokensError("a token holds characters that no header has"));
        }
        if subject.is_some_and(|subject| subject.len() > NAME || subject.contains(char::is_control)) {
            return Err(TokensError(
                "the name of a token's subject has more than 256 bytes, or a control character",
            ));
        }
        Ok(Self {
            digest: digest(token),
            subject: subject.map(Arc::from),
        })
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
        tokens.admit(&headers).is_some()
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
    fn a_token_names_its_subject() {
        let tokens = Tokens::read("one  ann lee \ntwo\tci-7\nthree").unwrap();
        let subject = |token: &str| {
            let mut headers = HeaderMap::new();
            let value = format!("Bearer {token}");
            headers.append(AUTHORIZATION, HeaderValue::from_str(&value).unwrap());
            tokens
                .admit(&headers)
                .map(|subject| subject.as_deref().map(str::to_owned))
        };
        assert_eq!(subject("one"), Some(Some("ann lee".to_owned())));
        assert_eq!(subject("two"), Some(Some("ci-7".to_owned())));
        assert_eq!(subject("three"), Some(None));
        assert_eq!(subject("ann"), None);
        assert_eq!(subject("one  ann lee"), None);
    }

    #[test]
    fn a_text_without_a_usable_token_is_refused() {
        let long = format!("t {}", "x".repeat(257));
        for text in ["", "\n \n", "ä", "a b\u{1}c", &long, &"x\n".repeat(65)] {
            assert!(Tokens::read(text).is_err(), "{text}");
        }
    }
}
