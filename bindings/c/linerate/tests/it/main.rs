//! The integration tests, linked into one program. Files beside this folder are programs that need a process of their own,
//! each for the reason at its top.

mod arguments;
mod header;
#[cfg(target_os = "linux")]
mod interface;
mod session;
