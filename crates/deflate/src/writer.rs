//! `GzWriter`.
/// Placeholder.
#[derive(Debug)]
pub struct GzWriter;
