//! Foreign functions: the native methods, and the JNI functions that they call.
#![allow(unsafe_code)]

mod buffers;
mod dictionaries;
mod env;
mod envelopes;
mod exports;
#[cfg(test)]
mod no_memory;
mod stats;
#[cfg(test)]
mod threads;
mod websocket;
