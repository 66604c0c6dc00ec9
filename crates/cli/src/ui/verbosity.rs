//! How much to say.

/// What to say.
#[derive(clap::Args, Debug)]
pub(crate) struct VerbosityArgs {
    /// Print a line about what was done
    #[arg(short = 'v', long)]
    pub(crate) verbose: bool,

    /// Print no notes and no progress
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,

    /// Print JSON objects, on standard output or, if that carries data, on standard error
    #[arg(long)]
    pub(crate) json: bool,
}
