//! The operating system's clocks, the size of the C heap, and HDF5's library: all `unsafe` code of
//! this crate.
#![allow(unsafe_code)]

pub(crate) mod clock;
pub(crate) mod hdf5;
