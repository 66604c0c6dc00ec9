//! Foreign functions: the native methods, and the JNI functions that they call.
#![allow(unsafe_code)]

mod env;
mod exports;
