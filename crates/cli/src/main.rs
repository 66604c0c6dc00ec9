//! The `linerate` command: one subcommand per engine.

mod account;
mod dict;
mod done;
mod exit;
mod failure;
mod figures;
mod gateway;
mod gzip;
mod input;
mod kernel;
mod lines;
mod nx;
mod output;
mod pages;
mod place;
mod progress;
mod report;
mod rice;
mod say;
mod signals;
mod size;
mod target;
mod threads;
mod zstd;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Compression for data paths that have a speed to keep
#[derive(Parser)]
#[command(name = "linerate", version, propagate_version = true, arg_required_else_help = true, after_help = exit::HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
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
    /// Decompress, check and list zstd files
    Zstd(Box<zstd::Args>),
    /// Train dictionaries for small zstd blocks, keep them and the blocks, and read RocksDB's SST files
    Dict(Box<dict::Args>),
    /// Replay, count, record and compress anew what chat gateways send over one connection
    Gateway(Box<gateway::Args>),
    /// Print a completion script for a shell
    Completions(pages::CompletionsArgs),
    /// Print a manual page in roff
    Man(pages::ManArgs),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Gzip(args) => gzip::run(&args),
        Command::Rice(args) => rice::run(&args),
        Command::Nx(args) => nx::run(&args),
        Command::Zstd(args) => zstd::run(&args),
        Command::Dict(args) => dict::run(&args),
        Command::Gateway(args) => gateway::run(&args),
        Command::Completions(args) => pages::completions(&args),
        Command::Man(args) => pages::man(&args),
    }
}
