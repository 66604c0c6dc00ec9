//! A cancel token for packing, which also tells how far it is before its first block.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::error::{PackError, PackResult};
use super::progress::Stage;

/// Cancels packing from another thread or a signal handler. Clones share one flag, which is checked
/// before every block, every file and every entry of a folder, and before the archive gets its name.
///
/// A cancelled call returns an error for which [`PackError::is_cancelled`] is true, and leaves the
/// target unchanged.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
    /// The stage, and below [`STAGE_SHIFT`] bits of it the checks since it began.
    begun: Arc<AtomicU64>,
}

/// Bits of the number of checks.
const STAGE_SHIFT: u32 = 56;

impl CancelToken {
    /// A token on the caller's own flag: setting it to `true` cancels.
    pub fn from_flag(flag: Arc<AtomicBool>) -> CancelToken {
        CancelToken { cancelled: flag, begun: Arc::default() }
    }

    /// Cancels the work.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// What the work is at, and how many entries, files or blocks of that it has begun: for a line that shows that it goes on,
    /// from a thread that asks now and then. [`Progress`](super::Progress) comes with the first block.
    pub fn stage(&self) -> (Stage, u64) {
        let begun = self.begun.load(Ordering::Relaxed);
        (Stage::from_number(begun >> STAGE_SHIFT), begun & ((1 << STAGE_SHIFT) - 1))
    }

    /// Begins a stage.
    pub(super) fn begin(&self, stage: Stage) {
        self.begun.store((stage as u64) << STAGE_SHIFT, Ordering::Relaxed);
    }

    /// Counts an entry, a file or a block that is begun, and fails if the work is cancelled.
    pub(super) fn check(&self) -> PackResult<()> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        if self.is_cancelled() { Err(PackError::cancelled()) } else { Ok(()) }
    }
}

/// All tokens are equal, so that [`PackOptions`](super::PackOptions) compare by what they pack.
impl PartialEq for CancelToken {
    fn eq(&self, _: &CancelToken) -> bool {
        true
    }
}

impl Eq for CancelToken {}
