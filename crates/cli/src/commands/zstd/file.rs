//! Processes one operand: opens it, decodes it, and prepares the commit of its output.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use linerate_zstd::Dictionary;

use super::args::{Args, Mode};
use super::decode::Decoder;
use super::list::{self, Totals};
use super::names;
use crate::ui::error::CliError;
use crate::ui::input::Source;
use crate::ui::output::{self, Output};
use crate::ui::output_file::{FinishedOutput, InPlaceOptions, Opened, Work};
use crate::ui::progress::Progress;

/// An input.
pub(crate) enum Operand {
    Stdin,
    Named(PathBuf),
}

impl Operand {
    pub(crate) fn name(&self) -> String {
        match self {
            Operand::Stdin => "stdin".into(),
            Operand::Named(path) => path.display().to_string(),
        }
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Operand::Stdin => None,
            Operand::Named(path) => Some(path),
        }
    }
}

/// Result of an operand.
pub(crate) struct FileSummary {
    pub(crate) name: String,
    /// The file written, if any.
    pub(crate) output: Option<PathBuf>,
    pub(crate) totals: Totals,
    pub(crate) seconds: f64,
    pub(crate) warnings: Vec<String>,
}

/// Processes an operand, up to an output that is not committed yet.
pub(crate) fn work(args: &Args, dictionary: Option<&Dictionary<'_>>, operand: &Operand) -> Work<FileSummary> {
    Work { name: operand.name(), result: process(args, dictionary, operand).map(Some) }
}

fn process(
    args: &Args,
    dictionary: Option<&Dictionary<'_>>,
    operand: &Operand,
) -> Result<(FileSummary, FinishedOutput), CliError> {
    let beside =
        operand.path().filter(|_| args.mode() == Mode::Decompress && !args.stdout && args.output.is_none());
    let target = match beside {
        None => None,
        Some(path) => Some(names::without_suffix(path).ok_or_else(|| {
            CliError::Skipped("skipped: its suffix is not one of zstd files; -c or -o decompresses it".into())
        })?),
    };
    let in_place = InPlaceOptions { force: args.force, deletes: args.remove };
    let input = match operand.path() {
        None => Opened::stdin()?,
        Some(path) => Opened::open(path, beside.map(|_| in_place), "")?,
    };
    let begun = Instant::now();
    let mut output = match args.mode() {
        Mode::List | Mode::Test => Output::Nowhere,
        Mode::Decompress => make_output(args, operand, target.as_deref())?,
    };
    let totals = match args.mode() {
        Mode::List => list::totals(&mut Source::new(&input.file))?,
        Mode::Test | Mode::Decompress => decode(args, dictionary, operand, &input, &mut output)?,
    };
    let deletes = args.remove && beside.is_some();
    let finished = FinishedOutput::new(output, operand.path(), &input, None, deletes)?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok((FileSummary { name: operand.name(), output: None, totals, seconds, warnings: Vec::new() }, finished))
}

/// Decodes all frames into the output.
fn decode(
    args: &Args,
    dictionary: Option<&Dictionary<'_>>,
    operand: &Operand,
    input: &Opened,
    output: &mut Output,
) -> Result<Totals, CliError> {
    let total = input.meta.is_file().then_some(input.meta.len());
    let mut progress = Progress::new(!args.verbosity.quiet && !args.verbosity.json, &operand.name(), total);
    Decoder::new(Source::new(&input.file), args, dictionary).run(&mut |bytes, bytes_in| {
        progress.update(bytes_in);
        output.write_all(bytes).map_err(|e| output.error(e))
    })
}

/// Opens the output: `target` if it goes beside the operand.
fn make_output(args: &Args, operand: &Operand, target: Option<&Path>) -> Result<Output, CliError> {
    if args.writes_stdout(operand.path().is_none()) {
        return output::stdout().map(Output::Stdout).map_err(CliError::stdout_write);
    }
    match target.or(args.output.as_deref()) {
        Some(path) => Output::at(path, args.force),
        None => Err(CliError::Refused("there is no name for the output".into())),
    }
}
