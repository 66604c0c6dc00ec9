//! `linerate gateway`: replays, counts, records and transcodes connections of chat gateways.

mod decode;
mod decoder;
mod generate;
mod live;
mod peer_decoder;
mod record;
mod recording_writer;
mod replay;
mod serve;
mod session_args;
mod sets;
mod sets_of_files;
mod stats;
mod stream;
#[cfg(feature = "remote")]
mod tls;
mod transcode;
mod wire;

use std::process::ExitCode;

use clap::Subcommand;

use crate::ui::exit_code;
use crate::ui::printer::to_stderr;

const NOTES: &str = "\
Examples:
  linerate gateway replay shard-0.zst
  linerate gateway stats shard-0.zst
  linerate gateway transcode --to zstd-stream shard-0.zlib -o shard-0.zst

Files:
  A file holds length-prefixed messages (lengths are 32-bit little-endian numbers), which are
  payloads or compressed payloads, in order from the beginning of a connection. A recording also
  has times and may have several connections. The kind of a file is detected by its first
  bytes.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: GatewayCommand,
}

/// The subcommands of `linerate gateway`. The source of each is a file in this folder.
#[derive(Subcommand, Debug)]
enum GatewayCommand {
    /// Decode and check connections, and name the first bad message
    Replay(Box<replay::ReplayArgs>),
    /// Count messages by size, opcode and event, and compare zlib with zstd
    Stats(Box<stats::StatsArgs>),
    /// Make recordings from files, from standard input and from live gateways
    Record(Box<record::RecordArgs>),
    /// Compress connections with another transport, or write their payloads
    Transcode(Box<transcode::TranscodeArgs>),
    /// Generate synthetic traffic: seeded JSON messages, and their compressed connections
    Generate(Box<generate::GenerateArgs>),
    /// Serve a gateway on 127.0.0.1 for tests of clients, with scripted errors
    Serve(Box<serve::ServeArgs>),
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let result = match &args.command {
        GatewayCommand::Replay(args) => replay::run(args),
        GatewayCommand::Stats(args) => Ok(stats::run(args)),
        GatewayCommand::Record(args) => record::run(args),
        GatewayCommand::Transcode(args) => Ok(transcode::run(args)),
        GatewayCommand::Generate(args) => Ok(generate::run(args)),
        GatewayCommand::Serve(args) => serve::run(args),
    };
    result.unwrap_or_else(|message| {
        to_stderr(format_args!("linerate: {message}"));
        ExitCode::from(exit_code::USAGE)
    })
}
