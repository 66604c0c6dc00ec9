//! Code whose safety depends on the system: mapped files, and calls of Windows.

mod map;
#[cfg(windows)]
pub(crate) mod windows;

pub use map::MapSource;
