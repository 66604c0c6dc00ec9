//! The command line of `linerate gzip`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{ArgAction, ArgMatches, ValueEnum, ValueHint};
use linerate_deflate::parallel::{Container, Options};
use linerate_deflate::{Format, Level};

use crate::ui::output_args;
use crate::ui::session::Mode;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, size};

const EXAMPLES: &str = "\
Examples:
  linerate gzip notes.txt                    make notes.txt.gz, delete notes.txt
  linerate gzip -6kp4 big.tar                level 6, keep big.tar, use 4 threads
  tar c src | linerate gzip -p2 > src.tgz    from a pipe to a pipe
  linerate gzip -dc notes.txt.gz | less      decompress to standard output
  linerate gzip -t *.gz                      check files, write nothing
  linerate gzip --format bgzf -k reads.sam   make BGZF blocks, for tools that seek in them
  linerate gzip --rsyncable -k dump.sql      rsync then sends little after small changes
  linerate gzip --index big.gz               make big.gz.gzidx, an index of big.gz
  linerate gzip -dc --range 10G+1M big.gz    print 1 MiB at 10 GiB; an index makes this fast
  linerate gzip -c --range 1G+4K https://example.org/big.gz    the server also has big.gz.gzidx

Without FILE, or if FILE is `-`, standard input is read and standard output written. With -o or -c the
input file is kept.

Threads process several files at a time, and parts of a large file. Three or more threads decompress any
file of more than 512K together, which takes 1.3 to 2.4 times the CPU time of one thread. They decompress
a pipe only if -p is given, since they wait for large pieces of it. Each thread needs 0.5M of working
memory (7.5M at -8 and -9) besides its blocks. When decompressing, it needs at most 24M, and all together
another 64M.

SIZE is a number of bytes. With K, M or G it is a multiple of 1024, 1024^2 or 1024^3.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP), args_override_self = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) level: LevelChoice,

    /// Decompress
    #[arg(short = 'd', long, visible_alias = "uncompress")]
    pub(crate) decompress: bool,

    /// Check that files can be decompressed; write nothing
    #[arg(short = 't', long)]
    pub(crate) test: bool,

    /// Decompress, write nothing, and print sizes
    #[arg(short = 'l', long)]
    pub(crate) list: bool,

    /// Decompress, write nothing but an index beside each file, FILE.gz.gzidx, and keep the file.
    /// With the index, parts of the file can be decompressed alone
    #[arg(long, conflicts_with_all = ["decompress", "test", "list", "range", "index_file"])]
    pub(crate) index: bool,

    /// Decompress LENGTH bytes of the content, beginning at byte START, or all from START with
    /// START+. Both are SIZEs. If FILE.gz.gzidx exists, decompression begins at most about 4M
    /// before START, otherwise at the beginning of FILE. FILE may be a URL with such an index
    /// beside it
    #[arg(long, value_name = "START+LENGTH", value_parser = size::range, conflicts_with_all = ["test", "list"])]
    pub(crate) range: Option<Range<u64>>,

    /// Use this index to decompress on several threads; with --range, use it instead of
    /// FILE.gz.gzidx
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) index_file: Option<PathBuf>,

    /// Write to standard output and keep the input files
    #[arg(short = 'c', long, visible_alias = "to-stdout", conflicts_with = "output")]
    pub(crate) stdout: bool,

    #[arg(short = 'o', long, value_name = "FILE", help = output_args::STREAM, value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Keep the input files
    #[arg(short = 'k', long)]
    pub(crate) keep: bool,

    /// Overwrite existing files, follow links, read and write compressed data on a terminal; with
    /// -dc, copy data in other formats unchanged
    #[arg(short = 'f', long)]
    pub(crate) force: bool,

    /// Suffix of compressed files instead of .gz; when decompressing, an additional one
    #[arg(short = 'S', long, value_name = "SUF", allow_hyphen_values = true, value_parser = suffix)]
    pub(crate) suffix: Option<String>,

    /// Process all files below directories
    #[arg(short = 'r', long, conflicts_with = "output")]
    pub(crate) recursive: bool,

    /// Do not store name and time when compressing; do not restore them when decompressing
    #[arg(short = 'n', long, overrides_with = "name")]
    pub(crate) no_name: bool,

    /// Store name and time when compressing (the default), restore them when decompressing
    #[arg(short = 'N', long, overrides_with = "no_name")]
    pub(crate) name: bool,

    /// Format of the compressed data; without this option, decompressing detects gzip and zlib by
    /// the content, and deflate by the suffix
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatChoice>,

    /// Size of a block, which one thread compresses; at most 65,280 bytes with bgzf
    #[arg(short = 'b', long, value_name = "SIZE", default_value = "512K", value_parser = block_size)]
    pub(crate) block: usize,

    /// Let blocks refer to the 32 KiB before them, which makes the output smaller, above all with
    /// small blocks. Levels 4 to 9 always do this; bgzf never does
    #[arg(long)]
    pub(crate) history: bool,

    /// End blocks where the content decides, about every 36K and at the latest after -b bytes (64K
    /// if -b is less), so that a change of the input changes only the output near it. For rsync
    #[arg(long)]
    pub(crate) rsyncable: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    /// Fail when a file decompresses to more than this
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) max_output: Option<u64>,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Files to process
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatChoice {
    /// RFC 1952, suffix .gz
    Gzip,
    /// RFC 1950, suffix .zz
    Zlib,
    /// RFC 1951 without container or checksum, suffix .deflate
    Deflate,
    /// gzip in independent blocks (SAM specification), suffix .gz
    Bgzf,
}

impl FormatChoice {
    pub(crate) fn container(self) -> Container {
        match self {
            FormatChoice::Gzip => Format::Gzip.into(),
            FormatChoice::Zlib => Format::Zlib.into(),
            FormatChoice::Deflate => Format::Deflate.into(),
            FormatChoice::Bgzf => Container::Bgzf,
        }
    }

    /// Name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            FormatChoice::Gzip => "gzip",
            FormatChoice::Zlib => "zlib",
            FormatChoice::Deflate => "deflate",
            FormatChoice::Bgzf => "bgzf",
        }
    }
}

impl Args {
    pub(crate) fn mode(&self) -> Mode {
        match (self.list, self.test, self.decompress || self.range.is_some()) {
            _ if self.index => Mode::Index,
            (true, _, _) => Mode::List,
            (_, true, _) => Mode::Test,
            (_, _, true) => Mode::Decompress,
            _ => Mode::Compress,
        }
    }

    /// Options of compression. The header of the format `gzip` is written separately, because it
    /// may contain the name of the file.
    pub(crate) fn options(&self, format: FormatChoice, threads: usize) -> Options {
        Options::new(format.container(), self.level.0)
            .threads(threads)
            .block_size(self.block)
            .isolated(!self.uses_history())
            .rsyncable(self.rsyncable)
            .after_header(format == FormatChoice::Gzip)
    }

    /// Whether blocks refer to the content before them: `--history`, or a level that always does.
    pub(crate) fn uses_history(&self) -> bool {
        self.history || self.level.0.uses_history()
    }

    /// Whether an operand's output goes to standard output.
    pub(crate) fn writes_stdout(&self, operand_is_stdin: bool) -> bool {
        match (self.mode(), &self.output) {
            (Mode::Test | Mode::List, _) => false,
            (_, Some(path)) => path == Path::new("-"),
            (_, None) => self.stdout || operand_is_stdin,
        }
    }
}

fn suffix(text: &str) -> Result<String, String> {
    if text.is_empty() || text.chars().any(std::path::is_separator) {
        return Err("a suffix must not be empty or contain a slash".into());
    }
    Ok(text.into())
}

fn block_size(text: &str) -> Result<usize, String> {
    const MAX: u64 = 1 << 30;
    match size::parse(text)? {
        0 => Err("a block must have at least 1 byte".into()),
        n if n > MAX => Err("a block may have at most 1G".into()),
        n => Ok(n as usize),
    }
}

/// The level: the last of the flags `-0` to `-9`, or the default level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelChoice(pub(crate) Level);

const LEVEL_FLAGS: [&str; 10] =
    ["level0", "level1", "level2", "level3", "level4", "level5", "level6", "level7", "level8", "level9"];

fn level_flag(n: usize) -> clap::Arg {
    let digit = (b'0' + n as u8) as char;
    let arg = clap::Arg::new(LEVEL_FLAGS[n]).short(digit).action(ArgAction::SetTrue);
    let arg = arg.overrides_with_all(LEVEL_FLAGS);
    match n {
        0 => arg.help("Store: checksums and framing only"),
        1 => arg.long("fast").help("Fastest compression"),
        2 => arg.help("Nearly as fast as -1, clearly smaller (the default)"),
        3 => arg.help("Slightly smaller than -2"),
        6 => arg.help("As small as gzip -6; -4 and -5 are between -3 and -6"),
        7 => arg.help("Smaller and slower than -6"),
        9 => arg.long("best").help("Smallest and slowest; -8 is between -7 and -9"),
        _ => arg.hide(true),
    }
}

impl clap::Args for LevelChoice {
    fn augment_args(command: clap::Command) -> clap::Command {
        (0..LEVEL_FLAGS.len()).fold(command, |command, n| command.arg(level_flag(n)))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for LevelChoice {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = LEVEL_FLAGS.iter().position(|flag| matches.get_flag(flag));
        Ok(LevelChoice(given.map_or(Level::default(), |n| Level::ALL[n])))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
