//! What a gateway says of itself: payloads that are not events of guilds.

use std::time::Duration;

use serde_json::{Map, Value, json};

pub(super) fn hello(interval: Duration) -> Value {
    let millis = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
    control(10, json!({ "heartbeat_interval": millis, "_trace": ["linerate"] }))
}

pub(super) fn acknowledgement() -> Value {
    control(11, Value::Null)
}

pub(super) fn reconnect() -> Value {
    control(7, Value::Null)
}

pub(super) fn invalid_session() -> Value {
    control(9, Value::Bool(false))
}

fn control(op: u64, data: Value) -> Value {
    json!({ "t": null, "s": null, "op": op, "d": data })
}

pub(super) fn resumed(sequence: u64) -> Value {
    json!({ "t": "RESUMED", "s": sequence, "op": 0, "d": { "_trace": ["linerate"] } })
}

/// READY: what it says to all, and what belongs to one session.
pub(super) fn ready(all: &Map<String, Value>, session: &str, url: &str, shard: [u64; 2]) -> Value {
    let mut data = all.clone();
    data.insert("session_id".into(), session.into());
    data.insert("resume_gateway_url".into(), url.into());
    data.insert("shard".into(), shard.to_vec().into());
    json!({ "t": "READY", "s": 1, "op": 0, "d": data })
}

/// The user that the client is, unless READY of the messages has another.
pub(super) fn user() -> Value {
    json!({
        "id": "1000000000000000001", "username": "linerate", "global_name": "Linerate",
        "discriminator": "0", "avatar": null, "bot": true, "verified": true, "mfa_enabled": true,
        "email": null, "flags": 0, "public_flags": 0,
    })
}

/// Adds what clients look for and takes away what belongs to a session.
pub(super) fn complete_ready(ready: &mut Map<String, Value>, guilds: impl Iterator<Item = String>) {
    for session in ["session_id", "resume_gateway_url", "shard"] {
        ready.remove(session);
    }
    let unavailable = guilds.map(|id| json!({ "id": id, "unavailable": true }));
    let user = ready.entry("user").or_insert_with(user);
    let id = user.get("id").cloned().unwrap_or_default();
    for (name, value) in [
        ("v", json!(10)),
        ("guilds", unavailable.collect()),
        ("private_channels", json!([])),
        ("presences", json!([])),
        ("relationships", json!([])),
        ("session_type", json!("normal")),
        ("application", json!({ "id": id, "flags": 0 })),
    ] {
        ready.entry(name).or_insert(value);
    }
}
