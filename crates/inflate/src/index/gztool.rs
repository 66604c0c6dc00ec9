//! Reads index files of gztool, versions 0 and 1.
//!
//! `docs/inflate/gzidx.md` describes the format.

use std::io::{BufReader, Read, Seek};
use std::ops::Range;

use linerate_core::{Error, Kind, Result};

use super::WINDOW;
use super::gzidx::{NOT_AN_INDEX, Rows};
use super::points::{Index, Point};
use super::sparse_window::SparseWindow;
use crate::buffer_decoder::BufferDecoder;
use crate::options::{Format, Options};
use crate::scratch::Scratch;

/// The first bytes of an index file. bgzip reads them as an index without entries.
const START: [u8; 8] = [0; 8];
/// The eight bytes after [`START`], for versions 0 and 1 of the format. Version 1, with a capital
/// X, also counts lines.
const VERSIONS: [&[u8; 8]; 2] = [b"gzipindx", b"gzipindX"];
/// Maximum size of a compressed window in bytes. Windows that do not compress take more than 32
/// KiB.
const MOST_COMPRESSED: u32 = 2 * WINDOW as u32;
/// Memory in bytes that windows may take, besides [`EXPANSION`] times the size of the index file up
/// to the last of them. Without a limit a small file could ask for any amount of memory.
const MEMORY: u64 = 64 << 20;
/// Bytes of memory that windows may take for each byte of the index file, besides [`MEMORY`].
const EXPANSION: u64 = 64;

impl Index {
    /// Reads the part of an index file of indexed_gzip or gztool that is needed to read a range of
    /// the content: the points in the range and the last one at or before its beginning.
    /// `compressed_len` is the size of the gzip file, which gztool does not store. indexed_gzip
    /// stores it, and [`compressed_len`](Self::compressed_len) then returns the stored size.
    ///
    /// # Errors
    /// Returns the errors of [`read_gzidx`](Self::read_gzidx) and
    /// [`read_gztool`](Self::read_gztool).
    pub fn read(mut source: impl Read + Seek, compressed_len: u64, content: Range<u64>) -> Result<Index> {
        let mut start = Vec::new();
        let first = source.by_ref().take(1).read_to_end(&mut start).and_then(|_| source.rewind());
        first.map_err(|e| Error::from_io(Kind::Read, 0, "cannot read", &e))?;
        if start == [0] {
            read(source, compressed_len, content)
        } else {
            Index::read_gzidx_range(source, content)
        }
    }

    /// Reads an index file of gztool for a gzip file of `compressed_len` bytes. The windows may
    /// take at most 64 MiB plus 64 times the size of the index file up to them.
    ///
    /// # Errors
    /// Returns one of these errors. Offsets are in the index file.
    /// * [`Kind::Corrupt`] if the file is not an index or contradicts itself.
    /// * [`Kind::Truncated`] if it ends early.
    /// * [`Kind::Unsupported`] for another version, and for an index that is not complete.
    /// * [`Kind::Limit`] if the windows take too much memory, or memory runs out.
    /// * [`Kind::Read`] if it cannot be read.
    pub fn read_gztool(reader: impl Read, compressed_len: u64) -> Result<Index> {
        read(reader, compressed_len, 0..u64::MAX)
    }
}

fn read(reader: impl Read, compressed_len: u64, range: Range<u64>) -> Result<Index> {
    let mut source = BufReader::with_capacity(2 * WINDOW, reader);
    let mut rows = Rows { source: &mut source, at: 0 };
    if rows.bytes()? != START {
        return Err(Error::new(Kind::Corrupt, 0, NOT_AN_INDEX));
    }
    let version = rows.bytes::<8>()?;
    let has_lines = match VERSIONS.iter().position(|known| **known == version) {
        Some(version) => version == 1,
        None if version.eq_ignore_ascii_case(VERSIONS[0]) => {
            return rows.fails(Kind::Unsupported, "the version of the index file is unknown");
        }
        None => return Err(Error::new(Kind::Corrupt, 0, NOT_AN_INDEX)),
    };
    if has_lines {
        rows.bytes::<4>()?; // The kind of line ends.
    }
    let (have, count) = (rows.u64_be()?, rows.u64_be()?);
    if have != count {
        return rows.fails(Kind::Unsupported, "the index file is not complete");
    }
    let mut index = Index { compressed_len, is_complete: true, ..Index::default() };
    let (mut windows, mut last) = (Windows::default(), (0, 0));
    for i in 0..count {
        let (offset, byte) = (rows.u64_be()?, rows.u64_be()?);
        let (bits, len) = (rows.u32_be()?, rows.u32_be()?);
        let bit = byte.checked_mul(8).and_then(|bit| bit.checked_sub(bits.into()));
        let Some(bit) = bit.filter(|bit| {
            let is_after_last = i == 0 || *bit > last.0 && offset >= last.1;
            bits < 8 && is_after_last && byte <= compressed_len && *bit <= i64::MAX as u64
        }) else {
            let what = "the points of the index file are not in order, or not in the file";
            return rows.fails(Kind::Corrupt, what);
        };
        last = (bit, offset);
        let is_wanted = offset < range.end && byte < compressed_len;
        if is_wanted && offset <= range.start {
            index.points.clear();
            windows.memory = 0;
        }
        let window = windows.read(&mut rows, len, is_wanted)?;
        if has_lines {
            rows.bytes::<8>()?; // The number of lines before the point.
        }
        if is_wanted {
            let no_memory = Error::new(Kind::Limit, rows.at, "out of memory for the index");
            index.points.try_reserve(1).map_err(|_| no_memory)?;
            // A later member also has no window, but neither has a block after a full flush.
            let window = (offset > 0 || len > 0).then_some(window);
            index.points.push(Point { bit, offset, window });
        }
    }
    index.len = rows.u64_be()?;
    if index.len < last.1 || index.len > i64::MAX as u64 {
        return rows
            .fails(Kind::Corrupt, "the points of the index file are not in order, or not in the file");
    }
    Ok(index)
}

/// Reads windows, which are zlib streams.
#[derive(Default)]
struct Windows {
    scratch: Box<Scratch>,
    compressed: Vec<u8>,
    window: Vec<u8>,
    /// Memory of the windows that were kept, in bytes.
    memory: u64,
}

impl Windows {
    fn read<R: Read>(&mut self, rows: &mut Rows<'_, R>, len: u32, is_wanted: bool) -> Result<SparseWindow> {
        if len > MOST_COMPRESSED {
            return rows.fails(Kind::Corrupt, "a window of the index file is larger than 32 KiB");
        }
        self.compressed.resize(len as usize, 0);
        self.window.resize(WINDOW, 0);
        let at = rows.at;
        rows.fill(&mut self.compressed)?;
        if len == 0 || !is_wanted {
            return Ok(SparseWindow::new(&[]));
        }
        let decoder = BufferDecoder::new(Options::new(Format::Zlib));
        let sizes = decoder.decode(&mut self.scratch, None, &self.compressed, &mut self.window);
        let sizes =
            sizes.map_err(|_| Error::new(Kind::Corrupt, at, "a window of the index file is damaged"))?;
        let window = SparseWindow::new(&self.window[..sizes.written]);
        self.memory += window.memory() as u64;
        if self.memory > MEMORY + EXPANSION * rows.at {
            return rows.fails(Kind::Limit, "the windows of the index file take too much memory");
        }
        Ok(window)
    }
}
