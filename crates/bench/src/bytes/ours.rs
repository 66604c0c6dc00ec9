//! Linerate's own levels.

use linerate_core::Error;
use linerate_deflate::{FastScratch, Format, Level, Scratch, ScratchMut, Stream};

use super::encoder::{Coding, Encoder};

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

    /// As a proxy does it: that a chunk was the last is known only after it.
    fn chunk(&mut self, input: &[u8], last: bool, out: &mut [u8]) -> Result<usize, String> {
        let scratch: ScratchMut<'_> = match &mut self.memory {
            Memory::Fast(m) => m.into(),
            Memory::Full(m) => m.into(),
        };
        let n = self.stream.encode(scratch, input, out, true).map_err(text)?;
        let end = if last { self.stream.finish(&mut out[n..]).map_err(text)? } else { 0 };
        Ok(n + end)
    }

    fn state_bytes(&self) -> Option<usize> {
        Some(size_of::<Stream>())
    }

    fn scratch_bytes(&self) -> Option<usize> {
        Some(match self.memory {
            Memory::Fast(_) => size_of::<FastScratch>(),
            Memory::Full(_) => size_of::<Scratch>(),
        })
    }
}

fn text(e: Error) -> String {
    e.to_string()
}
