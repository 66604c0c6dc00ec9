//! Splits the copy of a box of elements, between two arrays in C order, into strided copies of
//! rows.

/// A box of elements with its places in both arrays.
pub(crate) struct Region {
    /// Length of the box along each axis. The axes are those of the arrays, and a last one for the
    /// bytes of an element; some of them are merged.
    shape: Vec<usize>,
    /// Bytes from one index to the next along each axis, in the destination.
    to_strides: Vec<usize>,
    /// Bytes from one index to the next along each axis, in the source.
    from_strides: Vec<usize>,
    /// Offset of the box's first byte in the destination.
    to_start: usize,
    /// Offset of the box's first byte in the source.
    from_start: usize,
}

/// One strided copy of `count` rows of `width` bytes. The first row is at offset `from` of the
/// source and at offset `to` of the destination. From one row to the next it is `from_pitch` bytes
/// in the source and `to_pitch` bytes in the destination.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) to: usize,
    pub(crate) to_pitch: usize,
    pub(crate) from: usize,
    pub(crate) from_pitch: usize,
    pub(crate) width: usize,
    pub(crate) count: usize,
}

/// Bytes from one element to the next along each axis of an array in C order. `None` if a number
/// overflows.
fn strides(shape: &[usize], itemsize: usize) -> Option<Vec<usize>> {
    let mut strides = vec![0; shape.len()];
    let mut stride = itemsize;
    for (to, &n) in strides.iter_mut().zip(shape).rev() {
        *to = stride;
        stride = stride.checked_mul(n)?;
    }
    Some(strides)
}

impl Region {
    /// The box of shape `shape` that begins at index `skip` of a source of shape `from`, and at
    /// index `position` of a destination of shape `to`; elements have `itemsize` bytes. `None` if
    /// the box is not within both arrays, or their size overflows.
    pub(crate) fn new(
        to: &[usize],
        position: &[usize],
        from: &[usize],
        skip: &[usize],
        shape: &[usize],
        itemsize: usize,
    ) -> Option<Region> {
        let axes = shape.len();
        if [to.len(), position.len(), from.len(), skip.len()] != [axes; 4] {
            return None;
        }
        let fits = |outer: &[usize], start: &[usize]| {
            (0..axes).all(|i| start[i].checked_add(shape[i]).is_some_and(|end| end <= outer[i]))
        };
        if !fits(to, position) || !fits(from, skip) {
            return None;
        }
        let (to_strides, from_strides) = (strides(to, itemsize)?, strides(from, itemsize)?);
        let offset = |strides: &[usize], start: &[usize]| strides.iter().zip(start).map(|(s, i)| s * i).sum();
        let (to_start, from_start) = (offset(&to_strides, position), offset(&from_strides, skip));
        // Appends the axis of an element's bytes.
        let with_bytes = |mut list: Vec<usize>, n| {
            list.push(n);
            list
        };
        let mut region = Region {
            shape: with_bytes(shape.to_vec(), itemsize),
            to_strides: with_bytes(to_strides, 1),
            from_strides: with_bytes(from_strides, 1),
            to_start,
            from_start,
        };
        region.merge_axes();
        Some(region)
    }

    /// Merges each axis with the one before it if the two are contiguous in both arrays, or if the
    /// one before has length 1. So there are fewer copies.
    fn merge_axes(&mut self) {
        let mut i = self.shape.len() - 1;
        while i > 0 {
            let of_one = |strides: &[usize]| strides[i - 1] == strides[i] * self.shape[i];
            if self.shape[i - 1] == 1 || of_one(&self.to_strides) && of_one(&self.from_strides) {
                self.shape[i] *= self.shape[i - 1];
                for list in [&mut self.shape, &mut self.to_strides, &mut self.from_strides] {
                    list.remove(i - 1);
                }
            }
            i -= 1;
        }
    }

    /// The strided copies that together copy the box. Each copies the last two axes at one index of
    /// the others. An empty box has none.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Rows> + '_ {
        let axes = self.shape.len();
        let outer = axes.saturating_sub(2);
        let is_empty = self.shape.contains(&0);
        let copies = if is_empty { 0 } else { self.shape[..outer].iter().product() };
        let (count, to_pitch, from_pitch) = match axes {
            0 | 1 => (1, self.shape[axes - 1], self.shape[axes - 1]),
            _ => (self.shape[outer], self.to_strides[outer], self.from_strides[outer]),
        };
        (0..copies).map(move |mut index| {
            let (mut to, mut from) = (self.to_start, self.from_start);
            for axis in (0..outer).rev() {
                let at = index % self.shape[axis];
                index /= self.shape[axis];
                to += at * self.to_strides[axis];
                from += at * self.from_strides[axis];
            }
            Rows { to, to_pitch, from, from_pitch, width: self.shape[axes - 1], count }
        })
    }
}
