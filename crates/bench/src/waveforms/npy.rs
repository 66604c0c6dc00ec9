//! `.npy` files: two-dimensional ones of 16-bit samples written row by row, and the headers of any read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::Set;

/// Writes the first `rows` rows of `set` to `path`, one row in memory at a time.
///
/// # Errors
/// Those of the file.
pub fn write(path: &Path, set: Set, rows: usize) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(&header(rows, set.row_samples()))?;
    let mut row = vec![0; set.row_samples()];
    let mut bytes = Vec::with_capacity(2 * row.len());
    for index in 0..rows {
        set.fill(index, &mut row);
        bytes.clear();
        bytes.extend(row.iter().flat_map(|x| x.to_le_bytes()));
        file.write_all(&bytes)?;
    }
    file.flush()
}

/// Version 1.0: magic, the length of the text, the text, filled up so that data starts at a
/// multiple of 64 bytes.
fn header(rows: usize, columns: usize) -> Vec<u8> {
    let text = format!("{{'descr': '<i2', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((length as u16).to_le_bytes());
    header.extend(format!("{text:<width$}\n", width = length - 1).bytes());
    header
}

/// What the header of an `.npy` file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Type of the samples as NumPy writes it, such as `<i2`.
    pub descr: String,
    /// Length of each axis.
    pub shape: Vec<u64>,
    /// Offset of the first sample.
    pub start: u64,
}

impl Header {
    /// The first bytes of every `.npy` file.
    pub const MAGIC: &[u8; 6] = b"\x93NUMPY";

    /// Reads the header at the beginning of a file, of which `head` has all bytes, or as many as there are before
    /// the samples. NumPy's own order and quotes are expected; `linerate rice` reads any.
    ///
    /// # Errors
    /// A sentence: this is not an `.npy` file in C order, or one of a record type.
    pub fn read(head: &[u8]) -> Result<Header, String> {
        let rest = head.strip_prefix(Self::MAGIC).ok_or("this is not an .npy file")?;
        let (length, at) = match rest {
            [1, _, a, b, ..] => (usize::from(u16::from_le_bytes([*a, *b])), 10),
            [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
            _ => return Err("the version of the .npy file is not known".into()),
        };
        let text = head.get(at..at + length).and_then(|text| std::str::from_utf8(text).ok());
        let text = text.ok_or("the header of the .npy file is truncated or longer than usual")?;
        let after = |key: &str| text.split_once(key).map(|(_, rest)| rest.trim_start());
        let fields = || {
            let descr = after("'descr':")?.strip_prefix('\'')?.split('\'').next()?;
            let fortran = after("'fortran_order':")?.starts_with("True");
            let axes = after("'shape':")?.strip_prefix('(')?.split(')').next()?;
            let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
            let shape = axes.map(|axis| axis.parse().ok()).collect::<Option<Vec<u64>>>()?;
            (!fortran || shape.len() < 2).then(|| (descr.to_owned(), shape))
        };
        let (descr, shape) = fields().ok_or("the .npy file is not a plain array in C order")?;
        Ok(Header { descr, shape, start: (at + length) as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_that_was_written_is_read_and_others_are_errors() {
        let head = header(20, 7000);
        let expected = Header { descr: "<i2".into(), shape: vec![20, 7000], start: head.len() as u64 };
        assert_eq!(Header::read(&head), Ok(expected));
        let one = String::from_utf8_lossy(&head[10..]).replace("(20, 7000)", "(20,)     ").into_bytes();
        assert_eq!(Header::read(&[&head[..10], &one[..]].concat()).map(|read| read.shape), Ok(vec![20]));
        let fortran = String::from_utf8_lossy(&head[10..]).replace("False", "True ").into_bytes();
        for damaged in [&head[..40], &[&head[..10], &fortran[..]].concat(), b"RIFF", b""] {
            assert!(Header::read(damaged).is_err(), "{damaged:?}");
        }
    }

    #[test]
    fn data_starts_at_a_multiple_of_64() {
        for (rows, columns) in [(0, 1), (2000, 7000), (usize::MAX, usize::MAX)] {
            let header = header(rows, columns);
            assert!(header.len().is_multiple_of(64) && header.ends_with(b"\n"));
            assert_eq!(usize::from(u16::from_le_bytes([header[8], header[9]])), header.len() - 10);
        }
    }
}
