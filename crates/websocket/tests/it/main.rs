//! The integration tests, linked into one program. Each file beside this folder is another program,
//! since it needs a process of its own for the reason at its top.

#[cfg(feature = "axum")]
mod browser;
#[cfg(feature = "axum")]
mod by_tokio;
mod common;
mod connections;
mod frames;
mod prepared;
#[cfg(feature = "soketto")]
mod soketto;
