//! Files of this crate: reading and writing through `linerate-io`, and the integers and checksums
//! in them.

pub(crate) mod fields;
pub(crate) mod input;
pub(crate) mod output;
