//! One compressed block (RFC 8878, section 3.1.1.3): literals, sequences, execution.

use linerate_core::{Error, Result};

use crate::dictionary::Dictionary;
use crate::entropy::huffman::FourStreams;
use crate::entropy::tables::SequenceField;
use crate::execute::{Job, SLACK};
use crate::frame_tables::FrameTables;
use crate::kernel;
use crate::kernel_set::KernelSet;
use crate::literals::{self, LiteralsHeader, LiteralsType};
use crate::options::Options;
use crate::output::Output;
use crate::prefetch::PrefetchQueue;
use crate::scratch::BlockBuffers;
use crate::sequences_section::{Section, read_section};

/// Decodes the compressed blocks of a frame. It holds options, tables and buffers; each call passes
/// input and output.
pub(crate) struct BlockDecoder<'a> {
    kernels: KernelSet,
    tables: &'a mut FrameTables,
    dictionary: Option<&'a Dictionary<'a>>,
    buffers: &'a mut BlockBuffers,
    /// Whether sequences are decoded ahead of their execution.
    two_phase: bool,
    /// Cache lines to prefetch while decoding.
    prefetch: Option<&'a mut PrefetchQueue>,
}

impl<'a> BlockDecoder<'a> {
    /// Makes a decoder for the frame whose tables are `tables`.
    pub(crate) fn new(
        kernels: KernelSet,
        buffers: &'a mut BlockBuffers,
        tables: &'a mut FrameTables,
        dictionary: Option<&'a Dictionary<'a>>,
        options: &Options,
    ) -> Self {
        let two_phase = options.two_phase;
        BlockDecoder { kernels, tables, dictionary, buffers, two_phase, prefetch: None }
    }

    /// Sets the queue of lines to prefetch while decoding.
    pub(crate) fn prefetching(self, queue: Option<&'a mut PrefetchQueue>) -> Self {
        BlockDecoder { prefetch: queue, ..self }
    }

    /// Decodes the block `src[at..]`, which may regenerate at most `max` bytes. `src[..at]` is the
    /// input before the block, at least 5 bytes, because kernels may read them.
    pub(crate) fn decode(&mut self, src: &[u8], at: usize, max: usize, out: &mut Output<'_>) -> Result<()> {
        let block = &src[at..];
        let header = LiteralsHeader::parse(block)?;
        if header.count > max {
            return Err(Error::corrupt("a block has more literals than it may regenerate"));
        }
        let rest = &block[header.len..];
        let Some((stored, section)) = rest.split_at_checked(header.stored) else {
            return Err(Error::corrupt("the literals of a block are larger than the block"));
        };
        let shift = |e: Error| e.shifted(header.len as u64);
        let count = header.count;
        // The literals, followed by slack.
        let literals: &[u8] = match header.kind {
            LiteralsType::Raw => match rest.get(..count + SLACK) {
                Some(slice) => slice,
                None => {
                    self.buffers.literals[..count].copy_from_slice(stored);
                    &self.buffers.literals[..count + SLACK]
                }
            },
            LiteralsType::Rle => {
                self.buffers.literals[..count].fill(stored[0]);
                &self.buffers.literals[..count + SLACK]
            }
            LiteralsType::Compressed | LiteralsType::Treeless => {
                let tree = match header.kind {
                    LiteralsType::Compressed => {
                        literals::read_tree(self.kernels, stored, self.tables, &mut self.buffers.huffman)
                            .map_err(shift)?
                    }
                    _ => 0,
                };
                self.decode_huffman(&header, src, &stored[tree..], count)
                    .map_err(|e| shift(e).shifted(tree as u64))?;
                &self.buffers.literals[..count + SLACK]
            }
        };
        let shift = |e: Error| e.shifted((header.len + header.stored) as u64);
        let Section { count, len } =
            read_section(self.kernels, section, self.tables, self.dictionary).map_err(shift)?;
        if count == 0 {
            return out.append(&literals[..header.count]);
        }
        let bits = &section[len..];
        let repeats = self.tables.repeats;
        let table =
            |field| self.tables.table(field, self.dictionary).ok_or(Error::corrupt("a block has no tables"));
        let (ll, of, ml) = (
            table(SequenceField::LiteralLength)?,
            table(SequenceField::Offset)?,
            table(SequenceField::MatchLength)?,
        );
        let mut prefetch = self.prefetch.as_deref_mut();
        if let Some(queue) = &mut prefetch {
            queue.spread_over(count);
        }
        let two_phase = self.two_phase;
        let job =
            Job { count, ll, of, ml, whole: src, bits, literals, repeats, max, prefetch, two_phase, out };
        self.tables.repeats =
            kernel::sequences::run(self.kernels, job).map_err(|e| shift(e).shifted(len as u64))?;
        Ok(())
    }

    /// Decodes the Huffman-coded streams `src`, a part of `whole`, into the first `count` literals.
    fn decode_huffman(
        &mut self,
        header: &LiteralsHeader,
        whole: &[u8],
        src: &[u8],
        count: usize,
    ) -> Result<()> {
        let BlockBuffers { literals, huffman, pairs } = &mut *self.buffers;
        let table = self.tables.huffman(self.kernels, self.dictionary, huffman).ok_or(literals::NO_TREE)?;
        let out = &mut literals[..count];
        if header.streams == 1 {
            return kernel::huffman::decode_stream(self.kernels, table, whole, src, out);
        }
        let streams = FourStreams::split(src, count)?;
        kernel::huffman::decode_interleaved(self.kernels, table, whole, &streams, pairs, out)
    }
}
