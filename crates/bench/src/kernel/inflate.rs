//! Decodes with zlib's and zlib-ng's `inflate`: one stream for the life of a connection, or streams
//! one after another.

#[cfg(any(feature = "zlib", feature = "zlib-ng"))]
use std::ffi::{c_int, c_uint};

#[cfg(any(feature = "zlib", feature = "zlib-ng"))]
use super::zlib::empty_stream;

/// The result of a call of a decoder: the bytes read and written, and whether the stream has ended.
pub(crate) struct Step {
    /// Bytes of input that were read.
    pub(crate) read: usize,
    /// Bytes of output that were written.
    pub(crate) written: usize,
    /// Whether the stream has ended.
    pub(crate) ends: bool,
}

/// What a call of a decoder gets of a stream.
#[derive(Clone, Copy)]
pub(crate) enum Given {
    /// All input of the stream, and room for all its output.
    All,
    /// Any part of the input, and any room.
    Part,
    /// Input up to the next flush of the encoder, which is a message.
    Message,
}

/// A decoder that can stop at any byte.
pub(crate) trait Resumable {
    /// Begins another stream of the same kind.
    fn reset(&mut self) -> Result<(), String>;
    /// Goes on with the stream: reads from `input` and writes to `out` as much as is possible.
    fn call(&mut self, input: &[u8], out: &mut [u8], given: Given) -> Result<Step, String>;
}

#[cfg(any(feature = "zlib", feature = "zlib-ng"))]
macro_rules! inflate {
    ($name:ident, $label:literal, $sys:ident) => {
        pub(crate) struct $name(Box<$sys::z_stream>);

        impl $name {
            /// Opens a decoder of a stream with zlib's header.
            pub(crate) fn new() -> Result<Self, String> {
                Self::open(15)
            }

            /// Opens a decoder of a stream of deflate data without a container.
            pub(crate) fn raw() -> Result<Self, String> {
                Self::open(-15)
            }

            fn open(window_bits: c_int) -> Result<Self, String> {
                let mut stream = empty_stream!($sys);
                let size = size_of::<$sys::z_stream>() as c_int;
                // SAFETY: the stream stays in its box for as long as the library knows of it; its
                // allocator is set; the bits are those of the largest window.
                let rc = unsafe { $sys::inflateInit2_(&mut *stream, window_bits, $sys::zlibVersion(), size) };
                if rc == $sys::Z_OK {
                    Ok($name(stream))
                } else {
                    Err(format!(concat!($label, ": code {}"), rc))
                }
            }
        }

        impl Resumable for $name {
            fn reset(&mut self) -> Result<(), String> {
                // SAFETY: the stream was opened.
                let rc = unsafe { $sys::inflateReset(&mut *self.0) };
                if rc == $sys::Z_OK { Ok(()) } else { Err(format!(concat!($label, ": code {}"), rc)) }
            }

            fn call(&mut self, input: &[u8], out: &mut [u8], given: Given) -> Result<Step, String> {
                let flush = match given {
                    Given::All => $sys::Z_FINISH,
                    Given::Part => $sys::Z_NO_FLUSH,
                    Given::Message => $sys::Z_SYNC_FLUSH,
                };
                let too_long = |_| concat!($label, ": more than 4 GiB in one call");
                let stream = &mut *self.0;
                stream.next_in = input.as_ptr().cast_mut();
                stream.avail_in = input.len().try_into().map_err(too_long)?;
                stream.next_out = out.as_mut_ptr();
                stream.avail_out = out.len().try_into().unwrap_or(c_uint::MAX);
                let capacity = stream.avail_out;
                // SAFETY: the stream was opened; input and output are valid for their lengths, and
                // inflate does not write to its input.
                let rc = unsafe { $sys::inflate(stream, flush) };
                if rc != $sys::Z_OK && rc != $sys::Z_STREAM_END {
                    return Err(format!(concat!($label, ": code {}"), rc));
                }
                Ok(Step {
                    read: input.len() - stream.avail_in as usize,
                    written: (capacity - stream.avail_out) as usize,
                    ends: rc == $sys::Z_STREAM_END,
                })
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
