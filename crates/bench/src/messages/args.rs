//! Arguments of `linerate-bench messages`, and the run.

use std::path::PathBuf;

use linerate_gateway::Transport;

use super::input::Input;
use super::row::Row;
use super::{BenchOptions, measure, table};
use crate::output::{OutputArgs, progress};
use linerate_gateway::traffic::Traffic;

/// Text after the options in the help.
pub const EXAMPLES: &str = "\
Examples:
  linerate-bench messages --quick                    some seconds, generated traffic
  linerate-bench messages                            3 shards of generated traffic, 2,500 connections
  linerate-bench messages traffic --rounds 15        all .msgs, .zlib and .zst files of a folder
  linerate-bench messages --csv bench.csv --svg plots shard-0.zst

Shapes:
  whole  each connection from its first message to its last, one after the other
  live   the messages of these after the guilds
  many   connections in rotation, so that the state of each is cold; with their memory
  encode  (--encode) short messages, each flushed, with windows of 0 to 32 KiB

Everything is decoded once and compared before the clock runs. The clock is the CPU time of the
thread; contenders alternate in every round, and the ratios are medians of rounds.";

/// Options of the measurement, and where the results go.
#[derive(clap::Args, Clone, Debug)]
pub struct MessagesArgs {
    /// One small shard, few rounds, 250 connections
    #[arg(long)]
    quick: bool,
    /// Connections of generated traffic [default: 3, with --quick 1]
    #[arg(long, value_name = "N", conflicts_with = "files", value_parser = clap::value_parser!(u64).range(1..=100))]
    shards: Option<u64>,
    /// Seed of the generated traffic
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "files")]
    seed: u64,
    /// Only these transports
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = transport)]
    transport: Vec<Transport>,
    /// Passes of each contender over everything [default: 9, with --quick 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: Option<u16>,
    /// Connections in rotation; 0 leaves that shape out [default: 2500, with --quick 250]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    connections: Option<u32>,
    /// Encode 2,000 live events, server-sent events and JSON rows instead, in raw deflate
    #[arg(long, conflicts_with_all = ["transport", "connections"])]
    encode: bool,
    /// The core to run on [default: the last one allowed]
    #[arg(long, value_name = "N")]
    core: Option<usize>,
    #[command(flatten)]
    output: OutputArgs,
    /// Draw the results into this folder
    #[cfg(feature = "plot")]
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Files of messages, or folders of them [default: generated traffic]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

fn transport(name: &str) -> Result<Transport, String> {
    let stream = Transport::STREAMS.into_iter().find(|transport| transport.name() == name);
    stream.ok_or_else(|| "a stream is zlib-stream or zstd-stream".into())
}

/// Measures, prints a table per shape, and writes the rows.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &MessagesArgs) -> Result<(), String> {
    let mut output = args.output.open::<Row>()?;
    progress("making traffic");
    let input = args.input()?;
    if let (Some(wanted), None) = (args.core, crate::pin(args.core)) {
        return Err(format!("cannot run on core {wanted}"));
    }
    let options = args.options();
    let rows = measure(&input, &options, progress)?;
    progress("");
    output.show(&format!("{}\n\n{}", input.name, table(&rows)))?;
    if let Some(sentence) = missing_peers() {
        output.show(&format!("\n{sentence}\n"))?;
    }
    #[cfg(feature = "plot")]
    if let Some(folder) = &args.svg {
        output.show(&format!("\n{}", super::draw::draw(&rows, folder)?))?;
    }
    output.add(rows)?;
    output.finish()
}

/// The peers left out of this build, and how to get them.
fn missing_peers() -> Option<String> {
    let peers =
        [("zlib", cfg!(feature = "zlib"), "peers"), ("zlib-ng", cfg!(feature = "zlib-ng"), "system-peers")];
    let missing: Vec<_> = peers.iter().filter(|(_, built, _)| !built).collect();
    let names: Vec<_> = missing.iter().map(|(name, ..)| *name).collect();
    let features: Vec<_> = missing.iter().map(|(_, _, feature)| *feature).collect();
    (!missing.is_empty()).then(|| {
        format!("Not in this build: {} (cargo build --features {}).", names.join(", "), features.join(","))
    })
}

impl MessagesArgs {
    fn input(&self) -> Result<Input, String> {
        if !self.files.is_empty() {
            return Input::read(&self.files);
        }
        let traffic = Traffic::new(self.seed);
        let traffic = if self.quick { traffic.guilds(20).events(700) } else { traffic };
        Input::generated(traffic, self.shards.unwrap_or(if self.quick { 1 } else { 3 }))
    }

    fn options(&self) -> BenchOptions {
        let (rounds, connections) = if self.quick { (3, 250) } else { (9, 2500) };
        let all = Transport::STREAMS.to_vec();
        BenchOptions {
            transports: if self.transport.is_empty() { all } else { self.transport.clone() },
            encode: self.encode,
            rounds: self.rounds.map_or(rounds, usize::from),
            connections: self.connections.map_or(connections, |n| n as usize),
        }
    }
}
