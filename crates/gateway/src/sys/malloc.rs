//! Returns memory that was freed, but that the allocator keeps, to the system.

/// Returns freed memory to the system and tells whether any was returned. It asks glibc's
/// allocator, which otherwise keeps most of the memory of closed connections, because memory still
/// in use lies between the freed pieces. On systems without glibc nothing happens.
///
/// It walks all free memory of the process, which takes a few milliseconds for hundreds of
/// megabytes, and other threads that allocate wait meanwhile. Call it after many connections were
/// closed, not after each one.
pub fn release_memory() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: the function is glibc's, has this signature, and may be called at any time from
        // any thread.
        return unsafe { malloc_trim(0) } != 0;
    }
    #[allow(unreachable_code, reason = "other systems")]
    false
}
