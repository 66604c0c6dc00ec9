//! Counts frames and their sizes by their headers, without decompressing them.

use std::io::Read;

use linerate_core::Kind;
use linerate_zstd::{Format, FrameHeader, Header};

use crate::ui::error::CliError;
use crate::ui::input::Source;

/// Counts of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Frames with data.
    pub(crate) frames: u64,
    /// Skippable frames.
    pub(crate) skipped: u64,
    pub(crate) bytes_in: u64,
    /// Decoded bytes; `None` if a frame that was not decoded does not state its size.
    pub(crate) bytes_out: Option<u64>,
    /// The largest window of a frame, in bytes.
    pub(crate) window: u64,
    /// Whether there are frames with data, and all have a checksum.
    pub(crate) checked: bool,
}

impl Totals {
    /// Counts a frame with data.
    pub(crate) fn begin(&mut self, header: &FrameHeader) {
        self.checked = header.checksum && (self.checked || self.frames == 0);
        self.frames += 1;
        self.window = self.window.max(header.window);
    }
}

/// Maximum bytes of a frame header with its magic number (RFC 8878, section 3.1.1).
pub(super) const MAX_HEADER: usize = 18;

/// Counts all frames.
pub(crate) fn totals<R: Read>(source: &mut Source<R>) -> Result<Totals, CliError> {
    let mut totals = Totals { bytes_out: Some(0), ..Totals::default() };
    if source.peek(1)?.is_empty() {
        return Err(CliError::data(Kind::Truncated, 0, "the input is empty"));
    }
    while !source.peek(1)?.is_empty() {
        let at = source.at();
        match Header::parse(source.peek(MAX_HEADER)?, Format::Standard) {
            Ok(Header::Skippable { len, .. }) => {
                skip(source, 8 + u64::from(len))?;
                totals.skipped += 1;
            }
            Ok(Header::Frame(header)) => {
                source.consume(header.len);
                skip_blocks(source)?;
                skip(source, if header.checksum { 4 } else { 0 })?;
                totals.begin(&header);
                totals.bytes_out =
                    totals.bytes_out.zip(header.content_size).map(|(a, b)| a.saturating_add(b));
            }
            Err(e) => return Err(CliError::data(e.kind, at + e.offset, e.message)),
        }
    }
    totals.bytes_in = source.at();
    Ok(totals)
}

/// Skips the blocks of a frame.
fn skip_blocks<R: Read>(source: &mut Source<R>) -> Result<(), CliError> {
    loop {
        let at = source.at();
        let &[a, b, c, ..] = source.peek(3)? else { return Err(truncated(source)) };
        let header = u32::from_le_bytes([a, b, c, 0]);
        let stored = match header >> 1 & 3 {
            0 | 2 => header >> 3,
            1 => 1,
            _ => return Err(CliError::data(Kind::Corrupt, at, "a block has the reserved type")),
        };
        skip(source, 3 + u64::from(stored))?;
        if header & 1 == 1 {
            return Ok(());
        }
    }
}

fn skip<R: Read>(source: &mut Source<R>, mut n: u64) -> Result<(), CliError> {
    while n > 0 {
        let here = source.peek(1)?.len();
        if here == 0 {
            return Err(truncated(source));
        }
        let step = n.min(here as u64);
        source.consume(step as usize);
        n -= step;
    }
    Ok(())
}

fn truncated<R: Read>(source: &mut Source<R>) -> CliError {
    // The bytes left belong to the frame.
    let left = source.peek(0).map_or(0, <[u8]>::len) as u64;
    CliError::data(Kind::Truncated, source.at() + left, "the input ends before the frame does")
}
