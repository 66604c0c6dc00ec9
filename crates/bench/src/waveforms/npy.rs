//! Two-dimensional `.npy` files of 16-bit samples, written row by row.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_starts_at_a_multiple_of_64() {
        for (rows, columns) in [(0, 1), (2000, 7000), (usize::MAX, usize::MAX)] {
            let header = header(rows, columns);
            assert!(header.len().is_multiple_of(64) && header.ends_with(b"\n"));
            assert_eq!(usize::from(u16::from_le_bytes([header[8], header[9]])), header.len() - 10);
        }
    }
}
