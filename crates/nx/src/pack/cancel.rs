//! A cancel token for packing. It also counts the steps of each stage, which shows progress before
//! the first block.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::error::{PackError, PackResult};
use super::progress::Stage;

/// Cancels packing from another thread or a signal handler. Clones share one flag. Packing checks
/// it before every block, every file and every entry of a folder, and before the archive gets its
/// name.
///
/// A cancelled call returns an error for which [`PackError::is_cancelled`] is true, and leaves the
/// target unchanged.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
    /// The stage, shifted left by [`STAGE_SHIFT`], and in the low bits the number of its steps.
    begun: Arc<AtomicU64>,
}

/// Number of low bits that count steps.
const STAGE_SHIFT: u32 = 56;

impl CancelToken {
    /// Creates a token on the caller's own flag: setting the flag to `true` cancels.
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

    /// Returns the current stage and the number of its steps that have begun; [`Stage`] says what
    /// each stage counts. A thread that polls this can show that the work goes on.
    /// [`Progress`](super::Progress) is reported only from the first block.
    pub fn stage(&self) -> (Stage, u64) {
        let begun = self.begun.load(Ordering::Relaxed);
        (Stage::from_number(begun >> STAGE_SHIFT), begun & ((1 << STAGE_SHIFT) - 1))
    }

    /// Begins a stage.
    pub(super) fn begin(&self, stage: Stage) {
        self.begun.store((stage as u64) << STAGE_SHIFT, Ordering::Relaxed);
    }

    /// Counts a step that begins, and fails if the work is cancelled.
    pub(super) fn step(&self) -> PackResult<()> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.check()
    }

    /// Fails if the work is cancelled.
    pub(super) fn check(&self) -> PackResult<()> {
        if self.is_cancelled() { Err(PackError::cancelled()) } else { Ok(()) }
    }
}

/// All tokens are equal: a token is no setting, so it does not count when two
/// [`PackOptions`](super::PackOptions) are compared.
impl PartialEq for CancelToken {
    fn eq(&self, _: &CancelToken) -> bool {
        true
    }
}

impl Eq for CancelToken {}
