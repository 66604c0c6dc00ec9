//! Options of a call that do not change its result: number of threads, and CPU tier.

use linerate_core::{Tier, cpu};

/// Samples that each thread should code at least. Starting a thread takes as long as coding about as
/// many: 50 to 100 µs.
#[cfg(feature = "file")]
const SAMPLES_PER_THREAD: usize = 64 << 10;

/// How many threads and which CPU features to use. No byte of any result depends on them.
///
/// ```
/// use linerate_rice::Options;
/// let four = Options::new().threads(4);
/// assert_eq!(Options::default(), Options::new().threads(1));
/// # let _ = four;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    threads: usize,
    /// Always a tier that this machine supports.
    pub(crate) tier: Tier,
}

impl Default for Options {
    /// [`Options::new`].
    fn default() -> Self {
        Options::new()
    }
}

impl Options {
    /// The calling thread alone, and the tier of [`linerate_core::cpu::tier`]: the highest of this
    /// machine, or a lower one that `LINERATE_CPU` names.
    pub fn new() -> Options {
        Options { threads: 1, tier: cpu::tier() }
    }

    /// Uses at most `threads` threads, the calling one included; 0 counts as 1. Each thread codes
    /// whole segments, so a chunk of one segment never uses more than one thread. All threads have
    /// ended when the call returns. Without the feature `std`, and in WebAssembly, there is one
    /// thread.
    #[must_use]
    pub fn threads(self, threads: usize) -> Options {
        Options { threads: threads.max(1), ..self }
    }

    /// Uses the kernels of `tier`, or of the highest tier of this machine if that is lower.
    #[must_use]
    pub fn tier(self, tier: Tier) -> Options {
        let tier = Tier::ALL.into_iter().rfind(|&t| t <= tier && t.is_supported()).unwrap_or(Tier::Scalar);
        Options { tier, ..self }
    }

    /// Uses fewer threads if there are too few samples for all of them.
    #[cfg(feature = "file")]
    pub(crate) fn for_samples(self, samples: usize) -> Options {
        self.threads(self.threads.min(samples / SAMPLES_PER_THREAD))
    }

    #[cfg(feature = "std")]
    pub(crate) fn thread_count(&self) -> usize {
        self.threads
    }
}
