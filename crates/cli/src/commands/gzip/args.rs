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
  linerate gzip -6kp4 big.tar                small, keep big.tar, use 4 threads
  tar c src | linerate gzip -p2 > src.tgz    from a pipe to a pipe
  linerate gzip -dc notes.txt.gz | less      decompress to standard output
  linerate gzip -t *.gz                      check files, write nothing
  linerate gzip --format bgzf -k reads.sam   blocks that other tools can seek in
  linerate gzip --rsyncable -k dump.sql      small changes of dump.sql change little of dump.sql.gz
  linerate gzip --index big.gz               make big.gz.gzidx, an index of big.gz
  linerate gzip -dc --range 10G+1M big.gz    1 MiB from 10 GiB on; quick with an index
  linerate gzip -c --range 1G+4K https://example.org/big.gz    of a server that has big.gz.gzidx, too

Without FILE, or with `-`, standard input is read and standard output written. With -o or -c the input
file is kept. Threads process several files at a time, and the parts of a large one; three or more
decompress any file together, and take twice the CPU time of one; a pipe only if -p is given, since they
wait for whole pieces of it. A thread's working memory is 0.5M, 7.5M at -8 and -9, beside its blocks, and
at most 24M when decompressing.
SIZE is a number of bytes, or with K, M or G a multiple of 1024.";

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

    /// Write an index beside each file, FILE.gz.gzidx, by which parts of it are decompressed alone; keep the file
    #[arg(long, conflicts_with_all = ["decompress", "test", "list", "range", "index_file"])]
    pub(crate) index: bool,

    /// Decompress LENGTH bytes of the content from the byte START on, or the rest with START+; both
    /// are SIZEs. FILE.gz.gzidx is used if it exists; otherwise what precedes is decompressed, too.
    /// FILE may be a URL that has such an index
    #[arg(long, value_name = "START+LENGTH", value_parser = size::range, conflicts_with_all = ["test", "list"])]
    pub(crate) range: Option<Range<u64>>,

    /// Decompress by this index, on several threads; with --range in place of FILE.gz.gzidx
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

    /// Overwrite existing files, follow links, use a terminal for compressed data; with -dc, pass other data through
    #[arg(short = 'f', long)]
    pub(crate) force: bool,

    /// Suffix of compressed files, in place of .gz; when decompressing, besides the known ones
    #[arg(short = 'S', long, value_name = "SUF", allow_hyphen_values = true, value_parser = suffix)]
    pub(crate) suffix: Option<String>,

    /// Process all files below directories
    #[arg(short = 'r', long, conflicts_with = "output")]
    pub(crate) recursive: bool,

    /// Do not store name and time when compressing, nor restore them when decompressing
    #[arg(short = 'n', long, overrides_with = "name")]
    pub(crate) no_name: bool,

    /// Store name and time when compressing (the default), restore them when decompressing
    #[arg(short = 'N', long, overrides_with = "no_name")]
    pub(crate) name: bool,

    /// Container; when decompressing, gzip and zlib are detected if this is not given
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatChoice>,

    /// Bytes compressed by one call, without reference to earlier ones; at most 65,280 for bgzf
    #[arg(short = 'b', long, value_name = "SIZE", default_value = "512K", value_parser = block_size)]
    pub(crate) block: usize,

    /// Let blocks refer to the 32 KiB before them: smaller output, above all with small blocks.
    /// Levels from 4 on always do; has no effect on bgzf
    #[arg(long)]
    pub(crate) history: bool,

    /// Let the content decide where blocks end, about 36K apart and at most -b, so that a change of the input
    /// changes only the output near it, for rsync
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

    /// Options of compression. The gzip header is written separately, because it may contain a name.
    pub(crate) fn options(&self, format: FormatChoice, threads: usize) -> Options {
        Options::new(format.container(), self.level.0)
            .threads(threads)
            .block_size(self.block)
            .isolated(!self.uses_history())
            .rsyncable(self.rsyncable)
            .after_header(format == FormatChoice::Gzip)
    }

    /// Whether matches cross blocks: levels from 4 on are chosen for size, and those matches are some of it.
    pub(crate) fn uses_history(&self) -> bool {
        self.history || self.level.0 >= Level::Lazy
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
        return Err("a suffix is not empty, and names no folder".into());
    }
    Ok(text.into())
}

fn block_size(text: &str) -> Result<usize, String> {
    const MAX: u64 = 1 << 30;
    match size::parse(text)? {
        0 => Err("a block has at least 1 byte".into()),
        n if n > MAX => Err("a block has at most 1G".into()),
        n => Ok(n as usize),
    }
}

/// The level, from the last of `-0` to `-9`.
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
        2 => arg.help("The default: nearly as fast, clearly smaller"),
        3 => arg.help("Slightly smaller again"),
        6 => arg.help("As small as by gzip -6; -4 and -5 are between"),
        7 => arg.help("Smaller and slower"),
        9 => arg.long("best").help("Smallest and slowest; -8 is between"),
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
