//! What several tests share.
#![allow(dead_code)]

use std::fs;
use std::path::PathBuf;

use linerate_rice::{Exec, Params, Tier};

/// A chunk by the original filter, and what is in it.
pub(crate) struct Golden {
    pub(crate) name: String,
    pub(crate) params: Params,
    pub(crate) chunk: Vec<u8>,
    pub(crate) samples: Vec<i16>,
}

/// All goldens, in order of their names.
pub(crate) fn goldens() -> Vec<Golden> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/rice"));
    let read = |name: &str| fs::read(folder.join(name)).expect("a file of testdata/rice");
    let manifest: serde_json::Value = serde_json::from_slice(&read("manifest.json")).expect("JSON");
    let golden = |(name, entry): (&String, &serde_json::Value)| {
        let numbers = |key: &str| -> Vec<usize> {
            let list = entry[key].as_array().expect("a list");
            list.iter().map(|n| n.as_u64().expect("a number") as usize).collect()
        };
        let values: Vec<u32> = match entry["cd_values"] {
            serde_json::Value::Null => vec![],
            _ => numbers("cd_values").iter().map(|&n| n as u32).collect(),
        };
        let mut chunk = read(&format!("{name}.chunk0.bin"));
        if name == "walk_then_fletcher32" {
            chunk.truncate(chunk.len() - 4);
        }
        let bytes = first_chunk(&read(&format!("{name}.raw.npy")), &numbers("shape"), &numbers("chunks"));
        Golden {
            name: name.clone(),
            params: Params::from_cd_values(&values).expect("valid parameters"),
            chunk,
            samples: bytes.as_chunks().0.iter().map(|b| i16::from_le_bytes(*b)).collect(),
        }
    };
    manifest.as_object().expect("an object").iter().map(golden).collect()
}

/// The bytes of the first chunk of the array, zeros where it reaches over the edge.
fn first_chunk(npy: &[u8], shape: &[usize], chunks: &[usize]) -> Vec<u8> {
    let header = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    let data = &npy[header..];
    let size = data.len() / shape.iter().product::<usize>();
    let (rows, row) = (shape[..shape.len() - 1].iter().product(), shape[shape.len() - 1] * size);
    let (chunk_rows, chunk_row) =
        (chunks[..chunks.len() - 1].iter().product(), chunks[chunks.len() - 1] * size);
    let mut out = vec![0; chunk_rows * chunk_row];
    let width = row.min(chunk_row);
    for r in 0..usize::min(rows, chunk_rows) {
        out[r * chunk_row..][..width].copy_from_slice(&data[r * row..][..width]);
    }
    out
}

/// One thread, on each tier that this machine has.
pub(crate) fn tiers() -> impl Iterator<Item = Exec> {
    Tier::ALL.into_iter().filter(|t| t.is_supported()).map(|t| Exec::default().with_tier(t))
}

/// A seeded source of noise (PCG's multiplier, its better half of the bits).
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    /// A random walk whose steps span 2^bits values, bits at most 16, with a jump now and then.
    pub(crate) fn walk(&mut self, n: usize, bits: u32) -> Vec<i16> {
        let mut x = 0i16;
        (0..n)
            .map(|_| {
                let jump = self.next().is_multiple_of(50);
                let step = i32::from(self.next() as i16) >> if jump { 0 } else { 16 - bits };
                x = x.wrapping_add(step as i16);
                x
            })
            .collect()
    }
}
