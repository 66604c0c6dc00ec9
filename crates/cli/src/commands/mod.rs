//! The subcommands: a file or a folder for each.

pub(crate) mod clean;
pub(crate) mod dict;
pub(crate) mod gateway;
pub(crate) mod gzip;
pub(crate) mod nx;
pub(crate) mod pages;
pub(crate) mod plan;
pub(crate) mod rice;
pub(crate) mod zstd;
