//! Arguments, messages, exit statuses, progress, input and output that the subcommands share.

pub(crate) mod columns;
#[cfg(test)]
mod contract;
pub(crate) mod error;
pub(crate) mod exit_code;
pub(crate) mod format;
pub(crate) mod help;
pub(crate) mod input;
pub(crate) mod inputs;
pub(crate) mod operands;
pub(crate) mod output;
pub(crate) mod output_args;
pub(crate) mod output_file;
pub(crate) mod printer;
pub(crate) mod progress;
pub(crate) mod remote;
pub(crate) mod reporter;
pub(crate) mod session;
pub(crate) mod signals;
pub(crate) mod size;
pub(crate) mod stdout;
pub(crate) mod summary;
pub(crate) mod threads;
pub(crate) mod verbosity;
pub(crate) mod wait;
pub(crate) mod walk;
pub(crate) mod write_behind;
