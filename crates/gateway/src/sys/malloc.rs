//! Memory that the allocator keeps after it was freed.

/// Returns memory that was freed to the system, where the allocator can: glibc's, which otherwise keeps most of what closed
/// connections leave, since other memory lies between. Returns whether it did.
///
/// It looks at all free memory of the process, some milliseconds for hundreds of megabytes, and other threads that allocate
/// wait meanwhile. Call it after many connections were closed, not after each.
pub fn release_memory() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: the function is glibc's, has this signature, and may be called at any time from any thread.
        return unsafe { malloc_trim(0) } != 0;
    }
    #[allow(unreachable_code, reason = "other systems")]
    false
}
