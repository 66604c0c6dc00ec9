//! Makes archives by hand, field by field. Neither the crate nor a compressor writes them, so their
//! bytes never change.

use linerate_nx::filter::Filter;
use linerate_nx::{Archive, HashKind};

pub const COPY: u32 = 0;
pub const ZSTD: u32 = 1;
pub const LZ4: u32 = 2;
/// The bit that is added to [`ZSTD`] or [`LZ4`] for a filtered block, in archives of header version
/// [`FILTERS`].
pub const FILTERED: u32 = 4;
pub const FILTERS: u32 = 65;

/// The fields of an entry.
#[derive(Clone, Debug)]
pub struct MadeEntry {
    pub hash: u64,
    pub size: u64,
    pub offset: u64,
    pub path: u64,
    pub first: u64,
}

/// An archive to make, in which every field can be wrong.
#[derive(Clone, Debug)]
pub struct Make {
    pub version: u32,
    pub exponent: u32,
    /// Number of header pages. `None` gives as many as are needed.
    pub pages: Option<u32>,
    pub flags: u32,
    pub toc: u64,
    pub entries: Vec<MadeEntry>,
    /// Codec, stated size and bytes of each block.
    pub blocks: Vec<(u32, u32, Vec<u8>)>,
    /// The bytes of the pool. `None` gives a stored frame of the names.
    pub pool: Option<Vec<u8>>,
    pub names: Vec<Vec<u8>>,
    /// Bytes between the tables and the first block.
    pub spare: Vec<u8>,
    /// Whether zeros fill the page of the last block.
    pub padded: bool,
}

impl Make {
    /// Starts an archive of header version 1 with chunks of `512 << exponent` bytes.
    pub fn new(exponent: u32) -> Make {
        Make {
            version: 1,
            exponent,
            pages: None,
            flags: 0,
            toc: 0,
            entries: Vec::new(),
            blocks: Vec::new(),
            pool: None,
            names: Vec::new(),
            spare: Vec::new(),
            padded: true,
        }
    }

    /// Adds a file whose content is `content`, at `offset` of block `first`.
    pub fn file(mut self, name: impl AsRef<[u8]>, content: &[u8], first: u64, offset: u64) -> Make {
        let kind = if self.version == 0 { HashKind::Xxh64 } else { HashKind::Xxh3 };
        let path = self.names.len() as u64;
        self.names.push(name.as_ref().to_vec());
        self.entries.push(MadeEntry {
            hash: kind.hash_bytes(content),
            size: content.len() as u64,
            offset,
            path,
            first,
        });
        self
    }

    /// Adds a block.
    pub fn block(mut self, codec: u32, bytes: Vec<u8>) -> Make {
        self.blocks.push((codec, bytes.len() as u32, bytes));
        self
    }

    /// Applies any change.
    pub fn with(mut self, change: impl FnOnce(&mut Make)) -> Make {
        change(&mut self);
        self
    }

    /// Returns the bytes of the archive.
    pub fn bytes(&self) -> Vec<u8> {
        let joined: Vec<u8> = self.names.iter().flat_map(|name| name.iter().copied().chain([0])).collect();
        let pool = self.pool.clone().unwrap_or_else(|| frame(&joined, Frame::Sized));
        let mut tables = Vec::new();
        for entry in &self.entries {
            tables.extend(entry.hash.to_le_bytes());
            match self.toc {
                0 => tables.extend((entry.size as u32).to_le_bytes()),
                _ => tables.extend(entry.size.to_le_bytes()),
            }
            tables.extend((entry.offset << 38 | entry.path << 18 | entry.first).to_le_bytes());
        }
        for (codec, size, _) in &self.blocks {
            tables.extend((size << 3 | codec).to_le_bytes());
        }
        tables.extend(&pool);
        tables.extend(&self.spare);
        let pages = self.pages.unwrap_or((16 + tables.len()).div_ceil(4096) as u32);
        let word = self.version << 25 | self.exponent << 20 | pages << 4 | self.flags;
        let counts = self.toc << 62
            | (pool.len() as u64) << 38
            | (self.blocks.len() as u64) << 20
            | self.entries.len() as u64;
        let mut out = b"NXUS".to_vec();
        out.extend(word.to_le_bytes());
        out.extend(counts.to_le_bytes());
        out.extend(tables);
        out.resize(out.len().next_multiple_of(4096), 0);
        for (i, (_, _, bytes)) in self.blocks.iter().enumerate() {
            out.extend(bytes);
            if self.padded || i + 1 < self.blocks.len() {
                out.resize(out.len().next_multiple_of(4096), 0);
            }
        }
        out
    }
}

/// The form of a hand-made zstd frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The header has the content size.
    Sized,
    /// The header has a window of 1 MiB instead of the content size.
    Streamed,
    /// As `Streamed`, but no block is marked as the last.
    Open,
}

/// Returns a zstd frame of raw and RLE blocks.
pub fn frame(content: &[u8], kind: Frame) -> Vec<u8> {
    let mut out = vec![0x28, 0xB5, 0x2F, 0xFD];
    match kind {
        Frame::Sized if content.len() < 256 => out.extend([0x20, content.len() as u8]),
        Frame::Sized => {
            out.push(0xA0);
            out.extend((content.len() as u32).to_le_bytes());
        }
        // The window is 2^(10 + 10) bytes.
        Frame::Streamed | Frame::Open => out.extend([0, 10 << 3]),
    }
    let last = content.len().div_ceil(128 << 10).max(1) - 1;
    for i in 0..=last {
        let end = content.len().min((i + 1) << 17);
        let piece = &content[i << 17..end];
        let ends = u32::from(i == last && kind != Frame::Open);
        let repeats = piece.len() > 1 && piece.iter().all(|b| *b == piece[0]);
        let header = (piece.len() as u32) << 3 | u32::from(repeats) << 1 | ends;
        out.extend(&header.to_le_bytes()[..3]);
        out.extend(if repeats { &piece[..1] } else { piece });
    }
    out
}

/// Returns a raw LZ4 block of `literals`. If `run` is not 0, a match of `run` bytes repeats the
/// first literal. At least five literals must follow it, as the format requires.
pub fn lz4(literals: &[u8], run: usize) -> Vec<u8> {
    let mut out = Vec::new();
    if run > 0 {
        sequence(&mut out, &literals[..1], run - 4);
        out.extend([1, 0]);
        extend_length(&mut out, run - 4);
        return [out, lz4(&literals[1..], 0)].concat();
    }
    sequence(&mut out, literals, 0);
    out
}

/// Appends the token, the length of the literals and the literals of a sequence.
fn sequence(out: &mut Vec<u8>, literals: &[u8], matched: usize) {
    out.push((literals.len().min(15) as u8) << 4 | matched.min(15) as u8);
    extend_length(out, literals.len());
    out.extend(literals);
}

/// Appends the part of a length that does not fit the token.
fn extend_length(out: &mut Vec<u8>, length: usize) {
    if let Some(rest) = length.checked_sub(15) {
        out.resize(out.len() + rest / 255, 255);
        out.push((rest % 255) as u8);
    }
}

/// Returns the table of the regions of a filtered block. Regions are filter, offset and length.
pub fn regions(regions: &[(u8, u32, u32)]) -> Vec<u8> {
    let mut out = vec![regions.len() as u8];
    for (filter, start, len) in regions {
        out.push(*filter);
        out.extend(start.to_le_bytes());
        out.extend(len.to_le_bytes());
    }
    out
}

/// Returns the content with these regions filtered.
pub fn filtered(content: &[u8], regions: &[(u8, u32, u32)]) -> Vec<u8> {
    let mut out = content.to_vec();
    for &(filter, start, len) in regions {
        let range = start as usize..(start + len) as usize;
        let filter = Filter::from_id(filter).expect("a filter of that number");
        filter.apply(&content[range.clone()], &mut out[range]);
    }
    out
}

/// Returns an archive of these paths. Each file is one byte, all in one stored block. Chunks have 1
/// MiB.
pub fn of(paths: &[&str]) -> Archive<Vec<u8>> {
    let content: Vec<u8> = (0..paths.len()).map(|i| b'A' + i as u8).collect();
    let make = Make::new(11).block(COPY, content.clone());
    let add = |make: Make, (i, path): (usize, &&str)| make.file(path, &content[i..=i], 0, i as u64);
    Archive::open(paths.iter().enumerate().fold(make, add).bytes()).unwrap()
}

/// Returns bytes that do not repeat within a short distance.
pub fn noise(len: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..len).map(next).collect()
}
