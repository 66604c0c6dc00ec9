//! `linerate-bench`: engines beside other libraries, one shape of work at a time.

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use linerate_bench::command::{self, Command};

const NOTES: &str = "\
Contenders:
  Linerate's engines, zlib-rs, libzstd and memcpy are in every build; other libraries are with
  --features peers,system-peers. What a contender writes or decodes is checked before the clock
  runs.

Records:
  --csv FILE adds one line for each contender, with CPU, versions and command; --against RECORD
  says what changed since an earlier one was made.

Examples:
  linerate-bench --list
  linerate-bench bytes --corpus web --chunk 16K
  linerate-bench cold --quick
  linerate-bench messages --against old.csv --csv new.csv";

/// Measures Linerate's engines beside other libraries, one shape of work at a time.
#[derive(Parser, Debug)]
#[command(name = "linerate-bench", version, arg_required_else_help = true, args_conflicts_with_subcommands = true, after_help = NOTES)]
struct Cli {
    /// List the shapes, and what is measured of each
    #[arg(long)]
    list: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Some(command) => command::run(&command),
        None => command::list_shapes(&Cli::command()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("linerate-bench: {message}");
            ExitCode::FAILURE
        }
    }
}
