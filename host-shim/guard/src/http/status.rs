//! The status of HTTP that goes with an answer of JSON-RPC.

use http::StatusCode;

/// The status of an answer to a request as a whole; `is_handshake` says that the server is known to speak the handshake era alone.
pub(super) fn of_answer(text: &str, is_modern: bool, is_handshake: bool) -> StatusCode {
    match code_of(text) {
        // A client of both eras tries the other one only then.
        Some(_) if is_modern && is_handshake => StatusCode::BAD_REQUEST,
        Some(-32601) if is_modern => StatusCode::NOT_FOUND,
        Some(-32700 | -32600 | -32022..=-32020) if is_modern => StatusCode::BAD_REQUEST,
        Some(_) | None => StatusCode::OK,
    }
}

/// The code of an answer that is an error.
pub(super) fn code_of(text: &str) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct Answer {
        error: Option<Error>,
    }
    #[derive(serde::Deserialize)]
    struct Error {
        code: i64,
    }
    let answer: Answer = serde_json::from_str(text).ok()?;
    answer.error.map(|error| error.code)
}
