//! The native library of the Java binding: what the class `dev.linerate.gateway.Native` calls.
//!
//! * A connection is a `Connection` in a box, whose address Java holds. The state word that keeps two
//!   threads apart, and use apart from release, is Java's.
//! * What is needed only while a message is decoded comes from a pool of the process, not from the
//!   thread: clients have a thread for each connection.
//! * Bytes are copied in and out. The garbage collector never waits for a decoder, nothing calls back
//!   into Java, and exceptions are made there from what `Connection::fault` says.
//! * No panic gets out: the connection that had it is of no use until it is reset, the others are.

mod connection;
mod frame;
mod kernel;
mod settings;
mod shared;

use connection::Connection;
