//! The shape "archives": Nx archives packed, decoded and extracted, beside libzstd on the same blocks
//! and beside the programs that people use instead.
//!
//! Each [`Part`] makes [`row::Row`]s. Contenders take turns.

mod decode;
mod dedup;
mod extract;
mod input;
pub mod mapped;
mod memory;
mod open;
mod pack;
pub mod peak;
mod presets;
mod programs;
mod rounds;
pub mod row;
mod size;

use std::path::PathBuf;

use clap::ValueEnum;

pub use self::input::Input;
use self::row::Row;

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Decoding in memory, beside libzstd
    Decode,
    /// Extracting to a folder, beside other programs
    Extract,
    /// Packing, beside libzstd
    Pack,
    /// Packing a folder that holds every file twice
    Dedup,
    /// Opening an archive of 100,000 files and reading one
    Open,
    /// Memory of packing and extracting
    Memory,
    /// Bytes of the archive, beside tar.zst
    Size,
    /// Ratio and decoding speed of each preset
    Presets,
}

/// How the parts are measured.
pub struct Setup<'s> {
    /// What is packed.
    pub input: &'s Input,
    /// Levels of zstd.
    pub levels: &'s [i32],
    /// Turns of each contender.
    pub rounds: usize,
    /// The program that is measured where programs are.
    pub linerate: PathBuf,
    /// A folder, best in memory, in which folders are made and removed.
    pub scratch: PathBuf,
}

/// Bytes of a block in all parts but the presets.
const CHUNK: u64 = 1 << 20;

impl Part {
    /// What it measures, in a word.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Its rows, as soon as they are there.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn measure(self, setup: &Setup<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
        match self {
            Part::Decode => decode::measure(setup, progress),
            Part::Extract => extract::measure(setup, progress),
            Part::Pack => pack::measure(setup, progress),
            Part::Dedup => dedup::measure(setup, progress),
            Part::Open => open::measure(setup, progress),
            Part::Memory => memory::measure(setup, progress),
            Part::Size => size::measure(setup, progress),
            Part::Presets => presets::measure(setup, progress),
        }
    }
}

impl Setup<'_> {
    /// A row of the corpus.
    fn row(&self, measure: &str, contender: String, threads: usize, clock: &'static str) -> Row {
        let blank = Row::blank(&self.input.name, self.input.files, self.input.bytes);
        Row { measure: measure.into(), contender, threads: Some(threads), clock, ..blank }
    }

    /// A folder of its own for a part, removed when it goes.
    fn folder(&self) -> Result<tempfile::TempDir, String> {
        let made = tempfile::Builder::new().prefix("linerate-bench-").tempdir_in(&self.scratch);
        made.map_err(|e| format!("{}: {e}", self.scratch.display()))
    }
}
