//! The exported functions: all whose names begin with `deflate` in the `zlib.h` of versions before
//! 1.3.2. Each finds out whether a stream is ours or zlib's. None unwinds.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};
use std::slice;

use crate::calls;
use crate::encoder::Progress;
use crate::settings::Settings;
use crate::state::{Owner, State};
use crate::z_stream::{ZStream, code};
use crate::zlib::{Zlib, is_in_init};

/// Calls one of zlib's functions. If there is no zlib, or it lacks the function, returns a stream
/// error.
macro_rules! zlib {
    ($function:ident($($argument:expr),*)) => {
        match Zlib::get().and_then(|zlib| zlib.$function) {
            // SAFETY: the caller keeps the contract of `zlib.h`, and the stream is zlib's own.
            Some(function) => unsafe { function($($argument),*) },
            None => code::STREAM_ERROR.into(),
        }
    };
}

/// Returns the owner of a stream: this library, zlib or nobody.
macro_rules! owner {
    ($stream:ident) => {
        // SAFETY: `zlib.h` requires that a stream is initialised before any other call, and used by
        // one thread at a time.
        unsafe { Owner::of($stream) }
    };
}

/// Turns one of our streams into one of zlib's with the same memory functions. Returns zlib's code,
/// or a stream error if there is no zlib.
///
/// # Safety
/// `stream` is one of ours that has not begun or may begin again, and there is no reference to it.
unsafe fn leave_to_zlib(stream: *mut ZStream, settings: &Settings) -> c_int {
    // SAFETY: the caller's promise.
    let z = unsafe { &mut *stream };
    let Some(zlib) = Zlib::get() else { return z.fail(code::STREAM_ERROR) };
    // SAFETY: the caller's promise.
    unsafe {
        State::release(z);
        zlib.init(stream, settings)
    }
}

/// # Safety
/// The contract of `deflateInit2_` in `zlib.h`.
unsafe fn init(stream: *mut ZStream, settings: Settings, version: *const c_char, size: c_int) -> c_int {
    // SAFETY: null, or a string.
    let is_known = !version.is_null() && unsafe { version.read() } as u8 == b'1';
    if !is_known || size != size_of::<ZStream>() as c_int {
        return code::VERSION_ERROR;
    }
    if settings.are_served() {
        // SAFETY: null, or a `z_stream` whose fields for memory and input are set.
        return match unsafe { stream.as_mut() } {
            // SAFETY: its memory functions keep the contract of `zlib.h`.
            Some(z) => unsafe { calls::init(z, settings) },
            None => code::STREAM_ERROR,
        };
    }
    match Zlib::get() {
        // SAFETY: the caller's promise.
        Some(zlib) => unsafe { zlib.init(stream, &settings) },
        None => code::STREAM_ERROR,
    }
}

/// Documented in `zlib.h`, like all functions below.
#[unsafe(no_mangle)]
unsafe extern "C" fn deflateInit_(
    stream: *mut ZStream,
    level: c_int,
    version: *const c_char,
    size: c_int,
) -> c_int {
    // SAFETY: the contract of `zlib.h`.
    unsafe { init(stream, Settings::of_level(level), version, size) }
}

/// Implements `deflateInit2_`. `caller` is its return address, or null if that is not known.
///
/// zlib's own `deflateInit_` calls this function, too. A program that got `deflateInit_` from zlib
/// by `dlsym` also got zlib's `deflate`, which cannot use one of our streams. Such a call therefore
/// goes to zlib.
unsafe extern "C" fn init2(
    stream: *mut ZStream,
    level: c_int,
    method: c_int,
    window_bits: c_int,
    mem_level: c_int,
    strategy: c_int,
    version: *const c_char,
    size: c_int,
    caller: *const c_void,
) -> c_int {
    let settings = Settings { level, method, window_bits, mem_level, strategy };
    if settings == Settings::of_level(level) && is_in_init(caller) {
        return zlib!(init2(stream, level, method, window_bits, mem_level, strategy, version, size));
    }
    // SAFETY: the contract of `zlib.h`.
    unsafe { init(stream, settings, version, size) }
}

/// Calls [`init2`] with the same arguments, the last two of which are on the stack, and the return
/// address, which is on the stack too.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn deflateInit2_(
    stream: *mut ZStream,
    level: c_int,
    method: c_int,
    window_bits: c_int,
    mem_level: c_int,
    strategy: c_int,
    version: *const c_char,
    size: c_int,
) -> c_int {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "mov rax, [rsp]",
        "mov r10, [rsp + 8]",
        "mov r11, [rsp + 16]",
        "push rax",
        "push r11",
        "push r10",
        ".cfi_adjust_cfa_offset 24",
        "call {init2}",
        "add rsp, 24",
        ".cfi_adjust_cfa_offset -24",
        "ret",
        ".cfi_endproc",
        init2 = sym init2,
    )
}

/// Calls [`init2`] without a return address: on other architectures zlib's `deflateInit_` may jump
/// here and so pass on the return address of its own caller.
#[cfg(not(target_arch = "x86_64"))]
#[unsafe(no_mangle)]
unsafe extern "C" fn deflateInit2_(
    stream: *mut ZStream,
    level: c_int,
    method: c_int,
    window_bits: c_int,
    mem_level: c_int,
    strategy: c_int,
    version: *const c_char,
    size: c_int,
) -> c_int {
    let caller = std::ptr::null();
    // SAFETY: the contract of `zlib.h`.
    unsafe { init2(stream, level, method, window_bits, mem_level, strategy, version, size, caller) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn deflate(stream: *mut ZStream, flush: c_int) -> c_int {
    match owner!(stream) {
        Owner::Nobody => code::STREAM_ERROR,
        // SAFETY: the contract of `zlib.h`: input and output are as the stream says.
        Owner::Ours(z, state) => unsafe { calls::deflate(z, state, flush) },
        Owner::Zlib => zlib!(deflate(stream, flush)),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn deflateEnd(stream: *mut ZStream) -> c_int {
    let is_open = match owner!(stream) {
        Owner::Nobody => return code::STREAM_ERROR,
        Owner::Ours(_, state) => state.encoder.progress() == Progress::Open,
        Owner::Zlib => return zlib!(end(stream)),
    };
    // SAFETY: a stream of ours, to which the caller's is the only reference.
    unsafe { State::release(&mut *stream) };
    // A stream that has begun and not ended loses input or output, which `zlib.h` reports as a data
    // error.
    if is_open { code::DATA_ERROR } else { code::OK }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn deflateReset(stream: *mut ZStream) -> c_int {
    let done = match owner!(stream) {
        Owner::Nobody => return code::STREAM_ERROR,
        Owner::Ours(z, state) => calls::reset(z, state),
        Owner::Zlib => return zlib!(reset(stream)),
    };
    // SAFETY: a stream of ours, which is not referred to any more.
    done.unwrap_or_else(|settings| unsafe { leave_to_zlib(stream, &settings) })
}

/// Not documented in `zlib.h`. zlib keeps the window, but a decoder of the new stream does not have
/// it, so this function resets the stream.
#[unsafe(no_mangle)]
unsafe extern "C" fn deflateResetKeep(stream: *mut ZStream) -> c_int {
    match owner!(stream) {
        Owner::Zlib => zlib!(reset_keep(stream)),
        // SAFETY: the contract of `zlib.h`.
        _ => unsafe { deflateReset(stream) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn deflateParams(stream: *mut ZStream, level: c_int, strategy: c_int) -> c_int {
    let done = match owner!(stream) {
        Owner::Nobody => return code::STREAM_ERROR,
        // SAFETY: the contract of `zlib.h`: input and output are as the stream says.
        Owner::Ours(z, state) => unsafe { calls::params(z, state, level, strategy) },
        Owner::Zlib => return zlib!(params(stream, level, strategy)),
    };
    // SAFETY: a stream of ours, which is not referred to any more.
    done.unwrap_or_else(|settings| unsafe { leave_to_zlib(stream, &settings) })
}

/// The arguments are parameters of zlib's search. Our streams ignore them.
#[unsafe(no_mangle)]
unsafe extern "C" fn deflateTune(
    stream: *mut ZStream,
    good_length: c_int,
    max_lazy: c_int,
    nice_length: c_int,
    max_chain: c_int,
) -> c_int {
    match owner!(stream) {
        Owner::Nobody => code::STREAM_ERROR,
        Owner::Ours(..) => code::OK,
        Owner::Zlib => zlib!(tune(stream, good_length, max_lazy, nice_length, max_chain)),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn deflateCopy(to: *mut ZStream, from: *mut ZStream) -> c_int {
    match owner!(from) {
        Owner::Nobody => code::STREAM_ERROR,
        Owner::Ours(..) if to.is_null() => code::STREAM_ERROR,
        // SAFETY: `to` is a `z_stream` that is not in use.
        Owner::Ours(z, state) => unsafe { calls::copy(to, z, state) },
        Owner::Zlib => zlib!(copy(to, from)),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn deflateSetDictionary(stream: *mut ZStream, text: *const u8, len: c_uint) -> c_int {
    match owner!(stream) {
        Owner::Ours(z, state) if !text.is_null() => {
            // SAFETY: the contract of `zlib.h`.
            calls::set_dictionary(z, state, unsafe { slice::from_raw_parts(text, len as usize) })
        }
        Owner::Nobody | Owner::Ours(..) => code::STREAM_ERROR,
        Owner::Zlib => zlib!(set_dictionary(stream, text, len)),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn deflateGetDictionary(stream: *mut ZStream, text: *mut u8, len: *mut c_uint) -> c_int {
    match owner!(stream) {
        Owner::Nobody => code::STREAM_ERROR,
        Owner::Ours(_, state) => {
            let window = state.encoder.window();
            // SAFETY: each is null, or as `zlib.h` has it: a number, and memory for a window.
            unsafe {
                if !text.is_null() {
                    text.copy_from(window.as_ptr(), window.len());
                }
                if !len.is_null() {
                    len.write(window.len() as c_uint);
                }
            }
            code::OK
        }
        Owner::Zlib => zlib!(get_dictionary(stream, text, len)),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn deflateSetHeader(stream: *mut ZStream, header: *mut c_void) -> c_int {
    let done = match owner!(stream) {
        Owner::Nobody => return code::STREAM_ERROR,
        Owner::Ours(_, state) => calls::set_header(state, header.is_null()),
        Owner::Zlib => return zlib!(set_header(stream, header)),
    };
    // SAFETY: a stream of ours, which is not referred to any more.
    match done.map_err(|settings| unsafe { leave_to_zlib(stream, &settings) }) {
        Ok(code) => code,
        Err(code::OK) => zlib!(set_header(stream, header)),
        Err(code) => code,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn deflateBound(stream: *mut ZStream, len: c_ulong) -> c_ulong {
    match owner!(stream) {
        Owner::Ours(_, state) => state.encoder.bound(len as usize) as c_ulong,
        // Without a stream the bound must hold for any stream of either encoder. zlib's output is
        // largest with fixed codes, which take up to 9 bits per byte.
        Owner::Nobody => len.saturating_add(len >> 3).saturating_add(len >> 6).saturating_add(1024),
        Owner::Zlib => match Zlib::get().and_then(|zlib| zlib.bound) {
            // SAFETY: the contract of `zlib.h`, and the stream is zlib's own.
            Some(bound) => unsafe { bound(stream, len) },
            None => c_ulong::MAX,
        },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn deflatePending(stream: *mut ZStream, bytes: *mut c_uint, bits: *mut c_int) -> c_int {
    match owner!(stream) {
        Owner::Nobody => code::STREAM_ERROR,
        Owner::Ours(_, state) => {
            // SAFETY: each is null or points to a number.
            unsafe {
                if !bytes.is_null() {
                    bytes.write(state.encoder.waiting().len() as c_uint);
                }
                if !bits.is_null() {
                    bits.write(state.encoder.pending_bits().into());
                }
            }
            code::OK
        }
        Owner::Zlib => zlib!(pending(stream, bytes, bits)),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn deflatePrime(stream: *mut ZStream, count: c_int, value: c_int) -> c_int {
    match owner!(stream) {
        Owner::Nobody => code::STREAM_ERROR,
        Owner::Ours(_, state) => calls::prime(state, count, value),
        Owner::Zlib => zlib!(prime(stream, count, value)),
    }
}
