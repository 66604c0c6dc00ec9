//! The functions that the C++ half calls. No function unwinds, and each trusts its pointers.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use linerate_core::{Error, Kind, Result};

use crate::dictionary::SstDictionary;
use crate::working_memory::WorkingMemory;

thread_local! {
    /// Working memory of the thread. It is allocated for the first block that the thread decodes,
    /// and freed when the thread ends.
    static MEMORY: RefCell<WorkingMemory> = RefCell::default();
}

/// The reason that a block was not decoded: a message of `len` bytes, which no zero terminates. If
/// the block was decoded, `message` is null.
#[repr(C)]
pub struct Verdict {
    message: *const u8,
    len: usize,
    /// Offset in the block at which decoding failed, in bytes.
    offset: u64,
}

impl From<Result<()>> for Verdict {
    fn from(result: Result<()>) -> Self {
        match result {
            Ok(()) => Verdict { message: ptr::null(), len: 0, offset: 0 },
            Err(error) => {
                Verdict { message: error.message.as_ptr(), len: error.message.len(), offset: error.offset }
            }
        }
    }
}

fn with_memory(decode: impl FnOnce(&mut WorkingMemory) -> Result<()>) -> Verdict {
    let internal = Error::new(Kind::Corrupt, 0, "the decoder failed");
    let run = || MEMORY.try_with(|memory| decode(&mut memory.borrow_mut())).unwrap_or(Err(internal));
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(internal)).into()
}

/// Converts a pointer and a length to the memory that a block is decoded into.
///
/// # Safety
/// `at` points to `len` bytes, which nobody else uses while the call lasts. It may be null if `len`
/// is 0.
unsafe fn output<'a>(at: *mut u8, len: usize) -> &'a mut [u8] {
    if len == 0 {
        return &mut [];
    }
    // SAFETY: the caller promises it. Any bytes are a `u8`, and no byte is read before it is
    // written.
    unsafe { slice::from_raw_parts_mut(at, len) }
}

/// Digests a dictionary. Returns null if it cannot be digested: it is damaged, or has 4 GiB or
/// more.
///
/// # Safety
/// `bytes` is not null and points to `len` bytes, which stay there unchanged until
/// [`linerate_rocksdb_dictionary_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_dictionary_new(
    bytes: *const u8,
    len: usize,
) -> *mut SstDictionary<'static> {
    // SAFETY: the caller promises it. `'static` represents the life of the dictionary.
    let bytes = unsafe { slice::from_raw_parts(bytes, len) };
    let digested = catch_unwind(|| SstDictionary::new(bytes).ok()).unwrap_or(None);
    digested.map_or(ptr::null_mut(), |dictionary| Box::into_raw(Box::new(dictionary)))
}

/// Frees a dictionary. Does nothing with null.
///
/// # Safety
/// `dictionary` is null, or was returned by [`linerate_rocksdb_dictionary_new`] and is not used
/// afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_dictionary_free(dictionary: *mut SstDictionary<'static>) {
    if !dictionary.is_null() {
        // SAFETY: the caller promises it.
        drop(unsafe { Box::from_raw(dictionary) });
    }
}

/// Returns the number of bytes that a dictionary owns beside its content, or 0 for null.
///
/// # Safety
/// `dictionary` is null, or was returned by [`linerate_rocksdb_dictionary_new`] and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_dictionary_memory(
    dictionary: *const SstDictionary<'static>,
) -> usize {
    // SAFETY: the caller promises it.
    unsafe { dictionary.as_ref() }.map_or(0, SstDictionary::memory)
}

/// Prefetches the parts of a dictionary that [`linerate_rocksdb_zstd`] will read first.
///
/// # Safety
/// `dictionary` was returned by [`linerate_rocksdb_dictionary_new`] and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_prefetch(dictionary: *const SstDictionary<'static>) {
    // SAFETY: the caller promises it.
    unsafe { &*dictionary }.prefetch_tables();
}

/// Decodes a block, which is one zstd frame, into exactly `dst_len` bytes. `dictionary` may be
/// null.
///
/// # Safety
/// `dictionary` is null, or was returned by [`linerate_rocksdb_dictionary_new`] and not freed.
/// `src` is not null and points to `src_len` bytes. `dst` points to `dst_len` bytes, which nobody
/// else uses while the call lasts; it may be null if `dst_len` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_zstd(
    dictionary: *const SstDictionary<'static>,
    src: *const u8,
    src_len: usize,
    dst: *mut u8,
    dst_len: usize,
) -> Verdict {
    // SAFETY: the caller promises it.
    let (dictionary, block, dst) =
        unsafe { (dictionary.as_ref(), slice::from_raw_parts(src, src_len), output(dst, dst_len)) };
    with_memory(|memory| memory.zstd(dictionary, block, dst))
}

/// Decodes a block, which is one raw deflate stream, into exactly `dst_len` bytes. `dictionary` is
/// the history before its content.
///
/// # Safety
/// `dictionary` and `src` are not null and point to as many bytes as their lengths say. The
/// requirements for `dst` are those of [`linerate_rocksdb_zstd`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_zlib(
    dictionary: *const u8,
    dictionary_len: usize,
    src: *const u8,
    src_len: usize,
    dst: *mut u8,
    dst_len: usize,
) -> Verdict {
    // SAFETY: the caller promises it.
    let (dictionary, block, dst) = unsafe {
        (
            slice::from_raw_parts(dictionary, dictionary_len),
            slice::from_raw_parts(src, src_len),
            output(dst, dst_len),
        )
    };
    with_memory(|memory| memory.zlib(dictionary, block, dst))
}
