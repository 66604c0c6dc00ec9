//! Why a filter refuses: one line for the error stack of HDF5.

use core::fmt;

/// The reason for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The codec's, with an offset in the chunk or in the `cd_values`.
    Codec(linerate_core::Error),
    /// The filter's own.
    Filter(&'static str),
}

pub(crate) type Result<T> = core::result::Result<T, Failure>;

impl From<linerate_core::Error> for Failure {
    fn from(e: linerate_core::Error) -> Self {
        Failure::Codec(e)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Codec(e) => e.fmt(f),
            Failure::Filter(what) => f.write_str(what),
        }
    }
}
