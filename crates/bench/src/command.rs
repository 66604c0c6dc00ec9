//! The subcommands, for this crate's binary and for programs that embed them.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::archives::row::{self, Row};
use crate::archives::{BenchOptions, Input, Part, mapped, peak};
use crate::cold::{self, args::ColdArgs};
use crate::corpus::Corpus;
use crate::filter::{Chunk, Filter, parse_bytes};
use crate::messages::{self, args::MessagesArgs};
use crate::record::{self, Columns, Record};
use crate::waveforms::{Set, npy};
use crate::{frames, report, session, threads};

/// The subcommands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Chunks in, compressed bytes out: every contender, CPU time on one core
    Bytes(BytesArgs),
    /// One stream from several threads: wall time
    Threads(ThreadsArgs),
    /// Nx archives packed, decoded and extracted, beside libzstd and other programs
    Archives(ArchivesArgs),
    /// Extract an archive into maps of its files, a variant that `archives` measures
    #[command(hide = true)]
    ExtractMapped(MappedArgs),
    /// Run a command and print the most bytes that were resident in it
    #[command(hide = true)]
    Peak(PeakArgs),
    /// Zstd frames in, their content out: ours and others, CPU time on one core
    Frames(FramesArgs),
    /// Small blocks through very many dictionaries, hot and cold, beside libzstd
    #[command(after_help = cold::args::EXAMPLES)]
    Cold(Box<ColdArgs>),
    /// Message streams of gateway connections, hot and by thousands, beside zlib-rs and libzstd
    #[command(after_help = messages::args::EXAMPLES)]
    Messages(Box<MessagesArgs>),
    /// Make detector waveforms, the same for everyone, as a .npy file of int16 rows
    Waveforms(WaveformsArgs),
    /// The contenders, and why some are not available here
    List,
    /// Draw speed against ratio from a CSV file, one SVG for each corpus and chunk size
    #[cfg(feature = "plot")]
    Plot(PlotArgs),
}

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

/// Where the results go.
#[derive(Args, Clone, Debug)]
pub struct OutputArgs {
    /// Add the results to this CSV file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print a JSON array instead of tables
    #[arg(long)]
    json: bool,
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
    threads: Vec<usize>,
    /// Levels
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,3",
          value_parser = clap::value_parser!(u8).range(0..=3))]
    level: Vec<u8>,
    /// Times that each number of threads goes through the corpus
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
}

/// Arguments of [`Command::Archives`].
#[derive(Args, Clone, Debug)]
pub struct ArchivesArgs {
    /// The folder that is packed
    #[arg(long, value_name = "DIR")]
    corpus: PathBuf,
    /// Its name in the record [default: from the path]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Add the results to this CSV file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// What to measure [default: everything]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    only: Vec<Part>,
    /// Levels of zstd
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "9,12")]
    level: Vec<i32>,
    /// Turns of each contender
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// The program that is measured [default: `linerate` beside this one]
    #[arg(long, value_name = "PROGRAM")]
    linerate: Option<PathBuf>,
    /// Where folders are made and removed [default: /dev/shm, where it is]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
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
        Command::Archives(args) => several_archives(args),
        Command::ExtractMapped(args) => mapped::extract(&args.archive, &args.out, args.threads),
        Command::Peak(args) => peak::run(&args.command).and_then(|bytes| print(&format!("{bytes}\n"))),
        Command::Frames(args) => frames_in(args),
        Command::Cold(args) => cold::args::run(args),
        Command::Messages(args) => messages::args::run(args),
        Command::Waveforms(args) => waveforms(args),
        Command::List => print(&session::list()),
        #[cfg(feature = "plot")]
        Command::Plot(args) => crate::plot::draw(&args.csv, &args.out).and_then(|made| print(&made)),
    }
}

fn bytes(args: &BytesArgs) -> Result<(), String> {
    args.output.csv(&[])?;
    let corpus = args.corpus.read()?;
    let place = place(args.core)?;
    let mut session = session::Session::new(&corpus, &args.only, args.base.as_deref())?;
    let mut all = Vec::new();
    for chunk in &args.chunk {
        let records = session.measure(*chunk, args.rounds.into(), progress)?;
        let rounds = format!("{} rounds, relative to {}", args.rounds, session.base());
        args.output.table(&format!("{chunk} chunks, CPU time, {place}, {rounds}"), &records)?;
        args.output.csv(&records)?;
        all.extend(records);
    }
    match args.output.json {
        true => eprint!("{}", session.absent()),
        false => print(&session.absent())?,
    }
    args.output.json(&all)
}

fn several_threads(args: &ThreadsArgs) -> Result<(), String> {
    args.output.csv(&[])?;
    let corpus = args.corpus.read()?;
    let first = args.threads.first().ok_or("no number of threads is given")?;
    let fewest = args.threads.iter().min().copied().unwrap_or(1);
    let mut all = Vec::new();
    for block in &args.block {
        let options = threads::BenchOptions {
            levels: &args.level,
            threads: &args.threads,
            block: *block,
            rounds: args.rounds.into(),
        };
        let threads::Outcome { records, cores_had } = threads::measure(&corpus, &options, progress)?;
        let rounds = format!("{} rounds, relative to x{first}", args.rounds);
        args.output.table(&format!("{block} blocks, wall time, {rounds}"), &records)?;
        if cores_had < 0.9 * fewest as f64 {
            eprintln!("Other work is in the way: {fewest} threads had {cores_had:.2} cores.");
        }
        args.output.csv(&records)?;
        all.extend(records);
    }
    args.output.json(&all)
}

fn several_archives(args: &ArchivesArgs) -> Result<(), String> {
    let keep = |rows: &[Row]| args.csv.as_ref().map_or(Ok(()), |path| row::append(path, rows));
    // Before a long run, this proves that it can be done.
    keep(&[])?;
    let input = Input::of(&args.corpus, args.name.as_deref())?;
    let beside = || std::env::current_exe().map(|own| own.with_file_name("linerate"));
    let linerate = match &args.linerate {
        Some(path) => path.clone(),
        None => beside().map_err(|e| e.to_string())?,
    };
    let scratch = match &args.scratch {
        Some(path) => path.clone(),
        None => {
            Some(PathBuf::from("/dev/shm")).filter(|path| path.is_dir()).unwrap_or_else(std::env::temp_dir)
        }
    };
    let options =
        BenchOptions { input: &input, levels: &args.level, rounds: args.rounds.into(), linerate, scratch };
    let parts = if args.only.is_empty() { Part::value_variants() } else { &args.only };
    for part in parts {
        let rows = part.measure(&options, progress)?;
        keep(&rows)?;
        let corpus = rows.first().map_or("", |row| &row.corpus);
        print(&format!("{}: {corpus}\n\n{}\n", part.name(), row::table(&rows)))?;
    }
    Ok(())
}

fn frames_in(args: &FramesArgs) -> Result<(), String> {
    args.output.csv(&[])?;
    let corpus = args.corpus.read()?;
    let place = place(args.core)?;
    let options = frames::BenchOptions {
        cases: &args.case,
        level: args.level,
        most: args.most.try_into().unwrap_or(usize::MAX),
        rounds: args.rounds.into(),
    };
    let mut all = Vec::new();
    frames::measure(&corpus, &options, progress, |case, records| {
        let rounds = format!("{} rounds, relative to libzstd", args.rounds);
        args.output.table(&format!("{case} blocks, CPU time, {place}, {rounds}"), records)?;
        args.output.csv(records)?;
        all.extend_from_slice(records);
        Ok(())
    })?;
    args.output.json(&all)
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
    npy::write(&args.out, args.set, rows).map_err(|e| format!("{}: {e}", args.out.display()))
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

impl OutputArgs {
    fn table(&self, title: &str, records: &[Record]) -> Result<(), String> {
        match records.first() {
            Some(first) if !self.json => {
                let (corpus, files, bytes) = (&first.corpus, first.files, first.bytes);
                let files = if files == 1 { "1 file".into() } else { format!("{files} files") };
                let head = format!("{corpus}: {files}, {bytes} bytes, {title}");
                print(&format!("{head}\n\n{}\n", report::table(records)))
            }
            _ => Ok(()),
        }
    }

    fn json(&self, records: &[Record]) -> Result<(), String> {
        if !self.json {
            return Ok(());
        }
        let array = serde_json::Value::Array(records.iter().map(Record::to_json).collect());
        print(&format!("{array:#}\n"))
    }

    /// Adds to the CSV file. Without records this proves, before a long run, that it can be done.
    fn csv(&self, records: &[Record]) -> Result<(), String> {
        self.csv.as_ref().map_or(Ok(()), |path| record::append(path, records))
    }
}

/// Writes to standard output; a reader that has gone away is no error.
pub(crate) fn print(text: &str) -> Result<(), String> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("standard output: {e}")),
        _ => Ok(()),
    }
}

/// Shows one line of progress on a terminal, overwriting the last one.
pub(crate) fn progress(what: &str) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // A progress line that cannot be shown is no reason to stop.
        let _ = write!(terminal, "\r\x1b[K{what}");
        let _ = terminal.flush();
    }
}
