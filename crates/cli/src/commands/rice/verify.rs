//! `linerate rice verify`: decodes and checks files, and writes nothing.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueHint;
use linerate_core::Kind;
use linerate_rice::file::{ArrayReader, ChunkReader, Input, StreamReader};
use linerate_rice::v2::{ElementType, Shape};
use linerate_rice::{Options, Params};

use super::array_args::{ArrayArgs, element_type};
use super::chunk_args::ChunkArgs;
use super::operand::{self, Job};
use super::work_args::WorkArgs;
use super::{names, parameters, usage_error};
use crate::ui::error::{CliError, engine_error};
use crate::ui::exit_code;
use crate::ui::operands::{Operand, is_stdin, read_stdin};
use crate::ui::output::Output;
use crate::ui::output_file::FinishedOutput;
use crate::ui::progress::Progress;
use crate::ui::summary::RunSummary;

const EXAMPLES: &str = "\
Examples:
  linerate rice verify *.rice                          checksums, without an original
  linerate rice verify --against run7.npy run7.rice
  linerate rice verify --cd-values 8,7000 --against run7.npy run7.drc
  linerate rice verify --cd-values 8,7000 *.drc        only lengths and codes, without an original";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    chunk: ChunkArgs,

    /// Compare with this array or WAV file
    #[arg(long, value_name = "ARRAY", value_hint = ValueHint::FilePath)]
    against: Option<PathBuf>,

    /// Read ARRAY as raw little-endian samples of this type
    #[arg(long, value_name = "TYPE", requires = "against", value_parser = element_type())]
    dtype: Option<ElementType>,

    #[command(flatten)]
    work: WorkArgs,
}

pub(super) fn run(args: &VerifyArgs) -> ExitCode {
    let original = args.against.as_deref();
    if original.is_some_and(is_stdin) && read_stdin(&args.work.files) {
        return usage_error("standard input cannot be both the file and the original");
    }
    // Files whose original is a pipe read it one after the other.
    let is_pipe = original.is_some_and(|path| is_stdin(path) || !path.is_file());
    let threads = || if is_pipe { 1 } else { args.work.threads.count() };
    args.work.process_each(&names::ENCODED, threads, false, |job| {
        let summary = process(args, job)?;
        Ok((summary, FinishedOutput::without_source(Output::Nowhere)))
    })
}

fn process(args: &VerifyArgs, job: &Job<'_>) -> Result<RunSummary, CliError> {
    let (input, _) = operand::open(job.operand)?;
    let share = job.share(&input);
    let mut summary = job.summary("verify");
    let options = share.options();
    let (mut original, mut wav) = (None, None);
    if let Some(against) = args.against.as_deref().map(Operand::from_argument) {
        let name = against.name();
        let opened = operand::open(&against).and_then(|(mut input, _)| {
            let is_wav = args.dtype.is_none() && args.chunk.params().is_none();
            let is_wav = is_wav && input.is_wav().map_err(engine_error)?;
            Ok((input, is_wav))
        });
        // The error is reported under the name of the encoded file, so it must name the original.
        match opened.map_err(|error| error.in_file(&name))? {
            (input, true) => wav = Some((input, name)),
            (input, false) => original = Some(Original::open(input, name, args.dtype)?),
        }
    }
    let progress = job.progress(input.file_len());
    match args.chunk.params() {
        Some(params) => verify_v1(&params, input, options, original.as_mut(), progress, &mut summary)?,
        None => verify_v2(input, options, original.as_mut(), wav.as_mut(), progress, &mut summary)?,
    }
    summary.text = Some("OK".into());
    summary.set("against", original.map(|original| original.name).or(wav.map(|(_, name)| name)));
    Ok(summary)
}

fn verify_v1(
    params: &Params,
    input: Input,
    options: Options,
    mut original: Option<&mut Original>,
    mut progress: Progress,
    summary: &mut RunSummary,
) -> Result<(), CliError> {
    let mut chunk = ChunkReader::new(input, params, options).map_err(engine_error)?;
    let samples = chunk.samples();
    if let Some(original) = original.as_deref_mut() {
        original.check_type("16-bit", &[ElementType::I16, ElementType::U16])?;
        original.check_length(samples)?;
    }
    while let Some(bytes) = chunk.next_bytes().map_err(engine_error)? {
        original.as_deref_mut().map_or(Ok(()), |original| original.compare(bytes))?;
        progress.update(chunk.position());
    }
    original.map_or(Ok(()), Original::check_end)?;
    summary.set("format", "v1");
    summary.extend(parameters::record(params));
    summary.set("samples", samples);
    summary.set("bytes_in", chunk.position());
    Ok(())
}

fn verify_v2(
    input: Input,
    options: Options,
    mut original: Option<&mut Original>,
    wav: Option<&mut (Input, String)>,
    mut progress: Progress,
    summary: &mut RunSummary,
) -> Result<(), CliError> {
    let mut streams = StreamReader::new(input, options);
    let first = streams.first().map_err(engine_error)?;
    let is_wav = streams.is_wav().map_err(engine_error)?;
    if let (Some((_, name)), false) = (&wav, is_wav) {
        return Err(differs(0, format!("it holds an array, but {name} is a WAV file")));
    }
    if is_wav && original.is_none() {
        compare_wav(&mut streams, wav, &mut progress)?;
    }
    if let Some(original) = original.as_deref_mut() {
        original.check_type(first.element.name(), &[first.element])?;
    }
    while let Some(bytes) = streams.next_bytes().map_err(engine_error)? {
        original.as_deref_mut().map_or(Ok(()), |original| original.compare(bytes))?;
        progress.update(streams.position());
    }
    let seen = streams.seen().unwrap_or(first);
    if let Some(original) = original {
        original.check_length(seen.samples)?;
        original.check_row(seen.row.map(|row| row.get().into()))?;
        original.check_shape(&seen.shape())?;
        original.check_end()?;
    }
    summary.set("format", "v2");
    summary.set("dtype", seen.element.name());
    summary.set("shape", seen.shape().axes());
    summary.set("samples", seen.samples);
    summary.set("streams", seen.streams);
    summary.set("bytes_in", streams.position());
    Ok(())
}

/// Decodes a WAV file without writing it, and compares it with the original, if there is one.
fn compare_wav(
    streams: &mut StreamReader,
    mut original: Option<&mut (Input, String)>,
    progress: &mut Progress,
) -> Result<(), CliError> {
    let (mut at, mut theirs) = (0u64, Vec::new());
    while let Some(ours) = streams.next_file_bytes().map_err(engine_error)? {
        if let Some((input, name)) = original.as_deref_mut() {
            theirs.resize(ours.len(), 0);
            let n = input.fill(&mut theirs).map_err(|error| engine_error(error).in_file(name))?;
            let equal = ours.iter().zip(&theirs[..n]).take_while(|(a, b)| a == b).count();
            if equal < ours.len() {
                let at = at + equal as u64;
                return Err(differs(at, format!("byte {at} of the WAV file differs from {name}")));
            }
        }
        at += ours.len() as u64;
        progress.update(streams.position());
    }
    let Some((input, name)) = original else { return Ok(()) };
    match input.fill(&mut [0]).map_err(|error| engine_error(error).in_file(name))? {
        0 => Ok(()),
        _ => Err(differs(at, format!("{name} has more than the {at} bytes of the WAV file"))),
    }
}

/// The array of `--against`, from which the file should have been made.
struct Original {
    name: String,
    array: ArrayReader,
    /// Number of samples found equal so far.
    compared: u64,
    is_raw: bool,
}

impl Original {
    fn open(input: Input, name: String, dtype: Option<ElementType>) -> Result<Original, CliError> {
        let array = ArrayArgs { dtype, shape: None }.open(input).map_err(|error| error.in_file(&name))?;
        Ok(Original { name, array, compared: 0, is_raw: dtype.is_some() })
    }

    fn check_type(&self, ours: &str, accepted: &[ElementType]) -> Result<(), CliError> {
        let theirs = self.array.element();
        if accepted.contains(&theirs) {
            return Ok(());
        }
        Err(differs(0, format!("it holds {ours} samples, but {} holds {}", self.name, theirs.name())))
    }

    fn check_length(&self, ours: u64) -> Result<(), CliError> {
        match self.array.samples() {
            Some(theirs) if theirs != ours => {
                Err(differs(0, format!("it has {ours} samples, but {} has {theirs}", self.name)))
            }
            _ => Ok(()),
        }
    }

    /// Fails if the array holds more samples than were compared. Of a pipe only its end shows that.
    fn check_end(&mut self) -> Result<(), CliError> {
        match self.array.has_more().map_err(|error| engine_error(error).in_file(&self.name))? {
            true => Err(differs(0, format!("{} has more than {} samples", self.name, self.compared))),
            false => Ok(()),
        }
    }

    /// Fails if the lengths of rows differ, unless the array has no shape because it is raw, or has
    /// rows too long for a stream to record.
    fn check_row(&self, ours: Option<u64>) -> Result<(), CliError> {
        let theirs = self.array.row();
        if self.is_raw || ours == theirs || theirs.is_some_and(|row| u32::try_from(row).is_err()) {
            return Ok(());
        }
        let rows = |row: Option<u64>| row.map_or("one row".to_owned(), |row| format!("rows of {row}"));
        Err(differs(0, format!("it has {}, but {} has {}", rows(ours), self.name, rows(theirs))))
    }

    /// Fails if the shapes differ, unless the array is raw or the streams record only the length of
    /// a row.
    fn check_shape(&self, ours: &Shape) -> Result<(), CliError> {
        let theirs = self.array.shape().map_err(|error| engine_error(error).in_file(&self.name))?;
        match self.is_raw || matches!(ours.axes(), [_] | [_, _]) || theirs == *ours {
            true => Ok(()),
            false => Err(differs(0, format!("it has the shape {ours}, but {} has {theirs}", self.name))),
        }
    }

    /// Fails if decoded samples, as little-endian bytes, differ from the next samples of the array.
    fn compare(&mut self, ours: &[u8]) -> Result<(), CliError> {
        let (element, start) = (self.array.element(), self.array.start());
        let size = element.bytes();
        let theirs = self.array.next_bytes((ours.len() / size) as u64);
        let theirs = theirs.map_err(|error| engine_error(error).in_file(&self.name))?;
        if theirs == ours {
            self.compared += (ours.len() / size) as u64;
            return Ok(());
        }
        let equal =
            ours.chunks_exact(size).zip(theirs.chunks_exact(size)).take_while(|(a, b)| a == b).count();
        let sample = self.compared + equal as u64;
        let bytes = equal * size..(equal + 1) * size;
        let message = match (ours.get(bytes.clone()), theirs.get(bytes)) {
            (Some(here), Some(there)) => {
                let (here, there) = (value(element, here), value(element, there));
                format!("sample {sample} is {here}, but {there} in {}", self.name)
            }
            _ => format!("{} ends before sample {sample}", self.name),
        };
        Err(differs(start + sample * size as u64, message))
    }
}

fn differs(offset: u64, message: String) -> CliError {
    CliError::data(Kind::Corrupt, offset, message)
}

/// The value of a sample, which is given as little-endian bytes.
fn value(element: ElementType, bytes: &[u8]) -> i64 {
    let bits = bytes.iter().rev().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte));
    match element {
        ElementType::I16 => (bits as u16).cast_signed().into(),
        ElementType::I32 => bits.cast_signed().into(),
        ElementType::U16 | ElementType::U32 => bits.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_has_the_sign_of_its_type() {
        assert_eq!(value(ElementType::I16, &[0xfe, 0xff]), -2);
        assert_eq!(value(ElementType::U16, &[0xfe, 0xff]), 65_534);
        assert_eq!(value(ElementType::I32, &[0xfe, 0xff, 0xff, 0xff]), -2);
        assert_eq!(value(ElementType::U32, &[1, 0, 0, 0x80]), 0x8000_0001);
    }
}
