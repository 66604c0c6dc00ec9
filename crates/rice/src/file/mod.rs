//! Arrays and encoded files, read and written in pieces, so that they may be larger than memory.
//!
//! | type | reads | gives |
//! |---|---|---|
//! | [`ArrayReader`] | a `.npy` file, or raw little-endian samples | samples |
//! | [`StreamEncoder`] | an [`ArrayReader`] | a `.rice` file: streams of version 2, one after another |
//! | [`WavEncoder`] | a WAV file | a `.rice` file that holds all of it |
//! | [`StreamReader`] | a `.rice` file | samples, or the WAV file |
//! | [`ChunkEncoder`] | an [`ArrayReader`] | a `.drc` file: one chunk of HDF5 filter 32025 |
//! | [`ChunkReader`] | a `.drc` file | samples |
//!
//! All of them read an [`Input`] (a file or any other reader), some through an [`ArrayReader`]. The
//! caller writes the bytes that they return, and the [`NpyHeader`] of a decoded array.
//!
//! ```
//! use linerate_rice::Options;
//! use linerate_rice::file::{ArrayReader, Input, NpyHeader, StreamEncoder, StreamReader};
//! use linerate_rice::v2::{ElementType, Shape, StreamOptions};
//!
//! let header = NpyHeader { element: ElementType::I16, shape: Shape::new(&[3, 1000])? };
//! let mut npy = header.to_bytes();
//! npy.extend((0..3000).flat_map(|i: i16| (i % 1000).to_le_bytes()));
//!
//! let array = ArrayReader::npy(Input::from_reader(std::io::Cursor::new(npy.clone())))?;
//! let row = array.row().and_then(|row| u32::try_from(row).ok()?.try_into().ok());
//! let settings = StreamOptions::new().row(row);
//! let mut encoder = StreamEncoder::new(array, settings, Options::new());
//! let mut rice = Vec::new();
//! while let Some(bytes) = encoder.next_bytes()? {
//!     rice.extend(bytes);
//! }
//! assert!(rice.len() < npy.len());
//!
//! let input = Input::from_reader(std::io::Cursor::new(rice));
//! let mut streams = StreamReader::new(input, Options::new());
//! let totals = streams.totals()?;
//! let mut decoded = NpyHeader { element: totals.element, shape: totals.shape() }.to_bytes();
//! while let Some(bytes) = streams.next_bytes()? {
//!     decoded.extend(bytes);
//! }
//! assert_eq!(decoded, npy);
//! # Ok::<(), linerate_rice::Error>(())
//! ```
//!
//! Offsets of errors are in bytes of the input. After an error, drop the reader or encoder.

mod array;
mod chunk_encoder;
mod chunk_reader;
mod input;
mod npy;
mod partial_shape;
mod stream_encoder;
mod stream_reader;
mod wav;
mod wav_encoder;

use bytemuck::allocation::try_zeroed_vec;
use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use linerate_core::{Error, Kind, Result};

pub use array::ArrayReader;
pub use chunk_encoder::{ChunkEncoder, ChunkOptions, SegmentChoice};
pub use chunk_reader::{ChunkReader, ChunkSegment};
pub use input::Input;
pub use npy::NpyHeader;
pub use partial_shape::PartialShape;
pub use stream_encoder::StreamEncoder;
pub use stream_reader::{StreamHeader, StreamReader, StreamTotals};
pub use wav_encoder::WavEncoder;

/// A piece has about this many bytes of samples, or one segment if that is longer. This determines
/// how a file is divided into streams, so it must be the same on every machine.
const PIECE: u64 = 16 << 20;

/// Number of 16-bit samples in [`PIECE`] bytes.
const PIECE_SAMPLES: u64 = PIECE / 2;

const NO_MEMORY: Error = Error::new(Kind::Limit, 0, "not enough memory for a piece");

const NOT_REPRODUCED: Error = Error::new(
    Kind::Corrupt,
    0,
    "what was encoded decodes to other samples: do not keep it, and check the memory of this machine",
);

/// A buffer of samples whose type is known only at run time.
#[derive(Default)]
struct SampleBuffer(Vec<u32>);

impl SampleBuffer {
    /// Makes the buffer at least `bytes` long.
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        reserve(&mut self.0, bytes.div_ceil(4))
    }

    /// The whole buffer as samples. No sample type needs a greater alignment than `u32`.
    fn samples<T: Pod>(&self) -> &[T] {
        cast_slice(&self.0)
    }

    fn samples_mut<T: Pod>(&mut self) -> &mut [T] {
        cast_slice_mut(&mut self.0)
    }
}

/// Makes `buffer` at least `len` long. A buffer without content gets memory that the system clears
/// page by page when it is first used.
fn reserve<T: Copy + Zeroable>(buffer: &mut Vec<T>, len: usize) -> Result<()> {
    if buffer.is_empty() {
        *buffer = try_zeroed_vec(len).map_err(|()| NO_MEMORY)?;
        linerate_io::prefer_huge_pages(buffer);
    } else if buffer.len() < len {
        buffer.try_reserve_exact(len - buffer.len()).map_err(|_| NO_MEMORY)?;
        buffer.resize(len, T::zeroed());
    }
    Ok(())
}

/// The next bytes of an encoded or decoded file.
pub enum Piece<'a> {
    /// The first bytes of a buffer, as many as the number says. You may replace the buffer by any
    /// other one, to write these bytes on another thread while the next call works.
    Buffer(&'a mut Vec<u8>, usize),
    /// Bytes that are not at the start of a buffer of their own.
    Bytes(&'a [u8]),
}

impl<'a> Piece<'a> {
    /// The bytes.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Piece::Buffer(buffer, len) => &buffer[..len],
            Piece::Bytes(bytes) => bytes,
        }
    }
}

/// Converts samples from little-endian order, which files have, to the order of the CPU, or back.
fn swap_little_endian(bytes: &mut [u8], sample: usize) {
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(sample).for_each(<[u8]>::reverse);
    }
}
