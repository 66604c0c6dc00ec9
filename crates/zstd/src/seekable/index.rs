//! [`Index`]: the positions of a file's frames, from its seek table or from one pass over it.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use linerate_core::{Error, Kind, Result};

use crate::dictionary::Dictionary;
use crate::frame::{
    BLOCK_MAX, BlockHeader, BlockType, Format, FrameHeader, HEADER_MAX, Header, SKIPPABLE_HEADER,
};
use crate::options::Options;
use crate::scratch::Scratch;
use crate::stream_decoder::{Status, StreamDecoder};

/// Magic number of the skippable frame that holds the seek table.
const TABLE_MAGIC: u32 = 0x184d_2a5e;
/// The last four bytes of a seek table, little-endian.
const FOOTER_MAGIC: u32 = 0x8f92_eab1;
/// Size of the footer in bytes: number of frames (4), descriptor (1), magic number (4).
const FOOTER: usize = 9;
/// Bit of the descriptor that says whether entries have checksums.
const HAS_CHECKSUMS: u8 = 1 << 7;
/// Bits of the descriptor that must be zero.
const RESERVED: u8 = 0x7c;

/// A frame: the ranges of its bytes in the file, and of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Offset of the frame in the file.
    pub compressed_offset: u64,
    /// Number of bytes of the frame.
    pub compressed_len: u64,
    /// Offset of its content in the content of the file.
    pub offset: u64,
    /// Number of bytes of the content.
    pub len: u64,
    /// Low 32 bits of the XXH64 of the content, if the seek table has them.
    pub checksum: Option<u32>,
}

/// The frames of a file in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    entries: Vec<Entry>,
}

impl Index {
    /// Reads the seek table at the end of a file. Returns `None` if there is no such table. Takes
    /// up to six times the size of the table in the file; the index keeps up to five.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] for a table that contradicts itself or the length of the file,
    /// [`Kind::Unsupported`] if a reserved bit is set, [`Kind::Limit`] for failed allocation, and
    /// [`Kind::Read`] if the file cannot be read. Offsets of errors are positions in the file.
    pub fn from_seek_table(source: &mut (impl Read + Seek)) -> Result<Option<Index>> {
        let end = source.seek(SeekFrom::End(0)).map_err(|e| read_error(0, &e))?;
        let Some(footer_at) = end.checked_sub(FOOTER as u64).filter(|at| *at >= SKIPPABLE_HEADER as u64)
        else {
            return Ok(None);
        };
        let mut footer = [0; FOOTER];
        read_at(source, footer_at, &mut footer)?;
        if word(&footer[5..]) != FOOTER_MAGIC {
            return Ok(None);
        }
        let corrupt = |offset, what| Err(Error::new(Kind::Corrupt, offset, what));
        if footer[4] & RESERVED != 0 {
            let what = "a reserved bit of the seek table's descriptor is set";
            return Err(Error::new(Kind::Unsupported, footer_at + 4, what));
        }
        let has_checksums = footer[4] & HAS_CHECKSUMS != 0;
        let row = if has_checksums { 12 } else { 8 };
        let rows = u64::from(word(&footer)) * row;
        let Some(start) = footer_at.checked_sub(rows + SKIPPABLE_HEADER as u64) else {
            return corrupt(footer_at, "the seek table is longer than the file");
        };
        let mut header = [0; SKIPPABLE_HEADER];
        read_at(source, start, &mut header)?;
        if word(&header) != TABLE_MAGIC || u64::from(word(&header[4..])) != rows + FOOTER as u64 {
            return corrupt(start, "the seek table's header does not match its footer");
        }
        let mut table = Vec::new();
        let no_memory = Error::new(Kind::Limit, start, "there is no memory for the seek table");
        let bytes = usize::try_from(rows).map_err(|_| no_memory)?;
        table.try_reserve_exact(bytes).map_err(|_| no_memory)?;
        table.resize(bytes, 0);
        read_at(source, start + SKIPPABLE_HEADER as u64, &mut table)?;
        let mut index = Index::default();
        index.entries.try_reserve_exact(bytes / row as usize).map_err(|_| no_memory)?;
        for row in table.chunks_exact(row as usize) {
            let checksum = has_checksums.then(|| word(&row[8..]));
            index.push(u64::from(word(row)), u64::from(word(&row[4..])), checksum);
        }
        if index.compressed_len() != start {
            return corrupt(start, "the frames of the seek table are not those of the file");
        }
        Ok(Some(index))
    }

    /// Finds all frames from their headers and the headers of their blocks. Decodes the frames that
    /// have compressed blocks, and whose header does not state the size of their content.
    ///
    /// # Errors
    /// Returns the errors of [`StreamDecoder::decode`], [`Kind::Truncated`] if the file ends within
    /// a frame, and [`Kind::Read`] if the file cannot be read. Offsets of errors are positions in
    /// the file.
    pub fn scan(
        source: &mut (impl Read + Seek),
        options: Options,
        dictionary: Option<&Dictionary<'_>>,
    ) -> Result<Index> {
        let end = source.seek(SeekFrom::End(0)).map_err(|e| read_error(0, &e))?;
        source.seek(SeekFrom::Start(0)).map_err(|e| read_error(0, &e))?;
        let mut scanner = Scanner { source: BufReader::new(source), at: 0, end };
        let mut index = Index::default();
        while scanner.at < end {
            let start = scanner.at;
            match scanner.header(options.format)? {
                Header::Skippable { len, .. } => {
                    scanner.skip(SKIPPABLE_HEADER as u64 + u64::from(len))?;
                    index.push(scanner.at - start, 0, None);
                }
                Header::Frame(header) => {
                    let known = scanner.frame(&header)?;
                    let (stop, len) = (scanner.at, known.or(header.content_size));
                    let len = match len {
                        Some(len) => len,
                        None => scanner.decode(start, options, dictionary)?,
                    };
                    scanner.seek(stop)?;
                    index.push(stop - start, len, None);
                }
            }
        }
        Ok(index)
    }

    fn push(&mut self, compressed_len: u64, len: u64, checksum: Option<u32>) {
        let (compressed_offset, offset) = (self.compressed_len(), self.len());
        self.entries.push(Entry { compressed_offset, compressed_len, offset, len, checksum });
    }

    /// Returns the frames.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the number of bytes of the content of all frames. Saturates at 2^64 - 1, which only
    /// wrong sizes in the headers of scanned frames can exceed.
    pub fn len(&self) -> u64 {
        self.entries.last().map_or(0, |last| last.offset.saturating_add(last.len))
    }

    /// Returns whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes of all frames.
    pub fn compressed_len(&self) -> u64 {
        self.entries.last().map_or(0, |last| last.compressed_offset + last.compressed_len)
    }

    /// Returns the frame that has the byte at `offset` of the content.
    pub(crate) fn find(&self, offset: u64) -> Option<&Entry> {
        let after = self.entries.partition_point(|entry| entry.offset <= offset);
        // If several frames have the same offset, all but the last are empty.
        self.entries[..after].last().filter(|entry| offset - entry.offset < entry.len)
    }
}

/// A pass over the headers of a file.
struct Scanner<R> {
    source: BufReader<R>,
    at: u64,
    end: u64,
}

impl<R: Read + Seek> Scanner<R> {
    /// Parses the header of a frame, and stays before it.
    fn header(&mut self, format: Format) -> Result<Header> {
        let mut bytes = [0; HEADER_MAX];
        let n = (self.end - self.at).min(HEADER_MAX as u64) as usize;
        self.read(&mut bytes[..n])?;
        self.seek(self.at - n as u64)?;
        Header::parse(&bytes[..n], format).map_err(|e| e.shifted(self.at))
    }

    /// Skips a frame. Returns the size of its content if no block is compressed.
    fn frame(&mut self, header: &FrameHeader) -> Result<Option<u64>> {
        self.skip(header.len as u64)?;
        let mut known = Some(0_u64);
        loop {
            let mut bytes = [0; BlockHeader::LEN];
            let at = self.at;
            self.read(&mut bytes)?;
            let block = BlockHeader::parse(bytes, header.block_max()).map_err(|e| e.shifted(at))?;
            self.skip(block.stored() as u64)?;
            known = match block.kind {
                BlockType::Compressed => None,
                BlockType::Raw | BlockType::Rle => known.map(|known| known + block.size as u64),
            };
            if block.last {
                break;
            }
        }
        if header.checksum {
            self.skip(4)?;
        }
        Ok(known)
    }

    /// Decodes the frame at `start` and returns the size of its content.
    fn decode(&mut self, start: u64, options: Options, dictionary: Option<&Dictionary<'_>>) -> Result<u64> {
        self.seek(start)?;
        let (mut decoder, mut scratch) = (StreamDecoder::new(options), Scratch::new());
        let (mut buffer, mut len) = (vec![0; 2 * BLOCK_MAX], 0);
        loop {
            let input = self.source.fill_buf().map_err(|e| read_error(self.at, &e))?;
            let is_end = input.is_empty();
            let progress =
                decoder.decode(&mut scratch, dictionary, input, &mut buffer).map_err(|e| e.shifted(start))?;
            self.source.consume(progress.read);
            self.at += progress.read as u64;
            len += progress.written as u64;
            match progress.status {
                Status::FrameEnd => return Ok(len),
                Status::NeedInput if is_end => return Err(truncated(self.at)),
                Status::NeedInput | Status::NeedOutput => {}
            }
        }
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.source.read_exact(bytes).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => truncated(self.end),
            _ => read_error(self.at, &e),
        })?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn skip(&mut self, count: u64) -> Result<()> {
        if count > self.end - self.at {
            return Err(truncated(self.end));
        }
        self.seek(self.at + count)
    }

    /// Seeks to `to`, within the buffer if possible.
    fn seek(&mut self, to: u64) -> Result<()> {
        let by = to.wrapping_sub(self.at) as i64;
        self.source.seek_relative(by).map_err(|e| read_error(self.at, &e))?;
        self.at = to;
        Ok(())
    }
}

fn truncated(at: u64) -> Error {
    Error::new(Kind::Truncated, at, "the input ends before the frame does")
}

pub(super) fn read_error(at: u64, error: &io::Error) -> Error {
    Error::from_io(Kind::Read, at, "cannot read", error)
}

fn read_at(source: &mut (impl Read + Seek), at: u64, bytes: &mut [u8]) -> Result<()> {
    let sought = source.seek(SeekFrom::Start(at));
    sought.and_then(|_| source.read_exact(bytes)).map_err(|e| read_error(at, &e))
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
