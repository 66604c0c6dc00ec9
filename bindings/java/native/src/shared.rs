//! What all connections of the process share.

use std::sync::LazyLock;
use std::thread;

use linerate_gateway::{Loan, ScratchPool};

/// As many as there are processors: no more can be of use at once.
static POOL: LazyLock<ScratchPool> =
    LazyLock::new(|| ScratchPool::new(thread::available_parallelism().map_or(1, usize::from)));

/// Working memory, of which nobody else has use meanwhile.
pub(crate) fn scratch() -> Loan<'static> {
    POOL.lend()
}

/// Bytes that are kept for the next message, without what is in use.
pub(crate) fn memory() -> usize {
    POOL.memory()
}
