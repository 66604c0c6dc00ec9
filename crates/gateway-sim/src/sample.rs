//! Default events: one small guild and its messages.

use serde_json::{Value, json};

use crate::payloads::{self, member_of};

const GUILD: &str = "2000000000000000001";
const CHANNEL: &str = "2000000000000000002";
const JOINED: &str = "2026-01-01T00:00:00.000000+00:00";
const MESSAGES: u64 = 40;

/// Payloads as a gateway sends them. The server sets their sequence numbers.
pub(crate) fn messages() -> Vec<Vec<u8>> {
    let guild = event("GUILD_CREATE", guild());
    let texts = (0..MESSAGES).map(|i| match i % 4 {
        3 => event("TYPING_START", typing(i)),
        _ => event("MESSAGE_CREATE", message(i)),
    });
    std::iter::once(guild).chain(texts).collect()
}

fn event(name: &str, data: Value) -> Vec<u8> {
    json!({ "t": name, "s": 0, "op": 0, "d": data }).to_string().into_bytes()
}

fn user(id: u64) -> Value {
    json!({
        "id": (3_000_000_000_000_000_000 + id).to_string(), "username": format!("member{id}"),
        "global_name": null, "discriminator": "0", "avatar": null, "bot": false, "public_flags": 0,
    })
}

fn member(id: u64) -> Value {
    member_of(&user(id))
}

/// The client's own member, without which some clients request more.
fn own_member() -> Value {
    member_of(&payloads::user())
}

fn guild() -> Value {
    let mut guild = settings();
    for (name, value) in [
        ("roles", json!([everyone()])),
        ("channels", json!([channel()])),
        ("members", (0..3).map(member).chain([own_member()]).collect()),
    ] {
        guild[name] = value;
    }
    for none in [
        "features",
        "emojis",
        "stickers",
        "threads",
        "presences",
        "voice_states",
        "stage_instances",
        "guild_scheduled_events",
        "soundboard_sounds",
    ] {
        guild[none] = json!([]);
    }
    guild
}

fn settings() -> Value {
    json!({
        "id": GUILD, "name": "Example", "icon": null, "splash": null, "banner": null, "description": null,
        "vanity_url_code": null, "owner_id": user(0)["id"], "region": "local", "joined_at": JOINED,
        "afk_channel_id": null, "afk_timeout": 300, "system_channel_id": CHANNEL, "system_channel_flags": 0,
        "rules_channel_id": null, "public_updates_channel_id": null, "safety_alerts_channel_id": null,
        "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
        "mfa_level": 0, "nsfw_level": 0, "nsfw": false, "premium_tier": 0,
        "premium_subscription_count": 0, "premium_progress_bar_enabled": false,
        "preferred_locale": "en-US", "max_members": 500_000, "max_presences": null, "large": false,
        "unavailable": false, "member_count": 4,
    })
}

fn everyone() -> Value {
    json!({
        "id": GUILD, "name": "@everyone", "permissions": "104324673", "color": 0, "hoist": false,
        "colors": { "primary_color": 0, "secondary_color": null, "tertiary_color": null }, "position": 0,
        "managed": false, "mentionable": false, "icon": null, "unicode_emoji": null, "flags": 0,
    })
}

fn channel() -> Value {
    json!({
        "id": CHANNEL, "type": 0, "name": "general", "topic": null, "position": 0, "nsfw": false,
        "parent_id": null, "last_message_id": null, "rate_limit_per_user": 0, "permission_overwrites": [],
        "flags": 0,
    })
}

fn message(i: u64) -> Value {
    json!({
        "id": (4_000_000_000_000_000_000 + i).to_string(), "channel_id": CHANNEL, "guild_id": GUILD,
        "type": 0, "author": user(i % 3), "member": member(i % 3), "content": format!("Message number {i}."),
        "timestamp": format!("2026-01-01T00:00:{:02}.000000+00:00", i % 60), "edited_timestamp": null,
        "tts": false, "mention_everyone": false, "mentions": [], "mention_roles": [], "attachments": [],
        "embeds": [], "components": [], "pinned": false, "flags": 0, "nonce": i.to_string(),
    })
}

fn typing(i: u64) -> Value {
    json!({
        "channel_id": CHANNEL, "guild_id": GUILD, "user_id": user(i % 3)["id"],
        "timestamp": 1_767_225_600 + i, "member": member(i % 3),
    })
}
