//! The integration tests, linked into one program. Files beside this folder are programs that need
//! a process of their own, for the reason at the top of each.

mod arguments;
mod header;
#[cfg(target_os = "linux")]
mod interface;
mod session;
