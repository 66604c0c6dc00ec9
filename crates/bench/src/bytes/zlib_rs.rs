//! zlib-rs: one stream per file, a full flush per chunk.

use linerate_candidates::footprint;
use linerate_deflate::Format;
use zlib_rs::{Deflate, DeflateFlush, Status};

use super::encoder::{Coding, Encoder};

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

    fn scratch_bytes(&self) -> Option<usize> {
        Some(0)
    }

    fn version(&self) -> String {
        env!("BENCH_VERSION_ZLIB_RS").into()
    }
}
