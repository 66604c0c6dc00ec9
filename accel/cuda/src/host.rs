//! Decodes and encodes batches whose input and output are in host memory: for tests, and for
//! programs without device pointers.

use linerate_core::Kind;
use linerate_rice::v2::{self, ElementType, StreamOptions};
use linerate_rice::{Params, Segments};

use crate::outcome::Outcome;
use crate::sys::{Stream, copy_to_vec};
use crate::{Codec, DecodeJob, EncodeJob, Error, Input, Result};

/// Alignment in bytes of each output of a batch in device memory.
const ALIGN: usize = 256;

/// Offset of each output of a batch in device memory, and the size of all outputs, in bytes.
struct Outputs {
    offsets: Vec<usize>,
    bytes: usize,
}

impl Outputs {
    fn new(sizes: impl Iterator<Item = usize>) -> Result<Outputs> {
        let (mut offsets, mut bytes) = (Vec::new(), 0usize);
        for size in sizes {
            offsets.push(bytes);
            let end = bytes.checked_add(size).and_then(|end| end.checked_next_multiple_of(ALIGN));
            bytes = end.ok_or(Error::OutOfMemory { bytes: usize::MAX, is_pinned: false })?;
        }
        Ok(Outputs { offsets, bytes })
    }
}

/// The output of each chunk of a batch (samples as little-endian bytes, or encoded bytes), or the
/// chunk's error.
pub type Batch = Vec<linerate_core::Result<Vec<u8>>>;

#[allow(unsafe_code)]
impl Codec {
    /// Decodes version 1 chunks to their 16-bit samples, as little-endian bytes.
    ///
    /// # Errors
    /// As for [`Codec::decode`]. Damage is no error of the batch but of its chunk, as
    /// [`linerate_rice::decode`] reports it. A batch for which there is not enough memory is decoded
    /// in several parts. If that does not help a chunk, its error is of kind [`Kind::Limit`].
    pub fn decode_batch(&self, params: &Params, chunks: &[&[u8]], stream: &Stream) -> Result<Batch> {
        let samples = chunks.iter().map(|chunk| Segments::of(params, chunk).map_or(0, |s| s.samples()));
        self.decoded(chunks, &Vec::from_iter(samples), 2, stream, &|jobs, workspace| {
            // SAFETY: outputs are disjoint parts of a workspace, which is kept until the stream is
            // done.
            unsafe { self.decode(params, jobs, stream, workspace) }
        })
    }

    /// Decodes version 2 streams to their samples of type `element`, as little-endian bytes.
    /// Streams of several channels are decoded, too.
    ///
    /// # Errors
    /// As for [`Codec::decode_streams`]. Damage, or another type of samples, is no error of the
    /// batch but of its stream, as [`linerate_rice::v2::decode_into`] reports it. So is a lack of
    /// memory, as for [`Codec::decode_batch`]: a small stream may claim very many samples.
    pub fn decode_stream_batch(
        &self,
        element: ElementType,
        streams: &[&[u8]],
        stream: &Stream,
    ) -> Result<Batch> {
        let width = element.bytes();
        let samples = streams.iter().map(|stream| v2::info(stream).map_or(0, |info| info.samples as usize));
        self.decoded(streams, &Vec::from_iter(samples), width, stream, &|jobs, workspace| {
            // SAFETY: as in `decode_batch`.
            unsafe { self.decode_streams(element, v2::MAX_SEGMENT as usize, jobs, stream, workspace) }
        })
    }

    /// Encodes 16-bit samples, given as little-endian bytes, as version 1 chunks.
    ///
    /// # Errors
    /// As for [`Codec::encode`].
    pub fn encode_batch(&self, params: &Params, samples: &[&[u8]], stream: &Stream) -> Result<Batch> {
        let bounds = samples.iter().map(|samples| params.bound(samples.len() / 2)).collect();
        self.encoded(samples, bounds, stream, |jobs, workspace| {
            // SAFETY: as in `decode_batch`.
            unsafe { self.encode(params, jobs, stream, workspace) }
        })
    }

    /// Encodes samples of type `element`, given as little-endian bytes, as version 2 streams.
    ///
    /// # Errors
    /// As for [`Codec::encode_streams`].
    pub fn encode_stream_batch(
        &self,
        element: ElementType,
        options: &StreamOptions,
        samples: &[&[u8]],
        stream: &Stream,
    ) -> Result<Batch> {
        let bounds = samples.iter().map(|samples| stream_bound(element, options, samples.len())).collect();
        self.encoded(samples, bounds, stream, |jobs, workspace| {
            // SAFETY: as in `decode_batch`.
            unsafe { self.encode_streams(element, options, jobs, stream, workspace) }
        })
    }

    /// Decodes chunks that state these numbers of samples, of `width` bytes each. `queue` queues the
    /// work of some of them. If memory is full, halves the batch, so that a chunk that claims too
    /// many samples fails alone.
    fn decoded(
        &self,
        chunks: &[&[u8]],
        samples: &[usize],
        width: usize,
        stream: &Stream,
        queue: &impl Fn(&[DecodeJob<'_>], &mut crate::Workspace) -> Result<()>,
    ) -> Result<Batch> {
        match (self.decoded_at_once(chunks, samples, width, stream, queue), chunks.len()) {
            (Err(Error::OutOfMemory { .. }), 1) => {
                let message = "not enough device memory or pinned host memory to decode the samples";
                Ok(vec![Err(linerate_core::Error::new(Kind::Limit, 0, message))])
            }
            (Err(Error::OutOfMemory { .. }), 2..) => {
                let (chunks, more_chunks) = chunks.split_at(chunks.len() / 2);
                let (samples, more_samples) = samples.split_at(chunks.len());
                let mut batch = self.decoded(chunks, samples, width, stream, queue)?;
                batch.extend(self.decoded(more_chunks, more_samples, width, stream, queue)?);
                Ok(batch)
            }
            (result, _) => result,
        }
    }

    /// Decodes chunks as [`Codec::decoded`] does, but as one batch.
    fn decoded_at_once(
        &self,
        chunks: &[&[u8]],
        samples: &[usize],
        width: usize,
        stream: &Stream,
        queue: &impl Fn(&[DecodeJob<'_>], &mut crate::Workspace) -> Result<()>,
    ) -> Result<Batch> {
        let outputs = Outputs::new(samples.iter().map(|n| n.saturating_mul(width)))?;
        let mut memory = self.workspace()?;
        let base = memory.output(outputs.bytes)?;
        let jobs: Vec<_> = chunks
            .iter()
            .zip(samples)
            .zip(&outputs.offsets)
            .map(|((&chunk, &capacity), &at)| DecodeJob {
                chunk: Input::Host(chunk),
                samples: base + at as u64,
                capacity,
            })
            .collect();
        queue(&jobs, &mut memory)?;
        let outcomes = memory.outcomes()?;
        fetch(outcomes, &outputs, base, width, stream)
    }

    fn encoded(
        &self,
        samples: &[&[u8]],
        bounds: Vec<usize>,
        stream: &Stream,
        queue: impl FnOnce(&[EncodeJob<'_>], &mut crate::Workspace) -> Result<()>,
    ) -> Result<Batch> {
        let outputs = Outputs::new(bounds.iter().copied())?;
        let mut memory = self.workspace()?;
        let base = memory.output(outputs.bytes)?;
        let jobs: Vec<_> = samples
            .iter()
            .zip(&bounds)
            .zip(&outputs.offsets)
            .map(|((&samples, &capacity), &at)| EncodeJob {
                samples: Input::Host(samples),
                chunk: base + at as u64,
                capacity,
            })
            .collect();
        queue(&jobs, &mut memory)?;
        let outcomes = memory.outcomes()?;
        fetch(outcomes, &outputs, base, 1, stream)
    }
}

/// Returns the largest size in bytes of a version 2 stream that `options` make of `bytes` bytes of
/// samples of type `element`.
pub fn stream_bound(element: ElementType, options: &StreamOptions, bytes: usize) -> usize {
    match element.bytes() {
        2 => v2::bound::<i16>(options, bytes / 2),
        _ => v2::bound::<i32>(options, bytes / 4),
    }
}

#[allow(unsafe_code)]
/// Copies the outputs at `base` to the host, and waits for them. An outcome without an error is a
/// number of elements of `width` bytes each.
fn fetch(
    outcomes: Vec<Outcome>,
    outputs: &Outputs,
    base: u64,
    width: usize,
    stream: &Stream,
) -> Result<Batch> {
    let fetched = outcomes.into_iter().zip(&outputs.offsets).map(|(outcome, &at)| match outcome {
        // SAFETY: the kernels report no more than they were given memory for, and are done.
        Ok(elements) => unsafe { copy_to_vec(base + at as u64, elements * width, stream) }.map(Ok),
        Err(error) => Ok(Err(error)),
    });
    fetched.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_that_no_address_space_holds_are_out_of_memory() {
        let of = |sizes: &[usize]| Outputs::new(sizes.iter().copied());
        assert_eq!(
            of(&[1, 256, 0, 3]).map(|outputs| (outputs.offsets, outputs.bytes)),
            Ok((vec![0, 256, 512, 512], 768))
        );
        for sizes in
            [&[usize::MAX][..], &[usize::MAX - 254], &[usize::MAX / 2 + 1; 2], &[256, usize::MAX - 255]]
        {
            assert!(matches!(of(sizes), Err(Error::OutOfMemory { .. })), "{sizes:?}");
        }
    }
}
