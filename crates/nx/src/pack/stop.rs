//! Ending work before it is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{PackError, PackResult};

/// A wish to end, which whoever packs looks at before every block and file. Clones share it.
///
/// What was begun ends with an error whose [`PackError::is_stopped`] says so, and leaves what was there
/// before.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// One that a flag of the caller's asks for.
    pub fn on(flag: Arc<AtomicBool>) -> Stop {
        Stop(flag)
    }

    /// Asks to end.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been asked.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn check(&self) -> PackResult<()> {
        if self.is_asked() { Err(PackError::stopped()) } else { Ok(()) }
    }
}

/// Options are the same whatever may end the work.
impl PartialEq for Stop {
    fn eq(&self, _: &Stop) -> bool {
        true
    }
}

impl Eq for Stop {}
