//! Systems where objects are not searched: there is no HDF5 to be found, and what needs its functions
//! is skipped.
#![allow(unsafe_code)]

use core::ffi::CStr;

/// An object that cannot be.
pub(crate) enum Object {}

impl Object {
    /// None.
    pub(crate) fn of_caller(_symbol: &CStr) -> Option<Object> {
        None
    }

    /// # Safety
    /// There is no object to call this with.
    pub(crate) unsafe fn symbol<T: Copy>(&self, _name: &CStr) -> Option<T> {
        match *self {}
    }
}
