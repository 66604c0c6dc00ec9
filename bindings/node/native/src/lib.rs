//! The native part of the npm package `linerate`, a Node-API module.
//!
//! `bindings/node/linerate` has the documented classes, checks arguments, and turns the errors
//! thrown here into typed ones. No other thread can write to the input while it is read: JavaScript
//! copies the content of shared buffers, and native code copies the input of tasks on the thread
//! pool. Panics become errors, and an object that a panic has left in an unknown state refuses
//! further calls.
//!
//! | module | |
//! |---|---|
//! | `call` | the interface of functions that are called for every message |
//! | `text` | makes strings of UTF-8 |
//! | `gateway` | the functions behind `GatewayDecompressor`; envelopes |
//! | `websocket` | the functions behind `DeflateSession` and `InflateSession` |
//! | `zstd_stream` | the class behind `ZstdDecompress` |
//! | `inflate_stream` | the functions behind `Inflate` of `@linerate/zlib-sync` |
//! | `whole` | functions for a whole buffer, in the calling thread and on the thread pool |
//! | `memory` | reports memory to the garbage collector; output Buffers; a pool of working memory |
//! | `error` | errors of the engines as JavaScript errors |

#![allow(unreachable_pub, reason = "the macros of napi take public items only")]
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

/// Exports the functions that are called for every message. They use the interface in [`call`]
/// instead of napi's macros.
#[napi(module_exports)]
pub fn functions(mut exports: Object<'_>) -> Result<()> {
    call::export::<gateway::GatewayText>(&mut exports, "gatewayText")?;
    call::export::<gateway::GatewayBytes>(&mut exports, "gatewayBytes")?;
    call::export::<inflate_stream::PushText>(&mut exports, "inflatePushText")?;
    call::export::<inflate_stream::PushBytes>(&mut exports, "inflatePushBytes")?;
    call::export::<websocket::DeflateMessage>(&mut exports, "deflateMessage")?;
    call::export::<websocket::InflateMessage>(&mut exports, "inflateMessage")
}
