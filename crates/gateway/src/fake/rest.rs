//! What clients ask before they connect, over HTTP.

use std::io::{Read, Write};

use serde_json::{Value, json};

use super::request::{Refused, Request};
use super::server::Shared;
use super::socket::{Patient, after, is_timeout};

/// Bytes of a body that are read, to be ignored.
const LARGEST_BODY: usize = 1 << 20;

/// The answer to a request: a status, and an object.
fn answer(request: &Request, shared: &Shared) -> (u16, Value) {
    let Some(resource) = resource(&request.path) else { return error(404, "404: Not Found") };
    let answer = match resource {
        "gateway" => json!({ "url": shared.url }),
        "gateway/bot" => json!({
            "url": shared.url,
            "shards": 1,
            "session_start_limit": {
                "total": 1000, "remaining": 1000, "reset_after": 86_400_000, "max_concurrency": 16,
            },
        }),
        "users/@me" => shared.script.events.ready()["user"].clone(),
        "applications/@me" | "oauth2/applications/@me" => application(shared),
        _ => return error(404, "404: Not Found"),
    };
    if request.method == "GET" { (200, answer) } else { error(405, "405: Method Not Allowed") }
}

fn application(shared: &Shared) -> Value {
    let user = &shared.script.events.ready()["user"];
    json!({
        "id": user["id"], "name": user["username"], "icon": null, "description": "",
        "bot_public": false, "bot_require_code_grant": false, "flags": 0, "owner": user, "team": null,
        "verify_key": "0".repeat(64), "tags": [], "rpc_origins": [],
    })
}

/// What stands behind `/api/v10/`, or another version.
fn resource(path: &str) -> Option<&str> {
    let path = path.strip_prefix("/api/")?;
    match path.split_once('/') {
        Some((version, rest)) if version.strip_prefix('v').is_some_and(|v| v.parse::<u8>().is_ok()) => {
            Some(rest)
        }
        _ => Some(path),
    }
}

fn error(status: u16, message: &str) -> (u16, Value) {
    (status, json!({ "message": message, "code": 0 }))
}

/// Answers a request and ends the connection.
pub(super) fn serve(stream: &mut Patient, request: &Request, shared: &Shared) {
    let length = request.header("content-length").and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
    let left = length.min(LARGEST_BODY).saturating_sub(request.rest.len());
    stream.wait_until(after(shared.script.bounds.patience));
    discard(stream, left);
    let (status, body) = answer(request, shared);
    respond(stream, status, &body, shared);
}

/// Says why a request is refused, and ends the connection.
pub(super) fn refuse(stream: &mut Patient, Refused(status, why): Refused, shared: &Shared) {
    let (status, body) = error(status, why);
    respond(stream, status, &body, shared);
}

fn respond(stream: &mut Patient, status: u16, body: &Value, shared: &Shared) {
    let body = body.to_string();
    let answer = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        reason(status),
        body.len()
    );
    stream.wait_until(after(shared.script.bounds.patience));
    let mut left = answer.as_bytes();
    while !left.is_empty() {
        match stream.write(left) {
            Ok(n) => left = &left[n..],
            Err(e) if is_timeout(&e) && !stream.gives_up() => {}
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

/// Reads a body, to be ignored.
fn discard(stream: &mut Patient, mut left: usize) {
    let mut piece = [0; 4096];
    while left > 0 && !stream.is_over() && !stream.is_late() {
        let room = left.min(piece.len());
        match stream.read(&mut piece[..room]) {
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
    fn versions_are_all_the_same() {
        assert_eq!(resource("/api/v10/gateway/bot"), Some("gateway/bot"));
        assert_eq!(resource("/api/v9/users/@me"), Some("users/@me"));
        assert_eq!(resource("/api/gateway"), Some("gateway"));
        assert_eq!(resource("/gateway"), None);
    }
}
