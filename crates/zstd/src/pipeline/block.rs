//! One compressed block on its way: its headers are read in the order of the blocks, its literals and sequences decoded by any
//! thread, and it is executed in order again.
//!
//! Nothing here reports an error. A block that is damaged, or too unusual for this, is decoded by the stream decoder, which does.

use linerate_core::{Error, Result};

use crate::dictionary::Dictionary;
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
use crate::scratch::{PAD, Scratch};
use crate::sequences_section::{Section, read_section};
use crate::stream_decoder::{DecodedBlock, Progress, StreamDecoder};

/// Where a block begins in [`Block::bytes`].
const BEGIN: usize = PAD + BlockHeader::LEN;
/// Most sequences of a block: each regenerates at least three bytes.
const MAX_SEQUENCES: usize = BLOCK_MAX / 3;

/// Never told: the stream decoder finds the error again.
const NO_TABLE: Error = Error::corrupt("a block has no tables");

/// A block and what is known of it.
#[derive(Default)]
pub(super) struct Block {
    /// [`PAD`] bytes, the block's header, and the block, with [`SLACK`] after it.
    bytes: Vec<u8>,
    decoded: Option<Box<Decoded>>,
}

/// The literals and sequences of a block. Few blocks have them at a time, so that they stay in a cache.
pub(super) struct Decoded {
    kernels: KernelSet,
    /// The entropy tables after the block's headers.
    tables: Box<FrameTables>,
    /// Unless they are damaged or unusual.
    headers: Option<BlockHeaders>,
    literals: Vec<u8>,
    sequences: Vec<Sequence>,
    /// Once both are decoded.
    end: Option<SequencesEnd>,
}

/// The headers of a block's two sections.
#[derive(Clone, Copy)]
struct BlockHeaders {
    literals: LiteralsHeader,
    /// Bytes of the tree description.
    tree: usize,
    /// Where the bitstream of the sequences begins in the block.
    bits: usize,
    /// Number of sequences.
    count: usize,
}

/// The tables that headers describe, carried from block to block.
pub(super) struct HeaderReader {
    tables: Box<FrameTables>,
    huffman: Box<HuffmanTableBuffer>,
    /// Whether `tables` are those before the next block.
    is_valid: bool,
    kernels: KernelSet,
}

/// A thread's buffers for decoding literals.
pub(super) struct EntropyBuffers {
    huffman: Box<HuffmanTableBuffer>,
    pairs: Box<Pairs>,
}

impl EntropyBuffers {
    pub(super) fn new() -> Self {
        EntropyBuffers { huffman: Box::new(HuffmanTableBuffer::new()), pairs: Box::new([0; _]) }
    }
}

impl HeaderReader {
    pub(super) fn new(kernels: KernelSet) -> Self {
        HeaderReader {
            tables: Box::new(FrameTables::new()),
            huffman: Box::new(HuffmanTableBuffer::new()),
            is_valid: false,
            kernels,
        }
    }

    /// Begins a frame.
    pub(super) fn start(&mut self) {
        self.tables.start(None);
        self.is_valid = true;
    }

    /// Reads the headers of the next block. Those of the blocks after a damaged one cannot be read.
    pub(super) fn read(&mut self, block: &Block, decoded: &mut Decoded) {
        (decoded.headers, decoded.end) = (None, None);
        if !std::mem::take(&mut self.is_valid) {
            return;
        }
        let Ok(headers) = self.headers(&whole(&block.bytes)[BEGIN..]) else { return };
        self.is_valid = true;
        if headers.literals.count > BLOCK_MAX || headers.count > MAX_SEQUENCES || self.has_large_offsets() {
            return;
        }
        decoded.tables.clone_from(&self.tables);
        decoded.headers = Some(headers);
    }

    fn headers(&mut self, block: &[u8]) -> Result<BlockHeaders> {
        let literals = LiteralsHeader::parse(block)?;
        let rest = &block[literals.len..];
        let (stored, section) = rest.split_at_checked(literals.stored).ok_or(LITERALS_CUT_OFF)?;
        let mut tree = 0;
        if literals.kind == LiteralsType::Compressed {
            tree = literals::read_tree(self.kernels, stored, &mut self.tables, &mut self.huffman)?;
        }
        let Section { count, len } = read_section(self.kernels, section, &mut self.tables, None)?;
        Ok(BlockHeaders { literals, tree, bits: block.len() - section.len() + len, count })
    }

    /// Whether offsets of the next block can be as large as symbolic ones.
    fn has_large_offsets(&self) -> bool {
        let table = self.tables.table(SequenceField::Offset, None);
        table.is_some_and(|table| table.cells.iter().any(|&cell| fse::code(cell) > symbolic::MAX_CODE))
    }
}

impl Block {
    /// Begins with the header of a block.
    pub(super) fn start(&mut self, header: [u8; BlockHeader::LEN]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&[0; PAD]);
        self.bytes.extend_from_slice(&header);
        self.decoded = None;
    }

    /// Adds bytes of the block.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Ends the block.
    pub(super) fn finish(&mut self) {
        self.bytes.extend_from_slice(&[0; SLACK]);
    }

    /// The header and the block.
    pub(super) fn input(&self) -> &[u8] {
        &whole(&self.bytes)[PAD..]
    }

    /// Keeps what is decoded of the block.
    pub(super) fn set_decoded(&mut self, decoded: Box<Decoded>) {
        self.decoded = Some(decoded);
    }

    /// Takes the memory of what was decoded.
    pub(super) fn take_decoded(&mut self) -> Option<Box<Decoded>> {
        self.decoded.take()
    }

    /// Gives `stream` the bytes of [`input`](Self::input) after the first `at`, and what is decoded of them.
    pub(super) fn feed(
        &mut self,
        (stream, scratch): (&mut StreamDecoder, &mut Scratch),
        dictionary: Option<&Dictionary<'_>>,
        at: usize,
        dst: &mut [u8],
    ) -> Result<Progress> {
        let (bytes, src) = (&self.bytes, whole(&self.bytes));
        match &mut self.decoded {
            Some(decoded) => {
                let mut ahead = Ahead { bytes, decoded };
                stream.decode_ahead(scratch, dictionary, src, PAD + at, dst, Some(&mut ahead))
            }
            None => stream.decode_ahead(scratch, dictionary, src, PAD + at, dst, None),
        }
    }
}

/// [`Block::bytes`] without the slack.
fn whole(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() - SLACK]
}

impl Decoded {
    pub(super) fn new(kernels: KernelSet) -> Self {
        Decoded {
            kernels,
            tables: Box::new(FrameTables::new()),
            headers: None,
            literals: Vec::new(),
            sequences: Vec::new(),
            end: None,
        }
    }

    /// Decodes the literals and sequences of `block`, if its headers could be read.
    pub(super) fn decode(&mut self, block: &Block, buffers: &mut EntropyBuffers) {
        let Some(headers) = self.headers else { return };
        let whole = whole(&block.bytes);
        let literals = self.decode_literals(&headers, whole, buffers);
        self.end = literals.and_then(|()| self.decode_sequences(&headers, whole)).ok();
    }

    fn decode_literals(
        &mut self,
        headers: &BlockHeaders,
        whole: &[u8],
        buffers: &mut EntropyBuffers,
    ) -> Result<()> {
        let LiteralsHeader { kind, count, len, stored, streams } = headers.literals;
        if kind == LiteralsType::Raw {
            return Ok(());
        }
        if self.literals.len() < count + SLACK {
            self.literals.resize(count + SLACK, 0);
        }
        let out = &mut self.literals[..count];
        let stored = &whole[BEGIN + len..][..stored];
        if kind == LiteralsType::Rle {
            out.fill(stored[0]);
            return Ok(());
        }
        let EntropyBuffers { huffman, pairs } = buffers;
        let table = self.tables.huffman(self.kernels, None, huffman).ok_or(NO_TABLE)?;
        let src = &stored[headers.tree..];
        if streams == 1 {
            return kernel::huffman::decode_stream(self.kernels, table, whole, src, out);
        }
        let streams = FourStreams::split(src, count)?;
        kernel::huffman::decode_interleaved(self.kernels, table, whole, &streams, pairs, out)
    }

    fn decode_sequences(&mut self, headers: &BlockHeaders, whole: &[u8]) -> Result<SequencesEnd> {
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
        let sequences = &mut self.sequences[..headers.count];
        let bits = &whole[BEGIN + headers.bits..];
        split::decode(self.kernels, CodedSequences { ll, of, ml, whole, bits, sequences })
    }

    /// Replaces symbolic offsets, given the repeat offsets before the block; returns those after it. `None` if one is invalid.
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

/// What the stream decoder executes.
struct Ahead<'b> {
    /// [`Block::bytes`].
    bytes: &'b [u8],
    decoded: &'b mut Decoded,
}

impl DecodedBlock for Ahead<'_> {
    fn execute(&mut self, tables: &mut Box<FrameTables>, max: usize, out: &mut Output<'_>) -> bool {
        let Ahead { bytes, decoded } = self;
        let (Some(headers), Some(end)) = (decoded.headers, decoded.end.take()) else { return false };
        let LiteralsHeader { kind, count, len, .. } = headers.literals;
        if count > max {
            return false;
        }
        let Some(repeats) = decoded.resolve(&end, tables.repeats) else { return false };
        let literals = match kind {
            LiteralsType::Raw => &bytes[BEGIN + len..][..count + SLACK],
            _ => &decoded.literals[..count + SLACK],
        };
        let done = match headers.count {
            0 => out.append(&literals[..count]),
            n => split::execute(decoded.kernels, &decoded.sequences[..n], literals, max, out),
        };
        if done.is_err() {
            return false;
        }
        decoded.tables.repeats = repeats;
        std::mem::swap(tables, &mut decoded.tables);
        true
    }
}
