//! Maps the selected elements of chunks to their places in the output of `pylinerate.hdf5.read`.

use std::ops::Range;

use linerate_core::{Error, Kind, Result};

/// One axis of a dataset: elements per chunk along the axis, and the selection there, the `count`
/// indices `start`, `start + step`, and so on.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    pub(crate) chunk: usize,
    pub(crate) start: usize,
    pub(crate) step: usize,
    pub(crate) count: usize,
}

impl Axis {
    /// The numbers of the selected indices that lie in the chunk beginning at index `offset`. The
    /// first index of the whole selection has the number 0, the second the number 1, and so on.
    fn within(&self, offset: usize) -> Range<usize> {
        let first_from = |at: usize| at.saturating_sub(self.start).div_ceil(self.step).min(self.count);
        first_from(offset)..first_from(offset.saturating_add(self.chunk))
    }

    /// Position of the selected index with number `i` within its chunk, which begins at index
    /// `offset`.
    fn inside(&self, offset: usize, i: usize) -> usize {
        self.start + i * self.step - offset
    }
}

/// The chunks of a dataset, and a selection of its elements.
pub(crate) struct Grid {
    axes: Vec<Axis>,
    itemsize: usize,
    chunk_bytes: usize,
    out_bytes: usize,
}

/// The part of the selection within one chunk.
pub(crate) struct Part {
    axes: Vec<PartAxis>,
    itemsize: usize,
}

struct PartAxis {
    /// Number of elements of the chunk along this axis, and of the output.
    sizes: [usize; 2],
    /// Position along this axis of the part's first element: in the chunk, and in the output.
    first: [usize; 2],
    /// Distance in the chunk between neighbouring elements of the part, in elements. In the output
    /// they are neighbours.
    step: usize,
    /// Number of elements of the part along this axis.
    count: usize,
}

fn bad(what: &'static str) -> Error {
    Error::new(Kind::BadArgument, 0, what)
}

impl Grid {
    /// Makes a grid of elements of `itemsize` bytes.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if there are no axes, if a chunk size, a step or `itemsize` is
    /// 0, or if the size of a chunk or of the selection, or the end of the selected indices along
    /// an axis, overflows. An empty selection is valid.
    pub(crate) fn new(axes: Vec<Axis>, itemsize: usize) -> Result<Grid> {
        let product = |size: fn(&Axis) -> usize| {
            axes.iter().try_fold(itemsize, |all, axis| all.checked_mul(size(axis)))
        };
        let sound = |axis: &Axis| {
            let end = axis.count.checked_mul(axis.step).and_then(|n| n.checked_add(axis.start));
            axis.chunk > 0 && axis.step > 0 && end.is_some()
        };
        let (Some(chunk_bytes), Some(out_bytes)) = (product(|a| a.chunk), product(|a| a.count)) else {
            return Err(bad("a selection or chunk is too large"));
        };
        if itemsize == 0 || axes.is_empty() || !axes.iter().all(sound) {
            return Err(bad("a selection or chunk has an impossible size"));
        }
        Ok(Grid { axes, itemsize, chunk_bytes, out_bytes })
    }

    /// Bytes of a decoded chunk.
    pub(crate) fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// Bytes of an element.
    pub(crate) fn itemsize(&self) -> usize {
        self.itemsize
    }

    /// Bytes of all selected elements.
    pub(crate) fn out_bytes(&self) -> usize {
        self.out_bytes
    }

    /// The part of the selection in the chunk whose first element has the index `offset`. Parts of
    /// different chunks are disjoint in the output.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if `offset` has another number of axes, or is not a multiple
    /// of the chunk's length along one of them.
    pub(crate) fn part(&self, offset: &[usize]) -> Result<Part> {
        let on_grid = |(axis, &at): (&Axis, &usize)| at % axis.chunk == 0;
        if offset.len() != self.axes.len() || !self.axes.iter().zip(offset).all(on_grid) {
            return Err(bad("no chunk begins there"));
        }
        let axes = self.axes.iter().zip(offset).map(|(axis, &at)| {
            let within = axis.within(at);
            let first = if within.is_empty() { 0 } else { axis.inside(at, within.start) };
            PartAxis {
                sizes: [axis.chunk, axis.count],
                first: [first, within.start],
                step: axis.step,
                count: within.len(),
            }
        });
        Ok(Part { axes: axes.collect(), itemsize: self.itemsize })
    }
}

impl Part {
    /// Whether nothing is selected in this chunk.
    pub(crate) fn is_empty(&self) -> bool {
        self.axes.iter().any(|axis| axis.count == 0)
    }

    /// The range of the chunk's elements, numbered in C order, from the first selected one to the
    /// last. Only for a part that is not empty.
    pub(crate) fn span(&self) -> Range<usize> {
        let at = |index: fn(&PartAxis) -> usize| {
            self.axes.iter().fold(0, |at, axis| at * axis.sizes[0] + axis.first[0] + index(axis))
        };
        at(|_| 0)..at(|axis| (axis.count - 1) * axis.step) + 1
    }

    /// The byte range of the output that the chunk fills, if the whole chunk goes there unchanged
    /// and without gaps. Otherwise `None`.
    pub(crate) fn whole(&self) -> Option<Range<usize>> {
        let all = self.axes.iter().all(|axis| axis.step == 1 && axis.count == axis.sizes[0]);
        let long = self.axes.iter().position(|axis| axis.count > 1).unwrap_or(self.axes.len());
        let in_one = self.axes.iter().skip(long + 1).all(|axis| axis.count == axis.sizes[1]);
        let first = self.axes.iter().fold(0, |at, axis| at * axis.sizes[1] + axis.first[1]);
        let elements: usize = self.axes.iter().map(|axis| axis.count).product();
        (all && in_one).then(|| first * self.itemsize..(first + elements) * self.itemsize)
    }

    /// Splits the part into runs of elements that are contiguous in the chunk and in the output.
    /// Calls `copy` for each run with its byte range in the chunk, then that in the output. Only
    /// for a part that is not empty.
    pub(crate) fn runs(&self, mut copy: impl FnMut(Range<usize>, Range<usize>)) {
        let Some((last, outer)) = self.axes.split_last() else { return };
        let (runs, elements) = if last.step == 1 { (1, last.count) } else { (last.count, 1) };
        let length = elements * self.itemsize;
        let mut index = vec![0; outer.len()];
        loop {
            let row = |side: usize| {
                let along = |(axis, &i): (&PartAxis, &usize)| {
                    (axis.sizes[side], axis.first[side] + if side == 0 { i * axis.step } else { i })
                };
                let rows = outer.iter().zip(&index).map(along);
                rows.fold(0, |at, (size, i)| at * size + i) * last.sizes[side] + last.first[side]
            };
            let (from, to) = (row(0) * self.itemsize, row(1) * self.itemsize);
            for i in 0..runs {
                let (from, to) = (from + i * last.step * self.itemsize, to + i * length);
                copy(from..from + length, to..to + length);
            }
            if !advance(&mut index, outer) {
                return;
            }
        }
    }
}

/// Moves `index` to the next index in C order. If it was the last one, sets it to all 0 and returns
/// false.
fn advance(index: &mut [usize], axes: &[PartAxis]) -> bool {
    for (i, axis) in index.iter_mut().zip(axes).rev() {
        *i += 1;
        if *i < axis.count {
            return true;
        }
        *i = 0;
    }
    false
}
