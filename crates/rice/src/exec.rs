//! How work is done, as opposed to what it yields.

use linerate_core::{Tier, cpu};

/// How many threads and which CPU features to use. No byte of any result depends on it.
///
/// ```
/// use linerate_rice::Exec;
/// let four = Exec::threads(4);
/// assert_eq!(Exec::default(), Exec::threads(1));
/// # let _ = four;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exec {
    threads: usize,
    tier: Tier,
}

impl Default for Exec {
    /// The calling thread alone, the best tier of this machine.
    fn default() -> Self {
        Exec::threads(1)
    }
}

impl Exec {
    /// At most `threads` threads, the calling one among them; 0 counts as 1. Threads share out
    /// segments, so a chunk of one segment is always coded by one. They end before the call
    /// does. Without the feature `std` there is one thread.
    pub fn threads(threads: usize) -> Exec {
        Exec { threads: threads.max(1), tier: cpu::tier() }
    }

    /// The same with the kernels of `tier`, or of the best tier that this machine has if that is
    /// lower.
    #[must_use]
    pub fn with_tier(self, tier: Tier) -> Exec {
        let tier = Tier::ALL.into_iter().rfind(|&t| t <= tier && t.is_supported()).unwrap_or(Tier::Scalar);
        Exec { tier, ..self }
    }

    /// The tier in use. Always one that this machine supports.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    #[cfg(feature = "std")]
    pub(crate) fn thread_count(&self) -> usize {
        self.threads
    }
}
