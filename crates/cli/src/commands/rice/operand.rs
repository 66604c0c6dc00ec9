//! The work on an operand of `linerate rice`: opens it, and the output made from it.

use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use linerate_rice::Options;
use linerate_rice::file::{Input, Piece};

use super::work_args::{TargetArgs, WorkArgs};
use crate::ui::error::{CliError, engine_error};
use crate::ui::input;
use crate::ui::inputs::{self, Reading};
use crate::ui::operands::Operand;
use crate::ui::output::{self, Output};
use crate::ui::output_file::FinishedOutput;
use crate::ui::progress::{Label, Progress, Show};
use crate::ui::session::wait_for_turn;
use crate::ui::summary::RunSummary;
use crate::ui::write_behind::{Target, write_behind};

/// Opens an operand. Also returns the metadata if it is a regular file. Standard input counts as a
/// pipe, even if it is a file.
pub(super) fn open(operand: &Operand) -> Result<(Input, Option<Metadata>), CliError> {
    let cannot_open = || CliError::io("cannot open");
    let Some(path) = operand.path() else {
        let file = input::stdin().map_err(cannot_open())?;
        return Ok((Input::from_reader(file), None));
    };
    let meta = fs::metadata(path).map_err(cannot_open())?;
    if meta.is_dir() {
        return Err(CliError::Refused("it is a directory".into()));
    }
    let file = File::open(path).map_err(cannot_open())?;
    Ok((Input::from_file(file).map_err(engine_error)?, Some(meta).filter(Metadata::is_file)))
}

/// The work on an operand.
pub(super) struct Job<'a> {
    pub(super) operand: &'a Operand,
    pub(super) args: &'a WorkArgs,
    /// Whether no other operand is processed at the same time.
    pub(super) alone: bool,
}

impl Job<'_> {
    /// Begins the summary, whose time begins now: call it after [`share`](Self::share), which waits
    /// for other files. `mode` is the subcommand's name.
    pub(super) fn summary(&self, mode: &'static str) -> RunSummary {
        RunSummary::new(Path::new(&self.operand.name()), mode)
    }

    /// Makes the progress. `total` is the number of bytes to process, if it is known.
    pub(super) fn progress(&self, total: Option<u64>) -> Progress {
        let show = Show::of(self.args.verbosity.quiet, self.args.verbosity.json);
        let show = if self.alone { show } else { show.among_others() };
        Progress::new(show, Label::File(self.operand.name()), total)
    }

    /// Waits for the turn of a large file, as [`wait_for_turn`] does, and returns what the work on
    /// `input` may use.
    pub(super) fn share(&self, input: &Input) -> Share {
        let len = input.file_len();
        let turn = wait_for_turn(self.alone, len.unwrap_or(0));
        let all = self.alone || turn.is_some();
        let threads = if all { self.args.threads.count_for(len) } else { 1 };
        Share { threads, is_long: len.is_some_and(|len| len > LONG), _turn: turn }
    }
}

/// Files of more bytes have several pieces, encoded or decoded. One piece can be written while the
/// next one is coded.
const LONG: u64 = 4 << 20;

/// What the work on an operand may use while this value exists.
pub(super) struct Share {
    pub(super) threads: usize,
    is_long: bool,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Share {
    pub(super) fn options(&self) -> Options {
        Options::new().threads(self.threads)
    }
}

/// An output that counts its bytes and gets the attributes of its source.
pub(super) struct Sink {
    output: Output,
    /// Metadata of the source, whose times, owner and mode the output gets.
    source: Option<Metadata>,
    /// Bytes written.
    bytes: u64,
    /// Keeps other outputs from replacing the source.
    _reading: Reading,
}

impl Sink {
    /// Opens the output: standard output, the file that the command line names, or else the file
    /// whose path `beside` makes from the input's path. The output gets the attributes in `source`.
    /// Fails if it would overwrite the input.
    pub(super) fn open(
        args: &TargetArgs,
        operand: &Operand,
        source: Option<Metadata>,
        beside: impl FnOnce(&Path) -> PathBuf,
    ) -> Result<Sink, CliError> {
        let _reading = match operand.path() {
            Some(path) => inputs::reading_at(path),
            None => inputs::reading(&input::stdin().map_err(CliError::io("cannot open"))?),
        };
        let output = match (&args.output, operand.path()) {
            _ if args.is_stdout(operand.path().is_none()) => output::stdout().map(Output::Stdout)?,
            (Some(path), _) => Output::at(path, args.force)?,
            (None, Some(path)) => Output::at(&beside(path), args.force)?,
            (None, None) => return Err(CliError::Refused("the output has no name; -o names it".into())),
        };
        Ok(Sink { output, source, bytes: 0, _reading })
    }

    /// Calls `work` with what takes the parts of the output. Another thread writes them if the
    /// operand is a long file and may use several threads.
    pub(super) fn fill<T>(
        &mut self,
        share: &Share,
        work: impl FnOnce(&mut Parts<'_>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let Sink { output, bytes, .. } = self;
        let run = |target: &mut dyn Target| work(&mut Parts { target, bytes });
        if share.threads > 1 && share.is_long { write_behind(output, run) } else { run(output) }
    }

    /// Completes the output, which is still to be committed. Adds its name and its size to the
    /// summary, whose `bytes` must be the size of the input, and become the larger of both sizes.
    pub(super) fn finish(mut self, summary: &mut RunSummary) -> Result<FinishedOutput, CliError> {
        self.output.take_over(self.source.as_ref(), None, false)?;
        summary.output = self.output.path().map(Path::to_owned);
        summary.set("output", summary.output.as_ref().map(|path| path.display().to_string()));
        let (bytes_in, bytes_out) = (summary.bytes, self.bytes);
        summary.set("bytes_in", bytes_in);
        summary.set("bytes_out", bytes_out);
        summary.bytes = bytes_in.max(bytes_out);
        let percent = 100.0 * bytes_in.min(bytes_out) as f64 / summary.bytes.max(1) as f64;
        summary.text = Some(format!("{bytes_in} -> {bytes_out} bytes ({percent:.1}%)"));
        Ok(FinishedOutput::without_source(self.output))
    }
}

/// Takes the parts of an output, and counts their bytes.
pub(super) struct Parts<'a> {
    target: &'a mut dyn Target,
    bytes: &'a mut u64,
}

impl Parts<'_> {
    pub(super) fn put(&mut self, piece: Piece<'_>) -> Result<(), CliError> {
        match piece {
            Piece::Buffer(buffer, len) => {
                *self.bytes += len as u64;
                self.target.put_buffer(buffer, len)
            }
            Piece::Bytes(bytes) => {
                *self.bytes += bytes.len() as u64;
                self.target.put(bytes)
            }
        }
    }
}
