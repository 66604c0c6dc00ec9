//! Checks that calls allocate nothing unless `linerate.h` says so. Its counting allocator replaces
//! that of the whole program.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::ptr;

use linerate::controller::*;
use linerate::deflate::*;
use linerate::error::*;
use linerate::gateway::*;
use linerate::inflate::*;
use linerate::rice::*;
use linerate::scratch::*;
use linerate::session::*;
use linerate::store::*;
use linerate::zstd::*;
use linerate_testkit::data;
use linerate_testkit::sys::counting::{Counting, allocations};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the value that a call stores.
fn made<T>(call: impl FnOnce(*mut T) -> linerate_error) -> T {
    let mut room = MaybeUninit::uninit();
    assert_eq!(call(room.as_mut_ptr()).kind, 0);
    // SAFETY: the call has succeeded, and stored it.
    unsafe { room.assume_init() }
}

/// Makes a call twice and counts the allocations of the second: the memory of a handle may grow in
/// the first.
fn allocated(mut call: impl FnMut() -> linerate_error) -> usize {
    assert_eq!(call().kind, 0);
    let before = allocations();
    let error = call();
    let count = allocations() - before;
    assert_eq!(error.kind, 0);
    count
}

#[test]
fn only_a_batch_call_allocates_and_that_once() {
    use linerate_deflate::{Format, Level, compress_to_vec};
    let rows = data::json_rows(1, 50);
    let zlib = compress_to_vec(Format::Zlib, Level::Default, &rows);
    let mut frame = vec![0; zstd_safe::compress_bound(rows.len())];
    let n = zstd_safe::compress(&mut frame[..], &rows, 3).unwrap();
    frame.truncate(n);
    let samples: Vec<i16> = (0..5000).map(|i| i % 100).collect();
    let mut back = vec![0i16; samples.len()];
    let params = linerate_rice_defaults();
    let mut out = vec![0; 100_000];
    let (from, len, to, capacity) = (rows.as_ptr(), rows.len(), out.as_mut_ptr(), out.len());
    let (mut written, mut progress) = (0, linerate_progress { read: 0, written: 0, status: 0 });
    let (n, p): (*mut usize, *mut linerate_progress) = (&raw mut written, &raw mut progress);
    let (inflate, zstd) = (linerate_inflate_defaults(1), linerate_zstd_defaults());
    let no_dictionary = linerate_zstd_dictionary { id: 0 };
    // SAFETY: pointers are to memory of this function, with its lengths; handles are live.
    let counts = unsafe {
        let scratch: linerate_scratch = made(|to| linerate_scratch_new(15, to));
        let stream: linerate_deflater = made(|to| linerate_deflater_init(to, 2, 6));
        let session: linerate_session = made(|to| linerate_session_new(&linerate_session_defaults(1), to));
        let controller: linerate_controller = made(|to| linerate_controller_new(3, 50, 0, to));
        let inflater: linerate_inflater = made(|to| linerate_inflater_new(&inflate, to));
        let decoder: linerate_zstd_decoder = made(|to| linerate_zstd_decoder_new(&zstd, no_dictionary, to));
        let gateway: linerate_gateway = made(|to| linerate_gateway_new(&linerate_gateway_defaults(3), to));
        let store: linerate_store = made(|to| linerate_store_new(&linerate_store_defaults(), to));
        let blocks: linerate_block_decoder = made(|to| linerate_block_decoder_new(store, to));
        let mut message = MaybeUninit::<linerate_message>::uninit();
        let mut contents = vec![0; 9 * len];
        let mut jobs: Vec<linerate_job> = contents
            .chunks_mut(len)
            .map(|content| linerate_job {
                dictionary: 0,
                block: frame.as_ptr(),
                len: frame.len(),
                out: content.as_mut_ptr(),
                capacity: content.len(),
                written: 0,
                error: linerate_error { kind: 0, os: 0, offset: 0, message: ptr::null() },
            })
            .collect();
        let (first, count) = (jobs.as_mut_ptr(), jobs.len());
        let mut chunk = vec![0; made(|to| linerate_rice_bound(&params, samples.len(), to))];
        let (chunk_at, chunk_capacity) = (chunk.as_mut_ptr(), chunk.len());
        [
            ("deflate", allocated(|| linerate_deflate(scratch, 1, 2, from, len, to, capacity, n))),
            (
                "deflater",
                allocated(|| {
                    let mut stream = stream;
                    linerate_deflater_encode(&mut stream, scratch, from, len, to, capacity, true, n)
                }),
            ),
            ("session", allocated(|| linerate_session_message(session, scratch, from, len, to, capacity, n))),
            ("session remember", allocated(|| linerate_session_remember(session, from, len))),
            ("session forget", allocated(|| linerate_session_forget(session))),
            ("controller", allocated(|| linerate_controller_level(controller, 0, 0, n.cast()))),
            (
                "inflate",
                allocated(|| {
                    let (from, len) = (zlib.as_ptr(), zlib.len());
                    linerate_inflate(scratch, &inflate, ptr::null(), 0, from, len, to, capacity, p)
                }),
            ),
            (
                "inflater",
                allocated(|| {
                    linerate_inflater_reset(inflater);
                    linerate_inflater_decode(inflater, scratch, zlib.as_ptr(), zlib.len(), to, capacity, p)
                }),
            ),
            (
                "zstd",
                allocated(|| {
                    let (from, len) = (frame.as_ptr(), frame.len());
                    linerate_zstd_decode(scratch, &zstd, no_dictionary, from, len, to, capacity, n)
                }),
            ),
            (
                "zstd decoder",
                allocated(|| {
                    linerate_zstd_decoder_reset(decoder);
                    linerate_zstd_decoder_decode(
                        decoder,
                        scratch,
                        frame.as_ptr(),
                        frame.len(),
                        to,
                        capacity,
                        p,
                    )
                }),
            ),
            (
                "gateway",
                allocated(|| {
                    let (from, len, message) = (zlib.as_ptr(), zlib.len(), message.as_mut_ptr());
                    linerate_gateway_message(gateway, scratch, from, len, to, capacity, message)
                }),
            ),
            (
                "block",
                allocated(|| {
                    linerate_block_decoder_decode(blocks, 0, frame.as_ptr(), frame.len(), to, capacity, n)
                }),
            ),
            (
                "rice",
                allocated(|| {
                    let (from, len) = (samples.as_ptr(), samples.len());
                    linerate_rice_encode(&params, from, len, chunk_at, chunk_capacity, 1, n)
                }),
            ),
            (
                "rice back",
                allocated(|| {
                    linerate_rice_decode(&params, chunk_at, *n, back.as_mut_ptr(), back.len(), 1, &mut 0)
                }),
            ),
            ("batch", allocated(|| linerate_block_decoder_batch(blocks, first, count, 0))),
        ]
    };
    assert_eq!(back, samples);
    for (call, count) in counts {
        assert_eq!(count, usize::from(call == "batch"), "{call}");
    }
}
