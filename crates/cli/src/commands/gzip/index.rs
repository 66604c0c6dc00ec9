//! `--index` makes the index of a gzip file; `--index-file` decompresses with it on several
//! threads.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::ops::Range;
use std::path::Path;

use linerate_core::{Error, Kind};
use linerate_inflate::index::{self, Index, Options};

use super::args::Args;
use super::container::MAGIC;
use super::decode::Decoded;
use super::endpoints::{CountedReader, TargetWriter};
use super::file::{Totals, progress};
use super::names;
use crate::ui::error::{CliError, engine_error};
use crate::ui::input::Counted;
use crate::ui::operands::Operand;
use crate::ui::output::OutputCount;
use crate::ui::output_file::{FinishedOutput, Opened};
use crate::ui::progress::Progress;
use crate::ui::remote;
use crate::ui::session::{FileSummary, open_output};
use crate::ui::write_behind::Target;

/// Decodes a gzip file, and writes its index: beside it, or where `-o` or `-c` say.
pub(super) fn make(
    args: &Args,
    operand: &Operand,
    input: &Opened,
    alone: bool,
) -> Result<(FileSummary<Totals>, FinishedOutput), CliError> {
    let target = operand.path().filter(|_| !args.stdout).map(names::of_index);
    let target = args.output.as_deref().or(target.as_deref());
    let mut output = open_output(args.writes_stdout(operand.path().is_none()), target, args.force)?;
    let mut file = Counted::new(&input.file);
    let mut start = Vec::new();
    let read = (&mut file).take(MAGIC.len() as u64).read_to_end(&mut start);
    read.map_err(|error| of_reading(error, file.at))?;
    if !MAGIC.starts_with(&start) {
        return Err(CliError::data(Kind::Corrupt, 0, "the input is not in gzip format"));
    }
    let shown = Shown { file, progress: progress(args, operand, input, alone) };
    let mut reader = start.as_slice().chain(shown);
    let index = Index::build(&mut reader, &Options::new());
    let index = index.map_err(|error| of_reading(error, reader.get_ref().1.file.at))?;
    let mut writer = BufWriter::new(&mut output);
    let written = index.write_gzidx(&mut writer).and_then(|()| writer.flush());
    drop(writer);
    written.map_err(|error| output.error(error))?;
    let (bytes_in, bytes_out) = (index.compressed_len(), index.len());
    let summary = FileSummary::new(operand, Totals { format: "gzip", bytes_in, bytes_out });
    Ok((summary, FinishedOutput::new(output, operand.path(), input, None, false)?))
}

/// A reader of a file that updates the progress display with the number of bytes read.
struct Shown<'a> {
    file: Counted<&'a File>,
    progress: Progress,
}

impl Read for Shown<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.progress.update(self.file.at);
        Ok(read)
    }
}

/// Decodes a file with its index into `target`, on up to `threads` threads. Calls `progress` with
/// the number of bytes of the file that were read.
pub(super) fn decompress(
    args: &Args,
    index: &Path,
    mut file: &File,
    threads: usize,
    target: &mut dyn Target,
    progress: &mut dyn FnMut(u64),
) -> Result<Decoded, CliError> {
    let index = open(index, &mut file, 0..u64::MAX)?;
    file.rewind().map_err(|error| CliError::Read { error, offset: 0 })?;
    let (read, mut output) = (Cell::new(0), OutputCount::new(args.max_output));
    let reader = CountedReader { inner: file, bytes: &read };
    let mut writer = TargetWriter { target, progress, read: &read, output: &mut output, failure: None };
    let decoded = index::decode(reader, &index, &mut writer, threads);
    if let Some(failure) = writer.failure {
        return Err(failure);
    }
    let totals = decoded.map_err(|error| of_reading(error, read.get()))?;
    let garbage_at = garbage(file, totals.bytes_in)?;
    let bytes_in = garbage_at.unwrap_or(index.compressed_len());
    Ok(Decoded { bytes_in, bytes_out: totals.bytes_out, garbage_at })
}

/// Reads the part of an index, at a path or URL, that a range of the file's content needs. Fails if
/// the index was made of a file of another size than `file`.
pub(super) fn open(path: &Path, file: &mut impl Seek, range: Range<u64>) -> Result<Index, CliError> {
    let in_file = |error: CliError| error.in_file(&path.display().to_string());
    let source = remote::open(path).map_err(in_file)?;
    let len = file.seek(io::SeekFrom::End(0)).map_err(|error| CliError::Read { error, offset: 0 })?;
    let index = Index::read(source, len, range).map_err(engine_error).map_err(in_file)?;
    if len != index.compressed_len() {
        let indexed = index.compressed_len();
        let what = format!("it is the index of a file of {indexed} bytes, not {len}; --index makes it again");
        return Err(in_file(CliError::data(Kind::Corrupt, 0, what)));
    }
    Ok(index)
}

/// The offset of the first byte from `from` on that is not zero; `None` if there is none. Zeros
/// from the last member up to the end of the file are padding.
fn garbage(mut file: &File, from: u64) -> Result<Option<u64>, CliError> {
    let failed = |error| CliError::Read { error, offset: from };
    file.seek(io::SeekFrom::Start(from)).map_err(failed)?;
    let mut bytes = io::BufReader::new(file).bytes().zip(from..);
    let garbage = bytes.find(|(byte, _)| !matches!(byte, Ok(0)));
    garbage.map(|(byte, at)| byte.map(|_| at)).transpose().map_err(failed)
}

/// Converts an error that an engine has found in the data, or one of reading the input at `offset`.
pub(super) fn of_reading(error: io::Error, offset: u64) -> CliError {
    match error.downcast::<Error>() {
        Ok(error) => engine_error(error),
        Err(error) => CliError::Read { error, offset },
    }
}
