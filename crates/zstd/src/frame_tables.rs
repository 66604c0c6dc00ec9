//! The entropy tables and repeat offsets of a frame between two of its blocks.

use crate::dictionary::Dictionary;
use crate::entropy::fse::Cell;
use crate::entropy::huffman::{self, HuffmanTable, Tree};
use crate::entropy::tables::{self, Repeats, Table, Which};
use crate::kernel;
use crate::kernel_set::KernelSet;

/// Where the current table of a kind stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Source {
    /// Nowhere: there was none yet.
    None = 0,
    /// In the [`Tables`].
    Own,
    /// In the specification.
    Default,
    /// In the dictionary.
    Dictionary,
}

/// Room of a thread for the table of the last Huffman tree.
pub(crate) struct HuffmanRoom {
    cells: [u16; huffman::MAX_CELLS],
    /// Whether that table stands there, and not one of another frame.
    laid_out: bool,
}

impl HuffmanRoom {
    pub(crate) const fn new() -> Self {
        HuffmanRoom { cells: [0; _], laid_out: false }
    }

    /// Before blocks are decoded that are not those after the last one.
    pub(crate) fn start(&mut self) {
        self.laid_out = false;
    }
}

/// What blocks of a frame leave to the blocks after them.
///
/// Of the Huffman codes that is the tree alone, a fourteenth of the table, which is made anew where a
/// later call uses it: for one in a hundred messages of a gateway, in a tenth of a microsecond.
#[repr(C, align(64))]
pub(crate) struct Tables {
    ll: [Cell; 1 << tables::LL_LOG],
    ml: [Cell; 1 << tables::ML_LOG],
    of: [Cell; 1 << tables::OF_LOG],
    tree: Tree,
    sources: [Source; 3],
    huffman_source: Source,
    logs: [u8; 3],
    pub(crate) repeats: Repeats,
}

impl Tables {
    pub(crate) const fn new() -> Self {
        Tables {
            ll: [0; _],
            ml: [0; _],
            of: [0; _],
            tree: Tree::NONE,
            sources: [Source::None; 3],
            huffman_source: Source::None,
            logs: [0; 3],
            repeats: Repeats::START,
        }
    }

    /// As at the beginning of a frame.
    pub(crate) fn start(&mut self, dictionary: Option<&Dictionary<'_>>) {
        let source = match dictionary {
            Some(dictionary) if dictionary.is_trained() => Source::Dictionary,
            _ => Source::None,
        };
        self.sources = [source; 3];
        self.huffman_source = source;
        self.repeats = dictionary.map_or(Repeats::START, |d| d.repeats());
    }

    pub(crate) fn set_source(&mut self, which: Which, source: Source) {
        self.sources[which as usize] = source;
    }

    /// Makes the first `1 << log` of [`cells_mut`](Self::cells_mut) the current table.
    pub(crate) fn set_own(&mut self, which: Which, log: u32) {
        self.sources[which as usize] = Source::Own;
        self.logs[which as usize] = log as u8;
    }

    pub(crate) fn cells_mut(&mut self, which: Which) -> &mut [Cell] {
        match which {
            Which::LiteralLength => &mut self.ll,
            Which::Offset => &mut self.of,
            Which::MatchLength => &mut self.ml,
        }
    }

    /// The current table, if there is one.
    pub(crate) fn table<'a>(
        &'a self,
        which: Which,
        dictionary: Option<&'a Dictionary<'_>>,
    ) -> Option<Table<'a>> {
        match self.sources[which as usize] {
            Source::None => None,
            Source::Default => Some(tables::default(which)),
            Source::Dictionary => dictionary?.table(which),
            Source::Own => {
                let log = u32::from(self.logs[which as usize]);
                let cells: &[Cell] = match which {
                    Which::LiteralLength => &self.ll,
                    Which::Offset => &self.of,
                    Which::MatchLength => &self.ml,
                };
                Some(Table { cells: &cells[..1 << log], log })
            }
        }
    }

    pub(crate) fn set_huffman(
        &mut self,
        kernels: KernelSet,
        weights: &huffman::Weights,
        room: &mut HuffmanRoom,
    ) {
        kernel::build::huffman(kernels, weights, &mut self.tree, &mut room.cells);
        self.huffman_source = Source::Own;
        room.laid_out = true;
    }

    /// The current Huffman table, if there is one.
    pub(crate) fn huffman<'a>(
        &self,
        kernels: KernelSet,
        dictionary: Option<&'a Dictionary<'_>>,
        room: &'a mut HuffmanRoom,
    ) -> Option<HuffmanTable<'a>> {
        match self.huffman_source {
            Source::None | Source::Default => None,
            Source::Dictionary => dictionary?.huffman(),
            Source::Own => {
                if !room.laid_out {
                    kernel::build::tree(kernels, &self.tree, &mut room.cells);
                    room.laid_out = true;
                }
                let log = self.tree.log();
                Some(HuffmanTable { cells: &room.cells[..1 << log], log })
            }
        }
    }
}
