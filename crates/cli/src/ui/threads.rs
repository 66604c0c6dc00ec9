//! `-p`: the number of threads.

use std::thread;

/// Help of `--threads`.
pub(crate) const HELP: &str = "Number of threads, 0 for all cores; the output does not depend on it";

#[derive(clap::Args, Debug)]
pub(crate) struct ThreadArgs {
    #[arg(short = 'p', long, value_name = "N", default_value = "0", value_parser = thread_count, help = HELP)]
    pub(crate) threads: usize,
}

/// Parses a number of threads.
pub(crate) fn thread_count(text: &str) -> Result<usize, String> {
    const MAX: usize = 1024;
    match text.parse() {
        Ok(0) => Ok(thread::available_parallelism().map_or(1, usize::from)),
        Ok(n) if n <= MAX => Ok(n),
        Ok(_) => Err(format!("at most {MAX} threads")),
        Err(_) => Err("not a number of threads".into()),
    }
}
