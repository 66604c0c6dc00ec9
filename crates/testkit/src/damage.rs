//! The damage matrix: how often a test kills commands and damages inputs, and the rows of its
//! record.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;

use crate::data::Noise;

/// The columns of [`Outcome`].
pub const COLUMNS: &str = "role,name,kills,old,new,disks,truncations,truncations_refused,flips,flips_refused";

/// How often each command is killed and its input damaged: `LINERATE_DAMAGE`, or else `few`.
pub fn rounds(few: usize) -> usize {
    env::var("LINERATE_DAMAGE").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Results of a writer or reader. Fields that do not apply to it are zero.
#[derive(Debug, Default)]
pub struct Outcome {
    pub kills: usize,
    /// Number of kills that left the old target.
    pub old: usize,
    /// Number of kills that left the complete new target.
    pub new: usize,
    /// Number of runs on a full disk.
    pub disks: usize,
    pub truncations: usize,
    pub truncations_refused: usize,
    pub flips: usize,
    pub flips_refused: usize,
}

impl Outcome {
    /// Prints the row, and appends it to the file that `LINERATE_DAMAGE_CSV` names.
    ///
    /// # Panics
    /// If that file cannot be written.
    pub fn record(&self, role: &str, name: &str) {
        let Outcome { kills, old, new, disks, truncations, truncations_refused, flips, flips_refused } = self;
        let row = format!(
            "{role},{name},{kills},{old},{new},{disks},{truncations},{truncations_refused},{flips},{flips_refused}\n"
        );
        print!("{row}");
        if let Some(path) = env::var_os("LINERATE_DAMAGE_CSV") {
            let mut file = OpenOptions::new().append(true).create(true).open(path).expect("a record");
            file.write_all(row.as_bytes()).expect("a row");
        }
    }
}

/// Lengths below that of `bytes`: all, if there are at most `count`, else `count` random ones.
pub fn truncations(bytes: &[u8], count: usize) -> Vec<usize> {
    some(bytes.len(), count)
}

/// The bytes with one bit flipped: every bit in turn, if there are at most `count`, else `count`
/// random bits.
pub fn flips(bytes: &[u8], count: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    some(8 * bytes.len(), count).into_iter().map(|bit| {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        damaged
    })
}

fn some(all: usize, count: usize) -> Vec<usize> {
    let mut noise = Noise::new(all as u64);
    if all <= count { (0..all).collect() } else { (0..count).map(|_| noise.below(all)).collect() }
}
