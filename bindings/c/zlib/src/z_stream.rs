//! `z_stream` of `zlib.h`, 112 bytes where pointers and `long` have 64 bits, with its return codes
//! and flush values.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

/// `alloc_func`.
pub(crate) type Allocate = unsafe extern "C" fn(*mut c_void, c_uint, c_uint) -> *mut c_void;
/// `free_func`.
pub(crate) type Release = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// `z_stream`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ZStream {
    pub(crate) next_in: *const u8,
    pub(crate) avail_in: c_uint,
    pub(crate) total_in: c_ulong,
    pub(crate) next_out: *mut u8,
    pub(crate) avail_out: c_uint,
    pub(crate) total_out: c_ulong,
    pub(crate) msg: *const c_char,
    pub(crate) state: *mut c_void,
    pub(crate) zalloc: Option<Allocate>,
    pub(crate) zfree: Option<Release>,
    pub(crate) opaque: *mut c_void,
    pub(crate) data_type: c_int,
    pub(crate) adler: c_ulong,
    pub(crate) _reserved: c_ulong,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<ZStream>() == if size_of::<c_ulong>() == 8 { 112 } else { 88 });

/// Return codes.
pub(crate) mod code {
    use super::c_int;

    pub(crate) const OK: c_int = 0;
    pub(crate) const STREAM_END: c_int = 1;
    pub(crate) const STREAM_ERROR: c_int = -2;
    pub(crate) const DATA_ERROR: c_int = -3;
    pub(crate) const MEM_ERROR: c_int = -4;
    pub(crate) const BUF_ERROR: c_int = -5;
    pub(crate) const VERSION_ERROR: c_int = -6;
}

/// The second argument of `deflate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flush {
    No,
    Partial,
    Sync,
    Full,
    Finish,
    Block,
}

impl Flush {
    /// Converts the second argument of `deflate`. Returns `None` for a number that `deflate`
    /// rejects; `Z_TREES` (6) is for inflate.
    pub(crate) fn from_number(number: c_int) -> Option<Flush> {
        const ALL: [Flush; 6] =
            [Flush::No, Flush::Partial, Flush::Sync, Flush::Full, Flush::Finish, Flush::Block];
        ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the rank of a flush by how much it does. A call without input and without waiting
    /// output makes progress only if its rank is higher than that of the previous call, or with
    /// `Finish`.
    pub(crate) fn rank(self) -> i8 {
        match self {
            Flush::No => 0,
            Flush::Block => 1,
            Flush::Partial => 2,
            Flush::Sync => 3,
            Flush::Full => 4,
            Flush::Finish => 5,
        }
    }
}

impl ZStream {
    /// Sets the message of an error in the stream and returns the error.
    pub(crate) fn fail(&mut self, code: c_int) -> c_int {
        let text = match code {
            code::STREAM_ERROR => c"stream error",
            code::MEM_ERROR => c"insufficient memory",
            _ => c"buffer error",
        };
        self.msg = text.as_ptr();
        code
    }
}
