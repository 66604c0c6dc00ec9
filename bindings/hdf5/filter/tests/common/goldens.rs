//! The chunks of the original filter that are in `testdata/rice`, with the `cd_values` they have.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// A chunk by the original filter, and what is in it.
pub(crate) struct Golden {
    pub(crate) name: String,
    pub(crate) values: Vec<u32>,
    pub(crate) chunk: Vec<u8>,
    /// The samples as bytes, zeros where the chunk reaches over the edge of the array.
    pub(crate) plain: Vec<u8>,
}

/// All goldens, in order of their names.
pub(crate) fn goldens() -> Vec<Golden> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../testdata/rice"));
    let read = |name: &str| fs::read(folder.join(name)).expect("a file of testdata/rice");
    let manifest: Value = serde_json::from_slice(&read("manifest.json")).expect("JSON");
    let golden = |(name, entry): (&String, &Value)| {
        let mut chunk = read(&format!("{name}.chunk0.bin"));
        if name == "walk_then_fletcher32" {
            chunk.truncate(chunk.len() - 4); // by a later filter
        }
        let shapes = [numbers(&entry["shape"]), numbers(&entry["chunks"])];
        let plain = first_chunk(&read(&format!("{name}.raw.npy")), &shapes[0], &shapes[1]);
        let values = numbers(&entry["cd_values"]).into_iter().map(|n| n as u32).collect();
        Golden { name: name.clone(), values, chunk, plain }
    };
    manifest.as_object().expect("an object").iter().map(golden).collect()
}

/// The numbers of a list; none if it is null.
fn numbers(list: &Value) -> Vec<usize> {
    let numbers = list.as_array().map_or(&[][..], Vec::as_slice).iter();
    numbers.map(|n| n.as_u64().expect("a number") as usize).collect()
}

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
