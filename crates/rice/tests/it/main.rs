//! The integration tests, linked into one program.

mod common;
mod damage;
mod golden;
mod properties;
mod v2;
mod v2_golden;
