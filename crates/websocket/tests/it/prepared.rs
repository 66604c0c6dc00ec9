//! Tests prepared messages between ordinary ones, in random orders.

use std::io::{Cursor, ErrorKind, Write};

use linerate_testkit::deflate::Receiver;
use linerate_websocket::{
    Agreement, DeflateStream, Direction, Encoder, Kind, Level, Options, Prepared, Role, Scratch,
};
use tungstenite::protocol::Role as Side;
use tungstenite::{Error, Message, WebSocket};

use crate::common::{End, chat, noise, pair};

const DIRECTIONS: [(u8, bool, bool); 24] = {
    let (mut all, mut i) = ([(0, false, false); 24], 0);
    while i < 24 {
        all[i] = (8 + i as u8 / 3, i % 3 != 0, i % 3 == 1);
        i += 1;
    }
    all
};

/// Pseudorandom numbers from a seed.
struct Order(u64);

impl Order {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    /// A random kind of message, with the number `i`.
    fn message(&mut self, i: usize) -> Message {
        match self.below(12) {
            0 => Message::text(""),
            1 => Message::binary(noise(300 + i)),
            2 => Message::text((0..self.below(40)).map(|k| chat(i + k)).collect::<String>()),
            3 if self.below(6) == 0 => Message::text((0..900).map(|k| chat(i + k)).collect::<String>()),
            4 if self.below(6) == 0 => Message::binary(noise(70_000 + i)),
            5 => Message::text(&chat(i)[..20]),
            _ => Message::text(chat(i)),
        }
    }
}

fn prepared(message: &Message) -> Prepared {
    match message {
        Message::Text(text) => Prepared::text(text),
        message => Prepared::binary(&message.clone().into_data()),
    }
}

fn options(direction: Direction, remember_prepared: bool) -> Options {
    Options { encoder: direction, decoder: direction, remember_prepared, ..Options::default() }
}

/// Connects two libraries, as if after the handshake.
fn connect(
    most: usize,
    options: &Options,
    agreement: Option<Agreement>,
) -> [WebSocket<DeflateStream<End>>; 2] {
    let (one, other) = pair(most);
    let open = |socket, role, side| {
        let stream = DeflateStream::agreed(socket, role, options.clone(), agreement).expect("a stream");
        WebSocket::from_raw_socket(stream, side, None)
    };
    [open(one, Role::Server, Side::Server), open(other, Role::Client, Side::Client)]
}

fn is_wait<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Io(e)) if e.kind() == ErrorKind::WouldBlock)
}

/// Reads all messages that have arrived.
fn read(socket: &mut WebSocket<DeflateStream<End>>, got: &mut Vec<Message>) {
    let mut waits = 0;
    while waits < 2 {
        match socket.read() {
            Ok(message) => got.push(message),
            Err(Error::Io(e)) if e.kind() == ErrorKind::WouldBlock => waits += 1,
            Err(e) => panic!("{e}"),
        }
    }
}

/// Sends everything that is pending, while the peer reads.
fn flush(sockets: &mut [WebSocket<DeflateStream<End>>; 2], from: usize, got: &mut Vec<Message>) {
    let [one, other] = sockets;
    let (from, to) = if from == 0 { (one, other) } else { (other, one) };
    loop {
        let flushed = from.flush();
        assert!(flushed.is_ok() || is_wait(&flushed), "{flushed:?}");
        read(to, got);
        if flushed.is_ok() {
            return;
        }
    }
}

#[test]
fn prepared_and_ordinary_messages_arrive_in_order_both_ways() {
    for (seed, (bits, takeover, remember)) in DIRECTIONS.into_iter().enumerate() {
        let direction = Direction { window_bits: bits, takeover };
        let agreement = Agreement { server: direction, client: direction };
        let mut order = Order(seed as u64);
        let most = [100, 5_000, usize::MAX][seed % 3];
        let mut sockets = connect(most, &options(direction, remember), Some(agreement));
        let (mut sent, mut got) = ([vec![], vec![]], [vec![], vec![]]);
        for i in 0..150 {
            let message = order.message(i);
            let from = order.below(2);
            if order.below(2) == 0 {
                sockets[from].get_mut().queue(&prepared(&message)).expect("after the handshake");
            } else {
                let written = sockets[from].write(message.clone());
                assert!(written.is_ok() || is_wait(&written), "{written:?}");
            }
            flush(&mut sockets, from, &mut got[from]);
            sent[from].push(message);
        }
        for from in [0, 1] {
            assert!(got[from] == sent[from], "{bits} bits, takeover: {takeover}, remember: {remember}");
        }
    }
}

/// The library is inside a frame or a message most of the time when a prepared message is queued.
#[test]
fn prepared_messages_wait_for_the_end_of_a_message() {
    for (seed, (bits, takeover, remember)) in DIRECTIONS.into_iter().enumerate() {
        for is_compressed in [true, false] {
            let direction = Direction { window_bits: bits, takeover };
            let agreement = Agreement { server: direction, client: direction };
            let options = options(direction, remember);
            let agreed = is_compressed.then_some(agreement);
            let mut order = Order(seed as u64);
            let stream = |role, wire| DeflateStream::agreed(Cursor::new(wire), role, options.clone(), agreed);
            let mut server = stream(Role::Server, Vec::new()).expect("a stream");
            let (mut expected, mut waiting) = (Vec::new(), Vec::new());
            let mut queue = |server: &mut DeflateStream<_>, i: usize, waiting: &mut Vec<_>| {
                let message = order.message(i);
                server.queue(&prepared(&message)).expect("no handshake");
                waiting.push(message.into_data().to_vec());
            };
            for i in 0..40_usize {
                // Two fragments of a message with a pong between them.
                let text = chat(i).repeat(1 + i % 5);
                let (start, end) = text.as_bytes().split_at(text.len() / 3);
                let frame = |first: u8, payload: &[u8]| {
                    [&[first, 126][..], &(payload.len() as u16).to_be_bytes(), payload].concat()
                };
                let wire = [frame(0x01, start), vec![0x8a, 2, b'h', b'i'], frame(0x80, end)].concat();
                let cuts = [i, start.len() + 7, text.len() / 2, wire.len() - 1];
                let mut at = 0;
                for cut in cuts {
                    if cut < at || cut >= wire.len() {
                        continue;
                    }
                    server.write_all(&wire[at..cut]).expect("in memory");
                    queue(&mut server, i + cut, &mut waiting);
                    if cut == 0 {
                        expected.append(&mut waiting);
                    }
                    at = cut;
                }
                server.write_all(&wire[at..]).expect("in memory");
                expected.push(text.into_bytes());
                expected.append(&mut waiting);
            }
            server.flush().expect("in memory");
            let wire = server.get_ref().get_ref().clone();
            let client = stream(Role::Client, wire).expect("a stream");
            let mut socket = WebSocket::from_raw_socket(client, Side::Client, None);
            for (i, expected) in expected.iter().enumerate() {
                let got = loop {
                    match socket.read().expect("a message") {
                        Message::Pong(_) => {}
                        message => break message.into_data(),
                    }
                };
                assert!(got == expected[..], "{bits} bits, {is_compressed}, message {i}");
            }
        }
    }
}

/// Parses frames without masks, and returns for each whether RSV1 is set, and the payload.
fn frames(mut wire: &[u8]) -> Vec<(bool, Vec<u8>)> {
    let mut all = Vec::new();
    while let [first, len, rest @ ..] = wire {
        let (len, rest) = match len {
            126 => (usize::from(u16::from_be_bytes([rest[0], rest[1]])), &rest[2..]),
            127 => (rest[..8].iter().fold(0, |len, &byte| len << 8 | usize::from(byte)), &rest[8..]),
            len => (usize::from(*len), rest),
        };
        assert!(matches!(first & !0x40, 0x81 | 0x82), "{first:x}");
        all.push((first & 0x40 != 0, rest[..len].to_vec()));
        wire = &rest[len..];
    }
    all
}

/// If the test kit has zlib, the decoder has exactly the window that was agreed on.
#[test]
fn zlib_decodes_each_message_in_the_agreed_window() {
    for (seed, (bits, takeover, remember)) in DIRECTIONS.into_iter().enumerate() {
        for level in [Level::Fast, Level::Default, Level::Deeper] {
            let direction = Direction { window_bits: bits, takeover };
            let agreement = Agreement { server: direction, client: direction };
            let options = Options { level, ..options(direction, remember) };
            let wire = Cursor::new(Vec::new());
            let server = DeflateStream::agreed(wire, Role::Server, options, Some(agreement));
            let mut socket = WebSocket::from_raw_socket(server.expect("a stream"), Side::Server, None);
            let (mut order, mut sent) = (Order(seed as u64), Vec::new());
            for i in 0..150 {
                let message = match order.message(i) {
                    // The message must fit into one frame.
                    message if message.len() > 60_000 => Message::text(chat(i)),
                    message => message,
                };
                if order.below(3) > 0 {
                    let prepared = prepared(&message).level([Level::Fast, Level::Best][i % 2]);
                    socket.get_mut().queue(&prepared).expect("after the handshake");
                } else {
                    socket.send(message.clone()).expect("in memory");
                }
                sent.push(message.into_data());
            }
            socket.flush().expect("in memory");
            let frames = frames(socket.get_ref().get_ref().get_ref());
            assert_eq!(frames.len(), sent.len());
            let mut receiver = Receiver::new(-i32::from(bits), &[]);
            for ((is_compressed, payload), sent) in frames.into_iter().zip(sent) {
                assert!(payload.len() <= sent.len());
                let plain = match is_compressed {
                    true => receiver.take(&[&payload[..], &[0, 0, 0xff, 0xff]].concat()),
                    false => Ok(payload),
                };
                assert!(plain == Ok(sent.to_vec()), "{bits} bits, {level:?}");
                if !takeover {
                    receiver = Receiver::new(-i32::from(bits), &[]);
                }
            }
        }
    }
}

#[test]
fn later_messages_refer_to_what_is_remembered() {
    let mut scratch = Scratch::new();
    let texts: Vec<String> = (0..6).map(|i| format!("{:x?}", &noise(900)[150 * i..][..100])).collect();
    let mut sizes = |remember: bool, texts: &[String]| {
        let encoder = Encoder::new(Direction::window_bits(13), Level::Default).expect("an encoder");
        let mut encoder = encoder.remember_prepared(remember);
        encoder.message(&mut scratch, texts[0].as_bytes()).expect("encoded");
        for text in &texts[1..] {
            encoder.prepared(&mut scratch, &Prepared::text(text)).expect("smaller");
        }
        let size = |text: &String| {
            let encoded = encoder.message(&mut scratch, text.as_bytes()).expect("encoded");
            encoded.expect("smaller").len()
        };
        texts.iter().map(size).map(|size| size < 30).collect::<Vec<_>>()
    };
    // A message before four prepared messages is remembered; a message before five is not.
    assert_eq!(sizes(true, &texts[..5]), [true; 5]);
    assert_eq!(sizes(true, &texts), [false, false, true, true, true, true]);
    assert_eq!(sizes(false, &texts[..3]), [false; 3]);
}

#[test]
fn incompressible_prepared_messages_are_sent_as_they_are_and_do_not_change_the_window() {
    let direction = Direction::window_bits(9);
    let mut scratch = Scratch::new();
    let [mut one, mut other] = [(); 2].map(|()| Encoder::new(direction, Level::Default).expect("an encoder"));
    for text in [&b"first first first first"[..], b"second, then first first"] {
        assert_eq!(one.prepared(&mut scratch, &Prepared::binary(&noise(300))), None);
        assert_eq!(one.prepared(&mut scratch, &Prepared::text("")), None);
        let expected = other.message(&mut scratch, text).expect("encoded").map(<[u8]>::to_vec);
        assert_eq!(one.message(&mut scratch, text).expect("encoded").map(<[u8]>::to_vec), expected);
    }
    let wire = Cursor::new(Vec::new());
    let agreement = Agreement { server: direction, client: direction };
    let mut server =
        DeflateStream::agreed(wire, Role::Server, Options::default(), Some(agreement)).expect("a stream");
    // The first message has fewer bytes than `smallest`.
    for text in [&"a".repeat(31), &"a".repeat(32)] {
        server.queue(&Prepared::text(text)).expect("after the handshake");
    }
    server.flush().expect("in memory");
    let compressed: Vec<bool> =
        frames(server.get_ref().get_ref()).into_iter().map(|(rsv1, _)| rsv1).collect();
    assert_eq!(compressed, [false, true]);
}

#[test]
fn a_connection_that_does_not_read_holds_no_copy() {
    let [mut socket, _peer] = connect(1, &Options::default(), None);
    let before = socket.get_ref().memory();
    let message = Prepared::binary(&noise(1 << 20));
    for _ in 0..4 {
        socket.get_mut().queue(&message).expect("after the handshake");
        assert!(is_wait(&socket.flush()));
    }
    assert!(socket.get_ref().memory() - before < 200);
}

#[test]
fn queueing_before_the_handshake_or_after_one_that_failed_is_a_bad_argument() {
    let error = |stream: &mut DeflateStream<Cursor<Vec<u8>>>| {
        stream.queue(&Prepared::text("hello")).expect_err("nobody").kind
    };
    let mut server = DeflateStream::server(Cursor::new(Vec::new()), Options::default());
    assert_eq!(error(&mut server), Kind::BadArgument);
    let mut client = DeflateStream::client(Cursor::new(Vec::new()), Options::default());
    assert_eq!(error(&mut client), Kind::BadArgument);
    let (mut one, mut peer) = pair(usize::MAX);
    peer.write_all(b"GET / HTTP/1.1\r\n\r\n")
        .or_else(|_| peer.write_all(b"GET / HTTP/1.1\r\n\r\n"))
        .expect("sent");
    one.flush().expect("in memory");
    let mut server = DeflateStream::server(one, Options::default());
    let mut buf = [0; 100];
    while std::io::Read::read(&mut server, &mut buf).is_err() {}
    server.write_all(b"HTTP/1.1 404 Not Found\r\n\r\nno").expect("in memory");
    assert_eq!(server.queue(&Prepared::text("hello")).expect_err("nobody").kind, Kind::BadArgument);
}
