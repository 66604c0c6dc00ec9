//! Reports the memory behind objects to the garbage collector, makes Buffers of output, and keeps a
//! pool of working memory.

use std::sync::Mutex;

use linerate_core::lock;
use napi::bindgen_prelude::{Buffer, JsObjectValue, Object};
use napi::{Env, Result};

/// Makes a Buffer that owns the output.
///
/// # Errors
/// Fails while the environment of Node.js is ending, such as that of a worker that is terminated.
/// The environment then makes no Buffers, and napi would leak the output. It does not set
/// properties either, so this function sets one first to detect this case.
pub(crate) fn buffer_of(env: &Env, mut bytes: Vec<u8>) -> Result<Buffer> {
    Object::new(env)?.set_named_property("alive", true)?;
    // A Buffer keeps the whole allocation, so output that leaves much of it unused is copied to a
    // smaller one.
    if bytes.capacity() > bytes.len() + bytes.len() / 4 {
        bytes.shrink_to_fit();
    }
    Ok(Buffer::from(bytes))
}

/// Smallest change that is reported, in bytes. Smaller ones are not worth the cost of a report.
const STEP: i64 = 16 << 10;

/// The memory of an object that was reported to the garbage collector, in bytes. Without reports,
/// thousands of dropped connections would wait for a collection, which their small JavaScript
/// objects do not trigger.
pub(crate) struct ReportedMemory {
    env: Env,
    bytes: i64,
}

impl ReportedMemory {
    pub(crate) const fn new(env: Env) -> Self {
        ReportedMemory { env, bytes: 0 }
    }

    /// Reports that the object holds `bytes` now.
    pub(crate) fn update(&mut self, bytes: usize) -> Result<()> {
        let change = bytes as i64 - self.bytes;
        if change.abs() >= STEP {
            self.env.adjust_external_memory(change)?;
            self.bytes += change;
        }
        Ok(())
    }
}

/// Node.js drops objects in the thread of their environment, which ends after them.
impl Drop for ReportedMemory {
    fn drop(&mut self) {
        if self.bytes != 0 {
            // An environment that is ending does not count memory any more.
            let _ = self.env.adjust_external_memory(-self.bytes);
        }
    }
}

/// A pool of working memories. It keeps as many as were in use at the same time, at most [`KEPT`].
/// They are boxed because decode tables are expensive to move.
pub(crate) struct Pool<T>(Mutex<Vec<Box<T>>>);

/// Maximum number of working memories that a pool keeps. Node.js has one thread per worker and, by
/// default, four for tasks.
const KEPT: usize = 8;

impl<T: Default> Pool<T> {
    pub(crate) const fn new() -> Self {
        Pool(Mutex::new(Vec::new()))
    }

    /// Calls `job` with working memory, which is dropped if the job panics.
    pub(crate) fn with<R>(&self, job: impl FnOnce(&mut T) -> R) -> R {
        let taken = lock(&self.0).pop();
        let mut work = taken.unwrap_or_default();
        let result = job(&mut work);
        let mut kept = lock(&self.0);
        if kept.len() < KEPT {
            kept.push(work);
        }
        result
    }
}
