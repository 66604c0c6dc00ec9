//! The native part of the npm package `linerate`, a Node-API module.
//!
//! `bindings/node/linerate` checks arguments, has the documented classes and makes typed errors of those thrown here. Input
//! is never memory that another thread may write: that of shared buffers is copied in JavaScript, that of tasks here.
//! Panics become errors; the object they left in an unknown state refuses further calls.
//!
//! | module | |
//! |---|---|
//! | `gateway` | the class behind `GatewayDecompressor`; envelopes |
//! | `websocket` | classes behind `DeflateSession` and `InflateSession` |
//! | `zstd_stream` | the class behind `ZstdDecompress` |
//! | `inflate_stream` | the class behind `Inflate` of `@linerate/zlib-sync` |
//! | `whole` | functions for a whole buffer, in the calling thread and on the thread pool |
//! | `memory` | memory behind objects, as the garbage collector counts it; a pool of working memory |
//! | `error` | errors of the engines as JavaScript errors |

#![allow(unreachable_pub, reason = "the macros of napi take public items alone")]
#![cfg_attr(test, allow(dead_code, reason = "the macros of napi register nothing in a test"))]

mod error;
mod gateway;
mod inflate_stream;
mod memory;
mod websocket;
mod whole;
mod zstd_stream;
