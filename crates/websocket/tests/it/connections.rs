//! Tests connections of tungstenite through [`DeflateStream`], whose bytes arrive in pieces of any
//! size.

use std::io::{ErrorKind, Read, Write};

use linerate_websocket::{DeflateStream, Level};
use linerate_websocket::{Direction, Options};
use tungstenite::handshake::HandshakeError;
use tungstenite::{Error, Message, WebSocket};

use crate::common::{End, chat, noise, pair};

type Socket = WebSocket<DeflateStream<End>>;

/// Connects two libraries and returns both ends after the handshake.
fn connect(most: usize, client: &Options, server: &Options) -> (Socket, Socket) {
    let (one, other) = pair(most);
    shake(DeflateStream::client(one, client.clone()), DeflateStream::server(other, server.clone()))
}

fn shake<C: Read + Write, S: Read + Write>(client: C, server: S) -> (WebSocket<C>, WebSocket<S>) {
    let mut client = tungstenite::client("ws://localhost/", client).map(|(socket, _)| socket);
    let mut server = tungstenite::accept(server);
    loop {
        client = match client {
            Err(HandshakeError::Interrupted(it)) => it.handshake().map(|(socket, _)| socket),
            client => client,
        };
        server = match server {
            Err(HandshakeError::Interrupted(it)) => it.handshake(),
            server => server,
        };
        match (client, server) {
            (Ok(client), Ok(server)) => return (client, server),
            (Err(HandshakeError::Failure(e)), _) | (_, Err(HandshakeError::Failure(e))) => panic!("{e}"),
            both => (client, server) = both,
        }
    }
}

fn is_wait<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Io(e)) if e.kind() == ErrorKind::WouldBlock)
}

/// Sends a message and returns the one that arrives.
fn pass(from: &mut Socket, to: &mut Socket, message: Message) -> Message {
    let sent = from.send(message);
    assert!(sent.is_ok() || is_wait(&sent), "{sent:?}");
    loop {
        let flushed = from.flush();
        assert!(flushed.is_ok() || is_wait(&flushed), "{flushed:?}");
        let got = to.read();
        if !is_wait(&got) && !matches!(got, Ok(Message::Pong(_))) {
            return got.expect("a message");
        }
    }
}

fn messages() -> Vec<Message> {
    let mut all = vec![Message::text(""), Message::text("short"), Message::binary(noise(300))];
    for i in 0..20 {
        all.push(Message::text(chat(i)));
        all.push(Message::Ping(b"are you there? are you there?".to_vec().into()));
    }
    all.push(Message::binary(noise(100_000)));
    all.push(Message::text((0..2_000).map(chat).collect::<String>()));
    all.push(Message::binary(vec![b'a'; 65_536]));
    all.push(Message::binary(vec![b'a'; 65_537]));
    all.push(Message::text(chat(99)));
    all
}

#[test]
fn messages_pass_both_ways_in_pieces_of_any_size() {
    for (most, bits, takeover) in
        [(1, 9, true), (2, 15, true), (7, 8, false), (125, 12, true), (4_096, 15, false), (1 << 20, 15, true)]
    {
        let direction = Direction { window_bits: bits, takeover };
        let options = Options { encoder: direction, decoder: direction, ..Options::default() };
        let (mut client, mut server) = connect(most, &options, &options);
        let agreement = client.get_ref().agreement().expect("an agreement");
        assert_eq!(server.get_ref().agreement(), Some(agreement));
        assert_eq!((agreement.client, agreement.server), (direction, direction));
        for message in messages() {
            assert_eq!(pass(&mut client, &mut server, message.clone()), message);
            assert_eq!(pass(&mut server, &mut client, message.clone()), message);
        }
    }
}

#[test]
fn every_window_and_level_passes() {
    for bits in 8..=15 {
        for level in [Level::Stored, Level::Fast, Level::Best] {
            let options = Options { level, ..Options::window_bits(bits) };
            let (mut client, mut server) = connect(1_000, &options, &options);
            for i in 0..50 {
                let message = Message::text(chat(i));
                assert_eq!(pass(&mut client, &mut server, message.clone()), message);
                assert_eq!(pass(&mut server, &mut client, message.clone()), message);
            }
        }
    }
}

#[test]
fn a_conversation_shrinks_to_less_than_a_quarter() {
    let (mut client, mut server) = connect(1 << 20, &Options::default(), &Options::default());
    let wire = std::rc::Rc::clone(&client.get_ref().get_ref().outgoing);
    let (mut plain, mut sent) = (0, 0);
    for i in 0..100 {
        let text = chat(i);
        plain += text.len();
        client.write(Message::text(text)).expect("written");
        while client.flush().is_err() {}
        sent += wire.borrow().len();
        while is_wait(&server.read()) {}
    }
    assert!(sent * 4 < plain, "{sent} of {plain}");
}

#[test]
fn a_side_without_the_extension_goes_on_without_compression() {
    let (one, other) = pair(100);
    let (mut client, mut server) = shake(DeflateStream::client(one, Options::default()), other);
    assert_eq!(client.get_ref().agreement(), None);
    let text = Message::text(chat(1).repeat(100));
    let sent = server.send(text.clone());
    assert!(sent.is_ok() || is_wait(&sent), "{sent:?}");
    let got = loop {
        while is_wait(&server.flush()) {}
        let got = client.read();
        if !is_wait(&got) {
            break got.expect("a message");
        }
    };
    assert_eq!(got, text);
}

/// Reads until the socket has no more bytes. Every second call of [`End`] would block.
fn read_all(stream: &mut DeflateStream<End>) -> Vec<u8> {
    let (mut all, mut waits) = (Vec::new(), 0);
    while waits < 3 {
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer) {
            Ok(n) => all.extend(&buffer[..n]),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        waits = if stream.get_ref().incoming.borrow().is_empty() { waits + 1 } else { 0 };
    }
    all
}

fn write_all(stream: &mut DeflateStream<End>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        bytes = &bytes[stream.write(bytes).unwrap_or(0)..];
    }
    while stream.flush().is_err() {}
}

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: h\r\n";
const RESPONSE: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n";
const EXTENSION: &str = "Sec-WebSocket-Extensions: permessage-deflate\r\n";

#[test]
fn a_head_above_64_kib_passes_unchanged_and_nothing_after_it_is_compressed() {
    let long = "X: y\r\n".repeat(20_000);
    let frame = "\r\n\u{1}\u{1}a".repeat(1000);

    let (one, other) = pair(10_000);
    let request = [REQUEST, EXTENSION, &long, "\r\n", &frame].concat();
    one.outgoing.borrow_mut().extend(request.as_bytes());
    let mut server = DeflateStream::server(other, Options::default());
    assert!(read_all(&mut server) == request.as_bytes());
    assert!(server.memory() < 1000, "{} bytes held", server.memory());
    write_all(&mut server, request.as_bytes());
    assert!(*one.incoming.borrow() == request.as_bytes());

    let (one, other) = pair(10_000);
    let mut client = DeflateStream::client(one, Options::default());
    write_all(&mut client, [REQUEST, "\r\n"].concat().as_bytes());
    let response = [RESPONSE, EXTENSION, &long, "\r\n", &frame].concat();
    other.outgoing.borrow_mut().extend(response.as_bytes());
    assert!(read_all(&mut client) == response.as_bytes());
    assert_eq!(client.agreement(), None);

    let (one, other) = pair(10_000);
    one.outgoing.borrow_mut().extend([REQUEST, EXTENSION, "\r\n"].concat().as_bytes());
    let mut server = DeflateStream::server(other, Options::default());
    assert_eq!(read_all(&mut server), [REQUEST, "\r\n"].concat().as_bytes());
    let response = [RESPONSE, &long, "\r\n", &frame].concat();
    write_all(&mut server, response.as_bytes());
    assert!(*one.incoming.borrow() == response.as_bytes());
    assert_eq!(server.agreement(), None);
}

#[test]
fn a_peer_that_sends_before_the_handshake_ends_is_held_up_to_64_kib() {
    let early = "early ".repeat(20_000);

    let (one, other) = pair(10_000);
    one.outgoing.borrow_mut().extend([REQUEST, EXTENSION, "\r\n", &early].concat().as_bytes());
    let mut server = DeflateStream::server(other, Options::default());
    let response = [RESPONSE, "\r\n"].concat();
    assert!(read_all(&mut server) == [REQUEST, "\r\n", &early].concat().as_bytes());
    write_all(&mut server, response.as_bytes());
    assert_eq!(*one.incoming.borrow(), response.as_bytes());

    let (one, other) = pair(10_000);
    let mut client = DeflateStream::client(one, Options::default());
    write_all(&mut client, REQUEST.as_bytes());
    other.outgoing.borrow_mut().extend(early.as_bytes());
    assert!(read_all(&mut client) == early.as_bytes());
    write_all(&mut client, b"\r\n");
    assert_eq!(*other.incoming.borrow(), [REQUEST, "\r\n"].concat().as_bytes());
}
