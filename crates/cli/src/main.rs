//! The `linerate` command: one subcommand per engine.

mod commands;
#[cfg(test)]
mod named_commands;
mod sys;
mod ui;

use std::env;
use std::io::{self, Write};
use std::process::{self, ExitCode};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use self::commands::{clean, dict, gateway, gzip, nx, pages, plan, rice, zstd};
use self::sys::closed;
use self::ui::error::CliError;
use self::ui::printer::{self, to_stderr};
use self::ui::{exit_code, help, signals};

const EXAMPLES: &str = "\
Examples:
  linerate plan mods                         which settings load this folder fastest from a drive
  linerate gzip -3k notes.txt                make notes.txt.gz, keep notes.txt
  linerate rice encode run7.npy              make run7.rice
  linerate nx pack mods -o mods.nx           an archive of a folder
  linerate zstd -19 notes.txt                make notes.txt.zst, keep notes.txt
  linerate dict train --lines rows.json -o rows.dict
  linerate man gzip | man -l -               the manual page of a subcommand";

/// Compression for data paths that have a speed to keep
#[derive(Parser)]
#[command(name = "linerate", version, propagate_version = true, arg_required_else_help = true, after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure engines and settings on your data, and say which one saturates a drive or network
    ///
    /// A sample of DATA is compressed and decompressed by every candidate on this machine. The plan is one
    /// sentence, the command that applies the winner to all of the data, and a table of the candidates.
    Plan(Box<plan::Args>),
    /// Compress or decompress gzip, zlib, deflate and BGZF files
    ///
    /// Without other options each FILE is replaced by FILE.gz, which keeps its mode, owner and
    /// times. The output appears under its name only when it is complete, and the source is
    /// deleted only when the output has reached the disk.
    Gzip(Box<gzip::Args>),
    /// Encode or decode arrays of waveforms with Delta-Rice, and find parameters for them
    Rice(Box<rice::Args>),
    /// List, check, extract, pack and change Nx archives
    Nx(Box<nx::Args>),
    /// Compress or decompress zstd files
    ///
    /// Without other options each FILE is compressed to FILE.zst, which gets its mode, owner and times, and FILE is
    /// kept. Options and suffixes are those of `zstd`. The output appears under its name only when it is complete.
    Zstd(Box<zstd::Args>),
    /// Train dictionaries for small zstd blocks, store blocks and dictionaries, and read RocksDB's SST files
    Dict(Box<dict::Args>),
    /// Replay, measure, record and transcode the compressed connections of chat gateways
    Gateway(Box<gateway::Args>),
    /// Remove temporary files that killed runs left below folders
    ///
    /// A run that is killed while it writes a file may leave what it has written under a temporary name.
    /// Those files are removed, never those of a running process.
    Clean(clean::Args),
    /// Print a completion script for a shell
    Completions(pages::CompletionsArgs),
    /// Print a manual page in roff
    Man(pages::ManArgs),
}

/// The description of the command line: source of the parser, the help and the manual pages.
fn command() -> clap::Command {
    help::lay_out(Cli::command())
}

fn main() -> ExitCode {
    let arguments = match zstd::rewrite(env::args_os()) {
        Ok(arguments) => arguments,
        Err(message) => {
            to_stderr(format_args!("linerate: {message}"));
            return ExitCode::from(exit_code::USAGE);
        }
    };
    let matches = command().try_get_matches_from(arguments).unwrap_or_else(|e| exit(&e));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| exit(&e.format(&mut command())));
    let code = run(cli.command);
    if printer::stdout_failed() { ExitCode::FAILURE } else { code }
}

/// Prints help, the version or what is wrong with the command line, and ends the program.
fn exit(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        let printed = closed::check_stdout().and_then(|()| error.print()).and_then(|()| io::stdout().flush());
        match printed.map_err(CliError::stdout_write) {
            Ok(()) => {}
            Err(CliError::ClosedPipe) => signals::exit_by_sigpipe(),
            Err(error) => {
                to_stderr(format_args!("linerate: {error}"));
                process::exit(1);
            }
        }
        process::exit(0);
    }
    error.exit()
}

fn run(command: Command) -> ExitCode {
    match command {
        Command::Plan(args) => plan::run(&args),
        Command::Gzip(args) => gzip::run(&args),
        Command::Rice(args) => rice::run(&args),
        Command::Nx(args) => nx::run(&args),
        Command::Zstd(args) => zstd::run(&args),
        Command::Dict(args) => dict::run(&args),
        Command::Gateway(args) => gateway::run(&args),
        Command::Clean(args) => clean::run(&args),
        Command::Completions(args) => pages::completions(&args),
        Command::Man(args) => pages::man(&args),
    }
}
