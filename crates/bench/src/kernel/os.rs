//! CPU time, pinning to a core, and the heap's size.

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
/// If the system has no such clock.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of this thread so far, user and system.
///
/// # Panics
/// If the system has no such clock.
#[cfg(unix)]
pub fn thread_time() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[cfg(unix)]
fn clock(id: libc::clockid_t) -> Duration {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec to write to; both clocks exist on every Unix.
    let failed = unsafe { libc::clock_gettime(id, &mut t) };
    assert_eq!(failed, 0, "the CPU clock cannot be read");
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

/// CPU time of this process so far, user and system, in steps of the scheduler's tick (15.6 ms by default).
///
/// # Panics
/// If the system has no such clock.
#[cfg(windows)]
pub fn cpu_time() -> Duration {
    // SAFETY: the pseudo-handle of this process is always valid.
    times(|[a, b, c, d]| unsafe { GetProcessTimes(GetCurrentProcess(), a, b, c, d) })
}

/// CPU time of this thread so far, user and system, in steps of the scheduler's tick (15.6 ms by default).
///
/// # Panics
/// If the system has no such clock.
#[cfg(windows)]
pub fn thread_time() -> Duration {
    // SAFETY: the pseudo-handle of this thread is always valid.
    times(|[a, b, c, d]| unsafe { GetThreadTimes(GetCurrentThread(), a, b, c, d) })
}

/// The sum of kernel and user time, the last two of the four times that `read` writes, in units of 100 ns.
#[cfg(windows)]
fn times(read: impl FnOnce([*mut FILETIME; 4]) -> i32) -> Duration {
    let mut times = [FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 }; 4];
    assert_ne!(read(times.each_mut().map(std::ptr::from_mut)), 0, "the CPU clock cannot be read");
    let ticks = |t: FILETIME| u64::from(t.dwHighDateTime) << 32 | u64::from(t.dwLowDateTime);
    Duration::from_nanos((ticks(times[2]) + ticks(times[3])) * 100)
}

/// Pins this thread to the core of that number, or to the last core it may use, and returns the
/// core's number; `None` where that is not possible.
#[cfg(target_os = "linux")]
pub fn pin(core: Option<usize>) -> Option<usize> {
    let size = size_of::<libc::cpu_set_t>();
    // SAFETY: a cpu_set_t is plain bits, for which zero is valid; both calls get its size; the
    // CPU_ macros are called with numbers below CPU_SETSIZE.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size, &mut allowed) != 0 {
            return None;
        }
        let usable = |&n: &usize| libc::CPU_ISSET(n, &allowed);
        let core =
            (0..libc::CPU_SETSIZE as usize).rev().find(|n| usable(n) && core.is_none_or(|c| c == *n))?;
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut one);
        (libc::sched_setaffinity(0, size, &one) == 0).then_some(core)
    }
}

/// Pinning is not possible on this system.
#[cfg(not(target_os = "linux"))]
pub fn pin(_core: Option<usize>) -> Option<usize> {
    None
}

/// The most bytes that were resident in any process that this one started and that has ended; `None`
/// where the system does not tell.
#[cfg(all(feature = "command", unix))]
pub(crate) fn children_peak() -> Option<u64> {
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    u64::try_from(children()?.ru_maxrss).ok().map(|peak| peak * unit)
}

/// CPU time of the processes that this one started and that have ended, user and system; `None` where the system does
/// not tell.
#[cfg(all(feature = "command", unix))]
pub fn children_time() -> Option<Duration> {
    let duration = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    children().map(|usage| duration(usage.ru_utime) + duration(usage.ru_stime))
}

#[cfg(all(feature = "command", unix))]
fn children() -> Option<libc::rusage> {
    // SAFETY: an rusage is plain numbers, for which zero is valid; the call gets one to write to.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) == 0).then_some(usage)
    }
}

/// The system does not tell.
#[cfg(all(feature = "command", not(unix)))]
pub(crate) fn children_peak() -> Option<u64> {
    None
}

/// The system does not tell.
#[cfg(all(feature = "command", not(unix)))]
pub fn children_time() -> Option<Duration> {
    None
}

/// Bytes that the C heap holds for this process, which Rust's system allocator shares; `None`
/// where the C library cannot tell, as glibc before 2.33: it is looked up, so that programs start there, too.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn heap_in_use() -> Option<usize> {
    type Mallinfo2 = unsafe extern "C" fn() -> libc::mallinfo2;
    // SAFETY: the name ends with a zero byte.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mallinfo2".as_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: glibc has it with this signature.
    let mallinfo2 = unsafe { std::mem::transmute::<*mut libc::c_void, Mallinfo2>(found) };
    // SAFETY: takes no arguments and returns plain numbers.
    let info = unsafe { mallinfo2() };
    Some(info.uordblks + info.hblkhd)
}

/// The C library cannot tell.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn heap_in_use() -> Option<usize> {
    None
}

/// Returns free memory of the C heap to the system, so that resident memory is comparable.
pub(crate) fn trim_heap() {
    // SAFETY: takes a plain number.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bytes of this process that are resident; `None` where the system does not tell.
pub fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// Runs `make` and tells how many bytes of heap its result holds, with what the allocator rounds
/// up to (pages, for large pieces).
pub(crate) fn footprint<T>(make: impl FnOnce() -> T) -> (T, Option<usize>) {
    let before = heap_in_use();
    let made = make();
    let after = heap_in_use();
    (made, before.zip(after).map(|(b, a)| a.saturating_sub(b)))
}
