//! LZ4's C library, which shows the speed of a byte-oriented format.

use std::ffi::{c_char, c_int, c_void};

use lz4_sys::LZ4_versionNumber;

use crate::bytes::{Coding, Encoder};

unsafe extern "C" {
    fn LZ4_sizeofState() -> c_int;
    fn LZ4_compress_fast_extState(
        state: *mut c_void,
        src: *const c_char,
        dst: *mut c_char,
        src_size: c_int,
        dst_capacity: c_int,
        acceleration: c_int,
    ) -> c_int;
}

/// LZ4 at its default acceleration: one block per chunk.
pub(crate) struct Lz4 {
    state: Vec<u64>,
}

impl Lz4 {
    pub(crate) fn new() -> Self {
        // SAFETY: takes no arguments and returns a number.
        let bytes = unsafe { LZ4_sizeofState() } as usize;
        Lz4 { state: vec![0; bytes.div_ceil(8)] }
    }
}

impl Encoder for Lz4 {
    fn coding(&self) -> Coding {
        Coding::Lz4Pieces
    }

    fn chunk(&mut self, input: &[u8], _last: bool, out: &mut [u8]) -> Result<usize, String> {
        let len = c_int::try_from(input.len()).map_err(|_| "lz4: more than 2 GiB in one call")?;
        let capacity = c_int::try_from(out.len()).unwrap_or(c_int::MAX);
        // SAFETY: the state has the size that the library asked for and is aligned to 8; input and
        // output are valid for the lengths given.
        let n = unsafe {
            LZ4_compress_fast_extState(
                self.state.as_mut_ptr().cast(),
                input.as_ptr().cast(),
                out.as_mut_ptr().cast(),
                len,
                capacity,
                1,
            )
        };
        if n > 0 { Ok(n as usize) } else { Err("lz4: the output buffer is too small".into()) }
    }

    fn scratch_bytes(&self) -> Option<usize> {
        Some(8 * self.state.len())
    }

    fn version(&self) -> String {
        // SAFETY: takes no arguments and returns a number.
        let n = unsafe { LZ4_versionNumber() };
        format!("{}.{}.{}", n / 10_000, n / 100 % 100, n % 100)
    }
}

/// Decodes a whole block into `out` and returns the length of its content. Returns `None` if the
/// block is damaged or its content longer than `out`.
pub(crate) fn decompress(block: &[u8], out: &mut [u8]) -> Option<usize> {
    let (from, to) = (i32::try_from(block.len()).ok()?, i32::try_from(out.len()).ok()?);
    // SAFETY: both pointers are of slices of the lengths given, which do not overlap.
    let len =
        unsafe { lz4_sys::LZ4_decompress_safe(block.as_ptr().cast(), out.as_mut_ptr().cast(), from, to) };
    usize::try_from(len).ok()
}
