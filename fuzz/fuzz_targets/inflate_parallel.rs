//! `inflate_parallel` for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| linerate_fuzz::inflate_parallel(data));
