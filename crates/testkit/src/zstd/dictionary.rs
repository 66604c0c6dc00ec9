//! Builds zstd dictionaries part by part (RFC 8878, section 5).

use super::fse::{Table, describe};
use super::huffman::Tree;
use super::sequences::{Tables, default_lengths, default_literals, default_offsets};

/// The magic number of dictionaries with tables.
pub const MAGIC: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];

/// The parts of a dictionary. If the tree or the counts are missing, it has content alone.
#[derive(Clone)]
pub struct Dictionary {
    pub id: u32,
    pub tree: Option<Tree>,
    /// The FSE tables of literal lengths, offsets and match lengths, each as the counts of its
    /// codes and the logarithm of its size.
    pub counts: Option<[(Vec<i16>, u32); 3]>,
    pub repeats: [u32; 3],
    pub content: Vec<u8>,
}

impl Dictionary {
    /// A dictionary of content alone.
    pub fn raw(content: &[u8]) -> Dictionary {
        Dictionary { id: 0, tree: None, counts: None, repeats: [1, 4, 8], content: content.to_vec() }
    }

    /// A dictionary with this Huffman tree and the predefined FSE tables.
    pub fn full(id: u32, tree: Tree, content: &[u8]) -> Dictionary {
        let counts = [(default_literals(), 6), (default_offsets(), 5), (default_lengths(), 6)];
        Dictionary { id, tree: Some(tree), counts: Some(counts), ..Dictionary::raw(content) }
    }

    /// The same dictionary with even tables of `1 << log` cells, or of the field's limit if that is
    /// smaller. Every code is in its table; if the codes are more than the cells, only every second
    /// one is.
    pub fn with_log(self, log: u32) -> Dictionary {
        let counts =
            [(36, 9), (29, 8), (53, 9)].map(|(symbols, most)| (even(symbols, log.min(most)), log.min(most)));
        Dictionary { counts: Some(counts), ..self }
    }

    pub fn tables(&self) -> Tables {
        match &self.counts {
            None => [None, None, None],
            Some(counts) => counts.each_ref().map(|(counts, log)| Some(Table::new(counts, *log))),
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let (Some(tree), Some([literals, offsets, lengths])) = (&self.tree, &self.counts) else {
            return self.content.clone();
        };
        let mut bytes = [&MAGIC[..], &self.id.to_le_bytes()].concat();
        bytes.extend(tree.describe());
        for (counts, log) in [offsets, lengths, literals] {
            bytes.extend(describe(counts, *log));
        }
        bytes.extend(self.repeats.iter().flat_map(|repeat| repeat.to_le_bytes()));
        bytes.extend_from_slice(&self.content);
        bytes
    }
}

/// Counts of `symbols` symbols, as even as a table of `1 << log` cells allows. If there are fewer
/// cells than symbols, only every second symbol (or third and so on) gets cells.
pub fn even(symbols: usize, log: u32) -> Vec<i16> {
    let size = 1usize << log;
    let step = symbols.div_ceil(size);
    let present = symbols.div_ceil(step);
    let mut counts = vec![0; symbols];
    for i in 0..present {
        counts[i * step] = (size / present + usize::from(i < size % present)) as i16;
    }
    while counts.last() == Some(&0) {
        counts.pop();
    }
    counts
}
