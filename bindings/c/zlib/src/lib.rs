//! zlib's deflate interface to `linerate-deflate`. Under `LD_PRELOAD`, programs that are
//! dynamically linked with `libz.so.1` compress with this encoder, unchanged.
//!
//! The encoder compresses streams of levels 1 to 6 (-1 is 6) with the default strategy and a window
//! of at least 512 bytes, which are called "our streams" here. zlib, which is looked up behind this
//! library, compresses all others, and those for which the caller sets a gzip header. Only
//! functions are exported: those whose names begin with `deflate` in the `zlib.h` of versions
//! before 1.3.2. `docs/deflate/zlib.md` says how they differ from zlib's.
//!
//! | module | content |
//! |---|---|
//! | `z_stream` | `z_stream`, codes and flush values of `zlib.h` |
//! | `settings` | the arguments of `deflateInit2`: which streams are ours, and at which level |
//! | `encoder` | a stream: its gathered input, its history and its undelivered output |
//! | `buffer` | a vector of fixed capacity in the stream's memory |
//! | `state` | a stream in memory from the caller's functions; tells our streams from zlib's |
//! | `calls` | the functions for our streams |
//! | `zlib` | the functions of zlib |
//! | `functions` | the exported functions |

#![cfg(unix)]

mod buffer;
mod calls;
mod encoder;
mod functions;
mod settings;
mod state;
mod z_stream;
mod zlib;
