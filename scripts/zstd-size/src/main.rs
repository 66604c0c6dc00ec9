//! `zstd-size FRAME BYTES ROUNDS`: decodes a file with BYTES bytes of content ROUNDS times and prints
//! the median speed in MB/s of CPU time. With 0 rounds it writes the content to standard output.
//!
//! Without the feature `std` it is only linked against C's library, so that its size is that of the
//! decoder and the code that the decoder uses.

#![cfg_attr(not(feature = "std"), no_std)]
#![no_main]

extern crate alloc;

mod decoder;
#[cfg(not(feature = "std"))]
mod freestanding;

use alloc::vec;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int};

use decoder::Decoder;

/// CPU time of this process so far, in seconds.
fn cpu_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local variable.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn read(path: &CStr) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 1 << 16];
    let mut len = 0;
    // SAFETY: the path ends with 0; what is read is within the vector.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY);
        loop {
            match libc::read(file, bytes[len..].as_mut_ptr().cast(), bytes.len() - len) {
                0 => break,
                count @ 1.. => len += count as usize,
                _ => return None,
            }
            if len == bytes.len() {
                bytes.resize(2 * len, 0);
            }
        }
        libc::close(file);
    }
    bytes.truncate(len);
    Some(bytes)
}

fn write(mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: the pointer is valid for the length of the slice.
        let count = unsafe { libc::write(1, bytes.as_ptr().cast(), bytes.len()) };
        if count <= 0 {
            return false;
        }
        bytes = &bytes[count as usize..];
    }
    true
}

/// The decimal number in an argument.
fn number(text: &CStr) -> usize {
    text.to_bytes().iter().fold(0, |number, digit| 10 * number + usize::from(digit - b'0'))
}

fn run(frame: &CStr, len: usize, rounds: usize) -> Option<()> {
    let frame = read(frame)?;
    let mut out = vec![0; len];
    let mut decoder = Decoder::new();
    if rounds == 0 {
        return (decoder.decode(&frame, &mut out)? == len && write(&out)).then_some(());
    }
    let mut times = vec![0.0; rounds];
    for time in &mut times {
        let before = cpu_time();
        if decoder.decode(&frame, &mut out)? != len {
            return None;
        }
        *time = cpu_time() - before;
    }
    times.sort_unstable_by(f64::total_cmp);
    let speed = len as f64 / times[rounds / 2] / 1e6;
    // SAFETY: the format ends with 0 and takes one number.
    unsafe { libc::printf(c"%.0f\n".as_ptr(), speed) };
    Some(())
}

/// C's entry point. The status is 2 for a wrong number of arguments, and 1 if the file cannot be
/// read or decoded, or the content cannot be written.
///
/// # Safety
/// `arguments` has as many strings as `count` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main(count: c_int, arguments: *const *const c_char) -> c_int {
    if count != 4 {
        return 2;
    }
    // SAFETY: four arguments, each of which ends with 0.
    let [frame, len, rounds] = [1, 2, 3].map(|i| unsafe { CStr::from_ptr(*arguments.add(i)) });
    match run(frame, number(len), number(rounds)) {
        Some(()) => {
            // SAFETY: null means all streams, so that what `printf` holds is written.
            unsafe { libc::fflush(core::ptr::null_mut()) };
            0
        }
        None => 1,
    }
}
