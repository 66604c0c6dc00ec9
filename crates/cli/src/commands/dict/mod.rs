//! `linerate dict`: trains and shares dictionaries; reads and writes block files and packs; reads
//! SST files.

mod blockfile;
mod build;
mod cluster;
mod get;
mod info;
mod input;
mod keys;
mod kinds;
mod pack;
mod pack_files;
mod rows;
mod samples;
mod savings;
mod scan;
mod sst;
mod sst_entries;
mod sst_file;
mod sst_report;
mod sst_savings;
mod train;
mod verify;

use std::process::ExitCode;

use clap::Subcommand;

use crate::ui::exit_code;
use crate::ui::printer::to_stderr;

const NOTES: &str = "\
Examples:
  linerate dict train --lines rows.json -o rows.dict
  linerate dict build --key id -D rows.dict rows.json -o rows.blocks
  linerate dict get rows.blocks user-17

Samples:
  Files are cut into blocks of --block bytes, as a storage engine compresses them. With --lines,
  whole lines such as JSON are gathered until they have that size; with --records, the values of
  a length-prefixed file are. --block 0 makes each file, line or value a sample. A folder means
  all files below it.

Records:
  A length-prefixed file is a sequence of records: key length, key, value length, value. Lengths
  are 32-bit little-endian numbers.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: DictCommand,
}

/// The subcommands of `linerate dict`. The source of each is a file in this folder.
#[derive(Subcommand, Debug)]
enum DictCommand {
    /// Train a dictionary from samples, of a given size or of the best size
    Train(Box<train::TrainArgs>),
    /// Train few dictionaries that many files, tenants or tables share
    Cluster(Box<cluster::ClusterArgs>),
    /// Build a sorted file of blocks from JSON lines or length-prefixed records
    Build(Box<build::BuildArgs>),
    /// Print values of a block file by their keys
    Get(Box<get::GetArgs>),
    /// Print records of a block file in the order of their keys
    Scan(Box<scan::ScanArgs>),
    /// Make, change and list packs: files of dictionaries
    Pack(Box<pack::PackArgs>),
    /// Check block files, packs and SST files
    Verify(Box<verify::VerifyArgs>),
    /// Summarize block files, packs and SST files
    Info(Box<info::InfoArgs>),
    /// List, read and check RocksDB's SST files
    Sst(Box<sst::SstArgs>),
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let result = match &args.command {
        DictCommand::Train(args) => train::run(args),
        DictCommand::Cluster(args) => cluster::run(args),
        DictCommand::Build(args) => build::run(args),
        DictCommand::Get(args) => get::run(args),
        DictCommand::Scan(args) => scan::run(args),
        DictCommand::Pack(args) => pack::run(args),
        DictCommand::Verify(args) => verify::run(args),
        DictCommand::Info(args) => info::run(args),
        DictCommand::Sst(args) => sst::run(args),
    };
    result.unwrap_or_else(|message| {
        to_stderr(format_args!("linerate: {message}"));
        ExitCode::from(exit_code::USAGE)
    })
}
