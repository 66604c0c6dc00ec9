//! Parameters of filter 32025 as Python passes them: m, samples per segment (-1 for all samples of
//! the chunk), filter coefficients.

use linerate_core::{Error, Kind, Result};
use linerate_rice::Params;
use pyo3::prelude::*;

/// The fields of `pylinerate.rice.Params` as a tuple: m, samples per segment (-1 for all samples),
/// filter coefficients. [`Numbers::check`] checks them.
#[derive(FromPyObject)]
pub(crate) struct Numbers(i64, i64, Vec<i64>);

impl Numbers {
    pub(crate) fn new(m: i64, segment: i64, filter: Vec<i64>) -> Numbers {
        Numbers(m, segment, filter)
    }

    /// Converts to parameters.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for a number that does not fit 32 bits, and the errors of
    /// [`Params::from_cd_values`]. The offset is that of the wrong value, at 4 bytes per value.
    pub(crate) fn check(&self) -> Result<Params> {
        let Numbers(m, segment, filter) = self;
        let mut values = vec![word(0, u32::try_from(*m))?, word(1, i32::try_from(*segment))? as u32];
        values.push(word(2, u32::try_from(filter.len()))?);
        for (i, &tap) in filter.iter().enumerate() {
            values.push(word(3 + i as u64, i32::try_from(tap))? as u32);
        }
        Params::from_cd_values(&values)
    }
}

fn word<T, E>(index: u64, value: std::result::Result<T, E>) -> Result<T> {
    value.map_err(|_| Error::new(Kind::BadArgument, 4 * index, "a parameter does not fit into 32 bits"))
}
