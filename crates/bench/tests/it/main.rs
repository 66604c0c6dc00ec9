//! The integration tests, linked into one program. Files beside this folder are programs that need a process of their own,
//! each for the reason at its top.

mod program;
mod shapes;
mod tables;
