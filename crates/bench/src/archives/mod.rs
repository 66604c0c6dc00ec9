//! The shape "archives": Nx archives packed, decoded and extracted, beside libzstd on the same blocks
//! and beside the usual archivers.
//!
//! Each [`Part`] makes [`row::Row`]s. Contenders are interleaved.

pub mod args;
mod costs;
mod decode;
mod dedup;
mod extract;
mod input;
pub mod mapped;
mod memory;
mod open;
mod pack;
pub mod peak;
mod programs;
mod rounds;
pub mod row;
mod settings;

use std::path::PathBuf;

use clap::ValueEnum;

pub use self::input::Input;
use self::row::Row;

/// The parts of the shape.
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
    /// Bytes of the archive by what costs and saves them, beside other programs
    Costs,
    /// Ratio and decoding speed of each preset
    Presets,
    /// Ratio and decoding speed by block size, level and codec
    Settings,
}

/// Options of a measurement.
pub struct BenchOptions<'s> {
    /// The folder to pack.
    pub input: &'s Input,
    /// Levels of zstd.
    pub levels: &'s [i32],
    /// Passes of each contender.
    pub rounds: usize,
    /// The `linerate` program, for comparisons between programs.
    pub linerate: PathBuf,
    /// Folder for temporary folders, preferably in memory.
    pub scratch: PathBuf,
}

/// Bytes of a block in all parts but presets and settings.
const CHUNK: u64 = 1 << 20;

impl Part {
    /// Name in the record.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Measures the part; returns its rows.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn measure(self, options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
        match self {
            Part::Decode => decode::measure(options, progress),
            Part::Extract => extract::measure(options, progress),
            Part::Pack => pack::measure(options, progress),
            Part::Dedup => dedup::measure(options, progress),
            Part::Open => open::measure(options, progress),
            Part::Memory => memory::measure(options, progress),
            Part::Costs => costs::measure(options, progress),
            Part::Presets => settings::presets(options, progress),
            Part::Settings => settings::grid(options, progress),
        }
    }
}

impl BenchOptions<'_> {
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
