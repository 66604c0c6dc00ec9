//! Candidates of a plan: engines and settings measured on a sample of the user's data.
//!
//! [`measure`] takes files of one [`Shape`], measures every candidate of that shape, and returns
//! the input from which `linerate_plan` chooses. Each measurement has the command that applies its
//! settings to all of the data.
//!
//! The sample is deterministic: the same data, options and seed give the same bytes, so a second
//! plan differs only by the noise of the clock. Speeds come from the rounds of [`timing`]:
//! candidates take turns, so that a disturbance of the machine hits all of them alike.
//!
//! | module | content |
//! |---|---|
//! | [`timing`] | interleaved rounds in CPU time on one thread, in elapsed time on several |
//! | `sample` | a bounded, spread-out sample of files |
//! | [`drive`] | the rates at which the drive is read past the system's cache, and written |
//! | `file_cost` | the system's CPU time to read files and write results |
//! | `files` | folders: Nx archives by level, block size and preset |
//! | `nx_settings`, `control` | their settings; estimates of ratios |
//! | `bytes` | plain bytes and text: deflate by level and call size |
//! | [`arrays`], `waveforms` | samples in `.npy`, WAV and HDF5 files: Delta-Rice |
//! | `records` | lines: blocks and dictionaries |
//! | [`messages`] | recordings of gateways: transports and windows |
//! | [`sst`] | RocksDB's SST files: their blocks with other levels and dictionaries |
//! | `pieces` | pieces that candidates code, checked and timed |
//! | `blocks` | blocks with dictionaries, and cold reads |
//! | `general` | libzstd and deflate, to compare with |
//! | [`stats`], [`environment`] | medians and speeds; date, CPU and command of a measurement |
//! | `sys/` | the operating system's clocks, HDF5's library: all `unsafe` code |

pub mod arrays;
mod blocks;
mod bytes;
mod control;
pub mod drive;
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

/// The kind of data, which determines the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Folders and any number of files, for one archive.
    Files,
    /// Bytes without a known structure; each file is a stream.
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
    /// Target duration of the measurement in seconds. It determines the size of the sample, without
    /// regard to the speed of the machine, so that a second plan has the same sample.
    pub seconds: f64,
    /// Number of threads, the most for which scaling is measured.
    pub threads: usize,
    /// Selects the sample among equally spread ones.
    pub seed: u64,
}

impl Default for Options {
    /// 20 seconds on all cores.
    fn default() -> Options {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Options { seconds: 20.0, threads, seed: 1 }
    }
}

/// The measurements, and how much of the data they cover.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The candidates, in the order of their table.
    pub measurements: Vec<Measurement>,
    /// Bytes of all of the data.
    pub bytes: u64,
    /// Bytes of the sample that every candidate compressed.
    pub sampled: u64,
    /// CPU seconds that the system takes to write a byte into a new file; 0 if this could not be
    /// measured.
    pub writing: f64,
    /// Sentences about what could not be measured.
    pub notes: Vec<String>,
}

/// Receives a description of the step that begins.
pub type Progress<'p> = &'p dyn Fn(&str);

/// Measures the candidates of a shape on these files and folders.
///
/// # Errors
/// A sentence that names the file, if it cannot be read or there is nothing to compress.
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

/// The folder that the commands of a shape write to: the current folder for an archive, that of the
/// input for others.
pub fn output_folder(shape: Shape, paths: &[PathBuf]) -> &Path {
    let parent = paths.first().and_then(|path| path.parent());
    let is_named = |folder: &&Path| !folder.as_os_str().is_empty();
    parent.filter(|_| shape != Shape::Files).filter(is_named).unwrap_or(Path::new("."))
}

/// `linerate rice` reads a piece, codes it on all threads, and writes it. `linerate dict build` has
/// one thread.
fn overlap(shape: Shape) -> Overlap {
    match shape {
        Shape::Waveforms | Shape::Records => Overlap::Serial,
        _ => Overlap::Parallel,
    }
}
