//! Gives memory back to the system after many connections were closed.

use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use super::decompressor::SCRATCH;

/// Number of connections that must be closed before a thread is started that gives their memory,
/// a few megabytes then, back to the system.
const WORTH: u64 = 64;
/// The thread that gives memory back first waits until no connection was closed for this time.
const QUIET: Duration = Duration::from_secs(2);

/// Number of connections closed so far.
static CLOSED: AtomicU64 = AtomicU64::new(0);
/// Value of [`CLOSED`] when memory was last given back.
static TRIMMED: AtomicU64 = AtomicU64::new(0);
/// ID of the process that has a thread which waits to give memory back, or 0 if there is none. A
/// forked process does not inherit that thread.
static WAITING: AtomicU32 = AtomicU32::new(0);

/// Returns memory to the system: unused working memory, and the freed memory of closed connections.
///
/// This happens by itself after 64 or more connections were closed, once no further one is closed
/// for two to four seconds. It takes milliseconds for hundreds of megabytes.
#[pyfunction]
pub(crate) fn gateway_trim(py: Python<'_>) {
    py.detach(trim);
}

/// Counts a closed connection. If at least [`WORTH`] connections were closed since memory was last
/// given back, starts the thread that gives it back, unless this thread is running already.
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
