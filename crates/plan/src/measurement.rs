//! The measurement of a candidate, which is an engine with its settings, on the user's data.

/// A measured candidate. Speeds are in bytes of content per second, never of compressed data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Name of the engine, or of another library: `nx`, `rice`, `dict`, `deflate`, `gateway`,
    /// `zstd`.
    pub engine: String,
    /// The settings in words, such as `zstd 12, blocks of 1 MiB`.
    pub settings: String,
    /// The command that applies the settings to all of the data, one element per argument. `None`
    /// for a candidate that is measured only for comparison and is never chosen.
    pub command: Option<Vec<String>>,
    /// Bytes of content whose compressed size is `compressed`: of a sample, or of all data.
    pub content: u64,
    /// Bytes of compressed data, measured or estimated from a sample, including dictionaries,
    /// indexes and headers.
    pub compressed: u64,
    /// Speed of encoding with one thread.
    pub encode: Option<Speed>,
    /// Speed of decoding with one thread.
    pub decode: Option<Speed>,
    /// Speeds of encoding with several threads, by number of threads.
    pub encode_scaling: Vec<Scaling>,
    /// Speeds of decoding with several threads, by number of threads.
    pub decode_scaling: Vec<Scaling>,
    /// Memory for decoding. For streams of gzip and zstd it is the memory for encoding.
    pub memory: Memory,
    /// Random reads, for data from which single records, blocks or parts of files are read.
    pub read: Option<Read>,
}

impl Measurement {
    /// Content size divided by compressed size: 2.0 for half the size. 1.0 if nothing was
    /// compressed.
    pub fn ratio(&self) -> f64 {
        match self.compressed {
            0 => 1.0,
            compressed => self.content as f64 / compressed as f64,
        }
    }
}

/// A speed in bytes of content per second, which was measured in several rounds.
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

    /// Returns the speed if additional work takes `seconds` for each byte.
    pub fn after(self, seconds: f64) -> Speed {
        let both = |speed: f64| if speed > 0.0 { 1.0 / (1.0 / speed + seconds) } else { speed };
        Speed { low: both(self.low), median: both(self.median), high: both(self.high) }
    }
}

/// The speed of several threads together, by elapsed time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// Number of threads.
    pub threads: usize,
    /// Bytes of content per second of all threads together.
    pub speed: Speed,
}

/// Memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Memory per open stream, connection, archive or dictionary while it is idle.
    pub per_stream: u64,
    /// Memory per working thread.
    pub per_thread: u64,
}

/// A random read of one record or block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Read {
    /// Median time on one core, in seconds. For blocks with dictionaries it is measured with cold
    /// caches.
    pub seconds: f64,
    /// Mean number of compressed bytes to fetch.
    pub fetched: f64,
}
