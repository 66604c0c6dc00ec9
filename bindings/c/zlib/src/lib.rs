//! zlib's deflate interface over `linerate-deflate`: programs that are linked with `libz.so.1` dynamically compress with this
//! encoder under `LD_PRELOAD`, unchanged.
//!
//! Streams that the encoder serves are its own: levels 1 to 6 with the default strategy. All others are zlib's, and so are
//! those with a gzip header of the caller's; zlib is searched for behind this library. Only functions are exported, those of
//! `zlib.h` whose names begin with `deflate`; `docs/deflate/zlib.md` says how they differ.
//!
//! | module | content |
//! |---|---|
//! | `z_stream` | `z_stream`, codes and flush values of `zlib.h` |
//! | `settings` | the arguments of `deflateInit2`: which streams are served, at which level |
//! | `encoder` | a stream: what it has gathered, its history, what it has not delivered |
//! | `buffer` | a part of the stream's memory, of which the beginning is in use |
//! | `state` | the memory of a stream, by the caller's functions; what belongs to whom |
//! | `calls` | the functions for streams of our own |
//! | `zlib` | the functions of zlib |
//! | `functions` | what is exported |

#![cfg(unix)]

mod buffer;
mod calls;
mod encoder;
mod functions;
mod settings;
mod state;
mod z_stream;
mod zlib;
