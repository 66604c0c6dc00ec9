//! `linerate rice verify`: decodes a file, checks it, and writes nothing.

use std::fmt::Debug;

use linerate_core::Kind;
use linerate_rice::Params;

use super::args::{RawArgs, VerifyArgs};
use super::chunk_reader::{self, Walk};
use super::dtype::{Dtype, Word, with_type};
use super::input::Input;
use super::operand::Operand;
use super::parameters;
use super::reader::Reader;
use super::stream_reader::Streams;
use super::summary::{FileSummary, Mode};
use crate::ui::error::CliError;
use crate::ui::progress::Progress;

pub(crate) fn process(args: &VerifyArgs, operand: &Operand) -> Result<FileSummary, CliError> {
    let mut summary = FileSummary::new(operand, Mode::Verify);
    let (reader, _) = operand.open()?;
    let mut original = match &args.against {
        Some(path) => Some(Original::open(&Operand::of(path), args.dtype)?),
        None => None,
    };
    let verbosity = &args.work.verbosity;
    let mut progress = Progress::new(!verbosity.quiet && !verbosity.json, &operand.name(), reader.len());
    match args.chunk.params() {
        Some(params) => v1(args, &params, reader, original.as_mut(), &mut progress, &mut summary)?,
        None => v2(args, reader, original.as_mut(), &mut progress, &mut summary)?,
    }
    drop(progress);
    summary.set("against", original.map(|original| original.name));
    Ok(summary.end())
}

fn v1(
    args: &VerifyArgs,
    params: &Params,
    mut reader: Reader,
    mut original: Option<&mut Original>,
    progress: &mut Progress,
    summary: &mut FileSummary,
) -> Result<(), CliError> {
    let walk = Walk::new(&mut reader, params)?;
    let samples = walk.samples();
    if let Some(original) = original.as_deref_mut() {
        original.check_type("16-bit", &[Dtype::I16, Dtype::U16])?;
        original.check_length(samples)?;
    }
    chunk_reader::decode_all(walk, params, args.work.exec(), &mut |samples, used| {
        progress.update(used);
        original.as_deref_mut().map_or(Ok(()), |original| original.compare(samples))
    })?;
    original.map_or(Ok(()), Original::check_end)?;
    summary.set("format", "v1");
    summary.extend(parameters::record(params));
    summary.set("samples", samples);
    summary.bytes_in = reader.at();
    Ok(())
}

fn v2(
    args: &VerifyArgs,
    reader: Reader,
    mut original: Option<&mut Original>,
    progress: &mut Progress,
    summary: &mut FileSummary,
) -> Result<(), CliError> {
    let mut streams = Streams::new(reader);
    let first = streams.first()?;
    if let Some(original) = original.as_deref_mut() {
        original.check_type(first.dtype.name(), &[first.dtype])?;
    }
    while let Some(stream) = streams.next()? {
        with_type!(first.dtype, T => stream.decode::<T>(args.work.exec(), &mut |samples| {
            original.as_deref_mut().map_or(Ok(()), |original| original.compare(samples))
        }))?;
        progress.update(streams.at());
    }
    let seen = streams.seen().unwrap_or(first);
    if let Some(original) = original {
        original.check_length(seen.samples)?;
        original.check_row(seen.row.map(|row| row.get().into()))?;
        original.check_end()?;
    }
    summary.set("format", "v2");
    summary.set("dtype", seen.dtype.name());
    summary.set("shape", seen.shape().0);
    summary.set("samples", seen.samples);
    summary.set("streams", seen.streams);
    summary.bytes_in = streams.at();
    Ok(())
}

/// The array that a file was made from.
struct Original {
    name: String,
    input: Input,
    compared: u64,
    is_raw: bool,
}

impl Original {
    fn open(operand: &Operand, dtype: Option<Dtype>) -> Result<Original, CliError> {
        let name = operand.name();
        let opened =
            operand.open().and_then(|(reader, _)| Input::open(reader, &RawArgs { dtype, shape: None }));
        // The failure is reported under the name of the encoded file.
        let input = opened.map_err(|error| error.in_file(&name))?;
        Ok(Original { name, input, compared: 0, is_raw: dtype.is_some() })
    }

    fn differs(&self, at: u64, what: String) -> CliError {
        CliError::data(Kind::Corrupt, at, what)
    }

    fn check_type(&self, ours: &str, fitting: &[Dtype]) -> Result<(), CliError> {
        let theirs = self.input.dtype();
        if fitting.contains(&theirs) {
            return Ok(());
        }
        Err(self.differs(0, format!("it holds {ours} samples, {} holds {}", self.name, theirs.name())))
    }

    fn check_length(&self, ours: u64) -> Result<(), CliError> {
        match self.input.samples() {
            Some(theirs) if theirs != ours => {
                Err(self.differs(0, format!("it has {ours} samples, {} has {theirs}", self.name)))
            }
            _ => Ok(()),
        }
    }

    /// A pipe may hold more than it has been asked for.
    fn check_end(&mut self) -> Result<(), CliError> {
        match self.input.has_more().map_err(|error| error.in_file(&self.name))? {
            true => Err(self.differs(0, format!("{} has more than {} samples", self.name, self.compared))),
            false => Ok(()),
        }
    }

    /// Rows are compared where both have a shape, and where a stream can note it.
    fn check_row(&self, ours: Option<u64>) -> Result<(), CliError> {
        let theirs = self.input.row();
        if self.is_raw || ours == theirs || theirs.is_some_and(|row| u32::try_from(row).is_err()) {
            return Ok(());
        }
        let words = |row: Option<u64>| row.map_or("one row".to_owned(), |row| format!("rows of {row}"));
        Err(self.differs(0, format!("it has {}, {} has {}", words(ours), self.name, words(theirs))))
    }

    fn compare<T: Word + Debug>(&mut self, samples: &[T]) -> Result<(), CliError> {
        let mut there: Vec<T> = Vec::new();
        self.input.next(samples.len() as u64, &mut there).map_err(|error| error.in_file(&self.name))?;
        if there == samples {
            self.compared += samples.len() as u64;
            return Ok(());
        }
        let at = there.iter().zip(samples).take_while(|(a, b)| a == b).count();
        let sample = self.compared + at as u64;
        let what = match (there.get(at), samples.get(at)) {
            (Some(there), Some(here)) => {
                format!("sample {sample} is {here:?}, in {} it is {there:?}", self.name)
            }
            _ => format!("{} ends before sample {sample}", self.name),
        };
        Err(self.differs(self.input.start() + sample * size_of::<T>() as u64, what))
    }
}
