//! The life of one operand: opened, worked on, put in place, and the source deleted last.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use linerate_deflate::Format;
use linerate_deflate::parallel::compress_with_progress;

use super::args::{Args, FormatChoice, Mode};
use super::decode::Decoder;
use super::{header, names};
use crate::failure::Failure;
use crate::input::{Counted, Source};
use crate::output::{self, Output};
use crate::place::{Beside, Finished, Opened};
use crate::progress::Progress;

/// One thing to work on.
pub(crate) enum Operand {
    Stdin,
    /// Given on the command line.
    Named(PathBuf),
    /// Met below a folder: passed over in silence if it is not to be worked on.
    Found(PathBuf),
}

impl Operand {
    pub(crate) fn name(&self) -> String {
        match self {
            Operand::Stdin => "stdin".into(),
            Operand::Named(path) | Operand::Found(path) => path.display().to_string(),
        }
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Operand::Stdin => None,
            Operand::Named(path) | Operand::Found(path) => Some(path),
        }
    }
}

/// What became of an operand.
pub(crate) struct Done {
    pub(crate) name: String,
    /// The file made, if one was.
    pub(crate) output: Option<PathBuf>,
    pub(crate) format: &'static str,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) seconds: f64,
    pub(crate) warnings: Vec<String>,
}

/// Does what the command line says with one operand. `None` if it is silently passed over.
pub(crate) fn process(args: &Args, operand: &Operand) -> Result<Option<Done>, Failure> {
    let beside = is_replaced(args, operand);
    let found = matches!(operand, Operand::Found(_));
    if beside || found && args.mode() != Mode::Compress {
        match suited_by_name(args, operand) {
            Ok(()) => {}
            Err(Failure::Skipped(_)) if found => return Ok(None),
            Err(failure) => return Err(failure),
        }
    }
    let input = open(args, operand, beside)?;
    let begun = Instant::now();
    let mut done = match args.mode() {
        Mode::Compress => compress(args, operand, input, beside),
        Mode::Decompress | Mode::Test | Mode::List => decompress(args, operand, input, beside),
    }?;
    done.seconds = begun.elapsed().as_secs_f64();
    Ok(Some(done))
}

/// Whether the output is made beside the operand, which it replaces unless `-k`.
fn is_replaced(args: &Args, operand: &Operand) -> bool {
    let makes_output = matches!(args.mode(), Mode::Compress | Mode::Decompress);
    makes_output && operand.path().is_some() && !args.stdout && args.output.is_none()
}

fn suited_by_name(args: &Args, operand: &Operand) -> Result<(), Failure> {
    let suffix = operand.path().and_then(names::compressed_suffix);
    match (args.mode(), suffix) {
        (Mode::Compress, Some(suffix)) => {
            Err(Failure::Skipped(format!("skipped: it has the suffix .{suffix} already")))
        }
        (Mode::Decompress | Mode::Test | Mode::List, None) => {
            Err(Failure::Skipped("skipped: its suffix is not one of compressed files".into()))
        }
        _ => Ok(()),
    }
}

fn open(args: &Args, operand: &Operand, beside: bool) -> Result<Opened, Failure> {
    let beside = beside.then_some(Beside { force: args.force, deletes: !args.keep });
    match operand.path() {
        None => Opened::stdin(),
        Some(path) => Opened::open(path, beside, "; -r works on the files below it"),
    }
}

fn compress(args: &Args, operand: &Operand, input: Opened, beside: bool) -> Result<Done, Failure> {
    let format = args.format.unwrap_or(FormatChoice::Gzip);
    let target = operand.path().filter(|_| beside).map(|path| names::with_suffix(path, format));
    let mut output = make_output(args, operand, target.as_deref(), &input)?;
    let mut header_len = 0;
    if format == FormatChoice::Gzip {
        let header = match operand.path() {
            Some(path) if !args.no_name && input.meta.is_file() => header::for_file(path, &input.meta),
            _ => header::bytes(None, None),
        };
        output.write_all(&header).map_err(|e| output.failure(e))?;
        header_len = header.len() as u64;
    }
    let mut progress = progress(args, operand, &input);
    let mut reader = Counted::new(&input.file);
    let totals = compress_with_progress(&mut reader, &mut output, &args.options(format), |totals| {
        progress.update(totals.bytes_in);
    });
    let totals = totals.map_err(|error| match reader.failed {
        true => Failure::Read { error, at: reader.at },
        false => output.failure(error),
    })?;
    drop(progress);
    let mut done = Done {
        name: operand.name(),
        output: None,
        format: format.name(),
        bytes_in: totals.bytes_in,
        bytes_out: totals.bytes_out + header_len,
        seconds: 0.0,
        warnings: Vec::new(),
    };
    let finished = Finished {
        output,
        source: operand.path(),
        input: &input,
        modified: None,
        deletes: beside && !args.keep,
    };
    done.output = finished.put_in_place(&mut done.warnings)?;
    Ok(done)
}

fn decompress(args: &Args, operand: &Operand, input: Opened, beside: bool) -> Result<Done, Failure> {
    let format = args.format.or_else(|| operand.path().and_then(names::format_by_suffix));
    let mut decoder = Decoder::open(Source::new(&input.file), format, args.max_output)?;
    let mut target = operand.path().filter(|_| beside).and_then(names::without_suffix);
    let mut modified = None;
    if args.name {
        modified = decoder.header().modified();
        if let (Some(target), Some(name)) = (&mut target, decoder.header().file_name()) {
            target.set_file_name(name);
        }
    }
    let mut output = match args.mode() {
        Mode::Test | Mode::List => Output::Nowhere,
        _ => make_output(args, operand, target.as_deref(), &input)?,
    };
    let mut progress = progress(args, operand, &input);
    let decoded = decoder.run(&mut |bytes, done| {
        progress.update(done);
        output.write_all(bytes).map_err(|e| output.failure(e))
    })?;
    drop(progress);
    let format = match decoder.format() {
        Format::Deflate => FormatChoice::Deflate,
        Format::Zlib => FormatChoice::Zlib,
        Format::Gzip if decoder.header().is_bgzf() => FormatChoice::Bgzf,
        Format::Gzip => FormatChoice::Gzip,
    };
    let mut done = Done {
        name: operand.name(),
        output: None,
        format: format.name(),
        bytes_in: decoded.bytes_in,
        bytes_out: decoded.bytes_out,
        seconds: 0.0,
        warnings: Vec::new(),
    };
    if let Some(at) = decoded.garbage_at {
        done.warnings.push(format!("trailing garbage ignored (at byte {at})"));
    }
    let finished =
        Finished { output, source: operand.path(), input: &input, modified, deletes: beside && !args.keep };
    done.output = finished.put_in_place(&mut done.warnings)?;
    Ok(done)
}

fn progress(args: &Args, operand: &Operand, input: &Opened) -> Progress {
    let total = input.meta.is_file().then_some(input.meta.len());
    Progress::new(!args.quiet && !args.json, &operand.name(), total)
}

/// Opens the output: `target` if it is made beside the operand.
fn make_output(
    args: &Args,
    operand: &Operand,
    target: Option<&Path>,
    input: &Opened,
) -> Result<Output, Failure> {
    if args.writes_stdout(operand.path().is_none()) {
        return output::stdout().map(Output::Stdout).map_err(Failure::writing_stdout);
    }
    // Until it has the mode of its source, nobody else may read it.
    let private = input.meta.is_file() && operand.path().is_some();
    match (target, &args.output) {
        (Some(target), _) => Output::beside(target, args.force, private),
        (None, Some(path)) => Output::at(path, args.force, private),
        (None, None) => Err(Failure::Refused("there is no name for the output".into())),
    }
}
