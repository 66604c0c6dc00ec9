//! Calls of the operating system: pinning to a core, figures of child processes, resident memory,
//! the limit of open files, and the page cache.

use std::time::Duration;

/// Pins this thread to the core with this number, or to the last core that it may use, and returns
/// the number. Returns `None` where that is not possible.
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

/// Returns `None`: pinning is only done on Linux.
#[cfg(not(target_os = "linux"))]
pub fn pin(_core: Option<usize>) -> Option<usize> {
    None
}

/// The largest peak of resident memory, in bytes, among the processes that this one started and
/// that have ended; `None` if the system does not report it.
#[cfg(unix)]
pub(crate) fn children_peak() -> Option<u64> {
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    u64::try_from(children()?.ru_maxrss).ok().map(|peak| peak * unit)
}

/// CPU time, user and system, of the processes that this one started and that have ended; `None` if
/// the system does not report it.
#[cfg(unix)]
pub(crate) fn children_time() -> Option<Duration> {
    let duration = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    children().map(|usage| duration(usage.ru_utime) + duration(usage.ru_stime))
}

#[cfg(unix)]
fn children() -> Option<libc::rusage> {
    // SAFETY: an rusage is plain numbers, for which zero is valid; the call gets one to write to.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) == 0).then_some(usage)
    }
}

/// Returns `None`: only Unix reports the memory of child processes.
#[cfg(not(unix))]
pub(crate) fn children_peak() -> Option<u64> {
    None
}

/// Returns `None`: only Unix reports the CPU time of child processes.
#[cfg(not(unix))]
pub(crate) fn children_time() -> Option<Duration> {
    None
}

/// Asks a child process that has not been waited for to end, with SIGTERM. Does nothing on systems
/// other than Unix.
pub(crate) fn terminate(child: &std::process::Child) {
    // SAFETY: takes plain numbers.
    #[cfg(unix)]
    unsafe {
        libc::kill(child.id() as libc::pid_t, libc::SIGTERM);
    }
    #[cfg(not(unix))]
    let _ = child;
}

/// Returns free memory of the C heap to the system, so that resident memory is comparable. Does
/// nothing where the C library is not glibc.
pub(crate) fn trim_heap() {
    // SAFETY: takes a plain number.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Resident memory of this process in bytes; `None` if the system does not report it.
pub(crate) fn resident() -> Option<usize> {
    told("/proc/self/status", "VmRSS:")
}

/// A number of bytes, from the line of a file below `/proc` that begins with `name` and has the
/// unit kB. `None` if there is no such file or line, as on other systems than Linux.
pub(crate) fn told(file: &str, name: &str) -> Option<usize> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok().map(|kib| kib << 10)
}

/// Raises this process's limit of open files to the highest that the system allows. If that fails,
/// and on systems other than Unix, the limit stays.
#[cfg(feature = "servers")]
pub(crate) fn unlimited_files() {
    #[cfg(unix)]
    {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: both calls get a limit of their own to read or write.
        unsafe {
            if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
                limit.rlim_cur = limit.rlim_max;
                libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
            }
        }
    }
}

/// Drops a file's pages from the page cache, except those that are not yet written to the drive. A
/// file system in memory keeps all pages. [`cached`] shows how many bytes stay.
///
/// # Errors
/// The error of the system. Outside Linux this is always an error.
#[cfg(target_os = "linux")]
pub(crate) fn forget(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: the file is open; the call takes plain numbers.
    let code = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    if code == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(code)) }
}

/// Returns an error: pages are only dropped on Linux.
#[cfg(not(target_os = "linux"))]
pub(crate) fn forget(_: &std::fs::File) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// The number of bytes of a file that are in the page cache, in whole pages.
///
/// # Errors
/// The error of the system. Outside Linux this is always an error.
#[cfg(target_os = "linux")]
pub(crate) fn cached(file: &std::fs::File) -> std::io::Result<u64> {
    const PAGE: usize = 4096;
    // `mincore` takes addresses, so the file is mapped.
    // SAFETY: the file is not changed while it is mapped, and its bytes are not read through the
    // map.
    let map = unsafe { memmap2::Mmap::map(file)? };
    // `mincore` writes one byte for each page. There are enough even if pages have the smallest
    // possible size.
    let mut pages = vec![0u8; map.len().div_ceil(PAGE)];
    // SAFETY: the map is that long, begins at a page, and has no more pages than `pages` has bytes.
    if unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), pages.as_mut_ptr()) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: takes a plain number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    Ok(pages.iter().filter(|page| **page & 1 == 1).count() as u64 * page)
}

/// Returns an error: the page cache is only looked at on Linux.
#[cfg(not(target_os = "linux"))]
pub(crate) fn cached(_: &std::fs::File) -> std::io::Result<u64> {
    Err(std::io::ErrorKind::Unsupported.into())
}
