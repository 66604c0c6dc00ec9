//! Processes one operand: opens it, compresses or decompresses it, and prepares the commit of its
//! output.

use std::io::Write;
use std::time::Instant;

use linerate_deflate::Format;
use linerate_deflate::gzip::Header;
use linerate_deflate::parallel::compress_with_progress;
use linerate_io::Cursor;
use serde::Serialize;

use super::args::{Args, FormatChoice};
use super::decode::Decoder;
use super::{header, index, names, range};
use crate::ui::error::{CliError, engine_error};
use crate::ui::input::{Counted, Source};
use crate::ui::operands::Operand;
use crate::ui::output::Output;
use crate::ui::output_file::{FinishedOutput, InPlaceOptions, Opened, Work};
use crate::ui::progress::{Label, Progress, Show};
use crate::ui::remote::{remote, url};
use crate::ui::session::{FileSummary, Mode, open_output, wait_for_turn};
use crate::ui::write_behind::{Target, write_behind};

/// Maximum block size, in bytes, for files that are smaller than it: clearing the buffers of larger
/// blocks takes longer than compressing such a file.
const SMALL_BLOCK: usize = 32 << 10;

/// Compressed files up to this size, in bytes, are decompressed by one thread unless they are BGZF
/// or `--index-file` is given, and the calling thread writes their content. If only one thread is
/// allowed, the input buffer holds the file.
const SMALL: u64 = 512 << 10;

/// Fewest threads that decode data other than BGZF together without an index. They take 1.3 to 2.4
/// times the CPU time of one thread, so two would gain little.
const SPECULATIVE_THREADS: usize = 3;

/// Format of an operand's compressed data, and the number of bytes read and written or, if no
/// content is written, decoded.
#[derive(Serialize)]
pub(crate) struct Totals {
    pub(crate) format: &'static str,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
}

/// Processes an operand, up to an output that is not committed yet. `alone` says that no other
/// operand is processed at the same time.
pub(crate) fn work(args: &Args, operand: &Operand, alone: bool) -> Work<FileSummary<Totals>> {
    Work { name: operand.name(), result: process(args, operand, alone) }
}

/// Returns `None` if the operand is skipped silently.
fn process(
    args: &Args,
    operand: &Operand,
    alone: bool,
) -> Result<Option<(FileSummary<Totals>, FinishedOutput)>, CliError> {
    let beside = is_replaced(args, operand);
    let found = matches!(operand, Operand::Found(_));
    if beside || found && args.mode() != Mode::Compress {
        match check_suffix(args, operand) {
            Ok(()) => {}
            Err(CliError::Skipped(_)) if found => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    if let Some(url) = operand.path().and_then(url) {
        return match args.range {
            Some(_) => range_of_url(args, operand, url).map(Some),
            None => {
                let what = "a URL is read only in ranges; -c --range 0+ reads all of it";
                Err(CliError::Refused(what.into()))
            }
        };
    }
    let input = open(args, operand, beside)?;
    let turn = wait_for_turn(alone, input.size().unwrap_or(0));
    let threads = if alone || turn.is_some() { args.threads.count_for(input.size()) } else { 1 };
    let begun = Instant::now();
    let (mut summary, finished) = match args.mode() {
        Mode::Compress => compress(args, operand, &input, threads, alone),
        Mode::Index => index::make(args, operand, &input, alone),
        Mode::Decompress if args.range.is_some() => {
            let (summary, output) = range::decompress(args, operand, &input.file)?;
            FinishedOutput::new(output, operand.path(), &input, None, false).map(|output| (summary, output))
        }
        Mode::Decompress | Mode::Test | Mode::List => decompress(args, operand, &input, threads, alone),
    }?;
    summary.seconds = begun.elapsed().as_secs_f64();
    Ok(Some((summary, finished)))
}

/// Decompresses a range of a file on a server.
fn range_of_url(
    args: &Args,
    operand: &Operand,
    url: &str,
) -> Result<(FileSummary<Totals>, FinishedOutput), CliError> {
    let begun = Instant::now();
    let (mut summary, output) = range::decompress(args, operand, Cursor::new(remote(url)?))?;
    summary.seconds = begun.elapsed().as_secs_f64();
    Ok((summary, FinishedOutput::without_source(output)))
}

/// Whether the output goes beside the operand, and replaces it unless `-k` is given.
fn is_replaced(args: &Args, operand: &Operand) -> bool {
    args.mode().makes_files() && operand.path().is_some() && !args.stdout && args.output.is_none()
}

fn check_suffix(args: &Args, operand: &Operand) -> Result<(), CliError> {
    let suffix = operand.path().and_then(|path| names::compressed_suffix(path, args.suffix.as_deref()));
    match (args.mode(), suffix) {
        (Mode::Compress, Some(suffix)) => {
            let suffix = suffix.trim_start_matches('.');
            Err(CliError::Skipped(format!("skipped: it has the suffix .{suffix} already")))
        }
        (Mode::Decompress | Mode::Test | Mode::List | Mode::Index, None) => {
            let what = "skipped: it has no suffix of compressed files; -S names another one";
            Err(CliError::Skipped(what.into()))
        }
        _ => Ok(()),
    }
}

fn open(args: &Args, operand: &Operand, beside: bool) -> Result<Opened, CliError> {
    let beside = beside.then_some(InPlaceOptions { force: args.force, deletes: !args.keep });
    match operand.path() {
        None => Opened::stdin(),
        Some(path) => Opened::open(path, beside, "; -r works on the files below it"),
    }
}

fn compress(
    args: &Args,
    operand: &Operand,
    input: &Opened,
    threads: usize,
    alone: bool,
) -> Result<(FileSummary<Totals>, FinishedOutput), CliError> {
    let format = args.format.unwrap_or(FormatChoice::Gzip);
    let beside = is_replaced(args, operand);
    let suffix = args.suffix.as_deref();
    let target = operand.path().filter(|_| beside).map(|path| names::with_suffix(path, format, suffix));
    let to_stdout = args.writes_stdout(operand.path().is_none());
    let mut output = open_output(to_stdout, target.as_deref().or(args.output.as_deref()), args.force)?;
    let mut header_len = 0;
    if format == FormatChoice::Gzip {
        let header = match operand.path().zip(input.meta.as_ref()) {
            Some((path, meta)) if !args.no_name => header::for_file(path, meta),
            _ => Header::default(),
        };
        let header = header.to_bytes().map_err(engine_error)?;
        output.write_all(&header).map_err(|e| output.error(e))?;
        header_len = header.len() as u64;
    }
    let mut progress = progress(args, operand, input, alone);
    let mut reader = Counted::new(&input.file);
    let mut options = args.options(format, threads);
    if let Some(size) = input.size() {
        // A block that is larger than the file only needs larger buffers: the output is the same.
        let whole = usize::try_from(size).map_or(usize::MAX, |len| len.saturating_add(1));
        options.block_size = options.block_size.min(whole.max(SMALL_BLOCK));
    }
    let totals = compress_with_progress(&mut reader, &mut output, &options, |totals| {
        progress.update(totals.bytes_in);
    });
    let totals = totals.map_err(|error| match reader.failed {
        true => CliError::Read { error, offset: reader.at },
        false => output.error(error),
    })?;
    drop(progress);
    let (bytes_in, bytes_out) = (totals.bytes_in, totals.bytes_out + header_len);
    let summary = FileSummary::new(operand, Totals { format: format.name(), bytes_in, bytes_out });
    Ok((summary, FinishedOutput::new(output, operand.path(), input, None, beside && !args.keep)?))
}

fn decompress(
    args: &Args,
    operand: &Operand,
    input: &Opened,
    threads: usize,
    alone: bool,
) -> Result<(FileSummary<Totals>, FinishedOutput), CliError> {
    let beside = is_replaced(args, operand);
    let format = args.format.or_else(|| operand.path().and_then(names::format_by_suffix));
    // Only with one thread may the buffer be as small as the file. With several, the buffer must
    // hold a whole BGZF block, whose stated size may exceed that of a damaged file.
    let source = Source::of_size(&input.file, input.size().filter(|_| threads == 1), SMALL);
    let mut decoder = match format {
        None if passes_other_data(args, operand) => Decoder::passing(source, args.max_output, threads)?,
        _ => Decoder::open(source, format, args.max_output, threads)?,
    };
    let is_large = input.size().is_some_and(|size| size > SMALL);
    // A pipe may wait for its writer. Its data is decoded as it arrives, unless threads are asked
    // for.
    let has_pieces = is_large || input.size().is_none() && args.threads.is_given();
    decoder = decoder.speculative(has_pieces && threads >= SPECULATIVE_THREADS);
    let suffix = args.suffix.as_deref();
    let mut target = operand.path().filter(|_| beside).and_then(|path| names::without_suffix(path, suffix));
    let mut modified = None;
    if args.name {
        modified = header::modified(decoder.header());
        if let (Some(target), Some(name)) = (&mut target, header::file_name(decoder.header())) {
            target.set_file_name(name);
        }
    }
    let mut output = match args.mode() {
        Mode::Test | Mode::List => Output::Nowhere,
        _ => {
            let to_stdout = args.writes_stdout(operand.path().is_none());
            open_output(to_stdout, target.as_deref().or(args.output.as_deref()), args.force)?
        }
    };
    let mut progress = progress(args, operand, input, alone);
    let mut read = |bytes_in| progress.update(bytes_in);
    let mut run = |target: &mut dyn Target| match &args.index_file {
        Some(index) => index::decompress(args, index, &input.file, threads, target, &mut read),
        None => decoder.run(target, &mut read),
    };
    let decoded = if is_large && threads > 1 && !matches!(output, Output::Nowhere) {
        write_behind(&mut output, run)
    } else {
        run(&mut output)
    }?;
    drop(progress);
    let format = match decoder.format() {
        None => "none",
        Some(Format::Deflate) => FormatChoice::Deflate.name(),
        Some(Format::Zlib) => FormatChoice::Zlib.name(),
        Some(Format::Gzip) if decoder.header().bgzf_block_len().is_some() => FormatChoice::Bgzf.name(),
        Some(Format::Gzip) => FormatChoice::Gzip.name(),
    };
    let (bytes_in, bytes_out) = (decoded.bytes_in, decoded.bytes_out);
    let mut summary = FileSummary::new(operand, Totals { format, bytes_in, bytes_out });
    if let Some(at) = decoded.garbage_at {
        summary.warnings.push(format!("trailing garbage ignored (at byte {at})"));
    }
    // A source with trailing garbage is kept.
    let deletes = beside && !args.keep && summary.warnings.is_empty();
    Ok((summary, FinishedOutput::new(output, operand.path(), input, modified, deletes)?))
}

/// Whether data that is not gzip is copied, as `zcat -f` does. A file with the suffix `.zz` is
/// decoded as zlib, which cannot be distinguished from text by its content.
fn passes_other_data(args: &Args, operand: &Operand) -> bool {
    let suffix = operand.path().and_then(|path| names::compressed_suffix(path, None));
    args.force && args.writes_stdout(operand.path().is_none()) && suffix != Some("zz")
}

pub(super) fn progress(args: &Args, operand: &Operand, input: &Opened, alone: bool) -> Progress {
    let show = Show::of(args.verbosity.quiet, args.verbosity.json);
    let show = if alone { show } else { show.among_others() };
    Progress::new(show, Label::File(operand.name()), input.size())
}
