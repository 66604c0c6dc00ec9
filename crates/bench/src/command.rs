//! The shapes of `linerate-bench`, and what belongs to measuring them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::archives::{self, args::ArchivesArgs, mapped, peak};
use crate::cold::{self, args::ColdArgs};
use crate::corpus::Corpus;
use crate::filter::{Chunk, Filter, parse_bytes};
use crate::messages::{self, args::MessagesArgs, day::DayArgs};
use crate::output::{OutputArgs, print, progress};
use crate::record::Record;
use crate::waveforms::Set;
use crate::{cpus, frames, inflate, report, session, threads};

/// Names of the subcommands that measure a shape of work.
const SHAPES: [&str; 8] = ["bytes", "threads", "inflate", "frames", "cold", "messages", "day", "archives"];

/// The subcommands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Deflate: chunks in, compressed bytes out, in CPU time of one core
    #[command(after_help = BYTES_EXAMPLES)]
    Bytes(BytesArgs),
    /// Deflate: one gzip stream from several threads, by the wall clock
    #[command(after_help = THREADS_EXAMPLES)]
    Threads(ThreadsArgs),
    /// Inflate: deflate data in, its content out, in CPU time of one core
    #[command(after_help = INFLATE_EXAMPLES)]
    Inflate(InflateArgs),
    /// Zstd: frames in, their content out, in CPU time of one core
    #[command(after_help = FRAMES_EXAMPLES)]
    Frames(FramesArgs),
    /// Zstd: small blocks through very many dictionaries, hot and cold, beside libzstd
    #[command(after_help = cold::args::EXAMPLES)]
    Cold(Box<ColdArgs>),
    /// Zlib and zstd: message streams of gateway connections, hot and by thousands
    #[command(after_help = messages::args::EXAMPLES)]
    Messages(Box<MessagesArgs>),
    /// Zlib and zstd: a day of thousands of connections, three ways, each message timed
    #[command(after_help = messages::day::EXAMPLES)]
    Day(DayArgs),
    /// Nx: archives packed, decoded and extracted, beside libzstd and other archivers
    #[command(after_help = archives::args::EXAMPLES)]
    Archives(ArchivesArgs),
    /// Extract an archive into maps of its files, a variant that `archives` measures
    #[command(hide = true)]
    ExtractMapped(MappedArgs),
    /// Run a command and print the most bytes that were resident in it
    #[command(hide = true)]
    Peak(PeakArgs),
    /// Make detector waveforms, the same for everyone, as a .npy file of int16 rows
    #[command(after_help = WAVEFORMS_EXAMPLES)]
    Waveforms(WaveformsArgs),
    /// List the contenders of the shape `bytes`, and why some are not available here
    #[command(after_help = CONTENDERS_EXAMPLES)]
    Contenders,
    /// Put the same cases on several CPUs side by side, from records
    #[command(after_help = RECORDS_EXAMPLES)]
    Records(RecordsArgs),
    /// Draw speed against ratio from a record, one SVG for each corpus and chunk size
    #[cfg(feature = "plot")]
    #[command(after_help = PLOT_EXAMPLES)]
    Plot(PlotArgs),
}

const BYTES_EXAMPLES: &str = "\
Examples:
  linerate-bench bytes --corpus web --chunk 4K,16K
  linerate-bench bytes --synthetic random --only linerate,memcpy
  linerate-bench bytes --corpus web --against old.csv --csv new.csv";
const THREADS_EXAMPLES: &str = "\
Examples:
  linerate-bench threads --corpus web
  linerate-bench threads --corpus web --count 1,2,4,8 --block 1M --level 2";
const INFLATE_EXAMPLES: &str = "\
Examples:
  linerate-bench inflate --corpus web
  linerate-bench inflate --corpus web --chunk whole,4K --level 9";
const FRAMES_EXAMPLES: &str = "\
Examples:
  linerate-bench frames --synthetic rows
  linerate-bench frames --corpus web --case 4K+8K,128K --level 12";
const WAVEFORMS_EXAMPLES: &str = "\
Examples:
  linerate-bench waveforms --set nab --out nab.npy
  linerate-bench waveforms --set noptrex --rows 4 --out noptrex.npy";
const CONTENDERS_EXAMPLES: &str = "\
Examples:
  linerate-bench contenders";
const RECORDS_EXAMPLES: &str = "\
Examples:
  linerate-bench records records
  linerate-bench records here.csv there.csv";
#[cfg(feature = "plot")]
const PLOT_EXAMPLES: &str = "\
Examples:
  linerate-bench plot --csv web.csv --out plots";

/// What is compressed.
#[derive(Args, Clone, Debug)]
pub struct CorpusArgs {
    /// A directory or a file; also a name below $LINERATE_CORPORA
    #[arg(long, value_name = "PATH", required_unless_present = "synthetic")]
    corpus: Option<PathBuf>,
    /// Generated data instead of files
    #[arg(long, value_name = "KIND", value_parser = ["random", "rows"], conflicts_with = "corpus")]
    synthetic: Option<String>,
    /// The corpus's name in the record [default: from the path]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Take only the first bytes of each file
    #[arg(long, value_name = "N", value_parser = parse_bytes)]
    max_bytes_per_file: Option<u64>,
}

/// Arguments of [`Command::Bytes`].
#[derive(Args, Clone, Debug)]
pub struct BytesArgs {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Bytes for each call: numbers such as 16K, or `whole` for a file at once
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1K,4K,16K,64K,whole")]
    chunk: Vec<Chunk>,
    /// Times that each contender goes through the corpus
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Only contenders whose name and format contain one of these
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    only: Filter,
    /// The contender that others are compared with [default: libslz, ISA-L 1 or zlib-rs 1]
    #[arg(long, value_name = "NAME")]
    base: Option<String>,
    /// The core to run on [default: the last one allowed]
    #[arg(long, value_name = "N")]
    core: Option<usize>,
}

/// Arguments of [`Command::Threads`].
#[derive(Args, Clone, Debug)]
pub struct ThreadsArgs {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Bytes for each stateless call
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "128K,512K,1M")]
    block: Vec<Chunk>,
    /// Numbers of threads; the first is what the others are compared with
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2")]
    count: Vec<usize>,
    /// Levels
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,3",
          value_parser = clap::value_parser!(u8).range(0..=3))]
    level: Vec<u8>,
    /// Times that each number of threads goes through the corpus
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
}

/// Arguments of [`Command::ExtractMapped`].
#[derive(Args, Clone, Debug)]
pub struct MappedArgs {
    /// How many threads work
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// The archive
    archive: PathBuf,
    /// The folder
    out: PathBuf,
}

/// Arguments of [`Command::Peak`].
#[derive(Args, Clone, Debug)]
pub struct PeakArgs {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Arguments of [`Command::Inflate`].
#[derive(Args, Clone, Debug)]
pub struct InflateArgs {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Bytes of input and of output for each call, or `whole` for all of a file
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "whole,64K")]
    chunk: Vec<Chunk>,
    /// The level at which zlib-rs compresses
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(i32).range(1..=9))]
    level: i32,
    /// Times that each contender decodes all files
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// The core to run on [default: the last one allowed]
    #[arg(long, value_name = "N")]
    core: Option<usize>,
}

/// Arguments of [`Command::Frames`].
#[derive(Args, Clone, Debug)]
pub struct FramesArgs {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Sizes of blocks and, after a plus, of the dictionary that they share
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "1K+8K,4K+8K,8K+8K,4K,128K,whole"
    )]
    case: Vec<frames::Case>,
    /// The level at which libzstd compresses
    #[arg(long, value_name = "N", default_value_t = 3, allow_negative_numbers = true)]
    level: i32,
    /// The most bytes for each case, taken evenly from the corpus; of whole files, of each
    #[arg(long, value_name = "N", default_value = "16M", value_parser = parse_bytes)]
    most: u64,
    /// Times that each contender decodes all of a case
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// The core to run on [default: the last one allowed]
    #[arg(long, value_name = "N")]
    core: Option<usize>,
}

/// Arguments of [`Command::Waveforms`].
#[derive(Args, Clone, Debug)]
pub struct WaveformsArgs {
    /// nab, nedm or noptrex
    #[arg(long, value_name = "NAME", value_parser = parse_set)]
    set: Set,
    /// Rows, from the first one on [default: 2000 for nab, 32 for the others]
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Arguments of [`Command::Records`].
#[derive(Args, Clone, Debug)]
pub struct RecordsArgs {
    /// CSV files, or folders of them
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
}

/// Arguments of [`Command::Plot`].
#[cfg(feature = "plot")]
#[derive(Args, Clone, Debug)]
pub struct PlotArgs {
    /// The CSV file to read
    #[arg(long, value_name = "FILE")]
    csv: PathBuf,
    /// The folder for the SVG files
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

/// Runs a subcommand, with its results on standard output and its progress on standard error.
///
/// # Errors
/// A sentence for the user.
pub fn run(command: &Command) -> Result<(), String> {
    match command {
        Command::Bytes(args) => bytes(args),
        Command::Threads(args) => several_threads(args),
        Command::Inflate(args) => inflate_in(args),
        Command::Frames(args) => frames_in(args),
        Command::Cold(args) => cold::args::run(args),
        Command::Messages(args) => messages::args::run(args),
        Command::Day(args) => messages::day::run(args),
        Command::Archives(args) => archives::args::run(args),
        Command::ExtractMapped(args) => mapped::extract(&args.archive, &args.out, args.threads),
        Command::Peak(args) => peak::run(&args.command).and_then(|bytes| print(&format!("{bytes}\n"))),
        Command::Waveforms(args) => waveforms(args),
        Command::Contenders => print(&session::list()),
        Command::Records(args) => cpus::read(&args.paths).and_then(|sheets| print(&cpus::table(&sheets))),
        #[cfg(feature = "plot")]
        Command::Plot(args) => crate::plot::draw(&args.csv, &args.out).and_then(|made| print(&made)),
    }
}

/// Prints a line for each shape: its name and what is measured.
///
/// # Errors
/// A sentence for the user.
pub fn list_shapes(all: &clap::Command) -> Result<(), String> {
    print(&shapes(all))
}

fn shapes(all: &clap::Command) -> String {
    let line = |name: &str| {
        let about = all.find_subcommand(name).and_then(clap::Command::get_about);
        vec![name.to_owned(), about.map(ToString::to_string).unwrap_or_default()]
    };
    report::aligned(&SHAPES.map(line), 2)
}

fn bytes(args: &BytesArgs) -> Result<(), String> {
    let mut output = args.output.open::<Record>()?;
    let corpus = args.corpus.read()?;
    let place = place(args.core)?;
    let mut session = session::Session::new(&corpus, &args.only, args.base.as_deref())?;
    for chunk in &args.chunk {
        let records = session.measure(*chunk, args.rounds.into(), progress)?;
        let rounds = format!("{} rounds, relative to {}", args.rounds, session.base());
        output.show(&titled(&format!("{chunk} chunks, CPU time, {place}, {rounds}"), &records))?;
        output.add(records)?;
    }
    eprint!("{}", session.absent());
    output.finish()
}

fn several_threads(args: &ThreadsArgs) -> Result<(), String> {
    let mut output = args.output.open::<Record>()?;
    let corpus = args.corpus.read()?;
    let first = args.count.first().ok_or("no number of threads is given")?;
    let fewest = args.count.iter().min().copied().unwrap_or(1);
    for block in &args.block {
        let options = threads::BenchOptions {
            levels: &args.level,
            threads: &args.count,
            block: *block,
            rounds: args.rounds.into(),
        };
        let threads::Outcome { records, cores_had } = threads::measure(&corpus, &options, progress)?;
        let rounds = format!("{} rounds, relative to x{first}", args.rounds);
        output.show(&titled(&format!("{block} blocks, wall time, {rounds}"), &records))?;
        if cores_had < 0.9 * fewest as f64 {
            eprintln!("Other work is in the way: {fewest} threads had {cores_had:.2} cores.");
        }
        output.add(records)?;
    }
    output.finish()
}

fn inflate_in(args: &InflateArgs) -> Result<(), String> {
    let mut output = args.output.open::<Record>()?;
    let corpus = args.corpus.read()?;
    let place = place(args.core)?;
    let options =
        inflate::BenchOptions { chunks: &args.chunk, level: args.level, rounds: args.rounds.into() };
    inflate::measure(&corpus, &options, progress, |chunk, records| {
        let rounds = format!("{} rounds, relative to zlib-rs", args.rounds);
        output.show(&titled(&format!("calls of {chunk}, CPU time, {place}, {rounds}"), records))?;
        output.add(records.to_vec())
    })?;
    output.finish()
}

fn frames_in(args: &FramesArgs) -> Result<(), String> {
    let mut output = args.output.open::<Record>()?;
    let corpus = args.corpus.read()?;
    let place = place(args.core)?;
    let options = frames::BenchOptions {
        cases: &args.case,
        level: args.level,
        most: args.most.try_into().unwrap_or(usize::MAX),
        rounds: args.rounds.into(),
    };
    frames::measure(&corpus, &options, progress, |case, records| {
        let rounds = format!("{} rounds, relative to libzstd", args.rounds);
        output.show(&titled(&format!("{case} blocks, CPU time, {place}, {rounds}"), records))?;
        output.add(records.to_vec())
    })?;
    output.finish()
}

/// The table of records of one corpus below its title.
fn titled(title: &str, records: &[Record]) -> String {
    let Some(Record { corpus, files, bytes, .. }) = records.first() else { return String::new() };
    let files = if *files == 1 { "1 file".into() } else { format!("{files} files") };
    format!("{corpus}: {files}, {bytes} bytes, {title}\n\n{}\n", report::table(records))
}

/// Stays on one core, and says on which.
fn place(wanted: Option<usize>) -> Result<String, String> {
    match (wanted, crate::pin(wanted)) {
        (Some(wanted), None) => Err(format!("cannot run on core {wanted}")),
        (_, core) => Ok(core.map_or_else(|| "not pinned".into(), |n| format!("core {n}"))),
    }
}

fn waveforms(args: &WaveformsArgs) -> Result<(), String> {
    let rows = args.rows.unwrap_or(args.set.rows());
    args.set.write_npy(&args.out, rows).map_err(|e| format!("{}: {e}", args.out.display()))
}

fn parse_set(name: &str) -> Result<Set, String> {
    Set::from_name(name).ok_or_else(|| "not one of nab, nedm, noptrex".into())
}

impl CorpusArgs {
    fn read(&self) -> Result<Corpus, String> {
        let mut corpus = match &self.corpus {
            Some(path) => Corpus::read(path, self.max_bytes_per_file)?,
            None if self.synthetic.as_deref() == Some("rows") => Corpus::rows(16 << 20),
            None => Corpus::random(1_000_000),
        };
        if let Some(name) = &self.name {
            corpus.name.clone_from(name);
        }
        Ok(corpus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_listed_with_its_sentence() {
        let text = shapes(&Command::augment_subcommands(clap::Command::new("bench")));
        assert_eq!(text.lines().count(), SHAPES.len());
        for line in text.lines() {
            let (name, about) = line.split_once("  ").unwrap();
            assert!(SHAPES.contains(&name) && about.trim().len() > 20, "{line}");
        }
    }
}
