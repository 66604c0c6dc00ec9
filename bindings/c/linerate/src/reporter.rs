//! Progress of packing told to the caller's callback, which can cancel.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard};

use linerate_core::lock;
use linerate_nx::pack::{CancelToken, Progress};

use crate::pack::linerate_pack_progress;

/// The callback of progress.
pub(crate) struct Reporter {
    call: unsafe extern "C" fn(*mut c_void, *const linerate_pack_progress) -> i32,
    context: *mut c_void,
    /// Held while a callback of the call runs, so that they come one at a time.
    told: Mutex<Told>,
    cancel: CancelToken,
}

/// How far the callback knows the work.
pub(crate) struct Told {
    last: linerate_pack_progress,
    /// Whether the archive is about to get its name, so that nothing can be cancelled any more.
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

    /// Waits until the callback does not run, which another thread may call, and keeps it from running.
    pub(crate) fn turn(&self) -> MutexGuard<'_, Told> {
        lock(&self.told)
    }

    /// Tells how far the work is, by default as far as it was, unless more has been told meanwhile.
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

/// What the builder reports to. It is dropped before the builder looks for the last time whether it was cancelled.
pub(crate) struct Reporting(pub(crate) Arc<Reporter>);

impl Drop for Reporting {
    fn drop(&mut self) {
        lock(&self.0.told).ended = true;
    }
}
