//! The functions of the CUDA driver, and wrappers of them. Wrappers that take addresses of the
//! caller are unsafe, the others are safe.
//!
//! | file | |
//! |---|---|
//! | `driver` | the entry points of the driver library, found at run time |
//! | `context` | devices, their primary contexts, modules and kernels |
//! | `memory` | device memory and pinned host memory |
//! | `stream` | streams, copies on them, and events |

#![allow(unsafe_code)]

mod context;
mod driver;
mod memory;
mod stream;

pub use context::{Context, Module};
pub(crate) use context::{Kernel, argument};
pub use driver::Driver;
pub(crate) use driver::OUT_OF_MEMORY;
pub(crate) use memory::bytes_of;
pub use memory::{DeviceBuffer, PinnedBuffer, copy_to_vec};
pub use stream::{Event, Stream};
