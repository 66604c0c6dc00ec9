//! libdeflate: each chunk a stream of its own, one compressor for all.

use libdeflater::{CompressionLvl, Compressor};
use linerate_candidates::footprint;

use super::encoder::{Coding, Encoder};

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

impl Encoder for Libdeflate {
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
