//! Memory behind objects, as the garbage collector counts it; output as buffers; a pool of working memory.

use std::sync::Mutex;

use linerate_core::lock;
use napi::bindgen_prelude::{Buffer, JsObjectValue, Object};
use napi::{Env, Result};

/// Output as a buffer that owns it.
///
/// # Errors
/// If the environment ends, as that of a worker that is terminated. It makes no buffers any more, and napi would then leak the
/// output; nor does it set properties, which tells so before.
pub(crate) fn buffer_of(env: &Env, mut bytes: Vec<u8>) -> Result<Buffer> {
    Object::new(env)?.set_named_property("alive", true)?;
    // Buffers keep what they are made of, so what is mostly empty is copied.
    if bytes.capacity() > bytes.len() + bytes.len() / 4 {
        bytes.shrink_to_fit();
    }
    Ok(Buffer::from(bytes))
}

/// Smaller changes are not reported, which costs more than they matter.
const STEP: i64 = 16 << 10;

/// What the garbage collector was told about an object, in bytes. Without it, thousands of dropped connections would
/// wait for a collection that their small objects do not cause.
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
            // An environment that ends does not count any more.
            let _ = self.env.adjust_external_memory(-self.bytes);
        }
    }
}

/// Working memory of the process: as many as were in use at the same time, at most [`KEPT`].
/// Boxed: decode tables are long to move.
pub(crate) struct Pool<T>(Mutex<Vec<Box<T>>>);

/// Node.js has a thread per worker and four for tasks.
const KEPT: usize = 8;

impl<T: Default> Pool<T> {
    pub(crate) const fn new() -> Self {
        Pool(Mutex::new(Vec::new()))
    }

    /// Calls `job` with working memory. That of a job that panics is dropped.
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
