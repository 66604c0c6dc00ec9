//! The integration tests, linked into one program. Files beside this folder are programs that need a process of their own,
//! each for the reason at its top.

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
