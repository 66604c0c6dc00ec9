//! The integration tests, linked into one program. Each file beside this folder is another program,
//! since it needs a process of its own for the reason at its top.

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
