//! Measures Linerate's engines against their peers. `docs/reference/bench.md` says how.

use std::process::ExitCode;

use clap::Parser;
use linerate_bench::command::{Command, run};

/// Measure Linerate's engines against their peers
#[derive(Parser)]
#[command(name = "linerate-bench", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    match run(&Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("linerate-bench: {message}");
            ExitCode::FAILURE
        }
    }
}
