//! [`Outbound`]: compresses the frames of a library without extensions for the peer.

use linerate_core::Result;

use crate::codec::{Encoder, PIECE, Scratch};
use crate::frame::{CONTINUATION, Header, HeaderReader, RSV1, apply_mask, fresh_mask};
use crate::options::{Direction, Options, Role};
use crate::pending::Pending;
use crate::prepared::{Prepared, payload_of};

/// Where in the library's frames the input is.
enum OutboundPart {
    /// The input is in a header, or before it.
    Header,
    /// The input is in a payload that is passed on unchanged, with `left` bytes to come.
    Plain { left: u64 },
    /// The input is in a payload to compress, with `left` bytes to come. The bytes taken so far are
    /// in `payload`.
    Compressed { header: Header, left: u64 },
}

/// Takes the frames that a library writes, and returns frames of compressed messages. Control
/// frames pass unchanged, as do messages that are short, that the library has compressed, or that
/// are in one frame of at most [`PIECE`] bytes and do not shrink. If a frame is divided, the first
/// part keeps the mask that the library has drawn.
pub(crate) struct Outbound {
    role: Role,
    /// `None` on a connection without compression.
    encoder: Option<Encoder>,
    smallest: u64,
    reader: HeaderReader,
    state: OutboundPart,
    /// `Some` while a message to compress is being written; the flag tells whether its first frame
    /// was sent.
    message: Option<bool>,
    /// Whether more fragments of a message follow the data frame that began last.
    is_fragmented: bool,
    /// Prepared messages to send once the library's message is whole.
    waiting: Vec<Prepared>,
    /// Unmasked bytes of the payload that were not yet encoded.
    payload: Vec<u8>,
    /// Number of bytes of this frame's payload that were taken.
    position: u64,
}

impl Outbound {
    /// Creates the outbound side. `direction` is `None` on a connection without compression.
    pub(crate) fn new(role: Role, direction: Option<Direction>, options: &Options) -> Result<Self> {
        let encoder = |direction| {
            Ok(Encoder::new(direction, options.level)?.remember_prepared(options.remember_prepared))
        };
        Ok(Outbound {
            role,
            encoder: direction.map(encoder).transpose()?,
            smallest: options.smallest as u64,
            reader: HeaderReader::default(),
            state: OutboundPart::Header,
            message: None,
            is_fragmented: false,
            waiting: Vec::new(),
            payload: Vec::new(),
            position: 0,
        })
    }

    /// Appends a prepared message to `out`, or keeps it until the message and the frame that the
    /// library is writing are whole.
    pub(crate) fn queue(&mut self, scratch: &mut Scratch, message: &Prepared, out: &mut Pending) {
        if self.is_between_frames() && !self.is_fragmented {
            self.put(scratch, message, out);
        } else {
            self.waiting.push(message.clone());
        }
    }

    fn put(&mut self, scratch: &mut Scratch, message: &Prepared, out: &mut Pending) {
        let pays = message.payload().len() as u64 >= self.smallest;
        let encoder = self.encoder.as_mut().filter(|_| pays);
        let frame = encoder.and_then(|encoder| encoder.prepared_frame(scratch, message));
        let frame = frame.unwrap_or(message.plain());
        match self.role {
            Role::Server => out.share(frame),
            Role::Client => Header { mask: Some(fresh_mask()), ..Header::read(frame) }
                .write_frame(payload_of(frame), out.own()),
        }
    }

    /// Takes all of `input`, and appends the bytes for the peer to `out`.
    pub(crate) fn write(&mut self, scratch: &mut Scratch, input: &[u8], out: &mut Pending) -> Result<()> {
        let mut at = 0;
        loop {
            let rest = &input[at..];
            match self.state {
                OutboundPart::Header => {
                    if !self.waiting.is_empty() && self.is_between_frames() && !self.is_fragmented {
                        for message in std::mem::take(&mut self.waiting) {
                            self.put(scratch, &message, out);
                        }
                    }
                    let (n, header) = self.reader.read(rest);
                    at += n;
                    match header {
                        Some(header) => self.state = self.begin(header, out.own()),
                        None => return Ok(()),
                    }
                }
                OutboundPart::Plain { left: 0 } => self.state = OutboundPart::Header,
                OutboundPart::Plain { left } => {
                    let n = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                    if n == 0 {
                        return Ok(());
                    }
                    out.own().extend_from_slice(&rest[..n]);
                    at += n;
                    self.state = OutboundPart::Plain { left: left - n as u64 };
                }
                OutboundPart::Compressed { header, left } => {
                    let room = PIECE - self.payload.len();
                    let n = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len()).min(room);
                    self.take(&header, &rest[..n]);
                    at += n;
                    let left = left - n as u64;
                    if left == 0 {
                        self.encode(scratch, header, header.fin, out.own())?;
                        (self.state, self.payload) = (OutboundPart::Header, Vec::new());
                    } else if self.payload.len() == PIECE {
                        self.encode(scratch, header, false, out.own())?;
                        self.state = OutboundPart::Compressed { header, left };
                    } else {
                        self.state = OutboundPart::Compressed { header, left };
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Returns the state after a header. The header of a frame that is passed on unchanged is
    /// appended to `out`.
    fn begin(&mut self, header: Header, out: &mut Vec<u8>) -> OutboundPart {
        let starts = !header.is_control() && header.opcode != CONTINUATION;
        let pays = !header.fin || header.len >= self.smallest;
        if !header.is_control() {
            self.is_fragmented = !header.fin;
        }
        if let Some(encoder) = self.encoder.as_mut().filter(|_| starts) {
            if header.rsv & RSV1 != 0 {
                // The library has compressed this message itself, so the encoder does not know its
                // content.
                encoder.forget();
            } else if pays && header.rsv == 0 {
                self.message = Some(false);
            }
        }
        if header.is_control() || self.message.is_none() {
            out.extend_from_slice(self.reader.bytes());
            return OutboundPart::Plain { left: header.len };
        }
        self.position = 0;
        OutboundPart::Compressed { header, left: header.len }
    }

    fn take(&mut self, header: &Header, input: &[u8]) {
        let start = self.payload.len();
        self.payload.extend_from_slice(input);
        apply_mask(&mut self.payload[start..], header.mask.unwrap_or_default(), self.position);
        self.position += input.len() as u64;
    }

    /// Writes a frame with the bytes in `payload`: the message or a fragment of it.
    fn encode(&mut self, scratch: &mut Scratch, header: Header, fin: bool, out: &mut Vec<u8>) -> Result<()> {
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        let has_begun = self.message == Some(true);
        let opcode = if has_begun { CONTINUATION } else { header.opcode };
        let rsv = if has_begun { 0 } else { RSV1 };
        // Each frame needs a mask of its own (RFC 6455, section 5.3), so only the first piece of
        // the library's frame keeps the library's mask.
        let is_first_piece = self.position == self.payload.len() as u64;
        let mask = if is_first_piece { header.mask } else { header.mask.map(|_| fresh_mask()) };
        let header = Header { fin, rsv, opcode, mask, ..header };
        if fin && !has_begun {
            match encoder.message(scratch, &self.payload)? {
                Some(encoded) => header.write_frame(encoded, out),
                None => Header { rsv: 0, ..header }.write_frame(&self.payload, out),
            }
        } else {
            header.write_frame(encoder.part(scratch, &self.payload, fin)?, out);
        }
        self.payload.clear();
        self.message = (!fin).then_some(true);
        Ok(())
    }

    /// Whether the input so far ends where a frame ends, so that another frame may follow.
    pub(crate) fn is_between_frames(&self) -> bool {
        matches!(self.state, OutboundPart::Header | OutboundPart::Plain { left: 0 }) && self.reader.is_empty()
    }

    /// Number of bytes held between calls.
    pub(crate) fn memory(&self) -> usize {
        let encoder = self.encoder.as_ref().map_or(0, |encoder| encoder.memory() - size_of::<Encoder>());
        let waiting = self.waiting.capacity() * size_of::<Prepared>();
        size_of::<Self>() + encoder + waiting + self.payload.capacity()
    }
}
