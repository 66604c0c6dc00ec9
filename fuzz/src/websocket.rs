//! Websockets: frames and handshakes of a hostile peer, and messages through both ends of a connection.

use std::io::{Cursor, ErrorKind, Read, Write};

use linerate_websocket::{Agreement, DeflateStream, Direction, Options, Prepared, Role};

/// A socket: bytes that it has received, and bytes written to it. Reads and writes take at most
/// `most` bytes.
struct Wire {
    incoming: Cursor<Vec<u8>>,
    most: usize,
    outgoing: Vec<u8>,
}

impl Read for Wire {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = buf.len().min(self.most);
        self.incoming.read(&mut buf[..n])
    }
}

impl Write for Wire {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        let n = buf.len().min(self.most);
        self.outgoing.extend_from_slice(&buf[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Bytes 0 to 2 choose role, window and sizes of pieces. The rest is used as bytes that the peer
/// sends (frames, and a handshake), as messages to send, and as messages some of which are
/// compressed in advance ([`Prepared`]).
///
/// # Panics
/// If a connection holds too much memory, or if other messages arrive than were sent.
pub fn websocket(data: &[u8]) {
    let [choice, window, pieces, rest @ ..] = data else { return };
    let (one, other) =
        if choice & 1 == 0 { (Role::Client, Role::Server) } else { (Role::Server, Role::Client) };
    let direction = Direction { window_bits: 8 + window % 8, takeover: window & 8 == 0 };
    let agreement = Agreement { server: direction, client: direction };
    let wire = |incoming: &[u8]| Wire {
        incoming: Cursor::new(incoming.to_vec()),
        most: 1 + usize::from(*pieces),
        outgoing: Vec::new(),
    };
    let agreed = |role, incoming: &[u8]| {
        let options = Options { message_limit: 1 << 20, ..Options::default() };
        DeflateStream::agreed(wire(incoming), role, options, Some(agreement)).expect("valid options")
    };
    let (_, memory) = read_all(&mut agreed(one, rest));
    assert!(memory < 600_000 + rest.len(), "{memory} bytes held");
    let mut server = DeflateStream::server(wire(rest), Options::default());
    read_all(&mut server);
    let _ = server.write_all(rest);

    // One end sends the rest as messages, and the other receives them.
    let mut sender = agreed(one, &[]);
    let mut sent = Vec::new();
    for (i, payload) in rest.chunks(1 + 3 * usize::from(*choice)).enumerate() {
        let (first, fin) = (if i % 3 == 1 { 0 } else { 2 }, if i % 3 == 0 { 0 } else { 0x80 });
        sent.push((first, payload.to_vec()));
        sender.write_all(&frame(fin | first, payload, one == Role::Client)).expect("frames are valid");
    }
    sender.flush().expect("a wire takes everything");
    let (received, _) = read_all(&mut agreed(other, &sender.get_ref().outgoing));
    let received: Vec<u8> = payloads(&received).concat();
    // The last message may lack its end; the content of its fragments arrives nevertheless.
    assert_eq!(received, sent.iter().flat_map(|(_, payload)| payload.clone()).collect::<Vec<u8>>());

    // Some messages are prepared. While a message lacks fragments, a prepared message waits for the
    // last of them.
    let remember_prepared = window & 16 != 0;
    let options = Options { remember_prepared, ..Options::default() };
    let mut sender = DeflateStream::agreed(wire(&[]), one, options, Some(agreement)).expect("valid options");
    let (mut sent, mut waiting) = (Vec::new(), Vec::new());
    let mut is_open = false;
    for payload in rest.chunks(1 + 3 * usize::from(*choice)) {
        if payload[0] & 1 == 0 {
            sender.queue(&Prepared::binary(payload)).expect("no handshake");
            if is_open { &mut waiting } else { &mut sent }.push(payload);
        } else {
            let (first, fin) = (if is_open { 0 } else { 2 }, if payload[0] & 2 == 0 { 0 } else { 0x80 });
            sender.write_all(&frame(fin | first, payload, one == Role::Client)).expect("frames are valid");
            sent.push(payload);
            is_open = fin == 0;
            if !is_open {
                sent.append(&mut waiting);
            }
        }
    }
    sender.flush().expect("a wire takes everything");
    let (received, _) = read_all(&mut agreed(other, &sender.get_ref().outgoing));
    assert_eq!(payloads(&received).concat(), sent.concat());
}

/// Builds a frame that begins with the byte `first`. `masked`: whether its payload is masked, as in
/// frames of a client.
fn frame(first: u8, payload: &[u8], masked: bool) -> Vec<u8> {
    let mut frame = vec![first, if masked { 0xfe } else { 0x7e }];
    frame.extend_from_slice(&(payload.len() as u16).to_be_bytes());
    let mask = if masked { [1, 2, 3, 4] } else { [0; 4] };
    if masked {
        frame.extend_from_slice(&mask);
    }
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// Returns the payloads of complete frames.
fn payloads(mut frames: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while let [_, second, rest @ ..] = frames {
        let (len, rest) = match second & 0x7f {
            126 => (usize::from(u16::from_be_bytes([rest[0], rest[1]])), &rest[2..]),
            127 => (u64::from_be_bytes(rest[..8].try_into().expect("eight bytes")) as usize, &rest[8..]),
            len => (usize::from(len), rest),
        };
        let (mask, rest) = if second & 0x80 != 0 { rest.split_at(4) } else { (&[0][..], rest) };
        let (payload, rest) = rest.split_at(len);
        all.push(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect());
        frames = rest;
    }
    all
}

/// Reads until the end or an error. Returns what was read, and the most memory that the stream
/// held, in bytes.
fn read_all(stream: &mut DeflateStream<Wire>) -> (Vec<u8>, usize) {
    let (mut all, mut buf, mut most) = (Vec::new(), vec![0; 5_000], 0);
    loop {
        let read = stream.read(&mut buf);
        most = most.max(stream.memory());
        match read {
            Ok(0) => return (all, most),
            Ok(n) => all.extend_from_slice(&buf[..n]),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::InvalidData);
                return (all, most);
            }
        }
    }
}
