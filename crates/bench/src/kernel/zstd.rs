//! libzstd's digested dictionaries, whose memory can be prefetched or copied to one place, and its
//! two ways to decode with a dictionary.

use core::ffi::{CStr, c_void};
use core::marker::PhantomData;
use core::ptr::NonNull;

use linerate_core::{CACHE_LINE, prefetch_line};
use zstd_safe::zstd_sys::{
    ZSTD_DCtx, ZSTD_DDict, ZSTD_createDCtx, ZSTD_createDDict_byReference, ZSTD_decompress_usingDDict,
    ZSTD_decompress_usingDict, ZSTD_freeDCtx, ZSTD_freeDDict, ZSTD_getErrorName, ZSTD_isError,
    ZSTD_sizeof_DDict,
};

/// Bytes of a `ZSTD_DDict` in versions 1.5.x, whose layout is known: two pointers and a size,
/// tables for sequences (10,264 bytes) and literals (16,388 bytes, of which the first half is
/// used), repeat offsets, scratch, two numbers, and the allocator.
const OBJECT: usize = 27_352;
/// Byte ranges of a `ZSTD_DDict` of versions 1.5.x that decoding reads.
const IN_USE: [(usize, usize); 3] = [(0, 18_496), (26_676, 26_688), (27_316, OBJECT)];
/// Bytes at the end of a dictionary's content that are prefetched, because most matches refer to
/// them.
const CONTENT: usize = 8 << 10;
/// Bytes at the beginning of a dictionary that are prefetched, because its tables are there.
const HEAD: usize = 256;
/// `ZSTD_dlm_byRef` of zstd.h: the content of the dictionary is not copied.
const BY_REFERENCE: i32 = 1;
/// `ZSTD_dct_auto` of zstd.h: libzstd finds out the kind of the dictionary.
const ANY_CONTENT: i32 = 0;

// Declared in zstd.h below ZSTD_STATIC_LINKING_ONLY, so not among the bindings.
unsafe extern "C" {
    fn ZSTD_initStaticDDict(
        workspace: *mut c_void,
        workspace_size: usize,
        dictionary: *const c_void,
        dictionary_size: usize,
        load_method: i32,
        content_type: i32,
    ) -> *const ZSTD_DDict;
    fn ZSTD_estimateDDictSize(dictionary_size: usize, load_method: i32) -> usize;
}

/// A digested dictionary that refers to the caller's content, as in RocksDB.
pub(crate) struct Digested<'a> {
    object: NonNull<ZSTD_DDict>,
    content: &'a [u8],
    memory: usize,
}

impl<'a> Digested<'a> {
    /// Digests a dictionary. Bytes without a dictionary's magic number are content without tables.
    /// Returns `None` if the tables are damaged or memory runs out.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        // SAFETY: the object refers to the slice, which outlives it.
        let object =
            NonNull::new(unsafe { ZSTD_createDDict_byReference(bytes.as_ptr().cast(), bytes.len()) })?;
        // SAFETY: the object was just made.
        let memory = unsafe { ZSTD_sizeof_DDict(object.as_ptr()) };
        Some(Digested { object, content: bytes, memory })
    }

    /// Bytes of memory that libzstd's object takes beside the content.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// Prefetches every cache line that decoding may read from libzstd's object, and the last 8 KiB
    /// of content, without waiting in between.
    pub(crate) fn prefetch(&self) {
        let start = self.object.as_ptr() as usize;
        let whole = [(0, self.memory)];
        let parts: &[(usize, usize)] = if self.memory == OBJECT { &IN_USE } else { &whole };
        for (from, to) in parts {
            fetch(start + from, start + to);
        }
        prefetch_end(self.content);
    }
}

/// Prefetches every cache line of `bytes`.
pub(crate) fn prefetch_all(bytes: &[u8]) {
    let start = bytes.as_ptr() as usize;
    fetch(start, start + bytes.len());
}

fn prefetch_end(bytes: &[u8]) {
    prefetch_all(&bytes[bytes.len().saturating_sub(CONTENT)..]);
}

fn fetch(from: usize, to: usize) {
    (from & !(CACHE_LINE - 1)..to).step_by(CACHE_LINE).for_each(prefetch_line);
}

impl Drop for Digested<'_> {
    fn drop(&mut self) {
        // SAFETY: made in `new`, freed once.
        unsafe { ZSTD_freeDDict(self.object.as_ptr()) };
    }
}

/// Dictionaries that are copied to one place before each use, so that the bytes that decoding reads
/// at random are in the cache. The content's end then always has the same address, so libzstd takes
/// the dictionary for the one that it used last, and does not take its slower path for cold
/// dictionaries.
///
/// libzstd's object for a digested dictionary is opaque, but it lies in the caller's memory, and
/// the only address in it is that of the content. Each object is therefore made while its content
/// is in the common place, and can then be copied as bytes.
pub(crate) struct HotCopies<'a> {
    dictionaries: &'a [Vec<u8>],
    /// libzstd's objects of all dictionaries, one after the other, in the memory where they were
    /// made.
    objects: Vec<u64>,
    /// Size of an object in 64-bit words.
    words: usize,
    object: NonNull<u64>,
    /// Buffer of `capacity` bytes that holds one dictionary at a time, at its end, so that the end
    /// of each has the same address.
    content: NonNull<u8>,
    capacity: usize,
    /// Bytes of the dictionary that `content` holds now.
    len: usize,
}

impl<'a> HotCopies<'a> {
    /// Digests all dictionaries. Returns `None` if one of them has damaged tables.
    pub(crate) fn new(dictionaries: &'a [Vec<u8>]) -> Option<Self> {
        let capacity = dictionaries.iter().map(Vec::len).max().unwrap_or(0);
        // SAFETY: takes and returns numbers.
        let words = unsafe { ZSTD_estimateDDictSize(capacity, BY_REFERENCE) }.div_ceil(8);
        let object = NonNull::from(Box::leak(vec![0u64; words].into_boxed_slice())).cast();
        let content = NonNull::from(Box::leak(vec![0u8; capacity].into_boxed_slice())).cast();
        let objects = vec![0; words * dictionaries.len()];
        let mut copies = HotCopies { dictionaries, objects, words, object, content, capacity, len: 0 };
        (0..dictionaries.len()).all(|i| copies.digest(i)).then_some(copies)
    }

    /// Makes the object of the dictionary at `index` while its content is in the common place.
    /// Returns whether libzstd made it.
    fn digest(&mut self, index: usize) -> bool {
        self.copy_content(index);
        let object = &mut self.objects[self.words * index..][..self.words];
        // SAFETY: the memory is aligned to 8 and as large as libzstd asked for; the content lives
        // as long as this value, and is read through its own pointer only.
        let made = unsafe {
            ZSTD_initStaticDDict(
                object.as_mut_ptr().cast(),
                8 * object.len(),
                self.content.as_ptr().add(self.capacity - self.len).cast(),
                self.len,
                BY_REFERENCE,
                ANY_CONTENT,
            )
        };
        std::ptr::eq(made.cast(), object.as_ptr())
    }

    fn copy_content(&mut self, index: usize) {
        let bytes = &self.dictionaries[index];
        // SAFETY: the place has `capacity` bytes, which is no less than any dictionary has, and is
        // no part of one.
        unsafe {
            let end = self.content.as_ptr().add(self.capacity);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), end.sub(bytes.len()), bytes.len());
        }
        self.len = bytes.len();
    }

    /// Copies the object and the content of the dictionary at `index` to the common place. Frames
    /// can be decoded with the returned value until the next copy.
    pub(crate) fn copy_digested(&mut self, index: usize) -> With<'_> {
        self.copy_content(index);
        let object = &self.objects[self.words * index..][..self.words];
        // SAFETY: the place has as many words, and is no part of `objects`.
        unsafe { std::ptr::copy_nonoverlapping(object.as_ptr(), self.object.as_ptr(), self.words) };
        With::Copied(self)
    }

    /// Copies the bytes of the dictionary at `index` to the common place. libzstd digests them
    /// again for each frame that is decoded with the returned value.
    pub(crate) fn copy_raw(&mut self, index: usize) -> With<'_> {
        self.copy_content(index);
        // SAFETY: the last `len` bytes of the place were just written, and stay while this is
        // borrowed.
        With::Raw(unsafe {
            std::slice::from_raw_parts(self.content.as_ptr().add(self.capacity - self.len), self.len)
        })
    }

    /// Prefetches what [`copy_digested`](Self::copy_digested) reads: the object, and the last 8 KiB
    /// of the content.
    pub(crate) fn prefetch_digested(&self, index: usize) {
        let start = self.objects[self.words * index..].as_ptr() as usize;
        fetch(start, start + 8 * self.words);
        prefetch_end(&self.dictionaries[index]);
    }

    /// Prefetches what [`copy_raw`](Self::copy_raw) and libzstd read first: the dictionary's tables
    /// and the last 8 KiB of its content.
    pub(crate) fn prefetch_raw(&self, index: usize) {
        let bytes = &self.dictionaries[index];
        prefetch_all(&bytes[..bytes.len().min(HEAD)]);
        prefetch_end(bytes);
    }
}

impl Drop for HotCopies<'_> {
    fn drop(&mut self) {
        let object = NonNull::slice_from_raw_parts(self.object, self.words);
        let content = NonNull::slice_from_raw_parts(self.content, self.capacity);
        // SAFETY: both were leaked boxes of these lengths, and are freed once.
        unsafe {
            drop(Box::from_raw(object.as_ptr()));
            drop(Box::from_raw(content.as_ptr()));
        }
    }
}

/// The form of the dictionary that a frame is decoded with.
#[derive(Clone, Copy)]
pub(crate) enum With<'a> {
    Nothing,
    Digested(&'a Digested<'a>),
    /// The dictionary that was copied last.
    Copied(&'a HotCopies<'a>),
    /// The bytes of a dictionary, digested for the one frame.
    Raw(&'a [u8]),
}

/// A decompression context of libzstd.
pub(crate) struct Context(NonNull<ZSTD_DCtx>, PhantomData<*const ()>);

impl Context {
    /// Returns `None` if memory runs out.
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: a call without arguments.
        NonNull::new(unsafe { ZSTD_createDCtx() }).map(|context| Context(context, PhantomData))
    }

    /// Decodes a frame and returns the number of bytes written.
    pub(crate) fn decode(&mut self, with: With<'_>, src: &[u8], dst: &mut [u8]) -> Result<usize, String> {
        let (context, from, to) = (self.0.as_ptr(), src.as_ptr().cast(), dst.as_mut_ptr().cast());
        let digested = match with {
            With::Digested(digested) => digested.object.as_ptr().cast_const(),
            With::Copied(copies) => copies.object.as_ptr().cast_const().cast(),
            With::Nothing | With::Raw(_) => core::ptr::null(),
        };
        // SAFETY: all objects are alive, and the lengths are those of the slices; a null pointer
        // means no dictionary; a copied object has the bytes of an object that was made while its
        // content was at the same address as now.
        let n = unsafe {
            match with {
                With::Raw(bytes) => ZSTD_decompress_usingDict(
                    context,
                    to,
                    dst.len(),
                    from,
                    src.len(),
                    bytes.as_ptr().cast(),
                    bytes.len(),
                ),
                With::Nothing | With::Digested(_) | With::Copied(_) => {
                    ZSTD_decompress_usingDDict(context, to, dst.len(), from, src.len(), digested)
                }
            }
        };
        // SAFETY: questions about a number; the name is a constant.
        unsafe {
            match ZSTD_isError(n) {
                0 => Ok(n),
                _ => Err(CStr::from_ptr(ZSTD_getErrorName(n)).to_string_lossy().into_owned()),
            }
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made in `new`, freed once.
        unsafe { ZSTD_freeDCtx(self.0.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_decode_with_each_dictionary_form_and_damage_is_an_error() {
        let dictionary: Vec<u8> = (0..=255).collect();
        let content = &dictionary[10..200];
        let digested = Digested::new(&dictionary).unwrap();
        assert_eq!(digested.memory(), OBJECT, "another version of libzstd: look at IN_USE");
        digested.prefetch();
        let mut context = Context::new().unwrap();
        let mut frame = Vec::with_capacity(300);
        let prepared = zstd_safe::CDict::create(&dictionary, 3);
        zstd_safe::CCtx::create().compress_using_cdict(&mut frame, content, &prepared).unwrap();
        assert!(frame.len() < 50, "{}", frame.len());
        let mut out = [0; 190];
        for with in [With::Digested(&digested), With::Raw(&dictionary)] {
            out.fill(0);
            assert_eq!(context.decode(with, &frame, &mut out), Ok(190));
            assert_eq!(&out, content);
        }
        assert!(context.decode(With::Nothing, &frame, &mut out).is_err());
        // Another dictionary, of another length, is copied in between.
        let both = [dictionary.clone(), b"something else".repeat(5)];
        let mut copies = HotCopies::new(&both).unwrap();
        for _ in 0..2 {
            copies.prefetch_raw(1);
            assert!(context.decode(copies.copy_raw(1), &frame, &mut out).is_err_and(|e| !e.is_empty()));
            copies.prefetch_digested(0);
            out.fill(0);
            assert_eq!(context.decode(copies.copy_digested(0), &frame, &mut out), Ok(190));
            assert_eq!(&out, content);
            assert!(context.decode(copies.copy_digested(1), &frame, &mut out).is_err());
            out.fill(0);
            assert_eq!(context.decode(copies.copy_raw(0), &frame, &mut out), Ok(190));
            assert_eq!(&out, content);
        }
        let error = context.decode(With::Raw(&dictionary), &frame[1..], &mut out).unwrap_err();
        assert!(error.contains("frame"), "{error}");
    }
}
