//! A shape whose first axis may follow from the number of samples.

use std::fmt;

use linerate_core::{Error, Kind, Result};

use crate::v2::Shape;

/// The axes of an array. The first may be open: its size then follows from the number of samples.
///
/// ```
/// use linerate_rice::file::PartialShape;
/// let rows_of_7000 = PartialShape::open(&[7000])?;
/// assert_eq!(rows_of_7000.for_samples(21_000).unwrap().axes(), [3, 7000]);
/// assert_eq!(rows_of_7000.for_samples(21_001), None);
/// assert_eq!(rows_of_7000.to_string(), "-1,7000");
/// # Ok::<(), linerate_rice::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialShape {
    /// The shape; an open axis is 1.
    shape: Shape,
    is_open: bool,
}

/// Maximum number of samples. With 4 bytes each, offsets still fit in 63 bits.
pub(super) const MAX_SAMPLES: u64 = i64::MAX as u64 / 4;

impl PartialShape {
    /// A shape without an open axis.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for 2^61 samples or more.
    pub fn complete(shape: Shape) -> Result<PartialShape> {
        match shape.samples() {
            Some(..=MAX_SAMPLES) => Ok(PartialShape { shape, is_open: false }),
            _ => Err(Error::new(Kind::BadArgument, 0, "the shape has too many samples")),
        }
    }

    /// An open axis, followed by the axes `rest`.
    ///
    /// # Errors
    /// * [`Kind::Unsupported`] for more than 64 axes.
    /// * [`Kind::BadArgument`] for an axis of 0, or if `rest` alone has 2^61 samples or more.
    pub fn open(rest: &[u64]) -> Result<PartialShape> {
        if rest.contains(&0) {
            return Err(Error::new(Kind::BadArgument, 0, "an axis of 0 beside an open one"));
        }
        let complete = PartialShape::complete(Shape::new(&[&[1], rest].concat())?)?;
        Ok(PartialShape { is_open: true, ..complete })
    }

    /// One axis of any length.
    pub fn any_length() -> PartialShape {
        PartialShape { shape: Shape::from_rows(1, None), is_open: true }
    }

    /// The shape, unless an axis is open.
    pub fn shape(&self) -> Option<Shape> {
        (!self.is_open).then_some(self.shape)
    }

    /// Returns the shape of this many samples, if the axes allow it.
    pub fn for_samples(&self, samples: u64) -> Option<Shape> {
        let given = self.shape.samples()?;
        if !self.is_open {
            return (given == samples).then_some(self.shape);
        }
        if !samples.is_multiple_of(given) {
            return None;
        }
        let axes = self.shape.axes();
        Shape::new(&[&[samples / given], &axes[1..]].concat()).ok()
    }

    /// The size of each axis, 1 for an open one.
    pub(super) fn axes(&self) -> &[u64] {
        self.shape.axes()
    }

    /// Number of samples that belong to one index of the first axis. `None` if there is no axis, or
    /// if an axis after the first is 0.
    pub(super) fn slab(&self) -> Option<u64> {
        let product = self.shape.axes().get(1..)?.iter().try_fold(1u64, |product, &n| product.checked_mul(n));
        product.filter(|&product| product > 0)
    }

    /// Returns the shape of a part of the array with `samples` samples, which must be all samples,
    /// or all samples of some indices of the first axis.
    pub(super) fn of_slabs(&self, samples: u64) -> Option<Shape> {
        if self.for_samples(samples).is_some() {
            return self.for_samples(samples);
        }
        let slab = self.slab().filter(|&slab| samples.is_multiple_of(slab))?;
        Shape::new(&[&[samples / slab], &self.shape.axes()[1..]].concat()).ok()
    }

    /// Number of samples in a row, the last of several axes.
    pub(crate) fn row(&self) -> Option<u64> {
        self.shape.row()
    }
}

/// Prints the axes with commas between them. An open axis is -1.
impl fmt::Display for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, axis) in self.shape.axes().iter().enumerate() {
            match (i, self.is_open) {
                (0, true) => f.write_str("-1")?,
                (0, false) => write!(f, "{axis}")?,
                _ => write!(f, ",{axis}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(axes: &[u64]) -> Result<PartialShape> {
        PartialShape::complete(Shape::new(axes)?)
    }

    #[test]
    fn open_axis_takes_whole_rows_only() {
        let rows = PartialShape::open(&[4]).unwrap();
        assert_eq!(rows.for_samples(12).unwrap().axes(), [3, 4]);
        assert_eq!(rows.for_samples(0).unwrap().axes(), [0, 4]);
        assert_eq!(rows.for_samples(13), None);
        assert_eq!((rows.shape(), rows.row()), (None, Some(4)));
        assert_eq!(PartialShape::any_length().for_samples(5).unwrap().axes(), [5]);
    }

    #[test]
    fn complete_shape_takes_its_number_of_samples_only() {
        let shape = complete(&[2, 3, 2]).unwrap();
        assert_eq!(shape.for_samples(12), shape.shape());
        assert_eq!(shape.for_samples(24), None);
        assert_eq!(complete(&[0, 7]).unwrap().for_samples(0).unwrap().axes(), [0, 7]);
    }

    #[test]
    fn too_many_samples_or_axes_and_open_axis_beside_zero_are_errors() {
        assert_eq!(complete(&[1 << 32, 1 << 32]).unwrap_err().kind, Kind::BadArgument);
        assert_eq!(complete(&[MAX_SAMPLES + 1]).unwrap_err().kind, Kind::BadArgument);
        assert_eq!(PartialShape::open(&[0]).unwrap_err().kind, Kind::BadArgument);
        assert_eq!(PartialShape::open(&[1; 64]).unwrap_err().kind, Kind::Unsupported);
    }
}
