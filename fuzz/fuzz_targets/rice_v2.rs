//! `rice_v2` for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| linerate_fuzz::rice_v2(data));
