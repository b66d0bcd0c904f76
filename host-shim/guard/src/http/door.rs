//! Who may speak to a guard that listens.
//!
//! A page in a browser can send requests to this machine, and by a name of its own that leads here (DNS rebinding) even read
//! the answers. So the name that a request is sent to is looked at, and where it comes from:
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-endpoint>.

use std::net::{IpAddr, SocketAddr};

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, AUTHORIZATION, HOST, HeaderMap,
    HeaderValue, ORIGIN, VARY, WWW_AUTHENTICATE,
};
use hyper::http::uri::Authority;
use hyper::{Method, Request, Response, StatusCode};
use sha2::{Digest as _, Sha256};

use super::answer::{Answer, Whole, text_answer};
use super::headers::one;

/// Where a guard listens, and to whom.
#[derive(Clone, Default)]
pub struct Visitors {
    /// Names of this machine that requests may be sent to, besides those of the loopback interface and the address itself.
    pub hosts: Vec<String>,
    /// Origins of pages in browsers that may speak to the guard, such as `https://example.com`. None may otherwise.
    pub origins: Vec<String>,
    /// The bearer token that a client has to send, if any.
    pub token: Option<String>,
}

impl Visitors {
    /// The answer to a request that may not come in, and to a browser that asks whether one may.
    pub(super) fn refuse<B>(&self, request: &Request<B>, here: SocketAddr) -> Option<Whole> {
        let headers = request.headers();
        let host = match one(headers, &HOST) {
            Ok(Some(host)) => host,
            Ok(None) => {
                return Some(text_answer(
                    StatusCode::BAD_REQUEST,
                    "the header `host` is missing",
                ));
            }
            Err(reason) => return Some(text_answer(StatusCode::BAD_REQUEST, &reason)),
        };
        let named = request.uri().authority().map(Authority::as_str);
        if !is_here(host, here, &self.hosts) || !named.is_none_or(|named| is_here(named, here, &self.hosts)) {
            return Some(text_answer(
                StatusCode::FORBIDDEN,
                "this host is not known here; `--allow-host` says under which names requests are sent to the guard",
            ));
        }
        match one(headers, &ORIGIN) {
            Ok(None) => {}
            Ok(Some(origin))
                if self
                    .origins
                    .iter()
                    .any(|known| known.eq_ignore_ascii_case(origin)) => {}
            Ok(Some(_)) | Err(_) => {
                return Some(text_answer(
                    StatusCode::FORBIDDEN,
                    "this origin may not speak to the guard; `--allow-origin` says which may",
                ));
            }
        }
        // A browser asks first, and sends no token with that.
        if request.method() == Method::OPTIONS && headers.contains_key(ORIGIN) {
            return Some(allowed(headers));
        }
        (!self.knows(headers)).then(|| {
            let mut response = text_answer(
                StatusCode::UNAUTHORIZED,
                "the bearer token of the guard is missing or wrong",
            );
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            response
        })
    }

    /// Returns `true` if the pages of an origin may speak to the guard.
    pub(super) fn lets(&self, origin: &str) -> bool {
        self.origins
            .iter()
            .any(|known| known.eq_ignore_ascii_case(origin))
    }

    fn knows(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let given = one(headers, &AUTHORIZATION).ok().flatten().and_then(|value| {
            let (scheme, given) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| given.trim())
        });
        // Digests are compared, so that the time does not say how much of a guess is right.
        given.is_some_and(|given| Sha256::digest(given) == Sha256::digest(token))
    }
}

/// Returns `true` if the host that a request names is this machine: a name of the loopback interface, the address where the request
/// arrived, or one of the names that are given.
pub fn is_here(host: &str, here: SocketAddr, names: &[String]) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    if authority.as_str().contains('@') {
        return false;
    }
    let name = authority.host();
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<IpAddr>()
        && (address.is_loopback() || address == here.ip())
    {
        return true;
    }
    let mut known = names.iter().map(String::as_str).chain(["localhost"]);
    known.any(|known| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(bare))
}

/// The answer to a browser that asks whether a page may send a request: <https://fetch.spec.whatwg.org/#http-cors-protocol>.
fn allowed(headers: &HeaderMap) -> Whole {
    let mut response = text_answer(StatusCode::NO_CONTENT, "");
    let allowed = response.headers_mut();
    allowed.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("POST, GET, DELETE"),
    );
    if let Some(asked) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        allowed.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    response
}

/// Lets the page of an origin that may speak to the guard read an answer.
pub(super) fn show(response: &mut Response<Answer>, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("mcp-session-id"),
    );
    headers.insert(VARY, HeaderValue::from_static("origin"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(visitors: &Visitors, headers: &[(&str, &str)], uri: &str) -> Option<u16> {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let here = "127.0.0.1:8642".parse().unwrap();
        let refused = visitors.refuse(&request.body(()).unwrap(), here);
        refused.map(|response| response.status().as_u16())
    }

    #[test]
    fn a_name_or_an_origin_that_is_not_known_is_refused() {
        let visitors = Visitors {
            hosts: vec!["gate.example".to_owned(), "10.0.0.1".to_owned()],
            origins: vec!["https://app.example".to_owned()],
            token: None,
        };
        for (host, expected) in [
            ("localhost:8642", None),
            ("127.0.0.1", None),
            ("[::1]:9", None),
            ("GATE.example:1", None),
            ("evil.example", Some(403)),
            ("localhost.evil.example", Some(403)),
            ("127.0.0.1.evil.example", Some(403)),
            ("u@localhost", Some(403)),
            ("10.0.0.1:80", None),
            ("192.168.0.1", Some(403)),
            ("", Some(403)),
        ] {
            assert_eq!(status(&visitors, &[("host", host)], "/mcp"), expected, "{host}");
        }
        assert_eq!(status(&visitors, &[], "/mcp"), Some(400));
        assert_eq!(
            status(&visitors, &[("host", "localhost"), ("host", "localhost")], "/mcp"),
            Some(400)
        );
        assert_eq!(
            status(&visitors, &[("host", "localhost")], "http://evil.example/mcp"),
            Some(403)
        );
        for (origin, expected) in [
            ("https://app.example", None),
            ("null", Some(403)),
            ("http://localhost:8642", Some(403)),
            ("https://app.example.evil.example", Some(403)),
        ] {
            let headers = [("host", "localhost"), ("origin", origin)];
            assert_eq!(status(&visitors, &headers, "/mcp"), expected, "{origin}");
        }
    }

    #[test]
    fn a_token_is_asked_for_where_there_is_one() {
        let visitors = Visitors {
            token: Some("s3cret".to_owned()),
            ..Visitors::default()
        };
        for (value, expected) in [
            ("Bearer s3cret", None),
            ("bearer s3cret", None),
            ("Bearer s3cre", Some(401)),
            ("Basic s3cret", Some(401)),
            ("s3cret", Some(401)),
        ] {
            let headers = [("host", "localhost"), ("authorization", value)];
            assert_eq!(status(&visitors, &headers, "/mcp"), expected, "{value}");
        }
        assert_eq!(status(&visitors, &[("host", "localhost")], "/mcp"), Some(401));
    }

    #[test]
    fn a_browser_may_ask_first() {
        let visitors = Visitors {
            origins: vec!["https://app.example".to_owned()],
            token: Some("s3cret".to_owned()),
            ..Visitors::default()
        };
        let ask = |origin: &str| {
            let request = Request::builder()
                .method(Method::OPTIONS)
                .uri("/mcp")
                .header("host", "localhost")
                .header("origin", origin)
                .header("access-control-request-headers", "mcp-method");
            let here = "127.0.0.1:8642".parse().unwrap();
            *visitors.refuse(&request.body(()).unwrap(), here).unwrap()
        };
        let mut response = ask("https://app.example");
        assert_eq!(response.status(), 204);
        assert_eq!(response.headers()["access-control-allow-headers"], "mcp-method");
        show(&mut response, HeaderValue::from_static("https://app.example"));
        assert_eq!(
            response.headers()["access-control-allow-origin"],
            "https://app.example"
        );
        assert_eq!(ask("https://evil.example").status(), 403);
    }
}
