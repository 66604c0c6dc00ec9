//! The gateway on loopback: what a client of it gets, with and without trouble.

#[path = "../examples/client.rs"]
#[allow(dead_code)]
mod client;
mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use client::{Client, Counts};
use linerate_gateway::fake::{Events, Report, Script, Server, Trouble};
use linerate_gateway::{Encoder, Encoding, Envelope, Kind, Limits, Scratch, Session, Transport};
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

const BOTH: [Transport; 2] = [Transport::Zlib, Transport::Zstd];

/// Messages as a recording has them, and a script that serves them. A server that is left running by a
/// failure ends by itself.
fn script(events: usize) -> (Vec<Vec<u8>>, Script) {
    let messages = common::traffic(7, 3, events);
    let mut script = Script::new().with_events(Events::new(&messages).unwrap());
    script.time = Duration::from_secs(60);
    (messages, script)
}

/// What of the messages is an event and not the connection's own, each without its number.
fn expected(messages: &[Vec<u8>]) -> Vec<String> {
    let texts = messages.iter().map(|m| std::str::from_utf8(m).unwrap());
    texts.filter(|t| t.contains("\"op\":0") && !t.contains("\"READY\"")).map(without_number).collect()
}

fn without_number(text: &str) -> String {
    let start = text.find("\"s\":").unwrap() + 4;
    let end = start + text[start..].find(',').unwrap();
    format!("{}{}", &text[..start], &text[end..])
}

/// Runs the client of the example until it has so many events besides READY and RESUMED.
fn fetch(url: &str, transport: Transport, wanted: usize) -> (Vec<String>, Counts) {
    let mut got = Vec::new();
    let mut client = Client::new(url, transport);
    let mut sequence = 0;
    client
        .run(|envelope, payload| {
            let number = envelope.sequence.unwrap();
            // A session that begins anew begins at 1.
            assert!(number == sequence + 1 || number == 1, "{number} behind {sequence}");
            sequence = number;
            if !matches!(envelope.event, Some("READY" | "RESUMED")) {
                got.push(without_number(std::str::from_utf8(payload).unwrap()));
            }
            if got.len() == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    (got, client.counts)
}

/// Both transports with the same script: all events arrive, each once and in their order.
fn all_arrive(events: usize, change: impl Fn(&mut Script) + Sync) -> [(Counts, Report); 2] {
    let one = |transport| {
        let (messages, mut script) = script(events);
        change(&mut script);
        let server = Server::start(script).unwrap();
        let expected = expected(&messages);
        let (got, counts) = fetch(server.url(), transport, expected.len());
        assert!(got == expected, "{transport:?}: {counts:?}");
        (counts, server.stop())
    };
    std::thread::scope(|scope| {
        let one = &one;
        BOTH.map(|transport| scope.spawn(move || one(transport))).map(|thread| thread.join().unwrap())
    })
}

#[test]
fn everything_arrives_as_it_was_given() {
    for (counts, report) in all_arrive(300, |_| {}) {
        assert_eq!((counts.connections, counts.identifies, counts.resumes), (1, 1, 0));
        assert_eq!((report.connections, report.identifies, report.resumes), (1, 1, 0));
        assert_eq!(report.events, counts.events);
        assert_eq!(report.messages, report.events + 1, "HELLO");
        assert!(report.compressed < report.bytes / 2, "{report:?}");
        assert_eq!(report.closed_by_clients, [(1000, 1)].into());
    }
}

#[test]
fn lost_connections_are_resumed() {
    for trouble in [Trouble::Close(4000), Trouble::Disconnect, Trouble::Reconnect] {
        let made = all_arrive(100, |script| {
            script.trouble(1, trouble).trouble(40, trouble).trouble(41, trouble);
        });
        for (counts, report) in made {
            assert_eq!((counts.identifies, counts.resumes), (1, 3), "{trouble:?}");
            assert_eq!(counts.faults, []);
            assert_eq!((report.identifies, report.resumes, report.troubles), (1, 3, 3));
            assert_eq!(report.connections, 4);
        }
    }
}

#[test]
fn sessions_that_end_begin_anew() {
    for (transport, trouble) in BOTH.into_iter().zip([Trouble::Invalidate, Trouble::Close(4009)]) {
        let (messages, mut script) = script(100);
        // It does not take a session that it ended itself for the end of its client.
        script.once = true;
        script.trouble(30, trouble);
        let server = Server::start(script).unwrap();
        let expected = expected(&messages);
        let (got, counts) = fetch(server.url(), transport, 29 + expected.len());
        assert!(got[..29] == expected[..29] && got[29..] == expected);
        // After 4009 the client tries to resume first.
        let tries = u32::from(trouble != Trouble::Invalidate);
        assert_eq!((counts.identifies, counts.resumes), (2, tries));
        assert_eq!(server.stop().invalid, u64::from(tries));
    }
}

#[test]
fn fragments_are_put_together() {
    for bytes in [1, 4, 700] {
        let made = all_arrive(20, |script| script.fragment = NonZeroUsize::new(bytes));
        assert!(made.iter().all(|(counts, _)| counts.connections == 1 && counts.faults.is_empty()));
    }
}

#[test]
fn damage_is_noticed_and_repaired_by_resuming() {
    for trouble in [Trouble::Flip(1), Trouble::Truncate, Trouble::Drop] {
        let made = all_arrive(120, |script| {
            script.trouble(20, trouble).trouble(50, trouble);
        });
        for (counts, report) in made {
            assert_eq!(counts.faults.len(), 2, "{trouble:?}: {counts:?}");
            assert_eq!((counts.identifies, counts.resumes), (1, 2));
            assert_eq!(report.closed_by_clients, [(1000, 1), (4000, 2)].into());
        }
    }
}

#[test]
fn a_flip_in_the_type_of_a_block_is_a_fault_at_once() {
    let made = all_arrive(120, |script| {
        script.trouble(20, Trouble::Flip(1));
    });
    for (counts, _) in made {
        // HELLO and nineteen events came before it.
        assert_eq!(
            counts.faults.iter().map(|f| (f.kind(), f.message)).collect::<Vec<_>>(),
            [(Kind::Corrupt, 20)]
        );
    }
}

#[test]
fn everything_at_once() {
    let made = all_arrive(200, |script| {
        script.fragment = NonZeroUsize::new(100);
        script.trouble(10, Trouble::Close(4000)).trouble(11, Trouble::Flip(1)).trouble(30, Trouble::Drop);
        script
            .trouble(60, Trouble::Truncate)
            .trouble(90, Trouble::Disconnect)
            .trouble(120, Trouble::Reconnect);
    });
    assert!(made.iter().all(|(counts, report)| counts.faults.len() == 3 && report.troubles >= 6));
}

#[test]
fn heartbeats_are_acknowledged() {
    for (counts, report) in all_arrive(20, |script| {
        script.heartbeat_interval = Duration::from_millis(500);
        script.pause = Duration::from_millis(60);
    }) {
        assert!(counts.heartbeats >= 2, "{counts:?}");
        assert_eq!((counts.connections, report.heartbeats), (1, counts.heartbeats));
        assert!(counts.acknowledgements + 1 >= counts.heartbeats);
    }
}

#[test]
fn a_heartbeat_without_acknowledgement_costs_the_connection() {
    for (counts, report) in all_arrive(30, |script| {
        script.heartbeat_interval = Duration::from_millis(500);
        script.pause = Duration::from_millis(60);
        script.unacknowledged = 1;
    }) {
        assert_eq!((counts.connections, counts.resumes, report.resumes), (2, 1, 1));
        assert!(counts.acknowledgements + 2 >= counts.heartbeats && report.heartbeats == counts.heartbeats);
    }
}

#[test]
fn events_keep_their_pause() {
    let begun = Instant::now();
    all_arrive(0, |script| script.pause = Duration::from_millis(20));
    // READY and three groups: three pauses, whatever the machine is doing.
    assert!(begun.elapsed() >= Duration::from_millis(3 * 20));
}

#[test]
fn times_may_be_endless() {
    let (_, mut script) = script(0);
    script.heartbeat_interval = Duration::MAX;
    script.pause = Duration::MAX;
    script.time = Duration::MAX;
    script.bounds.patience = Duration::MAX;
    script.bounds.resume = Duration::MAX;
    let server = Server::start(script).unwrap();
    let mut talker = Talker::connect(&server, "");
    talker.identify();
    talker.say(&json!({ "op": 1, "d": 1 }));
    // READY is all there is for a long time.
    assert_eq!(talker.payload()["op"], 11);
    drop(talker);
    server.stop();
}

/// A client that says exactly what a test wants it to.
struct Talker {
    socket: WebSocket<TcpStream>,
    session: Option<Session>,
    scratch: Scratch,
}

/// What a talker hears.
#[derive(Debug, PartialEq)]
enum Heard {
    Payload(Value),
    Closed(u16),
    /// The end without a word.
    Cut,
}

impl Talker {
    fn connect(server: &Server, query: &str) -> Talker {
        let stream = TcpStream::connect(server.addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let url = format!("{}/{query}", server.url());
        let (socket, _) = tungstenite::client::client(url, stream).unwrap();
        let transport = match query {
            q if q.contains("zlib-stream") => Some(Transport::Zlib),
            q if q.contains("zstd-stream") => Some(Transport::Zstd),
            _ => None,
        };
        let session = transport.map(|transport| Session::new(transport, Limits::new()));
        Talker { socket, session, scratch: Scratch::new() }
    }

    fn say(&mut self, value: &Value) {
        self.socket.send(Message::text(value.to_string())).unwrap();
    }

    fn hear(&mut self) -> Heard {
        loop {
            let frame = match self.socket.read() {
                Ok(Message::Close(frame)) => return Heard::Closed(frame.map_or(1005, |f| f.code.into())),
                Ok(Message::Text(text)) if self.session.is_none() => text.as_bytes().to_vec(),
                Ok(Message::Binary(frame)) if self.session.is_some() => frame.to_vec(),
                Ok(Message::Ping(_) | Message::Pong(_)) => continue,
                Ok(other) => panic!("{other:?}"),
                Err(tungstenite::Error::Io(e)) if matches!(e.kind(), std::io::ErrorKind::WouldBlock) => {
                    panic!("silence")
                }
                Err(_) => return Heard::Cut,
            };
            let Some(session) = &mut self.session else {
                return Heard::Payload(serde_json::from_slice(&frame).unwrap());
            };
            if let Some(message) = session.message(&frame, &mut self.scratch).unwrap() {
                return Heard::Payload(serde_json::from_slice(message.payload).unwrap());
            }
        }
    }

    fn payload(&mut self) -> Value {
        match self.hear() {
            Heard::Payload(value) => value,
            other => panic!("{other:?}"),
        }
    }

    /// The close code, after whatever else comes.
    fn closed(&mut self) -> u16 {
        loop {
            match self.hear() {
                Heard::Payload(_) => {}
                Heard::Closed(code) => return code,
                Heard::Cut => panic!("no close code"),
            }
        }
    }

    /// Identifies itself and returns READY.
    fn identify(&mut self) -> Value {
        assert_eq!(self.payload()["op"], 10);
        self.say(&json!({ "op": 2, "d": { "token": "t", "shard": [2, 5] } }));
        let ready = self.payload();
        assert_eq!(ready["t"], "READY");
        ready
    }
}

fn resume(id: &Value, sequence: u64) -> Value {
    json!({ "op": 6, "d": { "token": "t", "session_id": id, "seq": sequence } })
}

#[test]
fn ready_has_what_clients_look_for_in_every_transport() {
    let (messages, script) = script(5);
    let server = Server::start(script).unwrap();
    let given: Value = serde_json::from_slice(&messages[1]).unwrap();
    for query in ["?v=10&encoding=json&compress=zlib-stream", "?compress=zstd-stream", "?v=9", ""] {
        let ready = Talker::connect(&server, query).identify();
        let data = &ready["d"];
        assert_eq!((&ready["s"], &data["v"]), (&json!(1), &json!(10)));
        assert_eq!(data["user"], given["d"]["user"]);
        assert_eq!(data["resume_gateway_url"], server.url());
        assert_eq!(data["shard"], json!([2, 5]));
        assert_eq!(data["application"]["id"], data["user"]["id"]);
        assert!(data["guilds"].is_array() && data["session_id"].as_str().unwrap().len() == 32);
    }
}

#[test]
fn compressed_bytes_are_those_of_the_encoder() {
    let (_, script) = script(0);
    let server = Server::start(script).unwrap();
    let mut talker = Talker::connect(&server, "?compress=zstd-stream");
    let Ok(Message::Binary(wire)) = talker.socket.read() else { panic!("no HELLO") };
    let mut scratch = Scratch::new();
    let mut session = Session::new(Transport::Zstd, Limits::new());
    let hello = session.message(&wire, &mut scratch).unwrap().unwrap().payload.to_vec();
    let mut again = Vec::new();
    Encoder::new(Transport::Zstd).unwrap().message(&hello, &mut again).unwrap();
    assert_eq!(&wire[..], again);
    assert_eq!(wire[..6], [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x30]);
}

#[test]
fn what_the_protocol_forbids_is_closed_with_its_code() {
    let (_, mut script) = script(3);
    script.bounds.messages_per_minute = 20;
    script.bounds.message = 1000;
    let server = Server::start(script).unwrap();
    let hello = |query| {
        let mut talker = Talker::connect(&server, query);
        assert_eq!(talker.payload()["op"], 10);
        talker
    };
    let mut count = 0;
    let mut expect = |code: u16, messages: &[Value]| {
        let mut talker = hello("");
        messages.iter().for_each(|message| talker.say(message));
        assert_eq!(talker.closed(), code, "{messages:?}");
        count += 1;
    };
    let identify = || json!({ "op": 2, "d": { "token": "t" } });
    expect(4001, &[json!({ "op": 99 })]);
    expect(4002, &[json!("no object")]);
    expect(4002, &[json!({ "op": 6, "d": {} })]);
    expect(4003, &[json!({ "op": 3, "d": {} })]);
    expect(4004, &[json!({ "op": 2, "d": { "token": "" } })]);
    expect(4005, &[identify(), identify()]);
    expect(4008, &vec![json!({ "op": 1, "d": null }); 21]);
    for shard in [json!([1, 1]), json!([0]), json!("0"), json!([0, 1 << 20])] {
        expect(4010, &[json!({ "op": 2, "d": { "token": "t", "shard": shard } })]);
    }
    expect(1009, &[json!({ "op": 2, "d": { "token": "x".repeat(1000) } })]);
    assert_eq!(hello("?v=5").closed(), 4012);
    let mut silent = hello("");
    silent.socket.send(Message::text("{")).unwrap();
    assert_eq!(silent.closed(), 4002);
    let report = server.stop();
    assert_eq!(report.closed_by_server.values().sum::<u64>(), count + 2);
}

#[test]
fn sessions_are_resumed_by_their_name_and_number_only() {
    let (_, script) = script(3);
    let server = Server::start(script).unwrap();
    let mut first = Talker::connect(&server, "?compress=zlib-stream");
    let id = first.identify()["d"]["session_id"].clone();
    let last = first.payload()["s"].as_u64().unwrap();
    drop(first);
    let mut talker = Talker::connect(&server, "?compress=zlib-stream");
    assert_eq!(talker.payload()["op"], 10);
    for name in [json!("x"), json!("é".repeat(16)), json!("0".repeat(32)), json!("f".repeat(200))] {
        talker.say(&resume(&name, last));
        assert_eq!(talker.payload(), json!({ "t": null, "s": null, "op": 9, "d": false }));
    }
    talker.say(&resume(&id, 1_000_000));
    assert_eq!(talker.closed(), 4007);
    assert_eq!(server.report().invalid, 4);
}

#[test]
fn what_was_missed_comes_again_then_resumed_then_the_rest() {
    let (messages, script) = script(0);
    let server = Server::start(script).unwrap();
    let mut first = Talker::connect(&server, "?compress=zstd-stream");
    let id = first.identify()["d"]["session_id"].clone();
    while first.payload()["s"] != 4 {}
    drop(first);
    let mut second = Talker::connect(&server, "?compress=zstd-stream");
    assert_eq!(second.payload()["op"], 10);
    second.say(&resume(&id, 2));
    let seen: Vec<_> = (0..3).map(|_| second.payload()).map(|p| (p["s"].clone(), p["t"].clone())).collect();
    assert_eq!(expected(&messages).len(), 3);
    assert_eq!(
        seen,
        [(3, "GUILD_CREATE"), (4, "GUILD_CREATE"), (5, "RESUMED")].map(|(s, t)| (json!(s), json!(t)))
    );
    second.say(&json!({ "op": 1, "d": 5 }));
    assert_eq!(second.payload()["op"], 11);
}

#[test]
fn a_session_that_is_resumed_elsewhere_leaves_its_connection() {
    let (_, mut script) = script(100);
    script.pause = Duration::from_millis(20);
    let server = Server::start(script).unwrap();
    let mut first = Talker::connect(&server, "");
    let id = first.identify()["d"]["session_id"].clone();
    let mut second = Talker::connect(&server, "");
    assert_eq!(second.payload()["op"], 10);
    second.say(&resume(&id, 1));
    let next = second.payload();
    assert!(next["s"] == 2, "{next}");
    assert_eq!(first.closed(), 4000);
    assert!(matches!(second.hear(), Heard::Payload(_)));
}

#[test]
fn commands_are_counted() {
    let (_, script) = script(0);
    let server = Server::start(script).unwrap();
    let mut talker = Talker::connect(&server, "");
    talker.identify();
    for op in [3, 4, 8] {
        talker.say(&json!({ "op": op, "d": {} }));
    }
    talker.say(&json!({ "op": 1, "d": null }));
    while talker.payload()["op"] != 11 {}
    assert_eq!((server.report().commands, server.report().heartbeats), (3, 1));
}

#[test]
fn members_that_were_asked_for_come_as_an_event_and_again_after_a_resume() {
    let mut script = Script::new().with_events(Events::sample());
    script.time = Duration::from_secs(60);
    let events = script.events.len() as u64;
    let server = Server::start(script).unwrap();
    let mut first = Talker::connect(&server, "?compress=zlib-stream");
    let id = first.identify()["d"]["session_id"].clone();
    let guild = first.payload()["d"]["id"].clone();
    first.say(&json!({ "op": 8, "d": { "guild_id": guild, "query": "", "limit": 0, "nonce": "7" } }));
    let chunk = |talker: &mut Talker| loop {
        let event = talker.payload();
        if event["t"] == "GUILD_MEMBERS_CHUNK" {
            break event;
        }
    };
    let answer = chunk(&mut first);
    assert_eq!((&answer["d"]["nonce"], answer["d"]["members"].as_array().unwrap().len()), (&json!("7"), 4));
    drop(first);
    let mut second = Talker::connect(&server, "?compress=zlib-stream");
    second.say(&resume(&id, 2));
    assert_eq!(chunk(&mut second), answer);
    // All events, READY, the answer, RESUMED: none is missing, and each number is there once.
    let last = answer["s"].as_u64().unwrap();
    let rest: Vec<u64> = (last..events + 3).map(|_| second.payload()["s"].as_u64().unwrap()).collect();
    assert_eq!(rest, (last + 1..=events + 3).collect::<Vec<_>>());
}

/// A request over HTTP: the status and the body.
fn request(server: &Server, text: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(server.addr).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("Content-Length: {}", body.len())));
    (head[9..12].parse().unwrap(), body.to_owned())
}

fn get(server: &Server, path: &str) -> (u16, Value) {
    let (status, body) =
        request(server, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bot t\r\n\r\n"));
    (status, serde_json::from_str(&body).unwrap())
}

#[test]
fn clients_find_the_gateway_and_themselves_over_http() {
    let (messages, script) = script(0);
    let server = Server::start(script).unwrap();
    let given: Value = serde_json::from_slice(&messages[1]).unwrap();
    assert_eq!(get(&server, "/api/v10/gateway"), (200, json!({ "url": server.url() })));
    let (status, bot) = get(&server, "/api/v10/gateway/bot?x=y");
    assert_eq!((status, &bot["url"], &bot["shards"]), (200, &json!(server.url()), &json!(1)));
    assert!(bot["session_start_limit"]["remaining"].as_u64().unwrap() > 0);
    assert_eq!(get(&server, "/api/v10/users/@me"), (200, given["d"]["user"].clone()));
    assert_eq!(get(&server, "/api/v10/channels/1").0, 404);
    assert_eq!(get(&server, "/").0, 404);
    let post = "POST /api/v10/gateway HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(request(&server, post).0, 405);
    let report = server.stop();
    assert_eq!((report.requests, report.connections, report.refused), (6, 0, 0));
}

#[test]
fn what_the_server_does_not_speak_is_refused_with_a_sentence() {
    let (_, script) = script(0);
    let server = Server::start(script).unwrap();
    let upgrade = |query: &str, more: &str| {
        request(
            &server,
            &format!(
                "GET /{query} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{more}\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            ),
        )
    };
    let version = "Sec-WebSocket-Version: 13\r\n";
    for (query, why) in
        [("?encoding=xml", "encoding is json, etf or absent"), ("?compress=gzip", "compress is")]
    {
        let (status, body) = upgrade(query, version);
        assert!(status == 400 && body.contains(why), "{body}");
    }
    assert_eq!(upgrade("", "Sec-WebSocket-Version: 8\r\n").0, 426);
    assert_eq!(server.stop().refused, 3);
}

#[test]
fn it_ends_by_itself_after_its_clients_or_its_time() {
    let (messages, mut once) = script(10);
    once.once = true;
    once.trouble(5, Trouble::Close(4000));
    let server = Server::start(once).unwrap();
    let (got, _) = fetch(server.url(), Transport::Zstd, expected(&messages).len());
    assert_eq!(got, expected(&messages));
    let (addr, report) = (server.addr, server.wait());
    assert_eq!((report.identifies, report.resumes), (1, 1));
    assert!(TcpStream::connect(addr).is_err());

    let (_, mut short) = script(0);
    short.time = Duration::from_millis(1500);
    let server = Server::start(short).unwrap();
    let mut talker = Talker::connect(&server, "");
    talker.identify();
    assert_eq!(talker.closed(), 1001);
    server.wait();
}

#[test]
fn a_client_that_never_comes_back_ends_it_too() {
    let (_, mut script) = script(0);
    script.once = true;
    script.bounds.resume = Duration::from_millis(100);
    let server = Server::start(script).unwrap();
    Talker::connect(&server, "").identify();
    let report = server.wait();
    assert_eq!((report.identifies, report.closed_by_clients.len()), (1, 0));
}

#[test]
fn each_shard_has_its_own_trouble() {
    let (_, mut script) = script(0);
    script.trouble(1, Trouble::Disconnect);
    let server = Server::start(script).unwrap();
    let run = |id: u64| {
        let mut talker = Talker::connect(&server, "");
        talker.payload();
        talker.say(&json!({ "op": 2, "d": { "token": "t", "shard": [id, 2] } }));
        talker.payload();
        talker.hear()
    };
    assert_eq!(run(0), Heard::Cut);
    assert_eq!(run(1), Heard::Cut);
    assert!(matches!(run(0), Heard::Payload(_)));
}

/// A value as a term: texts as binaries, numbers as integers of four bytes.
fn term(value: &Value) -> Vec<u8> {
    let binary = |text: &str| [&[109][..], &(text.len() as u32).to_be_bytes(), text.as_bytes()].concat();
    match value {
        Value::String(text) => binary(text),
        Value::Number(number) => [&[98][..], &(number.as_i64().unwrap() as i32).to_be_bytes()].concat(),
        Value::Object(members) => {
            let mut term = [&[116][..], &(members.len() as u32).to_be_bytes()].concat();
            members.iter().for_each(|(key, value)| term.extend([binary(key), self::term(value)].concat()));
            term
        }
        other => panic!("{other}"),
    }
}

/// A client that speaks ETF, and what it hears: opcodes, numbers and names.
fn fetch_terms(server: &Server, query: &str, most: usize) -> Vec<(Option<u64>, Option<u64>, Option<String>)> {
    let transport = query.contains("zlib").then_some(Transport::Zlib);
    let transport = transport.or(query.contains("zstd").then_some(Transport::Zstd));
    let mut session = transport.map(|transport| Session::new(transport, Limits::new()));
    let mut talker = Talker::connect(server, query);
    let mut scratch = Scratch::new();
    let mut heard = Vec::new();
    while heard.len() < most {
        let Message::Binary(frame) = talker.socket.read().unwrap() else { panic!("terms are binary") };
        let payload = match &mut session {
            None => frame.to_vec(),
            Some(session) => match session.message(&frame, &mut scratch).unwrap() {
                Some(message) => message.payload.to_vec(),
                None => continue,
            },
        };
        let envelope = Envelope::read(&payload, Encoding::Etf).unwrap();
        heard.push((envelope.op, envelope.sequence, envelope.event.map(str::to_owned)));
        if envelope.op == Some(10) {
            let identify = term(&json!({ "op": 2, "d": { "token": "t" } }));
            talker.socket.send(Message::binary([&[131][..], &identify].concat())).unwrap();
        }
    }
    talker.socket.close(None).unwrap();
    heard
}

#[test]
fn clients_that_ask_for_etf_get_the_same_events_as_terms() {
    let (messages, script) = script(50);
    let names = messages.iter().map(|message| serde_json::from_slice::<Value>(message).unwrap());
    let names: Vec<String> = names.filter_map(|message| Some(message["t"].as_str()?.to_owned())).collect();
    let server = Server::start(script).unwrap();
    for query in ["?encoding=etf", "?encoding=etf&compress=zlib-stream", "?encoding=etf&compress=zstd-stream"]
    {
        let heard = fetch_terms(&server, query, names.len() + 1);
        assert_eq!(heard[0], (Some(10), None, None));
        let numbers: Vec<_> = heard[1..].iter().map(|(_, number, _)| number.unwrap()).collect();
        assert_eq!(numbers, (1..=names.len() as u64).collect::<Vec<_>>());
        assert!(heard[1..].iter().map(|(_, _, name)| name.as_ref().unwrap()).eq(&names), "{query}");
    }
    assert_eq!(server.report().identifies, 3);
    // JSON is no term.
    let mut talker = Talker::connect(&server, "?encoding=etf");
    talker.socket.read().unwrap();
    talker.say(&json!({ "op": 2, "d": { "token": "t" } }));
    let closed = loop {
        if let Message::Close(frame) = talker.socket.read().unwrap() {
            break frame.unwrap().code;
        }
    };
    assert_eq!(u16::from(closed), 4002);
}

/// As many as descriptors allow, of which each takes two here.
fn many() -> usize {
    #[cfg(unix)]
    let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let descriptors = None;
    let spare = descriptors.map_or(usize::MAX, |n| (n as usize).saturating_sub(300) / 2);
    spare.clamp(300, 1500)
}

#[test]
fn thousands_are_served_at_the_same_time() {
    let mut script = Script::new();
    script.time = Duration::from_secs(120);
    script.bounds.patience = script.time;
    let server = Server::start(script).unwrap();
    let count = many();
    let mut all: Vec<Talker> = (0..count).map(|_| Talker::connect(&server, "")).collect();
    // READY comes while all of them are connected, and then they are all still there.
    all.iter_mut().for_each(|talker| drop(talker.identify()));
    for talker in &mut all {
        talker.say(&json!({ "op": 1, "d": 1 }));
    }
    for talker in &mut all {
        while talker.payload()["op"] != 11 {}
    }
    let report = server.report();
    assert_eq!((report.connections, report.identifies), (count as u64, count as u64));
    assert_eq!((report.heartbeats, report.refused), (count as u64, 0));
    server.stop();
    assert!(all.iter_mut().all(|talker| talker.closed() == 1001));
}
