//! libzstd's digested dictionaries, whose memory can be asked for ahead, and its two ways to decode with
//! a dictionary.

use core::ffi::CStr;
use core::marker::PhantomData;
use core::ptr::NonNull;

use linerate_core::{CACHE_LINE, prefetch_line};
use zstd_safe::zstd_sys::{
    ZSTD_DCtx, ZSTD_DDict, ZSTD_createDCtx, ZSTD_createDDict_byReference, ZSTD_decompress_usingDDict,
    ZSTD_decompress_usingDict, ZSTD_freeDCtx, ZSTD_freeDDict, ZSTD_getErrorName, ZSTD_isError,
    ZSTD_sizeof_DDict,
};

/// Bytes of the object in the versions 1.5.x, whose parts are known: three pointers and numbers, tables of
/// sequences (10,264 bytes), of literals (16,388, of which those in use are the first half), repeat offsets,
/// scratch, and two numbers.
const OBJECT: usize = 27_352;
/// Its parts that decoding reads.
const IN_USE: [(usize, usize); 3] = [(0, 18_496), (26_676, 26_688), (27_316, OBJECT)];
/// Of the content, the last bytes are asked for, where most matches are.
const CONTENT: usize = 8 << 10;

/// A dictionary with tables; the content is that of the caller, as in RocksDB.
pub(crate) struct Digested<'a> {
    object: NonNull<ZSTD_DDict>,
    content: &'a [u8],
    memory: usize,
}

impl<'a> Digested<'a> {
    /// None if it is no dictionary, or there is no memory.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        // SAFETY: the object refers to the slice, which outlives it.
        let object =
            NonNull::new(unsafe { ZSTD_createDDict_byReference(bytes.as_ptr().cast(), bytes.len()) })?;
        // SAFETY: the object was just made.
        let memory = unsafe { ZSTD_sizeof_DDict(object.as_ptr()) };
        Some(Digested { object, content: bytes, memory })
    }

    /// Bytes beside the content.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// Asks for all lines at once that decoding with it may read, and the last 8 KiB of content.
    pub(crate) fn burst(&self) {
        let start = self.object.as_ptr() as usize;
        let whole = [(0, self.memory)];
        let parts: &[(usize, usize)] = if self.memory == OBJECT { &IN_USE } else { &whole };
        for (from, to) in parts {
            fetch(start + from, start + to);
        }
        let end = self.content.as_ptr() as usize + self.content.len();
        fetch(end - self.content.len().min(CONTENT), end);
    }
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

/// What frames are decoded with.
#[derive(Clone, Copy)]
pub(crate) enum With<'a> {
    Nothing,
    Digested(&'a Digested<'a>),
    /// The bytes of a dictionary, digested for the one frame.
    Raw(&'a [u8]),
}

/// A decompression context.
pub(crate) struct Context(NonNull<ZSTD_DCtx>, PhantomData<*const ()>);

impl Context {
    /// None if there is no memory.
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: it takes nothing.
        NonNull::new(unsafe { ZSTD_createDCtx() }).map(|context| Context(context, PhantomData))
    }

    /// Decodes a frame; returns the bytes written.
    pub(crate) fn decode(&mut self, with: With<'_>, src: &[u8], dst: &mut [u8]) -> Result<usize, String> {
        let (context, from, to) = (self.0.as_ptr(), src.as_ptr().cast(), dst.as_mut_ptr().cast());
        let digested = match with {
            With::Digested(digested) => digested.object.as_ptr().cast_const(),
            With::Nothing | With::Raw(_) => core::ptr::null(),
        };
        // SAFETY: all objects are alive, the lengths are those of the slices; no dictionary is a null
        // pointer.
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
                With::Nothing | With::Digested(_) => {
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
        digested.burst();
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
        let error = context.decode(With::Raw(&dictionary), &frame[1..], &mut out).unwrap_err();
        assert!(error.contains("frame"), "{error}");
    }
}
