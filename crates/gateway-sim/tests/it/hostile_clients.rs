//! Hostile clients. Each is disconnected in time, while others are served.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use linerate_gateway_sim::traffic::Random;
use linerate_gateway_sim::{Events, Script, Server};
use tungstenite::Message;

/// Timeout of a server in tests in which its clients run into that timeout.
const PATIENCE: Duration = Duration::from_secs(1);
/// Upper bound for any part of a test, however slow the machine is.
const LONG: Duration = Duration::from_secs(30);

const UPGRADE: &str = "GET /?compress=zlib-stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

fn script() -> Script {
    let mut script = Script::new();
    script.max_duration = 2 * LONG;
    script.limits.timeout = LONG;
    script
}

fn with_short_timeout(mut script: Script) -> Script {
    script.limits.timeout = PATIENCE;
    script
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.addr).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.set_write_timeout(Some(LONG)).unwrap();
    stream
}

/// Reads until the server ends the connection.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    let begun = Instant::now();
    // A connection closed while data is in transit ends with an error.
    let _ = stream.read_to_end(&mut all);
    assert!(begun.elapsed() < LONG, "the server did not end the connection");
    all
}

fn status(answer: &[u8]) -> u16 {
    let text = String::from_utf8_lossy(answer);
    text.get(9..12).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("no answer: {text}"))
}

/// Whether a well-behaved client is still served.
fn serves(server: &Server) -> bool {
    let mut stream = connect(server);
    // A server that has reached its limit does not read this.
    let _ = stream.write_all(b"GET /api/v10/gateway HTTP/1.1\r\n\r\n");
    rest(&mut stream).starts_with(b"HTTP/1.1 200 ")
}

#[test]
fn garbage_is_answered_with_400() {
    let server = Server::start(script()).unwrap();
    for garbage in
        [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], b"\0\0\0\0", b"hello\r\n\r\n", b"GET\r\n\r\n"]
    {
        let mut stream = connect(&server);
        stream.write_all(garbage).unwrap();
        assert_eq!(status(&rest(&mut stream)), 400, "{garbage:?}");
    }
    assert!(serves(&server));
    assert_eq!(server.stop().refused, 4);
}

#[test]
fn endless_request_is_closed() {
    let server = Server::start(script()).unwrap();
    let endless =
        [(&b"GET /"[..], &b"a"[..]), (b"GET / HTTP/1.1\r\nX: ", b"b"), (b"GET / HTTP/1.1\r\n", b"c: d\r\n")];
    for (begin, more) in endless {
        let mut stream = connect(&server);
        stream.write_all(begin).unwrap();
        let piece = more.repeat(1000);
        let begun = Instant::now();
        // Writing fails once the server has closed the connection.
        while stream.write_all(&piece).is_ok() {
            assert!(begun.elapsed() < LONG, "the server reads on");
        }
    }
    assert!(serves(&server));
    assert_eq!(server.stop().refused, 3);
}

#[test]
fn slow_request_times_out() {
    let server = Server::start(with_short_timeout(script())).unwrap();
    let mut slow = connect(&server);
    let begun = Instant::now();
    slow.write_all(b"GET / HTTP/1.1\r\nX: ").unwrap();
    while slow.write_all(b"y").is_ok() {
        std::thread::sleep(Duration::from_millis(20));
        assert!(begun.elapsed() < LONG, "the server waits on");
    }
    assert!(begun.elapsed() >= PATIENCE);
    let mut silent = connect(&server);
    assert_eq!(status(&rest(&mut silent)), 408);
    assert!(serves(&server));
}

#[test]
fn websocket_without_identify_times_out() {
    let server = Server::start(with_short_timeout(script())).unwrap();
    let mut stream = connect(&server);
    stream.write_all(UPGRADE.as_bytes()).unwrap();
    assert_eq!(status(&rest(&mut stream)), 101);
    assert_eq!(server.stop().closed_by_server, [(4009, 1)].into());
}

#[test]
fn session_without_heartbeats_times_out() {
    let mut script = with_short_timeout(script());
    script.heartbeat_interval = Duration::from_millis(10);
    let server = Server::start(script).unwrap();
    let mut socket = identified(&server);
    let begun = Instant::now();
    while socket.read().is_ok() {}
    assert!(begun.elapsed() < LONG);
    assert_eq!(server.stop().closed_by_server, [(4009, 1)].into());
}

/// A masked frame whose header states `length`, with the given part of its payload.
fn frame(opcode: u8, length: u64, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x80 | opcode, 0x80 | 127];
    frame.extend(length.to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

#[test]
fn frames_above_the_limit_are_rejected_by_their_header() {
    let server = Server::start(script()).unwrap();
    for length in [(64 << 10) + 1, 1 << 40, u64::MAX] {
        let mut stream = connect(&server);
        stream.write_all(UPGRADE.as_bytes()).unwrap();
        stream.write_all(&frame(1, length, b"{")).unwrap();
        rest(&mut stream);
    }
    // A length with the first bit set is invalid (RFC 6455, section 5.2).
    let codes = server.stop().closed_by_server;
    assert!(codes == [(1009, 3)].into() || codes == [(1009, 2), (1002, 1)].into(), "{codes:?}");
}

#[test]
fn slowly_sent_frame_times_out() {
    let server = Server::start(with_short_timeout(script())).unwrap();
    let mut stream = connect(&server);
    stream.write_all(UPGRADE.as_bytes()).unwrap();
    stream.write_all(&frame(1, 60_000, b"")).unwrap();
    let begun = Instant::now();
    while stream.write_all(b"x").is_ok() {
        std::thread::sleep(Duration::from_millis(1));
        assert!(begun.elapsed() < LONG, "the server reads on");
    }
    assert_eq!(server.stop().closed_by_server, [(4009, 1)].into());
}

#[test]
fn invalid_frames_close_the_connection() {
    let unmasked = b"\x81\x02{}".to_vec();
    let reserved = b"\xff\x80\0\0\0\0".to_vec();
    let continued = frame(0, 2, b"{}");
    let no_text = frame(1, 1, b"\xff");
    let server = Server::start(script()).unwrap();
    for bad in [unmasked, reserved, continued, no_text] {
        let mut stream = connect(&server);
        stream.write_all(UPGRADE.as_bytes()).unwrap();
        stream.write_all(&bad).unwrap();
        rest(&mut stream);
    }
    assert_eq!(server.stop().closed_by_server, [(1002, 4)].into());
}

#[test]
fn random_bytes_close_only_their_own_connection() {
    let server = Server::start(script()).unwrap();
    let mut random = Random::stream(11, 0);
    let json =
        [r#"{"op":2,"d":{"token":"t"}}"#, r#"{"op":6,"d":{"seq":1,"session_id":"x"}}"#, r#"{"op":8,"d":[]}"#];
    for round in 0..150 {
        let mut bytes = UPGRADE.as_bytes().to_vec();
        for text in json {
            bytes.extend(frame(1, text.len() as u64, text.as_bytes()));
        }
        // Every fifth client sends a damaged request, the others damage after it; every third is
        // cut off.
        let from = if round % 5 == 0 { 0 } else { UPGRADE.len() };
        for _ in 0..1 + random.below(4) {
            let at = from + random.below(bytes.len() - from);
            bytes[at] = random.below(256) as u8;
        }
        if round % 3 == 0 {
            bytes.truncate(from + random.below(bytes.len() - from));
        }
        let mut stream = connect(&server);
        // The server may close the connection before everything is written.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(Shutdown::Write);
        rest(&mut stream);
    }
    assert!(serves(&server));
    let report = server.stop();
    assert!(report.connections > 50 && report.refused > 5, "{report:?}");
}

/// A script that sends 40 MB in one session, which is more than socket buffers hold.
fn much() -> Script {
    let event = format!(r#"{{"op":0,"t":"LONG","s":1,"d":"{}"}}"#, "abcdefghij".repeat(100_000));
    script().events(Events::new(std::iter::repeat_n(event, 40)).unwrap())
}

/// Connects without compression and sends IDENTIFY.
fn identified(server: &Server) -> tungstenite::WebSocket<TcpStream> {
    let (mut socket, _) = tungstenite::client::client(server.url(), connect(server)).unwrap();
    socket.send(Message::text(r#"{"op":2,"d":{"token":"t"}}"#)).unwrap();
    socket
}

#[test]
fn client_that_does_not_read_is_disconnected() {
    let server = Server::start(with_short_timeout(much())).unwrap();
    let socket = identified(&server);
    let begun = Instant::now();
    while server.report().identifies == 0 {
        assert!(begun.elapsed() < LONG);
        std::thread::sleep(Duration::from_millis(5));
    }
    // The server stops sending once the socket buffers are full.
    let mut before = 0;
    let mut since = Instant::now();
    while since.elapsed() < PATIENCE + PATIENCE / 2 {
        let now = server.report().messages;
        if now != before {
            (before, since) = (now, Instant::now());
        }
        std::thread::sleep(PATIENCE / 20);
        assert!(begun.elapsed() < LONG);
    }
    assert!(before < 40, "the client's buffers took everything");
    assert!(serves(&server));
    drop(socket);
}

#[test]
fn unread_pongs_do_not_accumulate() {
    let server = Server::start(with_short_timeout(much())).unwrap();
    let socket = identified(&server);
    let mut writer = socket.get_ref().try_clone().unwrap();
    let ping = frame(9, 100, &[b'p'; 100]).repeat(100);
    let begun = Instant::now();
    // The server cannot send and times out; then writing fails here.
    while writer.write_all(&ping).is_ok() {
        assert!(begun.elapsed() < LONG, "the server reads on");
    }
    assert!(serves(&server));
}

#[test]
fn stop_does_not_wait_for_slow_clients() {
    let server = Server::start(much()).unwrap();
    let silent = connect(&server);
    let mut half = connect(&server);
    half.write_all(b"GET / HT").unwrap();
    let mut body = connect(&server);
    body.write_all(b"POST /api/v10/gateway HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nx").unwrap();
    let full = identified(&server);
    let begun = Instant::now();
    while server.report().identifies == 0 {
        std::thread::sleep(Duration::from_millis(5));
        assert!(begun.elapsed() < LONG);
    }
    let begun = Instant::now();
    server.stop();
    assert!(begun.elapsed() < LONG / 2, "it waited");
    drop((silent, half, body, full));
}

#[test]
fn connections_above_the_limit_are_rejected() {
    let mut script = script();
    script.limits.connections = 3;
    let server = Server::start(script).unwrap();
    let held: Vec<_> = (0..3).map(|_| identified(&server)).collect();
    let mut fourth = connect(&server);
    assert_eq!(rest(&mut fourth), b"");
    assert_eq!(server.report().refused, 1);
    drop(held);
    let begun = Instant::now();
    while !serves(&server) {
        assert!(begun.elapsed() < LONG, "the connections are not given back");
    }
}

#[test]
fn oldest_session_is_evicted_at_the_limit() {
    let mut script = script();
    script.limits.sessions = 2;
    script.limits.resume_timeout = LONG;
    let server = Server::start(script).unwrap();
    for _ in 0..5 {
        let mut socket = identified(&server);
        while !socket.read().unwrap().into_text().unwrap().contains("READY") {}
    }
    assert_eq!(server.stop().identifies, 5);
}

#[test]
fn fragmented_message_above_the_limit_is_rejected() {
    let server = Server::start(script()).unwrap();
    let mut stream = connect(&server);
    stream.write_all(UPGRADE.as_bytes()).unwrap();
    let piece = |opcode: u8| {
        let mut frame = frame(opcode, 10_000, &[b'x'; 10_000]);
        frame[0] = opcode;
        frame
    };
    stream.write_all(&piece(1)).unwrap();
    let begun = Instant::now();
    while stream.write_all(&piece(0)).is_ok() {
        assert!(begun.elapsed() < LONG, "the server reads on");
    }
    assert_eq!(server.stop().closed_by_server, [(1009, 1)].into());
}
