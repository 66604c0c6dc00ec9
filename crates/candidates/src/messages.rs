//! Measures candidates for recorded connections to gateways, such as those of chat bots:
//! zlib-stream and zstd-stream as gateways send them, and zstd with other window sizes.

use std::borrow::Cow;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, BufWriter, Cursor, Read, Write, sink};
use std::path::{Path, PathBuf};

use linerate_gateway::{
    Encoder, Entry, FileKind, Limits, Messages, Recording, Scratch, Session, Transport, write_message,
};
use linerate_plan::{Measurement, Memory};
use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, get_error_name};

use super::command::{operand, output_of};
use super::pieces::{Candidate, Checked, time};
use super::{Measured, Options, Progress};

/// Bytes of messages that candidates compress, for each second of the measurement. All candidates
/// together take about 150 ns to code a byte once.
const BYTES_PER_SECOND: f64 = 1e6;
/// Smallest and largest number of bytes of messages that candidates compress, if the files have as
/// many.
const SAMPLE: (u64, u64) = (512 << 10, 32 << 20);
/// Bytes of payloads (uncompressed messages) from which the sample is taken, for each second of the
/// measurement: the first ones of every file, in equal shares. Decoding a GB takes about a second.
const READ_PER_SECOND: f64 = 50e6;
/// Bytes of successive messages that the sample takes or leaves as a group: four of the usual zstd
/// windows of 64 KiB. Groups come from many parts of a file, because messages at the start of a
/// connection are mostly long and later ones short.
const GROUP: u64 = 256 << 10;
/// Log2 of the zstd windows, in bytes, that are compared with the usual one. The window takes most
/// of a connection's memory.
const WINDOWS: [u8; 4] = [13, 15, 18, 20];
/// Log2 of the zstd window, in bytes, that gateways use, and their zstd level.
const USUAL: (u8, i32) = (16, 7);
/// Bytes of the output buffer of `linerate gateway transcode`.
const BUFFER: usize = 256 << 10;
/// The last bytes of every message of a zlib stream (`Z_SYNC_FLUSH`).
const FLUSHED: &[u8] = &[0, 0, 0xff, 0xff];

/// Whether a file that begins with `head` and has `len` bytes looks like messages of a gateway: a
/// recording, or JSON, ETF, zlib-stream or zstd-stream messages that each follow their length.
/// Checks no more than the first message, and of a recording only its signature.
pub fn recognise(head: &[u8], len: u64) -> bool {
    let first = head.split_first_chunk::<4>().map(|(size, rest)| (u32::from_le_bytes(*size), rest));
    let fits = first.is_some_and(|(size, _)| size > 0 && u64::from(size) + 4 <= len);
    // The first message, if `head` has all of it. Then it must end like a zlib stream's message, or
    // be JSON or ETF.
    let whole = first.and_then(|(size, rest)| rest.get(..size as usize));
    match FileKind::of(&head[..head.len().min(FileKind::HEAD)]) {
        Some(FileKind::Recording) => true,
        Some(FileKind::Compressed(Transport::Zstd)) => fits,
        Some(FileKind::Compressed(Transport::Zlib)) => fits && whole.is_none_or(|all| all.ends_with(FLUSHED)),
        Some(FileKind::Payloads) => {
            fits && whole
                .is_none_or(|all| serde_json::from_slice::<serde_json::Value>(all).is_ok() || all[0] == 131)
        }
        Some(FileKind::Compressed(_) | FileKind::ZstdFrame) | None => false,
    }
}

/// Measures zlib-stream, zstd-stream and zstd windows on messages from every file.
///
/// # Errors
/// Returns a sentence that names the file that cannot be read or decoded, or says that a candidate
/// fails or that there are no messages.
pub(super) fn measure(
    paths: &[PathBuf],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Measured, String> {
    progress("reading the messages");
    let mut sample = Sample::default();
    let wanted = ((options.seconds * BYTES_PER_SECOND) as u64).clamp(SAMPLE.0, SAMPLE.1);
    let mut bytes = 0;
    for path in paths {
        let at = |e: String| format!("{}: {e}", path.display());
        bytes += std::fs::metadata(path).map_err(|e| at(e.to_string()))?.len();
        let count = paths.len().max(1) as u64;
        let limits = [wanted / count, (options.seconds * READ_PER_SECOND) as u64 / count];
        sample.add(path, limits).map_err(at)?;
    }
    let Some(first) = paths.first().filter(|_| !sample.payloads.is_empty()) else {
        return Err("there are no messages to measure".into());
    };
    let mut notes = Vec::new();
    if paths.len() > 1 {
        notes.push(format!(
            "The command is only for {}: linerate gateway takes one file at a time.",
            first.display()
        ));
    }
    let mut candidates: Vec<Checked<'_>> = Vec::new();
    for transport in Transport::STREAMS {
        progress(transport.name());
        candidates.push(sample.transport(transport, command(first, transport))?);
    }
    for window in WINDOWS {
        progress(&format!("a window of {} KiB", (1 << window) >> 10));
        candidates.push(sample.window(window)?);
    }
    let measurements = time(candidates, options, progress)?;
    let sampled = sample.payloads.iter().map(|payload| payload.len() as u64).sum();
    Ok(Measured { measurements, bytes, sampled, notes, ..Measured::default() })
}

/// The messages that candidates compress.
#[derive(Default)]
struct Sample {
    /// The messages, uncompressed.
    payloads: Vec<Vec<u8>>,
    /// For each message, whether it is the first of its connection in the sample.
    begins: Vec<bool>,
}

impl Sample {
    /// Takes up to `limits[0]` bytes of messages, or the first group if it alone has more, from the
    /// first `limits[1]` bytes of the messages in a file, both counted uncompressed.
    fn add(&mut self, path: &Path, limits: [u64; 2]) -> Result<(), String> {
        let message = |e: std::io::Error| e.to_string();
        let mut source = BufReader::new(File::open(path).map_err(message)?);
        let mut head = Vec::new();
        source.by_ref().take(FileKind::HEAD as u64).read_to_end(&mut head).map_err(message)?;
        let kind = FileKind::of(&head);
        let source = Cursor::new(head).chain(source);
        match kind {
            Some(FileKind::Payloads) => self.take(frames(source), None, limits),
            Some(FileKind::Compressed(transport)) => self.take(frames(source), Some(transport), limits),
            Some(FileKind::Recording) => {
                let recording = Recording::open(source).map_err(message)?;
                let transport = recording.transport();
                self.take(recording, Some(transport), limits)
            }
            Some(FileKind::ZstdFrame) => {
                Err("it is one zstd frame, which does not mark where messages begin".into())
            }
            None => Err("its messages look like neither payloads nor one of the transports".into()),
        }
    }

    fn take(
        &mut self,
        entries: impl Iterator<Item = std::io::Result<Entry>>,
        transport: Option<Transport>,
        [most, read]: [u64; 2],
    ) -> Result<(), String> {
        // The recorded client accepted the data, so any window that can be decoded is allowed.
        let limits = Limits::new().window_log(27);
        let mut session = transport.map(|transport| Session::new(transport, limits));
        let (mut scratch, mut groups, mut connection) = (Scratch::new(), Groups::new(most), 0);
        for entry in entries {
            let Entry::Frame { wire, .. } = entry.map_err(|e| e.to_string())? else {
                connection += 1;
                session.iter_mut().for_each(Session::reset);
                continue;
            };
            match &mut session {
                None => groups.add(connection, wire.into()),
                Some(session) => {
                    let message = session.message(&wire, &mut scratch).map_err(|e| e.to_string())?;
                    message.iter().for_each(|message| groups.add(connection, message.payload.into()));
                }
            }
            if groups.seen >= read {
                break;
            }
        }
        let mut last = None;
        for (_, connection, payload) in groups.kept {
            self.begins.push(last.replace(connection) != Some(connection));
            self.payloads.push(payload);
        }
        Ok(())
    }

    fn transport(&self, transport: Transport, command: Vec<String>) -> Result<Checked<'_>, String> {
        let measurement = Measurement {
            engine: "gateway".into(),
            settings: transport.name().into(),
            command: Some(command),
            ..Measurement::default()
        };
        let encoder = move || {
            let mut encoder = Encoder::new(transport).map_err(|e| e.to_string())?;
            let encode = move |payload: &[u8], wire: &mut Vec<u8>| {
                encoder.message(payload, wire).map_err(|e| e.to_string())
            };
            Ok(Box::new(encode) as Encode)
        };
        self.candidate(measurement, transport, USUAL.0, encoder)
    }

    /// Makes a candidate of zstd with another window, for comparison only, since no gateway offers
    /// it.
    fn window(&self, log: u8) -> Result<Checked<'_>, String> {
        let measurement = Measurement {
            engine: "zstd".into(),
            settings: format!("zstd-stream with a window of {} KiB", (1 << log) >> 10),
            ..Measurement::default()
        };
        let encoder = move || {
            let mut context = CCtx::create();
            for parameter in [
                CParameter::CompressionLevel(USUAL.1),
                CParameter::WindowLog(log.into()),
                CParameter::ContentSizeFlag(false),
            ] {
                context.set_parameter(parameter).map_err(get_error_name)?;
            }
            let encode = move |payload: &[u8], wire: &mut Vec<u8>| flush(&mut context, payload, wire);
            Ok(Box::new(encode) as Encode)
        };
        self.candidate(measurement, Transport::Zstd, log, encoder)
    }

    /// Makes a candidate that begins each connection with a new encoder, which `encoder` makes, and
    /// with an empty decoder. The decoder allows zstd windows of up to 2^`window` bytes.
    fn candidate<'c>(
        &'c self,
        mut measurement: Measurement,
        transport: Transport,
        window: u8,
        encoder: impl Fn() -> Result<Encode, String> + Copy + Sync + 'c,
    ) -> Result<Checked<'c>, String> {
        let limits = Limits::new().window_log(window.max(10));
        measurement.memory = self.memory(transport, limits, &encoder)?;
        let candidate = Candidate {
            measurement,
            pieces: &self.payloads,
            encode: Box::new(move |payloads, out| {
                self.encode_all(&encoder, in_memory(payloads), &mut |wire| {
                    out(wire);
                    Ok(())
                })
            }),
            decode: Box::new(move |frames, out| {
                self.decode_all(Session::new(transport, limits), in_memory(frames), out)
            }),
        };
        let checked = candidate.check()?;
        // `linerate gateway transcode` also reads messages from a file, each into memory of its
        // own, and writes them to another file. This is timed too, except the system's part: files
        // are in memory, and what is written is dropped. Decoding writes nothing.
        let (mut payloads, mut frames) = (Vec::new(), Vec::new());
        self.payloads.iter().try_for_each(|payload| write(&mut payloads, payload))?;
        self.encode_all(&encoder, in_memory(&self.payloads), &mut |wire| write(&mut frames, wire))?;
        Ok(checked.coded_by(
            move || {
                let mut out = BufWriter::with_capacity(BUFFER, sink());
                self.encode_all(&encoder, in_file(&payloads), &mut |wire| write(&mut out, wire))
            },
            move || {
                let session = Session::new(transport, limits);
                self.decode_all(session, in_file(&frames), &mut |_, payload| _ = black_box(payload))
            },
        ))
    }

    /// Compresses the messages, with a new encoder for each connection, and passes each result on.
    fn encode_all<P: AsRef<[u8]>>(
        &self,
        encoder: &impl Fn() -> Result<Encode, String>,
        payloads: impl Iterator<Item = Result<P, String>>,
        out: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut encode = encoder()?;
        for (i, (payload, begins)) in payloads.zip(&self.begins).enumerate() {
            if *begins && i > 0 {
                encode = encoder()?;
            }
            let mut wire = Vec::new();
            encode(payload?.as_ref(), &mut wire)?;
            out(&wire)?;
        }
        Ok(())
    }

    /// Decodes compressed messages, and passes each payload on with its index.
    fn decode_all<W: AsRef<[u8]>>(
        &self,
        mut session: Session,
        frames: impl Iterator<Item = Result<W, String>>,
        out: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), String> {
        let mut scratch = Scratch::new();
        for (i, (frame, begins)) in frames.zip(&self.begins).enumerate() {
            if *begins {
                session.reset();
            }
            let message = session.message(frame?.as_ref(), &mut scratch).map_err(|e| e.to_string())?;
            out(i, message.ok_or("a message is incomplete")?.payload);
        }
        Ok(())
    }

    /// Measures the memory of a decoder after the sampled messages of the first connection. Each
    /// thread also holds the longest message.
    fn memory(
        &self,
        transport: Transport,
        limits: Limits,
        encoder: &impl Fn() -> Result<Encode, String>,
    ) -> Result<Memory, String> {
        let (mut session, mut scratch) = (Session::new(transport, limits), Scratch::new());
        let (mut encode, mut wire) = (encoder()?, Vec::new());
        let connection = self.payloads.iter().zip(&self.begins).enumerate();
        for (_, (payload, _)) in connection.take_while(|(i, (_, begins))| *i == 0 || !**begins) {
            wire.clear();
            encode(payload, &mut wire)?;
            session.message(&wire, &mut scratch).map_err(|e| e.to_string())?;
        }
        let longest = self.payloads.iter().map(Vec::len).max().unwrap_or(0);
        Ok(Memory { per_stream: session.memory() as u64, per_thread: longest as u64 })
    }
}

/// Groups of successive messages, evenly spread over all messages that were added: systematic
/// sampling of data of unknown length. Whenever the groups become too large together, every second
/// one is dropped, but never the first.
struct Groups {
    /// Largest number of payload bytes to keep, unless the first group alone has more.
    most: u64,
    /// For each kept message: the number of its group, the number of its connection, and its
    /// payload.
    kept: Vec<(u64, u64, Vec<u8>)>,
    kept_bytes: u64,
    /// One of this many successive groups is kept. A power of two.
    step: u64,
    /// Payload bytes of all messages that were added, kept or not.
    seen: u64,
}

impl Groups {
    fn new(most: u64) -> Groups {
        Groups { most, kept: Vec::new(), kept_bytes: 0, step: 1, seen: 0 }
    }

    fn add(&mut self, connection: u64, payload: Cow<'_, [u8]>) {
        let (group, bytes) = (self.seen / GROUP, payload.len() as u64);
        self.seen += bytes;
        if !group.is_multiple_of(self.step) {
            return;
        }
        self.kept.push((group, connection, payload.into_owned()));
        self.kept_bytes += bytes;
        while self.kept_bytes > self.most && self.kept.last().is_some_and(|(last, ..)| *last >= self.step) {
            self.step *= 2;
            self.kept.retain(|(group, ..)| group.is_multiple_of(self.step));
            self.kept_bytes = self.kept.iter().map(|(.., payload)| payload.len() as u64).sum();
        }
    }
}

/// Iterates over messages in memory.
fn in_memory(messages: &[Vec<u8>]) -> impl Iterator<Item = Result<&[u8], String>> {
    messages.iter().map(|message| Ok(message.as_slice()))
}

/// Iterates over the messages of a file in memory, each of which follows its length.
fn in_file(file: &[u8]) -> impl Iterator<Item = Result<Vec<u8>, String>> {
    Messages::new(file).map(|message| message.map_err(|e| e.to_string()))
}

fn write(file: impl Write, message: &[u8]) -> Result<(), String> {
    write_message(file, message).map_err(|e| e.to_string())
}

/// Reads messages that each follow their length as entries of a recording. All get time 0.
fn frames(source: impl Read) -> impl Iterator<Item = std::io::Result<Entry>> {
    Messages::new(source).map(|wire| wire.map(|wire| Entry::Frame { time: 0, payload: None, wire }))
}

/// Function that compresses a message and appends the result to a buffer.
type Encode = Box<dyn FnMut(&[u8], &mut Vec<u8>) -> Result<(), String>>;

/// Compresses a message with zstd and flushes, as gateways do after each message, and appends the
/// result to `wire`.
fn flush(context: &mut CCtx<'_>, payload: &[u8], wire: &mut Vec<u8>) -> Result<(), String> {
    let mut input = InBuffer::around(payload);
    loop {
        let start = wire.len();
        wire.resize(start + (16 << 10), 0);
        let mut output = OutBuffer::around(&mut wire[start..]);
        let left = context.compress_stream2(&mut output, &mut input, ZSTD_EndDirective::ZSTD_e_flush);
        let written = output.pos();
        wire.truncate(start + written);
        if left.map_err(get_error_name)? == 0 {
            return Ok(());
        }
    }
}

/// Returns the command that compresses the messages of a file for this transport, into a file with
/// another name in the same folder.
fn command(path: &Path, transport: Transport) -> Vec<String> {
    let end = if transport == Transport::Zlib { "zlib" } else { "zst" };
    let words = ["linerate", "gateway", "transcode", "--to", transport.name()].map(str::to_owned);
    words.into_iter().chain([operand(path), "-o".into(), output_of(path, end)]).collect()
}

#[cfg(test)]
mod tests {
    use linerate_gateway::{Recorder, write_message};

    use super::*;

    fn payloads() -> Vec<Vec<u8>> {
        (0..300)
            .map(|i| {
                format!("{{\"t\":\"MESSAGE\",\"s\":{i},\"op\":0,\"d\":{{\"text\":\"number {i}\"}}}}").into()
            })
            .collect()
    }

    fn file(frames: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        frames.iter().for_each(|frame| write_message(&mut bytes, frame).expect("in memory"));
        bytes
    }

    fn compressed(transport: Transport) -> Vec<Vec<u8>> {
        let mut encoder = Encoder::new(transport).expect("an encoder");
        let one = |payload: &Vec<u8>| {
            let mut wire = Vec::new();
            encoder.message(payload, &mut wire).expect("encoded");
            wire
        };
        payloads().iter().map(one).collect()
    }

    #[test]
    fn groups_that_are_kept_lie_all_over_the_messages() {
        let mut groups = Groups::new(10 * GROUP);
        (0..1000u64).for_each(|i| groups.add(i / 500, vec![i as u8; GROUP as usize / 4].into()));
        assert_eq!(groups.seen, 250 * GROUP);
        assert!(groups.kept_bytes <= 10 * GROUP && groups.kept_bytes > 4 * GROUP, "{}", groups.kept_bytes);
        let numbers: Vec<u64> = groups.kept.iter().map(|(group, ..)| *group).collect();
        assert!(numbers.chunks(4).all(|group| group == [group[0]; 4]), "{numbers:?}");
        assert!(numbers.chunks(4).zip(0..).all(|(group, i)| group[0] == i * groups.step), "{numbers:?}");
        assert!(groups.kept.last().is_some_and(|(_, connection, _)| *connection == 1));
    }

    #[test]
    fn files_of_messages_are_recognised_and_others_are_not() {
        let [zlib, zstd] = Transport::STREAMS.map(|transport| file(&compressed(transport)));
        for bytes in [file(&payloads()), zlib, zstd] {
            assert!(recognise(&bytes, bytes.len() as u64));
            assert!(!recognise(&bytes, 8), "longer than the file");
        }
        for other in
            [&b"{\"a\": 1}\n{\"a\": 2}\n"[..], b"", &[0; 64], b"\x28\xb5\x2f\xfd\0\x30\0\0", b"plain text"]
        {
            assert!(!recognise(other, other.len() as u64), "{other:?}");
        }
        let cut = [&20u32.to_le_bytes()[..], b"{\"a\": no JSON at all", b"...."].concat();
        assert!(!recognise(&cut, cut.len() as u64));
    }

    #[test]
    fn every_kind_of_file_gives_the_same_sizes() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut recorder = Recorder::new(Vec::new(), Transport::Zlib).expect("in memory");
        for wire in compressed(Transport::Zlib) {
            recorder.frame(1, None, &wire).expect("in memory");
        }
        let files = [
            ("a.msgs", file(&payloads())),
            ("a.zlib", file(&compressed(Transport::Zlib))),
            ("a.zst", file(&compressed(Transport::Zstd))),
            ("a.lgwr", recorder.finish().expect("in memory")),
        ];
        let options = Options { seconds: 0.02, threads: 2, seed: 1 };
        let mut sizes = Vec::new();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("writable");
            let found = measure(&[path], &options, &|_| {}).expect("measured");
            assert_eq!(found.measurements.len(), 2 + WINDOWS.len());
            assert!(found.measurements.iter().all(|one| one.ratio() > 1.5 && one.memory.per_stream > 1000));
            sizes.push(found.measurements.iter().map(|one| one.compressed).collect::<Vec<_>>());
            let commands: Vec<_> = found.measurements.iter().filter_map(|one| one.command.as_ref()).collect();
            assert_eq!(commands.len(), 2);
            assert!(commands.iter().all(|command| command[5] != command[7]), "{commands:?}");
        }
        assert!(sizes.iter().all(|own| *own == sizes[0]), "{sizes:?}");
    }

    #[test]
    fn smaller_window_takes_less_memory() {
        let mut sample = Sample::default();
        for i in 0..400 {
            sample.payloads.push(format!("{{\"d\":\"{}\"}}", "x".repeat(i % 300 + 10)).into_bytes());
            sample.begins.push(i == 0);
        }
        let memory = |log| sample.window(log).expect("checked").measurement.memory.per_stream;
        assert!(memory(13) < memory(18), "{} {}", memory(13), memory(18));
    }
}
