//! Generates the traffic of chat gateways: JSON from a seed, the same bytes on every machine.
//!
//! A shard is the traffic of one connection: HELLO, READY, a GUILD_CREATE per guild, then live
//! events. Guild sizes are log-normal. Guilds and members differ in activity, so the same members
//! recur. All names and texts are generated, so the compression ratio is plausible, but not that of
//! real traffic.
//!
//! ```
//! use linerate_gateway_sim::traffic::Traffic;
//! let traffic = Traffic::new(1).guilds(3).events(10);
//! let shard: Vec<Vec<u8>> = traffic.shard(0).collect();
//! assert_eq!(shard.len(), 2 + 3 + 10);
//! assert!(traffic.shard(0).eq(shard)); // each shard has a seed of its own
//! ```

mod events;
mod feeds;
mod guild;
mod random;
mod source;
mod text;
mod users;

pub use self::feeds::feeds;
use self::guild::Guild;
#[doc(hidden)]
pub use self::random::Random;
use self::source::Source;

/// Options of the generated traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    seed: u64,
    guilds: usize,
    events: usize,
}

impl Traffic {
    /// Largest number of guilds of a shard. All of them stay in memory while events are generated.
    pub const MAX_GUILDS: usize = 2500;

    /// The defaults: 120 guilds and 2,500 events per shard.
    pub fn new(seed: u64) -> Traffic {
        Traffic { seed, guilds: 120, events: 2500 }
    }

    /// Sets the number of guilds per shard, at most [`MAX_GUILDS`](Self::MAX_GUILDS). Default: 120.
    #[must_use]
    pub fn guilds(self, guilds: usize) -> Traffic {
        Traffic { guilds: guilds.min(Self::MAX_GUILDS), ..self }
    }

    /// Sets the number of live events per shard. Default: 2,500. Without guilds all are heartbeat
    /// acknowledgements.
    #[must_use]
    pub fn events(self, events: usize) -> Traffic {
        Traffic { events, ..self }
    }

    /// Iterates over the messages of a shard.
    pub fn shard(&self, index: u64) -> Shard {
        Shard {
            traffic: *self,
            index,
            source: Source::new(self.seed, index),
            own: (0, String::new()),
            announced: Vec::new(),
            guilds: Vec::new(),
            sent: 0,
        }
    }
}

/// The messages of one connection.
pub struct Shard {
    traffic: Traffic,
    index: u64,
    source: Source,
    /// The id and the object of the client's user, which is in READY.
    own: (u64, String),
    /// Ids of the guilds that READY names.
    announced: Vec<u64>,
    guilds: Vec<Guild>,
    sent: usize,
}

impl Iterator for Shard {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let Traffic { guilds, events, .. } = self.traffic;
        let message = match self.sent {
            0 => hello(self.index),
            1 => self.ready(),
            at if at < 2 + guilds => {
                let (guild, message) = Guild::create(&mut self.source, self.announced[at - 2], &self.own);
                self.guilds.push(guild);
                message
            }
            at if at < 2 + guilds + events => events::live(&mut self.source, &self.guilds),
            _ => return None,
        };
        self.sent += 1;
        Some(message.into_bytes())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = 2 + self.traffic.guilds + self.traffic.events - self.sent;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Shard {}

fn trace(index: u64, more: &str) -> String {
    format!(r#"["[\"gateway-{index}\",{{\"micros\":{more}}}]"]"#)
}

fn hello(index: u64) -> String {
    let trace = trace(index, "0.0");
    format!(r#"{{"t":null,"s":null,"op":10,"d":{{"heartbeat_interval":41250,"_trace":{trace}}}}}"#)
}

impl Shard {
    fn ready(&mut self) -> String {
        let source = &mut self.source;
        self.own = users::user(source, true);
        self.announced = (0..self.traffic.guilds).map(|_| source.id()).collect();
        let guilds: Vec<String> =
            self.announced.iter().map(|id| format!(r#"{{"unavailable":true,"id":"{id}"}}"#)).collect();
        let data = format!(
            concat!(
                r#"{{"v":10,"user_settings":{{}},"user":{user},"session_type":"normal","session_id":"{session}","#,
                r#""resume_gateway_url":"wss://gateway-{index}.example","relationships":[],"private_channels":[],"#,
                r#""presences":[],"guilds":[{guilds}],"auth":{{}},"application":{{"id":"{id}","flags":565248}},"#,
                r#""_trace":{trace}}}"#
            ),
            user = self.own.1,
            session = source.hex(),
            index = self.index,
            guilds = guilds.join(","),
            id = self.own.0,
            trace = trace(self.index, r#"123456,\"calls\":[\"start_session\",{\"micros\":98765}]"#),
        );
        source.dispatch("READY", &data)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::*;

    fn parsed(traffic: Traffic) -> Vec<Value> {
        traffic.shard(0).map(|message| serde_json::from_slice(&message).expect("JSON")).collect()
    }

    #[test]
    fn shard_begins_with_hello_ready_and_guilds() {
        let all = parsed(Traffic::new(3).guilds(5).events(40));
        assert_eq!(all.len(), 47);
        assert_eq!((all[0]["op"].as_u64(), &all[0]["d"]["heartbeat_interval"]), (Some(10), &41250.into()));
        assert_eq!(all[1]["t"], "READY");
        let named: Vec<&Value> = all[1]["d"]["guilds"].as_array().unwrap().iter().map(|g| &g["id"]).collect();
        let made: Vec<&Value> =
            all.iter().filter(|m| m["t"] == "GUILD_CREATE").map(|m| &m["d"]["id"]).collect();
        assert_eq!(named, made);
        let sequence: Vec<u64> = all.iter().filter_map(|m| m["s"].as_u64()).collect();
        assert_eq!(sequence, (1..=sequence.len() as u64).collect::<Vec<_>>());
        for message in &all {
            assert_eq!(message["s"].is_null(), message["op"] != 0, "{message}");
        }
    }

    #[test]
    fn event_mix_matches_real_gateways() {
        let mut counts = BTreeMap::new();
        for message in parsed(Traffic::new(1).guilds(8).events(20_000)).split_off(10) {
            *counts.entry(message["t"].as_str().unwrap_or("").to_owned()).or_insert(0u32) += 1;
        }
        for (event, percent) in [
            ("MESSAGE_CREATE", 38.0),
            ("PRESENCE_UPDATE", 40.0),
            ("TYPING_START", 8.0),
            ("MESSAGE_REACTION_ADD", 5.0),
            ("GUILD_MEMBER_UPDATE", 4.0),
            ("VOICE_STATE_UPDATE", 4.0),
            ("", 1.0),
        ] {
            let had = 100.0 * f64::from(counts.remove(event).unwrap_or(0)) / 20_000.0;
            assert!((had - percent).abs() < 1.0, "{event}: {had}");
        }
        assert!(counts.is_empty(), "{counts:?}");
    }

    #[test]
    fn message_sizes_match_real_gateways() {
        let mut guilds: Vec<usize> = Traffic::new(1).shard(0).skip(2).take(120).map(|m| m.len()).collect();
        guilds.sort_unstable();
        assert!((2_000..15_000).contains(&guilds[0]), "{guilds:?}");
        assert!((30_000..75_000).contains(&guilds[60]), "{guilds:?}");
        assert!((250_000..1_000_000).contains(&guilds[119]), "{guilds:?}");
    }

    /// JDA and discord.py require the bit rate of every voice channel; discord.js warns of typing
    /// in a category.
    #[test]
    fn channels_have_the_fields_of_their_kind_and_events_name_channels_of_the_right_kind() {
        let all = parsed(Traffic::new(5).guilds(20).events(3000));
        let mut channels = BTreeMap::new();
        for guild in all.iter().filter(|m| m["t"] == "GUILD_CREATE").map(|m| &m["d"]) {
            for channel in guild["channels"].as_array().unwrap() {
                let kind = channel["type"].as_u64().unwrap();
                let spoken = [2, 13].contains(&kind);
                assert_eq!(channel["bitrate"].is_u64(), spoken, "{channel}");
                assert_eq!(channel["user_limit"].is_u64(), spoken, "{channel}");
                assert_eq!(channel["nsfw"].is_boolean(), kind != 4, "{channel}");
                channels.insert(channel["id"].as_str().unwrap(), (guild["id"].as_str().unwrap(), channel));
            }
            let everyone = &guild["roles"][0];
            assert_eq!((&everyone["id"], &everyone["name"]), (&guild["id"], &"@everyone".into()));
            let members = guild["members"].as_array().unwrap();
            assert!(members.iter().any(|member| member["user"]["id"] == all[1]["d"]["user"]["id"]));
            let speaking: Vec<&Value> =
                guild["voice_states"].as_array().unwrap().iter().map(|state| &state["user_id"]).collect();
            assert!(speaking.iter().enumerate().all(|(i, user)| !speaking[..i].contains(user)));
        }
        let kinds: Vec<u64> = channels.values().map(|(_, c)| c["type"].as_u64().unwrap()).collect();
        assert!([0, 2, 4, 5, 13].iter().all(|kind| kinds.contains(kind)));
        for (guild, channel) in channels.values() {
            if let Some(parent) = channel["parent_id"].as_str() {
                assert_eq!((channels[parent].0, &channels[parent].1["type"]), (*guild, &4.into()));
            }
        }
        for event in &all[22..] {
            let Some(id) = event["d"]["channel_id"].as_str() else { continue };
            let (guild, channel) = channels[id];
            assert_eq!(event["d"]["guild_id"], guild);
            let kinds: &[u64] = if event["t"] == "VOICE_STATE_UPDATE" { &[2, 13] } else { &[0, 5] };
            assert!(kinds.contains(&channel["type"].as_u64().unwrap()), "{event}");
            if event["t"] == "MESSAGE_CREATE" {
                assert_eq!(event["d"]["channel_type"], channel["type"]);
            }
        }
    }

    #[test]
    fn authors_recur_and_are_members_of_a_guild() {
        let all = parsed(Traffic::new(1).guilds(20).events(1000));
        let authors: Vec<&str> = all.iter().filter_map(|m| m["d"]["author"]["id"].as_str()).collect();
        let mut different = authors.clone();
        different.sort_unstable();
        different.dedup();
        assert!(different.len() < authors.len() * 9 / 10, "{} of {}", different.len(), authors.len());
        let known = |id| {
            all.iter().filter(|m| m["t"] == "GUILD_CREATE").any(|m| {
                m["d"]["members"].as_array().unwrap().iter().any(|member| member["user"]["id"] == id)
            })
        };
        assert!(different.iter().all(|id| known(*id)));
    }

    #[test]
    fn seeds_and_shards_differ_and_a_larger_number_of_events_only_appends() {
        let all = |seed, index, events| -> Vec<_> {
            Traffic::new(seed).guilds(2).events(events).shard(index).collect()
        };
        let one = all(1, 0, 20);
        assert_ne!(one[2], all(2, 0, 20)[2]);
        assert_ne!(one[2], all(1, 1, 20)[2]);
        assert_eq!(one[..], all(1, 0, 50)[..24]);
        assert_eq!(Traffic::new(1).guilds(0).events(3).shard(0).len(), 5);
        assert_eq!(Traffic::new(1).guilds(0).events(3).shard(0).count(), 5);
    }
}
