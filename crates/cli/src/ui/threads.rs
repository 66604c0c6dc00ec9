//! `-p`: the number of threads.

use std::sync::OnceLock;
use std::thread;

/// Help of `--threads`.
pub(crate) const HELP: &str = "Number of threads, 0 for all cores; the output does not depend on it";

#[derive(clap::Args, Debug)]
pub(crate) struct ThreadArgs {
    #[arg(short = 'p', long, value_name = "N", value_parser = threads, help = format!("{HELP} [default: 0]"))]
    threads: Option<Threads>,
}

impl ThreadArgs {
    /// Whether a number is given.
    pub(crate) fn is_given(&self) -> bool {
        self.threads.is_some()
    }

    /// The number of threads.
    pub(crate) fn count(&self) -> usize {
        self.threads.unwrap_or_default().count()
    }

    /// As [`Threads::count_for`].
    pub(crate) fn count_for(&self, size: Option<u64>) -> usize {
        self.threads.unwrap_or_default().count_for(size)
    }
}

/// Inputs up to this size, in bytes, are processed by one thread: starting another takes as long.
const ONE_THREAD: u64 = 64 << 10;

/// A number of threads as it is given: 0 for all cores.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Threads(usize);

impl Threads {
    /// The number. That of all cores is asked for once, and not before it is needed: the system has it in several files.
    pub(crate) fn count(self) -> usize {
        static CORES: OnceLock<usize> = OnceLock::new();
        match self.0 {
            0 => *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from)),
            count => count,
        }
    }

    /// The number for an input of this size in bytes, if it is known.
    pub(crate) fn count_for(self, size: Option<u64>) -> usize {
        if size.is_some_and(|size| size <= ONE_THREAD) { 1 } else { self.count() }
    }
}

/// Parses a number of threads.
pub(crate) fn threads(text: &str) -> Result<Threads, String> {
    const MAX: usize = 1024;
    match text.parse() {
        Ok(n) if n <= MAX => Ok(Threads(n)),
        Ok(_) => Err(format!("at most {MAX} threads")),
        Err(_) => Err("not a number of threads".into()),
    }
}
