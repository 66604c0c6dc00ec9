//! zlib's inflate with an exact window, as the oracle of encoders that promise a window.
//!
//! Output is requested one byte at a time, so that every match reads from zlib's window, and zlib
//! refuses matches beyond it. zlib-rs would accept them, since it always keeps 32 KiB. Without this
//! module, [`crate::deflate::Receiver`] has to use zlib-rs.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use libz_sys::{
    Z_BUF_ERROR, Z_NEED_DICT, Z_OK, Z_STREAM_END, Z_SYNC_FLUSH, inflate, inflateEnd, inflateInit2_,
    inflateSetDictionary, z_stream, zlibVersion,
};

extern "C" fn allocate(_: *mut c_void, items: c_uint, size: c_uint) -> *mut c_void {
    // SAFETY: calloc takes any sizes and checks their product.
    unsafe { libc::calloc(items as usize, size as usize) }
}

extern "C" fn release(_: *mut c_void, block: *mut c_void) {
    // SAFETY: zlib passes an address that `allocate` returned.
    unsafe { libc::free(block) }
}

/// A decoder of one stream that arrives in pieces. It refuses matches beyond the window.
pub struct ZlibWindow {
    stream: Box<z_stream>,
    dictionary: Vec<u8>,
}

impl ZlibWindow {
    /// A decoder with `window_bits` as for zlib's `inflateInit2`: 8 to 15 for zlib, -8 to -15 for
    /// raw deflate, 24 to 31 for gzip. `dictionary` is the preset dictionary of the stream, or
    /// empty.
    pub fn new(window_bits: i32, dictionary: &[u8]) -> Self {
        let mut stream = Box::new(z_stream {
            next_in: ptr::null_mut(),
            avail_in: 0,
            total_in: 0,
            next_out: ptr::null_mut(),
            avail_out: 0,
            total_out: 0,
            msg: ptr::null_mut(),
            state: ptr::null_mut(),
            zalloc: allocate,
            zfree: release,
            opaque: ptr::null_mut(),
            data_type: 0,
            adler: 0,
            reserved: 0,
        });
        // SAFETY: the stream stays in its box until `inflateEnd`, and its allocator is set.
        let rc = unsafe {
            inflateInit2_(&mut *stream, window_bits, zlibVersion(), size_of::<z_stream>() as c_int)
        };
        assert_eq!(rc, Z_OK, "inflateInit2");
        let mut decoder = ZlibWindow { stream, dictionary: dictionary.to_vec() };
        if window_bits < 0 && !dictionary.is_empty() {
            decoder.enter_dictionary();
        }
        decoder
    }

    fn enter_dictionary(&mut self) {
        // SAFETY: the stream was opened; the dictionary is valid for its length.
        let rc = unsafe {
            inflateSetDictionary(&mut *self.stream, self.dictionary.as_ptr(), self.dictionary.len() as c_uint)
        };
        assert_eq!(rc, Z_OK, "inflateSetDictionary");
    }

    /// Decodes all of `bytes`, the next piece of the stream, and returns its content.
    ///
    /// # Errors
    /// zlib's error code with the number of bytes that this call decoded before it, or the number
    /// of bytes after the end of the stream.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut plain = Vec::new();
        self.stream.next_in = bytes.as_ptr().cast_mut();
        self.stream.avail_in = bytes.len() as c_uint;
        loop {
            let mut byte = 0u8;
            self.stream.next_out = &mut byte;
            self.stream.avail_out = 1;
            // SAFETY: the stream was opened; input and output are valid for their lengths, and
            // inflate does not write to its input.
            let rc = unsafe { inflate(&mut *self.stream, Z_SYNC_FLUSH) };
            let is_full = self.stream.avail_out == 0;
            if is_full {
                plain.push(byte);
            }
            match rc {
                Z_NEED_DICT => self.enter_dictionary(),
                Z_OK if is_full => {}
                Z_OK | Z_BUF_ERROR | Z_STREAM_END => break,
                _ => return Err(format!("zlib: code {rc} after {} bytes", plain.len())),
            }
        }
        match self.stream.avail_in {
            0 => Ok(plain),
            left => Err(format!("zlib: {left} bytes after the end")),
        }
    }
}

impl Drop for ZlibWindow {
    fn drop(&mut self) {
        // SAFETY: the stream was opened and is closed once.
        unsafe { inflateEnd(&mut *self.stream) };
    }
}
