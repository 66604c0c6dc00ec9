//! The measurement of a candidate, which is an engine with its settings, on the user's data.

/// A measured candidate. Speeds are in bytes of content per second, never of compressed data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Name of the engine or library: `nx`, `rice`, `dict`, `deflate`, `gateway` or `zstd`. Empty
    /// for storing without compression.
    pub engine: String,
    /// The settings in words, such as `zstd 12, blocks of 1 MiB`.
    pub settings: String,
    /// The command to run if the candidate is chosen, one element per argument. Usually it
    /// compresses all of the data with these settings. `None` for a candidate that is measured only
    /// for comparison and is never chosen.
    pub command: Option<Vec<String>>,
    /// Bytes of content whose compressed size is `compressed`: of a sample, or of all data.
    pub content: u64,
    /// Bytes of compressed data, measured or estimated from a sample, including dictionaries,
    /// indexes and headers.
    pub compressed: u64,
    /// Speed of encoding with one thread, if it was measured.
    pub encode: Option<Speed>,
    /// Speed of decoding with one thread, if it was measured.
    pub decode: Option<Speed>,
    /// Speeds of encoding by number of threads, in any order. If one thread is among them, its
    /// speed replaces `encode` in the plan.
    pub encode_scaling: Vec<Scaling>,
    /// Speeds of decoding by number of threads, in any order. If one thread is among them, its
    /// speed replaces `decode` in the plan.
    pub decode_scaling: Vec<Scaling>,
    /// Memory for decoding. For candidates that compress files with gzip or zstd it is the memory
    /// for encoding.
    pub memory: Memory,
    /// CPU seconds that a command for all of the data takes besides coding: to start, and to use
    /// its memory for the first time. Speeds do not include them.
    pub start: f64,
    /// Random reads, for data from which single records, blocks or parts of files are read.
    pub read: Option<Read>,
}

impl Measurement {
    /// Returns content size divided by compressed size: 2.0 for half the size. 1.0 if the
    /// compressed size is 0.
    pub fn ratio(&self) -> f64 {
        match self.compressed {
            0 => 1.0,
            compressed => self.content as f64 / compressed as f64,
        }
    }
}

/// A speed in bytes of content per second, from one or more rounds of measuring.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed {
    /// Slowest round.
    pub low: f64,
    /// Median round.
    pub median: f64,
    /// Fastest round.
    pub high: f64,
}

impl Speed {
    /// Returns the speed times `factor`.
    pub fn scaled(self, factor: f64) -> Speed {
        Speed { low: self.low * factor, median: self.median * factor, high: self.high * factor }
    }

    /// Returns the speed with `seconds` of additional work for each byte. A speed of zero stays
    /// zero.
    pub fn after(self, seconds: f64) -> Speed {
        let both = |speed: f64| if speed > 0.0 { 1.0 / (1.0 / speed + seconds) } else { speed };
        Speed { low: both(self.low), median: both(self.median), high: both(self.high) }
    }
}

/// The speed with a number of threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// Number of threads.
    pub threads: usize,
    /// Speed of all threads together: bytes of content per second of elapsed time.
    pub speed: Speed,
}

/// Memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Memory per open stream, connection, archive or dictionary while it is idle.
    pub per_stream: u64,
    /// Additional memory per thread that encodes or decodes.
    pub per_thread: u64,
}

/// A random read of one record, one block or a part of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Read {
    /// Median time on one core, in seconds, without fetching the bytes through the pipe. Candidates
    /// of the engine `dict` are read with cold CPU caches.
    pub seconds: f64,
    /// Mean number of compressed bytes to fetch through the pipe.
    pub fetched: f64,
}
