//! The table that describes a filter to HDF5: its `H5Z_class2_t`.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// An HDF5 identifier, `hid_t`: 64 bits since 1.10, 32 before.
pub type Hid = i64;

/// Encodes or, if `flags` has [`REVERSE`](crate::REVERSE), decodes the `nbytes` bytes at `*buf`.
/// Returns the number of bytes then at `*buf`, or 0 on failure.
pub type FilterFunction = unsafe extern "C" fn(
    flags: c_uint,
    cd_nelmts: usize,
    cd_values: *const c_uint,
    nbytes: usize,
    buf_size: *mut usize,
    buf: *mut *mut c_void,
) -> usize;

/// Checks a dataset that is being created, by its property list, type and space, and completes the
/// filter's `cd_values`. Returns a negative number on failure.
pub type SetLocalFunction = unsafe extern "C" fn(dcpl: Hid, datatype: Hid, space: Hid) -> c_int;

/// The description of a filter, `H5Z_class2_t`, in C's layout.
#[repr(C)]
pub struct Class {
    version: c_int,
    id: c_int,
    encoder_present: c_uint,
    decoder_present: c_uint,
    name: *const c_char,
    can_apply: Option<SetLocalFunction>,
    set_local: Option<SetLocalFunction>,
    filter: Option<FilterFunction>,
}

// SAFETY: a table is never written to, and its name is a constant.
unsafe impl Sync for Class {}

impl Class {
    pub(crate) const fn new(
        id: c_int,
        name: &'static CStr,
        set_local: SetLocalFunction,
        filter: FilterFunction,
    ) -> Class {
        Class {
            version: 1,
            id,
            encoder_present: 1,
            decoder_present: 1,
            name: name.as_ptr(),
            can_apply: None,
            set_local: Some(set_local),
            filter: Some(filter),
        }
    }

    /// Returns the table as `H5Zregister` and `H5PLget_plugin_info` expect it.
    pub const fn as_ptr(&'static self) -> *const c_void {
        (&raw const *self).cast()
    }

    /// The filter's number.
    pub const fn id(&self) -> i32 {
        self.id
    }

    /// The filter function.
    pub fn filter(&self) -> FilterFunction {
        self.filter.expect("every table has a filter")
    }

    /// The function that HDF5 calls when a dataset is created with this filter.
    pub fn set_local(&self) -> SetLocalFunction {
        self.set_local.expect("every table has one")
    }
}
