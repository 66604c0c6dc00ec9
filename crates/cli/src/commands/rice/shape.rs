//! The shapes of arrays, and how they are given on the command line.

use std::fmt;

/// Samples along each axis, the last of which is contiguous: a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape(pub(crate) Vec<u64>);

impl Shape {
    /// Rows of `row` samples, or one axis if that does not divide `samples` or there is no row.
    pub(crate) fn of(samples: u64, row: Option<u64>) -> Shape {
        match row {
            Some(row) if row > 0 && samples.is_multiple_of(row) => Shape(vec![samples / row, row]),
            _ => Shape(vec![samples]),
        }
    }

    /// Samples in all, unless they are too many to have their bytes counted.
    pub(crate) fn samples(&self) -> Option<u64> {
        // An axis of 0 makes the others mean nothing, however large they are.
        if self.0.contains(&0) {
            return Some(0);
        }
        const MOST: u64 = i64::MAX as u64 / 4;
        self.0.iter().try_fold(1u64, |n, &axis| n.checked_mul(axis)).filter(|&n| n <= MOST)
    }

    /// Samples per row; `None` for an array of one axis.
    pub(crate) fn row(&self) -> Option<u64> {
        match self.0.as_slice() {
            [.., row] if self.0.len() > 1 && *row > 0 => Some(*row),
            _ => None,
        }
    }
}

impl fmt::Display for Shape {
    /// As Python writes a tuple.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => write!(f, "({one},)"),
            axes => {
                let axes: Vec<String> = axes.iter().map(u64::to_string).collect();
                write!(f, "({})", axes.join(", "))
            }
        }
    }
}

/// A shape on the command line, whose first axis may be left open as -1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShapeChoice {
    axes: Vec<u64>,
    /// The first axis is what the number of samples makes it.
    open: bool,
}

const MOST_AXES: usize = 32;

impl ShapeChoice {
    /// Reads `ROWS,SAMPLES`, `-1,SAMPLES` and the like.
    pub(crate) fn parse(text: &str) -> Result<ShapeChoice, String> {
        let mut parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if parts.len() > 1 && parts.last() == Some(&"") {
            parts.pop();
        }
        if parts.len() > MOST_AXES {
            return Err(format!("at most {MOST_AXES} axes"));
        }
        let open = parts[0] == "-1";
        if open {
            parts[0] = "1";
        }
        let axes: Result<Vec<u64>, _> = parts.iter().map(|part| part.parse()).collect();
        let axes = axes.map_err(|_| "give numbers of samples, such as 2000,7000 or -1,7000".to_owned())?;
        let shape = Shape(axes);
        match shape.samples() {
            None => Err("the shape has too many samples".into()),
            Some(0) if open => Err("an axis of 0 beside one of -1".into()),
            Some(_) => Ok(ShapeChoice { axes: shape.0, open }),
        }
    }

    /// One axis of any length.
    pub(crate) fn line() -> ShapeChoice {
        ShapeChoice { axes: vec![1], open: true }
    }

    /// The shape if it is complete.
    pub(crate) fn closed(&self) -> Option<Shape> {
        (!self.open).then(|| Shape(self.axes.clone()))
    }

    /// The shape that has this many samples, if one does.
    pub(crate) fn for_samples(&self, samples: u64) -> Option<Shape> {
        let mut shape = Shape(self.axes.clone());
        let given = shape.samples()?;
        if self.open {
            shape.0[0] = samples / given;
        }
        (shape.samples() == Some(samples)).then_some(shape)
    }

    /// Samples per row; `None` for one axis.
    pub(crate) fn row(&self) -> Option<u64> {
        Shape(self.axes.clone()).row()
    }
}

impl From<Shape> for ShapeChoice {
    fn from(shape: Shape) -> ShapeChoice {
        ShapeChoice { axes: shape.0, open: false }
    }
}

impl fmt::Display for ShapeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> = self.axes.iter().map(u64::to_string).collect();
        let first = if self.open { "-1" } else { &axes[0] };
        write!(f, "{}", [&[first.to_owned()], &axes[1..]].concat().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_and_checked() {
        let shape = |text: &str, n| ShapeChoice::parse(text).unwrap().for_samples(n).map(|s| s.0);
        assert_eq!(shape("12", 12), Some(vec![12]));
        assert_eq!(shape("3,4", 12), Some(vec![3, 4]));
        assert_eq!(shape("3,4", 13), None);
        assert_eq!(shape("-1,4", 12), Some(vec![3, 4]));
        assert_eq!(shape("-1,4", 0), Some(vec![0, 4]));
        assert_eq!(shape("-1,5", 12), None);
        assert_eq!(shape("2, 3, 2,", 12), Some(vec![2, 3, 2]));
        assert_eq!(shape("0,7", 0), Some(vec![0, 7]));
        for bad in ["", ",", "-1,0", "3,-1", "x", "4294967296,4294967296", "-2"] {
            assert!(ShapeChoice::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(ShapeChoice::parse("-1,4").unwrap().to_string(), "-1,4");
    }

    #[test]
    fn a_row_is_the_last_of_several_axes() {
        assert_eq!(Shape(vec![5]).row(), None);
        assert_eq!(Shape(vec![1, 5]).row(), Some(5));
        assert_eq!(Shape(vec![2, 3, 4]).row(), Some(4));
        assert_eq!(Shape(vec![2, 0]).row(), None);
        assert_eq!(Shape(vec![u64::MAX, u64::MAX, 0]).samples(), Some(0));
        assert_eq!(Shape(vec![u64::MAX, 2]).samples(), None);
        assert_eq!(Shape(vec![7]).to_string(), "(7,)");
        assert_eq!(Shape(vec![7, 8]).to_string(), "(7, 8)");
    }
}
