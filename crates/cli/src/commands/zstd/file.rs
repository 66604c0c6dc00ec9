//! Processes one operand: opens it, decodes it, and prepares the commit of its output.

use std::io::Write;
use std::time::Instant;

use linerate_zstd::Dictionary;

use super::args::{Args, Mode};
use super::decode::Decoder;
use super::list::{self, Totals};
use super::names;
use crate::ui::error::CliError;
use crate::ui::input::Source;
use crate::ui::output::Output;
use crate::ui::output_file::{FinishedOutput, InPlaceOptions, Opened, Work};
use crate::ui::progress::Progress;
use crate::ui::session::{FileSummary, Operand, open_output};

/// Processes an operand, up to an output that is not committed yet.
pub(crate) fn work(
    args: &Args,
    dictionary: Option<&Dictionary<'_>>,
    operand: &Operand,
) -> Work<FileSummary<Totals>> {
    Work { name: operand.name(), result: process(args, dictionary, operand).map(Some) }
}

fn process(
    args: &Args,
    dictionary: Option<&Dictionary<'_>>,
    operand: &Operand,
) -> Result<(FileSummary<Totals>, FinishedOutput), CliError> {
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
        Mode::Decompress => {
            let to_stdout = args.writes_stdout(operand.path().is_none());
            open_output(to_stdout, target.as_deref().or(args.output.as_deref()), args.force)?
        }
    };
    let totals = match args.mode() {
        Mode::List => list::totals(&mut Source::new(&input.file))?,
        Mode::Test | Mode::Decompress => decode(args, dictionary, operand, &input, &mut output)?,
    };
    let deletes = args.remove && beside.is_some();
    let finished = FinishedOutput::new(output, operand.path(), &input, None, deletes)?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok((FileSummary { seconds, ..FileSummary::new(operand, totals) }, finished))
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
