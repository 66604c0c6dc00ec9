//! Containers and compression levels.

use linerate_core::{Error, Kind, Result};

/// The container around the deflate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Format {
    /// Bare deflate blocks (RFC 1951): no header, no checksum.
    Deflate = 0,
    /// zlib (RFC 1950): 2-byte header, Adler-32. What HTTP calls `Content-Encoding: deflate`.
    Zlib = 1,
    /// gzip (RFC 1952): 10-byte header, CRC-32 and length.
    Gzip = 2,
}

impl Format {
    /// The header this encoder writes: for gzip without name and time, operating system Unix.
    pub const fn header(self) -> &'static [u8] {
        match self {
            Format::Deflate => &[],
            Format::Zlib => &[0x78, 0x01],
            Format::Gzip => &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3],
        }
    }

    /// Bytes of the trailer.
    pub const fn trailer_len(self) -> usize {
        match self {
            Format::Deflate => 0,
            Format::Zlib => 4,
            Format::Gzip => 8,
        }
    }
}

/// Compression level. May change between the calls of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Level {
    /// Stored blocks: checksums and framing only.
    Stored = 0,
    /// One pass, with one of four built-in pairs of trees.
    Fast = 1,
    /// Trees built per block. The default.
    #[default]
    Default = 2,
    /// As [`Default`](Self::Default), with two match candidates per position.
    Best = 3,
}

impl Level {
    /// All levels, fastest first.
    pub const ALL: [Level; 4] = [Level::Stored, Level::Fast, Level::Default, Level::Best];

    /// The level with number `n`, 0 to 3.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] above 3.
    pub const fn from_number(n: u8) -> Result<Level> {
        match n {
            0 => Ok(Level::Stored),
            1 => Ok(Level::Fast),
            2 => Ok(Level::Default),
            3 => Ok(Level::Best),
            _ => Err(Error::new(Kind::BadArgument, 0, "the level must be 0, 1, 2 or 3")),
        }
    }
}
