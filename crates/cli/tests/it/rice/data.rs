//! Arrays and golden chunks.

use std::fs;
use std::path::Path;

use serde_json::Value;

pub(crate) use linerate_testkit::program::{DAMAGED, FAILED, LIMIT, USAGE};

/// An array, and the chunk that the original HDF5 filter made of all of it.
pub(crate) struct Golden {
    pub(crate) name: String,
    /// The value of `--cd-values`; `None` for a chunk without cd_values.
    pub(crate) cd_values: Option<String>,
    pub(crate) npy: Vec<u8>,
    pub(crate) shape: Vec<usize>,
    pub(crate) dtype: String,
    pub(crate) chunk: Vec<u8>,
}

impl Golden {
    /// The options that describe the chunk.
    pub(crate) fn parameters(&self) -> Vec<String> {
        match &self.cd_values {
            Some(values) => vec!["--cd-values".into(), values.clone()],
            None => vec!["--v1".into()],
        }
    }
}

/// The goldens of `testdata/rice` that have 16-bit samples and are one chunk without a checksum.
pub(crate) fn goldens() -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rice");
    let read = |name: &str| fs::read(folder.join(name)).expect("a file of testdata/rice");
    let manifest: Value = serde_json::from_slice(&read("manifest.json")).expect("JSON");
    let entries = manifest.as_object().expect("an object").iter();
    let whole = entries.filter(|(name, entry)| {
        let dtype = entry["dtype"].as_str().expect("a type");
        matches!(dtype, "<i2" | "<u2") && entry["shape"] == entry["chunks"] && !name.contains("fletcher32")
    });
    whole
        .map(|(name, entry)| Golden {
            name: name.clone(),
            cd_values: entry["cd_values"]
                .as_array()
                .map(|values| values.iter().map(Value::to_string).collect::<Vec<_>>().join(",")),
            npy: read(&format!("{name}.raw.npy")),
            shape: serde_json::from_value(entry["shape"].clone()).expect("numbers"),
            dtype: entry["dtype"].as_str().expect("a type").into(),
            chunk: read(&format!("{name}.chunk0.bin")),
        })
        .collect()
}

/// An .npy file of version 1.0.
pub(crate) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_text(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"), data)
}

pub(crate) fn npy_text(text: &str, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    let len = (10 + text.len() + 1).next_multiple_of(64);
    file.extend(((len - 10) as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file.resize(len - 1, b' ');
    file.push(b'\n');
    file.extend(data);
    file
}

/// The samples in an .npy file, as bytes.
pub(crate) fn samples(npy: &[u8]) -> &[u8] {
    &npy[10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]))..]
}

/// A noisy wave of `n` 16-bit samples, as bytes.
pub(crate) fn wave(n: usize) -> Vec<u8> {
    let mut seed = 7u32;
    let sample = |i: usize| {
        seed = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (900.0 * (i as f64 / 40.0).sin()) as i16 + (seed >> 27) as i16
    };
    (0..n).map(sample).flat_map(i16::to_le_bytes).collect()
}

pub(crate) fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(text)))
}
