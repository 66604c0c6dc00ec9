//! Synthetic detector waveforms: seeded, 16-bit, the same samples on every machine.
//!
//! The three sets have the shapes and kinds of signal that users of Delta-Rice record: silicon
//! detectors for beta decay, square pulses, and neutron time of flight. Their noise is set so that
//! sizes with m = 8 are close to those published for such data (about 29, 27 and 25 % of raw). The
//! sets are good for timing, but are no evidence of how small real recordings get.
//!
//! ```
//! use linerate_bench::waveforms::Set;
//! let two = Set::Nab.samples(2);
//! assert_eq!(two.len(), 2 * Set::Nab.row_samples());
//! assert_eq!(two[..], Set::Nab.samples(3)[..two.len()]); // each row has a seed of its own
//! ```

mod events;
mod shapes;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use linerate_gateway_sim::traffic::Random;
use linerate_rice::file::NpyHeader;
use linerate_rice::v2::{ElementType, Shape};

/// A set of waveforms: their number, length and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// 2000 rows of 7000 samples, 28.0 MB: 14-bit; one pulse that rises in a few samples and falls
    /// over a thousand, in a third of the rows a second one; amplifier noise.
    Nab,
    /// 32 rows of 81,920 samples, 5.2 MB: square pulses with short edges; white noise.
    Nedm,
    /// 32 rows of 500,000 samples, 32.0 MB: 14-bit; many short negative pulses on a high baseline,
    /// ever fewer along the row; little noise.
    Noptrex,
}

impl Set {
    /// All sets, in the order in which tables have them.
    pub const ALL: [Set; 3] = [Set::Nab, Set::Nedm, Set::Noptrex];

    /// Name of the set in lower case, as on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Set::Nab => "nab",
            Set::Nedm => "nedm",
            Set::Noptrex => "noptrex",
        }
    }

    /// The set with this name, which must be in lower case.
    pub fn from_name(name: &str) -> Option<Set> {
        Set::ALL.into_iter().find(|set| set.name() == name)
    }

    /// Number of rows of the whole set. Any number can be made.
    pub fn rows(self) -> usize {
        match self {
            Set::Nab => 2000,
            Set::Nedm | Set::Noptrex => 32,
        }
    }

    /// Number of samples in a row.
    pub fn row_samples(self) -> usize {
        match self {
            Set::Nab => 7000,
            Set::Nedm => 81_920,
            Set::Noptrex => 500_000,
        }
    }

    /// Makes row number `index`. Its samples depend only on the set, on `index` and on the length
    /// of `row`, which may be any.
    pub fn fill(self, index: usize, row: &mut [i16]) {
        let seed = match self {
            Set::Nab => 0x6e61_6200,
            Set::Nedm => 0x6e65_646d,
            Set::Noptrex => 0x6e6f_7074,
        };
        let random = &mut Random::stream(seed, index as u64);
        match self {
            Set::Nab => events::nab(random, row),
            Set::Nedm => events::nedm(random, row),
            Set::Noptrex => events::noptrex(random, row),
        }
    }

    /// Writes the first `rows` rows to a `.npy` file, with one row in memory at a time.
    ///
    /// # Errors
    /// An error of the file, or more samples than an array can have.
    pub fn write_npy(self, path: &Path, rows: usize) -> io::Result<()> {
        let shape = Shape::new(&[rows as u64, self.row_samples() as u64])?;
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(&NpyHeader { element: ElementType::I16, shape }.to_bytes())?;
        let mut row = vec![0; self.row_samples()];
        let mut bytes = Vec::with_capacity(2 * row.len());
        for index in 0..rows {
            self.fill(index, &mut row);
            bytes.clear();
            bytes.extend(row.iter().flat_map(|x| x.to_le_bytes()));
            file.write_all(&bytes)?;
        }
        file.flush()
    }

    /// Makes the first `rows` rows, one after another.
    pub fn samples(self, rows: usize) -> Vec<i16> {
        let mut samples = vec![0; rows * self.row_samples()];
        for (index, row) in samples.chunks_mut(self.row_samples()).enumerate() {
            self.fill(index, row);
        }
        samples
    }
}
