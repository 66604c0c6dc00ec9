//! Arguments that subcommands share: files, threads, verbosity, and where output goes.

use std::path::{Path, PathBuf};

use clap::ValueHint;
use linerate_rice::Options;

use crate::ui::output_args;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;

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

    /// Files to process; without any, or for `-`, standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
}

impl WorkArgs {
    pub(super) fn options(&self) -> Options {
        Options::new().threads(self.threads.count())
    }
}
