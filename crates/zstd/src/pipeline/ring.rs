//! The parts of a frame that are read and not executed yet, in order, and the threads that decode its blocks.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

use linerate_core::lock;

use super::block::{Block, Decoded, EntropyBuffers, HeaderReader};
use crate::kernel_set::KernelSet;

/// Most threads: execution, on one of them, takes at least a quarter of the time.
const MAX_THREADS: usize = 4;
/// Parts that are read and not executed, by the number of threads.
const PARTS_PER_THREAD: usize = 4;

/// A part of the input.
pub(super) enum Part {
    /// Anything but a compressed block.
    Other(Vec<u8>),
    /// A compressed block; decoded, unless it is damaged or unusual.
    Block(Block),
}

enum Entry {
    Other(Vec<u8>),
    Waiting(Block),
    /// With the thread that decodes it.
    Taken,
    Decoded(Block),
}

#[derive(Default)]
struct State {
    entries: VecDeque<Entry>,
    /// Entries that are gone: the number of the first one.
    gone: u64,
    /// Number of the first entry that may be waiting for a thread.
    untaken: u64,
    /// Blocks that are waiting for a thread.
    waiting: usize,
    /// Memory for blocks that are decoded, last used last.
    #[expect(clippy::vec_box, reason = "they go from thread to thread")]
    free: Vec<Box<Decoded>>,
    /// Threads without work.
    idle: usize,
    /// Whether the calling thread waits for the first entry.
    is_wanted: bool,
    is_closed: bool,
}

impl State {
    /// Takes the first block that is waiting.
    fn take(&mut self) -> Option<(u64, Block)> {
        while let Some(entry) = self.entries.get_mut((self.untaken - self.gone) as usize) {
            self.untaken += 1;
            match std::mem::replace(entry, Entry::Taken) {
                Entry::Waiting(block) => {
                    self.waiting -= 1;
                    return Some((self.untaken - 1, block));
                }
                other => *entry = other,
            }
        }
        None
    }
}

struct Shared {
    kernels: KernelSet,
    /// Locked before `state`, by a thread that takes a block, until its headers are read.
    headers: Mutex<HeaderReader>,
    state: Mutex<State>,
    /// There is work.
    work: Condvar,
    /// The first entry is decoded.
    decoded: Condvar,
}

/// A block while a thread decodes it. Goes back when it is dropped, also in a panic: then it is not decoded.
struct Taken<'s> {
    shared: &'s Shared,
    number: u64,
    block: Block,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let block = std::mem::take(&mut self.block);
        let mut state = lock(&self.shared.state);
        let index = (self.number - state.gone) as usize;
        state.entries[index] = Entry::Decoded(block);
        if index == 0 && state.is_wanted {
            self.shared.decoded.notify_one();
        }
    }
}

impl Shared {
    /// Decodes the next block that is waiting; returns false if there is none.
    fn decode_one(&self, buffers: &mut EntropyBuffers) -> bool {
        let mut headers = lock(&self.headers);
        let mut state = lock(&self.state);
        let Some((number, block)) = state.take() else { return false };
        let memory = state.free.pop();
        drop(state);
        let mut taken = Taken { shared: self, number, block };
        let mut decoded = memory.unwrap_or_else(|| Box::new(Decoded::new(self.kernels)));
        headers.read(&taken.block, &mut decoded);
        drop(headers);
        decoded.decode(&taken.block, buffers);
        taken.block.set_decoded(decoded);
        true
    }

    /// What each thread does.
    fn serve(&self) {
        let mut buffers = EntropyBuffers::new();
        loop {
            while self.decode_one(&mut buffers) {}
            let mut state = lock(&self.state);
            while state.waiting == 0 && !state.is_closed {
                state.idle += 1;
                state = self.work.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
                state.idle -= 1;
            }
            if state.is_closed {
                return;
            }
        }
    }
}

/// Parts in order, the oldest of which is executed by the calling thread, and the other threads.
pub(super) struct Ring {
    shared: Arc<Shared>,
    /// Threads that are wanted besides the calling one.
    wanted: usize,
    threads: Vec<JoinHandle<()>>,
    /// Most parts.
    most: usize,
    len: usize,
    /// Those of the calling thread, once it decodes a block.
    buffers: Option<EntropyBuffers>,
    free: Vec<Block>,
}

impl Ring {
    pub(super) fn new(threads: usize) -> Self {
        let kernels = KernelSet::detected();
        let shared = Shared {
            kernels,
            headers: Mutex::new(HeaderReader::new(kernels)),
            state: Mutex::default(),
            work: Condvar::new(),
            decoded: Condvar::new(),
        };
        let threads = threads.clamp(1, MAX_THREADS);
        Ring {
            shared: Arc::new(shared),
            wanted: threads - 1,
            threads: Vec::new(),
            most: threads * PARTS_PER_THREAD,
            len: 0,
            buffers: None,
            free: Vec::new(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.len >= self.most
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Begins a frame, while there are no parts.
    pub(super) fn start_frame(&mut self) {
        debug_assert!(self.is_empty());
        lock(&self.shared.headers).start();
    }

    /// A block to be filled.
    pub(super) fn new_block(&mut self) -> Block {
        self.free.pop().unwrap_or_default()
    }

    /// Keeps a block's memory for another one.
    pub(super) fn reuse(&mut self, mut block: Block) {
        if let Some(decoded) = block.take_decoded() {
            lock(&self.shared.state).free.push(decoded);
        }
        self.free.push(block);
    }

    /// Adds the next part.
    pub(super) fn push(&mut self, part: Part) {
        let mut state = lock(&self.shared.state);
        match part {
            Part::Other(bytes) => state.entries.push_back(Entry::Other(bytes)),
            Part::Block(block) => {
                state.entries.push_back(Entry::Waiting(block));
                state.waiting += 1;
            }
        }
        let wakes = state.idle > 0 && state.waiting > 0;
        drop(state);
        if wakes {
            self.shared.work.notify_one();
        }
        self.len += 1;
        // Few blocks are not worth a thread.
        if self.is_full() && self.threads.len() < self.wanted {
            self.spawn();
        }
    }

    fn spawn(&mut self) {
        while self.threads.len() < self.wanted {
            let shared = self.shared.clone();
            match thread::Builder::new().name("zstd blocks".into()).spawn(move || shared.serve()) {
                Ok(thread) => self.threads.push(thread),
                // Fewer threads have the same results.
                Err(_) => self.wanted = self.threads.len(),
            }
        }
    }

    /// Takes the oldest part, once it is decoded. Decodes others, or that one, meanwhile.
    pub(super) fn pop(&mut self) -> Option<Part> {
        let shared = self.shared.clone();
        let mut state = lock(&shared.state);
        loop {
            let is_decoded = match state.entries.front()? {
                Entry::Other(_) | Entry::Decoded(_) => true,
                Entry::Waiting(_) | Entry::Taken => false,
            };
            if is_decoded {
                break;
            }
            if state.waiting > 0 {
                drop(state);
                shared.decode_one(self.buffers.get_or_insert_with(EntropyBuffers::new));
                state = lock(&shared.state);
            } else {
                state.is_wanted = true;
                state = shared.decoded.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
                state.is_wanted = false;
            }
        }
        let entry = state.entries.pop_front()?;
        state.gone += 1;
        state.untaken = state.untaken.max(state.gone);
        self.len -= 1;
        match entry {
            Entry::Other(bytes) => Some(Part::Other(bytes)),
            Entry::Waiting(block) | Entry::Decoded(block) => Some(Part::Block(block)),
            Entry::Taken => None,
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        lock(&self.shared.state).is_closed = true;
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // A block whose thread has panicked was decoded again.
            let _ = thread.join();
        }
    }
}
