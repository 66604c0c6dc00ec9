//! Candidates for plain bytes and text: deflate by level and call size, beside libzstd.
//!
//! Each call is stateless, as in `linerate gzip`: a connection costs 16 bytes between calls. For a
//! file the output is one stream, which one thread decodes, or several at a cost if it is gzip;
//! BGZF has no such cost. Text that is sent in pieces makes many streams.
//! pieces, streams are many.

use std::path::PathBuf;
use std::time::Duration;

use linerate_core::lock;
use linerate_deflate::parallel::{Container, Options as Gzip, compress};
use linerate_deflate::{Format, Level, Scratch, Stream};
use linerate_plan::{Measurement, Memory, Speed};
use zlib_rs::{Inflate, InflateFlush, Status};
use zstd_safe::{CCtx, DCtx};

use super::sample::FileSet;
use super::timing::{Clock, Turn, on_threads, rounds, scaling, thread_counts};
use super::{Measured, Options, Progress, Shape};

/// Bytes of a window of the sample; a multiple of every call size.
const WINDOW: u64 = 1 << 20;
/// Bytes of the sample for each second. One round of encoding and one of decoding take about 200 ns
/// a byte for all candidates together.
const BYTES_PER_SECOND: f64 = 1e6;
/// Largest sample, in bytes. All candidates keep theirs in memory while they take turns.
const MAX_SAMPLE: u64 = 32 << 20;
/// Call sizes, in bytes. The last is the default of `linerate gzip`.
const CALLS: [usize; 4] = [4 << 10, 16 << 10, 64 << 10, 512 << 10];
/// Most bytes of content in a BGZF member (SAM specification, section 4.1).
const BGZF_CALL: usize = 65_280;
/// Largest distance of a deflate match, in bytes (RFC 1951).
const DEFLATE_WINDOW: u64 = 32 << 10;
/// Levels of zstd to compare with.
const ZSTD_LEVELS: [i32; 3] = [1, 3, 9];
/// Bytes of the output buffer for decoding, as in `linerate gzip -d`.
const BUFFER: usize = 256 << 10;
/// Least number of threads per gzip stream with which `linerate gzip -d` uses all of them for one
/// stream.
const SHARED_FROM: usize = 3;
/// CPU time of a stream that several threads decode, relative to one thread: for text by `gzip -6`,
/// on 16 cores.
const SHARED_COST: f64 = 2.3;
/// Largest speed-up of decoding one stream on several threads, since one of them joins the parts
/// that the others have decoded.
const SHARED_MOST: f64 = 2.0;

/// A candidate's settings.
#[derive(Clone, Copy, Debug)]
enum Setting {
    Deflate { level: u8, call: usize, form: Form },
    Zstd { level: i32 },
}

/// How the calls depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Stateless,
    History,
    Bgzf,
}

fn settings() -> Vec<Setting> {
    let deflate = |form| move |(level, call)| Setting::Deflate { level, call, form };
    let calls = (1..=3).flat_map(|level| CALLS.map(|call| (level, call)));
    let mut all: Vec<Setting> = calls.map(deflate(Form::Stateless)).collect();
    all.extend([(3, 4 << 10), (3, 64 << 10)].map(deflate(Form::History)));
    all.extend([(1, BGZF_CALL), (3, BGZF_CALL)].map(deflate(Form::Bgzf)));
    all.extend(ZSTD_LEVELS.map(|level| Setting::Zstd { level }));
    all
}

/// Measures deflate and zstd on a sample of the files.
///
/// # Errors
/// A sentence that names the file that cannot be read, or the candidate that fails.
pub(super) fn measure(
    shape: Shape,
    paths: &[PathBuf],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Measured, String> {
    let set = FileSet::new(paths)?;
    let bytes = ((options.seconds * BYTES_PER_SECOND) as u64).clamp(WINDOW / 16, MAX_SAMPLE);
    progress("reading a sample");
    let mut sample = Vec::new();
    for window in set.spread(WINDOW.min(bytes), bytes, options.seed) {
        set.read(&window)?.into_iter().for_each(|content| sample.extend_from_slice(&content.bytes));
    }
    let settings = settings();
    let measurements = Session { sample: &sample, options, progress }.run(&settings)?;
    let streams = if shape == Shape::Text { usize::MAX } else { set.files.len() };
    let mut measurements: Vec<Measurement> = measurements;
    for (measurement, setting) in measurements.iter_mut().zip(&settings) {
        measurement.command = setting.command(paths);
        limit_to_streams(measurement, setting, streams);
    }
    Ok(Measured {
        measurements,
        bytes: set.bytes,
        sampled: sample.len() as u64,
        notes: Vec::new(),
        ..Measured::default()
    })
}

/// Limits the decoding speed on several threads. One thread decodes a stream, so more threads than
/// streams gain nothing, unless enough of them share a gzip stream.
fn limit_to_streams(measurement: &mut Measurement, setting: &Setting, streams: usize) {
    if matches!(setting, Setting::Deflate { form: Form::Bgzf, .. }) {
        return;
    }
    let mut busiest: Option<Speed> = None;
    for point in &mut measurement.decode_scaling {
        match busiest {
            Some(speed) if point.threads > streams => {
                let gain = shared_gain(setting, point.threads / streams);
                point.speed = speed.scaled(gain);
            }
            _ => busiest = Some(point.speed),
        }
    }
}

/// Speed-up of decoding a stream on this many threads, relative to one.
fn shared_gain(setting: &Setting, threads: usize) -> f64 {
    match setting {
        Setting::Deflate { .. } if threads >= SHARED_FROM => (threads as f64 / SHARED_COST).min(SHARED_MOST),
        _ => 1.0,
    }
}

impl Setting {
    fn engine(&self) -> &'static str {
        match self {
            Setting::Deflate { .. } => "deflate",
            Setting::Zstd { .. } => "zstd",
        }
    }

    fn words(&self) -> String {
        match *self {
            Setting::Deflate { level, form: Form::Bgzf, .. } => format!("BGZF {level}"),
            Setting::Deflate { level, call, form } => {
                let history = if form == Form::History { " with history" } else { "" };
                format!("deflate {level}, calls of {} KiB{history}", call >> 10)
            }
            Setting::Zstd { level } => format!("libzstd {level}"),
        }
    }

    /// The `linerate gzip` command with these settings, which keeps the files.
    fn command(&self, paths: &[PathBuf]) -> Option<Vec<String>> {
        let Setting::Deflate { level, call, form } = *self else { return None };
        let mut command = vec!["linerate".to_owned(), "gzip".into(), format!("-{level}"), "-k".into()];
        match form {
            Form::Bgzf => {
                command.extend(["--format".into(), "bgzf".into(), "--block".into(), call.to_string()])
            }
            _ => command.extend(["--block".into(), format!("{}K", call >> 10)]),
        }
        command.extend((form == Form::History).then(|| "--history".into()));
        command.extend(paths.iter().any(|path| path.is_dir()).then(|| "--recursive".into()));
        command.extend(paths.iter().map(|path| path.display().to_string()));
        Some(command)
    }

    fn gzip(&self, threads: usize) -> Option<Gzip> {
        let Setting::Deflate { level, call, form } = *self else { return None };
        let container = if form == Form::Bgzf { Container::Bgzf } else { Format::Gzip.into() };
        let level = Level::from_number(level).ok()?;
        let options = Gzip::new(container, level).threads(threads).block_size(call);
        Some(options.isolated(form != Form::History))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>, threads: usize) -> Result<(), String> {
        out.clear();
        match (self, self.gzip(threads)) {
            (Setting::Zstd { level }, _) => {
                out.reserve(zstd_safe::compress_bound(input.len()));
                let coded = CCtx::create().compress(out, input, *level);
                coded.map(|_| ()).map_err(|code| zstd_safe::get_error_name(code).to_owned())
            }
            (_, Some(options)) => compress(input, out, &options).map(|_| ()).map_err(|e| e.to_string()),
            (_, None) => Err("not a level of deflate".into()),
        }
    }

    /// Decodes into a reused buffer.
    fn decode(&self, compressed: &[u8], buffer: &mut [u8]) -> Result<u64, String> {
        match self {
            Setting::Zstd { .. } => {
                let decoded = DCtx::create().decompress(buffer, compressed);
                decoded.map(|n| n as u64).map_err(|code| zstd_safe::get_error_name(code).to_owned())
            }
            Setting::Deflate { .. } => inflate_members(compressed, &mut buffer[..BUFFER]),
        }
    }

    fn memory(&self) -> Memory {
        match *self {
            Setting::Deflate { form, .. } => Memory {
                per_stream: match form {
                    Form::Stateless | Form::Bgzf => size_of::<Stream>() as u64,
                    Form::History => size_of::<Stream>() as u64 + DEFLATE_WINDOW,
                },
                per_thread: size_of::<Scratch>() as u64,
            },
            Setting::Zstd { level } => {
                let context = zstd_safe::CCtx::try_create().map_or(0, |mut context| {
                    // A context allocates its memory when it first compresses.
                    let mut out = vec![0u8; 1 << 10];
                    let made = context.compress(&mut out[..], &[0; 64][..], level);
                    if made.is_ok() { context.sizeof() as u64 } else { 0 }
                });
                Memory { per_stream: context, per_thread: context }
            }
        }
    }
}

/// Decodes gzip members until the input ends. Returns the number of bytes of content.
fn inflate_members(mut input: &[u8], buffer: &mut [u8]) -> Result<u64, String> {
    let mut content = 0;
    while !input.is_empty() {
        let mut inflate = Inflate::new(true, 16 + 15);
        loop {
            let (read, written) = (inflate.total_in(), inflate.total_out());
            let status = inflate
                .decompress(input, buffer, InflateFlush::NoFlush)
                .map_err(|e| format!("the output does not decode: {e:?}"))?;
            let consumed = (inflate.total_in() - read) as usize;
            input = &input[consumed..];
            let made = inflate.total_out() - written;
            content += made;
            match status {
                Status::StreamEnd => break,
                _ if consumed == 0 && made == 0 => return Err("the output ends early".into()),
                _ => {}
            }
        }
    }
    Ok(content)
}

struct Session<'s> {
    sample: &'s [u8],
    options: &'s Options,
    progress: Progress<'s>,
}

impl Session<'_> {
    fn run(&self, settings: &[Setting]) -> Result<Vec<Measurement>, String> {
        let mut compressed = Vec::new();
        for setting in settings {
            (self.progress)(&setting.words());
            compressed.push(self.checked(setting)?);
        }
        let quarter = Duration::from_secs_f64(self.options.seconds.max(0.0) / 4.0);
        let encode = self.encode(settings, 1, Clock::Cpu, quarter)?;
        let decode = self.decode(settings, &compressed, 1, Clock::Cpu, quarter)?;
        let threads = thread_counts(self.options.threads);
        let share = quarter / threads.len() as u32;
        let (mut encode_scaling, mut decode_scaling) = (Vec::new(), Vec::new());
        for &threads in &threads {
            encode_scaling.push(self.encode(settings, threads, Clock::Elapsed, share)?);
            decode_scaling.push(self.decode(settings, &compressed, threads, Clock::Elapsed, share)?);
        }
        let measurement = |(i, setting): (usize, &Setting)| Measurement {
            engine: setting.engine().into(),
            settings: setting.words(),
            command: None,
            content: self.sample.len() as u64,
            compressed: compressed[i].len() as u64,
            encode: Some(encode[i]),
            decode: Some(decode[i]),
            encode_scaling: scaling(&threads, encode_scaling.iter().map(|speeds| speeds[i])),
            decode_scaling: scaling(&threads, decode_scaling.iter().map(|speeds| speeds[i])),
            memory: setting.memory(),
            read: None,
        };
        Ok(settings.iter().enumerate().map(measurement).collect())
    }

    /// The compressed sample, after checking that it decodes to the right length.
    fn checked(&self, setting: &Setting) -> Result<Vec<u8>, String> {
        let in_words = |e: String| format!("{}: {e}", setting.words());
        let mut out = Vec::new();
        setting.encode(self.sample, &mut out, self.options.threads).map_err(in_words)?;
        out.shrink_to_fit();
        let mut buffer = vec![0; self.sample.len().max(BUFFER)];
        let decoded = setting.decode(&out, &mut buffer).map_err(in_words)?;
        match decoded == self.sample.len() as u64 {
            true => Ok(out),
            false => Err(in_words(format!("{decoded} bytes decoded of {}", self.sample.len()))),
        }
    }

    /// Speeds of encoding with this many threads. Deflate uses them for one stream; zstd encodes a
    /// stream on each.
    fn encode(
        &self,
        settings: &[Setting],
        threads: usize,
        clock: Clock,
        budget: Duration,
    ) -> Result<Vec<Speed>, String> {
        let turn = |setting: &Setting| {
            let setting = *setting;
            let mut out = Vec::new();
            let work: Box<dyn FnMut() -> Result<(), String>> = match setting {
                Setting::Deflate { .. } => Box::new(move || setting.encode(self.sample, &mut out, threads)),
                Setting::Zstd { .. } => Box::new(move || {
                    on_threads(threads, &|_| setting.encode(self.sample, &mut Vec::new(), 1))
                }),
            };
            let copies = if matches!(setting, Setting::Zstd { .. }) { threads as u64 } else { 1 };
            let name = format!("{}, encoding with {threads} threads", setting.words());
            Turn { name, bytes: copies * self.sample.len() as u64, work }
        };
        let mut turns: Vec<Turn<'_>> = settings.iter().map(turn).collect();
        rounds(&mut turns, clock, budget, self.progress)
    }

    /// Speeds of decoding with this many threads, each of which decodes its own copy of the stream.
    fn decode(
        &self,
        settings: &[Setting],
        compressed: &[Vec<u8>],
        threads: usize,
        clock: Clock,
        budget: Duration,
    ) -> Result<Vec<Speed>, String> {
        let buffer = self.sample.len().max(BUFFER);
        let own: Vec<std::sync::Mutex<Vec<u8>>> = (0..threads).map(|_| vec![0; buffer].into()).collect();
        let own = &own;
        let turn = |(setting, compressed): (&Setting, &'_ Vec<u8>)| {
            let (setting, compressed) = (*setting, compressed.clone());
            let work = move || {
                on_threads(threads, &|i| {
                    let mut buffer = lock(&own[i]);
                    setting.decode(&compressed, &mut buffer).map(|_| ())
                })
            };
            let name = format!("{}, decoding with {threads} threads", setting.words());
            Turn { name, bytes: threads as u64 * self.sample.len() as u64, work: Box::new(work) }
        };
        let mut turns: Vec<Turn<'_>> = settings.iter().zip(compressed).map(turn).collect();
        rounds(&mut turns, clock, budget, self.progress)
    }
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
        let measured = measure(Shape::Bytes, &[path], &options, &|_| {}).expect("measured");
        assert_eq!((measured.bytes, measured.measurements.len()), (200_000, settings().len()));
        assert!(measured.sampled >= 65_536 && measured.sampled <= 200_000, "{}", measured.sampled);
        for found in &measured.measurements {
            assert_eq!(found.content, measured.sampled, "{}", found.settings);
            assert!(found.ratio() > 2.0, "{}: {}", found.settings, found.ratio());
            assert!(found.encode.is_some_and(|speed| speed.low > 0.0 && speed.low <= speed.high));
            assert_eq!(found.decode_scaling.len(), 2);
            assert_eq!(found.command.is_none(), found.engine == "zstd", "{}", found.settings);
        }
    }

    #[test]
    fn more_threads_than_streams_gain_with_bgzf_and_at_a_cost_where_enough_share_a_gzip_stream() {
        let point = |threads: usize, speed: f64| linerate_plan::Scaling {
            threads,
            speed: Speed { low: speed, median: speed, high: speed },
        };
        let measured = || Measurement {
            decode_scaling: vec![point(1, 10.0), point(2, 19.0), point(4, 35.0)],
            ..Measurement::default()
        };
        let deflate = |form| Setting::Deflate { level: 1, call: 4096, form };
        let speeds = |setting, streams| {
            let mut measurement = measured();
            limit_to_streams(&mut measurement, &setting, streams);
            measurement.decode_scaling.iter().map(|point| point.speed.median).collect::<Vec<_>>()
        };
        assert_eq!(speeds(deflate(Form::Stateless), 1), [10.0, 10.0, 10.0 * 4.0 / SHARED_COST]);
        assert_eq!(speeds(deflate(Form::Stateless), 2), [10.0, 19.0, 19.0]);
        assert_eq!(speeds(deflate(Form::Bgzf), 1), [10.0, 19.0, 35.0]);
        assert_eq!(speeds(Setting::Zstd { level: 3 }, 1), [10.0, 10.0, 10.0]);
    }
}
