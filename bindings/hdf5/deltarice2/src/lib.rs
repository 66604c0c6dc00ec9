//! The HDF5 plugin of filter 325, version 2 streams of Delta-Rice: the two functions that HDF5 looks
//! for. All else is in `linerate-hdf5`.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_void};

/// The kind of plugin: a filter.
// SAFETY: no other function of this library has the name, which HDF5 calls with this signature.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_type() -> c_int {
    linerate_hdf5::PLUGIN_TYPE
}

/// The table that describes the filter, an `H5Z_class2_t`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_info() -> *const c_void {
    linerate_hdf5::DELTARICE2.as_ptr()
}
