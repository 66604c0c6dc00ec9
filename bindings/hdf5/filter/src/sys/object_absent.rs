//! Systems on which shared objects are not searched: no HDF5 is found, and checks that need its
//! functions are skipped.

use core::ffi::CStr;

/// An uninhabited type: there is no object.
pub(crate) enum Object {}

impl Object {
    /// Always `None`.
    pub(crate) fn of_caller(_symbol: &CStr) -> Option<Object> {
        None
    }

    /// # Safety
    /// There is no object to call this with.
    pub(crate) unsafe fn symbol<T: Copy>(&self, _name: &CStr) -> Option<T> {
        match *self {}
    }
}
