//! Reports the progress of packing to the caller's callback, which can cancel the work.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard};

use linerate_core::lock;
use linerate_nx::pack::{CancelToken, Progress};

use crate::pack::linerate_pack_progress;

/// The caller's progress callback, and the progress that it was last called with.
pub(crate) struct Reporter {
    call: unsafe extern "C" fn(*mut c_void, *const linerate_pack_progress) -> i32,
    context: *mut c_void,
    /// Locked while the callback runs, so that no two calls overlap.
    told: Mutex<Told>,
    cancel: CancelToken,
}

/// The last progress, and whether the callback may still be called.
pub(crate) struct Told {
    last: linerate_pack_progress,
    /// Whether the archive is about to get its name. The work can then no longer be cancelled, and
    /// the callback is not called any more.
    ended: bool,
}

// SAFETY: `linerate.h` tells the caller that other threads call back, one at a time.
unsafe impl Send for Reporter {}
// SAFETY: as above.
unsafe impl Sync for Reporter {}

impl Reporter {
    pub(crate) fn new(
        call: unsafe extern "C" fn(*mut c_void, *const linerate_pack_progress) -> i32,
        context: *mut c_void,
        cancel: CancelToken,
    ) -> Reporter {
        let last =
            linerate_pack_progress { blocks: 0, total_blocks: 0, bytes: 0, total_bytes: 0, written: 0 };
        Reporter { call, context, told: Mutex::new(Told { last, ended: false }), cancel }
    }

    /// Waits until no thread runs the callback, and prevents new calls until the guard is dropped.
    pub(crate) fn turn(&self) -> MutexGuard<'_, Told> {
        lock(&self.told)
    }

    /// Reports progress, or the last progress again if `None`, and cancels the work if the callback
    /// returns 0. Does not call back if a later progress has been reported in the meantime, if the
    /// work was cancelled, or if the archive is about to get its name.
    pub(crate) fn tell(&self, progress: Option<&Progress>) {
        let mut told = lock(&self.told);
        if let Some(progress) = progress {
            if progress.bytes_in < told.last.bytes || progress.blocks < told.last.blocks {
                return;
            }
            told.last = linerate_pack_progress {
                blocks: progress.blocks,
                total_blocks: progress.blocks_total,
                bytes: progress.bytes_in,
                total_bytes: progress.bytes_in_total,
                written: progress.bytes_out,
            };
        }
        if told.ended || self.cancel.is_cancelled() {
            return;
        }
        // SAFETY: the caller's promise: a function of its type, which accepts the context.
        if unsafe { (self.call)(self.context, &told.last) } == 0 {
            self.cancel.cancel();
        }
    }
}

/// The builder's share of the reporter. The builder drops it when all blocks are written, and only
/// then checks for the last time whether the work was cancelled. So a callback either cancels in
/// time or is not called.
pub(crate) struct Reporting(pub(crate) Arc<Reporter>);

impl Drop for Reporting {
    fn drop(&mut self) {
        lock(&self.0.told).ended = true;
    }
}
