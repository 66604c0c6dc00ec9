//! What every exported function does with its arguments: pointers become slices after the checks that are possible, and a
//! panic becomes an error.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use crate::error::{Call, linerate_error};

/// Runs a function, whose panic is [`linerate_kind::LINERATE_INTERNAL`](crate::error::linerate_kind).
pub(crate) fn catch<T>(call: impl FnOnce() -> Call<T>) -> Call<T> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or(Err(linerate_error::internal(c"a fault of the library; please report it")))
}

/// As [`catch`], as exported functions return it.
pub(crate) fn run(call: impl FnOnce() -> Call) -> linerate_error {
    match catch(call) {
        Ok(()) => linerate_error::OK,
        Err(error) => error,
    }
}

/// Whether `len` elements may begin at `at`.
fn check<T>(at: *const T, len: usize) -> Call {
    if at.is_null() {
        return Err(linerate_error::bad_argument(c"a null pointer"));
    }
    if !at.is_aligned() {
        return Err(linerate_error::bad_argument(c"a pointer that is not aligned for its type"));
    }
    match len.checked_mul(size_of::<T>()).and_then(|bytes| at.addr().checked_add(bytes)) {
        Some(_) if len <= isize::MAX as usize / size_of::<T>().max(1) => Ok(()),
        _ => Err(linerate_error::bad_argument(c"a length beyond the address space")),
    }
}

/// # Safety
/// `at` is null or points to `len` elements, which nobody writes while the call lasts.
pub(crate) unsafe fn input<'a, T>(at: *const T, len: usize) -> Call<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    check(at, len)?;
    // SAFETY: the caller's promise, and `check`.
    Ok(unsafe { slice::from_raw_parts(at, len) })
}

/// # Safety
/// `at` is null or points to `len` elements, which nobody else uses while the call lasts.
pub(crate) unsafe fn output<'a, T>(at: *mut T, len: usize) -> Call<&'a mut [T]> {
    if len == 0 {
        return Ok(&mut []);
    }
    check(at, len)?;
    // SAFETY: the caller's promise, and `check`. Any bytes are valid for the integers that are written here.
    Ok(unsafe { slice::from_raw_parts_mut(at, len) })
}

/// Both, if they have no byte in common.
///
/// # Safety
/// As [`input`] and [`output`].
pub(crate) unsafe fn buffers<'a, T, U>(
    from: *const T,
    len: usize,
    to: *mut U,
    capacity: usize,
) -> Call<(&'a [T], &'a mut [U])> {
    // Not as slices yet: of memory in common there must not be two.
    if len > 0 && capacity > 0 {
        check(from, len)?;
        check(to, capacity)?;
        let (from_end, to_end) = (from.addr() + size_of::<T>() * len, to.addr() + size_of::<U>() * capacity);
        if from.addr() < to_end && to.addr() < from_end {
            return Err(linerate_error::bad_argument(c"input and output overlap"));
        }
    }
    // SAFETY: the caller's promises.
    unsafe { Ok((input(from, len)?, output(to, capacity)?)) }
}

/// Where a result is stored.
///
/// # Safety
/// `at` is null, or points to memory for a `T` that nobody else uses while the call lasts.
pub(crate) unsafe fn place<'a, T>(at: *mut T) -> Call<&'a mut MaybeUninit<T>> {
    check(at, 1)?;
    // SAFETY: the caller's promise, and `check`; the memory need not be initialised.
    Ok(unsafe { &mut *at.cast() })
}

/// A structure of the caller, which is copied.
///
/// # Safety
/// `at` is null, or points to an initialised `T` whose every bit pattern is valid.
pub(crate) unsafe fn value<T: Copy>(at: *const T) -> Call<T> {
    check(at, 1)?;
    // SAFETY: the caller's promise, and `check`.
    Ok(unsafe { at.read() })
}
