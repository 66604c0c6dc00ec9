//! The command line of `linerate zstd`.

use std::env;
use std::path::{Path, PathBuf};

use clap::ValueHint;

use crate::ui::progress::Show;
use crate::ui::session::Mode;
use crate::ui::threads::{self, Threads};
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, output_args, size};

const EXAMPLES: &str = "\
Examples:
  linerate zstd notes.txt                        make notes.txt.zst, keep notes.txt
  linerate zstd -19 --long --rm big.tar          delete big.tar once big.tar.zst is on the disk
  tar c src | linerate zstd -T2 -o src.tar.zst   from a pipe, on two threads
  linerate zstd -r logs                          compress every file below a folder
  linerate zstd -d notes.txt.zst                 make notes.txt, keep notes.txt.zst
  linerate zstd -dc logs.zst | grep error        decompress to standard output
  linerate zstd -d -o tree.tar < tree.tar.zst    from standard input
  linerate zstd -d --long=31 big.tar.zst         allow windows of up to 2 GiB
  linerate zstd -d -D rows.dict row.zst          decompress frames that need a dictionary
  linerate zstd -t *.zst                         check files, write nothing
  linerate zstd -l *.zst                         print frames and sizes, without decompressing

Without FILE, or if FILE is `-`, standard input is read and standard output written. Input files are kept
unless --rm is given.

Threads process several files at a time, and parts of a large file. Up to four threads decompress one
frame together, without a dictionary and --max-output.

SIZE is a number of bytes. With K, M or G it is a multiple of 1024, 1024^2 or 1024^3.";

/// Base-2 logarithm of the largest window, in bytes, that decompression allows by default: 128 MiB,
/// the same as for `zstd`.
const WINDOW_LOG: u32 = 27;
/// The N of a `--long` that is given without N.
const LONG: &str = "27";
/// Default compression level, the same as for `zstd`.
const LEVEL: i32 = 3;
/// Highest level without `--ultra`.
const MAX_LEVEL: i32 = 19;
/// Highest level with `--ultra`.
const MAX_ULTRA: i32 = 22;
/// Highest N of `--fast` that makes a difference, which is libzstd's limit. A higher N counts as
/// this one.
const FASTEST: i64 = 131_072;

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP), args_override_self = true)]
pub(crate) struct Args {
    #[command(flatten)]
    mode: ModeFlags,

    #[command(flatten)]
    pub(crate) level: LevelArgs,

    /// Write to standard output
    #[arg(short = 'c', long, visible_alias = "to-stdout", overrides_with = "output")]
    pub(crate) stdout: bool,

    #[arg(short = 'o', long, value_name = "FILE", overrides_with = "stdout", help = output_args::STREAM, value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Keep the input files (the default)
    #[arg(short = 'k', long, overrides_with = "remove")]
    pub(crate) keep: bool,

    /// Delete each input file once its output file is complete and on the disk
    #[arg(long = "rm", overrides_with = "keep")]
    pub(crate) remove: bool,

    /// Overwrite existing files, follow links, read and write compressed data on a terminal; with
    /// -dc, copy data in other formats unchanged
    #[arg(short = 'f', long)]
    pub(crate) force: bool,

    /// Process the files below directories: with -d, -t and -l those with a suffix of compressed
    /// files, else those without
    #[arg(short = 'r', long, conflicts_with = "output")]
    pub(crate) recursive: bool,

    #[arg(short = 'T', long, value_name = "N", default_value = "0", value_parser = threads::threads, overrides_with = "single_thread", help = threads::HELP)]
    threads: Threads,

    /// Dictionary: a trained one, or any file as raw content
    #[arg(short = 'D', long, value_name = "DICT", value_hint = ValueHint::FilePath)]
    pub(crate) dictionary: Option<PathBuf>,

    /// Search for matches up to 2^N bytes back, N from 10 to 31; --long means --long=27. When
    /// decompressing, allow windows of up to 2^N bytes; without this option, of up to 128 MiB
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = LONG, value_parser = clap::value_parser!(u32).range(10..=31))]
    pub(crate) long: Option<u32>,

    /// Allow windows of up to SIZE when decompressing; overrides --long
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

    /// Size of standard input, to be written into the header as for a file; input of another size
    /// is an error
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) stream_size: Option<u64>,

    /// Compress so that a change of the input changes only the output near it. For rsync
    #[arg(long)]
    pub(crate) rsyncable: bool,

    /// Fail when a file decompresses to more than SIZE
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) max_output: Option<u64>,

    /// Show progress even with --quiet
    #[arg(long, overrides_with = "no_progress")]
    progress: bool,

    /// Show no progress
    #[arg(long, overrides_with = "progress")]
    no_progress: bool,

    #[command(flatten)]
    hints: Hints,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Files to process
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,
}

/// The flags that choose the operation on the files.
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

/// Options that `zstd` has and that do not change the output. Some are accepted and ignored.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = HINTS)]
struct Hints {
    /// Use one thread, as -T1
    #[arg(long, overrides_with = "threads")]
    single_thread: bool,

    /// Ignored: -T0 counts all cores that the process may use
    #[arg(long, value_name = "CORES", require_equals = true, value_parser = ["physical", "logical"])]
    auto_threads: Option<String>,

    /// Ignored: the approximate size of standard input; --stream-size gives the exact one
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    size_hint: Option<u64>,

    /// Ignored: files are written without holes
    #[arg(long)]
    sparse: bool,

    /// Write files without holes
    #[arg(long)]
    no_sparse: bool,

    /// When several threads decompress a file, write the content on another thread (the default)
    #[arg(long, overrides_with = "no_asyncio")]
    asyncio: bool,

    /// When decompressing, read and write on a thread that also decodes
    #[arg(long, overrides_with = "asyncio")]
    no_asyncio: bool,
}

/// Heading of [`Hints`] in the help.
const HINTS: &str = "Options of zstd's command line that do not change the output";

/// The options that choose the compression level.
#[derive(clap::Args, Debug)]
pub(crate) struct LevelArgs {
    /// Compression level, 1 (fast) to 19 (small), to 22 with --ultra; also `-1` to `-22`. 0 means 3
    /// [default: $ZSTD_CLEVEL, or 3]
    #[arg(long, value_name = "N", overrides_with = "fast", value_parser = clap::value_parser!(u32))]
    level: Option<u32>,

    /// Allow levels 20 to 22, which need much memory; without this option they become 19
    #[arg(long)]
    ultra: bool,

    /// Compress faster than level 1, the faster the larger N, up to 131072; --fast means --fast=1
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", overrides_with = "level", value_parser = clap::value_parser!(u32).range(1..))]
    fast: Option<u32>,
}

impl LevelArgs {
    /// The level for libzstd, reduced to the highest one that is allowed. It is negative for
    /// `--fast`.
    pub(crate) fn number(&self) -> i32 {
        let number = self.wished().clamp(-FASTEST, i64::from(self.most())) as i32;
        if number == 0 { LEVEL } else { number }
    }

    /// The level of the command line, even if it is too high.
    fn wished(&self) -> i64 {
        match (self.fast, self.level) {
            (Some(fast), _) => -i64::from(fast),
            (None, level) => level.map_or(LEVEL.into(), i64::from),
        }
    }

    fn most(&self) -> i32 {
        if self.ultra { MAX_ULTRA } else { MAX_LEVEL }
    }

    /// The remark about a level that is too high and therefore reduced.
    fn reduced(&self) -> Option<String> {
        let (wished, most) = (self.wished(), self.most());
        let allows = if self.ultra { "" } else { "; --ultra allows up to 22, which needs much memory" };
        (wished > most.into()).then(|| format!("level {wished} is too high, {most} is used{allows}"))
    }
}

/// Returns the options that the environment variables `ZSTD_CLEVEL` and `ZSTD_NBTHREADS` stand for,
/// and a remark about each value that is ignored because it is not a level or a number of threads.
pub(super) fn environment() -> (Vec<String>, Vec<String>) {
    let level = |text: &str| match text.parse::<i32>() {
        Ok(level @ 0..) => Ok(format!("--level={level}")),
        Ok(level) => Ok(format!("--fast={}", level.unsigned_abs())),
        Err(_) => Err("not a level".to_owned()),
    };
    let threads = |text: &str| threads::threads(text).map(|_| format!("--threads={text}"));
    let option = |name: &str, option: &dyn Fn(&str) -> Result<String, String>| {
        let value = env::var_os(name)?;
        let value = value.to_string_lossy();
        Some(option(&value).map_err(|error| format!("{name}={value} is ignored: {error}")))
    };
    let (mut options, mut remarks) = (Vec::new(), Vec::new());
    for found in [option("ZSTD_CLEVEL", &level), option("ZSTD_NBTHREADS", &threads)].into_iter().flatten() {
        match found {
            Ok(option) => options.push(option),
            Err(remark) => remarks.push(remark),
        }
    }
    (options, remarks)
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

    /// The number of threads of the command line; all cores if it names none.
    pub(crate) fn threads(&self) -> usize {
        if self.hints.single_thread { 1 } else { self.threads.count() }
    }

    /// The number of threads for an input of `size` bytes, `None` if the size is unknown. A small
    /// input gets one thread.
    pub(crate) fn threads_for(&self, size: Option<u64>) -> usize {
        if self.hints.single_thread { 1 } else { self.threads.count_for(size) }
    }

    /// Whether decompressed content may be written by a thread of its own.
    pub(crate) fn writes_behind(&self) -> bool {
        !self.hints.no_asyncio
    }

    /// Remarks, for the caller to print unless `-q` is given: a compression level that was reduced,
    /// and values of environment variables that were ignored.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let reduced = self.level.reduced().filter(|_| self.mode() == Mode::Compress);
        environment().1.into_iter().chain(reduced).collect()
    }

    /// Whether data that is not in zstd format is copied to standard output, as `zstdcat -f` does:
    /// with `-f`, when decompressing to there.
    pub(crate) fn passes_other_data(&self, operand_is_stdin: bool) -> bool {
        self.force && self.mode() == Mode::Decompress && self.writes_stdout(operand_is_stdin)
    }

    /// The largest window, in bytes, that a frame to decompress may need: the size of `--memory`,
    /// else 2^N for `--long=N`, else 128 MiB.
    pub(crate) fn window_limit(&self) -> u64 {
        self.memory.unwrap_or(1 << self.long.unwrap_or(WINDOW_LOG))
    }

    /// Whether the output of an operand goes to standard output. By default, output made from
    /// standard input does, and output made from a file does not.
    pub(crate) fn writes_stdout(&self, operand_is_stdin: bool) -> bool {
        match (self.mode().makes_files(), &self.output) {
            (false, _) => false,
            (_, Some(path)) => path == Path::new("-"),
            (_, None) => self.stdout || operand_is_stdin,
        }
    }

    pub(crate) fn progress(&self) -> Show {
        let quiet = !self.progress && (self.no_progress || self.verbosity.quiet);
        Show::of(quiet, self.verbosity.json)
    }
}
