//! Memory that is given back after connections were closed.

use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use super::decompressor::SCRATCH;

/// Connections that leave enough to be worth a thread: some megabytes.
const WORTH: u64 = 64;
/// Memory is given back once no connection was closed for so long.
const QUIET: Duration = Duration::from_secs(2);

static CLOSED: AtomicU64 = AtomicU64::new(0);
static TRIMMED: AtomicU64 = AtomicU64::new(0);
/// The process whose thread waits, or 0: a process that was forked has no such thread.
static WAITING: AtomicU32 = AtomicU32::new(0);

/// Returns memory to the system: working memory that is not in use, and what closed connections have left.
///
/// It happens by itself some seconds after 64 connections or more were closed. It takes milliseconds for hundreds of
/// megabytes.
#[pyfunction]
pub(crate) fn gateway_trim(py: Python<'_>) {
    py.detach(trim);
}

/// Counts a connection that is closed.
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
