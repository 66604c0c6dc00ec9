//! Sessions: flushed messages of one connection, with matches into a window of earlier ones.
//!
//! A [`Stream`] forgets every call. That is cheap, but a message of some hundred bytes has hardly anything to match
//! with. A [`Session`] keeps the last 256 to 32,768 bytes, as `window_bits` says, and writes each message so that the
//! receiver can decode it at once: websockets (RFC 7692), server-sent events, rows of a feed.
//!
//! ```
//! use linerate_deflate::session::{Session, SessionOptions, message_bound};
//! use linerate_deflate::{Format, Scratch};
//!
//! let options = SessionOptions::new(Format::Deflate).window_bits(11).keep_tail(false);
//! let mut session = Session::new(options)?;                  // per connection: 6.1 KiB
//! let mut scratch = Scratch::boxed();                        // per thread
//! let mut out = vec![0; message_bound(100)];
//! let message = br#"{"type":"ticker","symbol":"BTC-USD","price":"97012.55"}"#;
//! let first = session.message(&mut scratch, message, &mut out)?;
//! let second = session.message(&mut scratch, message, &mut out)?;
//! assert!(second < 10 && second < first);
//! # Ok::<(), linerate_deflate::Error>(())
//! ```
//!
//! # Memory
//!
//! A session holds its window and at most 64 bytes, and an index of the window: 2 bytes for each of its positions, at
//! most 8 KiB. That saves entering the window anew for each message, which takes 0.5 ns a byte: as long as the
//! encoding itself for 8 KiB and a message of 600 bytes. A session that begins at level 4 or above holds hash chains instead: 6
//! bytes for each position, at most 144 KiB. [`SessionOptions::keep_index`] chooses; the bytes are decoded alike. Without
//! takeover there is no window to keep. [`Session::memory`] counts.

use alloc::boxed::Box;
use alloc::sync::Arc;

use linerate_core::{Error, Kind, Result, cpu};

use crate::block::{self, Known, Message, PIECE, stored_end};
use crate::checksum::{ADLER32_START, adler32};
use crate::coding::bits::BitWriter;
use crate::kernel::bytes::bytes_mut;
use crate::kernel::chains::chain_slots;
use crate::kernel::dispatch::dispatch;
use crate::kernel::history::{History, MIN_RING, OVERLAP};
use crate::kernel::indexed::{MAX_SLOTS, index_positions, index_slots};
use crate::kernel::matcher::{MAX_DISTANCE, MIN_MATCH};
use crate::kernel::quick::{BEFORE, BEHIND, MAX_QUICK, Quick};
use crate::{Format, Level, Scratch, Stream, StreamState};

/// Most bytes that one [`Session::message`] writes for `n` bytes: `n`, 5 for each started 32,768, a header, and a
/// flush. [`usize::MAX`] on overflow.
///
/// ```
/// assert_eq!(linerate_deflate::session::message_bound(600), 600 + 5 + 10 + 5);
/// ```
pub const fn message_bound(n: usize) -> usize {
    n.saturating_add(n.div_ceil(PIECE).saturating_mul(5)).saturating_add(10 + 5)
}

/// Bytes that both sides know beforehand, indexed once; any number of sessions share it in an [`Arc`].
pub struct Dictionary {
    /// The text, whose first byte has the number 0, in a [`History`]'s ring.
    ring: Box<[u8]>,
    /// Bytes of text.
    len: usize,
    index: Box<[u16]>,
    id: u32,
}

impl Dictionary {
    /// Indexes the last 32,768 bytes of `text`, which are all that matches reach. Put what is most frequent last.
    pub fn new(text: &[u8]) -> Self {
        let id = adler32(ADLER32_START, text);
        let text = &text[text.len().saturating_sub(MAX_DISTANCE)..];
        let mut index = alloc::vec![0; MAX_SLOTS].into_boxed_slice();
        index_positions(&mut index, text, 0);
        let mut ring = alloc::vec![0; text.len().next_power_of_two().max(MIN_RING) + OVERLAP];
        ring[..text.len()].copy_from_slice(text);
        Dictionary { ring: ring.into(), len: text.len(), index, id }
    }

    /// Its last bytes, at most `window`.
    fn history(&self, window: usize) -> History<'_> {
        History::new(&self.ring, self.len.min(window), self.len as u16)
    }

    /// The Adler-32 of the whole dictionary: what the zlib header carries as DICTID (RFC 1950, section 2.2).
    pub fn id(&self) -> u32 {
        self.id
    }
}

/// Options of a [`Session`].
#[derive(Clone)]
pub struct SessionOptions {
    format: Format,
    level: Level,
    window_bits: u8,
    takeover: bool,
    keep_tail: bool,
    keep_index: bool,
    dictionary: Option<Arc<Dictionary>>,
}

impl SessionOptions {
    /// Window of 32 KiB with context takeover, [`Level::Default`], index and sync-flush tail kept, no dictionary.
    pub fn new(format: Format) -> Self {
        SessionOptions {
            format,
            level: Level::Default,
            window_bits: 15,
            takeover: true,
            keep_tail: true,
            keep_index: true,
            dictionary: None,
        }
    }

    /// The level of the first message. Level 1 encodes messages of up to 4 KiB in one pass, with one
    /// candidate for each position and the fixed trees. Longer messages, and sessions without a
    /// window or a kept index, it searches as levels 2 and 3 do, for one candidate in the message
    /// and two in the window, but takes the first match. Levels from 4 on follow hash chains.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// The window is 2^`bits` bytes, `bits` 8 to 15: no match is further away, so that much is enough for the
    /// decoder. 0: nothing is kept between messages; within one, matches reach 32 KiB.
    #[must_use]
    pub fn window_bits(mut self, bits: u8) -> Self {
        self.window_bits = bits;
        self
    }

    /// Whether messages refer to earlier ones. Without takeover each stands alone (`no_context_takeover`).
    #[must_use]
    pub fn takeover(mut self, takeover: bool) -> Self {
        self.takeover = takeover;
        self
    }

    /// Whether a message ends in `00 00 ff ff`. RFC 7692 leaves those four bytes out.
    #[must_use]
    pub fn keep_tail(mut self, keep: bool) -> Self {
        self.keep_tail = keep;
        self
    }

    /// Whether to keep the index of the window, or its hash chains, or to make them anew for each message.
    #[must_use]
    pub fn keep_index(mut self, keep: bool) -> Self {
        self.keep_index = keep;
        self
    }

    /// A preset dictionary, for raw deflate or zlib (which names it in its header, FDICT). Without takeover every
    /// message begins with it.
    #[must_use]
    pub fn dictionary(mut self, dictionary: Arc<Dictionary>) -> Self {
        self.dictionary = Some(dictionary);
        self
    }
}

/// One connection's encoder. See the [module](self).
pub struct Session {
    stream: Stream,
    /// Empty without takeover. The ring comes first: byte n of the session at n modulo the window,
    /// and [`OVERLAP`] bytes that repeat its beginning. Then come positions in the window, modulo
    /// 2^16, by hash: an index or hash chains; none if these are made anew for each message.
    memory: Box<[u16]>,
    dictionary: Option<Arc<Dictionary>>,
    /// Bytes of dictionary and messages so far, modulo 2^32.
    position: u32,
    /// Bytes of the ring in use.
    filled: u16,
    window_bits: u8,
    /// [`KEEP_TAIL`], [`CURRENT`].
    flags: u8,
}

const _: () = assert!(size_of::<Session>() + OVERLAP <= 64);

/// A message ends in `00 00 ff ff`.
const KEEP_TAIL: u8 = 1;
/// The hash chains have all positions of the window, but for the last three.
const CURRENT: u8 = 2;

impl Session {
    /// Begins a session. Allocates window and index; nothing later does.
    ///
    /// # Errors
    /// [`Kind::BadArgument`]: window bits other than 0 and 8 to 15; a dictionary for gzip, which has no field for it, or
    /// for zlib without takeover, where only the beginning of the stream may name one.
    pub fn new(options: SessionOptions) -> Result<Self> {
        let SessionOptions { format, level, window_bits, takeover, keep_tail, keep_index, dictionary } =
            options;
        if !matches!(window_bits, 0 | 8..=15) {
            return Err(Error::new(Kind::BadArgument, 0, "window bits must be 0 or 8 to 15"));
        }
        let takeover = takeover && window_bits != 0;
        if dictionary.is_some() && (format == Format::Gzip || format == Format::Zlib && !takeover) {
            return Err(Error::new(
                Kind::BadArgument,
                0,
                "no preset dictionary for gzip, nor for zlib without takeover",
            ));
        }
        let slots = match (takeover && keep_index, level < Level::Lazy) {
            (false, _) => 0,
            (true, true) => index_slots(1 << window_bits),
            (true, false) => chain_slots(1 << window_bits),
        };
        let mut session = Session {
            stream: Stream::new(format, level),
            memory: alloc::vec![0; if takeover { ring_words(1 << window_bits) + slots } else { 0 }].into(),
            dictionary,
            position: 0,
            filled: 0,
            window_bits,
            flags: if keep_tail { KEEP_TAIL } else { 0 },
        };
        if let Some(dictionary) = session.dictionary.clone().filter(|_| takeover) {
            session.enter(&dictionary.ring[..dictionary.len]);
        }
        Ok(session)
    }

    /// Bytes that this session holds: itself, window and index, without what it shares.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.memory)
    }

    /// The level; it may change between messages, without changing what is held.
    pub fn set_level(&mut self, level: Level) {
        self.stream.set_level(level);
    }

    /// Encodes `input` and flushes, so that the receiver can decode all of it, and returns the number of bytes
    /// written, at most [`message_bound`]`(input.len())`.
    ///
    /// # Errors
    /// [`Kind::OutputTooSmall`]: `out` has no room for the result. [`Kind::BadArgument`] after
    /// [`finish`](Self::finish). The session is unchanged then, except that from level 4 on later messages may be encoded
    /// otherwise; the contents of `out` are not specified.
    pub fn message(&mut self, scratch: &mut Scratch, input: &[u8], out: &mut [u8]) -> Result<usize> {
        let keep_tail = self.flags & KEEP_TAIL != 0;
        self.write(scratch, input, out, |bits| bits.put_flush(keep_tail))
    }

    /// As [`message`](Self::message), with zlib's `Z_PARTIAL_FLUSH`: an empty block of 10 bits follows, with the fixed
    /// trees, and the receiver can decode all of `input` though the output need not end at a byte boundary. Up to 7
    /// bits, of that block alone, are written by the next call.
    ///
    /// # Errors
    /// As [`message`](Self::message).
    pub fn partial_message(&mut self, scratch: &mut Scratch, input: &[u8], out: &mut [u8]) -> Result<usize> {
        self.write(scratch, input, out, |bits| bits.put_empty_fixed(false))
    }

    /// Appends `text` to the window: bytes that the receiver got at this place of the stream without this session, for
    /// example in a message that was encoded once for many connections. Later messages may refer to them.
    ///
    /// The receiver must have got them in whole messages, which refer to none before. Text without a byte, and a session
    /// without takeover, change nothing. Checksums of zlib and gzip do not count the text.
    pub fn remember(&mut self, text: &[u8]) {
        if !self.has_window() || text.is_empty() {
            return;
        }
        let is_chained = self.stream.level() >= Level::Lazy && self.flags & CURRENT != 0;
        self.flags &= !CURRENT;
        if is_chained && text.len() <= PIECE {
            let window = self.window();
            let (history, known) = self.before(true);
            if let Known::Chains { tables, .. } = known {
                block::chain_text(tables, history, window, text);
                self.flags |= CURRENT;
            }
        }
        self.enter(text);
    }

    /// Empties the window: later messages refer to no byte before this call, a preset dictionary included. So the receiver may
    /// have got anything in between, as for [`remember`](Self::remember). Without takeover nothing changes.
    pub fn forget(&mut self) {
        self.flags &= !CURRENT;
        (self.position, self.filled) = (0, 0);
        if self.has_window() && !self.has_chains() {
            // Level 1 takes a match wherever a slot points to.
            self.parts().1.fill(0);
        }
    }

    /// The state of the stream that messages are written to, as [`Stream::state`].
    pub fn state(&self) -> StreamState {
        self.stream.state()
    }

    /// Goes on from another state of the stream, as after bits that were written in between.
    ///
    /// # Errors
    /// As [`Stream::from_state`].
    pub fn set_state(&mut self, state: StreamState) -> Result<()> {
        self.stream = Stream::from_state(self.stream.format(), self.stream.level(), state)?;
        Ok(())
    }

    /// Encodes a message, and what `flush` writes behind it.
    fn write(
        &mut self,
        scratch: &mut Scratch,
        input: &[u8],
        out: &mut [u8],
        flush: impl FnOnce(&mut BitWriter<'_>) -> Result<()>,
    ) -> Result<usize> {
        if self.stream.is_last() {
            return Err(Error::new(Kind::BadArgument, 0, "a message after the end"));
        }
        let mut next = self.stream;
        let (header, header_len) = self.header();
        let mut bits = next.begin_with(out, &header[..header_len])?;
        bits.settle()?;
        if self.is_quick(input) {
            self.quick(scratch, input, &mut bits, flush)?;
            next.count(input);
            self.append(input);
            return Ok(self.stream.commit(next, bits));
        }
        // The chains of a session are extended by messages of one piece.
        let is_chained = input.len() <= PIECE && self.has_chains() && self.stream.level() >= Level::Lazy;
        let was_current = self.flags & CURRENT != 0;
        // Set again when the chains have the whole message.
        self.flags &= !CURRENT;
        self.encode(scratch, input, is_chained && was_current, &mut bits)?;
        flush(&mut bits)?;
        next.count(input);
        let written = self.stream.commit(next, bits);
        self.flags |= if is_chained && (was_current || !input.is_empty()) { CURRENT } else { 0 };
        if self.has_window() {
            self.enter(input);
        }
        Ok(written)
    }

    /// Whether the message is encoded in one pass, by [`Quick`].
    fn is_quick(&self, input: &[u8]) -> bool {
        self.stream.level() == Level::Fast
            && (1..=MAX_QUICK).contains(&input.len())
            && !self.index().is_empty()
            && !self.has_chains()
    }

    /// Encodes a message in one pass, with what `flush` writes behind it, and enters it into the index,
    /// which is as before after an error.
    fn quick(
        &mut self,
        scratch: &mut Scratch,
        input: &[u8],
        bits: &mut BitWriter<'_>,
        flush: impl FnOnce(&mut BitWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        let Scratch { tier, chains, staging, .. } = scratch;
        let position = self.position;
        let (ring, index) = self.parts();
        let saved = chains.split(1, index.len()).1;
        // A block is never longer than the stored bytes would be, so that this much room is enough.
        let may_fail = bits.out.len() < message_bound(input.len());
        if may_fail {
            saved.copy_from_slice(index);
        }
        let (buffer, out) = staging.split_at_mut(BEFORE + MAX_QUICK + BEHIND);
        let end = BEFORE + input.len();
        buffer[BEFORE..end].copy_from_slice(input);
        buffer[end..end + BEHIND].fill(0);
        let (buffer, out) = (&buffer[..end + BEHIND], out.first_chunk_mut().expect("a block is shorter"));
        let pending = (bits.acc, bits.len);
        let block = dispatch(
            tier.unwrap_or_else(cpu::tier),
            Quick { buffer, index: &mut *index, ring, position, out: &mut *out, pending },
        );
        let coded = 8 * block.bytes as u64 + u64::from(block.pending.1);
        let put = if coded <= stored_end(pending.1.into(), input.len()) {
            bits.put_block(&out[..block.bytes], block.pending)
        } else {
            bits.put_stored(input, false)
        };
        let put = put.and_then(|()| flush(bits));
        if put.is_err() && may_fail {
            index.copy_from_slice(saved);
        }
        put
    }

    /// Encodes a message in pieces.
    fn encode(
        &mut self,
        scratch: &mut Scratch,
        input: &[u8],
        is_current: bool,
        bits: &mut BitWriter<'_>,
    ) -> Result<()> {
        let (window, level) = (self.window(), self.stream.level());
        let pieces = input.len().div_ceil(PIECE);
        for (i, piece) in input.chunks(PIECE).enumerate() {
            let (history, known) = match i {
                0 => self.before(is_current),
                _ => (piece_history(input, i * PIECE, window), Known::Nothing),
            };
            let message = Message { input: piece, history, flush: i + 1 == pieces, window, known };
            block::encode_message(level, scratch, message, bits)?;
        }
        Ok(())
    }

    /// Ends the stream: a final block, padding and the trailer, at most [`finish_bound`](crate::finish_bound) bytes;
    /// 4 more if no message was written with a zlib dictionary. Calling it again writes nothing.
    ///
    /// # Errors
    /// [`Kind::OutputTooSmall`]; the session is unchanged then.
    pub fn finish(&mut self, out: &mut [u8]) -> Result<usize> {
        let mut next = self.stream;
        let (header, header_len) = self.header();
        let bits = next.begin_with(out, &header[..header_len])?;
        let n = next.commit(next, bits);
        let n = n + next.finish(&mut out[n..])?;
        self.stream = next;
        Ok(n)
    }

    /// The container's header with this window and dictionary, and its length (RFC 1950, section 2.2).
    fn header(&self) -> ([u8; 10], usize) {
        let mut header = [0; 10];
        if self.stream.format() != Format::Zlib {
            let plain = self.stream.format().header();
            header[..plain.len()].copy_from_slice(plain);
            return (header, plain.len());
        }
        let bits = if self.window_bits == 0 { 15 } else { self.window_bits };
        let (cmf, fdict) = ((bits - 8) << 4 | 8, u8::from(self.dictionary.is_some()) << 5);
        // FCHECK makes the two bytes a multiple of 31.
        let check = 31 - (u16::from(cmf) << 8 | u16::from(fdict)) % 31;
        header[..2].copy_from_slice(&[cmf, fdict + check as u8]);
        match &self.dictionary {
            None => (header, 2),
            Some(dictionary) => {
                header[2..6].copy_from_slice(&dictionary.id.to_be_bytes());
                (header, 6)
            }
        }
    }

    /// Largest distance of a match.
    fn window(&self) -> usize {
        if self.window_bits == 0 { MAX_DISTANCE } else { 1 << self.window_bits }
    }

    /// What the next message may refer to, and what is known of it; `is_current`: of hash chains.
    fn before(&mut self, is_current: bool) -> (History<'_>, Known<'_>) {
        let (window, is_chained) = (self.window(), self.stream.level() >= Level::Lazy);
        let (has_window, has_chains) = (self.has_window(), self.has_chains());
        let (filled, end) = (usize::from(self.filled), self.position as u16);
        if !has_window {
            return match &self.dictionary {
                Some(dictionary) => (dictionary.history(window), Known::Index(&dictionary.index)),
                None => (History::NONE, Known::Nothing),
            };
        }
        let (ring, index) = self.parts();
        let known = match is_chained {
            _ if index.is_empty() || has_chains != is_chained => Known::Nothing,
            true => Known::Chains { tables: index, is_current },
            false => Known::Index(index),
        };
        (History::new(ring, filled, end), known)
    }

    /// Whether earlier messages are kept.
    fn has_window(&self) -> bool {
        !self.memory.is_empty()
    }

    /// The index or the hash chains.
    fn index(&self) -> &[u16] {
        self.memory.get(ring_words(self.window())..).unwrap_or_default()
    }

    /// The ring, and the index or the hash chains, of a session with a window.
    fn parts(&mut self) -> (&mut [u8], &mut [u16]) {
        let (ring, index) = self.memory.split_at_mut(ring_words(self.window()));
        (bytes_mut(ring), index)
    }

    /// Whether the index is one of hash chains.
    fn has_chains(&self) -> bool {
        self.index().len() > index_slots(self.window())
    }

    /// Appends `text` to the window, and indexes it.
    fn enter(&mut self, text: &[u8]) {
        if !self.index().is_empty() && !self.has_chains() {
            let recent = &text[text.len().saturating_sub(self.window() + MIN_MATCH)..];
            let end = self.position.wrapping_add(text.len() as u32);
            index_positions(self.parts().1, recent, end.wrapping_sub(recent.len() as u32) as u16);
        }
        self.append(text);
    }

    /// Appends `fresh` to the window.
    fn append(&mut self, fresh: &[u8]) {
        let window = self.window();
        let recent = &fresh[fresh.len().saturating_sub(window)..];
        self.position = self.position.wrapping_add(fresh.len() as u32);
        self.filled = (usize::from(self.filled) + recent.len()).min(window) as u16;
        let start = (self.position as usize).wrapping_sub(recent.len()) & (window - 1);
        let first = recent.len().min(window - start);
        let ring = self.parts().0;
        ring[start..start + first].copy_from_slice(&recent[..first]);
        ring[..recent.len() - first].copy_from_slice(&recent[first..]);
        if start < OVERLAP || first < recent.len() {
            ring.copy_within(..OVERLAP, window);
        }
    }
}

/// Words of a ring for a window of so many bytes.
const fn ring_words(window: usize) -> usize {
    (window + OVERLAP) / 2
}

/// What a piece of a message that begins at `start` may refer to: the piece before it, where it is. The ring of a
/// [`History`] needs some bytes more; a rest that is shorter has no history.
fn piece_history(input: &[u8], start: usize, window: usize) -> History<'_> {
    match input.get(start - PIECE..start + OVERLAP) {
        Some(ring) => History::new(ring, window, 0),
        None => History::NONE,
    }
}
