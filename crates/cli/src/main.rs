//! The `linerate` command: one subcommand per engine.

mod commands;
mod links;
#[cfg(test)]
mod named_commands;
mod sys;
mod ui;

use std::env;
use std::ffi::OsString;
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

/// Lossless compression for servers, chat bots, detectors, storage engines and games
#[derive(Parser)]
#[command(name = "linerate", version, propagate_version = true, arg_required_else_help = true, after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure engines and settings on your data, and name the one that keeps a drive or network
    /// busy
    ///
    /// Every candidate compresses and decompresses a sample of DATA on this machine. The plan is
    /// one sentence, the command that applies the best setting to all of the data, and a table of
    /// the candidates.
    Plan(Box<plan::Args>),
    /// Compress or decompress gzip, zlib, deflate and BGZF files
    ///
    /// Without other options each FILE is replaced by FILE.gz, which keeps its mode, owner and
    /// times. The output gets its name only when it is complete, and FILE is deleted only when
    /// the output is on the disk.
    Gzip(Box<gzip::Args>),
    /// Encode and decode arrays of waveforms with Delta-Rice, and find parameters for them
    Rice(Box<rice::Args>),
    /// List, check, extract, pack and change Nx archives
    Nx(Box<nx::Args>),
    /// Compress or decompress zstd files
    ///
    /// Without other options each FILE is compressed to FILE.zst, which gets its mode, owner and
    /// times, and FILE is kept. Options and suffixes are those of `zstd`; an option that is not
    /// supported is an error that names another way. The output gets its name only when it is
    /// complete.
    Zstd(Box<zstd::Args>),
    /// Train dictionaries for small zstd blocks, store blocks and dictionaries, and read RocksDB's
    /// SST files
    Dict(Box<dict::Args>),
    /// Replay, measure, record and transcode the compressed connections of chat gateways
    Gateway(Box<gateway::Args>),
    /// Remove the temporary files of killed runs from folders
    ///
    /// A run that is killed while it writes a file may leave the incomplete file under a temporary
    /// name. Those files are removed, but never those of a process that runs on this machine.
    Clean(clean::Args),
    /// Print a completion script for a shell
    ///
    /// Bash reads the script from /usr/share/bash-completion/completions/linerate.
    Completions(pages::CompletionsArgs),
    /// Print a manual page in roff
    ///
    /// Without an argument, prints the page of `linerate` itself.
    Man(pages::ManArgs),
}

/// The description of the whole command line. The parser, the help, the manual pages and the
/// completion scripts are made from it.
fn command() -> clap::Command {
    help::lay_out(Cli::command())
}

fn main() -> ExitCode {
    let arguments = match zstd::rewrite(links::follow(env::args_os())) {
        Ok(arguments) => arguments,
        Err(message) => {
            to_stderr(format_args!("linerate: {message}"));
            return ExitCode::from(exit_code::USAGE);
        }
    };
    let code = run(parse_alone(&arguments).unwrap_or_else(|| parse(&arguments)));
    if printer::stdout_failed() { ExitCode::FAILURE } else { code }
}

/// Parses the command line with the description of its subcommand alone, since building the
/// description of all subcommands takes longer than compressing a small file. Returns `None` where
/// the whole description is needed: for help, the version, errors in the command line, and the
/// subcommands `completions` and `man`.
fn parse_alone(arguments: &[OsString]) -> Option<Command> {
    let after = arguments.get(1..)?;
    Some(match after.first()?.to_str()? {
        "plan" => Command::Plan(args_of(after)?),
        "gzip" => Command::Gzip(args_of(after)?),
        "rice" => Command::Rice(args_of(after)?),
        "nx" => Command::Nx(args_of(after)?),
        "zstd" => Command::Zstd(args_of(after)?),
        "dict" => Command::Dict(args_of(after)?),
        "gateway" => Command::Gateway(args_of(after)?),
        "clean" => Command::Clean(*args_of(after)?),
        _ => return None,
    })
}

/// Parses `arguments`, the name of a subcommand and what follows it. Returns `None` if they ask for
/// help or the version, or are wrong.
fn args_of<A: clap::Args>(arguments: &[OsString]) -> Option<Box<A>> {
    let mut matches = A::augment_args(clap::Command::new("linerate")).try_get_matches_from(arguments).ok()?;
    // `from_arg_matches` would copy the matches first.
    A::from_arg_matches_mut(&mut matches).ok().map(Box::new)
}

/// Parses the command line. If it asks for help or the version, or is wrong, prints that or the
/// error and ends the program.
fn parse(arguments: &[OsString]) -> Command {
    let matches = command().try_get_matches_from(arguments).unwrap_or_else(|e| exit(&e));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| exit(&e.format(&mut command())));
    cli.command
}

/// Prints help, the version or the error in the command line, and ends the program with status 0
/// after help or the version, 2 after an error, and 1 if standard output cannot be written. If that
/// is a closed pipe, SIGPIPE ends the program.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed_alone(line: &str) -> Option<String> {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let command = parse_alone(&arguments)?;
        let matches =
            super::command().try_get_matches_from(&arguments).expect("the whole description takes it too");
        let cli = Cli::from_arg_matches(&matches).expect("it was parsed");
        assert_eq!(std::mem::discriminant(&command), std::mem::discriminant(&cli.command), "{line}");
        matches.subcommand_name().map(str::to_owned)
    }

    #[test]
    fn every_subcommand_that_works_on_files_is_parsed_alone() {
        let lines = [
            "linerate plan a",
            "linerate gzip -6k a",
            "linerate rice info a",
            "linerate nx list a",
            "linerate zstd -d -o b a",
            "linerate dict info a",
            "linerate gateway stats a",
            "linerate clean a",
        ];
        let mut names: Vec<String> =
            lines.iter().map(|line| parsed_alone(line).unwrap_or_else(|| panic!("{line}"))).collect();
        names.extend(["completions", "man"].map(str::to_owned));
        names.sort();
        let mut wanted: Vec<String> = command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        wanted.sort();
        assert_eq!(names, wanted);
    }

    #[test]
    fn help_versions_and_errors_need_the_whole_description() {
        for line in [
            "linerate",
            "linerate gzip --help",
            "linerate zstd -V",
            "linerate nx help",
            "linerate nx pack",
            "linerate x",
        ] {
            assert!(parsed_alone(line).is_none(), "{line}");
        }
    }
}
