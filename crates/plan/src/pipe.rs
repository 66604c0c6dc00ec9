//! Pipes: what carries the compressed data, and in which direction.

/// A drive or network.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipe {
    /// `nvme-4.0`, or the rate as the user wrote it.
    pub name: String,
    /// Bytes per second.
    pub rate: f64,
    /// Whether data is read, written or both.
    pub direction: Direction,
}

/// Which way the content goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Decoding has to keep up.
    #[default]
    Read,
    /// Encoding has to keep up.
    Write,
    /// Both have to, one at a time.
    Both,
}
