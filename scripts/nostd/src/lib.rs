//! A library without std and without an allocator that compresses. It has a panic handler of its
//! own, so it can be built only if nothing it depends on brings std's.

#![no_std]

use core::panic::PanicInfo;

use linerate_deflate::{FastScratch, Format, Level, Result, compress};

/// Compresses a message into one gzip member.
///
/// # Errors
/// As [`compress`].
pub fn gzip(scratch: &mut FastScratch, message: &[u8], out: &mut [u8]) -> Result<usize> {
    compress(Format::Gzip, Level::Fast, scratch, message, out)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
