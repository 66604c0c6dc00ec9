//! The integration tests, linked into one program. Files beside this folder are separate programs,
//! because they need their own process; each says why at its top.

mod program;
mod shapes;
mod tables;
