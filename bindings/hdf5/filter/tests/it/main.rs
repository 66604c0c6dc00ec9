//! The integration tests, linked into one program.

mod common;
mod deltarice;
mod deltarice2;
