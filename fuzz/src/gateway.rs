//! Gateway connections: arbitrary bytes, cut into arbitrary frames.

use linerate_gateway::{Checks, Encoding, Envelope, Kind, Limits, Scratch, Session, Transport};
use zlib_rs::{Inflate, InflateFlush};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

/// Limit on payloads, in bytes.
const LIMIT: usize = 1 << 18;
/// Maximum bytes that a session, and maximum bytes that a scratch, may hold. The compressed bytes
/// of an incomplete message, which a session also holds, do not count.
const MEMORY: usize = 2 << 20;

/// zlib-rs or libzstd, which decodes the same connection for comparison.
enum Peer {
    Zlib(Box<Inflate>),
    Zstd(DCtx<'static>),
}

impl Peer {
    fn new(transport: Transport) -> Peer {
        match transport {
            Transport::Zlib => Peer::Zlib(Box::new(Inflate::new(true, 15))),
            _ => {
                let mut context = DCtx::create();
                context.set_parameter(DParameter::WindowLogMax(16)).expect("a parameter");
                Peer::Zstd(context)
            }
        }
    }

    /// Decodes a frame and appends its content to `out`, at most up to one byte above [`LIMIT`].
    /// Returns `None` if zlib-rs or libzstd reports an error.
    fn frame(&mut self, frame: &[u8], out: &mut Vec<u8>) -> Option<()> {
        // libzstd fails at the 16th call that consumes and produces nothing, so it gets no empty
        // frames.
        if frame.is_empty() {
            return Some(());
        }
        let mut room = vec![0; LIMIT + 1 - out.len().min(LIMIT)];
        let written = match self {
            Peer::Zlib(inflate) => {
                let before = inflate.total_out();
                inflate.decompress(frame, &mut room, InflateFlush::NoFlush).ok()?;
                (inflate.total_out() - before) as usize
            }
            Peer::Zstd(context) => {
                let mut input = InBuffer::around(frame);
                let mut output = OutBuffer::around(&mut room[..]);
                loop {
                    let before = (input.pos(), output.pos());
                    context.decompress_stream(&mut output, &mut input).ok()?;
                    if before == (input.pos(), output.pos()) {
                        break output.pos();
                    }
                }
            }
        };
        out.extend_from_slice(&room[..written]);
        Some(())
    }
}

/// Decodes a connection frame by frame. The first byte chooses transport and checks. Then come
/// frames, each after a byte with its length; if the top bit of the byte is set, the length is 64
/// times the other bits.
///
/// Each message is compared with what zlib-rs or libzstd decodes, and with a session that gets all
/// frames of the message at once.
///
/// # Panics
/// If the payloads differ, a payload is above the limit, an error does not persist, or a session or
/// a scratch holds too much memory.
pub fn gateway(data: &[u8]) {
    let Some((&choice, mut rest)) = data.split_first() else { return };
    let transport = Transport::STREAMS[usize::from(choice & 1)];
    let checks = match choice >> 1 & 3 {
        0 => Checks::NONE,
        1 => Checks::complete(Encoding::Json).sequence(true),
        _ => Checks::complete(Encoding::Etf).sequence(true),
    };
    let (mut scratch, mut other_scratch) = (Scratch::new(), Scratch::new());
    let limits = Limits::new().max_message(LIMIT);
    let mut session = Session::new(transport, limits).checks(checks).keep_recent(4, 1000);
    let mut joined = Session::new(transport, limits);
    let mut peer = Peer::new(transport);
    // The frames of the current message, their content as zlib-rs or libzstd decodes it, and
    // whether they have accepted all frames so far.
    let (mut parts, mut theirs, mut sound) = (Vec::new(), Vec::new(), true);
    while let Some((&len, after)) = rest.split_first() {
        let len = if len < 128 { usize::from(len) } else { 64 * usize::from(len & 127) };
        let (frame, after) = after.split_at(len.min(after.len()));
        rest = after;
        parts.extend_from_slice(frame);
        sound &= peer.frame(frame, &mut theirs).is_some();
        match session.message(frame, &mut scratch) {
            Ok(Some(message)) => {
                assert!(message.payload.len() <= LIMIT);
                assert!(sound, "the peer refuses it");
                assert_eq!(message.payload, theirs);
                let at_once = joined.message(&parts, &mut other_scratch).expect("sound").expect("whole");
                assert_eq!(at_once.payload, theirs);
                if let (Some(encoding), Some(envelope)) = (checks.encoding, message.envelope) {
                    assert!(Envelope::peek(message.payload, encoding).is_ok(), "{envelope:?}");
                }
            }
            Ok(None) => {
                assert_eq!(transport, Transport::Zlib);
                continue;
            }
            Err(error) => {
                assert!(error.offset() <= session.consumed() + data.len() as u64);
                assert_eq!(session.message(frame, &mut scratch), Err(error));
                session.reset();
                assert!(session.error().is_none() && session.messages() == 0);
                joined.reset();
                (peer, sound) = (Peer::new(transport), true);
            }
        }
        parts.clear();
        theirs.clear();
        assert!(session.memory() <= MEMORY + data.len() && scratch.memory() <= MEMORY);
    }
}

/// Decodes the bytes, between a zlib header and the end of a flush, as one message of a zlib
/// stream, and compares with zlib-rs.
///
/// # Panics
/// If verdicts or contents differ, apart from the exceptions that the code names.
pub fn gateway_zlib(data: &[u8]) {
    let frame = [&[0x78, 0x9c], data, &[0, 0, 0xff, 0xff]].concat();
    let mut inflate = Inflate::new(true, 15);
    let mut expected = vec![0; LIMIT + 1];
    let verdict = inflate.decompress(&frame, &mut expected, InflateFlush::NoFlush);
    let len = inflate.total_out() as usize;
    let mut scratch = Scratch::new();
    let limits = Limits::new().max_message(LIMIT);
    match Session::new(Transport::Zlib, limits).message(&frame, &mut scratch) {
        Ok(Some(message)) => {
            assert!(verdict.is_ok());
            assert_eq!(message.payload, &expected[..len]);
        }
        Ok(None) => assert!(verdict.is_ok() || len > LIMIT),
        Err(error) if error.kind() == Kind::Limit => assert!(len > LIMIT || verdict.is_err()),
        // Gateways never end their streams, so a session refuses the end, which zlib-rs accepts.
        Err(error) if error.error.message == "the zlib stream ends" => {}
        // A session refuses an empty code for code lengths at once. zlib-rs reports it only after
        // it has read all lengths, which may be beyond this message.
        Err(_) => assert!(
            verdict.is_err() || inflate.decompress(&[0; 64], &mut expected, InflateFlush::NoFlush).is_err()
        ),
    }
}
