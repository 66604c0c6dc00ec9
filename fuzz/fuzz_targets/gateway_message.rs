//! `gateway_message` for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| linerate_fuzz::gateway_message(data));
