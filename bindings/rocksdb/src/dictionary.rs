//! The dictionary of an SST file.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

use linerate_core::{CACHE_LINE, Result, prefetch_line};
use linerate_zstd::{Dictionary, Digest, ExpandedHuffman, PrefetchQueue, RequiredParts};

/// Content of larger dictionaries is not prefetched as a whole, only the lines that the block copies from, once they are
/// known.
const SMALL_CONTENT: usize = 16 << 10;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; CACHE_LINE]);

/// A dictionary digested into compact tables of at most 5.3 KiB; its content stays where RocksDB keeps it. A digest of libzstd
/// takes 27 KiB, and most of it comes from memory when a block of a file is read that was not read lately.
pub struct SstDictionary<'a> {
    /// Number of this dictionary in the process. Unlike its address, it is never used again.
    pub(crate) id: u64,
    digest: Digest,
    tables: Box<[Line]>,
    content: &'a [u8],
}

impl<'a> SstDictionary<'a> {
    /// Digests a dictionary; without the magic number of trained ones `bytes` is raw content, as in libzstd.
    ///
    /// # Errors
    /// As [`Dictionary::new`].
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let digest = Dictionary::measure(bytes)?;
        let mut tables = vec![Line([0; CACHE_LINE]); digest.compact_len().div_ceil(CACHE_LINE)];
        Dictionary::compact_into(bytes, as_bytes_mut(&mut tables))?;
        Ok(SstDictionary {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            digest,
            tables: tables.into(),
            content: &bytes[bytes.len() - digest.content_len()..],
        })
    }

    /// Bytes of this value and its tables, without the content.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.tables)
    }

    /// Whether it has entropy tables.
    pub(crate) fn is_trained(&self) -> bool {
        self.digest.is_trained()
    }

    /// Fills `codes`, which blocks with treeless literals need.
    pub(crate) fn expand_huffman(&self, codes: &mut ExpandedHuffman) -> Result<()> {
        codes.expand(&self.digest, as_bytes(&self.tables))
    }

    /// The dictionary for the decoder of one block; `codes` are those of this dictionary if the block requires them.
    pub(crate) fn view<'v>(&'v self, codes: &'v ExpandedHuffman) -> Dictionary<'v> {
        // SAFETY: `tables` are those that `compact_into` made for this digest, where it made them.
        unsafe { Dictionary::trusted(self.digest, as_bytes(&self.tables), codes, self.content) }
    }

    /// Prefetches the tables. A CPU drops prefetches when too many are in flight: of 86 lines at once, a third had not come 0.7 µs
    /// later on a Zen 4. So this is called several times before they are read.
    pub(crate) fn prefetch_tables(&self) {
        let start = self.tables.as_ptr() as usize;
        (start..start + size_of_val(&*self.tables)).step_by(CACHE_LINE).for_each(prefetch_line);
    }

    /// Enqueues the content if the block requires it and it is small. Returns whether the whole content is in the queue or not
    /// required.
    pub(crate) fn enqueue_content(&self, required: &RequiredParts, queue: &mut PrefetchQueue) -> bool {
        let small = self.content.len() <= SMALL_CONTENT;
        if required.content && small {
            queue.enqueue(self.content);
        }
        small || !required.content
    }
}

fn as_bytes(lines: &[Line]) -> &[u8] {
    // SAFETY: a line is 64 initialised bytes without padding.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), size_of_val(lines)) }
}

fn as_bytes_mut(lines: &mut [Line]) -> &mut [u8] {
    // SAFETY: as above, and any bytes are a line.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), size_of_val(lines)) }
}
