//! permessage-deflate objects that Java holds: an encoder or decoder of one direction of a
//! connection, or a prepared message for many connections.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;

use linerate_websocket::{Decoder, Direction, Encoder, Error, Level, Options, Prepared, Result, Scratch};

/// Maximum number of bytes of a message that are copied from Java and decoded at a time.
const PIECE: usize = 16 << 10;

/// Number of encoders, decoders and prepared messages that are not freed.
static LIVE: AtomicI64 = AtomicI64::new(0);

/// Working memory that no call uses, for at most [`MOST`] calls. Each `Work` is boxed, because
/// moving it would take longer than encoding a short message.
static POOL: Mutex<Vec<Box<Work>>> = Mutex::new(Vec::new());

/// Largest length of [`POOL`]: one per processor, because more threads cannot run at the same time.
/// The number is cached, because asking the system takes longer than encoding a message.
static MOST: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));

/// Working memory of one call.
pub(crate) struct Work {
    pub(crate) scratch: Scratch,
    pub(crate) piece: [u8; PIECE],
}

impl Work {
    fn new() -> Box<Self> {
        Box::new(Work { scratch: Scratch::new(), piece: [0; PIECE] })
    }
}

/// Calls `job` with working memory from the pool, or with new memory if the pool is empty.
pub(crate) fn with_work<T>(job: impl FnOnce(&mut Work) -> T) -> T {
    let taken = pool().pop();
    let mut work = taken.unwrap_or_else(Work::new);
    let result = job(&mut work);
    let mut pool = pool();
    if pool.len() < *MOST {
        pool.push(work);
    }
    result
}

/// Bytes of the working memory that no call uses.
pub(crate) fn shared_memory() -> usize {
    pool().iter().map(|work| size_of::<Work>() - size_of::<Scratch>() + work.scratch.memory()).sum()
}

/// Frees the working memory that no call uses.
pub(crate) fn trim() {
    *pool() = Vec::new();
}

fn pool() -> MutexGuard<'static, Vec<Box<Work>>> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of encoders, decoders and prepared messages that are not freed.
pub(crate) fn live() -> i64 {
    LIVE.load(Ordering::Relaxed)
}

/// An encoder, a decoder or a prepared message held by Java.
pub(crate) struct Held<C> {
    pub(crate) codec: C,
    /// Whether a panic left `codec` in an unknown state.
    pub(crate) broken: bool,
}

impl<C> Held<C> {
    fn new(codec: C) -> Self {
        LIVE.fetch_add(1, Ordering::Relaxed);
        Held { codec, broken: false }
    }
}

impl<C> Drop for Held<C> {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(crate) type HeldEncoder = Held<Encoder>;
pub(crate) type HeldDecoder = Held<MessageDecoder>;

pub(crate) fn new_encoder(direction: Direction, level: u8, remember_prepared: bool) -> Result<HeldEncoder> {
    let encoder = Encoder::new(direction, Level::from_number(level)?)?;
    Ok(Held::new(encoder.remember_prepared(remember_prepared)))
}

/// Creates a prepared message. It is marked as binary, which has no effect, because Java makes the
/// frames.
pub(crate) fn new_prepared(message: &[u8]) -> Held<Prepared> {
    Held::new(Prepared::binary(message))
}

pub(crate) fn new_decoder(direction: Direction, options: &Options) -> Result<HeldDecoder> {
    let decoder = Decoder::new(direction, options)?;
    Ok(Held::new(MessageDecoder { decoder, read: 0, begin: 0, messages: 0, is_ending: false, error: None }))
}

/// A decoder with its position on the connection, and its error, which persists.
pub(crate) struct MessageDecoder {
    decoder: Decoder,
    /// Compressed bytes of the connection so far.
    read: u64,
    /// Compressed bytes of the messages before the current one.
    begin: u64,
    messages: u64,
    /// Whether all parts of the message were read, but the end of its content did not fit into the
    /// output.
    is_ending: bool,
    pub(crate) error: Option<Failure>,
}

/// An error and its position on the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    pub(crate) offset: u64,
    pub(crate) message: u64,
}

/// What a call of [`MessageDecoder::part`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) read: usize,
    pub(crate) written: usize,
    /// Whether all of the part is decoded. Otherwise the output is full.
    pub(crate) is_done: bool,
}

impl MessageDecoder {
    /// Decodes a part of `len` bytes into `out`. `copy` writes the piece of the part that begins at
    /// an offset. Returns `None` if `copy` fails.
    pub(crate) fn part(
        &mut self,
        work: &mut Work,
        len: usize,
        is_last: bool,
        out: &mut [u8],
        mut copy: impl FnMut(usize, &mut [u8]) -> bool,
    ) -> Option<std::result::Result<Progress, Failure>> {
        if let Some(error) = self.error {
            return Some(Err(error));
        }
        let mut progress = Progress::default();
        while !self.is_ending {
            let piece = &mut work.piece[..(len - progress.read).min(PIECE)];
            if !copy(progress.read, piece) {
                return None;
            }
            let decoded = self.decoder.part(&mut work.scratch, piece, &mut out[progress.written..]);
            let (read, written) = match decoded {
                Ok(counts) => counts,
                Err(error) => return Some(Err(self.fail(error))),
            };
            self.read += read as u64;
            progress.read += read;
            progress.written += written;
            if progress.written == out.len() {
                // The output is full, and the bytes that were read may give more of it.
                return Some(Ok(progress));
            }
            self.is_ending = is_last && progress.read == len;
            if progress.read == len {
                break;
            }
        }
        progress.is_done = true;
        if self.is_ending {
            match self.decoder.finish(&mut work.scratch, &mut out[progress.written..]) {
                Ok((written, is_done)) => {
                    progress.written += written;
                    progress.is_done = is_done;
                    self.is_ending = !is_done;
                    if is_done {
                        (self.begin, self.messages) = (self.read, self.messages + 1);
                    }
                }
                Err(error) => return Some(Err(self.fail(error))),
            }
        }
        Some(Ok(progress))
    }

    fn fail(&mut self, error: Error) -> Failure {
        let offset = self.begin + error.offset;
        let failure = Failure { error, offset, message: self.messages };
        *self.error.insert(failure)
    }

    pub(crate) fn memory(&self) -> usize {
        size_of::<Held<Self>>() - size_of::<Decoder>() + self.decoder.memory()
    }
}

#[cfg(test)]
mod tests {
    use linerate_websocket::Kind;

    use super::*;

    fn decode(
        decoder: &mut MessageDecoder,
        encoded: &[u8],
        room: usize,
    ) -> std::result::Result<Vec<u8>, Failure> {
        let (mut message, mut out, mut at) = (Vec::new(), vec![0; room], 0);
        loop {
            let rest = &encoded[at..];
            let copy = |from: usize, into: &mut [u8]| {
                into.copy_from_slice(&rest[from..from + into.len()]);
                true
            };
            let progress = with_work(|work| decoder.part(work, rest.len(), true, &mut out, copy)).unwrap()?;
            message.extend_from_slice(&out[..progress.written]);
            at += progress.read;
            if progress.is_done {
                return Ok(message);
            }
        }
    }

    #[test]
    fn message_longer_than_a_piece_comes_out_of_buffers_of_any_size() {
        let mut state = 1_u32;
        let text: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 26) as u8
        })
        .take(3 * PIECE)
        .collect();
        let mut encoder = new_encoder(Direction::default(), 2, true).unwrap();
        let encoded = with_work(|work| encoder.codec.part(&mut work.scratch, &text, true).unwrap().to_vec());
        assert!(encoded.len() > PIECE);
        for room in [1, 1000, 2 * PIECE, 4 * PIECE] {
            let mut decoder = new_decoder(Direction::default(), &Options::default()).unwrap();
            assert_eq!(decode(&mut decoder.codec, &encoded, room).unwrap(), text);
            assert_eq!((decoder.codec.read, decoder.codec.messages), (encoded.len() as u64, 1));
        }
        assert!(shared_memory() > 100_000);
    }

    #[test]
    fn offset_of_an_error_is_exact_within_a_piece() {
        let mut decoder = new_decoder(Direction::default(), &Options::default()).unwrap();
        assert_eq!(decode(&mut decoder.codec, &[0], 10), Ok(Vec::new()));
        // Empty stored blocks, then a block of the reserved type.
        let blocks = PIECE / 5 + 100;
        let message = [&[0, 0, 0, 0xff, 0xff].repeat(blocks)[..], &[6, 0, 0]].concat();
        let error = decode(&mut decoder.codec, &message, 10).unwrap_err();
        // The first message, the empty blocks, and the byte with the reserved type.
        assert_eq!((error.error.kind, error.offset), (Kind::Corrupt, 1 + 5 * blocks as u64 + 1));
    }

    #[test]
    fn error_persists_and_says_where_it_is() {
        let mut decoder = new_decoder(Direction::default(), &Options::default()).unwrap();
        assert_eq!(decode(&mut decoder.codec, &[0], 10), Ok(Vec::new()));
        let error = decode(&mut decoder.codec, &[6], 10).unwrap_err();
        assert_eq!((error.error.kind, error.offset, error.message), (Kind::Corrupt, 2, 1));
        assert_eq!(decode(&mut decoder.codec, &[0], 10), Err(error));
    }
}
