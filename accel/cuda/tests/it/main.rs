//! The integration tests of linerate-cuda, linked into one program.

mod c_interface;
mod common;
mod driver;
mod gpu_bench;
mod v1;
mod v2;
