//! The HDF5 plugin of filter 32025, Delta-Rice. Exports the two functions that HDF5 looks up; the
//! filter itself is in `linerate-hdf5`.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_void};

/// Returns the kind of plugin: a filter.
// SAFETY: no other function of this library has this name, and HDF5 calls it with this signature.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_type() -> c_int {
    linerate_hdf5::PLUGIN_TYPE
}

/// Returns the table that describes the filter, an `H5Z_class2_t`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_info() -> *const c_void {
    linerate_hdf5::DELTARICE.as_ptr()
}
