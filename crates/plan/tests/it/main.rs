//! The integration tests, linked into one program.

mod common;
mod plan;
mod properties;
mod report;
