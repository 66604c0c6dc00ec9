//! Gateway connections to decode: generated, or from files.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use linerate_gateway::{Encoder, Limits, Messages, Scratch, Session, Transport, transcode};

use crate::harness::message;
use linerate_gateway_sim::traffic::Traffic;

/// Texts by which the events at the start of a connection are recognised: the payload of each
/// contains one of these. Events after the last of those are live.
const STARTUP: [&str; 2] = [r#""t":"READY""#, r#""t":"GUILD_CREATE""#];
/// Maximum content of a zstd block with a window of 64 KiB, in bytes.
const BLOCK: usize = 64 << 10;
/// Number of bytes at the start of a payload in which the name of the event is looked for.
const HEAD: usize = 200;

/// One connection: the payloads of its messages, and their compressed frames in each transport.
pub struct Connection {
    pub(crate) payloads: Vec<Vec<u8>>,
    frames: [Vec<Vec<u8>>; 2],
    /// Frames in each transport of a separate stream, which has only the large message, if there is
    /// one, and the live events.
    turn_frames: [Vec<Vec<u8>>; 2],
    /// Index of the first live event, which is the number of messages before it.
    pub(crate) live: usize,
    /// Index of the first message before the live events that takes more than one block of zstd.
    large: Option<usize>,
}

/// The connections to measure.
pub struct Input {
    /// Name of the connections in the record, never a path of this machine.
    pub name: String,
    /// The connections, at least one.
    pub connections: Vec<Connection>,
}

impl Input {
    /// Generates the connections of the first `shards` shards of `traffic`.
    ///
    /// # Errors
    /// A sentence, if a message cannot be encoded.
    pub fn generated(traffic: Traffic, shards: u64) -> Result<Input, String> {
        let one = |shard| Connection::new(traffic.shard(shard).collect(), [None, None]);
        let connections = (0..shards).map(one).collect::<Result<_, _>>()?;
        Ok(Input { name: "generated".into(), connections })
    }

    /// Reads files, and the files in folders. Files of the same name that end in `.msgs`, `.zlib`
    /// and `.zst` are one connection: its payloads, and its frames in each transport. One of them
    /// is enough; the others are made as a gateway would.
    ///
    /// # Errors
    /// A sentence, which names the file if one is missing or cannot be read.
    pub fn read(paths: &[PathBuf]) -> Result<Input, String> {
        let mut stems = Vec::new();
        for path in paths {
            stems.extend(if path.is_dir() { stems_in(path)? } else { vec![path.with_extension("")] });
        }
        stems.sort();
        stems.dedup();
        let connections = stems.iter().map(|stem| Connection::read(stem)).collect::<Result<Vec<_>, _>>()?;
        if connections.is_empty() {
            return Err("no .msgs, .zlib or .zst files were found".into());
        }
        let names: Vec<_> = stems.iter().filter_map(|stem| stem.file_name()?.to_str()).collect();
        Ok(Input { name: names.join(" "), connections })
    }

    /// Number of messages on all connections together.
    pub fn messages(&self) -> usize {
        self.connections.iter().map(|one| one.payloads.len()).sum()
    }

    pub(crate) fn longest(&self) -> usize {
        self.connections.iter().flat_map(|one| &one.payloads).map(Vec::len).max().unwrap_or(0)
    }
}

/// Paths of the files in a folder that end in `.msgs`, `.zlib` or `.zst`, without these endings.
fn stems_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let message = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut stems = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(message)? {
        let path = entry.map_err(message)?.path();
        let known = |end: &str| ["msgs", "zlib", "zst"].contains(&end);
        if path.extension().and_then(|end| end.to_str()).is_some_and(known) {
            stems.push(path.with_extension(""));
        }
    }
    Ok(stems)
}

impl Connection {
    /// Makes a connection of payloads. `given` has the frames for zlib and for zstd; those that are
    /// missing are encoded.
    fn new(payloads: Vec<Vec<u8>>, given: [Option<Vec<Vec<u8>>>; 2]) -> Result<Connection, String> {
        let live = payloads.iter().rposition(|payload| is_startup(payload)).map_or(0, |last| last + 1);
        let [zlib, zstd] = given;
        let frames = [
            zlib.map_or_else(|| encoded(Transport::Zlib, &payloads), Ok)?,
            zstd.map_or_else(|| encoded(Transport::Zstd, &payloads), Ok)?,
        ];
        let large = payloads[..live].iter().position(|payload| payload.len() > BLOCK);
        let turns = || large.map(|i| &payloads[i]).into_iter().chain(&payloads[live..]);
        let turn_frames = [encoded(Transport::Zlib, turns())?, encoded(Transport::Zstd, turns())?];
        Ok(Connection { payloads, frames, turn_frames, live, large })
    }

    fn read(stem: &Path) -> Result<Connection, String> {
        let of = |end: &str| messages(&beside(stem, end));
        let (payloads, zlib, zstd) = (of("msgs")?, of("zlib")?, of("zst")?);
        let payloads = match (payloads, &zlib, &zstd) {
            (Some(payloads), ..) => payloads,
            (None, Some(frames), _) => decoded(Transport::Zlib, frames)?,
            (None, None, Some(frames)) => decoded(Transport::Zstd, frames)?,
            (None, None, None) => {
                return Err(format!("{}: no .msgs, .zlib or .zst file has this name", stem.display()));
            }
        };
        for frames in [&zlib, &zstd].into_iter().flatten() {
            if frames.len() != payloads.len() {
                return Err(format!("{}: the files have different numbers of messages", stem.display()));
            }
        }
        Connection::new(payloads, [zlib, zstd])
    }

    pub(crate) fn frames(&self, transport: Transport) -> &[Vec<u8>] {
        &self.frames[side(transport)]
    }

    /// Pairs of frame and payload on the separate stream, which has the large message, if there is
    /// one, and the live events.
    pub(crate) fn turns(&self, transport: Transport) -> impl Iterator<Item = (&Vec<u8>, &Vec<u8>)> {
        let payloads = self.large.map(|i| &self.payloads[i]).into_iter().chain(&self.payloads[self.live..]);
        self.turn_frames[side(transport)].iter().zip(payloads)
    }

    /// The frame of the large message on the separate stream, if there is a large message.
    pub(crate) fn large_frame(&self, transport: Transport) -> Option<&[u8]> {
        self.large.map(|_| &self.turn_frames[side(transport)][0][..])
    }

    /// The frames of the live events on the separate stream.
    pub(crate) fn live_frames(&self, transport: Transport) -> &[Vec<u8>] {
        &self.turn_frames[side(transport)][usize::from(self.large.is_some())..]
    }
}

/// The path `stem` with a dot and the ending `end` appended.
fn beside(stem: &Path, end: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    name.into()
}

/// The index of a transport in arrays of two: 0 for zlib, 1 for zstd.
pub(crate) fn side(transport: Transport) -> usize {
    usize::from(transport == Transport::Zstd)
}

fn is_startup(payload: &[u8]) -> bool {
    let head = &payload[..payload.len().min(HEAD)];
    STARTUP.iter().any(|name| head.windows(name.len()).any(|part| part == name.as_bytes()))
}

fn encoded<'p>(
    transport: Transport,
    payloads: impl IntoIterator<Item = &'p Vec<u8>>,
) -> Result<Vec<Vec<u8>>, String> {
    let mut encoder = Encoder::new(transport).map_err(message)?;
    transcode(&mut encoder, payloads.into_iter().map(Vec::as_slice)).map_err(message)
}

fn decoded(transport: Transport, frames: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
    let (mut session, mut scratch) = (Session::new(transport, Limits::new()), Scratch::new());
    let mut one = |frame: &Vec<u8>| match session.message(frame, &mut scratch) {
        Ok(Some(message)) => Ok(message.payload.to_vec()),
        Ok(None) => Err("a message is incomplete".to_owned()),
        Err(fault) => Err(fault.to_string()),
    };
    frames.iter().map(&mut one).collect()
}

/// The length-prefixed messages of a file, or `None` if the file does not exist.
fn messages(path: &Path) -> Result<Option<Vec<Vec<u8>>>, String> {
    let message = |e: std::io::Error| format!("{}: {e}", path.display());
    if !path.is_file() {
        return Ok(None);
    }
    let file = BufReader::new(File::open(path).map_err(message)?);
    Messages::new(file).collect::<Result<_, _>>().map(Some).map_err(message)
}
