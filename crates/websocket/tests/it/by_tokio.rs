//! Tests the adapters for tokio and axum with buffers of every small size and of sizes around the
//! libraries' own buffer sizes, and with peers that send late or everything at once.

use std::collections::VecDeque;
use std::io::{Cursor, ErrorKind, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use futures_util::task::noop_waker_ref;
use futures_util::{SinkExt, StreamExt};
use linerate_websocket::{Agreement, DeflateStream, Direction, Options, Role, WebSocketUpgrade};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tungstenite::Message;
use tungstenite::protocol::WebSocketConfig;

use crate::common::{chat, noise};

/// A socket that reads and writes pieces of at most `most` bytes. If it is late, it is pending
/// before each piece.
struct Wire {
    incoming: VecDeque<u8>,
    outgoing: Vec<u8>,
    most: usize,
    is_late: bool,
    is_ready: bool,
}

impl Wire {
    fn new(incoming: &[u8], most: usize, is_late: bool) -> Self {
        let incoming = incoming.iter().copied().collect();
        Wire { incoming, outgoing: Vec::new(), most, is_late, is_ready: false }
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.is_ready = !self.is_ready;
        if self.is_late && self.is_ready {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        assert!(buf.remaining() > 0, "a read that cannot tell data from the end");
        std::task::ready!(self.poll_ready(cx));
        let n = buf.remaining().min(self.most).min(self.incoming.len());
        self.incoming.drain(..n).for_each(|byte| buf.put_slice(&[byte]));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        std::task::ready!(self.poll_ready(cx));
        let n = buf.len().min(self.most);
        self.outgoing.extend_from_slice(&buf[..n]);
        Poll::Ready(Ok(n))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
}

const AGREEMENT: Agreement =
    Agreement { server: Direction::window_bits(15), client: Direction::window_bits(15) };

fn stream<S>(socket: S, role: Role) -> DeflateStream<S> {
    DeflateStream::agreed(socket, role, Options::default(), Some(AGREEMENT)).expect("a stream")
}

fn wait<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<Result<T>>) -> Result<T> {
    loop {
        if let Poll::Ready(result) = poll(&mut Context::from_waker(noop_waker_ref())) {
            return result;
        }
    }
}

/// The frame of a message, as a library without compression writes it.
fn plain_frame(role: Role, payload: &[u8]) -> Vec<u8> {
    let mask_bit = if role == Role::Client { 0x80 } else { 0 };
    let mut frame = match payload.len() {
        len @ ..126 => vec![0x82, mask_bit | len as u8],
        len => [&[0x82, mask_bit | 127][..], &(len as u64).to_be_bytes()].concat(),
    };
    if role == Role::Client {
        frame.extend_from_slice(&[1, 2, 3, 4]);
        frame.extend(payload.iter().zip([1, 2, 3, 4].into_iter().cycle()).map(|(byte, mask)| byte ^ mask));
    } else {
        frame.extend_from_slice(payload);
    }
    frame
}

/// The uncompressed frames of messages that the side `role` writes, and the bytes that its stream
/// sends for them.
fn plain_and_wire(role: Role, payloads: &[Vec<u8>]) -> (Vec<u8>, Vec<u8>) {
    let plain: Vec<u8> = payloads.iter().flat_map(|payload| plain_frame(role, payload)).collect();
    let mut writer = stream(Cursor::new(Vec::new()), role);
    writer.write_all(&plain).expect("in memory");
    (plain, writer.get_ref().get_ref().clone())
}

/// Parses frames, which must have no reserved bits, and returns the payloads of the messages.
fn payloads_of(mut frames: &[u8]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    while let [first, second, rest @ ..] = frames {
        assert_eq!(first & 0x70, 0, "a reserved bit was passed on");
        let (len, rest) = match second & 0x7f {
            126 => (usize::from(u16::from_be_bytes([rest[0], rest[1]])), &rest[2..]),
            127 => (rest[..8].iter().fold(0, |len, &byte| len << 8 | usize::from(byte)), &rest[8..]),
            len => (usize::from(len), rest),
        };
        let (mask, rest) = if second & 0x80 != 0 { rest.split_at(4) } else { (&[0; 4][..], rest) };
        if first & 15 != 0 {
            all.push(Vec::new());
        }
        let payload = rest[..len].iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask);
        all.last_mut().expect("a first frame").extend(payload);
        frames = &rest[len..];
    }
    all
}

/// Reads everything from a stream of `role`, in buffers that already hold some bytes and have room
/// for `room` more.
fn read_all(wire: Wire, role: Role, room: usize) -> (Vec<u8>, Result<()>) {
    let (mut stream, mut all) = (stream(wire, role), Vec::new());
    let mut memory = vec![0xa5; 3 + room];
    loop {
        let mut buf = ReadBuf::new(&mut memory);
        buf.put_slice(b"old");
        if let Err(error) = wait(|cx| Pin::new(&mut stream).poll_read(cx, &mut buf)) {
            return (all, Err(error));
        }
        assert!(buf.filled().starts_with(b"old"));
        if buf.filled().len() == 3 {
            return (all, Ok(()));
        }
        all.extend_from_slice(&buf.filled()[3..]);
    }
}

fn small_payloads() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..8).map(|i| chat(i).into_bytes()).collect();
    all.extend([Vec::new(), noise(50), chat(3).repeat(40).into_bytes(), noise(300), chat(9).into_bytes()]);
    all
}

fn large_payloads() -> Vec<Vec<u8>> {
    vec![
        (0..3_000).flat_map(|i| chat(i).into_bytes()).collect(),
        noise(200_000),
        chat(1).into_bytes(),
        vec![b'a'; 300_000],
        noise((1 << 17) - 10),
        chat(2).into_bytes(),
    ]
}

/// Sizes around the buffer sizes of this library and of tungstenite.
fn own_sizes() -> impl Iterator<Item = usize> {
    [14, 125, 126, 4 << 10, 1 << 14, 1 << 16, 1 << 17].into_iter().flat_map(|size| [size - 1, size, size + 1])
}

#[test]
fn a_buffer_that_the_socket_fills_gets_only_decoded_bytes() {
    for (sender, reader) in [(Role::Server, Role::Client), (Role::Client, Role::Server)] {
        for (payloads, sizes) in [
            (small_payloads(), (1..=64).chain(own_sizes()).collect::<Vec<_>>()),
            (large_payloads(), own_sizes().skip(6).collect()),
        ] {
            let (_, wire) = plain_and_wire(sender, &payloads);
            for room in sizes {
                for (most, is_late) in
                    [(usize::MAX, false), (usize::MAX, true), (room, false), (7 * room / 8 + 1, true)]
                {
                    let (got, end) = read_all(Wire::new(&wire, most, is_late), reader, room);
                    end.expect("read");
                    let is_right = payloads_of(&got) == payloads;
                    assert!(
                        is_right,
                        "{reader:?}: buffers of {room} bytes, pieces of {most}, late: {is_late}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_read_into_an_empty_buffer_loses_nothing() {
    let payloads = small_payloads();
    let (_, wire) = plain_and_wire(Role::Server, &payloads);
    let mut stream = stream(Wire::new(&wire, usize::MAX, false), Role::Client);
    let mut got = Vec::new();
    for room in [0, 5].into_iter().cycle() {
        let mut memory = vec![0; room];
        let mut buf = ReadBuf::new(&mut memory);
        wait(|cx| Pin::new(&mut stream).poll_read(cx, &mut buf)).expect("read");
        if room > 0 && buf.filled().is_empty() {
            break;
        }
        got.extend_from_slice(buf.filled());
    }
    assert!(payloads_of(&got) == payloads);
}

#[test]
fn messages_before_a_forbidden_frame_in_one_read_are_not_lost() {
    let payloads = small_payloads();
    let (_, mut wire) = plain_and_wire(Role::Server, &payloads);
    // A deflate block of an invalid type.
    wire.extend_from_slice(&[0xc2, 1, 6]);
    for room in [1, 2, 63, 1 << 16] {
        let (got, end) = read_all(Wire::new(&wire, usize::MAX, false), Role::Client, room);
        assert_eq!(end.map_err(|error| error.kind()), Err(ErrorKind::InvalidData));
        assert!(payloads_of(&got) == payloads, "buffers of {room} bytes");
    }
}

#[test]
fn frames_written_in_pieces_reach_a_socket_that_takes_few_bytes() {
    for role in [Role::Server, Role::Client] {
        for (payloads, pieces) in [
            (small_payloads(), (1..=64).chain(own_sizes()).collect::<Vec<_>>()),
            (large_payloads(), own_sizes().skip(6).collect()),
        ] {
            let (plain, _) = plain_and_wire(role, &payloads);
            for piece in pieces {
                for (most, is_late) in [(usize::MAX, false), (piece, true), (piece / 2 + 1, true)] {
                    let mut writer = stream(Wire::new(&[], most, is_late), role);
                    let mut rest = &plain[..];
                    while !rest.is_empty() {
                        let next = &rest[..piece.min(rest.len())];
                        let n = wait(|cx| Pin::new(&mut writer).poll_write(cx, next)).expect("written");
                        rest = &rest[n..];
                    }
                    wait(|cx| Pin::new(&mut writer).poll_shutdown(cx)).expect("shut down");
                    let wire = Wire::new(&writer.get_ref().outgoing, usize::MAX, false);
                    let peer = if role == Role::Server { Role::Client } else { Role::Server };
                    let (got, end) = read_all(wire, peer, 1 << 15);
                    end.expect("read");
                    assert!(payloads_of(&got) == payloads, "{role:?}: pieces of {piece} bytes to {most}");
                }
            }
        }
    }
}

/// Starts a server that echoes every message. The path of a connection sets the size of its read
/// buffer.
fn serve() -> SocketAddr {
    async fn echo(upgrade: WebSocketUpgrade, size: axum::extract::Path<usize>) -> Response {
        upgrade.config(WebSocketConfig::default().read_buffer_size(size.0)).on_upgrade(async |mut socket| {
            while let Some(Ok(message)) = socket.next().await {
                if message.is_binary() && socket.send(message).await.is_err() {
                    return;
                }
            }
        })
    }
    let (sender, address) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            sender.send(listener.local_addr().expect("an address")).expect("the test waits");
            axum::serve(listener, Router::new().route("/{size}", get(echo))).await.expect("served");
        });
    });
    address.recv_timeout(Duration::from_secs(10)).expect("an address")
}

/// Sends all messages in pieces of `piece` bytes from another thread, and reads the echoes.
fn ask(address: SocketAddr, size: usize, payloads: &[Vec<u8>], piece: usize) {
    let socket = TcpStream::connect(address).expect("connected");
    socket.set_nodelay(true).expect("an option");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let url = format!("ws://{address}/{size}");
    let (mut socket, _) =
        tungstenite::client(url, DeflateStream::client(socket, Options::default())).expect("upgraded");
    assert!(socket.get_ref().agreement().is_some());
    let mut raw = socket.get_ref().get_ref().try_clone().expect("a socket");
    let (_, wire) = plain_and_wire(Role::Client, payloads);
    let sender = std::thread::spawn(move || wire.chunks(piece).try_for_each(|piece| raw.write_all(piece)));
    for (i, payload) in payloads.iter().enumerate() {
        let echo =
            socket.read().unwrap_or_else(|error| panic!("buffers of {size} bytes, message {i}: {error}"));
        assert!(echo == Message::binary(payload.clone()), "buffers of {size} bytes, message {i}");
    }
    sender.join().expect("no panic").expect("sent");
}

#[test]
fn a_server_of_axum_echoes_messages_that_come_late_or_all_at_once() {
    let address = serve();
    for size in 1..=64 {
        ask(address, size, &small_payloads(), usize::MAX);
    }
    for size in own_sizes() {
        ask(address, size, &small_payloads(), 100);
        ask(address, size, &large_payloads(), usize::MAX);
    }
    let many: Vec<Vec<u8>> = (0..5_000).map(|i| chat(i).into_bytes()).collect();
    ask(address, 1 << 17, &many, usize::MAX);
}

#[test]
fn a_client_of_tokio_tungstenite_reads_what_a_server_sends_at_once() {
    let run = async {
        for size in [1, 9, 64, 4 << 10, (1 << 16) - 1, 1 << 17] {
            let payloads = if size < 100 { small_payloads() } else { large_payloads() };
            let (mut peer, socket) = tokio::io::duplex(1 << 18);
            let (_, wire) = plain_and_wire(Role::Server, &payloads);
            let sent = tokio::spawn(async move {
                tokio::io::AsyncWriteExt::write_all(&mut peer, &wire).await.map(|()| peer)
            });
            let config = WebSocketConfig::default().read_buffer_size(size);
            let mut socket = tokio_tungstenite::WebSocketStream::from_raw_socket(
                stream(socket, Role::Client),
                tungstenite::protocol::Role::Client,
                Some(config),
            )
            .await;
            for payload in payloads {
                let message = socket.next().await.expect("a message").expect("read");
                assert!(message == Message::binary(payload), "buffers of {size} bytes");
            }
            sent.await.expect("no panic").expect("sent");
        }
    };
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(run);
}
