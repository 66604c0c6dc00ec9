//! Checks for exported functions. They turn the caller's pointers into slices, after every check
//! that is possible, and panics into errors.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::slice;

use crate::error::{Call, linerate_error};

/// Runs a function and turns a panic into [`LINERATE_INTERNAL`](crate::error::linerate_kind).
pub(crate) fn catch<T>(call: impl FnOnce() -> Call<T>) -> Call<T> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or(Err(linerate_error::internal(c"a fault of the library; please report it")))
}

/// Like [`catch`], with the return type of exported functions.
pub(crate) fn run(call: impl FnOnce() -> Call) -> linerate_error {
    match catch(call) {
        Ok(()) => linerate_error::OK,
        Err(error) => error,
    }
}

/// Error messages about a pointer argument, one for each check that it can fail.
#[derive(Clone, Copy)]
pub(crate) struct Name {
    pub(crate) null: &'static CStr,
    pub(crate) unaligned: &'static CStr,
    pub(crate) long: &'static CStr,
}

/// Concatenates string literals to a C string.
macro_rules! message {
    ($($part:expr),*) => {
        const {
            match std::ffi::CStr::from_bytes_with_nul(concat!($($part,)* "\0").as_bytes()) {
                Ok(text) => text,
                Err(_) => c"",
            }
        }
    };
}
pub(crate) use message;

/// Makes the [`Name`] of an argument, whose messages call the argument as the header does.
macro_rules! name {
    ($name:ident) => {
        $crate::border::Name {
            null: $crate::border::message!(stringify!($name), " is a null pointer"),
            unaligned: $crate::border::message!(stringify!($name), " is not aligned for its type"),
            long: $crate::border::message!(
                "the length of ",
                stringify!($name),
                " is beyond the address space"
            ),
        }
    };
}
pub(crate) use name;

/// Calls [`checked_input`] for an argument, or for an expression reported under an argument's name.
macro_rules! input {
    ($name:ident, $len:expr) => {
        $crate::border::input!($name: $name, $len)
    };
    ($name:ident: $at:expr, $len:expr) => {
        $crate::border::checked_input($crate::border::name!($name), $at, $len)
    };
}
pub(crate) use input;

/// Calls [`checked_output`], as [`input!`] does.
macro_rules! output {
    ($name:ident, $len:expr) => {
        $crate::border::output!($name: $name, $len)
    };
    ($name:ident: $at:expr, $len:expr) => {
        $crate::border::checked_output($crate::border::name!($name), $at, $len)
    };
}
pub(crate) use output;

/// Calls [`checked_buffers`], as [`input!`] does.
macro_rules! buffers {
    ($from:ident, $len:expr, $to:ident, $capacity:expr) => {
        $crate::border::buffers!($from: $from, $len, $to: $to, $capacity)
    };
    ($from:ident: $at:expr, $len:expr, $to:ident: $out:expr, $capacity:expr) => {
        $crate::border::checked_buffers(
            ($crate::border::name!($from), $crate::border::name!($to)),
            $crate::border::message!(stringify!($from), " and ", stringify!($to), " overlap"),
            ($at, $len),
            ($out, $capacity),
        )
    };
}
pub(crate) use buffers;

/// Calls [`checked_place`] for an argument.
macro_rules! place {
    ($name:ident) => {
        $crate::border::checked_place($crate::border::name!($name), $name)
    };
}
pub(crate) use place;

/// Calls [`checked_value`] for an argument. The error for a null pointer may name a remedy.
macro_rules! value {
    ($name:ident) => {
        $crate::border::checked_value($crate::border::name!($name), $name)
    };
    ($name:ident, $remedy:literal) => {{
        let null = $crate::border::message!(stringify!($name), " is a null pointer; ", $remedy);
        $crate::border::checked_value($crate::border::Name { null, ..$crate::border::name!($name) }, $name)
    }};
}
pub(crate) use value;

/// Like [`value!`], but a null pointer gives the default.
macro_rules! value_or {
    ($name:ident, $default:expr) => {
        if $name.is_null() { Ok($default) } else { $crate::border::value!($name) }
    };
}
pub(crate) use value_or;

/// Checks a pointer to `len` elements: it is not null, it is aligned, and the elements end within
/// the address space.
fn check<T>(name: Name, at: *const T, len: usize) -> Call {
    if at.is_null() {
        return Err(linerate_error::bad_argument(name.null));
    }
    if !at.is_aligned() {
        return Err(linerate_error::bad_argument(name.unaligned));
    }
    match len.checked_mul(size_of::<T>()).and_then(|bytes| at.addr().checked_add(bytes)) {
        Some(_) if len <= isize::MAX as usize / size_of::<T>().max(1) => Ok(()),
        _ => Err(linerate_error::bad_argument(name.long)),
    }
}

/// Returns the elements of an input argument, after checking its pointer and length. If `len` is 0,
/// the pointer may be anything.
///
/// # Safety
/// `at` is null or points to `len` elements, which nobody writes while the call lasts.
pub(crate) unsafe fn checked_input<'a, T>(name: Name, at: *const T, len: usize) -> Call<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    check(name, at, len)?;
    // SAFETY: the caller's promise, and `check`.
    Ok(unsafe { slice::from_raw_parts(at, len) })
}

/// Returns the elements of an output argument, after checking its pointer and length. If `len` is
/// 0, the pointer may be anything.
///
/// # Safety
/// `at` is null or points to `len` elements, which nobody else uses while the call lasts.
pub(crate) unsafe fn checked_output<'a, T>(name: Name, at: *mut T, len: usize) -> Call<&'a mut [T]> {
    if len == 0 {
        return Ok(&mut []);
    }
    check(name, at, len)?;
    // SAFETY: the caller's promise, and `check`. The elements are integers, or structures of
    // integers and pointers, for which any bytes are valid.
    Ok(unsafe { slice::from_raw_parts_mut(at, len) })
}

/// Returns the elements of an input argument and of an output argument, or the error `overlap` if
/// the two share memory.
///
/// # Safety
/// The requirements of [`checked_input`] and [`checked_output`].
pub(crate) unsafe fn checked_buffers<'a, T, U>(
    (from_name, to_name): (Name, Name),
    overlap: &'static CStr,
    (from, len): (*const T, usize),
    (to, capacity): (*mut U, usize),
) -> Call<(&'a [T], &'a mut [U])> {
    // Compares addresses before making slices, because Rust does not allow a mutable slice that
    // overlaps another slice.
    if len > 0 && capacity > 0 {
        check(from_name, from, len)?;
        check(to_name, to, capacity)?;
        let (from_end, to_end) = (from.addr() + size_of::<T>() * len, to.addr() + size_of::<U>() * capacity);
        if from.addr() < to_end && to.addr() < from_end {
            return Err(linerate_error::bad_argument(overlap));
        }
    }
    // SAFETY: the caller's promises.
    unsafe { Ok((checked_input(from_name, from, len)?, checked_output(to_name, to, capacity)?)) }
}

/// Returns the place where the function stores a result, after checking that it is neither null nor
/// unaligned.
///
/// # Safety
/// `at` is null, or points to memory for a `T` that nobody else uses while the call lasts.
pub(crate) unsafe fn checked_place<'a, T>(name: Name, at: *mut T) -> Call<&'a mut MaybeUninit<T>> {
    check(name, at, 1)?;
    // SAFETY: the caller's promise, and `check`; the memory need not be initialised.
    Ok(unsafe { &mut *at.cast() })
}

/// Copies a structure of the caller, after checking that its pointer is neither null nor unaligned.
///
/// # Safety
/// `at` is null, or points to an initialised `T` whose every bit pattern is valid.
pub(crate) unsafe fn checked_value<T: Copy>(name: Name, at: *const T) -> Call<T> {
    check(name, at, 1)?;
    // SAFETY: the caller's promise, and `check`.
    Ok(unsafe { at.read() })
}

/// Converts a C string to a path of the file system. On Unix it may have any bytes. Elsewhere it
/// must be UTF-8, and other bytes are an error.
///
/// # Safety
/// `path` is null or points to a C string.
pub(crate) unsafe fn path_of(name: Name, path: *const c_char) -> Call<PathBuf> {
    if path.is_null() {
        return Err(linerate_error::bad_argument(name.null));
    }
    // SAFETY: the caller's promise.
    let path = unsafe { CStr::from_ptr(path) };
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(std::ffi::OsStr::from_bytes(path.to_bytes()).into())
    }
    #[cfg(not(unix))]
    {
        let path = path.to_str().map_err(|_| linerate_error::bad_argument(c"a path that is not UTF-8"))?;
        Ok(path.into())
    }
}
