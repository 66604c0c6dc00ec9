//! A cancel token for packing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{PackError, PackResult};

/// Cancels packing from another thread or a signal handler. Clones share one flag, which is checked
/// before every block, every file and every entry of a folder, and before the archive gets its name.
///
/// A cancelled call returns an error for which [`PackError::is_cancelled`] is true, and leaves the
/// target unchanged.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token on the caller's own flag: setting it to `true` cancels.
    pub fn from_flag(flag: Arc<AtomicBool>) -> CancelToken {
        CancelToken(flag)
    }

    /// Cancels the work.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn check(&self) -> PackResult<()> {
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
