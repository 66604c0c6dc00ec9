//! A compressed block that passes through the pipeline. Its headers are read in the order of the
//! blocks, any thread decodes its literals and sequences, and it is executed in order again.
//!
//! Nothing here reports an error. The stream decoder decodes the blocks that are damaged or
//! unusual, and reports their errors.

use linerate_core::{Error, Result};

use crate::entropy::huffman::{FourStreams, LITERALS_CUT_OFF};
use crate::entropy::tables::{RepeatOffsets, SequenceField};
use crate::entropy::{fse, symbolic};
use crate::execute::SLACK;
use crate::frame::{BLOCK_MAX, BlockHeader};
use crate::frame_tables::{FrameTables, HuffmanTableBuffer};
use crate::kernel;
use crate::kernel::huffman::Pairs;
use crate::kernel::sequences::Sequence;
use crate::kernel::split::{self, CodedSequences, SequencesEnd};
use crate::kernel_set::KernelSet;
use crate::literals::{self, LiteralsHeader, LiteralsType};
use crate::output::Output;
use crate::scratch::PAD;
use crate::sequences_section::{Section, read_section};

/// Position of the block in [`Block::bytes`].
const BEGIN: usize = PAD + BlockHeader::LEN;
/// Largest number of sequences in a block. Each regenerates at least three bytes.
const MAX_SEQUENCES: usize = BLOCK_MAX / 3;

/// The user never sees this error, because the stream decoder finds it again.
const NO_TABLE: Error = Error::corrupt("a block has no tables");

/// A block, and the parts of it that are decoded. Its memory is reused: at most 0.8 MiB, of which a
/// block touches only the part it needs.
pub(super) struct Block {
    /// [`PAD`] bytes, the block's header, and the block, with [`SLACK`] after it.
    bytes: Vec<u8>,
    is_last: bool,
    /// The entropy tables after the block's headers.
    tables: FrameTables,
    /// The headers, unless they are damaged or unusual.
    headers: Option<BlockHeaders>,
    literals: Vec<u8>,
    sequences: Vec<Sequence>,
    /// Set when literals and sequences are decoded.
    end: Option<SequencesEnd>,
}

/// The headers of a block's two sections.
#[derive(Clone, Copy)]
struct BlockHeaders {
    literals: LiteralsHeader,
    /// Size of the tree description, in bytes.
    tree: usize,
    /// Position of the sequences' bitstream in the block.
    bits: usize,
    /// Number of sequences.
    count: usize,
}

/// The tables that headers describe, carried from block to block.
pub(super) struct HeaderReader {
    tables: FrameTables,
    /// Whether `tables` are those before the next block.
    is_valid: bool,
}

/// A thread's buffers for decoding literals.
pub(super) struct EntropyBuffers {
    huffman: HuffmanTableBuffer,
    pairs: Pairs,
}

impl EntropyBuffers {
    pub(super) fn new() -> Self {
        EntropyBuffers { huffman: HuffmanTableBuffer::new(), pairs: [0; _] }
    }
}

impl HeaderReader {
    pub(super) fn new() -> Self {
        HeaderReader { tables: FrameTables::new(), is_valid: false }
    }

    /// Begins a frame.
    pub(super) fn start(&mut self) {
        self.tables.start(None);
        self.is_valid = true;
    }

    /// Reads the headers of the next block. After a damaged block, headers cannot be read.
    pub(super) fn read(&mut self, kernels: KernelSet, block: &mut Block, buffers: &mut EntropyBuffers) {
        (block.headers, block.end) = (None, None);
        if !std::mem::take(&mut self.is_valid) {
            return;
        }
        let Ok(headers) = self.headers(kernels, &block.whole()[BEGIN..], &mut buffers.huffman) else {
            return;
        };
        self.is_valid = true;
        if headers.literals.count > BLOCK_MAX || headers.count > MAX_SEQUENCES || self.has_large_offsets() {
            return;
        }
        block.tables.clone_from(&self.tables);
        block.headers = Some(headers);
    }

    fn headers(
        &mut self,
        kernels: KernelSet,
        block: &[u8],
        huffman: &mut HuffmanTableBuffer,
    ) -> Result<BlockHeaders> {
        let literals = LiteralsHeader::parse(block)?;
        let rest = &block[literals.len..];
        let (stored, section) = rest.split_at_checked(literals.stored).ok_or(LITERALS_CUT_OFF)?;
        let mut tree = 0;
        if literals.kind == LiteralsType::Compressed {
            tree = literals::read_tree(kernels, stored, &mut self.tables, huffman)?;
        }
        let Section { count, len } = read_section(kernels, section, &mut self.tables, None)?;
        Ok(BlockHeaders { literals, tree, bits: block.len() - section.len() + len, count })
    }

    /// Returns whether offsets of the block whose headers were read last can be as large as
    /// symbolic ones.
    fn has_large_offsets(&self) -> bool {
        let table = self.tables.table(SequenceField::Offset, None);
        table.is_some_and(|table| table.cells.iter().any(|&cell| fse::code(cell) > symbolic::MAX_CODE))
    }
}

impl Block {
    pub(super) fn new() -> Self {
        Block {
            bytes: Vec::with_capacity(BEGIN + BLOCK_MAX + SLACK),
            is_last: false,
            tables: FrameTables::new(),
            headers: None,
            literals: Vec::with_capacity(BLOCK_MAX + SLACK),
            sequences: Vec::with_capacity(MAX_SEQUENCES),
            end: None,
        }
    }

    /// Begins a block with its header.
    pub(super) fn start(&mut self, header: [u8; BlockHeader::LEN], is_last: bool) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&[0; PAD]);
        self.bytes.extend_from_slice(&header);
        self.is_last = is_last;
        self.end = None;
    }

    /// Adds bytes of the block.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds the slack at the end of the block.
    pub(super) fn finish(&mut self) {
        self.bytes.extend_from_slice(&[0; SLACK]);
    }

    /// Returns the header and the block.
    pub(super) fn input(&self) -> &[u8] {
        &self.whole()[PAD..]
    }

    /// Returns [`Block::bytes`] without the slack.
    fn whole(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - SLACK]
    }

    /// Returns whether the frame ends with this block.
    pub(super) fn is_last(&self) -> bool {
        self.is_last
    }

    /// Decodes the literals and sequences, if the headers could be read.
    pub(super) fn decode(&mut self, kernels: KernelSet, buffers: &mut EntropyBuffers) {
        let Some(headers) = self.headers else { return };
        let literals = self.decode_literals(kernels, &headers, buffers);
        self.end = literals.and_then(|()| self.decode_sequences(kernels, &headers)).ok();
    }

    fn decode_literals(
        &mut self,
        kernels: KernelSet,
        headers: &BlockHeaders,
        EntropyBuffers { huffman, pairs }: &mut EntropyBuffers,
    ) -> Result<()> {
        let LiteralsHeader { kind, count, len, stored, streams } = headers.literals;
        if kind == LiteralsType::Raw {
            return Ok(());
        }
        if self.literals.len() < count + SLACK {
            self.literals.resize(count + SLACK, 0);
        }
        let whole = &self.bytes[..self.bytes.len() - SLACK];
        let out = &mut self.literals[..count];
        let stored = &whole[BEGIN + len..][..stored];
        if kind == LiteralsType::Rle {
            out.fill(stored[0]);
            return Ok(());
        }
        let table = self.tables.huffman(kernels, None, huffman).ok_or(NO_TABLE)?;
        let src = &stored[headers.tree..];
        if streams == 1 {
            return kernel::huffman::decode_stream(kernels, table, whole, src, out);
        }
        let streams = FourStreams::split(src, count)?;
        kernel::huffman::decode_interleaved(kernels, table, whole, &streams, pairs, out)
    }

    fn decode_sequences(&mut self, kernels: KernelSet, headers: &BlockHeaders) -> Result<SequencesEnd> {
        if headers.count == 0 {
            return Ok(SequencesEnd { repeats: symbolic::BEFORE, symbolic: 0 });
        }
        if self.sequences.len() < headers.count {
            self.sequences.resize(headers.count, Sequence::default());
        }
        let table = |field| self.tables.table(field, None).ok_or(NO_TABLE);
        let (ll, of, ml) = (
            table(SequenceField::LiteralLength)?,
            table(SequenceField::Offset)?,
            table(SequenceField::MatchLength)?,
        );
        let whole = &self.bytes[..self.bytes.len() - SLACK];
        let (bits, sequences) = (&whole[BEGIN + headers.bits..], &mut self.sequences[..headers.count]);
        split::decode(kernels, CodedSequences { ll, of, ml, whole, bits, sequences })
    }

    /// Appends the content, at most `max` bytes, and updates `tables` to those after the block.
    /// Returns false, and leaves the tables unchanged, if it cannot.
    pub(super) fn execute(
        &mut self,
        kernels: KernelSet,
        tables: &mut FrameTables,
        max: usize,
        out: &mut Output<'_>,
    ) -> bool {
        let (Some(headers), Some(end)) = (self.headers, self.end.take()) else { return false };
        let LiteralsHeader { kind, count, len, .. } = headers.literals;
        if count > max {
            return false;
        }
        let Some(repeats) = self.resolve(&end, tables.repeats) else { return false };
        let literals = match kind {
            LiteralsType::Raw => &self.bytes[BEGIN + len..][..count + SLACK],
            _ => &self.literals[..count + SLACK],
        };
        let done = match headers.count {
            0 => out.append(&literals[..count]),
            n => split::execute(kernels, &self.sequences[..n], literals, max, out),
        };
        if done.is_ok() {
            tables.clone_from(&self.tables);
            tables.repeats = repeats;
        }
        done.is_ok()
    }

    /// Replaces symbolic offsets, given the repeat offsets before the block. Returns the repeat
    /// offsets after it, or `None` if an offset is invalid.
    fn resolve(&mut self, end: &SequencesEnd, before: RepeatOffsets) -> Option<RepeatOffsets> {
        for sequence in &mut self.sequences[..end.symbolic] {
            sequence.offset = symbolic::resolve(sequence.offset, before);
            if sequence.offset == 0 {
                return None;
            }
        }
        Some(RepeatOffsets(end.repeats.0.map(|offset| symbolic::resolve(offset, before))))
    }
}
