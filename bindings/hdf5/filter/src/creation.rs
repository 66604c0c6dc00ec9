//! A dataset that is about to be created, as `set_local` finds it: its type, its chunks, and what
//! the property list says of the filter.

use core::ffi::c_uint;

use crate::class::Hid;
use crate::failure::{Failure, Result};
use crate::library::Library;

/// Kinds of types, as far as filters care.
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
    /// Bytes.
    pub(crate) size: usize,
    /// [`Order::Other`] also for types that have none.
    pub(crate) order: Order,
    /// Whether integers are in two's complement.
    pub(crate) signed: bool,
}

/// Most values that HDF5 asks a filter for at once.
pub(crate) const MAX_VALUES: usize = 256;

/// What a property list says of a filter.
pub(crate) struct Message {
    pub(crate) flags: c_uint,
    pub(crate) count: usize,
    pub(crate) values: [c_uint; MAX_VALUES],
}

impl Message {
    /// The `cd_values`.
    pub(crate) fn values(&self) -> &[c_uint] {
        &self.values[..self.count]
    }
}

/// The dataset.
pub(crate) struct Creation {
    library: Library,
    dcpl: Hid,
    datatype: Datatype,
    /// Samples per chunk, and along its last dimension.
    chunk: (u64, u64),
}

impl Creation {
    pub(crate) fn new(library: Library, dcpl: Hid, datatype: Hid) -> Result<Creation> {
        let datatype =
            library.datatype(datatype).ok_or(Failure::Filter("the type of the dataset cannot be read"))?;
        let dims =
            library.chunk(dcpl).ok_or(Failure::Filter("the chunk shape of the dataset cannot be read"))?;
        let samples = dims.iter().fold(1u64, |product, &n| product.saturating_mul(n));
        let row = dims.last().copied().unwrap_or(1);
        Ok(Creation { library, dcpl, datatype, chunk: (samples, row) })
    }

    /// The type, if it is an integer of one of these sizes in little-endian order. `wrong_size`
    /// says otherwise.
    pub(crate) fn integer(&self, sizes: &[usize], wrong_size: &'static str) -> Result<Datatype> {
        let refuse = |what| Err(Failure::Filter(what));
        match self.datatype {
            Datatype { class: Class::Other, .. } => refuse("only integers can be encoded"),
            Datatype { size, .. } if !sizes.contains(&size) => refuse(wrong_size),
            Datatype { order: Order::Other, .. } => refuse("only little-endian integers can be encoded"),
            datatype => Ok(datatype),
        }
    }

    /// Samples in a chunk.
    pub(crate) fn samples(&self) -> u64 {
        self.chunk.0
    }

    /// Samples along the last dimension of a chunk.
    pub(crate) fn row(&self) -> u64 {
        self.chunk.1
    }

    /// What the property list says of filter `id`.
    pub(crate) fn filter(&self, id: i32) -> Result<Message> {
        let message = self.library.filter(self.dcpl, id);
        let message = message.ok_or(Failure::Filter("the filter's own values cannot be read"))?;
        if message.count > MAX_VALUES {
            return Err(Failure::Filter("the filter has more than 256 values"));
        }
        Ok(message)
    }

    /// Replaces the values of filter `id`, which `message` was read of.
    pub(crate) fn set_filter(&self, id: i32, message: &Message, values: &[c_uint]) -> Result<()> {
        self.library
            .set_filter(self.dcpl, id, message.flags, values)
            .ok_or(Failure::Filter("the filter's own values cannot be written"))
    }
}
