//! The jobs of a batch: where chunks and samples are.

/// Input of a call, in host memory or in device memory.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Bytes in host memory. The call copies them before it returns, so they need not live longer.
    Host(&'a [u8]),
    /// Bytes in device memory.
    Device {
        /// The device address: a multiple of 4 for a chunk, or of the sample size for samples.
        address: u64,
        /// The number of bytes.
        bytes: usize,
    },
}

impl Input<'_> {
    /// The number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Input::Host(bytes) => bytes.len(),
            Input::Device { bytes, .. } => *bytes,
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A version 1 chunk or a version 2 stream to decode.
#[derive(Clone, Copy, Debug)]
pub struct DecodeJob<'a> {
    /// The chunk or stream.
    pub chunk: Input<'a>,
    /// The device address of the output, a multiple of the sample size.
    pub samples: u64,
    /// Capacity of the output in samples. The outcome of a chunk with more samples is an error; a
    /// chunk with fewer samples leaves the rest of the output unchanged.
    pub capacity: usize,
}

/// Samples to encode as a version 1 chunk or a version 2 stream.
#[derive(Clone, Copy, Debug)]
pub struct EncodeJob<'a> {
    /// The samples, as little-endian bytes.
    pub samples: Input<'a>,
    /// The device address of the output, a multiple of 4.
    pub chunk: u64,
    /// Capacity of the output in bytes. If the encoded chunk is larger, the outcome is an error.
    /// [`Params::bound`](linerate_rice::Params::bound) (version 1) and
    /// [`v2::bound`](linerate_rice::v2::bound) (version 2) are always enough.
    pub capacity: usize,
}
