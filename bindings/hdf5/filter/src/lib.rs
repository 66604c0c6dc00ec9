//! Delta-Rice as filters of HDF5, without linking HDF5.
//!
//! [`DELTARICE`] and [`DELTARICE2`] are the filter tables (`H5Z_class2_t`) that HDF5 asks for. The
//! plugins `bindings/hdf5/deltarice` and `deltarice2` export them; a process that has HDF5 loaded can
//! register them with `H5Zregister`. Functions of HDF5 are looked up at run time in the library that
//! makes the call, so one binary serves every HDF5 from 1.10 on, whatever its file name and however
//! it was loaded.
//!
//! Guarantees of each filter:
//!
//! * On failure it returns 0 and leaves the caller's buffer and its size unchanged. The reason is pushed
//!   onto the error stack of HDF5, where h5py and h5dump show it.
//! * No input makes it panic into C, hang, or access memory out of bounds.
//! * The returned buffer comes from C's `malloc`, the old one goes to `free`.
//! * Its threads have ended when it returns. `LINERATE_THREADS` sets their number. Default: one for
//!   each processor, for large chunks of many segments.
//!
//! | module | |
//! |---|---|
//! | `deltarice`, `deltarice2` | the filters: encoding, decoding, checks when a dataset is created |
//! | `creation` | the dataset that is being created: type, chunk shape, filter values |
//! | `threads` | number of threads for a chunk |
//! | `error` | reasons for a failure |
//! | `sys::class` | the filter table in C's layout |
//! | `sys::ffi` | calls from HDF5: raw arguments to slices, panics to failures |
//! | `sys::library`, `sys::object` | functions of the HDF5 library that made the call |
//! | `sys::memory` | blocks of C's allocator |

#[cfg(target_endian = "big")]
compile_error!("chunks are taken as little-endian words in place: a big-endian machine needs a copy");

mod creation;
mod deltarice;
mod deltarice2;
mod description;
mod error;
mod sys;
mod threads;

pub use deltarice::{DELTARICE, DELTARICE_ID};
pub use deltarice2::{DELTARICE2, DELTARICE2_ID};
pub use sys::class::{Class, FilterFunction, Hid, SetLocalFunction};

/// What `H5PLget_plugin_type` returns for a filter: `H5PL_TYPE_FILTER`.
pub const PLUGIN_TYPE: core::ffi::c_int = 0;

/// In the flags of a filter call: undo the filter (`H5Z_FLAG_REVERSE`).
pub const REVERSE: core::ffi::c_uint = 0x0100;
