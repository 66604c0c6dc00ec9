//! The budget: limits on the cost of compression.

/// Limits on cost, and required savings.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Cores for encoding and decoding.
    pub cores: usize,
    /// Maximum bytes of memory per open stream; unlimited by default.
    pub memory_per_stream: Option<u64>,
    /// Minimum ratio (content size over compressed size), such as 2.0; none by default.
    pub min_ratio: Option<f64>,
}
