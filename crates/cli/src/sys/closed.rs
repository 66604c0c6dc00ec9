//! Detects whether standard input and output were closed when the program started (`<&-`, `>&-`).
//!
//! On Unix, Rust's runtime opens `/dev/null` in the place of closed streams before `main`, and
//! afterwards that cannot be distinguished from a `/dev/null` that the caller passed. So a function
//! that the loader calls before the runtime starts looks at the descriptors. Windows shows the
//! handles as they were. On other systems no stream counts as closed.

use std::io;

/// The error of using a closed stream.
fn error() -> io::Error {
    io::Error::other("it is closed")
}

/// Fails if standard input was closed when the program started.
pub(crate) fn check_stdin() -> io::Result<()> {
    if stdin() { Err(error()) } else { Ok(()) }
}

/// Fails if standard output was closed when the program started.
pub(crate) fn check_stdout() -> io::Result<()> {
    if stdout() { Err(error()) } else { Ok(()) }
}

#[cfg(unix)]
use unix::{stdin, stdout};

#[cfg(unix)]
mod unix {
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whether descriptor 0, standard input, and descriptor 1, standard output, were closed.
    static CLOSED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

    pub(super) fn stdin() -> bool {
        CLOSED[0].load(Ordering::Relaxed)
    }

    pub(super) fn stdout() -> bool {
        CLOSED[1].load(Ordering::Relaxed)
    }

    unsafe extern "C" {
        fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
    }

    /// The command of `fcntl` that returns the flags of a descriptor; its number is the same on all
    /// Unix systems.
    const F_GETFD: c_int = 1;

    extern "C" fn look() {
        for (descriptor, closed) in (0..).zip(&CLOSED) {
            // SAFETY: F_GETFD takes no third argument and changes nothing. For a descriptor that is
            // not open, `fcntl` returns an error.
            closed.store(unsafe { fcntl(descriptor, F_GETFD) } == -1, Ordering::Relaxed);
        }
    }

    // SAFETY: the loader calls each function of this section once, before `main`. `look` uses
    // nothing of Rust's runtime.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static BEFORE_MAIN: extern "C" fn() = look;
}

#[cfg(windows)]
use windows::{stdin, stdout};

#[cfg(windows)]
mod windows {
    use std::io;
    use std::os::windows::io::{AsHandle, AsRawHandle};

    pub(super) fn stdin() -> bool {
        is_closed(&io::stdin())
    }

    pub(super) fn stdout() -> bool {
        is_closed(&io::stdout())
    }

    /// Whether a stream was closed when the program started: it has no handle, or one that was
    /// closed before. The standard library reports no error when lines are written to either.
    fn is_closed(stream: &(impl AsHandle + AsRawHandle)) -> bool {
        /// `INVALID_HANDLE_VALUE`. Duplicating it succeeds, since the number is also the handle of
        /// this process.
        const INVALID: isize = -1;
        let handle = stream.as_raw_handle();
        handle.is_null() || handle as isize == INVALID || stream.as_handle().try_clone_to_owned().is_err()
    }
}

#[cfg(not(any(unix, windows)))]
fn stdin() -> bool {
    false
}

#[cfg(not(any(unix, windows)))]
fn stdout() -> bool {
    false
}
