//! Shared by the tests: our decoder called in every way.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

pub mod check;
pub mod ours;
