//! Input blocks of a batch, borrowed from Python buffers.

use std::ops::Range;

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{BLOCK_MAX, Format, FrameHeader, frame_extent};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::error::raise;
use crate::sys::buffers::Input;

/// The blocks of a batch, each in a buffer of its own or all in one buffer. This object holds the
/// Python buffers until it is dropped.
#[pyclass(frozen)]
pub(crate) struct DictBlocks {
    buffers: Vec<Input>,
    /// The byte range of each block in the only buffer. `None` if each block has its own buffer.
    slices: Option<Vec<Range<usize>>>,
}

#[pymethods]
impl DictBlocks {
    #[new]
    fn new(blocks: Vec<Input>) -> Self {
        DictBlocks { buffers: blocks, slices: None }
    }

    /// Blocks in the buffer `data`, from the offset and the length of each in bytes.
    #[staticmethod]
    fn slices(
        py: Python<'_>,
        data: Input,
        starts: PyReadonlyArray1<'_, i64>,
        lengths: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let slices = ranges(starts.as_slice()?, lengths.as_slice()?, data.bytes().len());
        Ok(DictBlocks { buffers: vec![data], slices: Some(slices.map_err(|e| raise(py, e))?) })
    }

    fn __len__(&self) -> usize {
        self.slices.as_ref().map_or(self.buffers.len(), Vec::len)
    }

    /// The output capacity for each block in bytes, see [`capacity_for`].
    fn sizes<'py>(&self, py: Python<'py>, max_size: usize) -> Bound<'py, PyArray1<i64>> {
        let blocks: Vec<&[u8]> = self.iter().collect();
        let sizes: Vec<i64> =
            py.detach(|| blocks.iter().map(|block| capacity_for(block, max_size) as i64).collect());
        PyArray1::from_vec(py, sizes)
    }
}

impl DictBlocks {
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let in_one = self.slices.iter().flatten().map(|slice| &self.buffers[0].bytes()[slice.clone()]);
        let each = if self.slices.is_some() { &[][..] } else { &self.buffers[..] };
        in_one.chain(each.iter().map(Input::bytes))
    }
}

/// Makes ranges of a buffer of `len` bytes from their starts and lengths. It is an error if these
/// differ in number, or if a range is not within the buffer.
pub(super) fn ranges(starts: &[i64], lengths: &[i64], len: usize) -> Result<Vec<Range<usize>>> {
    let bad = |what| Error::new(Kind::BadArgument, 0, what);
    if starts.len() != lengths.len() {
        return Err(bad("the numbers of starts and lengths differ"));
    }
    let range = |(&start, &length): (&i64, &i64)| {
        let (start, length) = (usize::try_from(start).ok()?, usize::try_from(length).ok()?);
        Some(start..start.checked_add(length).filter(|&end| end <= len)?)
    };
    let all =
        starts.iter().zip(lengths).map(|pair| range(pair).ok_or(bad("a slice is not within its buffer")));
    all.collect()
}

/// Output capacity for the content of a block, in bytes. This is the size that the frame header
/// states, but no more than a frame of this length can have; or 0 if the stated size exceeds
/// `max_size`. If the header has no size, the capacity is an upper bound that the blocks of the
/// frame give, at most `max_size`. It is 0 if this function finds damage.
pub(super) fn capacity_for(block: &[u8], max_size: usize) -> usize {
    let Ok(header) = FrameHeader::parse(block, Format::Standard) else { return 0 };
    match header.content_size {
        Some(size) if size > max_size as u64 => 0,
        // The header may state a huge size that the frame does not have. A block within the frame
        // takes at least four bytes and has at most `BLOCK_MAX` bytes of content, so the length of
        // the frame bounds the size.
        Some(size) => (size as usize).min((block.len() / 4 + 1).saturating_mul(BLOCK_MAX)),
        None => frame_extent(block, Format::Standard)
            .map_or(0, |extent| extent.bound.min(max_size as u64) as usize),
    }
}
