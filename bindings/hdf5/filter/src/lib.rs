//! Delta-Rice as filters of HDF5, without linking HDF5.
//!
//! [`DELTARICE`] and [`DELTARICE2`] are the tables that HDF5 wants of filters. Plugins hand them
//! out (`bindings/hdf5/deltarice`, `deltarice2`); a process that has HDF5 loaded can register them with `H5Zregister`.
//! Functions of HDF5 are looked up at run time in the library that makes the call, so one binary
//! serves every HDF5 from 1.10 on, whatever its file is called and however it was loaded.
//!
//! What a filter promises:
//!
//! * Failure is 0 and leaves the caller's buffer and its size as they were. The reason is pushed
//!   onto the error stack of HDF5, where h5py and h5dump show it.
//! * No input makes it panic into C, hang, or touch memory that is not its own.
//! * The buffer it leaves behind comes from C's `malloc`, the old one goes to `free`.
//! * Threads end before it returns. `LINERATE_THREADS` sets their number; without it large chunks of
//!   many segments get one for each processor.

#[cfg(target_endian = "big")]
compile_error!("chunks are taken as little-endian words in place: a big-endian machine needs a copy");

mod border;
mod class;
mod creation;
mod deltarice;
mod deltarice2;
mod failure;
mod library;
mod memory;
#[cfg_attr(not(unix), path = "object_absent.rs")]
mod object;
mod threads;

pub use class::{Class, FilterFunction, Hid, SetLocalFunction};
pub use deltarice::{DELTARICE, DELTARICE_ID};
pub use deltarice2::{DELTARICE2, DELTARICE2_ID};

/// What `H5PLget_plugin_type` returns for a filter: `H5PL_TYPE_FILTER`.
pub const PLUGIN_TYPE: core::ffi::c_int = 0;

/// In the flags of a filter call: undo the filter (`H5Z_FLAG_REVERSE`).
pub const REVERSE: core::ffi::c_uint = 0x0100;
