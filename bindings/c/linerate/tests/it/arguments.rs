//! Null pointers: the error message names the argument, and null options are the defaults.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;

use linerate::archive::*;
use linerate::deflate::*;
use linerate::error::*;
use linerate::gateway::*;
use linerate::inflate::*;
use linerate::rice::*;
use linerate::scratch::*;
use linerate::session::*;
use linerate::store::*;
use linerate::zstd::*;

/// Returns the message of an error, and the whole line that `linerate_error_text` writes.
fn said(error: linerate_error) -> (String, String) {
    let mut line = [0; 300];
    // SAFETY: a message of the library, and memory of that length.
    let message = unsafe {
        linerate_error_text(error, line.as_mut_ptr(), line.len());
        CStr::from_ptr(error.message).to_string_lossy().into_owned()
    };
    // SAFETY: the library ends the line with a zero.
    (message, unsafe { CStr::from_ptr(line.as_ptr()) }.to_string_lossy().into_owned())
}

fn scratch() -> linerate_scratch {
    let mut scratch = MaybeUninit::uninit();
    // SAFETY: a place for a handle, which is there if there is no error.
    unsafe {
        assert_eq!(
            linerate_scratch_new(linerate_engine::LINERATE_ENGINE_ZSTD as u32, scratch.as_mut_ptr()).kind,
            0
        );
        scratch.assume_init()
    }
}

/// "abc" as a zstd frame with one raw block.
const FRAME: [u8; 12] = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x19, 0, 0, b'a', b'b', b'c'];

#[test]
fn null_pointer_error_names_the_argument_and_has_no_offset() {
    let (mut out, mut written) = ([0u8; 100], 0);
    let zstd = |from: *const u8, out: *mut u8, written: *mut usize| {
        let (scratch, dictionary) = (scratch(), linerate_zstd_dictionary { id: 0 });
        // SAFETY: null, or memory of these lengths.
        unsafe { linerate_zstd_decode(scratch, ptr::null(), dictionary, from, 12, out, 100, written) }
    };
    let calls = [
        (zstd(ptr::null(), out.as_mut_ptr(), &mut written), "from is a null pointer"),
        (zstd(FRAME.as_ptr(), ptr::null_mut(), &mut written), "out is a null pointer"),
        (zstd(FRAME.as_ptr(), out.as_mut_ptr(), ptr::null_mut()), "written is a null pointer"),
        (zstd(out.as_ptr(), out.as_mut_ptr(), &mut written), "from and out overlap"),
        // SAFETY: null pointers.
        (unsafe { linerate_deflater_init(ptr::null_mut(), 0, 1) }, "stream is a null pointer"),
        (
            // SAFETY: as above.
            unsafe { linerate_archive_open(ptr::null(), ptr::null(), ptr::null_mut()) },
            "path is a null pointer",
        ),
        (
            // SAFETY: as above.
            unsafe { linerate_session_new(ptr::null(), ptr::null_mut()) },
            "options is a null pointer; linerate_session_defaults fills those of a format",
        ),
        (
            // SAFETY: as above.
            unsafe { linerate_inflater_new(ptr::null(), ptr::null_mut()) },
            "options is a null pointer; linerate_inflate_defaults fills those of a format",
        ),
        (
            // SAFETY: as above.
            unsafe { linerate_gateway_new(ptr::null(), ptr::null_mut()) },
            "options is a null pointer; linerate_gateway_defaults fills those of a transport",
        ),
    ];
    for (error, expected) in calls {
        assert_eq!(error.kind, linerate_kind::LINERATE_BAD_ARGUMENT as i32);
        assert_eq!(said(error), (expected.to_owned(), expected.to_owned()));
    }
}

#[test]
fn null_options_are_the_defaults() {
    let (mut out, mut written) = ([0u8; 100], 0);
    let samples = [1i16, 2, 3, 5, 8, 13, 21, 34];
    let mut bytes = [0, 0];
    let (mut store, mut chunks) = (MaybeUninit::uninit(), [[0u8; 100]; 2]);
    // SAFETY: memory of these lengths, and places for results.
    unsafe {
        let none = linerate_zstd_dictionary { id: 0 };
        let error = linerate_zstd_decode(
            scratch(),
            ptr::null(),
            none,
            FRAME.as_ptr(),
            12,
            out.as_mut_ptr(),
            100,
            &mut written,
        );
        assert_eq!((error.kind, &out[..written]), (0, &b"abc"[..]));
        let options = linerate_rice2_options { segment: 0, row: 0, channels: 0 };
        assert_eq!(linerate_rice2_bound(&options, 0, 1000, &mut bytes[0]).kind, 0);
        assert_eq!(linerate_rice2_bound(ptr::null(), 0, 1000, &mut bytes[1]).kind, 0);
        assert_eq!(bytes[0], bytes[1]);
        let params = linerate_rice_defaults();
        for (params, chunk) in [&raw const params, ptr::null()].into_iter().zip(&mut chunks) {
            let out = chunk.as_mut_ptr();
            let error = linerate_rice_encode(params, samples.as_ptr(), 8, out, 100, 1, &mut written);
            assert_eq!(error.kind, 0);
        }
        assert!(chunks[0] == chunks[1]);
        assert_eq!(linerate_store_new(ptr::null(), store.as_mut_ptr()).kind, 0);
        assert_eq!(linerate_store_free(store.assume_init()).kind, 0);
    }
}
