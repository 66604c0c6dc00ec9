//! How many threads.

use std::thread;

#[derive(clap::Args, Debug)]
pub(crate) struct ThreadArgs {
    /// Threads; 0 for as many as there are processors. The output does not depend on it
    #[arg(short = 'p', long, value_name = "N", default_value = "0", value_parser = thread_count)]
    pub(crate) threads: usize,
}

fn thread_count(text: &str) -> Result<usize, String> {
    const MOST: usize = 1024;
    match text.parse() {
        Ok(0) => Ok(thread::available_parallelism().map_or(1, usize::from)),
        Ok(n) if n <= MOST => Ok(n),
        Ok(_) => Err(format!("at most {MOST} threads")),
        Err(_) => Err("not a number of threads".into()),
    }
}
