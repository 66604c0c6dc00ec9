//! `linerate gateway generate`: writes synthetic traffic.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use linerate_gateway::{Encoder, Transport, write_message};
use linerate_gateway_sim::traffic::Traffic;
use serde_json::{Value, json};

use super::wire::fault;
use crate::ui::error::CliError;
use crate::ui::format::{ratio, rounded};
use crate::ui::output::Output;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, output_args, size};

const EXAMPLES: &str = "\
Examples:
  linerate gateway generate -o traffic                           traffic/shard-0.msgs, .zlib, .zst
  linerate gateway generate --shards 10 --seed 7 -o traffic
  linerate gateway generate --guilds 4 --events 300 -o small

Content:
  A connection has HELLO, READY, a GUILD_CREATE for each guild, then live events: 38 %
  MESSAGE_CREATE, 40 % PRESENCE_UPDATE, 8 % TYPING_START, 5 % MESSAGE_REACTION_ADD, 4 %
  GUILD_MEMBER_UPDATE, 4 % VOICE_STATE_UPDATE, 1 % acknowledged heartbeats. The .msgs files are
  the same on every machine. All content is synthetic, so compression ratios only resemble those
  of real traffic.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct GenerateArgs {
    /// Number of connections
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    shards: u64,

    /// Seed of the random generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Number of guilds of each connection
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u64).range(..=Traffic::MAX_GUILDS as u64))]
    guilds: u64,

    /// Number of live events of each connection; K and M mean thousands and millions
    #[arg(long, value_name = "N", default_value_t = 2500, value_parser = size::count(0..=100_000_000))]
    events: u64,

    #[arg(short = 'o', long, value_name = "FOLDER", help = output_args::FOLDER, value_parser = output_args::path(), value_hint = ValueHint::DirPath)]
    output: PathBuf,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    force: bool,

    #[command(flatten)]
    verbosity: VerbosityArgs,
}

pub(crate) fn run(args: &GenerateArgs) -> ExitCode {
    Reporter::new(&args.verbosity, false).one(&args.output, |reporter| process(args, reporter))
}

/// Suffix and transport of the three files of each connection. They are written one after the
/// other, so that a signal that ends the program discards at most one unfinished file.
const FORMS: [(&str, Option<Transport>); 3] =
    [("msgs", None), ("zlib", Some(Transport::Zlib)), ("zst", Some(Transport::Zstd))];

fn process(args: &GenerateArgs, reporter: &Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.output, "generate");
    let traffic = Traffic::new(args.seed).guilds(args.guilds as usize).events(args.events as usize);
    fs::create_dir_all(&args.output).map_err(CliError::io("cannot create the folder"))?;
    let mut bar = reporter.step("generating", None);
    let mut shards = Vec::new();
    for index in 0..args.shards {
        let mut bytes = [0; FORMS.len()];
        for ((form, transport), bytes) in FORMS.into_iter().zip(&mut bytes) {
            let path = args.output.join(format!("shard-{index}.{form}"));
            *bytes = write(&traffic, index, transport, &path, args.force)
                .map_err(|e| e.in_file(&path.display().to_string()))?;
            summary.bytes += *bytes;
            bar.update(summary.bytes);
        }
        let messages = traffic.shard(index).len();
        summary.lines.push(line(index, messages, bytes));
        shards.push(object(index, messages, bytes));
    }
    summary.text = Some(format!("{} shards", args.shards));
    summary.set("seed", args.seed);
    summary.set("shards", shards);
    Ok(summary)
}

fn line(index: u64, messages: usize, [payload, zlib, zstd]: [u64; 3]) -> String {
    format!(
        "shard-{index}: {messages} messages, {payload} bytes; zlib-stream {zlib}, ratio {:.3}; zstd-stream \
         {zstd}, ratio {:.3}",
        ratio(payload, zlib),
        ratio(payload, zstd)
    )
}

fn object(index: u64, messages: usize, [payload, zlib, zstd]: [u64; 3]) -> Value {
    json!({
        "name": format!("shard-{index}"),
        "messages": messages,
        "payload_bytes": payload,
        "zlib_bytes": zlib,
        "zlib_ratio": rounded(payload, zlib),
        "zstd_bytes": zstd,
        "zstd_ratio": rounded(payload, zstd),
    })
}

/// Writes the messages of one connection, compressed or not. Returns their bytes, without the
/// lengths before them.
fn write(
    traffic: &Traffic,
    index: u64,
    transport: Option<Transport>,
    path: &Path,
    force: bool,
) -> Result<u64, CliError> {
    let mut encoder = transport.map(Encoder::new).transpose().map_err(fault)?;
    let mut out = BufWriter::with_capacity(256 << 10, Output::at(path, force)?);
    let mut wire = Vec::new();
    let mut bytes = 0;
    for payload in traffic.shard(index) {
        let message = match &mut encoder {
            None => &payload,
            Some(encoder) => {
                wire.clear();
                encoder.message(&payload, &mut wire).map_err(fault)?;
                &wire
            }
        };
        bytes += message.len() as u64;
        write_message(&mut out, message).map_err(|error| out.get_ref().error(error))?;
    }
    out.flush().map_err(|error| out.get_ref().error(error))?;
    let (output, _) = out.into_parts();
    output.commit()?;
    Ok(bytes)
}
