//! A library without std that compresses and decompresses. It has its own panic handler, so it only
//! builds if no dependency brings in that of std.

#![no_std]

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

use linerate_deflate::{FastScratch, Format, Level, Result, compress};
use linerate_inflate::{BufferDecoder, Options, Sizes};
use linerate_zstd::{FrameDecoder, Scratch};

/// Compresses a message into one gzip member.
///
/// # Errors
/// As [`compress`].
pub fn gzip(scratch: &mut FastScratch, message: &[u8], out: &mut [u8]) -> Result<usize> {
    compress(Format::Gzip, Level::Fast, scratch, message, out)
}

/// Decompresses a gzip member.
///
/// # Errors
/// As [`BufferDecoder::decode`].
pub fn gunzip(scratch: &mut linerate_inflate::Scratch, member: &[u8], out: &mut [u8]) -> Result<Sizes> {
    BufferDecoder::new(Options::new(linerate_inflate::Format::Gzip)).decode(scratch, None, member, out)
}

/// Decompresses zstd frames.
///
/// # Errors
/// As [`FrameDecoder::decode`].
pub fn unzstd(scratch: &mut Scratch, frames: &[u8], out: &mut [u8]) -> Result<usize> {
    FrameDecoder::default().decode(scratch, None, frames, out)
}

/// An allocator that never has memory, which is enough for linking.
struct Empty;

// SAFETY: a null pointer means that there is no memory, so no memory is ever freed.
unsafe impl GlobalAlloc for Empty {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static EMPTY: Empty = Empty;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
