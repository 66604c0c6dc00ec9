//! `linerate bench`: engines beside other libraries, one shape of work at a time. Shapes, arguments and
//! records are those of the crate `linerate-bench`.

use std::process::ExitCode;

use linerate_bench::command::{self, Command};

use crate::sys::closed;
use crate::ui::exit_code;
use crate::ui::printer::to_stderr;

const NOTES: &str = "\
Contenders:
  Linerate's engines, zlib-rs, libzstd and memcpy are in every build; other libraries are with
  --features peers,system-peers. What a contender writes or decodes is checked before the clock
  runs.

Records:
  --csv FILE adds one line for each contender, with CPU, versions and command; --against RECORD
  says what changed since an earlier one was made.

Examples:
  linerate bench --list
  linerate bench bytes --corpus web --chunk 16K
  linerate bench cold --quick
  linerate bench messages --against old.csv --csv new.csv";

#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true, after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct Args {
    /// List the shapes, and what is measured of each
    #[arg(long)]
    list: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    match &args.command {
        Some(command) => measure(command),
        None => finish(command::list_shapes),
    }
}

/// Runs a subcommand, also one that is known under another name (`dict bench`, `gateway bench`).
pub(crate) fn measure(command: &Command) -> ExitCode {
    finish(|| command::run(command))
}

/// Runs what prints to standard output, unless that is closed.
fn finish(work: impl FnOnce() -> Result<(), String>) -> ExitCode {
    match closed::check_stdout().map_err(|e| format!("standard output: {e}")).and_then(|()| work()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            to_stderr(format_args!("linerate: {message}"));
            ExitCode::FAILURE
        }
    }
}

/// Adds the exit statuses, which are the program's, to the help of the shapes.
pub(crate) fn with_exit_statuses(root: clap::Command) -> clap::Command {
    let add = |shape: clap::Command| match shape.get_after_help().map(ToString::to_string) {
        Some(text) => shape.after_help(format!("{text}\n\n{}", exit_code::HELP)),
        None => shape,
    };
    root.mut_subcommands(|command| match command.get_name() {
        "bench" => command.mut_subcommands(add),
        _ => command,
    })
}
