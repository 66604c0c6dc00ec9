//! Operands of `linerate rice`, and the outputs made from them.

use std::fs::{self, File, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};

use linerate_rice::file::Input;

use super::work_args::TargetArgs;
use crate::ui::error::{CliError, engine_error};
use crate::ui::output::{self, Output};
use crate::ui::summary::RunSummary;
use crate::ui::{input, inputs};

/// A file to process, or standard input.
pub(super) enum Operand {
    Stdin,
    Named(PathBuf),
}

impl Operand {
    pub(super) fn of(path: &Path) -> Operand {
        if path == Path::new("-") { Operand::Stdin } else { Operand::Named(path.to_owned()) }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Operand::Stdin => "stdin".into(),
            Operand::Named(path) => path.display().to_string(),
        }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Operand::Stdin => None,
            Operand::Named(path) => Some(path),
        }
    }

    pub(super) fn summary(&self, mode: &'static str) -> RunSummary {
        RunSummary::new(Path::new(&self.name()), mode)
    }

    /// Opens the operand. Also returns the metadata if it is a regular file. Standard input counts
    /// as a pipe, even if it is a file.
    pub(super) fn open(&self) -> Result<(Input, Option<Metadata>), CliError> {
        let cannot_open = || CliError::io("cannot open");
        match self {
            Operand::Stdin => {
                let file = input::stdin().map_err(cannot_open())?;
                Ok((Input::from_reader(file), None))
            }
            Operand::Named(path) => {
                let meta = fs::metadata(path).map_err(cannot_open())?;
                if meta.is_dir() {
                    return Err(CliError::Refused("it is a directory".into()));
                }
                let file = File::open(path).map_err(cannot_open())?;
                Ok((Input::from_file(file).map_err(engine_error)?, Some(meta).filter(Metadata::is_file)))
            }
        }
    }
}

/// An output that counts its bytes and gets the attributes of its source.
pub(super) struct Sink {
    output: Output,
    /// Metadata of the source, whose times, owner and mode the output gets.
    source: Option<Metadata>,
    /// Bytes written.
    bytes: u64,
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
        Ok(Sink { output, source, bytes: 0 })
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.output.write_all(bytes).map_err(|e| self.output.error(e))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Commits a file. Adds its name and its size to the summary, whose `bytes` must be the size of
    /// the input, and become the larger of both sizes.
    pub(super) fn finish(mut self, summary: &mut RunSummary) -> Result<(), CliError> {
        self.output.take_over(self.source.as_ref(), None, false)?;
        summary.output = self.output.commit()?;
        summary.set("output", summary.output.as_ref().map(|path| path.display().to_string()));
        let (bytes_in, bytes_out) = (summary.bytes, self.bytes);
        summary.set("bytes_in", bytes_in);
        summary.set("bytes_out", bytes_out);
        summary.bytes = bytes_in.max(bytes_out);
        let percent = 100.0 * bytes_in.min(bytes_out) as f64 / summary.bytes.max(1) as f64;
        summary.text = Some(format!("{bytes_in} -> {bytes_out} bytes ({percent:.1}%)"));
        Ok(())
    }
}
