//! The shape "messages": compressed gateway connections decoded message by message, in CPU time of
//! one thread.
//!
//! | mode | what is timed |
//! |---|---|
//! | `whole` | each connection from its first message to its last, one after the other |
//! | `live` | the same, but only the messages after the guilds are timed |
//! | `many` | open connections in rotation, so that the state of each is cold; also their memory |
//!
//! `messages-encode` times encoding of short flushed messages, and `messages-resident` measures the
//! memory of connections in a separate process.

pub mod day;
mod decoders;
mod encoding;
mod input;
mod many;

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use linerate_candidates::{cpu_time, thread_time};
use linerate_gateway::Transport;
use linerate_gateway_sim::traffic::Traffic;

use self::decoders::{CONTENDERS, Contender as Entry, Decoder, Shared, base};
pub use self::input::{Connection, Input};
use crate::harness::{Common, Contender, Rounds, Spent, measure as harness, process, progress, row, same};
use crate::kernel::os::resident;
use crate::records::Measurement;

/// Options of `linerate-bench messages`.
#[derive(Args, Clone, Debug)]
pub struct MessagesArgs {
    /// Connections of generated traffic [default: 3, with --quick 1]
    #[arg(long, value_name = "N", conflicts_with = "files", value_parser = clap::value_parser!(u64).range(1..=100))]
    shards: Option<u64>,
    /// Seed of the generated traffic
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "files")]
    seed: u64,
    /// Measure only these transports
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = transport)]
    transport: Vec<Transport>,
    /// Connections in rotation; 0 leaves that mode out [default: 2500, with --quick 250]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    connections: Option<u32>,
    /// Encode instead of decoding: up to 2,000 live events, 2,000 server-sent events and 2,000 JSON
    /// rows, in raw deflate, by one connection and by many in rotation
    #[arg(long, conflicts_with_all = ["transport", "resident"])]
    encode: bool,
    /// Measure memory instead of speed: connections after up to 30 messages, each contender in its
    /// own process
    #[arg(long, conflicts_with_all = ["shards", "seed", "rounds"])]
    resident: bool,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Files of messages, or folders of them [default: generated traffic]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

fn transport(name: &str) -> Result<Transport, String> {
    let stream = Transport::STREAMS.into_iter().find(|transport| transport.name() == name);
    stream.ok_or_else(|| "must be zlib-stream or zstd-stream".into())
}

/// Measures decoding, or with `--encode` encoding, or with `--resident` memory.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &MessagesArgs) -> Result<(), String> {
    let mut output = args.common.open_pinned()?;
    progress("making traffic");
    let input = args.input()?;
    let connections = args.connections.map_or(if args.common.quick { 250 } else { 2500 }, |n| n as usize);
    let transports =
        if args.transport.is_empty() { Transport::STREAMS.to_vec() } else { args.transport.clone() };
    if args.resident {
        let found = transports.iter().map(|&transport| resident_of_all(args, &input, transport, connections));
        output.add("Memory of connections", found.collect::<Result<Vec<_>, _>>()?.concat())?;
    } else if args.encode {
        output.add(
            "Short messages, each flushed",
            encoding::measure(&input, args.common.rounds(9), connections)?,
        )?;
    } else {
        for transport in transports {
            let found = measure(&input, transport, args.common.rounds(9), connections)?;
            for mode in found.chunk_by(|a, b| a.params["mode"] == b.params["mode"]) {
                output.add("Messages of gateways, CPU time", mode.to_vec())?;
            }
        }
    }
    output.say_absent(&["zlib", "zlib-ng"])?;
    output.finish()
}

impl MessagesArgs {
    fn input(&self) -> Result<Input, String> {
        if !self.files.is_empty() {
            return Input::read(&self.files);
        }
        let traffic = Traffic::new(self.seed);
        let traffic = if self.common.quick { traffic.guilds(20).events(700) } else { traffic };
        Input::generated(traffic, self.shards.unwrap_or(if self.common.quick { 1 } else { 3 }))
    }
}

/// Names of the contenders in this build: decoders by transport, then encoders.
pub fn names() -> Vec<String> {
    let decoders = CONTENDERS.iter().map(|entry| format!("{}: {}", entry.transport, entry.name));
    decoders.chain(encoding::names().map(|name| format!("--encode: {name}"))).collect()
}

/// Measures decoding with every contender of a transport, in each mode. The mode `many` is left out
/// if a connection has too few live events or `connections` is 0, the mode `live` if no connection
/// has a live event.
///
/// # Errors
/// A sentence, if a contender fails or a payload differs.
pub fn measure(
    input: &Input,
    transport: Transport,
    rounds: usize,
    connections: usize,
) -> Result<Vec<Measurement>, String> {
    let entries: Vec<&Entry> = CONTENDERS.iter().filter(|entry| entry.transport == transport).collect();
    let shared = RefCell::new(Shared::new(input.longest()));
    progress(&format!("{transport}: checking"));
    for entry in &entries {
        for connection in &input.connections {
            let whole = connection.frames(transport).iter().zip(&connection.payloads);
            check(entry, whole, &mut shared.borrow_mut())?;
            check(entry, connection.turns(transport), &mut shared.borrow_mut())?;
        }
    }
    let mut found = Vec::new();
    for (mode, from) in [("whole", (|_| 0) as fn(&Connection) -> usize), ("live", |one| one.live)] {
        let payloads = || input.connections.iter().flat_map(move |one| &one.payloads[from(one)..]);
        let (messages, bytes) = (payloads().count(), payloads().map(Vec::len).sum::<usize>());
        let frames = input.connections.iter().flat_map(|one| &one.frames(transport)[from(one)..]);
        let packed: usize = frames.map(Vec::len).sum();
        if messages == 0 {
            continue;
        }
        let contenders = entries.iter().map(|entry| {
            let shared = &shared;
            let turn = move |part: usize| {
                let (connection, shared) = (&input.connections[part], &mut shared.borrow_mut());
                let others = other_threads();
                let mut decoder = (entry.open)(shared)?;
                let (before, timed) = connection.frames(transport).split_at(from(connection));
                all(&mut *decoder, before, shared)?;
                let begun = thread_time();
                all(&mut *decoder, timed, shared)?;
                let time = thread_time() - begun;
                // The thread of a recorder must not run during the turns of other contenders.
                let dropped = shared.stop_recording()?;
                spent(entry, time, other_threads().saturating_sub(others), connection.payloads.len(), dropped)
            };
            let measurement = blank(
                input,
                entry,
                mode,
                input.connections.len(),
                messages,
                bytes as f64 / packed.max(1) as f64,
            );
            Contender::new(measurement, turn).bytes(bytes).units(messages)
        });
        found.extend(harness(based(contenders, &entries), Rounds::parts(rounds, input.connections.len()))?);
    }
    found.extend(many::measure(input, &entries, connections, rounds, &shared)?);
    Ok(found)
}

/// Sets the base of all contenders: the base of the transport of `entries`, which are the entries
/// of the contenders in the same order and all have one transport.
fn based<'c>(contenders: impl Iterator<Item = Contender<'c>>, entries: &[&Entry]) -> Vec<Contender<'c>> {
    let name = base(entries[0].transport);
    let place = entries.iter().position(|entry| entry.name == name).unwrap_or(0);
    contenders.map(|contender| contender.base(place, name)).collect()
}

fn blank(
    input: &Input,
    entry: &Entry,
    mode: &str,
    connections: usize,
    messages: usize,
    ratio: f64,
) -> Measurement {
    row("messages", &input.name, entry.name)
        .param("mode", mode)
        .param("transport", entry.transport.name())
        .param("connections", connections)
        .param("messages", messages)
        .exact("ratio", ratio)
}

fn check<'a>(
    entry: &Entry,
    messages: impl Iterator<Item = (&'a Vec<u8>, &'a Vec<u8>)>,
    shared: &mut Shared,
) -> Result<(), String> {
    let mut decoder = (entry.open)(shared)?;
    for (i, (frame, payload)) in messages.enumerate() {
        let message = |what: String| format!("{} {}: message {i}: {what}", entry.name, entry.transport);
        let decoded = decoder.message(frame, shared).map_err(message)?;
        same(decoded, payload).map_err(message)?;
    }
    shared.stop_recording().map(drop)
}

/// CPU time of this process so far, without that of this thread.
fn other_threads() -> Duration {
    cpu_time().saturating_sub(thread_time())
}

/// The time of a turn and, if the contender records statistics, the CPU time `counting` of the
/// thread that counted messages meanwhile, for each of `messages` messages.
///
/// # Errors
/// A sentence, if records were dropped, because dropped records would cost nothing.
fn spent(
    entry: &Entry,
    time: Duration,
    counting: Duration,
    messages: usize,
    dropped: u64,
) -> Result<Spent, String> {
    if dropped > 0 {
        return Err(format!("{dropped} records were dropped"));
    }
    let each = counting.as_secs_f64() * 1e6 / messages.max(1) as f64;
    Ok(Spent { time, more: if entry.is_recorded() { vec![("collect_time", each)] } else { Vec::new() } })
}

fn all(decoder: &mut dyn Decoder, frames: &[Vec<u8>], shared: &mut Shared) -> Result<(), String> {
    for frame in frames {
        std::hint::black_box(decoder.message(frame, shared)?);
    }
    Ok(())
}

/// Maximum number of messages that each connection decodes before its memory is measured: first a
/// large message, if the input has one, then live messages.
const RESIDENT_MESSAGES: usize = 30;

/// Measures the resident memory of `count` connections, with a separate process for each contender
/// of a transport.
fn resident_of_all(
    args: &MessagesArgs,
    input: &Input,
    transport: Transport,
    count: usize,
) -> Result<Vec<Measurement>, String> {
    let entries = CONTENDERS.iter().filter(|entry| entry.transport == transport);
    let (name, messages) = match args.files.is_empty() {
        true => ("live traffic", RESIDENT_MESSAGES),
        false => (&*input.name, input.connections[0].turns(transport).take(RESIDENT_MESSAGES).count()),
    };
    let one = |entry: &Entry| {
        progress(&format!("{transport}: memory of {}", entry.name));
        let mut command =
            process::this(&["child", "messages", transport.name(), entry.name, &count.to_string()])?;
        let bytes = process::number(command.args(&args.files))?;
        Ok(row("messages-resident", name, entry.name)
            .param("transport", transport.name())
            .param("connections", count)
            .param("messages", messages)
            .size("resident", bytes)
            .size("per_connection", bytes / count.max(1)))
    };
    entries.map(one).collect()
}

/// Runs the child process of one contender: opens connections and returns the growth of resident
/// memory in bytes.
///
/// # Errors
/// A sentence, if the arguments are wrong, the contender fails, or the system does not report
/// memory.
pub fn child(words: &[String]) -> Result<usize, String> {
    let [transport, name, count, files @ ..] = words else { return Err("too few arguments".into()) };
    let is = |entry: &&Entry| entry.transport.name() == transport && entry.name == name;
    let entry = CONTENDERS.iter().find(is).ok_or("there is no such contender")?;
    let count: usize = count.parse().map_err(|_| "the number of connections is invalid")?;
    let input = match files {
        [] => Input::generated(Traffic::new(1).guilds(4).events(RESIDENT_MESSAGES), 1)?,
        files => Input::read(&files.iter().map(PathBuf::from).collect::<Vec<_>>())?,
    };
    let turns = input.connections[0].turns(entry.transport);
    let frames: Vec<Vec<u8>> = turns.take(RESIDENT_MESSAGES).map(|(frame, _)| frame.clone()).collect();
    let mut shared = Shared::new(input.longest());
    let mut open = || {
        let mut decoder = (entry.open)(&mut shared)?;
        all(&mut *decoder, &frames, &mut shared).map(|()| decoder)
    };
    // The first connection allocates what all connections share, so it is not measured.
    drop(open()?);
    let mut opened = Vec::with_capacity(count);
    let before = resident().ok_or("the system does not tell")?;
    for _ in 0..count {
        opened.push(open()?);
    }
    Ok(resident().ok_or("the system does not tell")?.saturating_sub(before))
}
