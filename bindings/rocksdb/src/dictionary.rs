//! The dictionary of an SST file.

#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{Dictionary, Digest, ExpandedHuffman, PrefetchQueue, RequiredParts};

use crate::slab::{self, Allocation};

/// Content up to this length is copied beside the tables, and prefetched as a whole. Of larger content only the lines that the
/// block copies from are prefetched, once they are known.
const SMALL_CONTENT: usize = 16 << 10;

/// A dictionary digested into compact tables of at most 5.3 KiB, with its content beside them if it is small. A digest of libzstd
/// takes 27 KiB, and most of it comes from memory when a block of a file is read that was not read lately.
///
/// This is the first cache line of an [`Allocation`], which the tables follow, and then the content: who has the address prefetches
/// all of them without reading any, and finds them in one huge page.
#[repr(C, align(64))]
pub struct SstDictionary {
    /// Number of this dictionary in the process. Unlike its address, it is never used again.
    pub(crate) id: u64,
    digest: Digest,
    /// Where the content is: beside the tables, or where RocksDB keeps it.
    content: *const u8,
    memory: Allocation,
}

const _: () = assert!(size_of::<SstDictionary>() == 64);

impl SstDictionary {
    /// Digests a dictionary; without the magic number of trained ones `bytes` is raw content, as in libzstd.
    ///
    /// # Errors
    /// As [`Dictionary::new`], and [`Kind::Limit`] if memory is exhausted.
    ///
    /// # Safety
    /// `bytes` stay unchanged until [`free`](Self::free).
    pub(crate) unsafe fn new(bytes: &[u8]) -> Result<NonNull<SstDictionary>> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let digest = Dictionary::measure(bytes)?;
        let content = &bytes[bytes.len() - digest.content_len()..];
        let memory = Allocation::new(Self::len(&digest));
        let memory = memory.ok_or(Error::new(Kind::Limit, 0, "there is no memory for a dictionary"))?;
        let start = memory.start();
        // SAFETY: the allocation has room for the header and the tables.
        let tables = unsafe {
            let at = start.add(size_of::<Self>());
            at.write_bytes(0, digest.compact_len());
            slice::from_raw_parts_mut(at.as_ptr(), digest.compact_len())
        };
        Dictionary::compact_into(bytes, tables)?;
        let mut at = content.as_ptr();
        if content.len() <= SMALL_CONTENT {
            // SAFETY: the allocation has room for the content, too.
            unsafe {
                let copy = start.as_ptr().add(content_offset(&digest));
                copy.copy_from_nonoverlapping(at, content.len());
                at = copy;
            }
        }
        let dictionary = start.cast::<SstDictionary>();
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the allocation begins with room for the header, and its alignment is a multiple of that of a header.
        unsafe { dictionary.write(SstDictionary { id, digest, content: at, memory }) };
        Ok(dictionary)
    }

    /// Frees a dictionary.
    ///
    /// # Safety
    /// `dictionary` was returned by [`new`](Self::new) and is used no more.
    pub(crate) unsafe fn free(dictionary: NonNull<SstDictionary>) {
        // SAFETY: the caller's promise. The header is moved out of its memory before that is freed.
        drop(unsafe { dictionary.read() });
    }

    /// Bytes of header, tables, and of the content if it is beside them.
    fn len(digest: &Digest) -> usize {
        let small = digest.content_len() <= SMALL_CONTENT;
        content_offset(digest) + if small { digest.content_len() } else { 0 }
    }

    /// Bytes that this dictionary takes, beside the content that RocksDB keeps.
    pub(crate) fn memory(&self) -> usize {
        slab::rounded(Self::len(&self.digest))
    }

    /// Whether it has entropy tables.
    pub(crate) fn is_trained(&self) -> bool {
        self.digest.is_trained()
    }

    fn tables(&self) -> &[u8] {
        // SAFETY: `new` wrote the tables behind the header, in the same allocation.
        unsafe { slice::from_raw_parts(self.memory.start().add(size_of::<Self>()).as_ptr(), self.digest.compact_len()) }
    }

    fn content(&self) -> &[u8] {
        // SAFETY: `new` copied the content there, or its caller promised that it stays where it is.
        unsafe { slice::from_raw_parts(self.content, self.digest.content_len()) }
    }

    /// Fills `codes`, which blocks with treeless literals need.
    pub(crate) fn expand_huffman(&self, codes: &mut ExpandedHuffman) -> Result<()> {
        codes.expand(&self.digest, self.tables())
    }

    /// The dictionary for the decoder of one block; `codes` are those of this dictionary if the block requires them.
    pub(crate) fn view<'v>(&'v self, codes: &'v ExpandedHuffman) -> Dictionary<'v> {
        // SAFETY: `tables` are those that `compact_into` made for this digest, where it made them.
        unsafe { Dictionary::trusted(self.digest, self.tables(), codes, self.content()) }
    }

    /// Enqueues the content if the block requires it and it is small. Returns whether the whole content is in the queue or not
    /// required.
    pub(crate) fn enqueue_content(&self, required: &RequiredParts, queue: &mut PrefetchQueue) -> bool {
        let small = self.digest.content_len() <= SMALL_CONTENT;
        if required.content && small {
            queue.enqueue(self.content());
        }
        small || !required.content
    }
}

/// Offset of the content in the allocation.
fn content_offset(digest: &Digest) -> usize {
    size_of::<SstDictionary>() + digest.compact_len().next_multiple_of(64)
}
