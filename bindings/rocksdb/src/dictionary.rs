//! [`SstDictionary`]: the dictionary of an SST file.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

use linerate_core::{CACHE_LINE, Result, prefetch_line};
use linerate_zstd::{Dictionary, Digest, ExpandedHuffman, PrefetchQueue, RequiredParts};

/// Size in bytes of the largest content that is prefetched as a whole. Of larger contents, only the
/// lines that the block copies from are prefetched, once they are known.
const SMALL_CONTENT: usize = 16 << 10;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; CACHE_LINE]);

/// A dictionary digested into compact tables of at most 5.3 KiB. Its content stays in RocksDB's
/// memory. A digest of libzstd takes 27 KiB, and reading a block of a file that was not read lately
/// loads most of it from memory.
pub struct SstDictionary<'a> {
    /// Number of this dictionary, from 1. Unlike the address of a dictionary, its number is never
    /// used again in the process.
    pub(crate) id: u64,
    digest: Digest,
    tables: Box<[Line]>,
    content: &'a [u8],
}

impl<'a> SstDictionary<'a> {
    /// Digests a dictionary. If `bytes` do not begin with the magic number of trained dictionaries,
    /// they are raw content, as in libzstd.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`].
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

    /// Returns the size of this value and its tables in bytes, without the content.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.tables)
    }

    /// Returns whether the dictionary has entropy tables.
    pub(crate) fn is_trained(&self) -> bool {
        self.digest.is_trained()
    }

    /// Builds the Huffman table in `codes`, which blocks with treeless literals need.
    pub(crate) fn expand_huffman(&self, codes: &mut ExpandedHuffman) -> Result<()> {
        codes.expand(&self.digest, as_bytes(&self.tables))
    }

    /// Returns the dictionary for the decoder of one block. If the block requires a Huffman table,
    /// `codes` must be that of this dictionary.
    pub(crate) fn view<'v>(&'v self, codes: &'v ExpandedHuffman) -> Dictionary<'v> {
        // SAFETY: `tables` are those that `compact_into` made for this digest, in the same place.
        unsafe { Dictionary::trusted(self.digest, as_bytes(&self.tables), codes, self.content) }
    }

    /// Prefetches the tables. A CPU drops prefetches when too many are in flight: on a Zen 4, of 86
    /// lines requested at once, a third had not arrived after 0.7 µs. Callers therefore repeat this
    /// call before the tables are read.
    pub(crate) fn prefetch_tables(&self) {
        let start = self.tables.as_ptr() as usize;
        (start..start + size_of_val(&*self.tables)).step_by(CACHE_LINE).for_each(prefetch_line);
    }

    /// Enqueues the whole content for prefetching if the block requires it and it is small. Returns
    /// false if the block requires it and it is not small.
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
    // SAFETY: a line is 64 bytes, as above, and any bytes are a line.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), size_of_val(lines)) }
}
