//! Finds zlib's own functions: in the next library that has them (under `LD_PRELOAD`, zlib comes
//! after this library), or else in the system's zlib, which is loaded if necessary.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
use std::sync::OnceLock;

use crate::settings::Settings;
use crate::z_stream::{ZStream, code};

const LIBRARY: &CStr = if cfg!(target_vendor = "apple") { c"libz.1.dylib" } else { c"libz.so.1" };

macro_rules! zlib {
    ($($field:ident: $name:literal, ($($argument:ty),*) -> $result:ty;)*) => {
        /// zlib's functions. A function is `None` if an old version lacks it.
        pub(crate) struct Zlib {
            $(pub(crate) $field: Option<unsafe extern "C" fn($($argument),*) -> $result>,)*
        }

        impl Zlib {
            /// # Safety
            /// `library` is a handle that `dlsym` accepts, for zlib or a library with its
            /// interface.
            unsafe fn of(library: *mut c_void) -> Zlib {
                Zlib {
                    // SAFETY: the caller's promise, and `zlib.h` gives the functions these types. A
                    // null pointer becomes `None`.
                    $($field: unsafe { std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn($($argument),*) -> $result>>(
                        libc::dlsym(library, $name.as_ptr()),
                    ) },)*
                }
            }
        }
    };
}

zlib! {
    init: c"deflateInit_", (*mut ZStream, c_int, *const c_char, c_int) -> c_int;
    init2: c"deflateInit2_", (*mut ZStream, c_int, c_int, c_int, c_int, c_int, *const c_char, c_int) -> c_int;
    deflate: c"deflate", (*mut ZStream, c_int) -> c_int;
    end: c"deflateEnd", (*mut ZStream) -> c_int;
    reset: c"deflateReset", (*mut ZStream) -> c_int;
    reset_keep: c"deflateResetKeep", (*mut ZStream) -> c_int;
    params: c"deflateParams", (*mut ZStream, c_int, c_int) -> c_int;
    tune: c"deflateTune", (*mut ZStream, c_int, c_int, c_int, c_int) -> c_int;
    copy: c"deflateCopy", (*mut ZStream, *mut ZStream) -> c_int;
    set_dictionary: c"deflateSetDictionary", (*mut ZStream, *const u8, c_uint) -> c_int;
    get_dictionary: c"deflateGetDictionary", (*mut ZStream, *mut u8, *mut c_uint) -> c_int;
    set_header: c"deflateSetHeader", (*mut ZStream, *mut c_void) -> c_int;
    bound: c"deflateBound", (*mut ZStream, c_ulong) -> c_ulong;
    pending: c"deflatePending", (*mut ZStream, *mut c_uint, *mut c_int) -> c_int;
    prime: c"deflatePrime", (*mut ZStream, c_int, c_int) -> c_int;
    version: c"zlibVersion", () -> *const c_char;
}

impl Zlib {
    /// Returns zlib, or `None` if there is none. Searches once.
    pub(crate) fn get() -> Option<&'static Zlib> {
        static ZLIB: OnceLock<Option<Zlib>> = OnceLock::new();
        let search = || {
            // SAFETY: `RTLD_NEXT` is a handle.
            let next = unsafe { Zlib::of(libc::RTLD_NEXT) };
            if next.init2.is_some() {
                return Some(next);
            }
            // SAFETY: the name is one of the system's own libraries, and stays loaded.
            let library = unsafe { libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            // SAFETY: the handle of a library that was loaded.
            (!library.is_null()).then(|| unsafe { Zlib::of(library) }).filter(|zlib| zlib.init2.is_some())
        };
        ZLIB.get_or_init(search).as_ref()
    }

    /// Makes `z` one of zlib's streams.
    ///
    /// # Safety
    /// The contract of `deflateInit2_`; the state of `z` is not ours.
    pub(crate) unsafe fn init(&self, z: *mut ZStream, settings: &Settings) -> c_int {
        let (Some(init2), Some(version)) = (self.init2, self.version) else { return code::STREAM_ERROR };
        let Settings { level, method, window_bits, mem_level, strategy } = *settings;
        let size = size_of::<ZStream>() as c_int;
        // SAFETY: the caller's promise; `zlibVersion` takes nothing.
        unsafe { init2(z, level, method, window_bits, mem_level, strategy, version(), size) }
    }
}

/// Upper bound for the size of zlib's `deflateInit_` in bytes. This function does nothing but call
/// `deflateInit2_`, so it is short.
const INIT_MAX: usize = 4096;

/// Returns whether `address` is in zlib's `deflateInit_`. Null, an unknown address, counts as
/// inside. Without zlib nothing does.
pub(crate) fn is_in_init(address: *const c_void) -> bool {
    let Some(init) = Zlib::get().and_then(|zlib| zlib.init) else { return false };
    let start = init as *const c_void;
    if address.is_null() {
        return true;
    }
    // Most callers are farther away than this, which spares them the `dladdr` below. `dladdr` takes
    // longer than compressing a short message.
    if address.addr().wrapping_sub(start.addr()) >= INIT_MAX {
        return false;
    }
    // SAFETY: a structure of pointers.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: `dladdr` accepts any address.
    unsafe { libc::dladdr(address, &mut found) != 0 && found.dli_saddr.cast_const() == start }
}
