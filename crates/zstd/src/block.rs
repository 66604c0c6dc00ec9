//! One compressed block: its literals, its sequences, and their execution.

use linerate_core::{Error, Kind, Result};

use crate::dictionary::Dictionary;
use crate::entropy::huffman::FourStreams;
use crate::entropy::tables::Which;
use crate::execute::{Job, SLACK};
use crate::frame_tables::{HuffmanRoom, Tables};
use crate::kernel;
use crate::kernel::huffman::Pairs;
use crate::kernel_set::KernelSet;
use crate::literals::{self, Coding};
use crate::output::Output;
use crate::prefetch::PrefetchQueue;
use crate::sequences_section::{Section, read_section};

/// What decoding a block needs beside the block and the output.
pub(crate) struct Work<'a> {
    pub(crate) kernels: KernelSet,
    pub(crate) tables: &'a mut Tables,
    pub(crate) dictionary: Option<&'a Dictionary<'a>>,
    /// Room for the literals of any block.
    pub(crate) literals: &'a mut [u8],
    /// Room for the Huffman table.
    pub(crate) huffman: &'a mut HuffmanRoom,
    /// Room for a Huffman table of pairs.
    pub(crate) pairs: &'a mut Pairs,
    /// Whether sequences are decoded ahead of their execution.
    pub(crate) ahead: bool,
    /// What to fetch meanwhile.
    pub(crate) prefetch: Option<&'a mut PrefetchQueue>,
}

const fn corrupt(what: &'static str) -> Error {
    Error::new(Kind::Corrupt, 0, what)
}

impl Work<'_> {
    /// Decodes a block that may regenerate `max` bytes. `src[..at]` was read before it and holds at
    /// least 5 bytes, the block is the rest.
    pub(crate) fn decode(&mut self, src: &[u8], at: usize, max: usize, out: &mut Output<'_>) -> Result<()> {
        let block = &src[at..];
        let header = literals::Header::parse(block)?;
        if header.count > max {
            return Err(corrupt("a block has more literals than it may regenerate"));
        }
        let rest = &block[header.len..];
        let Some((stored, section)) = rest.split_at_checked(header.stored) else {
            return Err(corrupt("the literals of a block are larger than the block"));
        };
        let place = |e: Error| e.shifted(header.len as u64);
        let count = header.count;
        // The literals, and slack behind them.
        let literals: &[u8] = match header.coding {
            Coding::Raw => match rest.get(..count + SLACK) {
                Some(slice) => slice,
                None => {
                    self.literals[..count].copy_from_slice(stored);
                    &self.literals[..count + SLACK]
                }
            },
            Coding::Rle => {
                self.literals[..count].fill(stored[0]);
                &self.literals[..count + SLACK]
            }
            Coding::Tree | Coding::Treeless => {
                let tree = match header.coding {
                    Coding::Tree => {
                        literals::read_tree(self.kernels, stored, self.tables, self.huffman).map_err(place)?
                    }
                    _ => 0,
                };
                self.decode_codes(&header, src, &stored[tree..], count)
                    .map_err(|e| place(e).shifted(tree as u64))?;
                &self.literals[..count + SLACK]
            }
        };
        let place = |e: Error| e.shifted((header.len + header.stored) as u64);
        let Section { count, len } =
            read_section(self.kernels, section, self.tables, self.dictionary).map_err(place)?;
        if count == 0 {
            return out.append(&literals[..header.count]);
        }
        let bits = &section[len..];
        let repeats = self.tables.repeats;
        let table = |which| self.tables.table(which, self.dictionary).ok_or(corrupt("a block has no tables"));
        let (ll, of, ml) = (table(Which::LiteralLength)?, table(Which::Offset)?, table(Which::MatchLength)?);
        let mut prefetch = self.prefetch.as_deref_mut();
        if let Some(list) = &mut prefetch {
            list.spread(count);
        }
        let ahead = self.ahead;
        let job = Job { count, ll, of, ml, whole: src, bits, literals, repeats, max, prefetch, ahead, out };
        self.tables.repeats =
            kernel::sequences::run(self.kernels, job).map_err(|e| place(e).shifted(len as u64))?;
        Ok(())
    }

    /// Decodes Huffman codes, a part of `whole`, into the first `count` bytes of the literals.
    fn decode_codes(
        &mut self,
        header: &literals::Header,
        whole: &[u8],
        src: &[u8],
        count: usize,
    ) -> Result<()> {
        let table =
            self.tables.huffman(self.kernels, self.dictionary, self.huffman).ok_or(literals::NO_TREE)?;
        let out = &mut self.literals[..count];
        if header.streams == 1 {
            return kernel::huffman::decode_one(self.kernels, table, whole, src, out);
        }
        let streams = FourStreams::split(src, count)?;
        kernel::huffman::decode_four(self.kernels, table, whole, &streams, self.pairs, out)
    }
}
