//! Candidates of a plan: engines and settings measured on a sample of the user's data.
//!
//! [`measure`] takes files of one [`Shape`], measures every candidate that the shape has, and returns what
//! `linerate_plan` chooses from. Each measurement carries the command that applies its settings to all of the data.
//!
//! The sample is deterministic: the same data, options and seed give the same bytes, so that a second plan differs
//! in the noise of the clock alone. Speeds are the rounds of `timing`: candidates take turns, so that a disturbance of
//! the machine hits all of them alike.
//!
//! | module | content |
//! |---|---|
//! | [`timing`] | interleaved rounds in CPU time on one thread, in elapsed time on several |
//! | `sample` | a bounded, spread-out sample of files |
//! | `file_cost` | what the system takes to read them, and to write what they become |
//! | `files`, `nx_settings`, `control` | folders: Nx archives by level, block size and preset; their settings; estimates of ratios |
//! | `bytes` | plain bytes and text: deflate by level and call size |
//! | [`arrays`], `waveforms` | samples in `.npy`, WAV and HDF5 files: Delta-Rice |
//! | `records` | lines: blocks and dictionaries |
//! | [`messages`] | recordings of gateways: transports and windows |
//! | [`sst`] | RocksDB's SST files: their blocks with other levels and dictionaries |
//! | `pieces`, `blocks`, `general` | pieces that candidates code, checked and timed; blocks with dictionaries and cold reads; libzstd and deflate |
//! | [`stats`], [`environment`] | medians and speeds; date, CPU and command of a measurement |
//! | `sys/` | the operating system's clocks, HDF5's library: all `unsafe` code |

pub mod arrays;
mod blocks;
mod bytes;
mod control;
pub mod environment;
mod file_cost;
mod files;
mod general;
pub mod messages;
mod nx_settings;
mod pieces;
mod records;
pub mod sample;
pub mod sst;
pub mod stats;
mod sys;
#[cfg(test)]
mod testdata;
pub mod timing;
mod waveforms;

use std::path::{Path, PathBuf};

use linerate_plan::Measurement;

use self::file_cost::{FileCost, Overlap};
pub use self::sys::clock::{cpu_time, footprint, heap_in_use, thread_time};

/// What the data is, which decides the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Folders and any number of files, for one archive.
    Files,
    /// Bytes without a known structure, a stream per file.
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
    /// Seconds that the measurement should take. The size of the sample follows from them, not from the speed of the
    /// machine, so that it is the same for a second plan.
    pub seconds: f64,
    /// Threads, the most that scaling is measured with.
    pub threads: usize,
    /// Selects the sample among those that are equally spread.
    pub seed: u64,
}

impl Default for Options {
    /// 20 seconds on all cores.
    fn default() -> Options {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Options { seconds: 20.0, threads, seed: 1 }
    }
}

/// What was measured, and of how much of the data.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The candidates, in the order of their table.
    pub measurements: Vec<Measurement>,
    /// Bytes of all of the data.
    pub bytes: u64,
    /// Bytes of the sample that every candidate compressed.
    pub sampled: u64,
    /// CPU seconds that the system takes to write a byte into a new file; 0 if that could not be measured.
    pub writing: f64,
    /// Sentences about what could not be measured.
    pub notes: Vec<String>,
}

/// Is told what is measured now.
pub type Progress<'p> = &'p dyn Fn(&str);

/// Measures the candidates of a shape on these files and folders.
///
/// # Errors
/// A sentence that names the file: it cannot be read, or there is nothing to compress.
pub fn measure(
    shape: Shape,
    paths: &[PathBuf],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Measured, String> {
    let mut measured = match shape {
        Shape::Files => files::measure(paths, options, progress),
        Shape::Bytes | Shape::Text => bytes::measure(shape, paths, options, progress),
        Shape::Waveforms => waveforms::measure(paths, options, progress),
        Shape::Records => records::measure(paths, options, progress),
        Shape::Messages => messages::measure(paths, options, progress),
        Shape::Sst => sst::measure(paths, options, progress),
    }?;
    progress("reading and writing files");
    let cost = sample::FileSet::new(paths).map_or_else(
        |_| FileCost::default(),
        |set| FileCost::measure(&set, output_folder(shape, paths), options.seed),
    );
    measured.measurements.iter_mut().for_each(|found| cost.include(found, overlap(shape)));
    measured.writing = cost.write;
    Ok(measured)
}

/// Where the commands of a shape write: an archive into the current folder, others beside their input.
fn output_folder(shape: Shape, paths: &[PathBuf]) -> &Path {
    let parent = paths.first().and_then(|path| path.parent());
    let is_named = |folder: &&Path| !folder.as_os_str().is_empty();
    parent.filter(|_| shape != Shape::Files).filter(is_named).unwrap_or(Path::new("."))
}

/// `linerate rice` reads a piece, codes it on all threads, and writes it; `linerate dict build` has one thread.
fn overlap(shape: Shape) -> Overlap {
    match shape {
        Shape::Waveforms | Shape::Records => Overlap::Serial,
        _ => Overlap::Parallel,
    }
}
