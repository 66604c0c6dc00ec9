//! The encoders that are called through Rust crates: our levels, libdeflate and zlib-rs; and one
//! that only copies.

#[cfg(feature = "libdeflate")]
use libdeflater::{CompressionLvl, Compressor};
use linerate_candidates::footprint;
use linerate_deflate::{FastScratch, Format, Level, Scratch, ScratchMut, Stream};
use zlib_rs::{Deflate, DeflateFlush, Status};

use super::encoder::{Coding, Encoder};
use crate::harness::message;

/// Copies each chunk, for comparison: encoders are hardly faster than that.
pub(crate) struct Memcpy;

impl Encoder for Memcpy {
    fn coding(&self) -> Coding {
        Coding::Copy
    }

    fn chunk(&mut self, input: &[u8], _last: bool, out: &mut [u8]) -> Result<usize, String> {
        out[..input.len()].copy_from_slice(input);
        Ok(input.len())
    }
}

/// Working memory of our levels: small for levels 0 and 1, full for the others.
enum Memory {
    Fast(Box<FastScratch>),
    Full(Box<Scratch>),
}

/// `linerate-deflate` at one level and format: one [`Stream`] per file, one scratch for all.
pub(crate) struct Ours {
    stream: Stream,
    memory: Memory,
}

impl Ours {
    pub(crate) fn new(format: Format, level: Level) -> Self {
        let memory = match level {
            Level::Stored | Level::Fast => Memory::Fast(FastScratch::boxed()),
            _ => Memory::Full(Scratch::boxed()),
        };
        Ours { stream: Stream::new(format, level), memory }
    }
}

impl Encoder for Ours {
    fn coding(&self) -> Coding {
        Coding::Stream(self.stream.format())
    }

    fn begin(&mut self) -> Result<(), String> {
        self.stream = Stream::new(self.stream.format(), self.stream.level());
        Ok(())
    }

    /// Encodes a chunk as a proxy does, which learns only afterwards that a chunk was the last: the
    /// stream is ended in a call of its own.
    fn chunk(&mut self, input: &[u8], last: bool, out: &mut [u8]) -> Result<usize, String> {
        let scratch: ScratchMut<'_> = match &mut self.memory {
            Memory::Fast(m) => m.into(),
            Memory::Full(m) => m.into(),
        };
        let n = self.stream.encode(scratch, input, out, true).map_err(message)?;
        let end = if last { self.stream.finish(&mut out[n..]).map_err(message)? } else { 0 };
        Ok(n + end)
    }

    fn state_bytes(&self) -> Option<usize> {
        Some(size_of::<Stream>())
    }

    fn scratch_bytes(&self) -> Option<usize> {
        Some(match &self.memory {
            Memory::Fast(_) => size_of::<FastScratch>(),
            Memory::Full(scratch) => scratch.memory(),
        })
    }
}

/// zlib-rs at one level: one stream per file, and a full flush after each chunk but the last.
pub(crate) struct ZlibRs {
    stream: Deflate,
    state: Option<usize>,
}

impl ZlibRs {
    pub(crate) fn new(level: i32) -> Self {
        let (stream, state) = footprint(|| Deflate::new(level, false, 15));
        ZlibRs { stream, state: state.map(|n| n + size_of::<Deflate>()) }
    }
}

impl Encoder for ZlibRs {
    fn coding(&self) -> Coding {
        Coding::Stream(Format::Deflate)
    }

    fn begin(&mut self) -> Result<(), String> {
        self.stream.reset();
        Ok(())
    }

    fn chunk(&mut self, input: &[u8], last: bool, out: &mut [u8]) -> Result<usize, String> {
        let flush = if last { DeflateFlush::Finish } else { DeflateFlush::FullFlush };
        let (read, written) = (self.stream.total_in(), self.stream.total_out());
        let status = self.stream.compress(input, out, flush);
        let status = status.map_err(|e| format!("zlib-rs: {}", e.as_str()))?;
        let left = input.len() as u64 - (self.stream.total_in() - read);
        if left != 0 || last != (status == Status::StreamEnd) {
            return Err(format!("zlib-rs: {status:?} with {left} bytes left over"));
        }
        Ok((self.stream.total_out() - written) as usize)
    }

    fn state_bytes(&self) -> Option<usize> {
        self.state
    }

    fn version(&self) -> String {
        env!("BENCH_VERSION_ZLIB_RS").into()
    }
}

/// libdeflate at one level: each chunk is a stream of its own, and one compressor serves all.
#[cfg(feature = "libdeflate")]
pub(crate) struct Libdeflate {
    compressor: Compressor,
    scratch: Option<usize>,
}

#[cfg(feature = "libdeflate")]
impl Libdeflate {
    pub(crate) fn new(level: i32) -> Result<Self, String> {
        let level = CompressionLvl::new(level).map_err(|e| format!("libdeflate: {e:?}"))?;
        let (compressor, scratch) = footprint(|| Compressor::new(level));
        Ok(Libdeflate { compressor, scratch })
    }
}

#[cfg(feature = "libdeflate")]
impl Encoder for Libdeflate {
    fn coding(&self) -> Coding {
        Coding::DeflatePieces
    }

    fn chunk(&mut self, input: &[u8], _last: bool, out: &mut [u8]) -> Result<usize, String> {
        self.compressor.deflate_compress(input, out).map_err(|e| format!("libdeflate: {e}"))
    }

    fn scratch_bytes(&self) -> Option<usize> {
        self.scratch
    }

    fn version(&self) -> String {
        env!("BENCH_VERSION_LIBDEFLATE").into()
    }
}
