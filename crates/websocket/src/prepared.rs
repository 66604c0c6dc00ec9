//! [`Prepared`]: a message for many connections, compressed only once.

use std::sync::{Arc, OnceLock};

use linerate_deflate::session::{Session, SessionOptions};
use linerate_deflate::{Format, Level, Scratch};

use crate::frame::{Header, RSV1};

/// Opcodes of messages (RFC 6455, section 5.2).
const TEXT: u8 = 1;
const BINARY: u8 = 2;

/// Size of the largest window, in bytes.
const MAX_WINDOW: usize = 1 << 15;

/// A message that is compressed once and sent on any number of connections, by
/// [`DeflateStream::queue`] or [`Encoder::prepared`]. It refers to no other message, so every peer
/// can decode it, with takeover or without. Clones are cheap, and share the compressed bytes.
///
/// The message is compressed when a connection first needs it, once for each window size that makes
/// a difference. The level is 6 unless [`level`](Self::level) sets another: it takes more time
/// once, and saves bytes on every connection. A message that does not become smaller is sent as it
/// is.
///
/// ```
/// use linerate_websocket::{Agreement, DeflateStream, Direction, Options, Prepared, Role};
/// use std::io::Write;
///
/// let news = Prepared::text("the same for all, the same for all");
/// for bits in [9, 15] {
///     let direction = Direction::window_bits(bits);
///     let agreement = Some(Agreement { server: direction, client: direction });
///     let mut socket = DeflateStream::agreed(Vec::new(), Role::Server, Options::default(), agreement)?;
///     socket.queue(&news)?;
///     socket.flush()?;
///     assert!(socket.get_ref().len() < news.payload().len());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`DeflateStream::queue`]: crate::DeflateStream::queue
/// [`Encoder::prepared`]: crate::Encoder::prepared
#[derive(Clone)]
pub struct Prepared(Arc<Content>);

struct Content {
    /// The frame that a server sends if the message is not compressed.
    plain: Arc<[u8]>,
    level: Level,
    /// The compressed frames for windows of 2^8 to 2^15 bytes; `None` if the payload would not
    /// become smaller.
    compressed: [OnceLock<Option<Arc<[u8]>>>; 8],
    /// The end of the payload, at most as long as the largest window.
    recent: Arc<[u8]>,
}

impl Prepared {
    /// Creates a text message.
    pub fn text(text: &str) -> Self {
        Prepared::new(TEXT, text.as_bytes(), Level::Deeper)
    }

    /// Creates a binary message.
    pub fn binary(payload: &[u8]) -> Self {
        Prepared::new(BINARY, payload, Level::Deeper)
    }

    /// The same message, to be compressed with another level. It shares nothing with this one.
    #[must_use]
    pub fn level(&self, level: Level) -> Self {
        Prepared::new(self.0.plain[0] & 15, self.payload(), level)
    }

    fn new(opcode: u8, payload: &[u8], level: Level) -> Self {
        let recent = payload[payload.len().saturating_sub(MAX_WINDOW)..].into();
        let plain = frame(opcode, 0, payload);
        Prepared(Arc::new(Content { plain, level, compressed: Default::default(), recent }))
    }

    /// The payload, uncompressed.
    pub fn payload(&self) -> &[u8] {
        payload_of(&self.0.plain)
    }

    /// The uncompressed frame of a server.
    pub(crate) fn plain(&self) -> &Arc<[u8]> {
        &self.0.plain
    }

    /// The compressed frame of a server, for a window of 2^`window_bits` bytes, with `window_bits`
    /// 8 to 15. `None` if the payload would not become smaller.
    pub(crate) fn compressed(&self, scratch: &mut Scratch, window_bits: u8) -> Option<&Arc<[u8]>> {
        let payload = self.payload();
        // No match reaches further back than the beginning of the message, so a short message needs
        // a small window only.
        let bits = (payload.len().next_power_of_two().ilog2() as u8).clamp(8, window_bits);
        let encode = || {
            let options = SessionOptions::new(Format::Deflate).level(self.0.level).window_bits(bits);
            let mut session = Session::new(options.takeover(false).keep_tail(false)).ok()?;
            let mut out = vec![0; payload.len().checked_sub(1)?];
            // If the output does not fit, the message does not become smaller.
            let len = session.message(scratch, payload, &mut out).ok()?;
            Some(frame(self.0.plain[0] & 15, RSV1, &out[..len]))
        };
        self.0.compressed[usize::from(bits - 8)].get_or_init(encode).as_ref()
    }

    /// The end of the payload, which later messages may refer to.
    pub(crate) fn recent(&self) -> &Arc<[u8]> {
        &self.0.recent
    }
}

/// Makes the frame in which a server sends a whole message.
fn frame(opcode: u8, rsv: u8, payload: &[u8]) -> Arc<[u8]> {
    let mut frame = Vec::new();
    Header { fin: true, rsv, opcode, mask: None, len: 0 }.write_frame(payload, &mut frame);
    frame.into()
}

/// The payload of a whole frame.
pub(crate) fn payload_of(frame: &[u8]) -> &[u8] {
    &frame[Header::size([frame[0], frame[1]])..]
}
