//! Reads the CPU time of the process and of the thread, and the size of the C heap.

use std::time::Duration;

#[cfg(windows)]
use windows_sys::Win32::Foundation::FILETIME;
#[cfg(windows)]
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetThreadTimes,
};

/// CPU time of this process so far, user and system.
///
/// # Panics
/// Panics if the system has no such clock.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of this thread so far, user and system.
///
/// # Panics
/// Panics if the system has no such clock.
#[cfg(unix)]
pub fn thread_time() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[cfg(unix)]
fn clock(id: libc::clockid_t) -> Duration {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec to write to. If the clock does not exist, the call fails.
    let failed = unsafe { libc::clock_gettime(id, &mut t) };
    assert_eq!(failed, 0, "the CPU clock cannot be read");
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

/// CPU time of this process so far, user and system, in steps of the scheduler's tick (15.6 ms by
/// default).
///
/// # Panics
/// Panics if the system has no such clock.
#[cfg(windows)]
pub fn cpu_time() -> Duration {
    // SAFETY: the pseudo-handle of this process is always valid.
    times(|[a, b, c, d]| unsafe { GetProcessTimes(GetCurrentProcess(), a, b, c, d) })
}

/// CPU time of this thread so far, user and system, in steps of the scheduler's tick (15.6 ms by
/// default).
///
/// # Panics
/// Panics if the system has no such clock.
#[cfg(windows)]
pub fn thread_time() -> Duration {
    // SAFETY: the pseudo-handle of this thread is always valid.
    times(|[a, b, c, d]| unsafe { GetThreadTimes(GetCurrentThread(), a, b, c, d) })
}

/// Calls `read`, which writes four times in units of 100 ns, and returns the sum of the last two:
/// kernel and user time. Panics if `read` returns 0, which means an error.
#[cfg(windows)]
fn times(read: impl FnOnce([*mut FILETIME; 4]) -> i32) -> Duration {
    let mut times = [FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 }; 4];
    assert_ne!(read(times.each_mut().map(std::ptr::from_mut)), 0, "the CPU clock cannot be read");
    let ticks = |t: FILETIME| u64::from(t.dwHighDateTime) << 32 | u64::from(t.dwLowDateTime);
    Duration::from_nanos((ticks(times[2]) + ticks(times[3])) * 100)
}

/// Returns the bytes allocated on the C heap of this process, which Rust's system allocator uses
/// too. `None` if the C library has no `mallinfo2`, as glibc before 2.33. `mallinfo2` is looked up
/// at run time, so that programs also start with an older glibc.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn heap_in_use() -> Option<usize> {
    type Mallinfo2 = unsafe extern "C" fn() -> libc::mallinfo2;
    // SAFETY: the name ends with a zero byte.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mallinfo2".as_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: `found` is glibc's `mallinfo2`, which has this signature.
    let mallinfo2 = unsafe { std::mem::transmute::<*mut libc::c_void, Mallinfo2>(found) };
    // SAFETY: takes no arguments and returns plain numbers.
    let info = unsafe { mallinfo2() };
    Some(info.uordblks + info.hblkhd)
}

/// Returns `None`: only glibc has `mallinfo2`, which reports the bytes allocated on the C heap.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn heap_in_use() -> Option<usize> {
    None
}

/// Calls `make`, and returns its result with the bytes by which the process's heap grew, including
/// rounding by the allocator (to pages, for large allocations). Allocations of other threads count
/// too. The bytes are 0 if the heap shrank, and `None` where its size is unknown.
pub fn footprint<T>(make: impl FnOnce() -> T) -> (T, Option<usize>) {
    let before = heap_in_use();
    let made = make();
    let after = heap_in_use();
    (made, before.zip(after).map(|(b, a)| a.saturating_sub(b)))
}
