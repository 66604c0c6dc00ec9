//! Description of a dataset by HDF5: the type of its elements, and the entry of a filter in its
//! property list.

use core::ffi::c_uint;

/// Classes of types that filters distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Integer,
    Other,
}

/// Order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Other,
}

/// The type of a dataset's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datatype {
    pub(crate) class: Class,
    /// Size in bytes.
    pub(crate) size: usize,
    /// Byte order of an integer. It is [`Order::Other`] for every other type.
    pub(crate) order: Order,
    /// Whether the type is an integer in two's complement.
    pub(crate) signed: bool,
}

/// Maximum number of `cd_values` that are read from a property list.
pub(crate) const MAX_VALUES: usize = 256;

/// The entry of a filter in a property list: its flags, and its `cd_values` with their number. The
/// number can exceed the values that were read.
pub(crate) struct Message {
    pub(crate) flags: c_uint,
    pub(crate) count: usize,
    pub(crate) values: [c_uint; MAX_VALUES],
}

impl Message {
    /// Returns the `cd_values`. `count` must not exceed [`MAX_VALUES`].
    pub(crate) fn values(&self) -> &[c_uint] {
        &self.values[..self.count]
    }
}
