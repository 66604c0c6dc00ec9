//! A dataset that is about to be created, as `set_local` finds it: its type, its chunks, and what
//! the property list says of the filter.

use core::ffi::c_uint;
use core::ops::RangeInclusive;

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

/// Filters of HDF5 itself: deflate, shuffle, fletcher32, szip, nbit and scaleoffset. None of them
/// leaves samples behind.
const RECODERS: RangeInclusive<i32> = 1..=6;
const SHUFFLE: i32 = 2;
const FLETCHER32: i32 = 3;

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
    /// Dimensions of a chunk.
    chunk: Vec<u64>,
}

impl Creation {
    pub(crate) fn new(library: Library, dcpl: Hid, datatype: Hid) -> Result<Creation> {
        let datatype =
            library.datatype(datatype).ok_or(Failure::Filter("the type of the dataset cannot be read"))?;
        let chunk =
            library.chunk(dcpl).ok_or(Failure::Filter("the chunk shape of the dataset cannot be read"))?;
        Ok(Creation { library, dcpl, datatype, chunk })
    }

    /// Refuses a dataset of which filter `id` would not get the samples, but what a filter of HDF5
    /// that comes before it makes of them.
    pub(crate) fn comes_first(&self, id: i32) -> Result<()> {
        let filters = self.library.filters(self.dcpl);
        let filters = filters.ok_or(Failure::Filter("the filters of the dataset cannot be read"))?;
        let refuse = |what| Err(Failure::Filter(what));
        match filters.into_iter().take_while(|&before| before != id).find(|before| RECODERS.contains(before))
        {
            None => Ok(()),
            Some(SHUFFLE) => refuse("shuffle comes before it and takes the samples apart: leave shuffle out"),
            Some(FLETCHER32) => refuse("fletcher32 comes before it and adds what is no sample: put it last"),
            Some(_) => refuse("another compression comes before it and leaves no samples: use one of them"),
        }
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

    /// Dimensions of a chunk.
    pub(crate) fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    /// Samples in a chunk.
    pub(crate) fn samples(&self) -> u64 {
        self.chunk.iter().fold(1, |product, &n| product.saturating_mul(n))
    }

    /// Samples along the last dimension of a chunk.
    pub(crate) fn row(&self) -> u64 {
        self.chunk.last().copied().unwrap_or(1)
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
