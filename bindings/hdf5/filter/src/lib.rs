//! HDF5 filters for Delta-Rice, which do not link HDF5.
//!
//! [`DELTARICE`] and [`DELTARICE2`] are the filter tables (`H5Z_class2_t`) that HDF5 needs. The
//! plugins `bindings/hdf5/deltarice` and `deltarice2` export them. A process that has loaded HDF5
//! can register them with `H5Zregister`. On Unix, the filters look up functions of HDF5 at run time
//! in the library that makes the call. So one binary serves every HDF5 from 1.10 on, whatever its
//! file name and however it was loaded. On other systems the filters encode and decode, but neither
//! report reasons nor check datasets when they are created.
//!
//! Guarantees of each filter:
//!
//! * On failure it returns 0 and leaves the caller's buffer and its size unchanged. The reason is
//!   pushed onto the error stack of HDF5, where h5py and h5dump show it.
//! * No input makes it panic into C, hang, or access memory out of bounds.
//! * The returned buffer comes from C's `malloc`; the old buffer is passed to `free`.
//! * Its threads end before it returns. `LINERATE_THREADS` sets their number, from 1 to 256.
//!   Default: one for each processor, but fewer for chunks with few samples or few segments.
//!
//! | module | |
//! |---|---|
//! | `deltarice`, `deltarice2` | the filters: encoding, decoding, checks when a dataset is created |
//! | `creation` | the dataset that is being created: type, chunk shape, filter values |
//! | `threads` | number of threads for a chunk |
//! | `error` | the reasons of failures, as lines of text |
//! | `sys::class` | the filter table in C's layout |
//! | `sys::ffi` | calls from HDF5: turns raw arguments into slices and panics into failures |
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

/// Return value of `H5PLget_plugin_type` for a filter: `H5PL_TYPE_FILTER`.
pub const PLUGIN_TYPE: core::ffi::c_int = 0;

/// Flag of a filter call that decodes instead of encoding: `H5Z_FLAG_REVERSE`.
pub const REVERSE: core::ffi::c_uint = 0x0100;
