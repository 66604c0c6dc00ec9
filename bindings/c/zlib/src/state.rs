//! Allocates the memory of a stream by the caller's functions, and tells our streams from zlib's.
//!
//! One block holds the whole stream, and is no larger than what zlib allocates for the same
//! arguments, so servers that compute zlib's memory in advance have enough. Working memory belongs
//! to the thread, and the index of a stream that flushes messages comes from Rust's allocator.

#![allow(unsafe_code)]

use std::ffi::{c_uint, c_void};

use crate::buffer::Buffer;
use crate::encoder::{Encoder, output_capacity};
use crate::settings::Settings;
use crate::z_stream::{Allocate, Release, ZStream};

/// `last_flush` before the first call of `deflate`.
pub(crate) const NEVER: i8 = -2;

/// First word of our states; the second is the address of the state itself. The states of zlib, for
/// deflate and inflate, begin with the address of their `z_stream`, which this number cannot be on
/// 64-bit systems, and their second word is not the address of the state.
const MARK: usize = 0xf1a7_e11a_e5d0_9b3d_u64 as usize;

/// The object to which `state` of a `z_stream` points.
#[repr(C)]
pub(crate) struct State {
    mark: usize,
    address: usize,
    pub(crate) encoder: Encoder,
    /// [Rank](crate::z_stream::Flush::rank) of the flush of the previous call, `NEVER` before the
    /// first call, or `INCOMPLETE` of `calls`.
    pub(crate) last_flush: i8,
}

/// Owner of a stream.
pub(crate) enum Owner<'s> {
    /// The stream is null, was not initialised, or is closed.
    Nobody,
    Ours(&'s mut ZStream, &'s mut State),
    Zlib,
}

impl<'s> Owner<'s> {
    /// Finds the owner of a stream.
    ///
    /// # Safety
    /// `stream` is null, or a `z_stream` whose `state` is null or was set by a `deflateInit`
    /// function. Nobody else uses it while the result exists.
    pub(crate) unsafe fn of(stream: *mut ZStream) -> Owner<'s> {
        // SAFETY: the caller's promise.
        let Some(z) = (unsafe { stream.as_mut() }) else { return Owner::Nobody };
        if z.state.is_null() {
            return Owner::Nobody;
        }
        let words = z.state.cast::<[usize; 2]>();
        // SAFETY: every state is larger than two words, and its first word is set from the
        // beginning.
        match unsafe { words.cast::<usize>().read() == MARK && words.read()[1] == z.state.addr() } {
            // SAFETY: the mark shows that the state is ours, and only the caller uses it.
            true => Owner::Ours(z, unsafe { &mut *words.cast::<State>() }),
            false => Owner::Zlib,
        }
    }
}

/// The `zalloc` of streams for which the caller has set none.
unsafe extern "C" fn allocate(_: *mut c_void, items: c_uint, size: c_uint) -> *mut c_void {
    let Some(len) = (items as usize).checked_mul(size as usize) else { return std::ptr::null_mut() };
    // SAFETY: malloc takes any size.
    unsafe { libc::malloc(len) }
}

/// The `zfree` of streams for which the caller has set none.
unsafe extern "C" fn release(_: *mut c_void, block: *mut c_void) {
    // SAFETY: the block is one of `allocate`'s.
    unsafe { libc::free(block) }
}

/// Returns the caller's memory functions. As zlib does, sets defaults where the caller has set
/// none.
fn functions(z: &mut ZStream) -> (Allocate, Release) {
    if z.zalloc.is_none() {
        z.zalloc = Some(allocate);
        z.opaque = std::ptr::null_mut();
    }
    (*z.zalloc.get_or_insert(allocate), *z.zfree.get_or_insert(release))
}

impl State {
    /// Allocates a stream, sets `state` of `z` to it, and creates its encoder by calling `make`
    /// with buffers for input and output. Returns `None` if memory runs out.
    ///
    /// # Safety
    /// `zalloc` and `zfree` of `z` are `None` or keep zlib's contract: blocks are aligned for any
    /// use.
    pub(crate) unsafe fn allocate(
        z: &mut ZStream,
        settings: Settings,
        make: impl FnOnce(Buffer, Buffer) -> Encoder,
    ) -> Option<()> {
        let input = settings.input_capacity();
        let output = output_capacity(input);
        let (allocate, _) = functions(z);
        let size = (size_of::<State>() + input + output) as c_uint;
        // SAFETY: the caller's promise.
        let block = unsafe { allocate(z.opaque, 1, size) };
        if block.is_null() {
            return None;
        }
        let state = block.cast::<State>();
        // SAFETY: the block has room for the state and the two buffers behind it, belongs to nobody
        // else, and is aligned for any use.
        unsafe {
            let buffers = state.add(1).cast::<u8>();
            let encoder = make(Buffer::new(buffers, input), Buffer::new(buffers.add(input), output));
            state.write(State { mark: MARK, address: block.addr(), encoder, last_flush: NEVER });
        }
        z.state = block;
        Some(())
    }

    /// Frees the memory of a stream.
    ///
    /// # Safety
    /// The state of `z` is ours and there is no reference to it. `zfree` is unchanged, or keeps
    /// zlib's contract.
    pub(crate) unsafe fn release(z: &mut ZStream) {
        let (_, release) = functions(z);
        let state = z.state.cast::<State>();
        z.state = std::ptr::null_mut();
        // SAFETY: the caller's promise. Nobody recognises the block afterwards.
        unsafe {
            state.drop_in_place();
            state.cast::<[usize; 2]>().write([0; 2]);
            release(z.opaque, state.cast());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_takes_no_more_memory_than_the_settings_allow_for() {
        for window_bits in 9..=15 {
            for mem_level in 1..=9 {
                let settings = Settings { window_bits, mem_level, ..Settings::of_level(6) };
                let input = settings.input_capacity();
                let size = size_of::<State>() + input + output_capacity(input);
                assert!(size <= settings.budget(), "{window_bits} {mem_level}: {size}");
            }
        }
    }
}
