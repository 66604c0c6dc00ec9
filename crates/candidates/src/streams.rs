//! Measures candidates that make one stream of each file: gzip, BGZF (gzip in independent members
//! of at most 64 KiB) and zstd by level, and for text that is sent in pieces also gzip by call
//! size, the bytes that one call of the encoder compresses.
//!
//! Fast settings compress a sample of many windows (parts of the data) of 1 MiB, slow ones another
//! sample of few windows of 4 MiB. The size of all of the data is estimated with the control of
//! [`control`]: zstd 1, which compresses both samples and a larger part of the data.
//!
//! Speeds of decoding on several threads are those that the commands should reach. If the data is
//! one zstd stream, the threads share it. Otherwise each thread decodes the whole sample by itself,
//! and threads beyond the number of streams count for nothing, with two exceptions: threads decode
//! the members of one BGZF file independently, and three or more threads share a gzip stream at the
//! cost of more CPU time, which is estimated and not measured. Text that is sent in pieces makes
//! many streams, so every thread has its own.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use linerate_core::lock;
use linerate_deflate::parallel::{Container, Options as Gzip, compress};
use linerate_deflate::{Format, Level, Scratch, Stream};
use linerate_inflate::read::Decoder;
use linerate_plan::{Measurement, Memory, Speed};
use linerate_zstd::pipeline;
use zstd_safe::{CCtx, CParameter, get_error_name};

use super::command::operand;
use super::sample::FileSet;
use super::timing::{Clock, MIN_TURN, Turn, busy_threads, on_threads, scaling, speed, thread_counts};
use super::{Measured, Options, Progress, Shape, control, decode};

/// Approximate bytes of each window (part of the data), first in the sample for fast settings, then
/// in the sample for slow settings. Windows are not larger than the sample.
const WINDOWS: [u64; 2] = [1 << 20, 4 << 20];
/// Smallest and largest size that a sample should have, in bytes. The largest is limited because
/// the compressed samples of all candidates are kept in memory.
const SAMPLE: (u64, u64) = (64 << 10, 32 << 20);
/// Estimated nanoseconds of encoding a byte from which a setting counts as slow.
const SLOW: f64 = 100.0;
/// Largest number of times that encoding is timed with a fast setting. It is timed once with a slow
/// one.
const ROUNDS: usize = 3;
/// Shares of the measurement's time for encoding with fast settings, and with slow ones.
const ENCODE_SHARES: [f64; 2] = [0.3, 0.3];
/// Bytes that one call of the encoder compresses, to try for text that is sent in pieces.
const CALLS: [usize; 4] = [4 << 10, 16 << 10, 64 << 10, USUAL_CALL];
/// Bytes that one call of the encoder compresses by default in `linerate gzip`.
const USUAL_CALL: usize = 512 << 10;
/// Largest content of a BGZF member that `linerate gzip` makes, in bytes, as in htslib: even if it
/// is stored, the member stays within the 64 KiB of the format.
const BGZF_CALL: usize = 65_280;
/// Largest distance of a deflate match, in bytes (RFC 1951).
const DEFLATE_WINDOW: u64 = 32 << 10;
/// Levels of gzip, with the estimated nanoseconds of encoding a byte.
const GZIP: [(u8, f64); 5] = [(1, 3.0), (2, 4.0), (3, 5.0), (6, 25.0), (9, 350.0)];
/// Levels of zstd, each with the estimated nanoseconds of encoding a byte, and log2 of the bytes
/// that libzstd gives to a thread at a time. These are four times the match window of the level
/// (the largest distance of a match).
const ZSTD: [(i32, f64, u32); 9] = [
    (1, 3.0, 21),
    (2, 4.0, 22),
    (3, 6.0, 23),
    (5, 15.0, 23),
    (7, 25.0, 23),
    (9, 35.0, 24),
    (12, 70.0, 24),
    (16, 250.0, 24),
    (19, 450.0, 25),
];
/// Bytes of the output buffer for decoding gzip, as in `linerate gzip -d`.
const BUFFER: usize = 256 << 10;
/// Smallest number of threads with which `linerate gzip -d` decodes one gzip stream on all of them.
const SHARED_FROM: usize = 3;
/// CPU time of decoding a gzip stream on several threads, divided by that on one thread. Measured
/// on text that `gzip -6` compressed, on 16 cores.
const SHARED_COST: f64 = 2.3;
/// Largest factor by which several threads decode one gzip stream faster than one. It is limited
/// because one thread joins the parts that the others have decoded.
const SHARED_MOST: f64 = 2.0;

/// A candidate's settings.
#[derive(Clone, Copy, Debug)]
struct Setting {
    codec: Codec,
    /// Estimated nanoseconds that one core takes to encode a byte. From `SLOW` on, the setting
    /// encodes the sample for slow settings, otherwise that for fast ones. The costs of all
    /// settings that encode a sample determine its size. They are estimates, because a measurement
    /// would make samples differ from plan to plan.
    cost: f64,
}

#[derive(Clone, Copy, Debug)]
enum Codec {
    /// gzip or BGZF at this level. `call` is the number of bytes that one call of the encoder
    /// compresses.
    Deflate { level: u8, call: usize, form: Form },
    /// zstd at this level. `job` is the number of bytes that libzstd gives to a thread at a time.
    Zstd { level: i32, job: u64 },
}

/// How the output of one call of the deflate encoder depends on other calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// gzip without `--history`. Calls are independent below level 4; from it on, matches refer to
    /// data of earlier calls.
    Usual,
    /// gzip with `--history`: matches refer to data of earlier calls.
    History,
    /// Each call makes a gzip member of its own.
    Bgzf,
}

fn settings(shape: Shape) -> Vec<Setting> {
    let deflate =
        |form, call| move |(level, cost)| Setting { codec: Codec::Deflate { level, call, form }, cost };
    let mut all: Vec<Setting> = GZIP.map(deflate(Form::Usual, USUAL_CALL)).into();
    if shape == Shape::Text {
        let shorter = &CALLS[..CALLS.len() - 1];
        all.extend(
            shorter.iter().flat_map(|&call| GZIP[..3].iter().copied().map(deflate(Form::Usual, call))),
        );
        all.extend([4 << 10, 64 << 10].map(|call| deflate(Form::History, call)(GZIP[2])));
    }
    all.extend([0, 2, 3].map(|i| deflate(Form::Bgzf, BGZF_CALL)(GZIP[i])));
    all.extend(ZSTD.map(|(level, cost, log)| Setting { codec: Codec::Zstd { level, job: 1 << log }, cost }));
    all
}

/// Measures gzip, BGZF and zstd on samples of the files. More settings are tried for
/// [`Shape::Text`]; other shapes count as [`Shape::Bytes`].
///
/// # Errors
/// Returns a sentence if a file cannot be read, there is nothing to compress, or a candidate fails.
pub(super) fn measure(
    shape: Shape,
    paths: &[PathBuf],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Measured, String> {
    let streams = Streams::encode(shape, paths, options, progress)?;
    let speeds = decode(streams.decoding(), options, progress)?;
    Ok(streams.measured(&speeds))
}

/// Candidates that have encoded their samples and are still to be decoded.
pub(super) struct Streams<'p> {
    shape: Shape,
    paths: &'p [PathBuf],
    set: FileSet,
    settings: Vec<Setting>,
    /// The sample for fast settings, and that for slow ones.
    samples: [Sample; 2],
    /// For each sample, how much worse all of the data compresses.
    factors: [f64; 2],
    /// The encoded sample of each setting.
    encoded: Vec<Encoded>,
    /// The numbers of threads to measure, one first.
    threads: Vec<usize>,
}

impl Streams<'_> {
    /// Encodes samples of the files with each setting.
    ///
    /// # Errors
    /// Returns a sentence if a file cannot be read, there is nothing to compress, or a candidate
    /// fails.
    pub(super) fn encode<'p>(
        shape: Shape,
        paths: &'p [PathBuf],
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Streams<'p>, String> {
        let set = FileSet::new(paths)?;
        let settings = settings(shape);
        progress("reading a sample");
        let [fast, slow] = [false, true]
            .map(|slow| Sample::read(&set, slow, sample_bytes(&settings, slow, options), options));
        let samples = [fast?, slow?];
        progress("how well all of the data compresses");
        let factors = factors(&set, &samples, options)?;
        let encoded = encode(&settings, &samples, options, progress)?;
        let threads = thread_counts(options.threads);
        Ok(Streams { shape, paths, set, settings, samples, factors, encoded, threads })
    }

    fn sample(&self, setting: &Setting) -> &Sample {
        &self.samples[usize::from(setting.is_slow())]
    }

    /// Returns the number of streams in the data: one for each file; `usize::MAX` for text that is
    /// sent in pieces.
    fn streams(&self) -> usize {
        if self.shape == Shape::Text { usize::MAX } else { self.set.files.len() }
    }

    /// Returns the turns of decoding: for each setting, one for each number of threads. If the data
    /// is one zstd stream, the threads share the sample. Otherwise each thread decodes all of it.
    pub(super) fn decoding(&self) -> Vec<Turn<'_>> {
        let mut turns = Vec::new();
        for (setting, encoded) in self.settings.iter().zip(&self.encoded) {
            for &threads in &self.threads {
                let is_shared = self.streams() == 1 && matches!(setting.codec, Codec::Zstd { .. });
                let (copies, each) = if is_shared { (1, threads) } else { (threads, 1) };
                let work = move || on_threads(copies, &|_| setting.decode(&encoded.bytes, each, io::sink()));
                turns.push(Turn {
                    name: format!("{}, decoding with {threads} threads", setting.words()),
                    bytes: copies as u64 * self.sample(setting).bytes.len() as u64,
                    clock: Clock::of(threads),
                    work: Box::new(work),
                });
            }
        }
        turns
    }

    /// Returns the measurements. `speeds` has those of the turns of decoding.
    pub(super) fn measured(&self, speeds: &[Speed]) -> Measured {
        let speeds = speeds.chunks(self.threads.len());
        let settings = self.settings.iter().zip(&self.encoded).zip(speeds);
        Measured {
            measurements: settings.map(|((one, encoded), speeds)| self.one(one, encoded, speeds)).collect(),
            bytes: self.set.bytes,
            sampled: self.samples[0].bytes.len() as u64,
            ..Measured::default()
        }
    }

    /// Returns the measurement of a setting, whose speeds of decoding are those of each number of
    /// threads.
    fn one(&self, setting: &Setting, encoded: &Encoded, decode: &[Speed]) -> Measurement {
        let sampled = self.sample(setting).bytes.len() as u64;
        let factor = self.factors[usize::from(setting.is_slow())];
        let encode = speed(sampled, encoded.seconds.clone());
        let size = encoded.bytes.len() as f64 / sampled as f64 * factor * self.set.bytes as f64;
        let parts = setting.parts(&self.set, self.shape);
        let mut measurement = Measurement {
            engine: setting.engine().into(),
            settings: setting.words(),
            command: Some(setting.command(self.paths)),
            content: self.set.bytes,
            compressed: size.round() as u64,
            encode: Some(encode),
            decode: decode.first().copied(),
            encode_scaling: scaling(
                &self.threads,
                self.threads.iter().map(|&n| encode.scaled(busy_threads(parts, n))),
            ),
            decode_scaling: scaling(&self.threads, decode.iter().copied()),
            memory: setting.memory(encoded.context),
            ..Measurement::default()
        };
        limit_to_streams(&mut measurement, setting, self.streams());
        measurement
    }
}

/// Returns the bytes of the sample that all fast settings, or all slow ones, can encode in their
/// share of the time by their estimated cost, within the limits of `SAMPLE`. Each setting encodes
/// on one thread, fast ones `ROUNDS` times.
fn sample_bytes(settings: &[Setting], slow: bool, options: &Options) -> u64 {
    let costs = || settings.iter().filter(|setting| setting.is_slow() == slow).map(|setting| setting.cost);
    let (all, longest) = (costs().sum::<f64>(), costs().fold(1.0, f64::max));
    let rounds = if slow { 1 } else { ROUNDS };
    let nanoseconds = (all / options.threads as f64).max(longest) * rounds as f64;
    let bytes = options.seconds * ENCODE_SHARES[usize::from(slow)] * 1e9 / nanoseconds;
    (bytes as u64).clamp(SAMPLE.0, SAMPLE.1)
}

/// The sample for fast settings, or that for slow ones.
struct Sample {
    /// The sampled parts of the data, joined.
    bytes: Vec<u8>,
    windows: Vec<super::sample::Window>,
    /// Whether the sample is all of the data.
    is_whole: bool,
}

impl Sample {
    fn read(set: &FileSet, slow: bool, bytes: u64, options: &Options) -> Result<Sample, String> {
        let windows = set.spread(WINDOWS[usize::from(slow)].min(bytes), bytes, options.seed);
        let mut joined = Vec::new();
        for window in &windows {
            set.read(window)?.into_iter().for_each(|content| joined.extend_from_slice(&content.bytes));
        }
        Ok(Sample { is_whole: joined.len() as u64 == set.bytes, bytes: joined, windows })
    }
}

/// Returns how much worse all of the data compresses than each sample with the control, zstd 1:
/// compressed bytes per byte of content in all of the data, divided by those in the sample. The
/// quotient is 1 if the sample is all of the data.
fn factors(set: &FileSet, samples: &[Sample; 2], options: &Options) -> Result<[f64; 2], String> {
    if samples.iter().all(|sample| sample.is_whole) {
        return Ok([1.0; 2]);
    }
    let all = control::of_set(set, options)?;
    let [fast, slow] = samples.each_ref().map(|sample| match sample.is_whole {
        true => Ok(1.0),
        false => Ok::<_, String>(all / control::of_windows(set, &sample.windows, options.threads)?),
    });
    Ok([fast?, slow?])
}

/// Limits the speeds of decoding on more threads than there are streams. Usually one thread decodes
/// a stream, so more threads gain nothing. At least `SHARED_FROM` threads for each gzip stream
/// share it, and their speed is estimated. Speeds for BGZF, and for a single zstd stream, stay as
/// they were measured.
fn limit_to_streams(measurement: &mut Measurement, setting: &Setting, streams: usize) {
    let is_measured = match setting.codec {
        Codec::Deflate { form, .. } => form == Form::Bgzf,
        Codec::Zstd { .. } => streams == 1,
    };
    if is_measured {
        return;
    }
    let mut busiest = measurement.decode.filter(|_| streams == 1);
    for point in &mut measurement.decode_scaling {
        match busiest {
            Some(speed) if point.threads > streams => {
                point.speed = speed.scaled(shared_gain(setting, point.threads / streams));
            }
            _ => busiest = Some(point.speed),
        }
    }
}

/// Estimates the speed of decoding one stream on this many threads, divided by that on one thread.
fn shared_gain(setting: &Setting, threads: usize) -> f64 {
    match setting.codec {
        Codec::Deflate { .. } if threads >= SHARED_FROM => (threads as f64 / SHARED_COST).min(SHARED_MOST),
        _ => 1.0,
    }
}

impl Setting {
    fn is_slow(&self) -> bool {
        self.cost >= SLOW
    }

    fn engine(&self) -> &'static str {
        match self.codec {
            Codec::Deflate { .. } => "deflate",
            Codec::Zstd { .. } => "zstd",
        }
    }

    fn words(&self) -> String {
        match self.codec {
            Codec::Deflate { level, form: Form::Bgzf, .. } => format!("BGZF {level}"),
            Codec::Deflate { level, call: USUAL_CALL, .. } => format!("gzip {level}"),
            Codec::Deflate { level, call, form } => {
                let history = if form == Form::History { " with history" } else { "" };
                format!("gzip {level}, calls of {} KiB{history}", call >> 10)
            }
            Codec::Zstd { level, .. } => format!("zstd {level}"),
        }
    }

    /// Returns the command line with these settings. The command does not delete its input files.
    fn command(&self, paths: &[PathBuf]) -> Vec<String> {
        let mut command = vec!["linerate".to_owned()];
        match self.codec {
            Codec::Deflate { level, call, form } => {
                command.extend(["gzip".into(), format!("-{level}"), "-k".into()]);
                if form == Form::Bgzf {
                    command.extend(["--format".into(), "bgzf".into()]);
                } else if call != USUAL_CALL {
                    command.extend(["--block".into(), format!("{}K", call >> 10)]);
                }
                command.extend((form == Form::History).then(|| "--history".into()));
            }
            Codec::Zstd { level, .. } => command.extend(["zstd".into(), format!("-{level}")]),
        }
        command.extend(paths.iter().any(|path| path.is_dir()).then(|| "-r".into()));
        command.extend(paths.iter().map(|path| operand(path)));
        command
    }

    /// Whether matches refer to data of earlier calls of the deflate encoder. In gzip from level 4
    /// on, they do so without `--history`.
    fn has_history(&self) -> bool {
        match self.codec {
            Codec::Deflate { form: Form::History, .. } => true,
            Codec::Deflate { level, form: Form::Usual, .. } => {
                Level::from_number(level).is_ok_and(Level::uses_history)
            }
            Codec::Deflate { form: Form::Bgzf, .. } | Codec::Zstd { .. } => false,
        }
    }

    /// Returns the number of parts of the data that threads encode at the same time, if there are
    /// enough threads; `u64::MAX` for text that is sent in pieces.
    fn parts(&self, set: &FileSet, shape: Shape) -> u64 {
        let part = match self.codec {
            _ if shape == Shape::Text => return u64::MAX,
            Codec::Deflate { .. } => USUAL_CALL as u64,
            Codec::Zstd { job, .. } => job,
        };
        set.files.iter().map(|file| file.size.div_ceil(part)).sum()
    }

    /// Replaces the content of `out` by the encoded input. Encodes on the calling thread. Returns
    /// the bytes of memory that the encoder holds.
    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<u64, String> {
        out.clear();
        match self.codec {
            Codec::Deflate { level, call, form } => {
                let container = if form == Form::Bgzf { Container::Bgzf } else { Format::Gzip.into() };
                let level = Level::from_number(level).map_err(|e| e.to_string())?;
                let options = Gzip::new(container, level).block_size(call).isolated(!self.has_history());
                compress(input, out, &options).map_err(|e| e.to_string())?;
                Ok(size_of::<Scratch>() as u64)
            }
            Codec::Zstd { level, .. } => {
                out.reserve(zstd_safe::compress_bound(input.len()));
                let mut context = CCtx::create();
                let mut encode = || {
                    context.set_parameter(CParameter::CompressionLevel(level))?;
                    context.set_parameter(CParameter::ChecksumFlag(true))?;
                    context.compress2(out, input)
                };
                encode().map_err(|code| get_error_name(code).to_owned())?;
                Ok(context.sizeof() as u64)
            }
        }
    }

    /// Decodes `compressed` and writes the content to `to`: zstd on this many threads, gzip and
    /// BGZF on one.
    fn decode(&self, compressed: &[u8], threads: usize, mut to: impl Write) -> Result<(), String> {
        let decoded = match self.codec {
            Codec::Deflate { .. } => {
                let mut decoder = Decoder::new(compressed, linerate_inflate::Format::Gzip);
                let mut buffer = vec![0; BUFFER];
                std::iter::repeat_with(|| {
                    let read = decoder.read(&mut buffer)?;
                    to.write_all(&buffer[..read]).map(|()| read)
                })
                .find(|read| !matches!(read, Ok(1..)))
                .map_or(Ok(()), |end| end.map(|_| ()))
            }
            Codec::Zstd { .. } => {
                let options = pipeline::Options::new().threads(threads);
                pipeline::decode(compressed, to, &options).map(|_| ())
            }
        };
        decoded.map_err(|e| format!("the output does not decode: {e}"))
    }

    /// Returns the memory for encoding. `context` has the bytes that [`Setting::encode`] returned.
    fn memory(&self, context: u64) -> Memory {
        match self.codec {
            Codec::Deflate { .. } => {
                let window = if self.has_history() { DEFLATE_WINDOW } else { 0 };
                Memory { per_stream: size_of::<Stream>() as u64 + window, per_thread: context }
            }
            Codec::Zstd { .. } => Memory { per_stream: context, per_thread: context },
        }
    }
}

/// A writer that compares what is written with the expected bytes, and fails if it differs. The
/// field has the bytes that are still to come.
struct Compared<'c>(&'c [u8]);

impl Write for Compared<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.strip_prefix(bytes).ok_or_else(|| io::Error::other("it is other content"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An encoded sample.
#[derive(Clone, Default)]
struct Encoded {
    bytes: Vec<u8>,
    /// CPU seconds to encode the sample once, for each time that this was measured.
    seconds: Vec<f64>,
    /// Bytes of memory that the encoder held.
    context: u64,
}

/// Every setting encodes its sample, as many settings at a time as there are threads, and the output
/// is checked to decode to the sample. Then fast settings encode again, up to `ROUNDS` times in all
/// and while the time for encoding lasts.
fn encode(
    settings: &[Setting],
    samples: &[Sample; 2],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Vec<Encoded>, String> {
    let share = Duration::from_secs_f64(options.seconds * ENCODE_SHARES.iter().sum::<f64>());
    let (begun, mut all) = (Instant::now(), vec![Encoded::default(); settings.len()]);
    for round in 0..ROUNDS {
        if round > 0 && begun.elapsed() >= share {
            break;
        }
        progress("gzip and zstd, encoding");
        let jobs: Vec<(&Setting, Mutex<&mut Encoded>)> = (settings.iter().zip(&mut all))
            .filter(|(setting, _)| round == 0 || !setting.is_slow())
            .map(|(setting, encoded)| (setting, Mutex::new(encoded)))
            .collect();
        let next = AtomicUsize::new(0);
        on_threads(options.threads, &|_| {
            while let Some((setting, encoded)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let sample = &samples[usize::from(setting.is_slow())].bytes;
                let done = encode_one(setting, sample, &mut lock(encoded));
                done.map_err(|e| format!("{}: {e}", setting.words()))?;
            }
            Ok(())
        })?;
    }
    Ok(all)
}

/// Encodes the sample once, and again until `MIN_TURN` has passed, so that the resolution of the
/// clock matters little. Adds the CPU seconds of encoding it once to `encoded`. The first call for
/// a setting also checks that the output decodes to the sample.
fn encode_one(setting: &Setting, sample: &[u8], encoded: &mut Encoded) -> Result<(), String> {
    let is_first = encoded.seconds.is_empty();
    let mut out = std::mem::take(&mut encoded.bytes);
    let (begun, mut times) = (Instant::now(), 0);
    let (context, time) = Clock::Thread.time(|| {
        loop {
            let context = setting.encode(sample, &mut out)?;
            times += 1;
            if begun.elapsed() >= MIN_TURN {
                return Ok(context);
            }
        }
    })?;
    encoded.seconds.push(time.as_secs_f64() / f64::from(times));
    if is_first {
        out.shrink_to_fit();
        let mut compared = Compared(sample);
        setting.decode(&out, 1, &mut compared)?;
        if !compared.0.is_empty() {
            return Err(format!("{} bytes are missing of the decoded output", compared.0.len()));
        }
    }
    (encoded.bytes, encoded.context) = (out, context);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_log_are_measured_by_every_candidate() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rows.log");
        let rows = crate::testdata::rows(200_000);
        std::fs::write(&path, &rows).expect("writable");
        let options = Options { seconds: 0.05, threads: 2, seed: 1 };
        for shape in [Shape::Bytes, Shape::Text] {
            let measured = measure(shape, std::slice::from_ref(&path), &options, &|_| {}).expect("measured");
            assert_eq!((measured.bytes, measured.measurements.len()), (200_000, settings(shape).len()));
            assert!(measured.sampled >= 65_536 && measured.sampled <= 200_000, "{}", measured.sampled);
            for found in &measured.measurements {
                assert_eq!(found.content, 200_000, "{}", found.settings);
                assert!(found.ratio() > 2.0, "{}: {}", found.settings, found.ratio());
                assert!(found.encode.is_some_and(|speed| speed.low > 0.0 && speed.low <= speed.high));
                assert_eq!((found.encode_scaling.len(), found.decode_scaling.len()), (1, 1));
                assert!(found.command.is_some() && found.memory.per_stream > 0, "{}", found.settings);
            }
        }
    }

    #[test]
    fn gzip_6_has_history_as_its_command_does_but_gzip_3_and_bgzf_6_have_none() {
        // The second call repeats the noise before it, and only history shows that.
        let noise = crate::testdata::random(USUAL_CALL - 1000);
        let input = [&noise[..], &noise[noise.len() - 20_000..]].concat();
        for setting in settings(Shape::Bytes) {
            let (longest, has_window) = match &*setting.words() {
                "gzip 6" => (noise.len() + 1500, true),
                "gzip 3" | "BGZF 6" => (usize::MAX, false),
                _ => continue,
            };
            let mut out = Vec::new();
            let context = setting.encode(&input, &mut out).expect("encoded");
            assert!(out.len() < longest, "{}: {}", setting.words(), out.len());
            let window = setting.memory(context).per_stream - size_of::<Stream>() as u64;
            assert_eq!(window, if has_window { DEFLATE_WINDOW } else { 0 }, "{}", setting.words());
            let Codec::Deflate { level, form: Form::Usual, .. } = setting.codec else { continue };
            let options = Gzip::new(Format::Gzip, Level::ALL[usize::from(level)]).isolated(!has_window);
            let mut by_command = Vec::new();
            compress(&*input, &mut by_command, &options).expect("encoded");
            assert_eq!(out.len(), by_command.len(), "{}", setting.words());
        }
    }

    #[test]
    fn estimate_from_a_sample_is_near_the_size_of_all_of_the_data() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mixed");
        // The first half compresses and the second does not, so that a window shows only one of
        // them.
        let mixed = [crate::testdata::rows(1 << 20), crate::testdata::random(1 << 20)].concat();
        std::fs::write(&path, &mixed).expect("writable");
        let options = Options { seconds: 0.2, threads: 2, seed: 1 };
        let measured = measure(Shape::Bytes, &[path], &options, &|_| {}).expect("measured");
        assert!(measured.sampled < measured.bytes);
        for (setting, found) in settings(Shape::Bytes).iter().zip(&measured.measurements) {
            let mut whole = Vec::new();
            setting.encode(&mixed, &mut whole).expect("encoded");
            let error = found.compressed as f64 / whole.len() as f64 - 1.0;
            assert!(error.abs() < 0.1, "{}: {} of {}", found.settings, found.compressed, whole.len());
        }
    }

    #[test]
    fn encoding_fits_into_its_share_of_the_time() {
        for (shape, seconds, threads) in
            [(Shape::Bytes, 0.7, 1), (Shape::Bytes, 2.0, 2), (Shape::Text, 2.0, 1), (Shape::Text, 60.0, 16)]
        {
            let options = Options { seconds, threads, seed: 1 };
            let settings = settings(shape);
            let work = |slow: bool| {
                let costs = settings.iter().filter(|setting| setting.is_slow() == slow).map(|one| one.cost);
                let rounds = if slow { 1.0 } else { ROUNDS as f64 };
                costs.sum::<f64>() * sample_bytes(&settings, slow, &options) as f64 * rounds / 1e9
            };
            let core_seconds = work(false) + work(true);
            let share = ENCODE_SHARES.iter().sum::<f64>() * seconds * threads as f64;
            assert!(core_seconds <= share * 1.01, "{seconds} s: {core_seconds} of {share}");
        }
    }

    #[test]
    fn more_threads_than_streams_gain_with_bgzf_and_at_a_cost_where_enough_share_a_gzip_stream() {
        let speed = |speed: f64| Speed { low: speed, median: speed, high: speed };
        let point = |threads: usize, median: f64| linerate_plan::Scaling { threads, speed: speed(median) };
        let deflate = |form| Codec::Deflate { level: 1, call: 4096, form };
        let speeds = |codec, streams| {
            let mut measurement = Measurement {
                decode: Some(speed(10.0)),
                decode_scaling: vec![point(2, 19.0), point(4, 35.0)],
                ..Measurement::default()
            };
            limit_to_streams(&mut measurement, &Setting { codec, cost: 1.0 }, streams);
            measurement.decode_scaling.iter().map(|point| point.speed.median).collect::<Vec<_>>()
        };
        assert_eq!(speeds(deflate(Form::Usual), 1), [10.0, 10.0 * 4.0 / SHARED_COST]);
        assert_eq!(speeds(deflate(Form::Usual), 2), [19.0, 19.0]);
        assert_eq!(speeds(deflate(Form::Bgzf), 1), [19.0, 35.0]);
        assert_eq!(speeds(Codec::Zstd { level: 3, job: 1 }, 1), [19.0, 35.0]);
        assert_eq!(speeds(Codec::Zstd { level: 3, job: 1 }, 2), [19.0, 19.0]);
    }
}
