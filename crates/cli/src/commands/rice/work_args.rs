//! Arguments that subcommands share: files, threads, verbosity, and where output goes.

use std::path::{Path, PathBuf};

use clap::ValueHint;
use linerate_rice::Options;

use super::names;
use super::operand::Operand;
use crate::ui::error::CliError;
use crate::ui::output_args;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::walk;

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
    /// The operands; with `-r` each folder is replaced by the files below it that have one of these
    /// suffixes. A folder that cannot be read is returned with its error.
    pub(super) fn operands(&self, suffixes: &[&str]) -> Vec<Result<Operand, (String, CliError)>> {
        let is_folder = |path: &&PathBuf| self.recursive && path.is_dir();
        let below = |folder: &PathBuf| -> Vec<_> {
            let files = walk::files_below(folder).filter(|found| match found {
                Ok(path) => names::has_suffix(path, suffixes),
                Err(_) => true,
            });
            let operand = |found: walk::Found| match found {
                Ok(path) => Ok(Operand::Named(path)),
                Err((folder, error)) => Err((folder.display().to_string(), error)),
            };
            files.map(operand).collect()
        };
        let mut operands = Vec::new();
        for path in &self.files {
            match is_folder(&path) {
                true => operands.extend(below(path)),
                false => operands.push(Ok(Operand::of(path))),
            }
        }
        if self.files.is_empty() {
            operands.push(Ok(Operand::Stdin));
        }
        operands
    }

    pub(super) fn options(&self) -> Options {
        Options::new().threads(self.threads.count())
    }
}
