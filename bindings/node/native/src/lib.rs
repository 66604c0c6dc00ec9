//! The native part of the npm package `linerate`, a Node-API module.
//!
//! `bindings/node/linerate` checks arguments, has the documented classes and makes typed errors of those thrown here. Input
//! is never memory that another thread may write: that of shared buffers is copied in JavaScript, that of tasks here.
//! Panics become errors; the object they left in an unknown state refuses further calls.
//!
//! | module | |
//! |---|---|
//! | `call` | functions called for every message |
//! | `text` | strings of UTF-8 |
//! | `gateway` | what is behind `GatewayDecompressor`; envelopes |
//! | `websocket` | what is behind `DeflateSession` and `InflateSession` |
//! | `zstd_stream` | the class behind `ZstdDecompress` |
//! | `inflate_stream` | what is behind `Inflate` of `@linerate/zlib-sync` |
//! | `whole` | functions for a whole buffer, in the calling thread and on the thread pool |
//! | `memory` | memory behind objects, as the garbage collector counts it; a pool of working memory |
//! | `error` | errors of the engines as JavaScript errors |

#![allow(unreachable_pub, reason = "the macros of napi take public items alone")]
#![cfg_attr(test, allow(dead_code, reason = "the macros of napi register nothing in a test"))]

mod call;
mod error;
mod gateway;
mod inflate_stream;
mod memory;
mod text;
mod websocket;
mod whole;
mod zstd_stream;

use napi::Result;
use napi::bindgen_prelude::Object;
use napi_derive::napi;

/// Adds the functions that napi does not know.
#[napi(module_exports)]
pub fn functions(mut exports: Object<'_>) -> Result<()> {
    call::export::<gateway::GatewayText>(&mut exports, "gatewayText")?;
    call::export::<gateway::GatewayBytes>(&mut exports, "gatewayBytes")?;
    call::export::<inflate_stream::PushText>(&mut exports, "inflatePushText")?;
    call::export::<inflate_stream::PushBytes>(&mut exports, "inflatePushBytes")?;
    call::export::<websocket::DeflateMessage>(&mut exports, "deflateMessage")?;
    call::export::<websocket::InflateMessage>(&mut exports, "inflateMessage")
}
