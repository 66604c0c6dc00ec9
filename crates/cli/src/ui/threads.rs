//! `--threads`: the number of threads. The short option is `-p`, in `linerate zstd` `-T`.

use std::sync::OnceLock;
use std::thread;

use clap::ArgMatches;
use clap::parser::ValueSource;

/// Help of `--threads`.
pub(crate) const HELP: &str = "Number of threads, 0 for all cores; the output does not depend on it";

/// The option `-p`, `--threads`.
#[derive(Debug)]
pub(crate) struct ThreadArgs {
    threads: Threads,
    is_given: bool,
}

impl ThreadArgs {
    /// Whether the command line gives a number of threads.
    pub(crate) fn is_given(&self) -> bool {
        self.is_given
    }

    /// The number of threads, at least 1. As [`Threads::count`].
    pub(crate) fn count(&self) -> usize {
        self.threads.count()
    }

    /// The number of threads for an input of `size` bytes, at least 1. As [`Threads::count_for`].
    pub(crate) fn count_for(&self, size: Option<u64>) -> usize {
        self.threads.count_for(size)
    }
}

/// The long name of the option.
const THREADS: &str = "threads";

// `derive` cannot distinguish the default from the same number on the command line, so this and the
// next implementation are written by hand.
impl clap::Args for ThreadArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        let arg = clap::Arg::new(THREADS).short('p').long(THREADS).value_name("N").help(HELP);
        command.arg(arg.default_value("0").value_parser(threads))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for ThreadArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let threads = matches.get_one(THREADS).copied().unwrap_or(Threads(0));
        let is_given = matches.value_source(THREADS) == Some(ValueSource::CommandLine);
        Ok(ThreadArgs { threads, is_given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Inputs up to this size, in bytes, are processed by one thread: starting another takes as long as
/// processing them.
const ONE_THREAD: u64 = 64 << 10;

/// A number of threads as the command line gives it: 0 for all cores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads(usize);

impl Threads {
    /// The number of threads, at least 1. The number of cores is looked up once, and only when it
    /// is needed, since Linux keeps it in several files.
    pub(crate) fn count(self) -> usize {
        static CORES: OnceLock<usize> = OnceLock::new();
        match self.0 {
            0 => *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from)),
            count => count,
        }
    }

    /// The number of threads for an input of `size` bytes, `None` if that is unknown: 1 for up to
    /// 64 KiB, else as [`count`](Self::count).
    pub(crate) fn count_for(self, size: Option<u64>) -> usize {
        if size.is_some_and(|size| size <= ONE_THREAD) { 1 } else { self.count() }
    }
}

/// Parses a number of threads, from 0 to 1024.
pub(crate) fn threads(text: &str) -> Result<Threads, String> {
    const MAX: usize = 1024;
    match text.parse() {
        Ok(n) if n <= MAX => Ok(Threads(n)),
        _ => Err(format!("not a number from 0 to {MAX}")),
    }
}
