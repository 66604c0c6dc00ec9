//! The native library of the Java binding, which the class `dev.linerate.gateway.Native` calls.
//!
//! * A connection is a boxed `Connection` whose address Java holds. Exclusion of threads, and of
//!   use and release, is Java's responsibility (the state word of `Handle`).
//! * Working memory comes from a pool of the process, not of the thread: clients have a thread per
//!   connection.
//! * Bytes are copied in and out. The garbage collector never waits for a decoder, no Java method
//!   is called, and Java creates exceptions from `Connection::error`.
//! * Panics are caught; the connection is unusable until it is reset, others are not affected.
//!
//! | module | content |
//! |---|---|
//! | `connection`, `options` | a session and its last message; its options |
//! | `frame`, `pool` | a frame copied from Java; the process's working memory |
//! | `websocket`, `sys/websocket` | permessage-deflate: encoders and decoders; their native methods |
//! | `recorder` | statistics of connections |
//! | `sys/exports`, `sys/buffers`, `sys/envelopes`, `sys/stats`, `sys/dictionaries` | the native methods |
//! | `sys/env` | the JNI functions they call |
//! | `sys/threads` | a test of threads that share connections |

mod connection;
mod frame;
mod options;
mod pool;
mod recorder;
mod sys;
mod websocket;

use connection::Connection;
