//! Opens SST files, with the option that limits the memory for a block or the range deletions.

use std::path::Path;

use linerate_dict::Store;
use linerate_dict::sst::{Reader, Sst, SstOptions};

use super::blockfile::input;
use crate::ui::error::{CliError, engine_error};
use crate::ui::size;

/// Limits on the memory that an SST file may need.
#[derive(clap::Args, Debug)]
pub(crate) struct LimitArgs {
    /// Fail when a block or the range deletions of an SST file need more memory than this
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size::parse)]
    max_block: u64,
}

impl LimitArgs {
    fn options(&self) -> SstOptions {
        SstOptions::new().block_limit(usize::try_from(self.max_block).unwrap_or(usize::MAX))
    }
}

/// Opens an SST file. Returns it with the reader that opened it.
pub(super) fn open(path: &Path, limits: &LimitArgs) -> Result<(Sst, Reader), CliError> {
    let mut reader = Reader::new(&Store::new());
    let sst = reader.open_input(input(path)?, limits.options()).map_err(engine_error)?;
    Ok((sst, reader))
}
