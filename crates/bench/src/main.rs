//! The program `linerate-bench`, which measures Linerate's engines beside other libraries.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use linerate_bench::harness::chart::{self, Axes};
use linerate_bench::harness::output::print;
use linerate_bench::harness::{MISSING, MISSING_STATUS, process, provenance};
use linerate_bench::remake::{self, RemakeArgs};
use linerate_bench::waveforms::Set;
use linerate_bench::{archives, bytes, cold, frames, inflate, messages, packs, plan, rice, sst, threads};
#[cfg(feature = "servers")]
use linerate_bench::{http, websocket};

const NOTES: &str = "\
Contenders:
  Linerate's engines, zlib-rs, libzstd and memcpy are in every build; --features
  peers,system-peers adds other libraries. What contenders write or decode is checked, most of it
  before the clock starts. Contenders take turns within a round, and quotients compare turns of
  the same round.

Records:
  --record FILE appends JSON Lines: a line with CPU, versions and command, then one for each
  measurement. --against RECORD shows what changed since an earlier record.

Exit status:
  0 for success; 1 for an error; 2 for a wrong command; 3 if a program or library that the shape
  needs is missing. remake ends with 0 unless a run failed; it lists and counts what is missing.

Examples:
  linerate-bench bytes --corpus web --chunk 16K
  linerate-bench cold --quick
  linerate-bench messages --against records/messages.jsonl
  linerate-bench remake --quick";

/// Measures Linerate's engines beside other libraries, one shape of work at a time.
#[derive(Parser, Debug)]
#[command(name = "linerate-bench", version, arg_required_else_help = true, after_help = NOTES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Deflate: chunks in, compressed bytes out, in CPU time of one core
    Bytes(bytes::BytesArgs),
    /// Deflate: one gzip stream from several threads, by the wall clock
    Threads(threads::ThreadsArgs),
    /// Inflate: deflate data in, its content out, in CPU time of one core
    Inflate(inflate::InflateArgs),
    /// Zstd: frames and flushed streams in, their content out, in CPU time of one core
    Frames(frames::FramesArgs),
    /// Zstd: small blocks through very many dictionaries, hot and cold, beside libzstd
    Cold(cold::ColdArgs),
    /// Dictionaries: packs of them written, read and opened
    Packs(packs::PacksArgs),
    /// RocksDB: random rows of thousands of SST files, beside RocksDB itself
    Sst(sst::SstArgs),
    /// Zlib and zstd: message streams of gateway connections, hot and by thousands
    Messages(messages::MessagesArgs),
    /// Zlib and zstd: a day of thousands of connections, three ways, each message timed
    #[command(after_help = messages::day::EXAMPLES)]
    Day(messages::day::DayArgs),
    /// HTTP: responses through layers of tower, beside tower-http; memory of idle responses
    #[cfg(feature = "servers")]
    Http(http::HttpArgs),
    /// Websockets: permessage-deflate beside zlib; memory of idle connections
    #[cfg(feature = "servers")]
    Websocket(websocket::WebsocketArgs),
    /// Delta-Rice: waveforms by CPU tier, beside plain codecs
    Rice(rice::RiceArgs),
    /// Nx: archives packed, decoded and extracted, beside libzstd and other archivers
    Archives(archives::ArchivesArgs),
    /// Plans: their predictions, beside what their commands do
    Plan(plan::PlanArgs),
    /// Run all shapes, and list what could not be measured
    Remake(RemakeArgs),
    /// List the contenders of each shape, and why some are not available here
    Contenders {
        /// List only this shape
        shape: Option<String>,
    },
    /// Draw a record: an SVG for each case
    Chart {
        /// The record
        record: PathBuf,
        /// The metric or param of the horizontal axis
        #[arg(long, default_value = "ratio")]
        x: String,
        /// The metric or param of the vertical axis
        #[arg(long, default_value = "speed")]
        y: String,
        /// The folder for the SVG files
        #[arg(long, value_name = "DIR", default_value = "target/plots")]
        out: PathBuf,
    },
    /// Make detector waveforms, the same for everyone, as a .npy file of int16 rows
    Waveforms {
        /// nab, nedm or noptrex
        #[arg(long, value_name = "NAME", value_parser = parse_set)]
        set: Set,
        /// Number of rows, from the first one on [default: 2000 for nab, 32 for the others]
        #[arg(long, value_name = "N")]
        rows: Option<usize>,
        /// The file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Extract an archive into memory maps of its files, a variant that `archives` measures
    #[command(hide = true)]
    ExtractMapped {
        #[arg(long, default_value_t = 1)]
        threads: usize,
        archive: PathBuf,
        out: PathBuf,
    },
    /// Run a command and print the most bytes that were resident in it
    #[command(hide = true)]
    Peak {
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
    /// Run a contender that needs a process of its own
    #[command(hide = true)]
    Child { shape: String, words: Vec<String> },
}

fn parse_set(name: &str) -> Result<Set, String> {
    Set::from_name(name).ok_or_else(|| "not one of nab, nedm, noptrex".into())
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("linerate-bench: {message}");
            ExitCode::from(if message.starts_with(MISSING) { MISSING_STATUS } else { 1 })
        }
    }
}

fn run(command: Command) -> Result<(), String> {
    match command {
        Command::Bytes(args) => bytes::run(&args),
        Command::Threads(args) => threads::run(&args),
        Command::Inflate(args) => inflate::run(&args),
        Command::Frames(args) => frames::run(&args),
        Command::Cold(args) => cold::run(&args),
        Command::Packs(args) => packs::run(&args),
        Command::Sst(args) => sst::run(&args),
        Command::Messages(args) => messages::run(&args),
        Command::Day(args) => messages::day::run(&args),
        #[cfg(feature = "servers")]
        Command::Http(args) => http::run(&args),
        #[cfg(feature = "servers")]
        Command::Websocket(args) => websocket::run(&args),
        Command::Rice(args) => rice::run(&args),
        Command::Archives(args) => archives::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Remake(args) => remake::run(&args),
        Command::Contenders { shape } => contenders(shape.as_deref()),
        Command::Chart { record, x, y, out } => {
            let made = chart::draw(&record, &Axes { x: &x, y: &y }, &out)?;
            made.iter().for_each(|name| println!("{}", out.join(name).display()));
            Ok(())
        }
        Command::Waveforms { set, rows, out } => {
            let written = set.write_npy(&out, rows.unwrap_or(set.rows()));
            written.map_err(|e| format!("{}: {e}", out.display()))
        }
        Command::ExtractMapped { threads, archive, out } => {
            archives::mapped::extract(&archive, &out, threads)
        }
        Command::Peak { command } => process::peak_of(&command).map(|bytes| println!("{bytes}")),
        Command::Child { shape, words } => child(&shape, &words),
    }
}

/// Prints the contenders of the shape `only`, or of all shapes, and which peers this build lacks.
fn contenders(only: Option<&str>) -> Result<(), String> {
    let root = Cli::command();
    let is_wanted = |name: &str| remake::is_shape(name) && only.is_none_or(|only| only == name);
    let shapes: Vec<_> = root.get_subcommands().filter(|shape| is_wanted(shape.get_name())).collect();
    if shapes.is_empty() {
        return Err(format!("no shape is named {}", only.unwrap_or_default()));
    }
    for shape in shapes {
        let about = shape.get_about().map(ToString::to_string).unwrap_or_default();
        let names = match shape.get_name() {
            "bytes" => bytes::names(),
            "inflate" => inflate::names()?,
            "frames" => frames::names()?,
            "cold" => cold::names(),
            "sst" => sst::NAMES.map(str::to_owned).into(),
            "messages" => messages::names(),
            "day" => messages::day::names(),
            #[cfg(feature = "servers")]
            "http" => http::names(),
            #[cfg(feature = "servers")]
            "websocket" => websocket::names(),
            "rice" => rice::names(),
            "archives" => archives::names(),
            // The shapes threads, packs and plan have no peers.
            _ => vec!["linerate".into()],
        };
        print(&format!("{}: {about}\n  {}\n\n", shape.get_name(), names.join("\n  ")))?;
    }
    provenance::absent(&[]).map_or(Ok(()), |text| print(&format!("{text}\n")))
}

fn child(shape: &str, words: &[String]) -> Result<(), String> {
    let bytes = match shape {
        "messages" => messages::child(words),
        "level-load" => return archives::level_load_child(words),
        #[cfg(feature = "servers")]
        "http" => http::child(words),
        #[cfg(feature = "servers")]
        "websocket" => websocket::child(words),
        _ => Err(format!("no shape is named {shape}")),
    };
    bytes.map(|bytes| println!("{bytes}"))
}

#[cfg(test)]
mod tests {
    use linerate_testkit::{calls, markdown};

    use super::*;

    fn root() -> clap::Command {
        let mut root = Cli::command();
        root.build();
        root
    }

    #[test]
    fn every_call_that_a_page_shows_exists_with_its_options() {
        let root = root();
        calls::assert_exist(20, |page| page.calls("linerate-bench"), |words| calls::missing(&root, words));
    }

    #[test]
    fn a_call_that_does_not_exist_is_found() {
        let root = root();
        for (line, wanted) in [
            ("linerate-bench byte --corpus x", Some("linerate-bench has no subcommand byte")),
            ("cargo run -p linerate-bench -- bytes --none", Some("bytes has no --none")),
            ("linerate-bench bytes --chunk=4K --record FILE", None),
            ("linerate-bench SHAPE --none", None),
        ] {
            let found = markdown::calls("linerate-bench", line);
            let found = found.iter().find_map(|words| calls::missing(&root, words));
            assert_eq!(found.as_deref(), wanted, "{line}");
        }
    }
}
