//! Peers with a safe Rust interface, and memcpy as the limit.

use libdeflater::{CompressionLvl, Compressor};
use linerate_deflate::Format;
use zlib_rs::{Deflate, DeflateFlush};

use crate::contender::{Coding, Contender};
use crate::kernel::os::footprint;

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

    fn step(&mut self, input: &[u8], out: &mut [u8], flush: DeflateFlush) -> Result<usize, String> {
        let (read, written) = (self.stream.total_in(), self.stream.total_out());
        self.stream.compress(input, out, flush).map_err(|e| format!("zlib-rs: {}", e.as_str()))?;
        if self.stream.total_in() - read != input.len() as u64 {
            return Err("zlib-rs: input left over".into());
        }
        Ok((self.stream.total_out() - written) as usize)
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

    fn chunk(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, String> {
        self.step(input, out, DeflateFlush::FullFlush)
    }

    fn finish(&mut self, out: &mut [u8]) -> Result<usize, String> {
        self.step(&[], out, DeflateFlush::Finish)
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
pub(crate) struct Libdeflate {
    compressor: Compressor,
    scratch: Option<usize>,
}

impl Libdeflate {
    pub(crate) fn new(level: i32) -> Result<Self, String> {
        let level = CompressionLvl::new(level).map_err(|e| format!("libdeflate: {e:?}"))?;
        let (compressor, scratch) = footprint(|| Compressor::new(level));
        Ok(Libdeflate { compressor, scratch })
    }
}

impl Contender for Libdeflate {
    fn coding(&self) -> Coding {
        Coding::DeflatePieces
    }

    fn chunk(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, String> {
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

/// The limit: copying the chunk.
pub(crate) struct Memcpy;

impl Contender for Memcpy {
    fn coding(&self) -> Coding {
        Coding::Copy
    }

    fn chunk(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, String> {
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
