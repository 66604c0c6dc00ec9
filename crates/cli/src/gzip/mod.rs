//! `linerate gzip`: files and streams through the deflate engine and back.

mod args;
mod decode;
mod file;
mod header;
mod names;
mod walk;

use std::io::{IsTerminal, stdin, stdout};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

pub(crate) use self::args::Args;
use self::args::Mode;
use self::file::{Done, Operand};
use crate::exit::{self, Tally};
use crate::failure::Failure;
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
    let mut session = Session { args, reporter, tally: Tally::default(), listed: false };
    if no_files {
        session.one(&Operand::Stdin);
    }
    for path in &args.files {
        if is_stdin(path) {
            session.one(&Operand::Stdin);
        } else if args.recursive && path.is_dir() {
            walk::files_below(path, &mut |found| match found {
                Ok(file) => session.one(&Operand::Found(file)),
                Err((folder, failure)) => session.failed(&folder.display().to_string(), &failure),
            });
        } else {
            session.one(&Operand::Named(path.clone()));
        }
    }
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
    match args.mode() {
        _ if args.force => Ok(()),
        Mode::Compress if args.writes_stdout(reads_stdin) && stdout().is_terminal() => {
            Err("compressed data is not written to a terminal; -f does it, -h shows help")
        }
        Mode::Decompress | Mode::Test | Mode::List if reads_stdin && stdin().is_terminal() => {
            Err("compressed data is not read from a terminal; -f does it, -h shows help")
        }
        _ => Ok(()),
    }
}

/// The work on several files, and what became of it.
struct Session<'a> {
    args: &'a Args,
    reporter: Reporter,
    tally: Tally,
    /// Whether the head of the list has been printed.
    listed: bool,
}

impl Session<'_> {
    fn one(&mut self, operand: &Operand) {
        match file::process(self.args, operand) {
            Ok(Some(done)) => self.done(&done),
            Ok(None) => {}
            Err(Failure::ClosedPipe) => signals::die_of_closed_pipe(),
            Err(failure) => self.failed(&operand.name(), &failure),
        }
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
            Mode::Compress | Mode::Decompress => self.reporter.done(summary(done)),
        }
        self.reporter.record(&record(self.args, done));
    }

    fn list(&mut self, done: &Done) {
        if !self.listed && !self.args.quiet {
            to_stdout(format_args!("{:>15} {:>15} {:>7}  name", "compressed", "uncompressed", "ratio"));
        }
        self.listed = true;
        let (small, large) = (done.bytes_in, done.bytes_out);
        let ratio = large as f64 / small.max(1) as f64;
        to_stdout(format_args!("{small:>15} {large:>15} {ratio:>7.3}  {}", done.name));
    }
}

/// The line of `-v`.
fn summary(done: &Done) -> String {
    let percent = 100.0 * done.bytes_out as f64 / done.bytes_in.max(1) as f64;
    let rate = done.bytes_in as f64 / 1e6 / done.seconds.max(1e-9);
    let target = done.output.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
    format!(
        "{}: {} -> {} bytes ({percent:.1}%), {rate:.0} MB/s{target}",
        done.name, done.bytes_in, done.bytes_out
    )
}

/// The object of `--json`.
fn record(args: &Args, done: &Done) -> Value {
    let mode = match args.mode() {
        Mode::Compress => "compress",
        Mode::Decompress => "decompress",
        Mode::Test => "test",
        Mode::List => "list",
    };
    let mut value = json!({
        "file": done.name,
        "status": if done.warnings.is_empty() { "ok" } else { "warning" },
        "mode": mode,
        "format": done.format,
        "output": done.output.as_ref().map(|path| path.display().to_string()),
        "bytes_in": done.bytes_in,
        "bytes_out": done.bytes_out,
        "seconds": done.seconds,
        "warnings": done.warnings,
    });
    if args.mode() == Mode::Compress {
        value["level"] = json!(args.level.0 as u8);
        value["threads"] = json!(args.threads);
        if done.format != "bgzf" {
            value["block"] = json!(args.block);
            value["history"] = json!(args.history);
        }
    }
    value
}
