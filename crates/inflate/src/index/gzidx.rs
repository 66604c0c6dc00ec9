//! Index files of indexed_gzip, in its format "GZIDX". Versions 0 and 1 are read, and version 1 is
//! written.
//!
//! `docs/inflate/gzidx.md` describes the format.

use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use linerate_core::{Error, Kind, Result};

use super::WINDOW;
use super::points::{Index, Point};
use super::sparse_window::SparseWindow;

const MAGIC: &[u8; 5] = b"GZIDX";
/// The error for a file that does not begin like an index of either kind.
pub(super) const NOT_AN_INDEX: &str = "not an index of a gzip file";

impl Index {
    /// Reads an index file of indexed_gzip. Memory is bounded by a small multiple of its size.
    ///
    /// # Errors
    /// Returns one of these errors. Offsets are in the index file.
    /// * [`Kind::Corrupt`] if the file is not an index or contradicts itself.
    /// * [`Kind::Truncated`] if it ends early.
    /// * [`Kind::Unsupported`] for another version or size of windows, and for the index of a part
    ///   of a file.
    /// * [`Kind::Limit`] if memory runs out.
    /// * [`Kind::Read`] if it cannot be read.
    pub fn read_gzidx(reader: impl Read) -> Result<Index> {
        let mut source = BufReader::with_capacity(2 * WINDOW, reader);
        read(&mut Rows { source: &mut source, at: 0 }, None, |_, _| Err(ErrorKind::Unsupported.into()))
    }

    /// Reads only the part of an index file that is needed to read a range of the content: the
    /// points in the range and the last one at or before its beginning.
    ///
    /// # Errors
    /// Returns the errors of [`read_gzidx`](Self::read_gzidx).
    pub fn read_gzidx_range(source: impl Read + Seek, content: Range<u64>) -> Result<Index> {
        let mut source = BufReader::with_capacity(2 * WINDOW, source);
        let seek = |source: &mut BufReader<_>, to| source.seek(SeekFrom::Start(to));
        read(&mut Rows { source: &mut source, at: 0 }, Some(content), seek)
    }

    /// Writes an index file of indexed_gzip. Each point with a window takes 32 KiB and 18 bytes.
    ///
    /// # Errors
    /// Returns the errors of the writer, and [`Kind::BadArgument`] if the index is not complete or
    /// has 2^32 - 1 points or more.
    pub fn write_gzidx(&self, mut writer: impl Write) -> io::Result<()> {
        let count = u32::try_from(self.points.len() + 1).ok().filter(|_| self.is_complete);
        let cannot = Error::new(Kind::BadArgument, 0, "the index is not complete, or has too many points");
        let count = count.ok_or(cannot)?;
        let spacing = u32::try_from(self.spacing).unwrap_or(u32::MAX);
        writer.write_all(MAGIC)?;
        writer.write_all(&[1, 0])?;
        writer.write_all(&self.compressed_len.to_le_bytes())?;
        writer.write_all(&self.len.to_le_bytes())?;
        for number in [spacing, WINDOW as u32, count] {
            writer.write_all(&number.to_le_bytes())?;
        }
        let rows = self.points.iter().map(|point| (point.bit, point.offset, !point.is_member()));
        for (bit, offset, has_window) in rows.chain([(8 * self.compressed_len, self.len, false)]) {
            let (byte, bits) = (bit.div_ceil(8), bit.wrapping_neg() % 8);
            writer.write_all(&byte.to_le_bytes())?;
            writer.write_all(&offset.to_le_bytes())?;
            writer.write_all(&[bits as u8, has_window.into()])?;
        }
        for window in self.points.iter().filter_map(|point| point.window.as_ref()) {
            writer.write_all(&[0; WINDOW][window.len()..])?;
            writer.write_all(&window.to_vec())?;
        }
        Ok(())
    }
}

/// Reads an index file field by field.
pub(super) struct Rows<'a, R> {
    pub(super) source: &'a mut R,
    pub(super) at: u64,
}

impl<R: Read> Rows<'_, R> {
    pub(super) fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes).map(|()| bytes)
    }

    pub(super) fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.source.read_exact(bytes).map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => Error::new(Kind::Truncated, self.at, "the index file is truncated"),
            _ => Error::from_io(Kind::Read, self.at, "cannot read", &e),
        })?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn u32(&mut self) -> Result<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    pub(super) fn u32_be(&mut self) -> Result<u32> {
        self.bytes().map(u32::from_be_bytes)
    }

    pub(super) fn u64_be(&mut self) -> Result<u64> {
        self.bytes().map(u64::from_be_bytes)
    }

    pub(super) fn fails<T>(&self, kind: Kind, what: &'static str) -> Result<T> {
        Err(Error::new(kind, self.at, what))
    }
}

/// Reads all points, or only the points of a range and the point before it. With a range, `seek`
/// goes to an offset of the file.
fn read<R: Read>(
    rows: &mut Rows<'_, R>,
    range: Option<Range<u64>>,
    mut seek: impl FnMut(&mut R, u64) -> io::Result<u64>,
) -> Result<Index> {
    if rows.bytes()? != *MAGIC {
        return Err(Error::new(Kind::Corrupt, 0, NOT_AN_INDEX));
    }
    let [version, _flags] = rows.bytes()?;
    if version > 1 {
        return rows.fails(Kind::Unsupported, "the version of the index file is unknown");
    }
    let (compressed_len, len, spacing) = (rows.u64()?, rows.u64()?, rows.u32()?.into());
    // Positions in bits must also fit a signed number.
    if compressed_len > i64::MAX as u64 / 8 || len > i64::MAX as u64 {
        return rows.fails(Kind::Corrupt, "the sizes in the index file are impossible");
    }
    if rows.u32()? != WINDOW as u32 {
        return rows.fails(Kind::Unsupported, "the windows of the index file do not have 32 KiB");
    }
    let count = rows.u32()?;
    let mut index = Index { points: Vec::new(), compressed_len, len, spacing, is_complete: true };
    // The number of windows before that of each point kept; the number of windows so far; and bit
    // and offset of the point before.
    let (mut ordinals, mut windows, mut last) = (Vec::new(), 0, (0, 0));
    for i in 0..count {
        let (byte, offset) = (rows.u64()?, rows.u64()?);
        let [bits] = rows.bytes()?;
        let has_window = if version == 0 { i > 0 } else { rows.bytes()? != [0] };
        let bit = byte.checked_mul(8).and_then(|bit| bit.checked_sub(bits.into()));
        let Some(bit) = bit.filter(|bit| {
            let is_after_last = (*bit, offset) >= last && offset >= last.1;
            bits < 8 && is_after_last && offset <= len && byte <= compressed_len
        }) else {
            return rows
                .fails(Kind::Corrupt, "the points of the index file are not in order, or not in the file");
        };
        last = (bit, offset);
        let ordinal = windows;
        windows += u64::from(has_window);
        if byte == compressed_len || range.as_ref().is_some_and(|range| offset >= range.end) {
            continue;
        }
        if range.as_ref().is_some_and(|range| offset <= range.start) {
            index.points.clear();
            ordinals.clear();
        }
        let no_memory = Error::new(Kind::Limit, rows.at, "out of memory for the index");
        index.points.try_reserve(1).map_err(|_| no_memory)?;
        ordinals.try_reserve(1).map_err(|_| no_memory)?;
        // A placeholder for a window that will be read.
        let window = has_window.then(|| SparseWindow::new(&[]));
        index.points.push(Point { bit, offset, window });
        ordinals.push(ordinal);
    }
    if len == 0 && last.0 != 8 * compressed_len {
        return rows.fails(Kind::Unsupported, "the index file is of a part of a file");
    }
    let (first, mut bytes) = (rows.at, vec![0; WINDOW]);
    let wanted = index.points.iter_mut().zip(ordinals).filter(|(point, _)| !point.is_member());
    for (point, ordinal) in wanted {
        let at = first + ordinal * WINDOW as u64;
        if at != rows.at {
            seek(rows.source, at).map_err(|e| Error::from_io(Kind::Read, at, "cannot read", &e))?;
            rows.at = at;
        }
        rows.fill(&mut bytes)?;
        let len = WINDOW.min(usize::try_from(point.offset).unwrap_or(WINDOW));
        point.window = Some(SparseWindow::new(&bytes[WINDOW - len..]));
    }
    Ok(index)
}
