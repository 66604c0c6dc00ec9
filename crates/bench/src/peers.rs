//! Peers with a safe Rust interface, and memcpy as the upper bound.

#[cfg(feature = "libdeflate")]
use libdeflater::{CompressionLvl, Compressor};
use linerate_deflate::Format;
use zlib_rs::{Deflate, DeflateFlush, Status};

use crate::contender::{Coding, Contender};
use linerate_candidates::footprint;

/// zlib-rs: one stream per file, a full flush per chunk.
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

impl Contender for ZlibRs {
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

    fn scratch_bytes(&self) -> Option<usize> {
        Some(0)
    }

    fn version(&self) -> String {
        env!("BENCH_VERSION_ZLIB_RS").into()
    }
}

/// libdeflate: each chunk a stream of its own, one compressor for all.
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
impl Contender for Libdeflate {
    fn coding(&self) -> Coding {
        Coding::DeflatePieces
    }

    fn chunk(&mut self, input: &[u8], _last: bool, out: &mut [u8]) -> Result<usize, String> {
        self.compressor.deflate_compress(input, out).map_err(|e| format!("libdeflate: {e}"))
    }

    fn state_bytes(&self) -> Option<usize> {
        Some(0)
    }

    fn scratch_bytes(&self) -> Option<usize> {
        self.scratch
    }

    fn version(&self) -> String {
        env!("BENCH_VERSION_LIBDEFLATE").into()
    }
}

/// The upper bound: copying the chunk.
pub(crate) struct Memcpy;

impl Contender for Memcpy {
    fn coding(&self) -> Coding {
        Coding::Copy
    }

    fn chunk(&mut self, input: &[u8], _last: bool, out: &mut [u8]) -> Result<usize, String> {
        out[..input.len()].copy_from_slice(input);
        Ok(input.len())
    }

    fn state_bytes(&self) -> Option<usize> {
        Some(0)
    }

    fn scratch_bytes(&self) -> Option<usize> {
        Some(0)
    }

    fn version(&self) -> String {
        String::new()
    }
}
