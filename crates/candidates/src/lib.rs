//! Measures candidates, which are engines with settings, on a sample of the user's data.
//!
//! [`measure`] takes files of one [`Shape`] (a kind of data), measures every candidate for that
//! shape, and returns the input from which `linerate_plan` chooses. A measurement has the command
//! that applies its settings to the data. It has none if no command does so; then the candidate was
//! measured only for comparison.
//!
//! The sample is deterministic: the same data and options, which include a seed, give the same
//! bytes, so a second plan differs only by the noise of the clock. Speeds of coding come from
//! rounds: in each round every candidate has its turn, so that a disturbance of the machine hits
//! all of them alike and can be evened out.
//!
//! | module | content |
//! |---|---|
//! | [`timing`] | rounds, timed in CPU time on one thread, in elapsed time on several |
//! | [`sample`] | a sample of files, of about a given size, spread over all of the data |
//! | [`drive`] | the rates at which the drive is read, past the system's cache, and written |
//! | `file_cost` | the system's CPU time to read files and write results |
//! | `files` | Nx archives by codec, level, block size and preset |
//! | `nx_settings`, `layout` | settings of Nx archives; their blocks in all of the data |
//! | `control` | estimates of compressed sizes |
//! | `streams` | files as streams: gzip, BGZF and zstd by level |
//! | [`arrays`], `waveforms`, `rice_files` | waveforms in `.npy`, WAV and HDF5 files: Delta-Rice |
//! | `records` | lines: blocks and dictionaries |
//! | [`messages`] | recordings of gateways: zlib and zstd streams, and zstd window sizes |
//! | [`sst`] | RocksDB's SST files: their blocks with other levels and dictionaries |
//! | `pieces` | checks and times candidates that code a list of pieces |
//! | `blocks` | blocks with dictionaries, and the time to read one with cold caches |
//! | `general` | zstd after a byte shuffle, for comparison |
//! | `command` | operands and outputs of commands |
//! | [`stats`], [`environment`] | medians and speeds; date, CPU and command of a measurement |
//! | `sys/` | CPU clocks, the size of the heap, HDF5's library: all `unsafe` code |

pub mod arrays;
mod blocks;
mod command;
mod control;
pub mod drive;
pub mod environment;
mod file_cost;
mod files;
mod general;
mod layout;
pub mod messages;
mod nx_settings;
mod pieces;
mod records;
mod rice_files;
pub mod sample;
pub mod sst;
pub mod stats;
mod streams;
mod sys;
#[cfg(test)]
mod testdata;
pub mod timing;
mod waveforms;

use std::path::PathBuf;
use std::time::Duration;

use linerate_plan::{Measurement, Speed};

pub use self::command::operand;
use self::file_cost::{FileCost, Files, Overlap};
use self::files::Archives;
use self::streams::Streams;
pub use self::sys::clock::{cpu_time, footprint, heap_in_use, thread_time};
use self::timing::Turn;

/// The kind of data, which determines the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Folders and files that one archive will hold.
    Files,
    /// Files without a known structure.
    Bytes,
    /// Text that is sent in pieces, such as the bodies of HTTP responses.
    Text,
    /// Arrays of samples.
    Waveforms,
    /// Records of one kind, such as JSON lines.
    Records,
    /// Recorded messages of gateway connections.
    Messages,
    /// RocksDB's SST files.
    Sst,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 7] = [
        Shape::Files,
        Shape::Bytes,
        Shape::Text,
        Shape::Waveforms,
        Shape::Records,
        Shape::Messages,
        Shape::Sst,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Files => "files",
            Shape::Bytes => "bytes",
            Shape::Text => "text",
            Shape::Waveforms => "waveforms",
            Shape::Records => "records",
            Shape::Messages => "messages",
            Shape::Sst => "sst",
        }
    }
}

/// Options of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Intended duration of the whole measurement in seconds. On a machine as fast as this
    /// project's, the real duration is hardly longer, and down to half of that, unless all of the
    /// data is the sample. `seconds` determines the size of the sample, without regard to the speed
    /// of the machine, so that a second plan has the same sample.
    pub seconds: f64,
    /// Largest number of threads with which speeds are measured. For some shapes it also determines
    /// the size of the sample.
    pub threads: usize,
    /// Seed of the random numbers that choose the sampled parts of the data. Candidates whose
    /// samples are at equal distances do not depend on it.
    pub seed: u64,
}

impl Default for Options {
    /// Returns 20 seconds, all cores and seed 1.
    fn default() -> Options {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Options { seconds: 20.0, threads, seed: 1 }
    }
}

/// The measurements, and how much of the data they cover.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The measured candidates.
    pub measurements: Vec<Measurement>,
    /// Bytes of all of the data.
    pub bytes: u64,
    /// Bytes of the largest sample of those that fast candidates compressed. Slow candidates may
    /// have compressed others.
    pub sampled: u64,
    /// CPU seconds that the system takes to write a byte into a new file; 0 if this could not be
    /// measured.
    pub writing: f64,
    /// Sentences about estimates, about data that was left out, and about limits of the commands.
    pub notes: Vec<String>,
}

/// Share of `Options::seconds` for measuring candidates. The rest is for measuring the drive, and
/// the cost of reading and writing files.
const CANDIDATES: f64 = 0.85;
/// Share of the candidates' time for the engine that is made for waveforms or for records, if that
/// is the shape. The rest is for candidates that suit any file.
const OWN: f64 = 0.5;
/// Share of the time of streams and archives for decoding them. Other candidates have shares of
/// their own.
const DECODE_SHARE: f64 = 0.25;

/// Receives a description of the step that begins.
pub type Progress<'p> = &'p dyn Fn(&str);

/// Measures the candidates for a shape on these files and folders.
///
/// # Errors
/// Returns a sentence if a file cannot be read, there is nothing to compress, or a candidate fails.
pub fn measure(
    shape: Shape,
    paths: &[PathBuf],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Measured, String> {
    let part = |share: f64| Options { seconds: options.seconds * share, ..*options };
    let files = |share| files::measure(nx_settings::settings(), paths, &part(share), progress);
    let general = |share| general(paths, &part(share), progress);
    let mut measured = match shape {
        Shape::Files => files(CANDIDATES),
        Shape::Bytes => general(CANDIDATES),
        Shape::Text => streams::measure(shape, paths, &part(CANDIDATES), progress),
        Shape::Waveforms => match waveforms::measure(paths, &part(CANDIDATES * OWN), progress)? {
            found if found.are_repacked() => Ok(found),
            found if found.measurements.is_empty() => Ok(found.and(general(CANDIDATES)?)),
            found => Ok(found.and(general(CANDIDATES * (1.0 - OWN))?)),
        },
        Shape::Records => {
            let found = records::measure(paths, &part(CANDIDATES * OWN), progress)?;
            Ok(found.and(general(CANDIDATES * (1.0 - OWN))?))
        }
        Shape::Messages => messages::measure(paths, &part(CANDIDATES), progress),
        Shape::Sst => sst::measure(paths, &part(CANDIDATES), progress),
    }?;
    progress("reading and writing files");
    if let Ok(set) = sample::FileSet::new(paths) {
        let cost = FileCost::measure(&set, &output_folder(shape, paths), options);
        for found in &mut measured.measurements {
            found.start = cost.memory * first_used(found) as f64;
            cost.include(found, overlap(&found.engine), accessed(&found.engine, &set));
        }
        measured.writing = cost.write;
    }
    let mut words = measured.measurements.iter().filter_map(|found| found.command.as_ref()).flatten();
    if words.any(|word| word.contains(char::REPLACEMENT_CHARACTER)) {
        let note = "A name is not UTF-8: the commands have \u{fffd} instead of some of its bytes.";
        measured.notes.push(note.into());
    }
    Ok(measured)
}

/// Measures candidates that suit files of any content: one stream for each file, and one archive for
/// all files. Encoding has half of its time for each; all take turns at decoding.
fn general(paths: &[PathBuf], options: &Options, progress: Progress<'_>) -> Result<Measured, String> {
    let half = Options { seconds: options.seconds / 2.0, ..*options };
    let streams = Streams::encode(Shape::Bytes, paths, &half, progress)?;
    // If no archive can be made, for example because of the files' names, only streams are
    // candidates.
    let archives = Archives::pack(nx_settings::for_one_file(), paths, &half, progress);
    let mut turns = streams.decoding();
    let of_streams = turns.len();
    if let Ok(archives) = &archives {
        turns.extend(archives.decoding()?);
    }
    let speeds = decode(turns, options, progress)?;
    let (one, other) = speeds.split_at(of_streams);
    let mut streams = streams.measured(one);
    match archives {
        Ok(archives) => Ok(streams.and(archives.measured(other, progress)?)),
        Err(why) => {
            streams.notes.push(format!("No archive was measured: {why}."));
            Ok(streams)
        }
    }
}

/// Times decoding of streams and archives in its share of the time of `options`.
fn decode(mut turns: Vec<Turn<'_>>, options: &Options, progress: Progress<'_>) -> Result<Vec<Speed>, String> {
    timing::rounds(&mut turns, Duration::from_secs_f64(options.seconds * DECODE_SHARE), progress)
}

impl Measured {
    /// Whether the commands make HDF5 files. Then candidates that compress whole files are not
    /// measured, since their output is no HDF5 file.
    fn are_repacked(&self) -> bool {
        let mut commands = self.measurements.iter().filter_map(|found| found.command.as_ref());
        commands.any(|command| command[0] == "h5repack")
    }

    /// Adds other candidates for the same data. Scales sizes of samples to all of the data, so that
    /// all candidates can be compared.
    fn and(mut self, others: Measured) -> Measured {
        self.measurements.extend(others.measurements);
        self.notes.extend(others.notes);
        self.bytes = self.bytes.max(others.bytes);
        self.sampled = self.sampled.max(others.sampled);
        self.measurements.iter_mut().for_each(|found| scale(found, self.bytes));
        self
    }
}

/// Scales the sizes in a measurement of a sample up to `bytes` bytes of content, at the same ratio.
/// Sizes of more content, and of none, stay as they are.
fn scale(found: &mut Measurement, bytes: u64) {
    if (1..bytes).contains(&found.content) {
        let scaled = u128::from(found.compressed) * u128::from(bytes) / u128::from(found.content);
        found.compressed = u64::try_from(scaled).unwrap_or(u64::MAX);
        found.content = bytes;
    }
}

/// Returns the folder to which the commands for a shape are assumed to write: the one that contains
/// the first path. If the first path is a folder, archives are written beside it, and other outputs
/// beside the files in it.
pub fn output_folder(shape: Shape, paths: &[PathBuf]) -> PathBuf {
    match paths.first() {
        Some(folder) if shape != Shape::Files && folder.is_dir() => folder.clone(),
        Some(path) => command::folder_of(path),
        None => PathBuf::from("."),
    }
}

/// Returns how many files an engine's command reads and writes. An archive and a block file hold all
/// files; other commands write a file for each.
fn accessed(engine: &str, set: &sample::FileSet) -> Files {
    let per_byte = |files: usize| files as f64 / set.bytes.max(1) as f64;
    let compressed = if ["nx", "dict"].contains(&engine) { 1 } else { set.files.len() };
    Files { content: per_byte(set.files.len()), compressed: per_byte(compressed) }
}

/// Returns the bytes of memory that each thread of a candidate's command uses for the first time
/// before it can decode. They are not counted for codecs whose memory was measured when encoding,
/// which takes far longer than the first use of memory.
fn first_used(found: &Measurement) -> u64 {
    match found.engine.as_str() {
        "nx" | "rice" => found.memory.per_thread,
        _ => 0,
    }
}

/// Returns how an engine's command accesses files. `linerate dict build` has one thread.
fn overlap(engine: &str) -> Overlap {
    match engine {
        "dict" => Overlap::Serial,
        _ => Overlap::Parallel,
    }
}
