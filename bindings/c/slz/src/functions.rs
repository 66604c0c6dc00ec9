//! The exported functions. None of them unwinds. Each checks its pointers for null and otherwise
//! trusts them.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_long, c_uchar};
use std::slice;

use linerate_deflate::{Format, Stream, bound, checksum, with_thread_scratch};

use crate::descriptor::Descriptor;

/// Size in bytes of the header for which the engine's bound of an encode call always has room. It
/// is subtracted from the bound, because [`room`] adds the header that the call really writes.
const LONGEST_HEADER: usize = Format::Gzip.header().len();
/// Largest size of a flush in bytes: pending bits and one empty stored block.
const EMPTY_BLOCK: usize = 5;
/// Largest size of pending bits, an empty final block and padding, in bytes.
const FINAL_BLOCK: usize = 2;

/// Size in bytes of the output buffer that the caller of `slz.h` has to provide: `most`, plus the
/// header if it is not written yet.
///
/// # Safety
/// `stream` is null or points to a descriptor.
unsafe fn room(stream: *const Descriptor, format: Format, most: usize) -> usize {
    // SAFETY: the caller's promise.
    most + unsafe { stream.as_ref() }.map_or(0, |stream| stream.header_len(format))
}

/// # Safety
/// `stream` is null or points to memory for a descriptor.
unsafe fn init(stream: *mut Descriptor, format: Format, level: c_int) -> c_int {
    if !stream.is_null() {
        // SAFETY: the caller's promise.
        unsafe { stream.write(Descriptor::new(format, level)) };
    }
    0
}

/// Runs a call on the stream of a descriptor and stores the new state. Returns 0 and leaves the
/// descriptor unchanged if it is null or does not hold a stream, or if the call fails.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
unsafe fn with(
    descriptor: *mut Descriptor,
    format: Format,
    call: impl FnOnce(&mut Stream) -> Option<usize>,
) -> usize {
    // SAFETY: the caller's promise.
    let Some(descriptor) = (unsafe { descriptor.as_mut() }) else { return 0 };
    let Some(mut stream) = descriptor.stream(format) else { return 0 };
    let Some(written) = call(&mut stream) else { return 0 };
    descriptor.keep(&stream);
    written
}

/// # Safety
/// The contract of `slz_rfc1951_encode` in `slz.h`.
unsafe fn encode(
    stream: *mut Descriptor,
    format: Format,
    out: *mut c_uchar,
    input: *const c_uchar,
    len: c_long,
    more: c_int,
) -> c_long {
    let Ok(len) = usize::try_from(len) else { return 0 };
    if out.is_null() || (input.is_null() && len > 0) {
        return 0;
    }
    // SAFETY: `slz.h` requires `len` bytes of input, and room for the bound of `len`.
    let (input, out) = unsafe {
        let input = if len == 0 { &[][..] } else { slice::from_raw_parts(input, len) };
        (input, slice::from_raw_parts_mut(out, room(stream, format, bound(len) - LONGEST_HEADER)))
    };
    // SAFETY: as above.
    let written = unsafe {
        with(stream, format, |stream| {
            with_thread_scratch(0, |scratch, _| stream.encode(scratch, input, out, more != 0).ok())
        })
    };
    written as c_long
}

/// # Safety
/// The contract of `slz_rfc1951_flush` in `slz.h`.
unsafe fn flush(stream: *mut Descriptor, format: Format, out: *mut c_uchar) -> c_int {
    // SAFETY: the caller's promise.
    let Some(aligned) = (unsafe { stream.as_ref() }).map(|s| !s.has_pending_bits() && !s.is_last()) else {
        return 0;
    };
    if out.is_null() {
        return 0;
    }
    // SAFETY: `slz.h` requires this room.
    let out = unsafe { slice::from_raw_parts_mut(out, room(stream, format, EMPTY_BLOCK)) };
    let call = |stream: &mut Stream| match aligned {
        // No bits are pending, so all input can be decoded already. A new stream still needs its
        // header, which an encode call without input writes.
        true => with_thread_scratch(0, |scratch, _| stream.encode(scratch, &[], out, true).ok()),
        false => stream.flush(out).ok(),
    };
    // SAFETY: as above.
    unsafe { with(stream, format, call) as c_int }
}

/// # Safety
/// The contract of `slz_rfc1951_finish` in `slz.h`.
unsafe fn finish(stream: *mut Descriptor, format: Format, out: *mut c_uchar) -> c_int {
    if out.is_null() {
        return 0;
    }
    // SAFETY: `slz.h` requires this room.
    let out =
        unsafe { slice::from_raw_parts_mut(out, room(stream, format, FINAL_BLOCK + format.trailer_len())) };
    // SAFETY: the caller's promise.
    unsafe { with(stream, format, |stream| stream.finish(out).ok()) as c_int }
}

/// Writes the header alone, if it is not written yet.
///
/// # Safety
/// The contract of `slz_rfc1952_send_header` in `slz.h`.
unsafe fn send_header(stream: *mut Descriptor, format: Format, out: *mut c_uchar) -> c_int {
    // SAFETY: the caller's promise; nothing is read from an empty input.
    unsafe { encode(stream, format, out, std::ptr::null(), 0, 1) as c_int }
}

macro_rules! family {
    ($format:expr, $init:ident, $encode:ident, $flush:ident, $finish:ident $(, $header:ident)?) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $init(stream: *mut Descriptor, level: c_int) -> c_int {
            // SAFETY: the contract of `slz.h`.
            unsafe { init(stream, $format, level) }
        }
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $encode(
            stream: *mut Descriptor,
            out: *mut c_uchar,
            input: *const c_uchar,
            len: c_long,
            more: c_int,
        ) -> c_long {
            // SAFETY: the contract of `slz.h`.
            unsafe { encode(stream, $format, out, input, len, more) }
        }
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $flush(stream: *mut Descriptor, out: *mut c_uchar) -> c_int {
            // SAFETY: the contract of `slz.h`.
            unsafe { flush(stream, $format, out) }
        }
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $finish(stream: *mut Descriptor, out: *mut c_uchar) -> c_int {
            // SAFETY: the contract of `slz.h`.
            unsafe { finish(stream, $format, out) }
        }
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $header(stream: *mut Descriptor, out: *mut c_uchar) -> c_int {
                // SAFETY: the contract of `slz.h`.
                unsafe { send_header(stream, $format, out) }
            }
        )?
    };
}

family!(Format::Deflate, slz_rfc1951_init, slz_rfc1951_encode, slz_rfc1951_flush, slz_rfc1951_finish);
family!(
    Format::Zlib,
    slz_rfc1950_init,
    slz_rfc1950_encode,
    slz_rfc1950_flush,
    slz_rfc1950_finish,
    slz_rfc1950_send_header
);
family!(
    Format::Gzip,
    slz_rfc1952_init,
    slz_rfc1952_encode,
    slz_rfc1952_flush,
    slz_rfc1952_finish,
    slz_rfc1952_send_header
);

/// Returns the bytes to checksum: none for a null pointer or a negative length.
///
/// # Safety
/// `buf` is null or points to `len` bytes.
unsafe fn bytes<'b>(buf: *const c_uchar, len: c_long) -> &'b [u8] {
    match usize::try_from(len) {
        // SAFETY: the caller's promise.
        Ok(len) if !buf.is_null() => unsafe { slice::from_raw_parts(buf, len) },
        _ => &[],
    }
}

macro_rules! checksums {
    ($($name:ident($len:ty): $of:path;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(check: u32, buf: *const c_uchar, len: $len) -> u32 {
            // SAFETY: the contract of `slz.h`.
            $of(check, unsafe { bytes(buf, c_long::from(len)) })
        }
    )*};
}

checksums! {
    slz_crc32_by1(c_int): checksum::crc32;
    slz_crc32_by4(c_int): checksum::crc32;
    slz_adler32_by1(c_int): checksum::adler32;
    slz_adler32_block(c_long): checksum::adler32;
}

/// Does nothing. libslz once built tables in this function, and old programs call it.
#[unsafe(no_mangle)]
extern "C" fn slz_make_crc_table() {}

/// Does nothing, like `slz_make_crc_table`.
#[unsafe(no_mangle)]
extern "C" fn slz_prepare_dist_table() {}
