//! A dataset during its creation, as `set_local` receives it: its type, the shape of its chunks,
//! and the entry of the filter in the property list.

use core::ffi::c_uint;
use core::ops::RangeInclusive;

use crate::description::{Class, Datatype, MAX_VALUES, Message, Order};
use crate::error::{FilterError, Result};
use crate::sys::class::Hid;
use crate::sys::library::Library;

/// The numbers of HDF5's own filters: deflate, shuffle, fletcher32, szip, nbit and scaleoffset, in
/// this order. The output of none of them is just the samples.
const RECODERS: RangeInclusive<i32> = 1..=6;
const SHUFFLE: i32 = 2;
const FLETCHER32: i32 = 3;

/// A dataset during its creation, and the HDF5 library that creates it.
pub(crate) struct Creation {
    library: Library,
    dcpl: Hid,
    datatype: Datatype,
    /// The dimensions of a chunk, in samples.
    chunk: Vec<u64>,
}

impl Creation {
    pub(crate) fn new(library: Library, dcpl: Hid, datatype: Hid) -> Result<Creation> {
        let datatype = library
            .datatype(datatype)
            .ok_or(FilterError::Filter("the type of the dataset cannot be read"))?;
        let chunk = library
            .chunk(dcpl)
            .ok_or(FilterError::Filter("the chunk shape of the dataset cannot be read"))?;
        Ok(Creation { library, dcpl, datatype, chunk })
    }

    /// Rejects a dataset in which one of HDF5's own filters comes before filter `id`, which would
    /// then not get the samples.
    pub(crate) fn comes_first(&self, id: i32) -> Result<()> {
        let filters = self.library.filters(self.dcpl);
        let filters = filters.ok_or(FilterError::Filter("the filters of the dataset cannot be read"))?;
        let refuse = |what| Err(FilterError::Filter(what));
        match filters.into_iter().take_while(|&before| before != id).find(|before| RECODERS.contains(before))
        {
            None => Ok(()),
            Some(SHUFFLE) => refuse("shuffle comes before it and takes the samples apart: leave shuffle out"),
            Some(FLETCHER32) => refuse("fletcher32 comes before it and adds what is no sample: put it last"),
            Some(_) => refuse("another compression comes before it and leaves no samples: use one of them"),
        }
    }

    /// Returns the type if it is a little-endian integer of one of these sizes, in bytes.
    /// `wrong_size` is the error for an integer of another size.
    pub(crate) fn integer(&self, sizes: &[usize], wrong_size: &'static str) -> Result<Datatype> {
        let refuse = |what| Err(FilterError::Filter(what));
        match self.datatype {
            Datatype { class: Class::Other, .. } => refuse("only integers can be encoded"),
            Datatype { size, .. } if !sizes.contains(&size) => refuse(wrong_size),
            Datatype { order: Order::Other, .. } => refuse("only little-endian integers can be encoded"),
            datatype => Ok(datatype),
        }
    }

    /// Returns the dimensions of a chunk, in samples.
    pub(crate) fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    /// Returns the number of samples in a chunk, at most [`u64::MAX`].
    pub(crate) fn samples(&self) -> u64 {
        self.chunk.iter().fold(1, |product, &n| product.saturating_mul(n))
    }

    /// Returns the number of samples along the last dimension of a chunk.
    pub(crate) fn row(&self) -> u64 {
        self.chunk.last().copied().unwrap_or(1)
    }

    /// Returns the entry of filter `id` in the property list: its flags and its at most 256
    /// `cd_values`.
    pub(crate) fn filter(&self, id: i32) -> Result<Message> {
        let message = self.library.filter(self.dcpl, id);
        let message = message.ok_or(FilterError::Filter("the filter's own values cannot be read"))?;
        if message.count > MAX_VALUES {
            return Err(FilterError::Filter("the filter has more than 256 values"));
        }
        Ok(message)
    }

    /// Replaces the `cd_values` of filter `id` and keeps the flags of `message`.
    pub(crate) fn set_filter(&self, id: i32, message: &Message, values: &[c_uint]) -> Result<()> {
        self.library
            .set_filter(self.dcpl, id, message.flags, values)
            .ok_or(FilterError::Filter("the filter's own values cannot be written"))
    }
}
