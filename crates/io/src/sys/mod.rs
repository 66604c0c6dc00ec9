//! Code whose safety depends on the system: mapped files, huge pages, and calls of Windows.

mod huge_pages;
mod map;
#[cfg(windows)]
pub(crate) mod windows;

pub use huge_pages::prefer_huge_pages;
pub use map::MapSource;
