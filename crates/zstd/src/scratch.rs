//! Working memory: one per thread, passed into every call, carrying nothing between them.

use alloc::boxed::Box;
use alloc::vec;

use linerate_core::Tier;

use crate::entropy::huffman;
use crate::frame::BLOCK_MAX;
use crate::frame_tables::{FrameTables, HuffmanTableBuffer};
use crate::kernel::huffman::Pairs;
use crate::kernel_set::KernelSet;

/// Bytes that fast copies may touch behind what they copy.
pub(crate) const SLACK: usize = 64;

/// Working memory for any number of decoders of one thread, one after the other: at most 320 KiB, on
/// the heap.
///
/// A call leaves nothing in it that a later call can see.
pub struct Scratch {
    pub(crate) kernels: KernelSet,
    /// Literals of the current block.
    pub(crate) literals: Box<[u8]>,
    /// What the current block regenerates, when the caller's room may not do.
    pub(crate) output: Box<[u8]>,
    /// The current Huffman table.
    pub(crate) huffman: Box<HuffmanTableBuffer>,
    /// Pairs of symbols of the current block's Huffman table.
    pub(crate) pairs: Box<Pairs>,
    /// FrameTables of the current frame, for decoders that keep none.
    pub(crate) tables: Box<FrameTables>,
}

impl Scratch {
    /// The most bytes that a scratch takes.
    pub const MAX_MEMORY: usize = 320 << 10;

    /// Scratch that runs the best code this CPU has.
    pub fn new() -> Self {
        let scratch = Scratch {
            kernels: KernelSet::detected(),
            literals: vec![0; BLOCK_MAX + SLACK].into(),
            output: vec![0; BLOCK_MAX + SLACK].into(),
            huffman: Box::new(HuffmanTableBuffer::new()),
            pairs: Box::new([0; huffman::MAX_CELLS]),
            tables: Box::new(FrameTables::new()),
        };
        debug_assert!(scratch.memory() <= Self::MAX_MEMORY);
        scratch
    }

    /// Runs code of `tier` instead of the best; a tier this machine lacks is ignored.
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Self {
        self.set_tier(tier);
        self
    }

    /// As [`tier`](Self::tier), in place.
    pub fn set_tier(&mut self, tier: Tier) {
        if tier.is_supported() {
            self.kernels = KernelSet::Tier(tier);
        }
    }

    /// Runs only safe code: the specification that the other forms are tested against. Slow.
    #[must_use]
    pub fn reference(mut self) -> Self {
        self.kernels = KernelSet::Reference;
        self
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let fixed = size_of::<HuffmanTableBuffer>() + size_of::<Pairs>() + size_of::<FrameTables>();
        size_of::<Self>() + self.literals.len() + self.output.len() + fixed
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}
