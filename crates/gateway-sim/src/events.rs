//! The events that a server sends after READY.

use std::collections::BTreeMap;
use std::ops::Range;

use linerate_gateway::{Error, Kind, Result, SessionError};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::{payloads, sample};

/// The events to send, in order, and the content of READY.
#[derive(Clone, Debug)]
pub struct Events {
    list: Vec<Event>,
    /// Index of the event that describes a guild, by guild id.
    guilds: BTreeMap<String, usize>,
    /// The `d` of READY, without the members that belong to one session.
    ready: Map<String, Value>,
}

#[derive(Clone, Debug)]
struct Event {
    payload: Vec<u8>,
    /// Position of the sequence number in `payload`.
    number: Range<usize>,
}

/// The members of a gateway payload, a JSON object.
struct Members<'p> {
    op: Option<u64>,
    event: Option<String>,
    /// Position of the sequence number, if there is one.
    number: Option<Range<usize>>,
    data: Option<&'p RawValue>,
}

impl Events {
    /// Reads payloads as a gateway sends them, in JSON. Events keep their bytes except for the
    /// sequence numbers, which the server sets, or adds where there is none. A READY replaces the
    /// content of the server's READY. Payloads that belong to a connection, such as HELLO and
    /// RESUMED, are skipped, since the server sends its own.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] for a message that is not a JSON object with an opcode.
    pub fn new<M: AsRef<[u8]>>(messages: impl IntoIterator<Item = M>) -> Result<Events> {
        let mut events = Events { list: Vec::new(), guilds: BTreeMap::new(), ready: Map::new() };
        for (index, message) in messages.into_iter().enumerate() {
            events.add(message.as_ref()).map_err(|what| SessionError {
                error: Error::new(Kind::Corrupt, 0, what),
                message_index: index as u64,
            })?;
        }
        let in_order = |(id, index): (&String, &usize)| (*index, id.clone());
        let mut guilds: Vec<_> = events.guilds.iter().map(in_order).collect();
        guilds.sort_unstable();
        payloads::complete_ready(&mut events.ready, guilds.into_iter().map(|(_, id)| id));
        Ok(events)
    }

    /// A few events of one small guild.
    pub fn sample() -> Events {
        Events::new(sample::messages()).expect("the sample is made of objects")
    }

    /// Number of events, without READY.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is no event besides READY.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn add(&mut self, payload: &[u8]) -> Result<(), &'static str> {
        let members = Members::read(payload)?;
        if members.op.ok_or("a message has no opcode")? != 0 {
            return Ok(());
        }
        let data = || members.data.and_then(|data| serde_json::from_str::<Value>(data.get()).ok());
        match members.event.as_deref() {
            Some("READY") => {
                if let Some(Value::Object(ready)) = data() {
                    self.ready = ready;
                }
                return Ok(());
            }
            Some("RESUMED") => return Ok(()),
            Some("GUILD_CREATE") => {
                if let Some(id) = data().as_ref().and_then(|data| data["id"].as_str()) {
                    self.guilds.insert(id.to_owned(), self.list.len());
                }
            }
            _ => {}
        }
        self.list.push(match members.number {
            Some(number) => Event { payload: payload.to_vec(), number },
            None => Event::numbered(payload),
        });
        Ok(())
    }

    /// Returns the payload of an event, with this sequence number, or `None` after the last event.
    pub(crate) fn payload(&self, index: usize, sequence: u64) -> Option<Vec<u8>> {
        let Event { payload, number } = self.list.get(index)?;
        let sequence = sequence.to_string();
        Some([&payload[..number.start], sequence.as_bytes(), &payload[number.end..]].concat())
    }

    pub(crate) fn has_guild(&self, id: &str) -> bool {
        self.guilds.contains_key(id)
    }

    /// The guild object: the `d` of its event.
    pub(crate) fn guild(&self, id: &str) -> Option<Value> {
        let event = &self.list[*self.guilds.get(id)?];
        let mut payload: Value = serde_json::from_slice(&event.payload).ok()?;
        Some(payload["d"].take())
    }

    /// The members of READY that are the same for all sessions.
    pub(crate) fn ready(&self) -> &Map<String, Value> {
        &self.ready
    }
}

impl Event {
    /// Adds a sequence number to an event without one.
    fn numbered(payload: &[u8]) -> Event {
        let brace = payload.iter().position(|&b| b == b'{').map_or(0, |at| at + 1);
        let (before, after) = payload.split_at(brace);
        let payload = [before, br#""s":0,"#, after].concat();
        Event { payload, number: brace + 4..brace + 5 }
    }
}

impl<'p> Members<'p> {
    fn read(payload: &'p [u8]) -> Result<Self, &'static str> {
        let no_object = "a message is not a JSON object";
        let text = std::str::from_utf8(payload).map_err(|_| "a message is not UTF-8")?;
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(|_| no_object)?;
        let number = members.get("s").map(|value| {
            let start = value.get().as_ptr() as usize - payload.as_ptr() as usize;
            start..start + value.get().len()
        });
        let get = |name| members.get(name).map(|value| value.get());
        Ok(Members {
            op: get("op").and_then(|op| op.parse().ok()),
            event: get("t").and_then(|name| serde_json::from_str(name).ok()),
            number,
            data: members.get("d").copied(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_changes_only_the_sequence_number() {
        let events = Events::new([
            r#"{"op":10,"d":{"heartbeat_interval":1}}"#,
            r#"{"t":"READY","s":1,"op":0,"d":{"v":10,"user":{"id":"5"},"session_id":"old"}}"#,
            r#"{"t":"A","s":2,"op":0,"d":{"s":3, "x": 1e3}}"#,
            r#"{"op":11,"d":null}"#,
            r#" {"t":"B","op":0,"d":"\u00e9"}"#,
            r#"{"op":0,"t":"RESUMED","s":4,"d":{}}"#,
        ])
        .unwrap();
        assert_eq!(events.len(), 2);
        assert_eq!(events.payload(0, 70).unwrap(), br#"{"t":"A","s":70,"op":0,"d":{"s":3, "x": 1e3}}"#);
        assert_eq!(events.payload(1, 1234).unwrap(), br#" {"s":1234,"t":"B","op":0,"d":"\u00e9"}"#);
        assert_eq!(events.payload(2, 1), None);
        assert_eq!(events.ready()["user"]["id"], "5");
        assert!(!events.ready().contains_key("session_id"));
    }

    #[test]
    fn guilds_of_events_are_listed_in_ready() {
        let events = Events::new([r#"{"op":0,"t":"GUILD_CREATE","d":{"id":"77"}}"#]).unwrap();
        assert_eq!(events.ready()["guilds"], serde_json::json!([{ "id": "77", "unavailable": true }]));
    }

    #[test]
    fn a_malformed_message_is_an_error_with_its_index() {
        for bad in [&b"[]"[..], b"{", b"{\"d\":1}", b"{\"op\":\"0\"}", b"\xff"] {
            let error = Events::new([&b"{\"op\":1}"[..], bad]).unwrap_err();
            assert_eq!((error.message_index, error.kind()), (1, Kind::Corrupt));
        }
    }
}
