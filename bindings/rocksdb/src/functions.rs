//! The functions that the C++ half calls. None of them unwinds; each trusts its pointers.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use linerate_core::{Error, Kind, Result};

use crate::dictionary::SstDictionary;
use crate::working_memory::WorkingMemory;

thread_local! {
    /// Made by the first block that a thread decodes, freed when the thread ends.
    static MEMORY: RefCell<WorkingMemory> = RefCell::default();
}

/// Why a block was not decoded: `message` is null if it was, and not terminated by a zero otherwise.
#[repr(C)]
pub struct Verdict {
    message: *const u8,
    len: usize,
    /// Offset of the damage in the block, in bytes.
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

/// The memory that a block is decoded into.
///
/// # Safety
/// `at` points to `len` bytes, which nobody else uses while the call lasts; null if there are none.
unsafe fn output<'a>(at: *mut u8, len: usize) -> &'a mut [u8] {
    if len == 0 {
        return &mut [];
    }
    // SAFETY: the caller's promise. Any bytes are a `u8`, and none is read before it is written.
    unsafe { slice::from_raw_parts_mut(at, len) }
}

/// Digests a dictionary, or returns null if it is damaged.
///
/// # Safety
/// `bytes` is not null and points to `len` bytes, which stay there unchanged until [`linerate_rocksdb_dictionary_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_dictionary_new(
    bytes: *const u8,
    len: usize,
) -> *mut SstDictionary<'static> {
    // SAFETY: the caller's promise; `'static` stands for the life of the dictionary.
    let bytes = unsafe { slice::from_raw_parts(bytes, len) };
    let digested = catch_unwind(|| SstDictionary::new(bytes).ok()).unwrap_or(None);
    digested.map_or(ptr::null_mut(), |dictionary| Box::into_raw(Box::new(dictionary)))
}

/// Frees a dictionary; does nothing with null.
///
/// # Safety
/// `dictionary` is null, or was returned by [`linerate_rocksdb_dictionary_new`] and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_dictionary_free(dictionary: *mut SstDictionary<'static>) {
    if !dictionary.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(dictionary) });
    }
}

/// Bytes that a dictionary owns beside its content; 0 for null.
///
/// # Safety
/// `dictionary` is null, or was returned by [`linerate_rocksdb_dictionary_new`] and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_dictionary_memory(
    dictionary: *const SstDictionary<'static>,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { dictionary.as_ref() }.map_or(0, SstDictionary::memory)
}

/// Prefetches what [`linerate_rocksdb_zstd`] will read first of a dictionary.
///
/// # Safety
/// `dictionary` was returned by [`linerate_rocksdb_dictionary_new`] and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_prefetch(dictionary: *const SstDictionary<'static>) {
    // SAFETY: the caller's promise.
    unsafe { &*dictionary }.prefetch_tables();
}

/// Decodes a block, one zstd frame, into exactly `dst_len` bytes; `dictionary` may be null.
///
/// # Safety
/// `dictionary` is null, or was returned by [`linerate_rocksdb_dictionary_new`] and not freed. `src` is not null and points to
/// `src_len` bytes; `dst` to `dst_len` bytes, which nobody else uses while the call lasts, and may be null if there are none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_zstd(
    dictionary: *const SstDictionary<'static>,
    src: *const u8,
    src_len: usize,
    dst: *mut u8,
    dst_len: usize,
) -> Verdict {
    // SAFETY: the caller's promise.
    let (dictionary, block, dst) =
        unsafe { (dictionary.as_ref(), slice::from_raw_parts(src, src_len), output(dst, dst_len)) };
    with_memory(|memory| memory.zstd(dictionary, block, dst))
}

/// Decodes a block, one raw deflate stream, into exactly `dst_len` bytes. `dictionary` is the history before its content.
///
/// # Safety
/// `dictionary` and `src` are not null and point to as many bytes as their lengths say; `dst` as for [`linerate_rocksdb_zstd`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rocksdb_zlib(
    dictionary: *const u8,
    dictionary_len: usize,
    src: *const u8,
    src_len: usize,
    dst: *mut u8,
    dst_len: usize,
) -> Verdict {
    // SAFETY: the caller's promise.
    let (dictionary, block, dst) = unsafe {
        (
            slice::from_raw_parts(dictionary, dictionary_len),
            slice::from_raw_parts(src, src_len),
            output(dst, dst_len),
        )
    };
    with_memory(|memory| memory.zlib(dictionary, block, dst))
}
