//! Tests what clients receive, with and without injected faults.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use linerate_gateway::{Encoder, Encoding, Envelope, Kind, Limits, Scratch, Session, Transport};
use linerate_gateway_sim::traffic::Traffic;
use linerate_gateway_sim::{Client, ClientCounts, Events, InjectedFault, Report, Script, Server};
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

const BOTH: [Transport; 2] = [Transport::Zlib, Transport::Zstd];

/// Generated messages, and a script that serves them. Its server stops by itself if a test fails.
fn script(events: usize) -> (Vec<Vec<u8>>, Script) {
    let messages = Traffic::new(7).guilds(3).events(events).shard(0).collect::<Vec<_>>();
    let mut script = Script::new().events(Events::new(&messages).unwrap());
    script.max_duration = Duration::from_secs(60);
    (messages, script)
}

/// The messages that a client must receive as events, without sequence numbers.
fn expected(messages: &[Vec<u8>]) -> Vec<String> {
    let texts = messages.iter().map(|m| std::str::from_utf8(m).unwrap());
    texts.filter(|t| t.contains("\"op\":0") && !t.contains("\"READY\"")).map(without_number).collect()
}

fn without_number(text: &str) -> String {
    let start = text.find("\"s\":").unwrap() + 4;
    let end = start + text[start..].find(',').unwrap();
    format!("{}{}", &text[..start], &text[end..])
}

/// Runs a client until it has `wanted` events besides READY and RESUMED.
fn fetch(url: &str, transport: Transport, wanted: usize) -> (Vec<String>, ClientCounts) {
    let mut got = Vec::new();
    let mut client = Client::new(url, transport);
    let mut sequence = 0;
    client
        .run(|envelope, payload| {
            let number = envelope.sequence.unwrap();
            // A new session starts at 1.
            assert!(number == sequence + 1 || number == 1, "{number} after {sequence}");
            sequence = number;
            if !matches!(envelope.event, Some("READY" | "RESUMED")) {
                got.push(without_number(std::str::from_utf8(payload).unwrap()));
            }
            if got.len() == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    (got, client.counts().clone())
}

/// Asserts for both transports that all events of a script arrive once and in order.
fn assert_all_arrive(events: usize, change: impl Fn(&mut Script) + Sync) -> [(ClientCounts, Report); 2] {
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
fn all_events_arrive_unchanged() {
    for (counts, report) in assert_all_arrive(300, |_| {}) {
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
    for fault in [InjectedFault::Close(4000), InjectedFault::Disconnect, InjectedFault::Reconnect] {
        let made = assert_all_arrive(100, |script| {
            script.inject_fault(1, fault).inject_fault(40, fault).inject_fault(41, fault);
        });
        for (counts, report) in made {
            assert_eq!((counts.identifies, counts.resumes), (1, 3), "{fault:?}");
            assert_eq!(counts.errors, []);
            assert_eq!((report.identifies, report.resumes, report.faults), (1, 3, 3));
            assert_eq!(report.connections, 4);
        }
    }
}

#[test]
fn client_identifies_again_after_its_session_ends() {
    for (transport, fault) in BOTH.into_iter().zip([InjectedFault::Invalidate, InjectedFault::Close(4009)]) {
        let (messages, mut script) = script(100);
        // The server does not count a session that it invalidated as ended by the client.
        script.once = true;
        script.inject_fault(30, fault);
        let server = Server::start(script).unwrap();
        let expected = expected(&messages);
        let (got, counts) = fetch(server.url(), transport, 29 + expected.len());
        assert!(got[..29] == expected[..29] && got[29..] == expected);
        // After 4009 the client tries to resume first.
        let tries = u32::from(fault != InjectedFault::Invalidate);
        assert_eq!((counts.identifies, counts.resumes), (2, tries));
        assert_eq!(server.stop().invalid, u64::from(tries));
    }
}

#[test]
fn fragmented_messages_are_reassembled() {
    for bytes in [1, 4, 700] {
        let made = assert_all_arrive(20, |script| script.fragment = NonZeroUsize::new(bytes));
        assert!(made.iter().all(|(counts, _)| counts.connections == 1 && counts.errors.is_empty()));
    }
}

#[test]
fn damaged_messages_are_detected_and_sent_again_after_resume() {
    for fault in [InjectedFault::Flip(1), InjectedFault::Truncate, InjectedFault::Drop] {
        let made = assert_all_arrive(120, |script| {
            script.inject_fault(20, fault).inject_fault(50, fault);
        });
        for (counts, report) in made {
            assert_eq!(counts.errors.len(), 2, "{fault:?}: {counts:?}");
            assert_eq!((counts.identifies, counts.resumes), (1, 2));
            assert_eq!(report.closed_by_clients, [(1000, 1), (4000, 2)].into());
        }
    }
}

#[test]
fn flipped_block_type_is_an_error_at_that_message() {
    let made = assert_all_arrive(120, |script| {
        script.inject_fault(20, InjectedFault::Flip(1));
    });
    for (counts, _) in made {
        // HELLO and nineteen events precede it.
        assert_eq!(
            counts.errors.iter().map(|e| (e.kind(), e.message_index)).collect::<Vec<_>>(),
            [(Kind::Corrupt, 20)]
        );
    }
}

#[test]
fn every_kind_of_fault_in_one_run_is_recovered_from() {
    let made = assert_all_arrive(200, |script| {
        script.fragment = NonZeroUsize::new(100);
        script
            .inject_fault(10, InjectedFault::Close(4000))
            .inject_fault(11, InjectedFault::Flip(1))
            .inject_fault(30, InjectedFault::Drop);
        script
            .inject_fault(60, InjectedFault::Truncate)
            .inject_fault(90, InjectedFault::Disconnect)
            .inject_fault(120, InjectedFault::Reconnect);
    });
    assert!(made.iter().all(|(counts, report)| counts.errors.len() == 3 && report.faults >= 6));
}

#[test]
fn heartbeats_are_acknowledged() {
    for (counts, report) in assert_all_arrive(20, |script| {
        script.heartbeat_interval = Duration::from_millis(500);
        script.pause = Duration::from_millis(60);
    }) {
        assert!(counts.heartbeats >= 2, "{counts:?}");
        assert_eq!((counts.connections, report.heartbeats), (1, counts.heartbeats));
        assert!(counts.acknowledgements + 1 >= counts.heartbeats);
    }
}

#[test]
fn client_reconnects_after_an_unacknowledged_heartbeat() {
    for (counts, report) in assert_all_arrive(30, |script| {
        script.heartbeat_interval = Duration::from_millis(500);
        script.pause = Duration::from_millis(60);
        script.unacknowledged = 1;
    }) {
        assert_eq!((counts.connections, counts.resumes, report.resumes), (2, 1, 1));
        assert!(counts.acknowledgements + 2 >= counts.heartbeats && report.heartbeats == counts.heartbeats);
    }
}

#[test]
fn client_answers_each_requested_heartbeat_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let gateway = std::thread::spawn(move || {
        let mut socket = tungstenite::accept(listener.accept().unwrap().0).unwrap();
        let mut encoder = Encoder::new(Transport::Zlib).unwrap();
        let mut say = |text: &str| {
            let mut wire = Vec::new();
            encoder.message(text.as_bytes(), &mut wire).unwrap();
            socket.send(Message::binary(wire)).unwrap();
            if text.contains("READY") { Value::Null } else { heard(&mut socket) }
        };
        assert_eq!(say(r#"{"op":10,"d":{"heartbeat_interval":100000}}"#)["op"], 2);
        // No heartbeat is acknowledged.
        assert_eq!(say(r#"{"op":1,"d":null}"#)["op"], 1);
        assert_eq!(say(r#"{"op":1,"d":null}"#)["op"], 1);
        say(r#"{"op":0,"t":"READY","s":1,"d":{}}"#);
        heard(&mut socket)
    });
    let mut client = Client::new(&url, Transport::Zlib);
    client.run(|_, _| ControlFlow::Break(())).unwrap();
    assert_eq!((client.counts().connections, client.counts().heartbeats), (1, 2));
    assert_eq!(gateway.join().unwrap(), Value::Null);
}

/// The next payload of a client, or null if it closes.
fn heard(socket: &mut WebSocket<TcpStream>) -> Value {
    socket
        .read()
        .unwrap()
        .to_text()
        .map_or(Value::Null, |text| serde_json::from_str(text).unwrap_or_default())
}

#[test]
fn events_are_sent_with_the_scripted_pause() {
    let begun = Instant::now();
    assert_all_arrive(0, |script| script.pause = Duration::from_millis(20));
    // READY and three guilds have at least three pauses between them, however slow the machine is.
    assert!(begun.elapsed() >= Duration::from_millis(3 * 20));
}

#[test]
fn maximum_durations_are_accepted() {
    let (_, mut script) = script(0);
    script.heartbeat_interval = Duration::MAX;
    script.pause = Duration::MAX;
    script.max_duration = Duration::MAX;
    script.limits.timeout = Duration::MAX;
    script.limits.resume_timeout = Duration::MAX;
    let server = Server::start(script).unwrap();
    let mut talker = Talker::connect(&server, "");
    talker.identify();
    talker.say(&json!({ "op": 1, "d": 1 }));
    // Only READY is sent for a long time.
    assert_eq!(talker.payload()["op"], 11);
    drop(talker);
    server.stop();
}

/// A client that sends exactly what a test asks for.
struct Talker {
    socket: WebSocket<TcpStream>,
    session: Option<Session>,
    scratch: Scratch,
}

/// Something that a talker receives.
#[derive(Debug, PartialEq)]
enum Heard {
    Payload(Value),
    Closed(u16),
    /// The connection ended without a close frame.
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

    /// Skips other messages and returns the close code.
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
fn ready_has_all_required_members_on_every_transport() {
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
fn compressed_bytes_equal_those_of_the_encoder() {
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
fn protocol_violations_close_with_their_code() {
    let (_, mut script) = script(3);
    script.limits.messages_per_minute = 20;
    script.limits.message = 1000;
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
    for query in ["?v=5", "?v=+9"] {
        assert_eq!(hello(query).closed(), 4012, "{query}");
    }
    let mut silent = hello("");
    silent.socket.send(Message::text("{")).unwrap();
    assert_eq!(silent.closed(), 4002);
    let report = server.stop();
    assert_eq!(report.closed_by_server.values().sum::<u64>(), count + 3);
}

#[test]
fn resume_needs_a_known_session_id_and_a_sent_sequence_number() {
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
fn resume_sends_missed_events_then_resumed_then_the_rest() {
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
fn resume_on_another_connection_closes_the_first() {
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
fn requested_members_are_an_event_and_are_sent_again_after_resume() {
    let mut script = Script::new().events(Events::sample());
    script.max_duration = Duration::from_secs(60);
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
    // All events, READY, the answer and RESUMED have arrived, and each sequence number occurs once.
    let last = answer["s"].as_u64().unwrap();
    let rest: Vec<u64> = (last..events + 3).map(|_| second.payload()["s"].as_u64().unwrap()).collect();
    assert_eq!(rest, (last + 1..=events + 3).collect::<Vec<_>>());
}

#[test]
fn members_that_are_larger_than_all_events_arrive() {
    let member = json!({ "user": { "id": "6", "username": "x".repeat(100_000) } });
    let guild = json!({ "op": 0, "t": "GUILD_CREATE", "d": { "id": "5", "members": [member] } });
    let mut script = Script::new().events(Events::new([guild.to_string()]).unwrap());
    script.max_duration = Duration::from_secs(60);
    let server = Server::start(script).unwrap();
    let mut talker = Talker::connect(&server, "");
    talker.identify();
    talker.say(&json!({ "op": 8, "d": { "guild_id": "5", "user_ids": vec!["6"; 100] } }));
    let chunk = loop {
        let event = talker.payload();
        if event["t"] == "GUILD_MEMBERS_CHUNK" {
            break event;
        }
    };
    assert_eq!(chunk["d"]["members"].as_array().unwrap().len(), 100);
}

/// Sends an HTTP request and returns the status and the body.
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
fn rest_endpoints_return_gateway_url_and_user() {
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
fn unsupported_parameters_are_rejected_with_a_message() {
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
        [("?encoding=xml", "encoding must be json, etf or absent"), ("?compress=lz4", "compress must be")]
    {
        let (status, body) = upgrade(query, version);
        assert!(status == 400 && body.contains(why), "{body}");
    }
    assert_eq!(upgrade("", "Sec-WebSocket-Version: 8\r\n").0, 426);
    assert_eq!(server.stop().refused, 3);
}

#[test]
fn server_ends_after_its_clients_or_its_maximum_duration() {
    let (messages, mut once) = script(10);
    once.once = true;
    once.inject_fault(5, InjectedFault::Close(4000));
    let server = Server::start(once).unwrap();
    let (got, _) = fetch(server.url(), Transport::Zstd, expected(&messages).len());
    assert_eq!(got, expected(&messages));
    let (addr, report) = (server.addr, server.wait());
    assert_eq!((report.identifies, report.resumes), (1, 1));
    assert!(TcpStream::connect(addr).is_err());

    let (_, mut short) = script(0);
    short.max_duration = Duration::from_millis(1500);
    let server = Server::start(short).unwrap();
    let mut talker = Talker::connect(&server, "");
    talker.identify();
    assert_eq!(talker.closed(), 1001);
    server.wait();
}

#[test]
fn server_with_once_ends_when_the_session_can_no_longer_be_resumed() {
    let (_, mut script) = script(0);
    script.once = true;
    script.limits.resume_timeout = Duration::from_millis(100);
    let server = Server::start(script).unwrap();
    Talker::connect(&server, "").identify();
    let report = server.wait();
    assert_eq!((report.identifies, report.closed_by_clients.len()), (1, 0));
}

#[test]
fn each_shard_gets_each_fault_once() {
    let (_, mut script) = script(0);
    script.inject_fault(1, InjectedFault::Disconnect);
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

/// Encodes a value as a term, with strings as binaries and numbers as four-byte integers.
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

/// Runs a client with ETF and returns the opcodes, sequence numbers and event names.
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
fn etf_clients_get_the_same_events_as_terms() {
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
    // JSON is not a valid term, so the server closes the connection.
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

/// Number of connections for a test: 300 to 1,500, as many as the limit on file descriptors allows.
/// Each connection takes two descriptors, since client and server are in this process.
fn many() -> usize {
    #[cfg(unix)]
    let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let descriptors = None;
    let spare = descriptors.map_or(usize::MAX, |n| (n as usize).saturating_sub(300) / 2);
    spare.clamp(300, 1500)
}

#[test]
fn thousands_of_connections_are_served_concurrently() {
    let mut script = Script::new();
    script.max_duration = Duration::from_secs(120);
    script.limits.timeout = script.max_duration;
    let server = Server::start(script).unwrap();
    let count = many();
    let mut all: Vec<Talker> = (0..count).map(|_| Talker::connect(&server, "")).collect();
    // READY arrives while all are connected, and afterwards all are still connected.
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
