//! The integration tests, linked into one program. Files beside this folder are programs that need
//! a process of their own; each gives the reason at its top.

mod bound;
mod calls;
mod common;
mod conformance;
mod foreign;
mod history;
mod isolation;
mod sessions;
mod sizes;
mod small_stack;
mod tight;
mod vectors;
