//! Working memory: one per thread, passed to every call, without state between calls.

use alloc::boxed::Box;
use alloc::vec;

use linerate_core::Tier;

use crate::frame::BLOCK_MAX;
use crate::frame_tables::{FrameTables, HuffmanTableBuffer};
use crate::kernel::huffman::Pairs;
use crate::kernel_set::KernelSet;

/// Bytes after their source and destination that wild copies may touch.
pub(crate) const SLACK: usize = 64;

/// Working memory for any number of decoders used one after another by one thread: at most 320 KiB, on
/// the heap. Results never depend on earlier use.
pub struct Scratch {
    pub(crate) kernels: KernelSet,
    pub(crate) block: BlockBuffers,
    /// Output of the current block, when the caller's buffer may be too small for it.
    pub(crate) output: Box<[u8]>,
    /// A small block that begins the input, where kernels may read before it: most messages of a stream.
    pub(crate) first_block: Box<[u8]>,
    /// Tables of the current frame, for [`FrameDecoder`](crate::FrameDecoder).
    pub(crate) tables: Box<FrameTables>,
}

/// Bytes before a block in a buffer, so that kernels may read there.
pub(crate) const PAD: usize = 8;
/// The largest block that is copied to [`Scratch::first_block`].
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

    /// A scratch that runs the kernels of the best tier this CPU supports.
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

    /// Runs the kernels of `tier` instead; an unsupported tier is ignored.
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Self {
        if tier.is_supported() {
            self.kernels = KernelSet::Tier(tier);
        }
        self
    }

    /// Runs the safe reference implementation that the kernels are tested against. Slow.
    #[must_use]
    pub fn reference(mut self) -> Self {
        self.kernels = KernelSet::Reference;
        self
    }

    /// Bytes held.
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
