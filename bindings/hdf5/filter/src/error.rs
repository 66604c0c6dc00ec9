//! Errors of a filter: one line each for the error stack of HDF5.

use core::fmt;

/// Why a call of a filter failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilterError {
    /// An error of the codec, with an offset in the chunk or in the `cd_values`.
    Codec(linerate_core::Error),
    /// An error of the filter itself.
    Filter(&'static str),
}

pub(crate) type Result<T> = core::result::Result<T, FilterError>;

impl From<linerate_core::Error> for FilterError {
    fn from(e: linerate_core::Error) -> Self {
        FilterError::Codec(e)
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilterError::Codec(e) => e.fmt(f),
            FilterError::Filter(what) => f.write_str(what),
        }
    }
}
