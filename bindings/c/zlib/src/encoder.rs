//! One of our streams: its gathered input, its history and its undelivered output.
//!
//! A stream gathers input until its buffer is full or the caller flushes or ends the stream. It
//! then encodes this input, a *piece*, in one call, with matches into the window before. So the
//! output depends neither on how input arrives nor on the output space. Streams that repeatedly
//! flush short pieces, as connections do, keep an index of their window in a [`Session`].

use std::ffi::{c_int, c_ulong};
use std::sync::Arc;

use linerate_deflate::checksum::{adler32, crc32};
use linerate_deflate::session::{Dictionary, Session, SessionOptions, message_bound};
use linerate_deflate::{Format, Scratch, Stream, StreamState, with_thread_scratch};

use crate::buffer::Buffer;
use crate::settings::{Container, Settings};

/// Largest output in addition to that of one piece, in bytes: header, flush, final block, trailer,
/// and the bits that [`Encoder::prime`] inserts.
const OUTPUT_OVERHEAD: usize = 64;

/// Size in bytes of the longest flushed piece that counts as a message. See [`MANY_MESSAGES`].
const MESSAGE: usize = 4 << 10;
/// Number of messages in a row from which on the stream keeps an index of its window.
const MANY_MESSAGES: u8 = 3;
/// Size in bytes of the longest piece that is encoded with the index of the window. A longer one
/// drops the index.
const MAX_MESSAGE: usize = 32 << 10;

/// `Z_BINARY`.
const BINARY: c_int = 0;
/// `Z_TEXT`.
const TEXT: c_int = 1;
/// Number of bytes inspected to tell text from binary data.
const SAMPLE: usize = 4 << 10;

/// The flush or end that follows a piece in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Then {
    /// The next piece, at the next bit.
    More,
    /// An empty block of 10 bits, so that everything before can be decoded; then the next piece.
    Partial,
    /// A flush to a byte boundary, so that everything before can be decoded; then the next piece.
    Flush,
    /// The final block and the trailer: checksum, and length modulo 2^32.
    End { checksum: u32, total: u32 },
}

/// How far the output of a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Before the header.
    New,
    Open,
    /// After the trailer, which may still be undelivered.
    Ended,
}

/// Returns the largest undelivered output, in bytes, of a stream that gathers up to
/// `input_capacity` bytes.
pub(crate) fn output_capacity(input_capacity: usize) -> usize {
    message_bound(input_capacity) + OUTPUT_OVERHEAD
}

/// One stream.
pub(crate) struct Encoder {
    settings: Settings,
    progress: Progress,
    /// A raw deflate stream. The encoder writes the header and trailer itself.
    stream: Stream,
    /// The history, then the gathered input.
    input: Buffer,
    history: usize,
    output: Buffer,
    delivered: usize,
    /// Number of messages in a row: flushed pieces of at most `MESSAGE` bytes, without empty ones.
    /// It is 0 again when `MANY_MESSAGES` of them have started the index.
    messages: u8,
    /// The indexed window, with the same content as the history.
    session: Option<Box<Session>>,
    has_dictionary: bool,
    /// The last flush, if no input followed it, otherwise [`Then::More`].
    flushed: Then,
}

impl Encoder {
    /// Creates a stream with buffers of [`Settings::input_capacity`] and [`output_capacity`] bytes.
    pub(crate) fn new(settings: Settings, input: Buffer, output: Buffer) -> Encoder {
        let mut encoder = Encoder {
            settings,
            progress: Progress::New,
            stream: Stream::new_after_header(Format::Deflate, settings.engine_level()),
            input,
            history: 0,
            output,
            delivered: 0,
            messages: 0,
            session: None,
            has_dictionary: false,
            flushed: Then::More,
        };
        encoder.reset();
        encoder
    }

    /// Begins a new stream with the same settings.
    pub(crate) fn reset(&mut self) {
        self.progress = Progress::New;
        self.stream = Stream::new_after_header(Format::Deflate, self.settings.engine_level());
        self.forget();
        self.output.keep_last(0);
        self.delivered = 0;
        self.has_dictionary = false;
        self.flushed = Then::More;
    }

    /// Copies the stream into empty buffers of the same capacity. The copy has no index of its
    /// window.
    pub(crate) fn copy(&self, mut input: Buffer, mut output: Buffer) -> Encoder {
        input.push(self.input.bytes());
        output.push(self.output.bytes());
        Encoder { input, output, session: None, messages: 0, ..*self }
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings
    }

    /// Uses other settings from the next piece on. The container must be the same.
    pub(crate) fn set_settings(&mut self, settings: Settings) {
        self.settings = settings;
        self.stream.set_level(settings.engine_level());
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress
    }

    /// Whether the stream has done nothing yet, so that zlib can begin it instead.
    pub(crate) fn is_untouched(&self) -> bool {
        self.progress == Progress::New && self.history == 0 && !self.has_dictionary && !self.is_primed()
    }

    fn is_primed(&self) -> bool {
        !self.output.bytes().is_empty() || self.pending_bits() > 0
    }

    /// Returns the last flush, if no input followed it, otherwise [`Then::More`].
    pub(crate) fn flushed(&self) -> Then {
        self.flushed
    }

    /// Returns the output that was encoded and not delivered.
    pub(crate) fn waiting(&self) -> &[u8] {
        &self.output.bytes()[self.delivered..]
    }

    /// Marks the first `count` bytes of [`waiting`](Self::waiting) as delivered.
    pub(crate) fn deliver(&mut self, count: usize) {
        self.delivered += count;
        if self.delivered == self.output.len() {
            self.output.keep_last(0);
            self.delivered = 0;
        }
    }

    /// Returns the number of bits that the next piece writes first.
    pub(crate) fn pending_bits(&self) -> u8 {
        self.stream.state().pending_len
    }

    /// Returns the number of bytes that were gathered and not yet encoded.
    pub(crate) fn gathered(&self) -> usize {
        self.input.len() - self.history
    }

    /// Returns the `data_type` of the gathered input, or `None` if there is none.
    pub(crate) fn data_type(&self) -> Option<c_int> {
        let text = &self.input.bytes()[self.history..];
        (!text.is_empty()).then(|| data_type(text))
    }

    /// Returns the number of bytes that can be gathered before a piece must be encoded.
    pub(crate) fn free(&self) -> usize {
        self.input.free()
    }

    /// Gathers `len` bytes, at most [`free`](Self::free), and updates the container's checksum.
    ///
    /// # Safety
    /// The bytes can be read and are outside this stream's memory.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn gather(&mut self, from: *const u8, len: usize, checksum: &mut c_ulong) {
        // SAFETY: the caller's promise.
        let text = unsafe { self.input.push_from(from, len) };
        match self.settings.container() {
            Container::Raw => {}
            Container::Zlib => *checksum = adler32(*checksum as u32, text).into(),
            Container::Gzip => *checksum = crc32(*checksum as u32, text).into(),
        }
        if len > 0 {
            self.flushed = Then::More;
        }
    }

    /// Writes the header. No output may be waiting. If there is a dictionary, `checksum` has its
    /// Adler-32. For zlib and gzip, `checksum` is then set to its initial value.
    pub(crate) fn begin(&mut self, checksum: &mut c_ulong) {
        self.progress = Progress::Open;
        match self.settings.container() {
            Container::Raw => {}
            Container::Gzip => {
                self.output.push(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, self.settings.gzip_flags(), 3]);
            }
            Container::Zlib => {
                let method = (self.settings.window_bits() - 8) << 4 | 8;
                let flags = self.settings.zlib_level() << 6 | u8::from(self.has_dictionary) << 5;
                // FCHECK makes the two bytes a multiple of 31 (RFC 1950, section 2.2).
                let check = 31 - (u16::from(method) << 8 | u16::from(flags)) % 31;
                self.output.push(&[method, flags + check as u8]);
                if self.has_dictionary {
                    self.output.push(&(*checksum as u32).to_be_bytes());
                }
            }
        }
        if let Some(start) = self.settings.checksum_start() {
            *checksum = start.into();
        }
    }

    /// Encodes the gathered input, and after it the flush or the end that `then` names. No output
    /// may be waiting. Offers the result to `take`, which returns how many bytes it took, and keeps
    /// the rest as waiting output.
    pub(crate) fn encode(&mut self, then: Then, take: impl FnOnce(&[u8]) -> usize) {
        let gathered = self.gathered();
        with_thread_scratch(output_capacity(gathered), |scratch, out| {
            let mut n = self.encode_piece(scratch, then, out);
            n += self.end_piece(then, gathered, &mut out[n..]);
            let taken = take(&out[..n]);
            self.output.push(&out[taken..n]);
        });
        self.flushed = then;
        if matches!(then, Then::End { .. }) {
            self.progress = Progress::Ended;
        }
    }

    /// Forgets the history, so that later input does not refer to it. No input may be gathered,
    /// except in a new stream.
    pub(crate) fn forget(&mut self) {
        debug_assert!(self.gathered() == 0 || self.progress == Progress::New);
        self.input.keep_last(0);
        self.history = 0;
        self.drop_session();
    }

    /// Returns the last bytes of dictionary and input, encoded or not, up to the window size.
    pub(crate) fn window(&self) -> &[u8] {
        let bytes = self.input.bytes();
        &bytes[bytes.len().saturating_sub(self.window_len())..]
    }

    /// Appends a dictionary to the history and updates zlib's checksum with it. Returns false if
    /// the stream cannot take one now.
    pub(crate) fn set_dictionary(&mut self, text: &[u8], checksum: &mut c_ulong) -> bool {
        match self.settings.container() {
            Container::Raw if self.gathered() == 0 && self.progress != Progress::Ended => {}
            // An empty dictionary counts as none, so that no decoder requires it.
            Container::Zlib if self.progress == Progress::New && text.is_empty() => return true,
            Container::Zlib if self.progress == Progress::New => {
                self.has_dictionary = true;
                *checksum = adler32(*checksum as u32, text).into();
            }
            _ => return false,
        }
        let text = &text[text.len().saturating_sub(self.window_len())..];
        self.input.keep_last(self.window_len() - text.len());
        self.input.push(text);
        self.history = self.input.len();
        self.drop_session();
        true
    }

    /// Writes the lowest `count` bits of `value`, at most 16, to the output before the gathered
    /// input. Returns false if there is no space.
    pub(crate) fn prime(&mut self, count: u32, value: u32) -> bool {
        if self.output.free() < OUTPUT_OVERHEAD {
            return false;
        }
        let (bytes, whole) = self.append_bits(count, value);
        self.output.push(&bytes[..whole]);
        self.flushed = Then::More;
        true
    }

    /// Appends the lowest `count` bits of `value` to the pending bits. Returns the bytes that they
    /// make, and how many of these are complete; the rest stays pending.
    fn append_bits(&mut self, count: u32, value: u32) -> ([u8; 4], usize) {
        let StreamState { pending, pending_len, .. } = self.stream.state();
        let bits = u32::from(pending) | (value & ((1 << count) - 1)) << pending_len;
        let len = u32::from(pending_len) + count;
        let (bytes, whole) = (bits.to_le_bytes(), (len / 8) as usize);
        let state =
            StreamState { pending: bytes[whole], pending_len: (len % 8) as u8, ..self.stream.state() };
        let level = self.stream.level();
        self.stream = Stream::from_state(Format::Deflate, level, state).expect("bits within their number");
        (bytes, whole)
    }

    /// Returns the largest output, in bytes, of one `deflate` call that ends a new stream of `len`
    /// bytes. It does not count input and output that earlier calls have left in the stream.
    pub(crate) fn bound(&self, len: usize) -> usize {
        let capacity = self.settings.input_capacity();
        let pieces = 1 + len.saturating_sub(capacity).div_ceil(self.step());
        let stored_blocks = pieces.saturating_mul(capacity.div_ceil(65_535));
        len.saturating_add(stored_blocks.saturating_mul(5)).saturating_add(OUTPUT_OVERHEAD / 2)
    }

    /// Encodes the gathered input, without what follows it unless the session encodes it. Returns
    /// the number of bytes written.
    fn encode_piece(&mut self, scratch: &mut Scratch, then: Then, out: &mut [u8]) -> usize {
        let gathered = self.gathered();
        if gathered == 0 {
            return 0;
        }
        if gathered > MAX_MESSAGE {
            self.drop_session();
        }
        let buffer = self.input.bytes();
        let written = match &mut self.session {
            Some(session) => {
                let level = self.stream.level();
                session.set_level(level);
                session.set_state(self.stream.state()).expect("a state of a stream");
                let text = &buffer[self.history..];
                let written = match then {
                    Then::Partial => session.partial_message(scratch, text, out),
                    _ => session.message(scratch, text, out),
                };
                self.stream = Stream::from_state(Format::Deflate, level, session.state()).expect("as above");
                written
            }
            None => {
                let (history, window_bits) = (self.history, self.settings.window_bits());
                let more = !matches!(then, Then::End { .. });
                self.stream.encode_in_window(scratch, buffer, history, window_bits, out, more)
            }
        };
        self.history = buffer.len();
        if self.input.free() < self.step() / 2 {
            self.input.keep_last(self.window_len());
            self.history = self.input.len();
        }
        written.expect("the capacity of the bound")
    }

    /// Writes the flush or end after a piece of `gathered` bytes, unless the session has written
    /// it. Returns the number of bytes written.
    fn end_piece(&mut self, then: Then, gathered: usize, out: &mut [u8]) -> usize {
        match then {
            Then::More => 0,
            // The session has already flushed the message.
            Then::Partial | Then::Flush if self.session.is_some() && gathered > 0 => 0,
            Then::Partial => {
                let (bytes, n) = self.append_bits(10, 0b010);
                out[..n].copy_from_slice(&bytes[..n]);
                self.count_message(gathered);
                n
            }
            Then::Flush => {
                let n = self.stream.flush(out).expect("the capacity of a flush");
                self.count_message(gathered);
                n
            }
            Then::End { checksum, total } => {
                let n = self.stream.finish(out).expect("the capacity of the end");
                let trailer = match self.settings.container() {
                    Container::Raw => 0,
                    Container::Zlib => {
                        out[n..n + 4].copy_from_slice(&checksum.to_be_bytes());
                        4
                    }
                    Container::Gzip => {
                        out[n..n + 4].copy_from_slice(&checksum.to_le_bytes());
                        out[n + 4..n + 8].copy_from_slice(&total.to_le_bytes());
                        8
                    }
                };
                n + trailer
            }
        }
    }

    /// Counts a flushed piece, and starts the index of the window after the third message in a row.
    fn count_message(&mut self, gathered: usize) {
        match gathered {
            0 => return,
            1..=MESSAGE => self.messages += 1,
            _ => self.messages = 0,
        }
        if self.messages == MANY_MESSAGES {
            let options = SessionOptions::new(Format::Deflate)
                .level(self.stream.level())
                .window_bits(self.settings.window_bits())
                .dictionary(Arc::new(Dictionary::new(self.window())));
            self.session = Session::new(options).ok().map(Box::new);
            self.messages = 0;
        }
    }

    fn drop_session(&mut self) {
        self.session = None;
        self.messages = 0;
    }

    fn window_len(&self) -> usize {
        1 << self.settings.window_bits()
    }

    /// Returns the size in bytes of a piece that fills the buffer beside a history of a whole
    /// window.
    fn step(&self) -> usize {
        self.settings.input_capacity() - self.window_len()
    }
}

/// Classifies data by its first 4 KiB and zlib's rule: text has none of the control characters that
/// never occur in text, and at least one character that is not a control character, or a tab, line
/// feed or carriage return.
fn data_type(bytes: &[u8]) -> c_int {
    let mut is_text = false;
    for &byte in &bytes[..bytes.len().min(SAMPLE)] {
        match byte {
            0..=6 | 14..=25 | 28..=31 => return BINARY,
            b'\t' | b'\n' | b'\r' | 32.. => is_text = true,
            _ => {}
        }
    }
    if is_text { TEXT } else { BINARY }
}
