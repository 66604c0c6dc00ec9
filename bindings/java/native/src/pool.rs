//! Working memory shared by all connections of the process.

use std::sync::LazyLock;
use std::thread;

use linerate_gateway::{PooledScratch, ScratchPool};

use crate::websocket;

/// The pool keeps at most one scratch per processor, because more threads cannot decode at the same
/// time. A call that finds none free gets a temporary one.
static POOL: LazyLock<ScratchPool> =
    LazyLock::new(|| ScratchPool::new(thread::available_parallelism().map_or(1, usize::from)));

/// Takes working memory for exclusive use.
pub(crate) fn scratch() -> PooledScratch<'static> {
    POOL.acquire()
}

/// Bytes held by the pools of gateway connections and of permessage-deflate, without memory that is
/// in use.
pub(crate) fn memory() -> usize {
    POOL.memory() + websocket::shared_memory()
}

/// Frees memory that is not in use, and returns freed memory to the system.
pub(crate) fn trim() {
    POOL.clear();
    websocket::trim();
    linerate_gateway::release_memory();
}
