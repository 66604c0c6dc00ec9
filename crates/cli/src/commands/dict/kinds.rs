//! Detects the kind of a file by its magic number, for subcommands that take files of any kind.

use std::path::{Path, PathBuf};

use clap::ValueHint;
use linerate_core::Kind;
use linerate_dict::sst;
use linerate_io::ReadAt;

use super::blockfile::{PackArg, input};
use super::sst_file::LimitArgs;
use crate::ui::error::CliError;
use crate::ui::verbosity::VerbosityArgs;

/// The kind of a file: a block file or a pack of `linerate dict`, or an SST file of RocksDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Blocks,
    Pack,
    Sst,
}

/// Arguments of a subcommand that takes files of any kind.
#[derive(clap::Args, Debug)]
pub(crate) struct FilesArgs {
    #[command(flatten)]
    pub(crate) pack: PackArg,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Block files, packs and SST files
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
}

const BLOCKS: &[u8; 8] = b"\x89LRBLKS\n";
const PACK: &[u8; 8] = b"\x89LRPACK\n";

/// Detects the kind of a file by its magic number: the first 8 bytes of block files and packs, the
/// last 8 bytes of SST files. Fails for other files.
pub(crate) fn kind_of(path: &Path) -> Result<FileKind, CliError> {
    let input = input(path)?;
    let magic = |at: Option<u64>| -> Result<Option<[u8; 8]>, CliError> {
        let Some(at) = at.filter(|at| at + 8 <= input.len()) else { return Ok(None) };
        let mut bytes = [0; 8];
        input.read_at(at, &mut bytes).map_err(|error| CliError::Read { error, offset: at })?;
        Ok(Some(bytes))
    };
    match magic(Some(0))?.as_ref() {
        Some(BLOCKS) => return Ok(FileKind::Blocks),
        Some(PACK) => return Ok(FileKind::Pack),
        _ => {}
    }
    if magic(input.len().checked_sub(8))?.as_ref() == Some(&sst::MAGIC) {
        return Ok(FileKind::Sst);
    }
    Err(CliError::data(Kind::Corrupt, 0, "it is no block file, pack or SST file"))
}
