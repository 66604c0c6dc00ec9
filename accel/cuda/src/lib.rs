//! Delta-Rice on NVIDIA GPUs: batches of chunks, decoded and encoded in device memory on the caller's stream.
//!
//! The CUDA driver is loaded at run time: nothing of CUDA is needed to build, and a missing driver or device is an
//! [`Error`] that says so.
//!
//! | module | |
//! |---|---|
//! | [`sys`] | the driver API: [`Context`], [`Module`], [`Stream`], [`Event`], [`DeviceBuffer`], [`PinnedBuffer`] |
//! | `error` | [`Error`]: of driver and device. Damage in chunks is reported per chunk, as [`linerate_core::Error`] |

mod error;
pub mod sys;

pub use error::{Error, Result};
pub use sys::{Context, DeviceBuffer, Driver, Event, Module, PinnedBuffer, Stream};
