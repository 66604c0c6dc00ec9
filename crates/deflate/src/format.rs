//! Containers and compression levels.

use linerate_core::{Error, Kind, Result};

/// The container that holds the deflate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Format {
    /// Bare deflate blocks (RFC 1951): no header, no checksum.
    Deflate = 0,
    /// zlib (RFC 1950): 2-byte header, Adler-32. HTTP calls it `Content-Encoding: deflate`.
    Zlib = 1,
    /// gzip (RFC 1952): 10-byte header, CRC-32 and length.
    Gzip = 2,
}

impl Format {
    /// Returns the header that this encoder writes. The gzip header has no name and no time, and
    /// names Unix as the operating system.
    pub const fn header(self) -> &'static [u8] {
        match self {
            Format::Deflate => &[],
            Format::Zlib => &[0x78, 0x01],
            Format::Gzip => &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3],
        }
    }

    /// Returns the size of the trailer, in bytes.
    pub const fn trailer_len(self) -> usize {
        match self {
            Format::Deflate => 0,
            Format::Zlib => 4,
            Format::Gzip => 8,
        }
    }
}

/// Compression level. It may change between the calls of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Level {
    /// Stored blocks: checksums and framing only.
    Stored = 0,
    /// One pass over the data, with one of seven built-in pairs of trees, or with trees fitted to a
    /// sample of the block where none of these suits.
    Fast = 1,
    /// Trees built for each block, or the fixed trees if those make it no larger. The default.
    #[default]
    Default = 2,
    /// Like [`Default`](Self::Default), with two match candidates per position.
    High = 3,
    /// Lazy matching over short hash chains.
    Lazy = 4,
    /// Lazy matching over longer hash chains.
    Deep = 5,
    /// Lazy matching over still longer hash chains: as small as zlib's level 6.
    Deeper = 6,
    /// Lazy matching over the longest hash chains. Looks two positions ahead before it takes a
    /// match.
    Deepest = 7,
    /// Near-optimal parsing: the cheapest path through the matches that binary trees find in a
    /// block. About as small as libdeflate's level 10. The first call at this level or the next
    /// with a [`Scratch`](crate::Scratch) allocates another 7 MiB. Sessions, and builds without the
    /// feature `alloc`, search as [`Deepest`](Self::Deepest) does.
    Optimal = 8,
    /// Like [`Optimal`](Self::Optimal), with more candidates, and up to ten parses of a block while
    /// each makes it smaller, twice for short input and blocks of few different literals. About as
    /// small as libdeflate's level 12.
    Best = 9,
}

impl Level {
    /// All levels, fastest first.
    pub const ALL: [Level; 10] = [
        Level::Stored,
        Level::Fast,
        Level::Default,
        Level::High,
        Level::Lazy,
        Level::Deep,
        Level::Deeper,
        Level::Deepest,
        Level::Optimal,
        Level::Best,
    ];

    /// Returns the level with number `n`, 0 to 9.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if `n` is above 9.
    pub const fn from_number(n: u8) -> Result<Level> {
        if (n as usize) < Level::ALL.len() {
            return Ok(Level::ALL[n as usize]);
        }
        Err(Error::new(Kind::BadArgument, 0, "the level must be 0 to 9"))
    }

    /// Returns whether `linerate gzip` lets matches cross blocks at this level without being asked.
    /// It does from level 4 on, since those levels are chosen for size.
    pub const fn uses_history(self) -> bool {
        self as u8 >= Level::Lazy as u8
    }
}
