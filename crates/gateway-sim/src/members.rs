//! Guild members requests (opcode 8) and their answers.

use serde_json::{Value, json};

use crate::events::Events;
use crate::payloads::member_of;

// Largest number of users in one request, and largest nonce in bytes, which the answer repeats.
// Further users and a longer nonce are ignored. Discord's gateway has the same limits.
const MAX_USERS: usize = 100;
const MAX_NONCE: usize = 32;

/// A request for guild members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemberRequest {
    guild: String,
    /// Ids of the users to return. `None` asks for members whose names begin with `query`.
    users: Option<Vec<String>>,
    query: String,
    /// Maximum number of members found by `query`; 0 means unlimited.
    limit: usize,
    nonce: Option<String>,
}

impl MemberRequest {
    /// Reads the `d` of a request. Returns `None` unless it names a known guild. Other fields that
    /// are malformed count as missing.
    pub(crate) fn read(data: &Value, events: &Events) -> Option<MemberRequest> {
        // In ETF, ids are numbers.
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(id) => Some(id.to_string()),
            _ => None,
        };
        let users = match &data["user_ids"] {
            Value::Array(all) => Some(all.iter().filter_map(text).take(MAX_USERS).collect()),
            one => text(one).map(|one| vec![one]),
        };
        let guild = text(&data["guild_id"]).filter(|guild| events.has_guild(guild))?;
        let nonce = text(&data["nonce"]).filter(|nonce| nonce.len() <= MAX_NONCE);
        let limit = data["limit"].as_u64().unwrap_or(0) as usize;
        Some(MemberRequest { guild, users, query: text(&data["query"]).unwrap_or_default(), limit, nonce })
    }

    /// Returns the answer: a single GUILD_MEMBERS_CHUNK.
    pub(crate) fn answer(&self, sequence: u64, events: &Events) -> Value {
        let guild = events.guild(&self.guild).unwrap_or_default();
        let members = guild["members"].as_array().map_or(&[][..], Vec::as_slice);
        let mut chunk = json!({ "guild_id": self.guild, "chunk_index": 0, "chunk_count": 1 });
        if let Some(users) = &self.users {
            let find = |id: &&String| member(members, id, &events.ready()["user"]);
            chunk["members"] = users.iter().filter_map(|id| find(&id)).collect();
            chunk["not_found"] = users.iter().filter(|id| find(id).is_none()).cloned().collect();
        } else {
            let named =
                |m: &&Value| m["user"]["username"].as_str().is_some_and(|n| n.starts_with(&self.query));
            let limit = if self.limit == 0 { usize::MAX } else { self.limit };
            chunk["members"] = members.iter().filter(named).take(limit).cloned().collect();
        }
        if let Some(nonce) = &self.nonce {
            chunk["nonce"] = nonce.as_str().into();
        }
        json!({ "t": "GUILD_MEMBERS_CHUNK", "s": sequence, "op": 0, "d": chunk })
    }
}

/// Finds a member by user id. The client is a member of every guild.
fn member(members: &[Value], id: &str, client: &Value) -> Option<Value> {
    let found = members.iter().find(|member| member["user"]["id"] == id).cloned();
    found.or_else(|| (client["id"] == id).then(|| member_of(client)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(request: &Value) -> Option<Value> {
        let events = Events::sample();
        MemberRequest::read(request, &events).map(|request| request.answer(9, &events))
    }

    const GUILD: &str = "2000000000000000001";

    #[test]
    fn members_are_found_by_id_including_the_client() {
        let ids = json!(["3000000000000000001", "1000000000000000001", "77"]);
        let chunk = answer(&json!({ "guild_id": GUILD, "user_ids": ids, "nonce": "n" })).unwrap();
        assert_eq!((&chunk["t"], &chunk["s"]), (&json!("GUILD_MEMBERS_CHUNK"), &json!(9)));
        let data = &chunk["d"];
        assert_eq!(data["members"][0]["user"]["username"], "member1");
        assert_eq!(data["members"][1]["user"]["username"], "linerate");
        assert_eq!((&data["not_found"], &data["nonce"]), (&json!(["77"]), &json!("n")));
        assert_eq!((&data["chunk_index"], &data["chunk_count"]), (&json!(0), &json!(1)));
    }

    #[test]
    fn numeric_ids_are_accepted() {
        let guild: u64 = GUILD.parse().unwrap();
        let chunk = answer(&json!({ "guild_id": guild, "user_ids": 3_000_000_000_000_000_001u64 })).unwrap();
        assert_eq!(chunk["d"]["members"][0]["user"]["username"], "member1");
    }

    #[test]
    fn the_client_is_a_member_of_guilds_without_members() {
        let events = Events::new([r#"{"op":0,"t":"GUILD_CREATE","d":{"id":"5","members":[]}}"#]).unwrap();
        let id = events.ready()["user"]["id"].clone();
        let request = MemberRequest::read(&json!({ "guild_id": "5", "user_ids": id }), &events).unwrap();
        assert_eq!(request.answer(2, &events)["d"]["members"][0]["user"]["id"], id);
    }

    #[test]
    fn members_are_found_by_name_prefix() {
        let count = |query, limit| {
            let chunk = answer(&json!({ "guild_id": GUILD, "query": query, "limit": limit })).unwrap();
            chunk["d"]["members"].as_array().unwrap().len()
        };
        assert_eq!((count("", 0), count("member", 0), count("member", 2), count("x", 0)), (4, 3, 2, 0));
    }

    #[test]
    fn unknown_guild_and_malformed_request_have_no_answer() {
        assert_eq!(answer(&json!({ "guild_id": "1", "query": "" })), None);
        assert_eq!(answer(&json!("x")), None);
        let long = json!({ "guild_id": GUILD, "user_ids": [], "nonce": "x".repeat(33) });
        assert_eq!(answer(&long).unwrap()["d"].get("nonce"), None);
    }
}
