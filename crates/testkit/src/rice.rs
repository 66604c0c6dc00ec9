//! Reads golden chunks, which the original Delta-Rice filter has written, from `testdata/rice`.

use std::fs;

use serde_json::Value;

use crate::testdata::testdata;

/// A chunk written by the original filter, and its samples.
pub struct Golden {
    pub name: String,
    /// The filter's `cd_values` in HDF5.
    pub cd_values: Vec<u32>,
    pub chunk: Vec<u8>,
    /// The samples as bytes, with zeros where the chunk extends beyond the array.
    pub plain: Vec<u8>,
}

/// All goldens, sorted by name.
pub fn goldens() -> Vec<Golden> {
    let folder = testdata().join("rice");
    let read = |name: &str| fs::read(folder.join(name)).expect("a file of testdata/rice");
    let manifest: Value = serde_json::from_slice(&read("manifest.json")).expect("JSON");
    let golden = |(name, entry): (&String, &Value)| {
        let mut chunk = read(&format!("{name}.chunk0.bin"));
        if name == "walk_then_fletcher32" {
            // HDF5's filter fletcher32 has appended its checksum of 4 bytes.
            chunk.truncate(chunk.len() - 4);
        }
        let [shape, chunk_shape] = ["shape", "chunks"].map(|key| numbers(&entry[key]));
        let plain = first_chunk(&read(&format!("{name}.raw.npy")), &shape, &chunk_shape);
        let cd_values = numbers(&entry["cd_values"]).into_iter().map(|n| n as u32).collect();
        Golden { name: name.clone(), cd_values, chunk, plain }
    };
    manifest.as_object().expect("an object").iter().map(golden).collect()
}

/// The numbers of a JSON list; `null` is an empty list.
fn numbers(list: &Value) -> Vec<usize> {
    let numbers = list.as_array().map_or(&[][..], Vec::as_slice).iter();
    numbers.map(|n| n.as_u64().expect("a number") as usize).collect()
}

/// The bytes of the first chunk of an array in an .npy file, with zeros where the chunk extends
/// beyond the array.
fn first_chunk(npy: &[u8], shape: &[usize], chunk: &[usize]) -> Vec<u8> {
    let data = &npy[10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]))..];
    let size = data.len() / shape.iter().product::<usize>();
    let rows_and_row = |shape: &[usize]| {
        let (row, rows) = shape.split_last().expect("one dimension at least");
        (rows.iter().product::<usize>(), row * size)
    };
    let ((rows, row), (chunk_rows, chunk_row)) = (rows_and_row(shape), rows_and_row(chunk));
    let mut out = vec![0; chunk_rows * chunk_row];
    let width = row.min(chunk_row);
    for (out, row) in out.chunks_mut(chunk_row).zip(data.chunks(row)).take(rows) {
        out[..width].copy_from_slice(&row[..width]);
    }
    out
}
