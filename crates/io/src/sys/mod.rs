//! What takes the system's word: mapped files.

mod map;

pub use map::MapSource;
