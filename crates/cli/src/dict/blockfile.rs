//! Block files opened.

use std::fs;
use std::path::Path;

use linerate_dict::{BlockFile, Input, Store};

use super::figures::failure;
use crate::failure::Failure;

/// Opens a block file; its dictionary stands in it.
pub(crate) fn open_blocks(path: &Path) -> Result<BlockFile, Failure> {
    BlockFile::open_input(input(path)?, &Store::new()).map_err(failure)
}

/// A file as the engine reads it.
pub(crate) fn input(path: &Path) -> Result<Input, Failure> {
    openable(path)?;
    Input::map(path).map_err(failure)
}

/// Fails where a file cannot be opened. The system says best why.
pub(crate) fn openable(path: &Path) -> Result<(), Failure> {
    let cannot_open = || Failure::doing("cannot open");
    if fs::metadata(path).map_err(cannot_open())?.is_dir() {
        return Err(Failure::Refused("it is a directory".into()));
    }
    fs::File::open(path).map_err(cannot_open())?;
    Ok(())
}
