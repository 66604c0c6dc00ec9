//! `linerate zstd`: zstd files and streams through the decoder.

mod args;
mod decode;
mod file;
mod list;
mod names;

use std::io::{IsTerminal, stdin};
use std::path::Path;
use std::process::ExitCode;

use linerate_zstd::Dictionary;
use serde_json::{Value, json};

pub(crate) use self::args::Args;
use self::args::Mode;
use self::file::{Done, Operand};
use crate::exit::{self, Tally};
use crate::failure::Failure;
use crate::place;
use crate::report::{Reporter, to_stderr, to_stdout};
use crate::signals;

pub(crate) fn run(args: &Args) -> ExitCode {
    if let Err(what) = check_usage(args) {
        to_stderr(format_args!("linerate: {what}"));
        return ExitCode::from(exit::USAGE);
    }
    let no_files = args.files.is_empty();
    let stdout_is_data = args.writes_stdout(no_files || args.files.iter().any(|f| is_stdin(f)));
    let reporter = Reporter { quiet: args.quiet, verbose: args.verbose, json: args.json, stdout_is_data };
    let mut session = Session { args, dictionary: None, reporter, tally: Tally::default(), listed: false };
    if let Err((name, failure)) = session.load_dictionary() {
        session.failed(&name, &failure);
        return session.tally.code();
    }
    let stdin = no_files.then_some(Operand::Stdin);
    let named = args.files.iter().map(|path| match is_stdin(path) {
        true => Operand::Stdin,
        false => Operand::Named(path.clone()),
    });
    session.work(stdin.into_iter().chain(named));
    session.tally.code()
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// What clap cannot check.
fn check_usage(args: &Args) -> Result<(), &'static str> {
    let reads_stdin = args.files.is_empty() || args.files.iter().any(|f| is_stdin(f));
    if args.output.is_some() && args.files.len() > 1 {
        return Err("-o takes a single input file");
    }
    if !args.force && reads_stdin && stdin().is_terminal() {
        return Err("compressed data is not read from a terminal; -f does it, -h shows help");
    }
    Ok(())
}

/// The work on several files, and what became of it.
struct Session<'a> {
    args: &'a Args,
    dictionary: Option<Dictionary<'static>>,
    reporter: Reporter,
    tally: Tally,
    /// Whether the head of the list has been printed.
    listed: bool,
}

impl Session<'_> {
    fn load_dictionary(&mut self) -> Result<(), (String, Failure)> {
        let Some(path) = &self.args.dictionary else { return Ok(()) };
        let load = || {
            let bytes = std::fs::read(path).map_err(Failure::doing("cannot open"))?;
            Dictionary::new(&bytes).map_err(|e| Failure::data(e.kind, e.offset, e.message))
        };
        self.dictionary = Some(load().map_err(|failure| (path.display().to_string(), failure))?);
        Ok(())
    }

    fn work(&mut self, operands: impl Iterator<Item = Operand>) {
        let (args, dictionary) = (self.args, self.dictionary.take());
        let process = |operand| file::work(args, dictionary.as_ref(), &operand);
        place::each(1, operands, process, |name, result| match result {
            Ok(Some((mut done, placed))) => {
                done.output = placed.output;
                done.warnings.extend(placed.warning);
                self.done(&done);
            }
            Ok(None) => {}
            Err(Failure::ClosedPipe) => signals::die_of_closed_pipe(),
            Err(failure) => self.failed(&name, &failure),
        });
    }

    fn failed(&mut self, name: &str, failure: &Failure) {
        self.tally.fail(failure);
        self.reporter.failed(name, failure);
    }

    fn done(&mut self, done: &Done) {
        for warning in &done.warnings {
            self.tally.warn();
            self.reporter.warning(&done.name, warning);
        }
        match self.args.mode() {
            Mode::List if !self.args.json => self.list(done),
            Mode::List => {}
            Mode::Test => self.reporter.done(format_args!("{}: OK", done.name)),
            Mode::Decompress => self.reporter.done(summary(done)),
        }
        self.reporter.record(&record(self.args, done));
    }

    fn list(&mut self, done: &Done) {
        if !self.listed && !self.args.quiet {
            to_stdout(format_args!(
                "{:>7} {:>7} {:>15} {:>15} {:>7} {:>6}  name",
                "frames", "skipped", "compressed", "uncompressed", "ratio", "check"
            ));
        }
        self.listed = true;
        let small = done.totals.bytes_in;
        let (large, ratio) = match done.totals.bytes_out {
            Some(large) => (large.to_string(), format!("{:.3}", large as f64 / small.max(1) as f64)),
            None => ("-".into(), "-".into()),
        };
        let check = if done.totals.checked { "XXH64" } else { "none" };
        let (frames, skipped) = (done.totals.frames, done.totals.skipped);
        to_stdout(format_args!(
            "{frames:>7} {skipped:>7} {small:>15} {large:>15} {ratio:>7} {check:>6}  {}",
            done.name
        ));
    }
}

/// The line of `-v`.
fn summary(done: &Done) -> String {
    let large = done.totals.bytes_out.unwrap_or(0);
    let rate = large as f64 / 1e6 / done.seconds.max(1e-9);
    let target = done.output.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
    format!("{}: {} -> {large} bytes, {rate:.0} MB/s{target}", done.name, done.totals.bytes_in)
}

/// The object of `--json`.
fn record(args: &Args, done: &Done) -> Value {
    json!({
        "file": done.name,
        "status": if done.warnings.is_empty() { "ok" } else { "warning" },
        "mode": args.mode().name(),
        "format": "zstd",
        "output": done.output.as_ref().map(|path| path.display().to_string()),
        "frames": done.totals.frames,
        "skippable_frames": done.totals.skipped,
        "checksum": done.totals.checked,
        "window": done.totals.window,
        "bytes_in": done.totals.bytes_in,
        "bytes_out": done.totals.bytes_out,
        "seconds": done.seconds,
        "warnings": done.warnings,
    })
}
