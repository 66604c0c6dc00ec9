//! `-v`, `-q` and `--json`: options of every subcommand that processes files.

/// Which messages are printed.
#[derive(clap::Args, Debug)]
pub(crate) struct VerbosityArgs {
    /// Print a line about each file that was processed
    #[arg(short = 'v', long)]
    pub(crate) verbose: bool,

    /// Print no warnings, no notes and no progress
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,

    /// Print JSON objects, one per line; on standard error if standard output carries data
    #[arg(long)]
    pub(crate) json: bool,
}
