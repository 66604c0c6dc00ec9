//! `zstd_stream` for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| linerate_fuzz::zstd_stream(data));
