//! Arguments of `linerate-bench archives`, and the run.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::row::{Row, table};
use super::{BenchOptions, Input, Part};
use crate::output::{OutputArgs, progress};

/// Text after the options in the help.
pub const EXAMPLES: &str = "\
Examples:
  linerate-bench archives --corpus mods --only decode,extract
  linerate-bench archives --corpus mods --only presets --csv presets.csv";

/// Options of the measurement, and where the results go.
#[derive(Args, Clone, Debug)]
pub struct ArchivesArgs {
    /// The folder that is packed
    #[arg(long, value_name = "DIR")]
    corpus: PathBuf,
    /// Its name in the record [default: from the path]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    output: OutputArgs,
    /// What to measure [default: everything]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    only: Vec<Part>,
    /// Levels of zstd
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "9,12")]
    level: Vec<i32>,
    /// Turns of each contender
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// The program that is measured [default: this one]
    #[arg(long, value_name = "PROGRAM")]
    linerate: Option<PathBuf>,
    /// Where folders are made and removed [default: /dev/shm, where it is]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

/// The program's name; it is looked for beside this one.
const PROGRAM: &str = if cfg!(windows) { "linerate.exe" } else { "linerate" };

/// Measures part by part, prints a table for each, and keeps the rows.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &ArchivesArgs) -> Result<(), String> {
    let mut output = args.output.open::<Row>()?;
    let input = Input::of(&args.corpus, args.name.as_deref())?;
    let linerate = match &args.linerate {
        Some(path) => path.clone(),
        None => std::env::current_exe().map_err(|e| e.to_string())?.with_file_name(PROGRAM),
    };
    let scratch = match &args.scratch {
        Some(path) => path.clone(),
        None => {
            Some(PathBuf::from("/dev/shm")).filter(|path| path.is_dir()).unwrap_or_else(std::env::temp_dir)
        }
    };
    let options =
        BenchOptions { input: &input, levels: &args.level, rounds: args.rounds.into(), linerate, scratch };
    let parts = if args.only.is_empty() { Part::value_variants() } else { &args.only };
    for part in parts {
        let rows = part.measure(&options, progress)?;
        let corpus = rows.first().map_or("", |row| &row.corpus);
        output.show(&format!("{}: {corpus}\n\n{}\n", part.name(), table(&rows)))?;
        output.add(rows)?;
    }
    output.finish()
}
