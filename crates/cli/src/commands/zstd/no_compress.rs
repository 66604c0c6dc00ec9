//! Replaces `compress.rs` in a program that was built without libzstd for compression.

use std::io::Read;

use super::args::Args;
use super::list::Totals;
use crate::ui::error::CliError;
use crate::ui::input::Counted;
use crate::ui::output::Sink;

/// Refuses every input.
pub(crate) struct Compressor;

impl Compressor {
    pub(crate) fn new(_: &Args, _: Option<Vec<u8>>) -> Compressor {
        Compressor
    }

    /// Does nothing.
    ///
    /// # Errors
    /// Always [`CliError::Refused`].
    pub(crate) fn compress<R: Read>(
        &self,
        _: &mut Counted<R>,
        _: Option<u64>,
        _: usize,
        _: Sink<'_>,
    ) -> Result<Totals, CliError> {
        let what = "this program only decompresses: it was built without the feature `zstd-compress`";
        Err(CliError::Refused(what.into()))
    }
}
