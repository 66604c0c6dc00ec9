//! Arguments that subcommands share: files, threads, verbosity, and where output goes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;

use super::names;
use super::operand::Job;
use crate::ui::error::CliError;
use crate::ui::operands::{Arguments, Operand};
use crate::ui::output_file::{FinishedOutput, Work};
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{output_args, session};

/// Where output goes.
#[derive(clap::Args, Debug)]
pub(super) struct TargetArgs {
    #[arg(short = 'o', long, value_name = "FILE", help = output_args::STREAM, value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    pub(super) force: bool,
}

impl TargetArgs {
    /// Whether an operand's output goes to standard output.
    pub(super) fn is_stdout(&self, operand_is_stdin: bool) -> bool {
        match &self.output {
            Some(path) => path == Path::new("-"),
            None => operand_is_stdin,
        }
    }
}

/// The files to process, the number of threads, and the messages.
#[derive(clap::Args, Debug)]
pub(super) struct WorkArgs {
    #[command(flatten)]
    pub(super) threads: ThreadArgs,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// Also process the files below folders: .npy and .wav files to encode, with --v1 and to tune
    /// only .npy files, else .rice and .drc files
    #[arg(short, long)]
    pub(super) recursive: bool,

    /// Files to process; without any, or for `-`, standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
}

impl WorkArgs {
    /// Processes the operands on up to `threads` threads, and reports the result of each, in order.
    /// Of the files below folders, only those with one of `suffixes` are operands. With
    /// `stdout_is_data`, one thread does all the work.
    pub(super) fn process_each(
        &self,
        suffixes: &[&str],
        threads: impl Fn() -> usize,
        stdout_is_data: bool,
        process: impl Fn(&Job<'_>) -> Result<(RunSummary, FinishedOutput), CliError> + Sync,
    ) -> ExitCode {
        let arguments = Arguments {
            files: &self.files,
            recursive: self.recursive,
            without_suffix: &names::without_suffix,
        };
        let work = |operand: &Operand, alone| {
            let is_other = |path| !names::has_suffix(path, suffixes);
            let result = match operand {
                Operand::Found(path) if is_other(path) => Ok(None),
                _ => process(&Job { operand, args: self, alone }).map(|(mut summary, output)| {
                    summary.stop();
                    Some((summary, output))
                }),
            };
            Work { name: operand.name(), result }
        };
        let mut reporter = Reporter::new(&self.verbosity, stdout_is_data);
        session::process_each(threads, stdout_is_data, &arguments, work, |name, result| {
            if let Some(result) = result.transpose() {
                reporter.report(&name, result.map(|(summary, _)| summary));
            }
        });
        reporter.code()
    }
}
