//! Gives memory back to the system after many connections were closed.

use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use super::decompressor::SCRATCH;

/// Number of closed connections from which a thread is started to give back their memory, which is
/// then a few megabytes.
const WORTH: u64 = 64;
/// Time without a closed connection after which memory is given back.
const QUIET: Duration = Duration::from_secs(2);

/// Number of connections closed so far.
static CLOSED: AtomicU64 = AtomicU64::new(0);
/// Value of [`CLOSED`] when memory was last given back.
static TRIMMED: AtomicU64 = AtomicU64::new(0);
/// ID of the process that has a trimming thread, or 0. A forked process does not inherit that
/// thread.
static WAITING: AtomicU32 = AtomicU32::new(0);

/// Returns memory to the system: unused working memory, and the freed memory of closed connections.
///
/// This happens by itself a few seconds after 64 or more connections were closed. It takes
/// milliseconds for hundreds of megabytes.
#[pyfunction]
pub(crate) fn gateway_trim(py: Python<'_>) {
    py.detach(trim);
}

/// Counts a closed connection, and starts the trimming thread if enough were closed.
pub(super) fn closed() {
    let closed = CLOSED.fetch_add(1, Ordering::Relaxed) + 1;
    if closed - TRIMMED.load(Ordering::Relaxed) < WORTH {
        return;
    }
    let process = process::id();
    if WAITING.swap(process, Ordering::Relaxed) != process {
        let waiting = thread::Builder::new().name("linerate-trim".to_owned()).spawn(wait_and_trim);
        WAITING.store(if waiting.is_ok() { process } else { 0 }, Ordering::Relaxed);
    }
}

fn wait_and_trim() {
    let mut before = CLOSED.load(Ordering::Relaxed);
    loop {
        thread::sleep(QUIET);
        let closed = CLOSED.load(Ordering::Relaxed);
        if closed == before {
            break;
        }
        before = closed;
    }
    trim();
    WAITING.store(0, Ordering::Relaxed);
}

fn trim() {
    TRIMMED.store(CLOSED.load(Ordering::Relaxed), Ordering::Relaxed);
    SCRATCH.clear();
    linerate_gateway::release_memory();
}
