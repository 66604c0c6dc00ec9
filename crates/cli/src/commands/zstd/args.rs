//! The command line of `linerate zstd`.

use std::path::{Path, PathBuf};

use clap::ValueHint;

use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, output_args, size, threads};

const EXAMPLES: &str = "\
Examples:
  linerate zstd notes.txt                        make notes.txt.zst, keep notes.txt
  linerate zstd -19 --long --rm big.tar          delete the source once its output is on the disk
  tar c src | linerate zstd -T2 -o src.tar.zst   from a pipe, on two threads
  linerate zstd -r logs                          every file below a folder
  linerate zstd -d notes.txt.zst                 make notes.txt, keep notes.txt.zst
  linerate zstd -dc logs.zst | grep error        decompress to standard output
  linerate zstd -d -o tree.tar < tree.tar.zst    from standard input
  linerate zstd -d --long=31 big.tar.zst         allow windows of up to 2 GiB
  linerate zstd -d -D rows.dict row.zst          frames compressed with a dictionary
  linerate zstd -t *.zst                         check files, write nothing
  linerate zstd -l *.zst                         frames and sizes, without decompressing

Without FILE, or with `-`, standard input is read and standard output written. Input files are kept unless
--rm is given. Threads process several files at a time, and the parts of a large one when it is compressed
or has many frames.
SIZE is a number of bytes, or with K, M or G a multiple of 1024.";

/// Default limit of the window, 128 MiB, as in other tools.
const WINDOW_LOG: u32 = 27;
/// `--long` without a number: the default.
const LONG: &str = "27";
/// Default level, as in other tools.
const LEVEL: i32 = 3;
/// Highest level that takes no `--ultra`.
const MAX_LEVEL: i32 = 19;

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP), args_override_self = true)]
pub(crate) struct Args {
    #[command(flatten)]
    mode: ModeFlags,

    #[command(flatten)]
    pub(crate) level: LevelArgs,

    /// Write to standard output
    #[arg(short = 'c', long, visible_alias = "to-stdout", conflicts_with = "output")]
    pub(crate) stdout: bool,

    #[arg(short = 'o', long, value_name = "FILE", help = output_args::STREAM, value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Keep the input files (the default)
    #[arg(short = 'k', long, overrides_with = "remove")]
    pub(crate) keep: bool,

    /// Delete each input file once its output is complete
    #[arg(long = "rm", overrides_with = "keep")]
    pub(crate) remove: bool,

    /// Overwrite existing files, follow links, use a terminal for compressed data
    #[arg(short = 'f', long)]
    pub(crate) force: bool,

    /// Process all files below directories
    #[arg(short = 'r', long, conflicts_with = "output")]
    pub(crate) recursive: bool,

    #[arg(short = 'T', long, value_name = "N", default_value = "0", value_parser = threads::thread_count, help = threads::HELP)]
    pub(crate) threads: usize,

    /// Dictionary of the frames: a trained one, or any file as raw content
    #[arg(short = 'D', long, value_name = "DICT", value_hint = ValueHint::FilePath)]
    pub(crate) dictionary: Option<PathBuf>,

    /// Find matches up to 2 to the power of N bytes back, N from 10 to 31; when decompressing, allow such windows
    /// [default: 27, 128 MiB]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = LONG, value_parser = clap::value_parser!(u32).range(10..=31))]
    pub(crate) long: Option<u32>,

    /// Allow windows of up to this many bytes when decompressing; overrides --long
    #[arg(short = 'M', long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) memory: Option<u64>,

    /// Write checksums of the content, and verify them (the default)
    #[arg(short = 'C', long, overrides_with = "no_check")]
    pub(crate) check: bool,

    /// Do not write or verify the checksums of frames
    #[arg(long, overrides_with = "check")]
    pub(crate) no_check: bool,

    /// Do not write the size of a file into the header of its frame
    #[arg(long)]
    pub(crate) no_content_size: bool,

    /// Do not write the ID of the dictionary into the header
    #[arg(long = "no-dictID")]
    pub(crate) no_dict_id: bool,

    /// Size of standard input, which is then written into the header as that of a file
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) stream_size: Option<u64>,

    /// Compress so that a change of the input changes the output near it only, for rsync
    #[arg(long)]
    pub(crate) rsyncable: bool,

    /// Fail when a file decompresses to more than this
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) max_output: Option<u64>,

    /// Show progress on a terminal even with --quiet or --json
    #[arg(long, overrides_with = "no_progress")]
    progress: bool,

    /// Show no progress
    #[arg(long, overrides_with = "progress")]
    no_progress: bool,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Files to process
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,
}

/// What to do with the files, as flags.
#[derive(clap::Args, Debug)]
struct ModeFlags {
    /// Compress (the default)
    #[arg(short = 'z', long, overrides_with_all = ["decompress", "test", "list"])]
    compress: bool,

    /// Decompress
    #[arg(short = 'd', long, visible_alias = "uncompress", overrides_with = "compress")]
    decompress: bool,

    /// Check that files can be decompressed; write nothing
    #[arg(short = 't', long, overrides_with = "compress")]
    test: bool,

    /// Print the frames and sizes of files without decompressing them
    #[arg(short = 'l', long, overrides_with = "compress")]
    list: bool,
}

/// How much time compression takes.
#[derive(clap::Args, Debug)]
pub(crate) struct LevelArgs {
    /// Level of compression, 1 (fast) to 19 (small), or to 22 with --ultra; short: `-1` to `-22` [default: 3]
    #[arg(long, value_name = "N", overrides_with = "fast", value_parser = clap::value_parser!(i32).range(1..=22))]
    level: Option<i32>,

    /// Allow levels 20 to 22, which take much memory
    #[arg(long)]
    ultra: bool,

    /// Compress faster than level 1, the more so the larger N is, at most 131072 [default: 1]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", overrides_with = "level", value_parser = clap::value_parser!(i32).range(1..=131_072))]
    fast: Option<i32>,
}

impl LevelArgs {
    /// The level of libzstd: negative ones are those of `--fast`.
    pub(crate) fn number(&self) -> i32 {
        self.fast.map_or(self.level.unwrap_or(LEVEL), |fast| -fast)
    }

    /// Whether `--ultra` is missing.
    pub(crate) fn lacks_ultra(&self) -> bool {
        self.number() > MAX_LEVEL && !self.ultra
    }
}

/// What to do with the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Compress,
    Decompress,
    Test,
    List,
}

impl Mode {
    /// Name in `--json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Compress => "compress",
            Mode::Decompress => "decompress",
            Mode::Test => "test",
            Mode::List => "list",
        }
    }

    /// Whether operands become files.
    pub(crate) fn makes_files(self) -> bool {
        matches!(self, Mode::Compress | Mode::Decompress)
    }
}

impl Args {
    pub(crate) fn mode(&self) -> Mode {
        match (self.mode.list, self.mode.test, self.mode.decompress) {
            (true, _, _) => Mode::List,
            (_, true, _) => Mode::Test,
            (_, _, true) => Mode::Decompress,
            _ => Mode::Compress,
        }
    }

    /// The largest window that a frame may need to be decompressed, in bytes.
    pub(crate) fn window_limit(&self) -> u64 {
        self.memory.unwrap_or(1 << self.long.unwrap_or(WINDOW_LOG))
    }

    /// Whether an operand's output goes to standard output.
    pub(crate) fn writes_stdout(&self, operand_is_stdin: bool) -> bool {
        match (self.mode().makes_files(), &self.output) {
            (false, _) => false,
            (_, Some(path)) => path == Path::new("-"),
            (_, None) => self.stdout || operand_is_stdin,
        }
    }

    pub(crate) fn shows_progress(&self) -> bool {
        self.progress || !(self.no_progress || self.verbosity.quiet || self.verbosity.json)
    }
}
