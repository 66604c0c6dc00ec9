//! Sessions: the messages of one connection, each flushed, with matches into a window of earlier
//! ones.
//!
//! A [`Stream`] keeps no history between calls. That is cheap, but a message of a few hundred bytes
//! has hardly anything to match with. A [`Session`] keeps a window of the last 256 to 32,768 bytes
//! and writes each message so that the receiver can decode it at once. Use it for websockets (RFC
//! 7692), server-sent events, or the rows of a feed.
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
//! A session holds its window, at most 64 bytes of state, and an index of the window: 2 bytes for
//! each position, at most 8 KiB. The index saves indexing the window again for each message, which
//! takes 0.5 ns a byte: with a window of 8 KiB as long as encoding a message of 600 bytes. A
//! session that begins at level 4 or above holds hash chains instead: 6 bytes for each position of a
//! window of up to 8 KiB, 80 KiB for a window of 16 KiB, and 144 KiB for one of 32 KiB.
//! [`SessionOptions::keep_index`] turns either off; the receiver decodes both forms alike. Without
//! takeover a session holds no window. [`Session::memory`] returns the size.

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

/// Maximum number of bytes that one [`Session::message`] writes for `n` bytes of input: `n`, 5 for
/// each started 32,768 bytes, 10 for a header, and 5 for the flush. [`usize::MAX`] on overflow.
///
/// ```
/// assert_eq!(linerate_deflate::session::message_bound(600), 600 + 5 + 10 + 5);
/// ```
pub const fn message_bound(n: usize) -> usize {
    n.saturating_add(n.div_ceil(PIECE).saturating_mul(5)).saturating_add(10 + 5)
}

/// A preset dictionary: text that both sides have before the stream begins. It is indexed once, and
/// any number of sessions share it in an [`Arc`].
pub struct Dictionary {
    /// The text in the ring of a [`History`]. Its first byte is at position 0.
    ring: Box<[u8]>,
    /// Length of the text, in bytes.
    len: usize,
    index: Box<[u16]>,
    id: u32,
}

impl Dictionary {
    /// Indexes the last 32,768 bytes of `text`; matches reach no further. Put the most frequent
    /// strings last.
    pub fn new(text: &[u8]) -> Self {
        let id = adler32(ADLER32_START, text);
        let text = &text[text.len().saturating_sub(MAX_DISTANCE)..];
        let mut index = alloc::vec![0; MAX_SLOTS].into_boxed_slice();
        index_positions(&mut index, text, 0);
        let mut ring = alloc::vec![0; text.len().next_power_of_two().max(MIN_RING) + OVERLAP];
        ring[..text.len()].copy_from_slice(text);
        Dictionary { ring: ring.into(), len: text.len(), index, id }
    }

    /// Returns the last `window` bytes of the dictionary, or all if it is shorter.
    fn history(&self, window: usize) -> History<'_> {
        History::new(&self.ring, self.len.min(window), self.len as u16)
    }

    /// Returns the Adler-32 of the whole text, which the zlib header carries as DICTID (RFC 1950,
    /// section 2.2).
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
    /// Creates options with a window of 32 KiB, context takeover, [`Level::Default`], a kept index,
    /// the tail of each flush written, and no dictionary.
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

    /// Sets the level of the first message. Levels 2 and 3 try one candidate in the message and two
    /// in the window at each position. Levels 4 and above follow hash chains. Level 1 encodes
    /// messages of up to 4 KiB in one pass, with one candidate for each position and the fixed
    /// trees. For longer messages, and in a session without a window or a kept index, level 1
    /// searches as levels 2 and 3 do but takes the first match.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets the window to 2^`bits` bytes, with `bits` 8 to 15. No match has a larger distance, so a
    /// decoder with this window is enough. With 0 the session keeps nothing between messages;
    /// matches within a message reach 32 KiB.
    #[must_use]
    pub fn window_bits(mut self, bits: u8) -> Self {
        self.window_bits = bits;
        self
    }

    /// Sets whether messages refer to earlier ones. Without takeover the receiver can decode each
    /// alone (`no_context_takeover` of RFC 7692).
    #[must_use]
    pub fn takeover(mut self, takeover: bool) -> Self {
        self.takeover = takeover;
        self
    }

    /// Sets whether a message ends in `00 00 ff ff`. RFC 7692 leaves these four bytes out.
    #[must_use]
    pub fn keep_tail(mut self, keep: bool) -> Self {
        self.keep_tail = keep;
        self
    }

    /// Sets whether the session keeps the index or the hash chains of its window. If not, each
    /// message makes them again.
    #[must_use]
    pub fn keep_index(mut self, keep: bool) -> Self {
        self.keep_index = keep;
        self
    }

    /// Sets a preset dictionary, for raw deflate or for zlib, whose header then names it (FDICT).
    /// Without takeover every message may refer to it, and only raw deflate allows it.
    #[must_use]
    pub fn dictionary(mut self, dictionary: Arc<Dictionary>) -> Self {
        self.dictionary = Some(dictionary);
        self
    }
}

/// The encoder of one connection. See the [module](self).
pub struct Session {
    stream: Stream,
    /// The ring of the window, then its index or hash chains. Empty without takeover. Byte n of the
    /// session is in the ring at n modulo the window; [`OVERLAP`] bytes at its end repeat its
    /// beginning. The index and the hash chains hold positions modulo 2^16; they are empty if each
    /// message makes them again.
    memory: Box<[u16]>,
    dictionary: Option<Arc<Dictionary>>,
    /// Number of bytes of dictionary and messages since the beginning or the last
    /// [`forget`](Self::forget), modulo 2^32.
    position: u32,
    /// Number of bytes of the ring in use.
    filled: u16,
    window_bits: u8,
    /// The flags [`KEEP_TAIL`] and [`CURRENT`].
    flags: u8,
}

const _: () = assert!(size_of::<Session>() + OVERLAP <= 64);

/// Flag: a message ends in `00 00 ff ff`.
const KEEP_TAIL: u8 = 1;
/// Flag: the hash chains have all positions of the window except the last three.
const CURRENT: u8 = 2;

impl Session {
    /// Creates a session and allocates its window and index. No later call allocates for it.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for window bits other than 0 and 8 to 15; for a dictionary
    /// with gzip, whose header has no field for it; and for a dictionary with zlib without
    /// takeover, because only the beginning of a stream can name one.
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
                "a preset dictionary needs raw deflate, or zlib with takeover",
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

    /// Returns the size in bytes of this session with its window and index, without the shared
    /// dictionary.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.memory)
    }

    /// Sets the level of the next message. The memory that the session holds stays the same.
    pub fn set_level(&mut self, level: Level) {
        self.stream.set_level(level);
    }

    /// Encodes `input` and flushes it, so that the receiver can decode all of it. Returns the
    /// number of bytes written, at most [`message_bound`]`(input.len())`.
    ///
    /// # Errors
    /// Returns [`Kind::OutputTooSmall`] if the result does not fit `out`, and [`Kind::BadArgument`]
    /// after [`finish`](Self::finish). Both leave the contents of `out` unspecified and the session
    /// unchanged, except that at levels 4 and above later messages may be encoded differently.
    pub fn message(&mut self, scratch: &mut Scratch, input: &[u8], out: &mut [u8]) -> Result<usize> {
        let keep_tail = self.flags & KEEP_TAIL != 0;
        self.write(scratch, input, out, |bits| bits.put_flush(keep_tail))
    }

    /// Encodes `input` like [`message`](Self::message), but ends with zlib's `Z_PARTIAL_FLUSH`: an
    /// empty block of 10 bits with the fixed trees. The receiver can decode all of `input`,
    /// although the output need not end at a byte boundary: the next call writes the last bits of
    /// that block, up to 7.
    ///
    /// # Errors
    /// Returns the errors of [`message`](Self::message).
    pub fn partial_message(&mut self, scratch: &mut Scratch, input: &[u8], out: &mut [u8]) -> Result<usize> {
        self.write(scratch, input, out, |bits| bits.put_empty_fixed(false))
    }

    /// Appends `text` to the window, so that later messages may refer to it. The receiver got this
    /// text at this point of the stream without this session, for example in a message that was
    /// encoded once for many connections.
    ///
    /// The receiver must have got the text in whole messages that refer to no earlier one. The call
    /// does nothing if `text` is empty or the session has no takeover. The checksums of zlib and
    /// gzip do not cover the text.
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

    /// Empties the window: later messages refer to no byte before this call, nor to a preset
    /// dictionary. Before the next message the receiver may get any other message that refers to
    /// none before it. The call does nothing in a session without takeover.
    pub fn forget(&mut self) {
        self.flags &= !CURRENT;
        (self.position, self.filled) = (0, 0);
        if self.has_window() && !self.has_chains() {
            // Level 1 trusts every slot to point into the window.
            self.parts().1.fill(0);
        }
    }

    /// Returns the state of the stream that the messages form: see [`Stream::state`].
    pub fn state(&self) -> StreamState {
        self.stream.state()
    }

    /// Continues from another state of the stream, for example after the caller has written bits of
    /// its own.
    ///
    /// # Errors
    /// Returns the errors of [`Stream::from_state`].
    pub fn set_state(&mut self, state: StreamState) -> Result<()> {
        self.stream = Stream::from_state(self.stream.format(), self.stream.level(), state)?;
        Ok(())
    }

    /// Encodes a message, then calls `flush` to write what follows it.
    fn write(
        &mut self,
        scratch: &mut Scratch,
        input: &[u8],
        out: &mut [u8],
        flush: impl FnOnce(&mut BitWriter<'_>) -> Result<()>,
    ) -> Result<usize> {
        if self.stream.is_last() {
            return Err(Error::new(Kind::BadArgument, 0, "the session has ended and takes no messages"));
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
        // Only messages of one piece extend the hash chains.
        let is_chained = input.len() <= PIECE && self.has_chains() && self.stream.level() >= Level::Lazy;
        let was_current = self.flags & CURRENT != 0;
        // Cleared until the chains have the whole message.
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

    /// Returns whether [`Quick`] can encode the message in one pass.
    fn is_quick(&self, input: &[u8]) -> bool {
        self.stream.level() == Level::Fast
            && (1..=MAX_QUICK).contains(&input.len())
            && !self.index().is_empty()
            && !self.has_chains()
    }

    /// Encodes a message in one pass, calls `flush` to write what follows it, and adds the message
    /// to the index. An error leaves the index unchanged.
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
        // A block is never longer than stored bytes would be, so output of this size is always
        // enough.
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

    /// Encodes a message in pieces of at most [`PIECE`] bytes.
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

    /// Ends the stream: writes the header if no message was written, a final block, padding and the
    /// trailer, at most [`finish_bound`](crate::finish_bound) bytes. Calling it again writes
    /// nothing.
    ///
    /// # Errors
    /// Returns [`Kind::OutputTooSmall`] if the result does not fit `out`. The session is then
    /// unchanged.
    pub fn finish(&mut self, out: &mut [u8]) -> Result<usize> {
        let mut next = self.stream;
        let (header, header_len) = self.header();
        let bits = next.begin_with(out, &header[..header_len])?;
        let n = next.commit(next, bits);
        let n = n + next.finish(&mut out[n..])?;
        self.stream = next;
        Ok(n)
    }

    /// Returns the container's header for this window and dictionary, and its length (RFC 1950,
    /// section 2.2).
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

    /// Returns the largest distance of a match.
    fn window(&self) -> usize {
        if self.window_bits == 0 { MAX_DISTANCE } else { 1 << self.window_bits }
    }

    /// Returns the history that the next message may refer to, and its index if there is one.
    /// `is_current` says whether hash chains have all of the history.
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

    /// Returns whether the session keeps earlier messages.
    fn has_window(&self) -> bool {
        !self.memory.is_empty()
    }

    /// Returns the index or the hash chains.
    fn index(&self) -> &[u16] {
        self.memory.get(ring_words(self.window())..).unwrap_or_default()
    }

    /// Returns the ring, and the index or the hash chains, of a session with a window.
    fn parts(&mut self) -> (&mut [u8], &mut [u16]) {
        let (ring, index) = self.memory.split_at_mut(ring_words(self.window()));
        (bytes_mut(ring), index)
    }

    /// Returns whether the session keeps hash chains rather than an index.
    fn has_chains(&self) -> bool {
        self.index().len() > index_slots(self.window())
    }

    /// Appends `text` to the window and to the index, if there is one.
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

/// Number of 16-bit words of the ring for a window of `window` bytes.
const fn ring_words(window: usize) -> usize {
    (window + OVERLAP) / 2
}

/// Returns the history of the piece of a message that begins at `start`: the last `window` bytes of
/// the piece before it, in place. The ring of a [`History`] needs [`OVERLAP`] more bytes, so a last
/// piece that is shorter than that gets no history.
fn piece_history(input: &[u8], start: usize, window: usize) -> History<'_> {
    match input.get(start - PIECE..start + OVERLAP) {
        Some(ring) => History::new(ring, window, 0),
        None => History::NONE,
    }
}
