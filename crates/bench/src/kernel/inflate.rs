//! zlib's and zlib-ng's inflate on one stream for as long as a connection lives.

use std::ffi::{CStr, c_int, c_uint, c_void};

extern "C" fn allocate(_: *mut c_void, items: c_uint, size: c_uint) -> *mut c_void {
    // SAFETY: calloc takes any sizes and checks their product.
    unsafe { libc::calloc(items as usize, size as usize) }
}

extern "C" fn release(_: *mut c_void, block: *mut c_void) {
    // SAFETY: the library hands back what `allocate` gave it.
    unsafe { libc::free(block) }
}

macro_rules! inflate {
    ($name:ident, $label:literal, $sys:ident) => {
        pub(crate) struct $name(Box<$sys::z_stream>);

        impl $name {
            pub(crate) fn new() -> Result<Self, String> {
                let mut stream = Box::new($sys::z_stream {
                    next_in: std::ptr::null_mut(),
                    avail_in: 0,
                    total_in: 0,
                    next_out: std::ptr::null_mut(),
                    avail_out: 0,
                    total_out: 0,
                    msg: std::ptr::null_mut(),
                    state: std::ptr::null_mut(),
                    zalloc: allocate,
                    zfree: release,
                    opaque: std::ptr::null_mut(),
                    data_type: 0,
                    adler: 0,
                    reserved: 0,
                });
                let size = size_of::<$sys::z_stream>() as c_int;
                // SAFETY: the stream stays in its box for as long as the library knows of it; its
                // allocator is set; 15 asks for zlib's header and the largest window.
                let rc = unsafe { $sys::inflateInit2_(&mut *stream, 15, $sys::zlibVersion(), size) };
                if rc == $sys::Z_OK {
                    Ok($name(stream))
                } else {
                    Err(format!(concat!($label, ": code {}"), rc))
                }
            }

            /// Decodes a whole message into `out`; returns its length.
            pub(crate) fn message(&mut self, frame: &[u8], out: &mut [u8]) -> Result<usize, String> {
                let too_long = |_| concat!($label, ": more than 4 GiB in one call");
                let stream = &mut *self.0;
                stream.next_in = frame.as_ptr().cast_mut();
                stream.avail_in = frame.len().try_into().map_err(too_long)?;
                stream.next_out = out.as_mut_ptr();
                stream.avail_out = out.len().try_into().unwrap_or(c_uint::MAX);
                let capacity = stream.avail_out;
                // SAFETY: the stream was opened; input and output are valid for their lengths, and
                // inflate does not write to its input.
                let rc = unsafe { $sys::inflate(stream, $sys::Z_SYNC_FLUSH) };
                if rc != $sys::Z_OK || stream.avail_in != 0 || stream.avail_out == 0 {
                    return Err(format!(concat!($label, ": code {}"), rc));
                }
                Ok((capacity - stream.avail_out) as usize)
            }

            pub(crate) fn version() -> String {
                // SAFETY: returns a static string that ends with NUL.
                unsafe { CStr::from_ptr($sys::zlibVersion()) }.to_string_lossy().into_owned()
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the stream was opened and is closed once.
                unsafe { $sys::inflateEnd(&mut *self.0) };
            }
        }
    };
}

#[cfg(feature = "zlib")]
inflate!(Zlib, "zlib", libz_sys);
#[cfg(feature = "zlib-ng")]
inflate!(ZlibNg, "zlib-ng", libz_ng_sys);
