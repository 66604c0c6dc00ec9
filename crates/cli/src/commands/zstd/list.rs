//! Counts the frames of a file and their sizes, from the headers of frames and blocks, without
//! decompressing them.

use std::io::Read;

use linerate_core::Kind;
use linerate_zstd::{Format, FrameHeader, Header};
use serde::Serialize;

use super::walk::{self, MAX_HEADER};
use crate::ui::error::CliError;
use crate::ui::input::Source;

/// Totals of a file that was compressed, decompressed, tested or listed.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Totals {
    /// Number of frames that are not skippable.
    pub(crate) frames: u64,
    /// Number of skippable frames.
    #[serde(rename = "skippable_frames")]
    pub(crate) skipped: u64,
    /// Bytes read.
    pub(crate) bytes_in: u64,
    /// Bytes of the frame that compression made, otherwise bytes of content. When listing, `None`
    /// if a frame does not state the size of its content.
    pub(crate) bytes_out: Option<u64>,
    /// The largest window that a frame needs, in bytes.
    pub(crate) window: u64,
    /// Whether [`frames`](Self::frames) is above 0 and all of these have a checksum.
    #[serde(rename = "checksum")]
    pub(crate) checked: bool,
}

impl Totals {
    /// Counts a frame that is not skippable, by its header.
    pub(crate) fn begin(&mut self, header: &FrameHeader) {
        self.checked = header.checksum && (self.checked || self.frames == 0);
        self.frames += 1;
        self.window = self.window.max(header.window);
    }
}

/// Counts all frames of a file.
///
/// # Errors
/// Errors of reading; [`CliError::Data`] if the file is empty, damaged, or has bytes that are no
/// frame.
pub(crate) fn totals<R: Read>(source: &mut Source<R>) -> Result<Totals, CliError> {
    let mut totals = Totals { bytes_out: Some(0), ..Totals::default() };
    if source.peek(1)?.is_empty() {
        return Err(CliError::data(Kind::Truncated, 0, "the input is empty"));
    }
    while !source.peek(1)?.is_empty() {
        let at = source.at();
        match Header::parse(source.peek(MAX_HEADER)?, Format::Standard) {
            Ok(Header::Skippable { len, .. }) => {
                walk::pass_skippable(source, len, &mut |_, _| Ok(()))?;
                totals.skipped += 1;
            }
            Ok(Header::Frame(header)) => {
                walk::pass_frame(source, &header, &mut |_, _| Ok(()))?;
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
