//! Processes one operand: opens it, compresses or decompresses it, and prepares the commit of its
//! output.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use linerate_zstd::Dictionary;

use super::args::Args;
use super::compress::Compressor;
use super::decode::Decoder;
use super::list::{self, Totals};
use super::{ahead, names};
use crate::ui::error::CliError;
use crate::ui::input::{Counted, Source};
use crate::ui::operands::Operand;
use crate::ui::output::{Output, Sink};
use crate::ui::output_file::{FinishedOutput, InPlaceOptions, Opened, Work};
use crate::ui::progress::{Label, Progress};
use crate::ui::session::{FileSummary, Mode, open_output, wait_for_turn};
use crate::ui::write_behind::write_behind;

/// Compressed files up to this size, in bytes, are read at once, and the calling thread writes
/// their content.
const SMALL: u64 = 512 << 10;

/// Processes operands with the same arguments.
pub(crate) struct Processor<'a> {
    pub(crate) args: &'a Args,
    pub(crate) dictionary: Option<&'a Dictionary<'a>>,
    pub(crate) compressor: Compressor,
}

impl Processor<'_> {
    /// Processes an operand, up to an output that is complete and still has to be committed.
    /// `alone` says that no other operand is processed at the same time.
    pub(crate) fn work(&self, operand: &Operand, alone: bool) -> Work<FileSummary<Totals>> {
        Work { name: operand.name(), result: self.process(operand, alone) }
    }

    /// Returns `None` if the operand is skipped silently: a file below a folder that has the suffix
    /// of a compressed file and is to be compressed, or that lacks it otherwise.
    fn process(
        &self,
        operand: &Operand,
        alone: bool,
    ) -> Result<Option<(FileSummary<Totals>, FinishedOutput)>, CliError> {
        let (args, mode) = (self.args, self.args.mode());
        if let Operand::Found(path) = operand
            && names::without_suffix(path).is_some() == (mode == Mode::Compress)
        {
            return Ok(None);
        }
        let beside = operand.path().filter(|_| mode.makes_files() && !args.stdout && args.output.is_none());
        let target = beside.map(|path| target(mode, path)).transpose()?;
        let in_place = InPlaceOptions { force: args.force, deletes: args.remove };
        // With --rm and -o, a source is checked like one whose output replaces it, since it will be
        // deleted. A named pipe is never deleted.
        let deletes = |path: &Path| args.remove && args.output.is_some() && path.is_file();
        let input = match operand.path() {
            None => Opened::stdin()?,
            Some(path) => {
                let in_place = (beside.is_some() || deletes(path)).then_some(in_place);
                Opened::open(path, in_place, "; -r works on the files below it")?
            }
        };
        let turn = wait_for_turn(alone, input.size().unwrap_or(0));
        let threads = if alone || turn.is_some() { args.threads_for(input.size()) } else { 1 };
        let begun = Instant::now();
        let mut output = match mode.makes_files() {
            false => Output::Nowhere,
            true => {
                let to_stdout = args.writes_stdout(operand.path().is_none());
                open_output(to_stdout, target.as_deref().or(args.output.as_deref()), args.force)?
            }
        };
        let file_size = input.size();
        let show = if alone { args.progress() } else { args.progress().among_others() };
        let mut progress = Progress::new(show, Label::File(operand.name()), file_size);
        let totals = match mode {
            Mode::List => list::totals(&mut Source::new(&input.file))?,
            Mode::Test | Mode::Decompress | Mode::Index => {
                let passes = args.passes_other_data(operand.path().is_none());
                self.decode(&input, threads, passes, &mut |bytes_in| progress.update(bytes_in), &mut output)?
            }
            Mode::Compress => {
                let mut sink = |bytes: &[u8], bytes_in| {
                    progress.update(bytes_in);
                    output.write_all(bytes).map_err(|e| output.error(e))
                };
                self.compress(operand, &input.file, file_size, threads, &mut sink)?
            }
        };
        drop(progress);
        let finished = FinishedOutput::new(output, operand.path(), &input, None, args.remove)?;
        let seconds = begun.elapsed().as_secs_f64();
        Ok(Some((FileSummary { seconds, ..FileSummary::new(operand, totals) }, finished)))
    }

    fn decode(
        &self,
        input: &Opened,
        threads: usize,
        passes: bool,
        progress: &mut dyn FnMut(u64),
        output: &mut Output,
    ) -> Result<Totals, CliError> {
        let size = input.size();
        let source = Source::of_size(&input.file, size, SMALL);
        let decoder = Decoder::new(source, self.args, self.dictionary, progress).passing(passes);
        // A pipe has no size, and may wait for its writer in the middle of a frame. One thread
        // decodes its data as it arrives.
        let Some(size) = size.filter(|_| threads > 1) else { return decoder.run(output) };
        let from_first =
            ahead::begins_with_small_frames(&mut &input.file).map_err(CliError::io("cannot read"))?;
        let decoder = decoder.threads(threads, from_first);
        if size <= SMALL || !self.args.writes_behind() || matches!(output, Output::Nowhere) {
            return decoder.run(output);
        }
        write_behind(output, |target| decoder.run(target))
    }

    fn compress(
        &self,
        operand: &Operand,
        input: &File,
        file_size: Option<u64>,
        threads: usize,
        sink: Sink<'_>,
    ) -> Result<Totals, CliError> {
        let size = match operand.path() {
            // The size of a file that is standard input is not used: reading may begin in its
            // middle.
            None => self.args.stream_size,
            // Files in /proc state a size of 0 and have content.
            Some(_) => file_size.filter(|size| *size > 0),
        };
        self.compressor.compress(&mut Counted::new(input), size, threads, sink)
    }
}

/// The path of the output beside the file at `path`. Decompressing skips a file without a suffix of
/// compressed files.
fn target(mode: Mode, path: &Path) -> Result<PathBuf, CliError> {
    if mode == Mode::Compress {
        return Ok(names::with_suffix(path));
    }
    names::without_suffix(path).ok_or_else(|| {
        CliError::Skipped("skipped: it has no suffix of zstd files; -c or -o FILE decompresses it".into())
    })
}
