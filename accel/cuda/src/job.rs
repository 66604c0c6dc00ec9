//! The work of a batch: where chunks and samples are.

/// Bytes that a call reads: in host memory, from which the call copies them first, or in device memory.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// In host memory. They are copied before the call returns.
    Host(&'a [u8]),
    /// In device memory.
    Device {
        /// The device address, a multiple of 4 (samples: of their size).
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

/// A chunk or stream to decode.
#[derive(Clone, Copy, Debug)]
pub struct DecodeJob<'a> {
    /// The chunk or stream.
    pub chunk: Input<'a>,
    /// The device address of the output, a multiple of the sample size.
    pub samples: u64,
    /// Samples that fit there. A chunk of more is an error, one of fewer leaves the rest as it is.
    pub capacity: usize,
}

/// Samples to encode as a chunk or stream.
#[derive(Clone, Copy, Debug)]
pub struct EncodeJob<'a> {
    /// The samples, in little-endian order.
    pub samples: Input<'a>,
    /// The device address of the output, a multiple of 4.
    pub chunk: u64,
    /// Bytes that fit there. A chunk of more is an error; [`Params::bound`](linerate_rice::Params::bound) and
    /// [`v2::bound`](linerate_rice::v2::bound) always suffice.
    pub capacity: usize,
}
