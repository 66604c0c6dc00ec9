//! REST endpoints that clients request before they connect.

use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::request::{HttpError, Request, parse_digits};
use crate::socket::{DeadlineStream, deadline_in, is_timeout};
use crate::state::ServerState;

/// Largest number of bytes of a request body that are read and ignored.
const MAX_BODY: usize = 1 << 20;

/// Returns the answer to a request: status code and body.
fn answer(request: &Request, state: &ServerState) -> (u16, Value) {
    let Some(resource) = resource(&request.path) else { return error(404, "404: Not Found") };
    let answer = match resource {
        "gateway" => json!({ "url": state.url }),
        "gateway/bot" => json!({
            "url": state.url,
            "shards": 1,
            "session_start_limit": {
                "total": 1000, "remaining": 1000, "reset_after": 86_400_000, "max_concurrency": 16,
            },
        }),
        "users/@me" => state.script.events.ready()["user"].clone(),
        "applications/@me" | "oauth2/applications/@me" => application(state),
        _ => return error(404, "404: Not Found"),
    };
    if request.method == "GET" { (200, answer) } else { error(405, "405: Method Not Allowed") }
}

fn application(state: &ServerState) -> Value {
    let user = &state.script.events.ready()["user"];
    json!({
        "id": user["id"], "name": user["username"], "icon": null, "description": "",
        "bot_public": false, "bot_require_code_grant": false, "flags": 0, "owner": user, "team": null,
        "verify_key": "0".repeat(64), "tags": [], "rpc_origins": [],
    })
}

/// Returns the path after `/api/` and an optional version such as `v10/`, or `None` for a path that
/// begins otherwise.
fn resource(path: &str) -> Option<&str> {
    let path = path.strip_prefix("/api/")?;
    match path.split_once('/') {
        Some((version, rest)) if version.strip_prefix('v').and_then(parse_digits::<u8>).is_some() => {
            Some(rest)
        }
        _ => Some(path),
    }
}

fn error(status: u16, message: &str) -> (u16, Value) {
    (status, json!({ "message": message, "code": 0 }))
}

/// Answers a request and closes the connection.
pub(crate) fn serve(stream: &mut DeadlineStream, request: &Request, state: &ServerState) {
    let left = request.content_length().min(MAX_BODY).saturating_sub(request.rest.len());
    stream.set_deadline(deadline_in(state.script.limits.timeout));
    discard(stream, left);
    let (status, body) = answer(request, state);
    respond(stream, status, &body, state);
}

/// Answers with an error and closes the connection.
pub(crate) fn reject(stream: &mut DeadlineStream, rejection: HttpError, state: &ServerState) {
    let (status, body) = error(rejection.status, rejection.message);
    respond(stream, status, &body, state);
}

fn respond(stream: &mut DeadlineStream, status: u16, body: &Value, state: &ServerState) {
    let body = body.to_string();
    let answer = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        reason(status),
        body.len()
    );
    stream.set_deadline(deadline_in(state.script.limits.timeout));
    let mut left = answer.as_bytes();
    while !left.is_empty() {
        match stream.write(left) {
            Ok(n) => left = &left[n..],
            Err(e) if is_timeout(&e) && !stream.must_abort() => {}
            Err(_) => return,
        }
    }
    stream.linger();
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        426 => "Upgrade Required",
        431 => "Request Header Fields Too Large",
        _ => "Error",
    }
}

/// Reads and ignores a body of `left` bytes, at most until the deadline.
fn discard(stream: &mut DeadlineStream, mut left: usize) {
    let mut piece = [0; 4096];
    while left > 0 && !stream.is_stopping() && !stream.is_past_deadline() {
        let len = left.min(piece.len());
        match stream.read(&mut piece[..len]) {
            Ok(n @ 1..) => left -= n,
            Err(e) if is_timeout(&e) => {}
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_ignores_the_api_version() {
        assert_eq!(resource("/api/v10/gateway/bot"), Some("gateway/bot"));
        assert_eq!(resource("/api/v9/users/@me"), Some("users/@me"));
        assert_eq!(resource("/api/gateway"), Some("gateway"));
        assert_eq!(resource("/api/v+9/users/@me"), Some("v+9/users/@me"));
        assert_eq!(resource("/gateway"), None);
    }
}
