//! The damage matrix: tests kill each command that writes, and damage the input of each command
//! that reads. This module decides how often, and writes the results as rows of a CSV file.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;

use crate::data::Noise;

/// The columns of a row: the arguments of [`Outcome::record`], then the fields of [`Outcome`].
pub const COLUMNS: &str = "role,name,kills,old,new,disks,truncations,truncations_refused,flips,flips_refused";

/// How often each command is killed or its input damaged: the number in the environment variable
/// `LINERATE_DAMAGE`, or `few` if it has none.
pub fn rounds(few: usize) -> usize {
    env::var("LINERATE_DAMAGE").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Results of one command that writes or reads. Fields that do not apply to it are zero. `_refused`
/// counts the damaged inputs that ended in an error.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Number of kills that came before the command had ended. Those of an extraction may leave
    /// some of the files, each complete, and are then in neither `old` nor `new`.
    pub kills: usize,
    /// Number of kills that left the old target.
    pub old: usize,
    /// Number of kills that left the complete new target.
    pub new: usize,
    /// Number of runs that failed because the disk was full.
    pub disks: usize,
    pub truncations: usize,
    pub truncations_refused: usize,
    pub flips: usize,
    pub flips_refused: usize,
}

impl Outcome {
    /// Prints a row of [`COLUMNS`], and appends it to the file that the environment variable
    /// `LINERATE_DAMAGE_CSV` names, if it is set. Never writes the names of the columns.
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

/// Lengths to which `bytes` are cut: all from 0 to one less than their own if there are at most
/// `count`, else `count` pseudorandom ones, some perhaps twice. Bytes of one length always get the
/// same cuts.
pub fn truncations(bytes: &[u8], count: usize) -> Vec<usize> {
    some(bytes.len(), count)
}

/// Copies of the bytes, each with one bit flipped: every bit in turn if there are at most `count`
/// bits, else `count` pseudorandom ones, some perhaps twice.
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
