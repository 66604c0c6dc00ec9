//! The command line of `linerate zstd`.

use std::path::{Path, PathBuf};

use clap::ValueHint;

use crate::ui::output_args;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, size};

const EXAMPLES: &str = "\
Examples:
  linerate zstd -d notes.txt.zst                 make notes.txt, keep notes.txt.zst
  linerate zstd -d --rm *.zst                    delete each source once its output is on the disk
  linerate zstd -dc logs.zst | grep error        decompress to standard output
  linerate zstd -d -o tree.tar < tree.tar.zst    from standard input
  linerate zstd -d --long=31 big.tar.zst         allow windows of up to 2 GiB
  linerate zstd -d -D rows.dict row.zst          frames compressed with a dictionary
  linerate zstd -t *.zst                         check files, write nothing
  linerate zstd -l *.zst                         frames and sizes, without decompressing

Without FILE, or with `-`, standard input is read and standard output written.
SIZE is a number of bytes, or with K, M or G a multiple of 1024.";

/// Default limit of the window, 128 MiB, as in other tools.
const WINDOW_LOG: u32 = 27;
/// `--long` without a number: the default.
const LONG: &str = "27";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP), args_override_self = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) mode: ModeFlags,

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

    /// Overwrite existing files, follow links, read compressed data from a terminal
    #[arg(short = 'f', long)]
    pub(crate) force: bool,

    /// Dictionary of the frames: a trained one, or any file as raw content
    #[arg(short = 'D', long, value_name = "DICT", value_hint = ValueHint::FilePath)]
    pub(crate) dictionary: Option<PathBuf>,

    /// Allow windows of up to 2 to the power of N bytes, N from 10 to 31 [default: 27, 128 MiB]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = LONG, value_parser = clap::value_parser!(u32).range(10..=31))]
    pub(crate) long: Option<u32>,

    /// Allow windows of up to this many bytes; overrides --long
    #[arg(short = 'M', long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) memory: Option<u64>,

    /// Do not verify the checksums of frames
    #[arg(long)]
    pub(crate) no_check: bool,

    /// Fail when a file decompresses to more than this
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) max_output: Option<u64>,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Files to process
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,
}

/// What to do: one is required, since compression is not supported.
#[derive(clap::Args, Debug)]
#[group(required = true, multiple = true)]
pub(crate) struct ModeFlags {
    /// Decompress
    #[arg(short = 'd', long, visible_alias = "uncompress")]
    decompress: bool,

    /// Check that files can be decompressed; write nothing
    #[arg(short = 't', long)]
    test: bool,

    /// Print the frames and sizes of files without decompressing them
    #[arg(short = 'l', long)]
    list: bool,
}

/// What to do with the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Decompress,
    Test,
    List,
}

impl Mode {
    /// Name in `--json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Decompress => "decompress",
            Mode::Test => "test",
            Mode::List => "list",
        }
    }
}

impl Args {
    pub(crate) fn mode(&self) -> Mode {
        match (self.mode.list, self.mode.test) {
            (true, _) => Mode::List,
            (_, true) => Mode::Test,
            _ => Mode::Decompress,
        }
    }

    /// The largest window that a frame may need, in bytes.
    pub(crate) fn window_limit(&self) -> u64 {
        self.memory.unwrap_or(1 << self.long.unwrap_or(WINDOW_LOG))
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
