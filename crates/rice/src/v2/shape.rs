//! The shape record of a stream, for arrays whose shape does not follow from the number of samples
//! and the length of a row.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | checksum of the rest |
//! | 8 each | size of each axis, the slowest first |

use linerate_core::{Error, Kind, Result};

use super::checksum::checksum;

/// The axes of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    axes: [u64; Shape::MAX_AXES],
    len: u8,
}

impl Shape {
    /// Maximum number of axes, as in NumPy.
    pub(crate) const MAX_AXES: usize = 64;

    /// Number of 32-bit words of the longest record.
    #[cfg(feature = "file")]
    pub(crate) const MAX_WORDS: u32 = 1 + 2 * Shape::MAX_AXES as u32;

    /// Creates a shape from the size of each axis, the slowest first. No axes means a single
    /// sample.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for more than 64.
    pub fn new(axes: &[u64]) -> Result<Shape> {
        let mut all = [0; Shape::MAX_AXES];
        let used = all.get_mut(..axes.len());
        used.ok_or(Error::new(Kind::Unsupported, 0, "an array of more than 64 axes"))?.copy_from_slice(axes);
        Ok(Shape { axes: all, len: axes.len() as u8 })
    }

    /// Creates the shape of rows of `row` samples. It has one axis if there is no row, or if
    /// `samples` is not a multiple of it.
    pub fn from_rows(samples: u64, row: Option<u64>) -> Shape {
        let mut axes = [0; Shape::MAX_AXES];
        let len = match row {
            Some(row) if row > 0 && samples.is_multiple_of(row) => {
                axes[..2].copy_from_slice(&[samples / row, row]);
                2
            }
            _ => {
                axes[0] = samples;
                1
            }
        };
        Shape { axes, len }
    }

    /// The size of each axis.
    pub fn axes(&self) -> &[u64] {
        &self.axes[..usize::from(self.len)]
    }

    /// Number of samples in an array of this shape. `None` if it is 2^64 or more.
    pub fn samples(&self) -> Option<u64> {
        match self.axes().contains(&0) {
            true => Some(0),
            false => self.axes().iter().try_fold(1u64, |product, &n| product.checked_mul(n)),
        }
    }

    /// Number of samples in a row, the last of several axes. `None` for fewer than two axes, or for
    /// empty rows.
    pub fn row(&self) -> Option<u64> {
        match self.axes() {
            [_, .., row] if *row > 0 => Some(*row),
            _ => None,
        }
    }

    /// Size of the record in bytes.
    pub(super) fn bytes(&self) -> usize {
        4 + 8 * usize::from(self.len)
    }

    /// Writes the record, which fills `out`.
    pub(super) fn write(&self, out: &mut [u8]) {
        let (sum, rest) = out.split_at_mut(4);
        rest.chunks_exact_mut(8)
            .zip(self.axes())
            .for_each(|(to, axis)| to.copy_from_slice(&axis.to_le_bytes()));
        sum.copy_from_slice(&checksum(rest).to_le_bytes());
    }

    /// Parses a record. `None` if its checksum or length is wrong.
    pub(super) fn parse(record: &[u8]) -> Option<Shape> {
        let (sum, rest) = record.split_first_chunk()?;
        let (axes, []) = rest.as_chunks::<8>() else { return None };
        if u32::from_le_bytes(*sum) != checksum(rest) || axes.len() > Shape::MAX_AXES {
            return None;
        }
        let mut all = [0; Shape::MAX_AXES];
        all.iter_mut().zip(axes).for_each(|(to, axis)| *to = u64::from_le_bytes(*axis));
        Some(Shape { axes: all, len: axes.len() as u8 })
    }
}

impl core::fmt::Debug for Shape {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Shape").field(&self.axes()).finish()
    }
}

/// Prints the shape as Python prints a tuple: `(7,)`, `(2000, 7000)`.
impl core::fmt::Display for Shape {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("(")?;
        for (i, axis) in self.axes().iter().enumerate() {
            write!(f, "{}{axis}", if i > 0 { ", " } else { "" })?;
        }
        f.write_str(if self.axes().len() == 1 { ",)" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn row_is_the_last_of_several_axes() {
        let row = |axes: &[u64]| Shape::new(axes).unwrap().row();
        assert_eq!(row(&[]), None);
        assert_eq!(row(&[5]), None);
        assert_eq!(row(&[1, 5]), Some(5));
        assert_eq!(row(&[2, 3, 4]), Some(4));
        assert_eq!(row(&[2, 0]), None);
    }

    #[test]
    fn samples_are_the_product_of_the_axes_or_none_on_overflow() {
        let samples = |axes: &[u64]| Shape::new(axes).unwrap().samples();
        assert_eq!(samples(&[u64::MAX, u64::MAX, 0]), Some(0));
        assert_eq!(samples(&[u64::MAX, 2]), None);
        assert_eq!(samples(&[3, 4]), Some(12));
    }

    #[test]
    fn incomplete_rows_make_one_axis() {
        assert_eq!(Shape::from_rows(12, Some(4)).to_string(), "(3, 4)");
        assert_eq!(Shape::from_rows(13, Some(4)).to_string(), "(13,)");
        assert_eq!(Shape::from_rows(13, None).to_string(), "(13,)");
        assert_eq!(Shape::from_rows(0, Some(0)).to_string(), "(0,)");
    }
}
