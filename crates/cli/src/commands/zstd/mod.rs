//! `linerate zstd`: compresses, decompresses, checks and lists zstd files and streams.

mod ahead;
mod args;
#[cfg_attr(not(feature = "zstd-compress"), path = "no_compress.rs")]
mod compress;
mod decode;
mod file;
mod list;
mod names;
mod parallel;
mod rewrite;
mod walk;

use std::process::ExitCode;

use linerate_zstd::{Dictionary, Error, Kind};
use serde_json::{Value, json};

pub(crate) use self::args::Args;
use self::compress::Compressor;
use self::list::Totals;
pub(crate) use self::rewrite::rewrite;
use crate::ui::error::CliError;
use crate::ui::operands::{self, Arguments};
use crate::ui::printer::{Printer, to_stderr, to_stdout};
use crate::ui::session::{FileSummary, Mode, Session};
use crate::ui::{exit_code, inputs};

pub(crate) fn run(args: &Args) -> ExitCode {
    if let Err(message) = check_usage(args) {
        to_stderr(format_args!("linerate: {message}"));
        return ExitCode::from(exit_code::USAGE);
    }
    let stdout_is_data = args.writes_stdout(operands::read_stdin(&args.files));
    let mut session = Session::new(Printer::new(&args.verbosity, stdout_is_data));
    for remark in args.remarks() {
        if !args.verbosity.quiet {
            to_stderr(format_args!("linerate: {remark}"));
        }
    }
    let (bytes, dictionary) = match load_dictionary(args).map(Option::unzip) {
        Ok(dictionary) => dictionary,
        Err((name, error)) => {
            session.failed(&name, &error);
            return session.code();
        }
    };
    let processor =
        file::Processor { args, dictionary: dictionary.as_ref(), compressor: Compressor::new(args, bytes) };
    let mut listed = false;
    session.process(
        || args.threads(),
        &Arguments { files: &args.files, recursive: args.recursive, without_suffix: &names::without_suffix },
        |operand, alone| processor.work(operand, alone),
        |printer, summary| done(args, printer, &mut listed, summary),
    );
    session.code()
}

/// Returns why a command line that clap accepts is refused: `-o` with several inputs, or, without
/// `-f`, compressed data from or to a terminal.
fn check_usage(args: &Args) -> Result<(), &'static str> {
    let reads_stdin = operands::read_stdin(&args.files);
    if args.output.is_some() && args.files.len() > 1 {
        return Err("-o takes a single input file");
    }
    if args.force {
        return Ok(());
    }
    let compresses = args.mode() == Mode::Compress;
    operands::refuse_terminal(!compresses && reads_stdin, compresses && args.writes_stdout(reads_stdin))
}

/// The bytes of a dictionary's file, for compressing, and the digested dictionary, for
/// decompressing.
type Loaded = (Vec<u8>, Dictionary<'static>);

/// Reads the dictionary of `-D`, if the option is given. The error is the name of its file and why
/// it cannot be used.
fn load_dictionary(args: &Args) -> Result<Option<Loaded>, (String, CliError)> {
    let Some(path) = &args.dictionary else { return Ok(None) };
    let load = || {
        inputs::keep(path);
        let bytes = std::fs::read(path).map_err(CliError::io("cannot open"))?;
        let dictionary = Dictionary::new(&bytes).map_err(bad_dictionary)?;
        Ok((bytes, dictionary))
    };
    load().map(Some).map_err(|error| (path.display().to_string(), error))
}

/// Converts the error of a file that is no valid dictionary, or has 4 GiB or more.
fn bad_dictionary(error: Error) -> CliError {
    if error.kind == Kind::Limit {
        return CliError::data(error.kind, error.offset, error.message);
    }
    // The file is not taken as raw content, since it may be a trained dictionary that was damaged.
    // libzstd refuses it, too.
    let what = format!("it begins like a trained dictionary but is not a valid one: {}", error.message);
    CliError::data(error.kind, error.offset, what)
}

fn done(args: &Args, printer: &Printer, listed: &mut bool, summary: &FileSummary<Totals>) {
    match args.mode() {
        Mode::List if !args.verbosity.json => list(args, listed, summary),
        Mode::List => {}
        Mode::Test => printer.done(format_args!("{}: OK", summary.name)),
        Mode::Compress | Mode::Decompress | Mode::Index => printer.done(verbose_line(args, summary)),
    }
    if printer.json {
        printer.record(&record(args, summary));
    }
}

/// Prints the row of `-l` about a file. Prints the header of the table before it if `listed` is
/// false, unless `-q` is given, and sets `listed`.
fn list(args: &Args, listed: &mut bool, summary: &FileSummary<Totals>) {
    if !*listed && !args.verbosity.quiet {
        to_stdout(format_args!(
            "{:>7} {:>7} {:>15} {:>15} {:>7} {:>6}  name",
            "frames", "skipped", "compressed", "uncompressed", "ratio", "check"
        ));
    }
    *listed = true;
    let small = summary.totals.bytes_in;
    let (large, ratio) = match summary.totals.bytes_out {
        Some(large) => (large.to_string(), format!("{:.3}", large as f64 / small.max(1) as f64)),
        None => ("-".into(), "-".into()),
    };
    let check = if summary.totals.checked { "XXH64" } else { "none" };
    let (frames, skipped) = (summary.totals.frames, summary.totals.skipped);
    to_stdout(format_args!(
        "{frames:>7} {skipped:>7} {small:>15} {large:>15} {ratio:>7} {check:>6}  {}",
        summary.name
    ));
}

/// The line that `-v` prints about a file: the bytes read and written, and the speed by content.
fn verbose_line(args: &Args, summary: &FileSummary<Totals>) -> String {
    let (bytes_in, bytes_out) = (summary.totals.bytes_in, summary.totals.bytes_out.unwrap_or(0));
    let (content, percent) = match args.mode() {
        Mode::Compress => {
            let percent = 100.0 * bytes_out as f64 / bytes_in.max(1) as f64;
            (bytes_in, format!(" ({percent:.1}%)"))
        }
        _ => (bytes_out, String::new()),
    };
    summary.line(&format!("{bytes_in} -> {bytes_out} bytes{percent}"), content)
}

/// The object that `--json` prints about a file.
fn record(args: &Args, summary: &FileSummary<Totals>) -> Value {
    let mut value = summary.record(args.mode());
    value["format"] = json!("zstd");
    if args.mode() == Mode::Compress {
        value["level"] = json!(args.level.number());
        value["threads"] = json!(args.threads());
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionary_of_4_gib_is_not_said_to_begin_like_a_trained_one() {
        let large = Error::new(Kind::Limit, 0, "a dictionary has 4 GiB or more");
        assert_eq!(bad_dictionary(large).to_string(), "a dictionary has 4 GiB or more");
        let damaged = bad_dictionary(Error::new(Kind::Corrupt, 8, "a table is damaged")).to_string();
        assert!(damaged.starts_with("it begins like a trained dictionary but is not"), "{damaged}");
    }
}
