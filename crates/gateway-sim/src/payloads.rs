//! Payloads that are not part of the script: HELLO, READY, RESUMED and control messages.

use std::time::Duration;

use serde_json::{Map, Value, json};

pub(crate) fn hello(interval: Duration) -> Value {
    let millis = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
    control(10, json!({ "heartbeat_interval": millis, "_trace": ["linerate"] }))
}

pub(crate) fn acknowledgement() -> Value {
    control(11, Value::Null)
}

pub(crate) fn reconnect() -> Value {
    control(7, Value::Null)
}

pub(crate) fn invalid_session() -> Value {
    control(9, Value::Bool(false))
}

fn control(op: u64, data: Value) -> Value {
    json!({ "t": null, "s": null, "op": op, "d": data })
}

pub(crate) fn resumed(sequence: u64) -> Value {
    json!({ "t": "RESUMED", "s": sequence, "op": 0, "d": { "_trace": ["linerate"] } })
}

/// Makes the READY of a session: its own members, and those in `all`, which all sessions share.
pub(crate) fn ready(all: &Map<String, Value>, session: &str, url: &str, shard: [u64; 2]) -> Value {
    let mut data = all.clone();
    data.insert("session_id".into(), session.into());
    data.insert("resume_gateway_url".into(), url.into());
    data.insert("shard".into(), shard.to_vec().into());
    json!({ "t": "READY", "s": 1, "op": 0, "d": data })
}

/// The client's user, unless the READY of the script names another.
pub(crate) fn user() -> Value {
    json!({
        "id": "1000000000000000001", "username": "linerate", "global_name": "Linerate",
        "discriminator": "0", "avatar": null, "bot": true, "verified": true, "mfa_enabled": true,
        "email": null, "flags": 0, "public_flags": 0,
    })
}

/// The guild member object of a user, with default values.
pub(crate) fn member_of(user: &Value) -> Value {
    json!({
        "user": user, "roles": [], "nick": null, "avatar": null,
        "joined_at": "2026-01-01T00:00:00.000000+00:00", "premium_since": null, "pending": false,
        "deaf": false, "mute": false, "flags": 0, "communication_disabled_until": null,
    })
}

/// Adds to READY the members that clients require and that it lacks, and removes those that belong
/// to a session.
pub(crate) fn complete_ready(ready: &mut Map<String, Value>, guilds: impl Iterator<Item = String>) {
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
