//! Working memory: one scratch per thread, passed to every call, without state between calls.

use alloc::boxed::Box;
use alloc::vec;

use linerate_core::Tier;

use crate::frame::BLOCK_MAX;
use crate::frame_tables::{FrameTables, HuffmanTableBuffer};
use crate::kernel::huffman::Pairs;
use crate::kernel_set::KernelSet;

/// Number of bytes after the data in a buffer, where wild copies may read and write.
pub(crate) const SLACK: usize = 64;

/// Working memory of one thread, for any number of decoders used one after another. It takes at
/// most 320 KiB on the heap. Results never depend on earlier use.
pub struct Scratch {
    pub(crate) kernels: KernelSet,
    pub(crate) block: BlockBuffers,
    /// Output of the current block, if the caller's buffer may be too small for it.
    pub(crate) output: Box<[u8]>,
    /// Copy of a small block that begins the input, so that kernels may read before it. Most
    /// messages of a stream are such blocks.
    pub(crate) first_block: Box<[u8]>,
    /// Tables of the current frame, for [`FrameDecoder`](crate::FrameDecoder).
    pub(crate) tables: Box<FrameTables>,
}

/// Number of bytes before a block in a buffer, where kernels may read.
pub(crate) const PAD: usize = 8;
/// Size in bytes of the largest block that is copied to [`Scratch::first_block`]. A larger one is
/// copied to memory that the stream decoder allocates.
const FIRST_BLOCK_MAX: usize = 4 << 10;

/// The buffers of a [`BlockDecoder`](crate::block::BlockDecoder).
pub(crate) struct BlockBuffers {
    /// Literals of any block, with slack.
    pub(crate) literals: Box<[u8]>,
    /// Decoding table of the last Huffman tree.
    pub(crate) huffman: Box<HuffmanTableBuffer>,
    /// Two-symbol table of a block's Huffman code.
    pub(crate) pairs: Box<Pairs>,
}

impl Scratch {
    /// Upper bound of [`memory`](Self::memory), in bytes.
    pub const MAX_MEMORY: usize = 320 << 10;

    /// Makes a scratch that runs the kernels of the best tier this CPU supports, or of a lower one
    /// that `LINERATE_CPU` names.
    pub fn new() -> Self {
        let scratch = Scratch {
            kernels: KernelSet::detected(),
            block: BlockBuffers {
                literals: vec![0; BLOCK_MAX + SLACK].into(),
                huffman: Box::new(HuffmanTableBuffer::new()),
                pairs: Box::new([0; _]),
            },
            output: vec![0; BLOCK_MAX + SLACK].into(),
            first_block: vec![0; PAD + FIRST_BLOCK_MAX].into(),
            tables: Box::new(FrameTables::new()),
        };
        debug_assert!(scratch.memory() <= Self::MAX_MEMORY);
        scratch
    }

    /// Selects the kernels of `tier`. Ignores a tier that the CPU does not support.
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Self {
        if tier.is_supported() {
            self.kernels = KernelSet::Tier(tier);
        }
        self
    }

    /// Selects the safe reference implementation, which the kernels are tested against. It is slow.
    #[must_use]
    pub fn reference(mut self) -> Self {
        self.kernels = KernelSet::Reference;
        self
    }

    /// Returns the number of bytes held.
    pub fn memory(&self) -> usize {
        let fixed = size_of::<HuffmanTableBuffer>() + size_of::<Pairs>() + size_of::<FrameTables>();
        size_of::<Self>() + self.block.literals.len() + self.output.len() + self.first_block.len() + fixed
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}
