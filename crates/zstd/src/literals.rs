//! The literals of a block: four ways to store them.

use linerate_core::{Error, Kind, Result};

use crate::huffman::{self, Weights};
use crate::scratch::Form;
use crate::tables::{HuffmanRoom, HuffmanTable, Tables};

/// How literals are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Raw,
    Rle,
    /// Huffman codes, after their tree.
    Tree,
    /// Huffman codes of the tree before.
    Treeless,
}

/// What a section of literals begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) coding: Coding,
    /// Bytes of the header.
    pub(crate) len: usize,
    /// Literals.
    pub(crate) count: usize,
    /// Bytes after the header.
    pub(crate) stored: usize,
    /// Streams of Huffman codes, 1 or 4.
    pub(crate) streams: usize,
}

const CUT_OFF: Error = Error::new(Kind::Truncated, 0, "a section of literals is cut off");

impl Header {
    pub(crate) fn parse(src: &[u8]) -> Result<Header> {
        let first = *src.first().ok_or(CUT_OFF)?;
        let coding = [Coding::Raw, Coding::Rle, Coding::Tree, Coding::Treeless][usize::from(first & 3)];
        let format = usize::from(first >> 2 & 3);
        let plain = matches!(coding, Coding::Raw | Coding::Rle);
        let len = if plain { [1, 2, 1, 3][format] } else { [3, 3, 4, 5][format] };
        let bytes = src.get(..len).ok_or(CUT_OFF)?;
        let word = bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        if plain {
            let count = (word >> [3, 4, 3, 4][format]) as usize;
            let stored = if coding == Coding::Raw { count } else { 1 };
            return Ok(Header { coding, len, count, stored, streams: 0 });
        }
        let width = [10, 10, 14, 18][format];
        let mask = (1u64 << width) - 1;
        let (count, stored) = ((word >> 4 & mask) as usize, (word >> (4 + width) & mask) as usize);
        Ok(Header { coding, len, count, stored, streams: if format == 0 { 1 } else { 4 } })
    }
}

/// Four streams and how many literals each but the last holds.
pub(crate) struct Streams<'a> {
    pub(crate) of: [&'a [u8]; 4],
    pub(crate) segment: usize,
}

impl<'a> Streams<'a> {
    /// Finds the four streams behind their table of sizes.
    pub(crate) fn split(src: &'a [u8], count: usize) -> Result<Self> {
        let corrupt = |what| Err(Error::new(Kind::Corrupt, 0, what));
        let Some((sizes, rest)) = src.split_at_checked(6) else { return Err(CUT_OFF) };
        if count < 6 {
            return corrupt("fewer than six literals are in four streams");
        }
        let size = |i: usize| usize::from(u16::from_le_bytes([sizes[i], sizes[i + 1]]));
        let (a, b, c) = (size(0), size(2), size(4));
        if a + b + c >= rest.len() {
            return corrupt("streams of literals are larger than their section");
        }
        let (one, rest) = rest.split_at(a);
        let (two, rest) = rest.split_at(b);
        let (three, four) = rest.split_at(c);
        Ok(Streams { of: [one, two, three, four], segment: count.div_ceil(4) })
    }
}

/// Decodes four streams into all of `out`, safely: what the kernels must match.
pub(crate) fn decode_streams(table: HuffmanTable<'_>, streams: &Streams<'_>, out: &mut [u8]) -> Result<()> {
    let mut rest = out;
    for (i, stream) in streams.of.into_iter().enumerate() {
        let len = if i < 3 { streams.segment } else { rest.len() };
        let (part, after) = rest.split_at_mut(len);
        huffman::decode_stream(table, stream, part)?;
        rest = after;
    }
    Ok(())
}

pub(crate) const NO_TREE: Error =
    Error::new(Kind::Corrupt, 0, "literals repeat a Huffman tree before there was one");

/// Reads the tree that `src` begins with into the tables, and lays its codes out; returns its length.
pub(crate) fn read_tree(
    form: Form,
    src: &[u8],
    tables: &mut Tables,
    room: &mut HuffmanRoom,
) -> Result<usize> {
    let mut weights = Weights::new();
    let used = weights.read(src)?;
    tables.set_huffman(form, &weights, room);
    Ok(used)
}
