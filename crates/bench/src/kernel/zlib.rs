//! The encoders of zlib and zlib-ng, which share an interface but no symbols.

use std::ffi::{CStr, c_int, c_uint, c_void};

use linerate_deflate::Format;

use crate::bytes::Strategy;
use crate::bytes::{Coding, Encoder};
use linerate_candidates::footprint;

pub(super) extern "C" fn allocate(_: *mut c_void, items: c_uint, size: c_uint) -> *mut c_void {
    // SAFETY: calloc takes any sizes and checks their product.
    unsafe { libc::calloc(items as usize, size as usize) }
}

pub(super) extern "C" fn release(_: *mut c_void, block: *mut c_void) {
    // SAFETY: the library hands back what `allocate` gave it.
    unsafe { libc::free(block) }
}

/// Makes a stream of zlib's interface that no function has opened yet.
macro_rules! empty_stream {
    ($sys:ident) => {
        Box::new($sys::z_stream {
            next_in: std::ptr::null_mut(),
            avail_in: 0,
            total_in: 0,
            next_out: std::ptr::null_mut(),
            avail_out: 0,
            total_out: 0,
            msg: std::ptr::null_mut(),
            state: std::ptr::null_mut(),
            zalloc: crate::kernel::zlib::allocate,
            zfree: crate::kernel::zlib::release,
            opaque: std::ptr::null_mut(),
            data_type: 0,
            adler: 0,
            reserved: 0,
        })
    };
}
pub(super) use empty_stream;

/// Defines a contender of the shape "bytes" for a library with zlib's interface: one stream per
/// file, and a full flush after each chunk but the last.
macro_rules! zlib_family {
    ($name:ident, $label:literal, $sys:ident) => {
        pub(crate) struct $name {
            stream: Box<$sys::z_stream>,
            state: Option<usize>,
        }

        impl $name {
            pub(crate) fn new(level: i32, strategy: Strategy) -> Result<Self, String> {
                let (stream, state) = footprint(|| Self::open(level, strategy, 15));
                Ok($name { stream: stream?, state })
            }

            fn open(
                level: i32,
                strategy: Strategy,
                window_bits: c_int,
            ) -> Result<Box<$sys::z_stream>, String> {
                let mut stream = empty_stream!($sys);
                let size = size_of::<$sys::z_stream>() as c_int;
                // SAFETY: the stream stays in its box for as long as the library knows of it; its
                // allocator is set; less than 0 asks for bare deflate.
                let rc = unsafe {
                    $sys::deflateInit2_(
                        &mut *stream,
                        level,
                        8,
                        -window_bits,
                        8,
                        strategy as c_int,
                        $sys::zlibVersion(),
                        size,
                    )
                };
                if rc == $sys::Z_OK { Ok(stream) } else { Err(format!(concat!($label, ": code {}"), rc)) }
            }

            fn deflate(
                &mut self,
                input: &[u8],
                flush: c_int,
                wanted: c_int,
                out: &mut [u8],
            ) -> Result<usize, String> {
                let too_long = |_| concat!($label, ": more than 4 GiB in one call");
                self.stream.next_in = input.as_ptr().cast_mut();
                self.stream.avail_in = input.len().try_into().map_err(too_long)?;
                self.stream.next_out = out.as_mut_ptr();
                self.stream.avail_out = out.len().try_into().unwrap_or(c_uint::MAX);
                let capacity = self.stream.avail_out;
                // SAFETY: the stream was opened; input and output are valid for their lengths, and
                // deflate does not write to its input.
                let rc = unsafe { $sys::deflate(&mut *self.stream, flush) };
                if rc != wanted || self.stream.avail_in != 0 || self.stream.avail_out == 0 {
                    return Err(format!(concat!($label, ": code {}"), rc));
                }
                Ok((capacity - self.stream.avail_out) as usize)
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the stream was opened and is closed once.
                unsafe { $sys::deflateEnd(&mut *self.stream) };
            }
        }

        impl Encoder for $name {
            fn coding(&self) -> Coding {
                Coding::Stream(Format::Deflate)
            }

            fn begin(&mut self) -> Result<(), String> {
                // SAFETY: the stream was opened.
                let rc = unsafe { $sys::deflateReset(&mut *self.stream) };
                if rc == $sys::Z_OK { Ok(()) } else { Err(format!(concat!($label, ": code {}"), rc)) }
            }

            fn chunk(&mut self, input: &[u8], last: bool, out: &mut [u8]) -> Result<usize, String> {
                match last {
                    true => self.deflate(input, $sys::Z_FINISH, $sys::Z_STREAM_END, out),
                    false => self.deflate(input, $sys::Z_FULL_FLUSH, $sys::Z_OK, out),
                }
            }

            fn state_bytes(&self) -> Option<usize> {
                self.state
            }

            fn version(&self) -> String {
                // SAFETY: returns a static string that ends with NUL.
                unsafe { CStr::from_ptr($sys::zlibVersion()) }.to_string_lossy().into_owned()
            }
        }
    };
}

#[cfg(feature = "zlib")]
zlib_family!(Zlib, "zlib", libz_sys);
#[cfg(feature = "zlib")]
impl Zlib {
    /// Makes a stream with a window of 2^`window_bits` bytes. Its memory is not measured.
    pub(crate) fn in_window(level: i32, window_bits: u8) -> Result<Self, String> {
        let stream = Self::open(level, Strategy::Default, window_bits.into())?;
        Ok(Zlib { stream, state: None })
    }

    /// Encodes a message and flushes it, so that it can be decoded when it arrives. The message may
    /// have matches into earlier ones. Returns the number of bytes written to `out`.
    pub(crate) fn flushed(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, String> {
        self.deflate(input, libz_sys::Z_SYNC_FLUSH, libz_sys::Z_OK, out)
    }
}
#[cfg(feature = "zlib-ng")]
zlib_family!(ZlibNg, "zlib-ng", libz_ng_sys);
