//! The integration tests, linked into one program. Files beside this folder are programs that need a process of their own,
//! each for the reason at its top.

mod common;
mod corpus;
mod damage;
#[cfg(unix)]
mod guarded;
mod hazards;
mod independent;
#[cfg(unix)]
mod into;
mod pool;
mod replay;
mod stats;
mod streams;
mod waiting;
mod zlib_forms;
mod zstd_forms;
