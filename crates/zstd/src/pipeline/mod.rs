//! Decodes one frame on several threads.
//!
//! A block depends on the blocks before it by the window, by the repeat offsets, and by entropy
//! tables that it uses again. The tables are known from the headers. Reading the headers in order
//! takes a twentieth of the time. Other threads therefore decode literals and sequences of the next
//! blocks, with symbols for the repeat offsets, while the calling thread executes the sequences of
//! a block. The calling thread helps when no block is ready. Execution takes a third to two thirds
//! of the time of one thread, and bounds the gain of more threads.
//!
//! Only the calling thread finds errors: a [`StreamDecoder`](crate::StreamDecoder) decodes damaged
//! blocks again.
//!
//! ```
//! use linerate_zstd::pipeline;
//!
//! let file = &b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello"[..]; // or a File
//! let mut content = Vec::new();
//! let totals = pipeline::decode(file, &mut content, &pipeline::Options::new().threads(2))?;
//! assert_eq!((content.as_slice(), totals.bytes_in), (&b"hello"[..], 14));
//! # Ok::<(), std::io::Error>(())
//! ```

mod block;
mod cutter;
mod decoder;
mod ring;

use std::io::{self, ErrorKind, Read, Write};

use linerate_core::{Error, Kind};

pub use self::decoder::Decoder;
use crate::options::Options as StreamOptions;
use crate::stream_decoder::Status;

/// Options of [`decode`] and [`Decoder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Format, limit and checks of the frames.
    pub stream: StreamOptions,
    /// Number of decoding threads, including the calling one. At most 4 are used, because more gain
    /// nothing. With 0 or 1 the calling thread does everything. Default: 1.
    ///
    /// Each thread takes at most 2 MiB of memory, beside the window.
    pub threads: usize,
}

impl Options {
    /// Returns the default options: one thread, and [`StreamOptions::new`].
    pub const fn new() -> Self {
        Options { stream: StreamOptions::new(), threads: 1 }
    }

    /// Sets the number of [`threads`](#structfield.threads).
    #[must_use]
    pub const fn threads(self, threads: usize) -> Self {
        Options { threads, ..self }
    }

    /// Sets [`stream`](#structfield.stream), the options by which each frame is decoded.
    #[must_use]
    pub const fn stream(self, stream: StreamOptions) -> Self {
        Options { stream, ..self }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

/// Total numbers of bytes of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Number of bytes of the frames.
    pub bytes_in: u64,
    /// Number of bytes of content.
    pub bytes_out: u64,
}

/// Number of bytes read at a time.
const READ: usize = 128 << 10;
/// Number of bytes written at a time: several blocks, so that most are copied only once.
const WRITE: usize = 1 << 20;

/// Decodes all frames from `reader` to `writer`, and does not flush the writer. Content and errors
/// are those of [`read::Decoder`](crate::read::Decoder) for any number of threads. Frames are
/// decoded one after the other; [`ParallelDecoder`](crate::ParallelDecoder) is faster for many
/// small frames.
///
/// # Errors
/// Returns the errors of `reader` and `writer`, except [`ErrorKind::Interrupted`], which is
/// retried, and those of [`read::Decoder`](crate::read::Decoder). Content before an error of the
/// data or of the reader is written first.
///
/// # Panics
/// Panics if `reader` or `writer` panics; all threads have ended then.
pub fn decode<R: Read, W: Write>(mut reader: R, mut writer: W, options: &Options) -> io::Result<Totals> {
    let mut decoder = Decoder::new(*options, None);
    let (mut input, mut output) = (vec![0; READ], vec![0; WRITE]);
    let (mut totals, mut end) = (Totals::default(), None);
    while end.is_none() {
        let len = match reader.read(&mut input) {
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                end = Some(Err(error));
                0
            }
        };
        if len == 0 && end.is_none() {
            end = Some(Ok(()));
        }
        let mut read = 0;
        loop {
            let progress = decoder.decode(&input[read..len], &mut output)?;
            read += progress.read;
            writer.write_all(&output[..progress.written])?;
            totals.bytes_out += progress.written as u64;
            let goes_on = progress.status == Status::NeedOutput || read < len;
            if !goes_on {
                break;
            }
        }
    }
    if let Some(Err(error)) = end {
        return Err(error);
    }
    totals.bytes_in = decoder.position();
    if totals.bytes_in > 0 && decoder.is_between_frames() {
        return Ok(totals);
    }
    Err(Error::new(Kind::Truncated, totals.bytes_in, "the input ends before the frame does").into())
}
