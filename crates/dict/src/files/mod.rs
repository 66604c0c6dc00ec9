//! Files of this crate: read and written through `linerate-io`; integers and checksums in them.

pub(crate) mod fields;
pub(crate) mod input;
pub(crate) mod output;
