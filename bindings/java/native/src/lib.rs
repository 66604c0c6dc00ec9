//! The native library of the Java binding. The classes `Native` and `NativeDeflate` of the package
//! `dev.linerate.gateway` call it.
//!
//! * A connection is a boxed `Connection` whose address Java holds. Java ensures that only one
//!   thread at a time uses it, and that nobody uses it after it is freed (the state word of
//!   `Handle`).
//! * Working memory comes from a pool of the process, not of the thread: clients have a thread per
//!   connection.
//! * Bytes of Java arrays are copied in and out, so the garbage collector never waits for a
//!   decoder. Direct buffers may be used in place. No Java method is called. Java creates the
//!   exceptions for errors of messages, which the native methods return as text and numbers.
//! * Panics are caught. A connection is then unusable until it is reset, an encoder or decoder of
//!   permessage-deflate for good; others are not affected.
//!
//! | module | content |
//! |---|---|
//! | `connection`, `options` | a session and its last message; its options |
//! | `frame`, `pool` | a frame copied from Java; the process's working memory |
//! | `websocket`, `sys/websocket` | codecs of permessage-deflate; their native methods |
//! | `recorder` | statistics of connections |
//! | `sys/exports`, `sys/buffers`, `sys/envelopes`, `sys/stats`, `sys/dictionaries` | the native methods |
//! | `sys/env` | the JNI functions they call |
//! | `sys/threads` | a test in which threads use connections in turn |
//! | `sys/no_memory` | tests in which memory runs out |

mod connection;
mod frame;
mod options;
mod pool;
mod recorder;
mod sys;
mod websocket;

use connection::Connection;
