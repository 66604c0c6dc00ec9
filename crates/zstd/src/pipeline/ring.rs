//! The parts of a frame that are read but not executed yet, in order, and the threads that decode
//! their blocks.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use linerate_core::lock;

use super::block::{Block, EntropyBuffers, HeaderReader};
use crate::kernel_set::KernelSet;

/// Largest number of threads. One of them executes, which takes at least a quarter of the time.
const MAX_THREADS: usize = 4;
/// Number of parts per thread that are read but not executed: few, so that their decoded sequences
/// stay in a cache.
const PARTS_PER_THREAD: usize = 2;

/// A part of the input.
pub(super) enum Part {
    /// Any part that is not a compressed block.
    Other(Vec<u8>),
    /// A compressed block. When it is ready, it is decoded, unless it is damaged or unusual.
    Block(Box<Block>),
}

enum Entry {
    Ready(Part),
    /// A block that waits for a thread to decode it.
    Waiting(Box<Block>),
    /// A block that a thread is decoding.
    Taken,
}

#[derive(Default)]
struct State {
    entries: VecDeque<Entry>,
    /// Number of entries removed so far, which is the number of the first entry.
    gone: usize,
    is_closed: bool,
}

impl State {
    /// Returns the index of the first block that is waiting.
    fn waiting(&self) -> Option<usize> {
        self.entries.iter().position(|entry| matches!(entry, Entry::Waiting(_)))
    }

    /// Takes the first block that is waiting, and its number.
    fn take(&mut self) -> Option<(usize, Box<Block>)> {
        let index = self.waiting()?;
        match std::mem::replace(&mut self.entries[index], Entry::Taken) {
            Entry::Waiting(block) => Some((self.gone + index, block)),
            _ => None,
        }
    }
}

struct Shared {
    kernels: KernelSet,
    /// A thread that takes a block locks this before `state`, and holds it until the headers are
    /// read.
    headers: Mutex<HeaderReader>,
    state: Mutex<State>,
    /// Signals that there is work.
    work: Condvar,
    /// Signals that the first entry is decoded.
    decoded: Condvar,
}

/// A block while a thread decodes it. Dropping it returns the block to the ring, undecoded if the
/// thread panicked.
struct Taken<'s> {
    shared: &'s Shared,
    number: usize,
    block: Option<Box<Block>>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let Some(block) = self.block.take() else { return };
        let mut state = lock(&self.shared.state);
        let index = self.number - state.gone;
        state.entries[index] = Entry::Ready(Part::Block(block));
        if index == 0 {
            self.shared.decoded.notify_one();
        }
    }
}

impl Shared {
    /// Decodes the next block that is waiting. Returns false if there is none.
    fn decode_one(&self, buffers: &mut EntropyBuffers) -> bool {
        let mut headers = lock(&self.headers);
        let Some((number, block)) = lock(&self.state).take() else { return false };
        let mut taken = Taken { shared: self, number, block: Some(block) };
        if let Some(block) = &mut taken.block {
            headers.read(self.kernels, block, buffers);
            drop(headers);
            block.decode(self.kernels, buffers);
        }
        true
    }

    /// Runs a thread: decodes blocks until the ring is closed.
    fn serve(&self) {
        let mut buffers = EntropyBuffers::new();
        loop {
            while self.decode_one(&mut buffers) {}
            let is_idle = |state: &mut State| !state.is_closed && state.waiting().is_none();
            let state = self.work.wait_while(lock(&self.state), is_idle);
            if state.unwrap_or_else(PoisonError::into_inner).is_closed {
                return;
            }
        }
    }
}

/// Parts in order, and the threads that decode them. The calling thread executes the oldest part.
pub(super) struct Ring {
    shared: Arc<Shared>,
    /// Largest number of parts.
    most: usize,
    /// Number of threads, beside the calling one, that are not started yet.
    wanted: usize,
    threads: Vec<JoinHandle<()>>,
    /// The buffers of the calling thread.
    buffers: Box<EntropyBuffers>,
    /// Memory for blocks. The last entry is the most recently used.
    free: Vec<Box<Block>>,
}

impl Ring {
    pub(super) fn new(threads: usize) -> Self {
        let shared = Shared {
            kernels: KernelSet::detected(),
            headers: Mutex::new(HeaderReader::new()),
            state: Mutex::default(),
            work: Condvar::new(),
            decoded: Condvar::new(),
        };
        let threads = threads.clamp(1, MAX_THREADS);
        Ring {
            shared: Arc::new(shared),
            most: threads * PARTS_PER_THREAD,
            wanted: threads - 1,
            threads: Vec::new(),
            buffers: Box::new(EntropyBuffers::new()),
            free: Vec::new(),
        }
    }

    fn len(&self) -> usize {
        lock(&self.shared.state).entries.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= self.most
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Begins a frame. There must be no parts.
    pub(super) fn start_frame(&mut self) {
        debug_assert!(self.is_empty());
        lock(&self.shared.headers).start();
    }

    /// Returns an empty block.
    pub(super) fn new_block(&mut self) -> Box<Block> {
        self.free.pop().unwrap_or_else(|| Box::new(Block::new()))
    }

    /// Keeps a block's memory for another one.
    pub(super) fn reuse(&mut self, block: Box<Block>) {
        self.free.push(block);
    }

    /// Adds the next part.
    pub(super) fn push(&mut self, part: Part) {
        let entry = match part {
            Part::Other(_) => Entry::Ready(part),
            Part::Block(block) => Entry::Waiting(block),
        };
        lock(&self.shared.state).entries.push_back(entry);
        self.shared.work.notify_one();
        // Start no thread for few blocks.
        if self.is_full() {
            self.spawn();
        }
    }

    /// Starts the threads. If the system starts fewer, the results are the same.
    fn spawn(&mut self) {
        for _ in 0..std::mem::take(&mut self.wanted) {
            let shared = self.shared.clone();
            let thread = thread::Builder::new().name("zstd blocks".into()).spawn(move || shared.serve());
            self.threads.extend(thread);
        }
    }

    /// Takes the oldest part when it is decoded. Until then, decodes other blocks, or that one.
    /// `None` if there are no parts.
    pub(super) fn pop(&mut self) -> Option<Part> {
        loop {
            let mut state = lock(&self.shared.state);
            match state.entries.pop_front()? {
                Entry::Ready(part) => {
                    state.gone += 1;
                    return Some(part);
                }
                entry => state.entries.push_front(entry),
            }
            if state.waiting().is_none() {
                let is_taken = |state: &mut State| matches!(state.entries.front(), Some(Entry::Taken));
                let _state = self.shared.decoded.wait_while(state, is_taken);
            } else {
                drop(state);
                self.shared.decode_one(&mut self.buffers);
            }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        lock(&self.shared.state).is_closed = true;
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // If a thread panicked, the stream decoder has decoded its block again.
            let _ = thread.join();
        }
    }
}
