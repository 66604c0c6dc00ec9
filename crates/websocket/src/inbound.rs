//! [`Inbound`]: decodes the peer's frames for a library without extensions.

use std::cell::Cell;

use linerate_core::{Error, Kind, Result};

use crate::codec::{Decoder, PIECE, Scratch};
use crate::frame::{CONTINUATION, Header, HeaderReader, RSV1, apply_mask};
use crate::options::{Direction, Options};

/// Largest number of bytes that are decoded at once.
const DECODED: usize = 1 << 14;

/// Where in the peer's frames the input is.
enum InboundPart {
    /// The input is in a header, or before it.
    Header,
    /// The input is in a payload that is passed on unchanged, with `left` bytes to come.
    Plain { left: u64 },
    /// The input is in the payload of a frame of a compressed message, at byte `position` of that
    /// payload.
    Compressed { header: Header, position: u64 },
    /// The input is after the last payload of a compressed message, whose end is still to be
    /// decoded.
    Ending { header: Header },
}

/// Takes the frames that the peer sends, and returns frames with decoded payloads. In the frames of
/// compressed messages RSV1 is cleared, and a mask is replaced by zeros; these frames may be
/// divided or joined, and a message that becomes large is divided into fragments. Other frames are
/// unchanged.
pub(crate) struct Inbound {
    decoder: Decoder,
    reader: HeaderReader,
    state: InboundPart,
    /// The opcode of the next frame for the library, inside a compressed message: the opcode of the
    /// message, or [`CONTINUATION`].
    opcode: Option<u8>,
    /// Decoded bytes of the message that were not yet passed on.
    decoded: Vec<u8>,
}

impl Inbound {
    pub(crate) fn new(direction: Direction, options: &Options) -> Result<Self> {
        Ok(Inbound {
            decoder: Decoder::new(direction, options)?,
            reader: HeaderReader::default(),
            state: InboundPart::Header,
            opcode: None,
            decoded: Vec::new(),
        })
    }

    /// Reads `input` until it ends or `out` has at least [`PIECE`] bytes. Returns how much was
    /// read. `input` is changed by unmasking.
    pub(crate) fn read(
        &mut self,
        scratch: &mut Buffer,
        input: &mut [u8],
        out: &mut Vec<u8>,
    ) -> std::result::Result<usize, Refusal> {
        let mut at = 0;
        while out.len() < PIECE {
            match self.state {
                InboundPart::Header => {
                    let (n, header) = self.reader.read(&input[at..]);
                    at += n;
                    match header {
                        Some(header) => self.state = self.begin(header, out)?,
                        None => break,
                    }
                }
                InboundPart::Plain { left: 0 } => self.state = InboundPart::Header,
                InboundPart::Plain { left } => {
                    let rest = &input[at..];
                    let n = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len()).min(PIECE);
                    if n == 0 {
                        break;
                    }
                    out.extend_from_slice(&rest[..n]);
                    at += n;
                    self.state = InboundPart::Plain { left: left - n as u64 };
                }
                InboundPart::Compressed { header, position } if position == header.len => {
                    self.state =
                        if header.fin { InboundPart::Ending { header } } else { InboundPart::Header };
                    if !header.fin && !self.decoded.is_empty() {
                        self.give(&header, false, out);
                    }
                }
                InboundPart::Compressed { header, position } => {
                    let left = usize::try_from(header.len - position).unwrap_or(usize::MAX);
                    let n = left.min(input.len() - at);
                    if n == 0 {
                        break;
                    }
                    let read = self.decode(scratch, &header, &mut input[at..at + n], position, out)?;
                    at += read;
                    self.state = InboundPart::Compressed { header, position: position + read as u64 };
                }
                InboundPart::Ending { header } => {
                    let (n, done) = self.decoder.finish(&mut scratch.scratch, &mut scratch.buffer)?;
                    self.decoded.extend_from_slice(&scratch.buffer[..n]);
                    if done || self.decoded.len() >= PIECE {
                        self.give(&header, done, out);
                    }
                    if done {
                        (self.state, self.opcode, self.decoded) = (InboundPart::Header, None, Vec::new());
                    }
                }
            }
        }
        Ok(at)
    }

    /// Returns the state after a header. The header of a frame that is passed on unchanged is
    /// appended to `out`.
    fn begin(&mut self, header: Header, out: &mut Vec<u8>) -> std::result::Result<InboundPart, Refusal> {
        let is_data = !header.is_control();
        if header.len >> 63 != 0 {
            return Err(protocol("a frame has 2^63 bytes or more"));
        }
        let starts = is_data && header.opcode != CONTINUATION;
        match self.opcode {
            Some(_) if starts => return Err(protocol("a message begins inside another one")),
            _ if header.rsv & RSV1 != 0 && !starts => {
                return Err(protocol("RSV1 is set in a control frame or a continuation"));
            }
            None if starts && header.rsv & RSV1 != 0 => self.opcode = Some(header.opcode),
            Some(_) if is_data => {}
            _ => {
                out.extend_from_slice(self.reader.bytes());
                return Ok(InboundPart::Plain { left: header.len });
            }
        }
        if header.rsv & !RSV1 != 0 {
            return Err(protocol("RSV2 or RSV3 is set in a compressed message"));
        }
        Ok(InboundPart::Compressed { header, position: 0 })
    }

    /// Decodes a part of a payload and returns how many bytes were read. `input` is unmasked in
    /// place; the bytes that were not read are masked again.
    fn decode(
        &mut self,
        scratch: &mut Buffer,
        header: &Header,
        input: &mut [u8],
        position: u64,
        out: &mut Vec<u8>,
    ) -> Result<usize> {
        let mask = header.mask.unwrap_or_default();
        apply_mask(input, mask, position);
        let mut read = 0;
        loop {
            let (n, written) =
                self.decoder.part(&mut scratch.scratch, &input[read..], &mut scratch.buffer)?;
            read += n;
            self.decoded.extend_from_slice(&scratch.buffer[..written]);
            if self.decoded.len() >= PIECE {
                self.give(header, false, out);
            }
            let is_done = read == input.len() && written < scratch.buffer.len();
            if is_done || out.len() >= PIECE {
                apply_mask(&mut input[read..], mask, position + read as u64);
                return Ok(read);
            }
        }
    }

    /// Passes the decoded bytes on, as a fragment of the message, or its end if `fin` is set.
    fn give(&mut self, header: &Header, fin: bool, out: &mut Vec<u8>) {
        let opcode = self.opcode.replace(CONTINUATION).unwrap_or(CONTINUATION);
        let mask = header.mask.map(|_| [0; 4]);
        Header { fin, rsv: 0, opcode, mask, len: 0 }.write_frame(&self.decoded, out);
        self.decoded.clear();
    }

    /// Whether a compressed message has begun, so that there may be more output without more input.
    pub(crate) fn is_inside_a_message(&self) -> bool {
        self.opcode.is_some()
    }

    /// Number of bytes held between calls.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>() - size_of::<Decoder>() + self.decoder.memory() + self.decoded.capacity()
    }
}

/// The reason for refusing the peer's data, and the code that the close frame states (RFC 6455,
/// section 7.4.1).
pub(crate) struct Refusal {
    pub(crate) error: Error,
    pub(crate) code: u16,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal { error, code: if error.kind == Kind::Limit { 1009 } else { 1007 } }
    }
}

/// A refusal for a violation of the protocol.
fn protocol(message: &'static str) -> Refusal {
    Refusal { error: Error::new(Kind::Corrupt, 0, message), code: 1002 }
}

/// A scratch, and a buffer to decode into.
pub(crate) struct Buffer {
    pub(crate) scratch: Scratch,
    pub(crate) buffer: Box<[u8]>,
}

impl Buffer {
    fn new() -> Self {
        Buffer { scratch: Scratch::new(), buffer: vec![0; DECODED].into() }
    }
}

thread_local! {
    /// Working memory of all connections that this thread serves.
    static BUFFER: Cell<Option<Box<Buffer>>> = const { Cell::new(None) };
}

/// Calls `work` with the working memory of the thread.
pub(crate) fn with_buffer<T>(work: impl FnOnce(&mut Buffer) -> T) -> T {
    // While the thread ends, there is no kept buffer, and the new one is not kept.
    let kept = BUFFER.try_with(Cell::take).ok().flatten();
    let mut buffer = kept.unwrap_or_else(|| Box::new(Buffer::new()));
    let result = work(&mut buffer);
    let _ = BUFFER.try_with(|place| place.set(Some(buffer)));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_memory_is_available_while_the_thread_ends() {
        struct Last;
        impl Drop for Last {
            fn drop(&mut self) {
                assert_eq!(with_buffer(|buffer| buffer.buffer.len()), DECODED);
            }
        }
        thread_local! {
            static LAST: Last = const { Last };
        }
        let ended = std::thread::spawn(|| {
            LAST.with(|_| ());
            with_buffer(|_| ());
        });
        assert!(ended.join().is_ok());
    }
}
