//! [`Encoder`] and [`Decoder`] of message payloads, without frames (RFC 7692, section 7.2).

use std::sync::Arc;

use linerate_core::{Error, Kind, Result};
use linerate_deflate::session::{Session, SessionOptions, message_bound};
use linerate_deflate::{Format, Level};
use linerate_inflate::{Status, StreamDecoder};

use crate::options::{Direction, Options};
use crate::prepared::{Prepared, payload_of};

/// The end of the empty stored block with which an encoder flushes. It is not sent at the end of a
/// message.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// Largest number of bytes of a message that a stream encodes at once; the rest of a longer message
/// goes into further fragments. A decoder reads at most as many before it checks its limit on
/// blocks.
pub(crate) const PIECE: usize = 1 << 16;

/// Number of deflate blocks that any message may have, besides two for each decoded byte, since
/// encoders that flush after every byte make two. A message with more is refused, because an empty
/// block takes only 10 bits but 0.5 us to decode.
const FREE_BLOCKS: u64 = 4096;

/// Number of consecutive prepared messages that an encoder remembers; it then forgets everything
/// before them. After 16 prepared messages of 300 bytes, later messages are 3.5 % larger than if
/// all 16 were remembered; with 1 they would be 12 % larger, with none 70 %.
const REMEMBERED: usize = 4;

/// Initial size of an output buffer that grows, in bytes.
const FIRST_BUFFER: usize = 4 << 10;

/// Largest buffer, in bytes, that stays for shorter messages after a longer one.
const MAX_KEPT: usize = 512 << 10;

/// Working memory of encoders and decoders. One per thread is enough.
pub struct Scratch {
    deflate: Box<linerate_deflate::Scratch>,
    inflate: linerate_inflate::Scratch,
    buffer: Vec<u8>,
}

impl Scratch {
    /// Creates a scratch for the best tier that this CPU supports.
    pub fn new() -> Self {
        Scratch {
            deflate: linerate_deflate::Scratch::boxed(),
            inflate: linerate_inflate::Scratch::new(),
            buffer: Vec::new(),
        }
    }

    /// Number of bytes held.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.deflate) + self.buffer.capacity()
    }

    /// Takes the buffer out, with at least `len` bytes. The caller puts it back. Frees a buffer of
    /// more than [`MAX_KEPT`] bytes if `len` is at most that.
    fn take_buffer(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = std::mem::take(&mut self.buffer);
        if len <= MAX_KEPT && buffer.len() > MAX_KEPT {
            buffer = Vec::new();
        }
        if buffer.len() < len {
            buffer.resize(len, 0);
        }
        buffer
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// Largest number of bytes that [`Encoder::part_into`] writes for a part of `n` bytes.
pub const fn part_bound(n: usize) -> usize {
    message_bound(n).saturating_add(TAIL.len())
}

/// Encodes the messages of one direction of a connection.
pub struct Encoder {
    session: Session,
    direction: Direction,
    remember_prepared: bool,
    /// Whether the peer got data that neither the session's window nor `unseen` has. The window
    /// must then be emptied before the next message.
    is_outdated: bool,
    /// Ends of the prepared messages that the peer got, but that are not in the session's window.
    /// They are entered when the next ordinary message is encoded, so a connection that sends only
    /// prepared messages spends no time on it.
    unseen: Vec<Arc<[u8]>>,
}

impl Encoder {
    /// Creates an encoder. With takeover it holds on the heap a window of 2^`window_bits` bytes,
    /// and an index of twice that size, at most 8 KiB; from level 4 on, hash chains instead: six
    /// times that size up to a window of 8 KiB, 80 KiB for 16 KiB, and 144 KiB for 32 KiB.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for window bits other than 8 to 15.
    pub fn new(direction: Direction, level: Level) -> Result<Self> {
        if direction.window_bits == 0 {
            return Err(Error::new(Kind::BadArgument, 0, "window bits must be 8 to 15"));
        }
        let options = SessionOptions::new(Format::Deflate)
            .level(level)
            .window_bits(direction.window_bits)
            .takeover(direction.takeover)
            .keep_tail(false);
        let session = Session::new(options)?;
        Ok(Encoder { session, direction, remember_prepared: true, is_outdated: false, unseen: Vec::new() })
    }

    /// Sets [`Options::remember_prepared`].
    #[must_use]
    pub fn remember_prepared(self, remember: bool) -> Self {
        Encoder { remember_prepared: remember, ..self }
    }

    /// Returns the compressed payload of a prepared message, which must then be sent in a frame
    /// with RSV1, since later messages may refer to it. `None` if it would not be smaller; the
    /// message must then be sent as it is.
    ///
    /// Once the message was compressed for this window size, the cost does not depend on the size
    /// of the message.
    pub fn prepared<'m>(&mut self, scratch: &mut Scratch, message: &'m Prepared) -> Option<&'m [u8]> {
        self.prepared_frame(scratch, message).map(|frame| payload_of(frame))
    }

    /// The same as [`prepared`](Self::prepared), but returns the frame that a server sends.
    pub(crate) fn prepared_frame<'m>(
        &mut self,
        scratch: &mut Scratch,
        message: &'m Prepared,
    ) -> Option<&'m Arc<[u8]>> {
        let Direction { window_bits, takeover } = self.direction;
        let frame = message.compressed(&mut scratch.deflate, window_bits)?;
        if takeover && self.remember_prepared {
            let recent = message.recent();
            if recent.len() >= 1 << window_bits {
                self.forget();
            } else if self.unseen.len() == REMEMBERED {
                self.unseen.remove(0);
                self.is_outdated = true;
            }
            self.unseen.push(Arc::clone(recent));
        } else {
            self.forget();
        }
        Some(frame)
    }

    /// Keeps later messages from referring to anything before, since the peer gets a compressed
    /// message that this encoder does not know.
    pub(crate) fn forget(&mut self) {
        self.unseen.clear();
        self.is_outdated = true;
    }

    /// Enters into the session's window the prepared messages that the peer got since the last
    /// ordinary one.
    fn catch_up(&mut self) {
        if std::mem::take(&mut self.is_outdated) {
            self.session.forget();
        }
        for recent in std::mem::take(&mut self.unseen) {
            self.session.remember(&recent);
        }
    }

    /// Encodes a whole message. Returns `None` if the message would not become smaller; it must
    /// then be sent as it is, and later messages do not refer to it.
    ///
    /// # Errors
    /// Returns the errors of [`Session::message`]; none is possible today.
    pub fn message<'s>(&mut self, scratch: &'s mut Scratch, payload: &[u8]) -> Result<Option<&'s [u8]>> {
        let most = payload.len().saturating_sub(1);
        let mut buffer = scratch.take_buffer(most);
        let encoded = self.message_into(scratch, payload, &mut buffer[..most]);
        scratch.buffer = buffer;
        Ok(encoded?.map(|n| &scratch.buffer[..n]))
    }

    /// Encodes a whole message into `out` and returns the number of bytes. Returns `None` if the
    /// message would not become smaller, or does not fit; it must then be sent as it is, and later
    /// messages do not refer to it.
    ///
    /// # Errors
    /// Returns the errors of [`message`](Self::message).
    pub fn message_into(
        &mut self,
        scratch: &mut Scratch,
        payload: &[u8],
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        let Some(most) = payload.len().checked_sub(1) else { return Ok(None) };
        let most = most.min(out.len());
        self.catch_up();
        match self.session.message(&mut scratch.deflate, payload, &mut out[..most]) {
            Ok(n) => Ok(Some(n)),
            Err(error) if error.kind == Kind::OutputTooSmall => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Encodes a part of a message, which may be empty. `is_last` tells that the part ends the
    /// message.
    ///
    /// # Errors
    /// Returns the errors of [`message`](Self::message).
    pub fn part<'s>(&mut self, scratch: &'s mut Scratch, part: &[u8], is_last: bool) -> Result<&'s [u8]> {
        let mut buffer = scratch.take_buffer(part_bound(part.len()));
        let encoded = self.part_into(scratch, part, is_last, &mut buffer);
        scratch.buffer = buffer;
        Ok(&scratch.buffer[..encoded?])
    }

    /// Encodes a part of a message into `out`, as [`part`](Self::part) does. Returns the number of
    /// bytes, at most [`part_bound`]`(part.len())`.
    ///
    /// # Errors
    /// Returns [`Kind::OutputTooSmall`] if the result does not fit `out`. The part then does not
    /// count, and can be encoded again; from level 4 on the result may be another one.
    pub fn part_into(
        &mut self,
        scratch: &mut Scratch,
        part: &[u8],
        is_last: bool,
        out: &mut [u8],
    ) -> Result<usize> {
        let tail: &[u8] = if is_last { &[] } else { &TAIL };
        let too_small = Error::new(Kind::OutputTooSmall, 0, "the output has no room for a part of a message");
        let room = out.len().checked_sub(tail.len()).ok_or(too_small)?;
        self.catch_up();
        let n = self.session.message(&mut scratch.deflate, part, &mut out[..room])?;
        out[n..n + tail.len()].copy_from_slice(tail);
        Ok(n + tail.len())
    }

    /// Number of bytes that this encoder holds, without the content of prepared messages, which
    /// connections share.
    pub fn memory(&self) -> usize {
        let unseen = self.unseen.capacity() * size_of::<Arc<[u8]>>();
        size_of::<Self>() - size_of::<Session>() + self.session.memory() + unseen
    }
}

/// Decodes the messages of one direction of a connection.
pub struct Decoder {
    /// The state of the decoder. Without takeover it is `None` between messages.
    stream: Option<StreamDecoder<'static>>,
    direction: Direction,
    message_limit: u64,
    ratio_limit: u32,
    /// Compressed and decoded bytes of the message so far.
    sizes: (u64, u64),
    /// Number of blocks that the stream had decoded when the message began.
    first_block: u32,
    /// Position of the stream when the message began. It counts the ends of earlier messages, which
    /// are not sent.
    begin: u64,
    /// Number of bytes of [`TAIL`] that the stream has read.
    tail: u8,
}

impl Decoder {
    /// Creates a decoder with the limits of `options`. Its window is on the heap and grows with the
    /// messages up to 2^`window_bits` bytes; without takeover it is freed after each message.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for window bits other than 8 to 15.
    pub fn new(direction: Direction, options: &Options) -> Result<Self> {
        let Options { message_limit, ratio_limit, .. } = *options;
        let stream = Some(new_stream(direction)?).filter(|_| direction.takeover);
        let (sizes, first_block, begin, tail) = ((0, 0), 0, 0, 0);
        Ok(Decoder { stream, direction, message_limit, ratio_limit, sizes, first_block, begin, tail })
    }

    /// Decodes `src`, a part of a message, into `dst`, until one of them ends. Returns the numbers
    /// of bytes read and written. A part is done when all of it was read and `dst` was not filled.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] for damaged data, and [`Kind::Limit`] for a message beyond a limit
    /// of [`Options`] or with too many empty blocks, or if memory runs out. The connection must
    /// then be closed. Offsets count compressed bytes of the message.
    pub fn part(&mut self, scratch: &mut Scratch, src: &[u8], dst: &mut [u8]) -> Result<(usize, usize)> {
        let (mut read, mut written) = (0, 0);
        loop {
            let (direction, stream) = (self.direction, &mut self.stream);
            let stream = match stream {
                Some(stream) => stream,
                None => stream.insert(new_stream(direction)?),
            };
            // The limit on blocks is checked after each piece.
            let piece = &src[read..src.len().min(read + PIECE)];
            let part = stream
                .decode(&mut scratch.inflate, piece, &mut dst[written..])
                .map_err(|error| error.with_offset(error.offset.saturating_sub(self.begin)))?;
            (read, written) = (read + part.read, written + part.written);
            let blocks = u64::from(stream.blocks().wrapping_sub(self.first_block));
            if blocks > FREE_BLOCKS + 2 * (self.sizes.1 + written as u64) {
                let most = "a message has too many blocks without content";
                return Err(Error::new(Kind::Limit, self.sizes.0 + read as u64, most));
            }
            match part.status {
                // A block was marked as the last one of its stream. The message may go on at the
                // next byte.
                Status::End if read < src.len() => stream.continue_data(),
                Status::NeedInput if read < src.len() => {}
                _ => break,
            }
        }
        self.count(read, written)?;
        Ok((read, written))
    }

    /// Ends a message once all its parts were read. Decodes the rest of it into `dst`, and returns
    /// the number of bytes and whether that was all; if not, call it again. A message without a
    /// compressed byte is empty: encoders built on zlib send one for an empty message that follows
    /// a flush.
    ///
    /// # Errors
    /// Returns the errors of [`part`](Self::part), and [`Kind::Corrupt`] if the message ends
    /// neither with a flush of its encoder nor with a final block.
    pub fn finish(&mut self, scratch: &mut Scratch, dst: &mut [u8]) -> Result<(usize, bool)> {
        let mut written = 0;
        if let Some(stream) = self.stream.as_mut().filter(|_| self.sizes.0 > 0) {
            let tail = &TAIL[usize::from(self.tail)..];
            let part = stream.decode(&mut scratch.inflate, tail, dst).map_err(|error| {
                error.with_offset(error.offset.saturating_sub(self.begin).min(self.sizes.0))
            })?;
            written = part.written;
            self.tail += part.read as u8;
            let is_whole = match part.status {
                Status::NeedOutput => {
                    self.count(0, written)?;
                    return Ok((written, false));
                }
                // The last block of the message was marked as the last one of its stream, and
                // nothing followed.
                Status::End => {
                    stream.continue_data();
                    self.tail == 0
                }
                _ => stream.is_flushed(),
            };
            if !is_whole {
                return Err(Error::new(Kind::Corrupt, self.sizes.0, "a message ends inside a block"));
            }
        }
        self.count(0, written)?;
        (self.sizes, self.tail) = ((0, 0), 0);
        if !self.direction.takeover {
            self.stream = None;
        }
        self.first_block = self.stream.as_ref().map_or(0, StreamDecoder::blocks);
        self.begin = self.stream.as_ref().map_or(0, StreamDecoder::position);
        Ok((written, true))
    }

    /// Decodes a part of a message into the beginning of `out`, which grows as needed. Returns the
    /// number of bytes, at most `limit`. `is_last` tells that the part ends the message.
    ///
    /// # Errors
    /// Returns the errors of [`part`](Self::part) and [`finish`](Self::finish), and [`Kind::Limit`]
    /// beyond `limit` bytes or if memory runs out.
    pub fn part_to_buffer(
        &mut self,
        scratch: &mut Scratch,
        part: &[u8],
        is_last: bool,
        out: &mut Vec<u8>,
        limit: usize,
    ) -> Result<usize> {
        let (mut rest, mut len) = (part, 0);
        loop {
            let (read, written) = self.part(scratch, rest, free_space(out, len, limit)?)?;
            (rest, len) = (&rest[read..], len + written);
            if rest.is_empty() && len < out.len() {
                break;
            }
        }
        let mut is_done = !is_last;
        while !is_done {
            let (written, done) = self.finish(scratch, free_space(out, len, limit)?)?;
            (len, is_done) = (len + written, done);
        }
        if len > limit { Err(TOO_LARGE) } else { Ok(len) }
    }

    fn count(&mut self, read: usize, written: usize) -> Result<()> {
        let (all_read, all_written) = &mut self.sizes;
        *all_read += read as u64;
        *all_written += written as u64;
        let most = (*all_read).saturating_mul(self.ratio_limit.into()).max(PIECE as u64);
        if *all_written > most.min(self.message_limit) {
            return Err(TOO_LARGE.with_offset(*all_read));
        }
        Ok(())
    }

    /// Number of bytes that this decoder holds.
    pub fn memory(&self) -> usize {
        let stream = self.stream.as_ref().map_or(0, |stream| stream.memory() - size_of_val(stream));
        size_of::<Self>() + stream
    }
}

const TOO_LARGE: Error = Error::new(Kind::Limit, 0, "a message is larger than the limit");

/// Returns the bytes of `out` after `len`, at least one, so that decoding a message of `limit`
/// bytes can end before the buffer is full. A `len` above `limit` is an error.
fn free_space(out: &mut Vec<u8>, len: usize, limit: usize) -> Result<&mut [u8]> {
    if len > limit {
        return Err(TOO_LARGE);
    }
    if len == out.len() {
        let grown = (2 * len).max(FIRST_BUFFER).min(limit.saturating_add(1));
        let no_memory = Error::new(Kind::Limit, 0, "out of memory for a message");
        out.try_reserve_exact(grown - len).map_err(|_| no_memory)?;
        out.resize(grown, 0);
    }
    Ok(&mut out[len..])
}

/// Creates the stream of a decoder. A message may use the whole window even without takeover.
fn new_stream(direction: Direction) -> Result<StreamDecoder<'static>> {
    let options = linerate_inflate::Options::new(linerate_inflate::Format::Deflate);
    StreamDecoder::new(options.window_bits(direction.window_bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_of_a_long_message_is_freed_by_the_next_short_one() {
        let mut scratch = Scratch::new();
        scratch.buffer = scratch.take_buffer(100);
        let before = scratch.memory();
        scratch.buffer = scratch.take_buffer(64 << 20);
        assert!(scratch.memory() > 64 << 20);
        scratch.buffer = scratch.take_buffer(100);
        assert_eq!(scratch.memory(), before);
    }

    /// Decodes a whole message into output buffers of `room` bytes.
    fn decode(decoder: &mut Decoder, scratch: &mut Scratch, mut src: &[u8], room: usize) -> Result<Vec<u8>> {
        let (mut message, mut buffer) = (Vec::new(), vec![0; room]);
        loop {
            let (read, written) = decoder.part(scratch, src, &mut buffer)?;
            src = &src[read..];
            message.extend_from_slice(&buffer[..written]);
            if src.is_empty() && written < room {
                break;
            }
        }
        loop {
            let (written, done) = decoder.finish(scratch, &mut buffer)?;
            message.extend_from_slice(&buffer[..written]);
            if done {
                return Ok(message);
            }
        }
    }

    fn new_decoder(direction: Direction) -> Decoder {
        Decoder::new(direction, &Options::default()).expect("a decoder")
    }

    #[test]
    fn the_examples_of_the_rfc_decode() {
        let mut scratch = Scratch::new();
        // The examples of RFC 7692, sections 7.2.3.1 to 7.2.3.6.
        let examples: [(&[&[u8]], &[&str]); 6] = [
            (&[&[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]], &["Hello"]),
            (
                &[&[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00], &[0xf2, 0x00, 0x11, 0x00, 0x00]],
                &["Hello", "Hello"],
            ),
            (&[&[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00]], &["Hello"]),
            (&[&[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]], &["Hello"]),
            (&[&[0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00]], &["Hello"]),
            (&[&[0x00], &[0x00]], &["", ""]),
        ];
        for (encoded, plain) in examples {
            for room in [1, 2, 7, 100] {
                let mut decoder = new_decoder(Direction::default());
                for (encoded, plain) in encoded.iter().zip(plain) {
                    assert_eq!(
                        decode(&mut decoder, &mut scratch, encoded, room),
                        Ok(plain.as_bytes().to_vec())
                    );
                }
            }
        }
        // Some encoders send a final block with nothing after it. Another message follows.
        let mut decoder = new_decoder(Direction::default());
        for message in [&[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00][..], &[0xf2, 0x00, 0x11, 0x00, 0x00]] {
            assert_eq!(decode(&mut decoder, &mut scratch, message, 100), Ok(b"Hello".to_vec()));
        }
    }

    #[test]
    fn messages_whole_and_in_parts_round_trip_with_every_window_and_both_takeovers() {
        let mut scratch = Scratch::new();
        for (bits, takeover) in (8..=15).flat_map(|bits| [(bits, true), (bits, false)]) {
            let direction = Direction { window_bits: bits, takeover };
            let mut encoder = Encoder::new(direction, Level::Default).expect("an encoder");
            let mut decoder = new_decoder(direction);
            for i in 0..40_usize {
                let text = format!("{{\"op\":0,\"n\":{i},\"t\":\"PRESENCE_UPDATE\"}}").repeat(1 + i * i / 8);
                let encoded = match i % 3 {
                    0 => encoder
                        .message(&mut scratch, text.as_bytes())
                        .expect("encoded")
                        .expect("smaller")
                        .to_vec(),
                    _ => {
                        let mut encoded = Vec::new();
                        for part in text.as_bytes().chunks(100 * i) {
                            encoded
                                .extend_from_slice(encoder.part(&mut scratch, part, false).expect("encoded"));
                        }
                        encoded.extend_from_slice(encoder.part(&mut scratch, b"", true).expect("encoded"));
                        encoded
                    }
                };
                let room = [1, 100, 1 << 16][i % 3];
                assert_eq!(
                    decode(&mut decoder, &mut scratch, &encoded, room),
                    Ok(text.into_bytes()),
                    "{bits} {i}"
                );
            }
            assert!(decoder.memory() < 600 + if takeover { 1 << bits } else { 0 });
        }
    }

    #[test]
    fn a_message_that_does_not_become_smaller_leaves_no_trace() {
        let mut scratch = Scratch::new();
        let mut noise: Vec<u8> = Vec::new();
        let mut state = 1_u64;
        noise.resize_with(300, || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        });
        let direction = Direction::window_bits(9);
        let [mut one, mut other] =
            [(); 2].map(|()| Encoder::new(direction, Level::Default).expect("an encoder"));
        for text in [&b"first first first first"[..], b"second, then first first"] {
            assert_eq!(one.message(&mut scratch, &noise), Ok(None));
            let expected = other.message(&mut scratch, text).expect("encoded").map(<[u8]>::to_vec);
            assert_eq!(one.message(&mut scratch, text).expect("encoded").map(<[u8]>::to_vec), expected);
        }
        assert_eq!(one.message(&mut scratch, b""), Ok(None));
    }

    #[test]
    fn a_message_without_a_byte_is_empty_and_changes_nothing() {
        let mut scratch = Scratch::new();
        for takeover in [true, false] {
            let mut decoder = new_decoder(Direction { takeover, ..Direction::default() });
            for _ in 0..3 {
                let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
                assert_eq!(decode(&mut decoder, &mut scratch, &hello, 100), Ok(b"Hello".to_vec()));
                assert_eq!(decode(&mut decoder, &mut scratch, b"", 100), Ok(Vec::new()), "{takeover}");
            }
        }
    }

    #[test]
    fn blocks_without_content_are_limited_and_flushes_of_each_byte_are_not() {
        let mut scratch = Scratch::new();
        // Empty blocks: final and other ones with fixed codes, and stored ones.
        for block in [&[0x03, 0x00][..], &[0x02, 0x08, 0x20, 0x80, 0x00], &[0x00, 0x00, 0x00, 0xff, 0xff]] {
            let mut decoder = new_decoder(Direction::default());
            let count = (1 << 20) / block.len();
            let error = decode(&mut decoder, &mut scratch, &block.repeat(count), 1000).expect_err("a limit");
            assert_eq!(error.kind, Kind::Limit, "{block:?}");
            assert!(error.offset <= PIECE as u64, "{block:?}: {error}");
            let mut decoder = new_decoder(Direction::default());
            for _ in 0..3 {
                let message = [&block.repeat(1000)[..], &[0, 0, 0, 0xff, 0xff, 0]].concat();
                assert_eq!(decode(&mut decoder, &mut scratch, &message, 1000), Ok(Vec::new()), "{block:?}");
            }
        }
        let mut encoder = Encoder::new(Direction::default(), Level::Default).expect("an encoder");
        let mut encoded = Vec::new();
        for i in 0..20_000_u32 {
            let is_last = i == 19_999;
            encoded.extend_from_slice(encoder.part(&mut scratch, &[i as u8], is_last).expect("encoded"));
        }
        let mut decoder = new_decoder(Direction::default());
        let decoded = decode(&mut decoder, &mut scratch, &encoded, 1000).map(|message| message.len());
        assert_eq!(decoded, Ok(20_000));
    }

    #[test]
    fn a_buffer_grows_to_the_limit_and_one_byte_more_is_an_error() {
        let mut scratch = Scratch::new();
        for len in [0, 1, FIRST_BUFFER - 1, FIRST_BUFFER, FIRST_BUFFER + 1, 100_000] {
            let text = vec![7; len];
            let mut encoder = Encoder::new(Direction::default(), Level::Default).expect("an encoder");
            let encoded = encoder.part(&mut scratch, &text, true).expect("encoded").to_vec();
            let mut out = Vec::new();
            let mut decode = |limit| {
                let mut decoder = new_decoder(Direction::default());
                let n = decoder.part_to_buffer(&mut scratch, &encoded, true, &mut out, limit)?;
                Ok(out[..n].to_vec())
            };
            assert_eq!(decode(len), Ok(text.clone()));
            assert_eq!(decode(usize::MAX), Ok(text));
            if len > 0 {
                assert_eq!(decode(len - 1).map_err(|e: Error| e.kind), Err(Kind::Limit));
            }
        }
    }

    #[test]
    fn damage_and_limits_are_errors() {
        let mut scratch = Scratch::new();
        let kinds = [
            (&[0xf2, 0x48, 0xcd][..], Kind::Corrupt),
            (&[0x06], Kind::Corrupt),
            (&[0x00, 0x05, 0x00, 0xfa], Kind::Corrupt),
            // A match beyond the beginning.
            (&[0x02, 0x13, 0x00, 0x00], Kind::Corrupt),
        ];
        for (message, kind) in kinds {
            let mut decoder = new_decoder(Direction::default());
            assert_eq!(
                decode(&mut decoder, &mut scratch, message, 100).map_err(|e| e.kind),
                Err(kind),
                "{message:?}"
            );
        }
        let mut encoder = Encoder::new(Direction::default(), Level::Default).expect("an encoder");
        let bomb =
            encoder.message(&mut scratch, &vec![7; 1 << 20]).expect("encoded").expect("smaller").to_vec();
        for options in [
            Options { message_limit: (1 << 20) - 1, ..Options::default() },
            Options { ratio_limit: 100, ..Options::default() },
        ] {
            let mut decoder = Decoder::new(Direction::default(), &options).expect("a decoder");
            let error = decode(&mut decoder, &mut scratch, &bomb, 1 << 15).expect_err("a limit");
            assert_eq!(error.kind, Kind::Limit);
        }
        let mut decoder = new_decoder(Direction::default());
        assert_eq!(
            decode(&mut decoder, &mut scratch, &bomb, 1 << 15).map(|message| message.len()),
            Ok(1 << 20)
        );
    }

    #[test]
    fn offset_of_an_error_counts_from_the_beginning_of_its_message() {
        let mut scratch = Scratch::new();
        let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        // Ten empty stored blocks, then a block of the reserved type.
        let damaged = [&[0, 0, 0, 0xff, 0xff].repeat(10)[..], &[0x06, 0, 0]].concat();
        for takeover in [true, false] {
            for messages in 0..3 {
                let mut decoder = new_decoder(Direction { takeover, ..Direction::default() });
                for _ in 0..messages {
                    assert_eq!(decode(&mut decoder, &mut scratch, &hello, 100), Ok(b"Hello".to_vec()));
                }
                let error = decode(&mut decoder, &mut scratch, &damaged, 100).expect_err("damage");
                assert_eq!((error.kind, error.offset), (Kind::Corrupt, 51), "{takeover} {messages}");
            }
        }
    }

    #[test]
    fn a_peer_that_uses_a_larger_window_than_agreed_is_refused() {
        let mut scratch = Scratch::new();
        let mut encoder = Encoder::new(Direction::default(), Level::Default).expect("an encoder");
        let mut decoder = new_decoder(Direction::window_bits(8));
        let results: Vec<_> = (0..40)
            .map(|i| {
                let text: String =
                    (0..90).map(|k| char::from(b'0' + (k * k * (i % 5 + 1) % 75) as u8)).collect();
                let encoded = encoder.part(&mut scratch, text.as_bytes(), true).expect("encoded").to_vec();
                decode(&mut decoder, &mut scratch, &encoded, 1000)
                    .map(|plain| assert_eq!(plain, text.as_bytes()))
            })
            .collect();
        let first = results.iter().position(Result::is_err).expect("an error");
        assert!(results[first..].iter().all(|result| result.is_err_and(|e| e.kind == Kind::Corrupt)));
    }
}
