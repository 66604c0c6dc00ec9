//! ISA-L's stateless encoder and stateless decoder of deflate, linked dynamically.

use std::ffi::{c_int, c_void};

use linerate_deflate::Format;

use crate::bytes::{Coding, Encoder};

/// The public head of `struct isal_zstream`. The internal state follows inside the allocation.
#[repr(C, align(64))]
struct Head {
    next_in: *const u8,
    avail_in: u32,
    total_in: u32,
    next_out: *mut u8,
    avail_out: u32,
    total_out: u32,
    hufftables: *mut c_void,
    level: u32,
    level_buf_size: u32,
    level_buf: *mut u8,
    end_of_stream: u16,
    flush: u16,
    gzip_flag: u16,
    hist_bits: u16,
}

/// Bytes of `struct isal_zstream` in ISA-L 2.30.
const STREAM_BYTES: usize = 82_384;

/// Head and internal state, with room for other versions of the library.
#[repr(C)]
struct ZStream {
    head: Head,
    internal: [u8; 2 * STREAM_BYTES],
}

const FULL_FLUSH: u16 = 2;
const STATIC_TREES: c_int = 2;

#[link(name = "isal")]
unsafe extern "C" {
    fn isal_deflate_stateless_init(stream: *mut ZStream);
    fn isal_deflate_set_hufftables(stream: *mut ZStream, tables: *mut c_void, kind: c_int) -> c_int;
    fn isal_deflate_stateless(stream: *mut ZStream) -> c_int;
    fn isal_inflate_init(state: *mut InflateState);
    fn isal_inflate_stateless(state: *mut InflateState) -> c_int;
}

/// An all-zero value of a type, made on the heap and never on the stack.
///
/// # Safety
/// Zero bytes must be a valid `T`.
unsafe fn zeroed<T>() -> Box<T> {
    let mut new = Box::<T>::new_uninit();
    // SAFETY: the box holds one T; the caller vouches for zeros.
    unsafe {
        new.as_mut_ptr().write_bytes(0, 1);
        new.assume_init()
    }
}

/// ISA-L at one level, by stateless calls with a full flush.
pub(crate) struct Isal {
    stream: Box<ZStream>,
    level_buf: Vec<u8>,
}

impl Isal {
    /// Makes an encoder at a level from 0 to 3. `fixed` makes level 0 use the fixed trees of RFC
    /// 1951 instead of ISA-L's built-in trees.
    pub(crate) fn new(level: u32, fixed: bool) -> Result<Self, String> {
        // ISA-L's default sizes of the level buffer in version 2.30, in bytes, by level.
        let size = *[0, 282_624, 331_776, 348_160].get(level as usize).ok_or("ISA-L: no such level")?;
        // SAFETY: ZStream is numbers and raw pointers, for which zero is valid.
        let mut stream = unsafe { zeroed::<ZStream>() };
        // SAFETY: the allocation is larger than the library's structure and aligned for it.
        unsafe { isal_deflate_stateless_init(&mut *stream) };
        if fixed {
            // SAFETY: the stream was initialised; with this kind of trees the pointer to tables is
            // not used.
            let rc = unsafe { isal_deflate_set_hufftables(&mut *stream, std::ptr::null_mut(), STATIC_TREES) };
            if rc != 0 {
                return Err(format!("ISA-L: no fixed trees, code {rc}"));
            }
        }
        stream.head.level = level;
        Ok(Isal { stream, level_buf: vec![0; size] })
    }
}

impl Encoder for Isal {
    fn coding(&self) -> Coding {
        Coding::Stream(Format::Deflate)
    }

    fn chunk(&mut self, input: &[u8], last: bool, out: &mut [u8]) -> Result<usize, String> {
        let too_long = |_| "ISA-L: more than 4 GiB in one call";
        let head = &mut self.stream.head;
        head.next_in = input.as_ptr();
        head.avail_in = u32::try_from(input.len()).map_err(too_long)?;
        head.next_out = out.as_mut_ptr();
        head.avail_out = u32::try_from(out.len()).unwrap_or(u32::MAX);
        head.level_buf = self.level_buf.as_mut_ptr();
        head.level_buf_size = self.level_buf.len() as u32;
        head.end_of_stream = last.into();
        head.flush = FULL_FLUSH;
        let capacity = head.avail_out;
        // SAFETY: the pointers above are valid for the lengths beside them during this call.
        let rc = unsafe { isal_deflate_stateless(&mut *self.stream) };
        if rc != 0 || self.stream.head.avail_in != 0 {
            return Err(format!("ISA-L: code {rc}"));
        }
        Ok((capacity - self.stream.head.avail_out) as usize)
    }

    fn scratch_bytes(&self) -> Option<usize> {
        Some(STREAM_BYTES + self.level_buf.len())
    }

    fn version(&self) -> String {
        env!("BENCH_VERSION_ISAL").into()
    }
}

/// The public head of `struct inflate_state`. Tables and buffers follow inside the allocation.
#[repr(C, align(64))]
struct InflateHead {
    next_out: *mut u8,
    avail_out: u32,
    total_out: u32,
    next_in: *const u8,
    read_in: u64,
    avail_in: u32,
    read_in_length: i32,
}

/// Bytes of `struct inflate_state` in ISA-L 2.30.
const INFLATE_BYTES: usize = 87_368;

/// Head and internal state, with room for other versions of the library.
#[repr(C)]
struct InflateState {
    head: InflateHead,
    internal: [u8; 2 * INFLATE_BYTES],
}

/// ISA-L's decoder of whole streams of deflate data.
pub(crate) struct IsalInflate(Box<InflateState>);

impl IsalInflate {
    pub(crate) const SCRATCH: usize = INFLATE_BYTES;

    pub(crate) fn new() -> Self {
        // SAFETY: InflateState is numbers and raw pointers, for which zero is valid.
        IsalInflate(unsafe { zeroed() })
    }

    /// Decodes a stream and returns the number of bytes written.
    pub(crate) fn decode(&mut self, stream: &[u8], out: &mut [u8]) -> Result<usize, String> {
        let state = &mut *self.0;
        // SAFETY: the allocation is larger than the library's structure and aligned for it.
        unsafe { isal_inflate_init(state) };
        state.head.next_in = stream.as_ptr();
        state.head.avail_in =
            u32::try_from(stream.len()).map_err(|_| "ISA-L: more than 4 GiB in one call")?;
        state.head.next_out = out.as_mut_ptr();
        state.head.avail_out = u32::try_from(out.len()).unwrap_or(u32::MAX);
        // SAFETY: the pointers above are valid for the lengths beside them during this call.
        match unsafe { isal_inflate_stateless(state) } {
            0 => Ok(state.head.total_out as usize),
            code => Err(format!("ISA-L: code {code}")),
        }
    }
}
