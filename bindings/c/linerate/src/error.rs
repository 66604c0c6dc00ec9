//! `linerate_error`, returned by value. Its message is a C string that lives as long as the
//! library.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::num::NonZeroI32;
use std::sync::Mutex;

use linerate_core::{Error, Kind, lock};

/// Kinds of errors.
#[repr(i32)]
pub enum linerate_kind {
    /// No error.
    LINERATE_OK = 0,
    /// The input ends early.
    LINERATE_TRUNCATED = 1,
    /// The input violates its format or its checksum.
    LINERATE_CORRUPT = 2,
    /// The input is valid but uses an unsupported feature.
    LINERATE_UNSUPPORTED = 3,
    /// The output buffer is too small. Nothing has changed except the content of the buffer, unless
    /// the function says otherwise, as linerate_gateway_message and linerate_session_message do.
    LINERATE_OUTPUT_TOO_SMALL = 4,
    /// The request is invalid, for example because of a null pointer, a number that stands for no
    /// choice, a handle that is freed or in use, or data after the end of a stream.
    LINERATE_BAD_ARGUMENT = 5,
    /// The call would exceed a limit that the caller or the library sets (memory, output size), or
    /// an allocation has failed.
    LINERATE_LIMIT = 6,
    /// A file or a device cannot be read. The error number of the operating system may give the
    /// reason.
    LINERATE_READ = 7,
    /// An output cannot be created or written, or the caller cancelled packing. The error number of
    /// the operating system may give the reason.
    LINERATE_WRITE = 8,
    /// A bug in this library. Handles that were passed to the call, and that only one thread at a
    /// time may use, can only be freed afterwards.
    LINERATE_INTERNAL = 9,
}

/// The result of a function that can fail.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_error {
    /// The kind, a linerate_kind. LINERATE_OK means success.
    pub kind: i32,
    /// The operating system's error number (errno, GetLastError), or 0.
    pub os: i32,
    /// Offset of the error in bytes, in the input, stream or file that the function reads, or 0 if
    /// the error has no place there.
    pub offset: u64,
    /// The message, in English and without a full stop. It is never null, and valid while the
    /// library is loaded.
    pub message: *const c_char,
}

/// Result of the internal functions of this crate.
pub(crate) type Call<T = ()> = Result<T, linerate_error>;

const NAMES: [&CStr; 10] = [
    c"no error",
    c"truncated",
    c"corrupt",
    c"unsupported",
    c"output too small",
    c"bad argument",
    c"limit exceeded",
    c"cannot read",
    c"cannot write",
    c"internal",
];

impl linerate_error {
    pub(crate) const OK: linerate_error = linerate_error::plain(linerate_kind::LINERATE_OK, NAMES[0]);

    const fn plain(kind: linerate_kind, message: &'static CStr) -> linerate_error {
        linerate_error { kind: kind as i32, os: 0, offset: 0, message: message.as_ptr() }
    }

    pub(crate) const fn bad_argument(message: &'static CStr) -> linerate_error {
        linerate_error::plain(linerate_kind::LINERATE_BAD_ARGUMENT, message)
    }

    pub(crate) const fn too_small(message: &'static CStr) -> linerate_error {
        linerate_error::plain(linerate_kind::LINERATE_OUTPUT_TOO_SMALL, message)
    }

    pub(crate) const fn internal(message: &'static CStr) -> linerate_error {
        linerate_error::plain(linerate_kind::LINERATE_INTERNAL, message)
    }
}

impl From<Error> for linerate_error {
    fn from(error: Error) -> linerate_error {
        let kind = match error.kind {
            Kind::Truncated => linerate_kind::LINERATE_TRUNCATED,
            Kind::Corrupt => linerate_kind::LINERATE_CORRUPT,
            Kind::Unsupported => linerate_kind::LINERATE_UNSUPPORTED,
            Kind::OutputTooSmall => linerate_kind::LINERATE_OUTPUT_TOO_SMALL,
            Kind::BadArgument => linerate_kind::LINERATE_BAD_ARGUMENT,
            Kind::Limit => linerate_kind::LINERATE_LIMIT,
            Kind::Read => linerate_kind::LINERATE_READ,
            Kind::Write => linerate_kind::LINERATE_WRITE,
            _ => linerate_kind::LINERATE_INTERNAL,
        } as i32;
        linerate_error {
            kind,
            os: error.os.map_or(0, NonZeroI32::get),
            offset: error.offset,
            message: c_string(error.message).unwrap_or(NAMES[kind as usize]).as_ptr(),
        }
    }
}

/// Copies of the engines' messages with the terminating zero that the originals lack. Each message
/// is copied once, into static memory, so that no error allocates.
struct Messages {
    /// Address and length of each copied message, and the position of the copy in [`COPIES`].
    seen: [(usize, usize, usize); 1024],
    count: usize,
    /// Bytes of [`COPIES`] in use.
    len: usize,
}

static MESSAGES: Mutex<Messages> = Mutex::new(Messages { seen: [(0, 0, 0); 1024], count: 0, len: 0 });

const COPIES_LEN: usize = 64 << 10;

/// Memory of the copies of messages. It is outside the lock, since callers read one copy while
/// another is added.
struct Copies(UnsafeCell<[u8; COPIES_LEN]>);

// SAFETY: a byte is written under the lock of `MESSAGES`, before anybody has a pointer to it, and
// never changes afterwards.
unsafe impl Sync for Copies {}

static COPIES: Copies = Copies(UnsafeCell::new([0; COPIES_LEN]));

/// Returns the message as a C string, or `None` if there is no room for a copy. The caller then
/// uses the name of the kind.
fn c_string(message: &'static str) -> Option<&'static CStr> {
    let mut messages = lock(&MESSAGES);
    let key = (message.as_ptr().addr(), message.len());
    let known = messages.seen[..messages.count].iter().find(|(at, len, _)| (*at, *len) == key);
    let at = match known {
        Some((_, _, at)) => *at,
        None => messages.add(message)?,
    };
    // SAFETY: `add` has put a copy there. It lies in a static, ends with a zero, and never changes.
    Some(unsafe { CStr::from_ptr(COPIES.0.get().cast::<c_char>().add(at)) })
}

impl Messages {
    fn add(&mut self, message: &'static str) -> Option<usize> {
        let (at, end) = (self.len, self.len + message.len());
        if self.count == self.seen.len() || end >= COPIES_LEN || message.contains('\0') {
            return None;
        }
        // SAFETY: `at..end` is in bounds, and nobody has a pointer to bytes from `len` on. The zero
        // at `end` is there already.
        unsafe {
            let copy = COPIES.0.get().cast::<u8>().add(at);
            std::ptr::copy_nonoverlapping(message.as_ptr(), copy, message.len());
        }
        self.seen[self.count] = (message.as_ptr().addr(), message.len(), at);
        (self.count, self.len) = (self.count + 1, end + 1);
        Some(at)
    }
}

/// Writes text into a buffer of the caller, cut so that a terminating zero fits, and counts the
/// whole length.
struct Text<'o> {
    out: &'o mut [u8],
    len: usize,
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = self.out.len().saturating_sub(1);
        let (from, to) = (self.len.min(room), (self.len + text.len()).min(room));
        self.out[from..to].copy_from_slice(&text.as_bytes()[..to - from]);
        self.len += text.len();
        Ok(())
    }
}

/// Returns the name of a linerate_kind as the linerate program prints it, such as "truncated", or
/// "unknown" for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_kind_name(kind: i32) -> *const c_char {
    let name = usize::try_from(kind).ok().and_then(|kind| NAMES.get(kind));
    name.map_or(c"unknown", |name| name).as_ptr()
}

/// Writes the message, the reason that the operating system gives and the offset as one line with a
/// terminating zero, cut to capacity bytes. The line has no reason if os is 0, and an offset of 0
/// only if the error is LINERATE_TRUNCATED, LINERATE_CORRUPT or LINERATE_UNSUPPORTED. Returns the
/// length of the whole line without the zero, even if it was cut. If capacity is 0, out may be
/// null. The message of the error must come from this library, be another C string, or be null.
/// Allocates memory while it runs if os is not 0 or the message is not UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_error_text(
    error: linerate_error,
    out: *mut c_char,
    capacity: usize,
) -> usize {
    const TRUNCATED: i32 = linerate_kind::LINERATE_TRUNCATED as i32;
    const CORRUPT: i32 = linerate_kind::LINERATE_CORRUPT as i32;
    const UNSUPPORTED: i32 = linerate_kind::LINERATE_UNSUPPORTED as i32;

    let text = crate::border::catch(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { crate::border::output!(out: out.cast(), capacity) }?;
        let message = match error.message.is_null() {
            true => c"no message",
            // SAFETY: the caller's promise.
            false => unsafe { CStr::from_ptr(error.message) },
        };
        let mut text = Text { out, len: 0 };
        let _ = text.write_str(&message.to_string_lossy());
        if error.os != 0 {
            let reason = std::io::Error::from_raw_os_error(error.os);
            let _ = write!(text, ": {}", linerate_core::system_reason(&reason));
        }
        // An error of an argument, a limit or a whole file has no offset.
        let is_of_input = matches!(error.kind, TRUNCATED | CORRUPT | UNSUPPORTED);
        if is_of_input || error.offset > 0 {
            let _ = write!(text, " (at byte {})", error.offset);
        }
        if capacity > 0 {
            text.out[text.len.min(capacity - 1)] = 0;
        }
        Ok(text.len)
    });
    text.unwrap_or(0)
}

/// Returns the version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn linerate_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On Windows the number is that of a sharing violation.
    #[test]
    fn text_of_a_system_error_has_the_reason_without_a_full_stop_and_with_the_remedy() {
        let error = linerate_error { os: 32, ..linerate_error::bad_argument(c"cannot open the archive") };
        let mut out = [0; 300];
        // SAFETY: the buffer has the length that is passed.
        let len = unsafe { linerate_error_text(error, out.as_mut_ptr(), out.len()) };
        let text: Vec<u8> = out[..len].iter().map(|byte| *byte as u8).collect();
        let text = String::from_utf8(text).expect("UTF-8");
        let reason = linerate_core::system_reason(&std::io::Error::from_raw_os_error(32));
        assert_eq!(text, format!("cannot open the archive: {reason}"));
        assert!(cfg!(not(windows)) || text.ends_with("; close the program that has it open, and try again"));
    }
}
