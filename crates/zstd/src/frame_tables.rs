//! The entropy tables and repeat offsets that a frame carries from one block to the next.

use linerate_core::{CACHE_LINE, prefetch_line};

use crate::dictionary::Dictionary;
use crate::entropy::fse::Cell;
use crate::entropy::huffman::{self, CanonicalTree, HuffmanTable};
use crate::entropy::tables::{self, FseTable, RepeatOffsets, SequenceField};
use crate::kernel;
use crate::kernel_set::KernelSet;

/// Place of the current table of a sequence field, or of the Huffman table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TableSource {
    /// No table yet.
    None = 0,
    /// In the [`FrameTables`].
    Own,
    /// The predefined table.
    Default,
    /// In the dictionary.
    Dictionary,
}

/// A thread's buffer for the decoding table of the last Huffman tree.
pub(crate) struct HuffmanTableBuffer {
    cells: [u16; huffman::MAX_CELLS],
    /// The tree whose table was built in the buffer last.
    tree: CanonicalTree,
}

impl HuffmanTableBuffer {
    pub(crate) const fn new() -> Self {
        HuffmanTableBuffer { cells: [0; _], tree: CanonicalTree::NONE }
    }
}

/// Tables and repeat offsets that later blocks of a frame can refer to.
///
/// The Huffman code is kept as its canonical tree only, which takes a fourteenth of the decoding
/// table. The table is rebuilt in 0.1 microseconds if the same thread decoded another frame before
/// the next block that needs it.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct FrameTables {
    ll: [Cell; 1 << tables::LL_LOG],
    ml: [Cell; 1 << tables::ML_LOG],
    of: [Cell; 1 << tables::OF_LOG],
    tree: CanonicalTree,
    sources: [TableSource; 3],
    huffman_source: TableSource,
    logs: [u8; 3],
    pub(crate) repeats: RepeatOffsets,
}

impl FrameTables {
    pub(crate) const fn new() -> Self {
        FrameTables {
            ll: [0; _],
            ml: [0; _],
            of: [0; _],
            tree: CanonicalTree::NONE,
            sources: [TableSource::None; 3],
            huffman_source: TableSource::None,
            logs: [0; 3],
            repeats: RepeatOffsets::INITIAL,
        }
    }

    /// Resets to the state at the beginning of a frame.
    pub(crate) fn start(&mut self, dictionary: Option<&Dictionary<'_>>) {
        let source = match dictionary {
            Some(dictionary) if dictionary.is_trained() => TableSource::Dictionary,
            _ => TableSource::None,
        };
        self.sources = [source; 3];
        self.huffman_source = source;
        self.repeats = dictionary.map_or(RepeatOffsets::INITIAL, |d| d.repeats());
    }

    /// Prefetches the fields that every block reads or replaces: the tree, and those after it.
    pub(crate) fn prefetch(&self) {
        let at = core::ptr::from_ref(self) as usize;
        let lines = core::mem::offset_of!(FrameTables, tree)..size_of::<FrameTables>();
        lines.step_by(CACHE_LINE).for_each(|line| prefetch_line(at + line));
    }

    pub(crate) fn set_source(&mut self, field: SequenceField, source: TableSource) {
        self.sources[field as usize] = source;
    }

    /// Makes the first `1 << log` of [`cells_mut`](Self::cells_mut) the current table.
    pub(crate) fn set_own(&mut self, field: SequenceField, log: u32) {
        self.sources[field as usize] = TableSource::Own;
        self.logs[field as usize] = log as u8;
    }

    pub(crate) fn cells_mut(&mut self, field: SequenceField) -> &mut [Cell] {
        match field {
            SequenceField::LiteralLength => &mut self.ll,
            SequenceField::Offset => &mut self.of,
            SequenceField::MatchLength => &mut self.ml,
        }
    }

    /// Returns the current table, if there is one.
    pub(crate) fn table<'a>(
        &'a self,
        field: SequenceField,
        dictionary: Option<&'a Dictionary<'_>>,
    ) -> Option<FseTable<'a>> {
        match self.sources[field as usize] {
            TableSource::None => None,
            TableSource::Default => Some(tables::default(field)),
            TableSource::Dictionary => dictionary?.table(field),
            TableSource::Own => {
                let log = u32::from(self.logs[field as usize]);
                let cells: &[Cell] = match field {
                    SequenceField::LiteralLength => &self.ll,
                    SequenceField::Offset => &self.of,
                    SequenceField::MatchLength => &self.ml,
                };
                Some(FseTable { cells: &cells[..1 << log], log })
            }
        }
    }

    pub(crate) fn set_huffman(
        &mut self,
        kernels: KernelSet,
        weights: &huffman::Weights,
        buffer: &mut HuffmanTableBuffer,
    ) {
        kernel::build::huffman(kernels, weights, &mut self.tree, &mut buffer.cells);
        self.huffman_source = TableSource::Own;
        buffer.tree = self.tree;
    }

    /// Returns the current Huffman table, if there is one.
    pub(crate) fn huffman<'a>(
        &self,
        kernels: KernelSet,
        dictionary: Option<&'a Dictionary<'_>>,
        buffer: &'a mut HuffmanTableBuffer,
    ) -> Option<HuffmanTable<'a>> {
        match self.huffman_source {
            TableSource::None | TableSource::Default => None,
            TableSource::Dictionary => dictionary?.huffman(),
            TableSource::Own => {
                if buffer.tree != self.tree {
                    kernel::build::tree(kernels, &self.tree, &mut buffer.cells);
                    buffer.tree = self.tree;
                }
                let log = self.tree.log();
                Some(HuffmanTable { cells: &buffer.cells[..1 << log], log })
            }
        }
    }
}
