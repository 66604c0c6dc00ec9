//! Encodes sequences: converts their values to codes, and writes the sequences section of a block
//! (RFC 8878, section 3.1.1.3.2).

use super::bits::Bits;
use super::fse::{Table, describe, normalise};

/// A number of literals, then a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    pub literals: u32,
    /// The coded value: 1 to 3 are the repeat offsets, larger values are an offset plus 3.
    pub offset: u32,
    pub length: u32,
}

/// A sequence with an offset in bytes, which is not a repeat offset.
pub fn copy(literals: u32, offset: u32, length: u32) -> Sequence {
    Sequence { literals, offset: offset + 3, length }
}

/// A sequence with one of the repeat offsets, 1 to 3.
pub fn again(literals: u32, which: u32, length: u32) -> Sequence {
    assert!((1..=3).contains(&which));
    Sequence { literals, offset: which, length }
}

/// How a block gets the FSE table of a field.
#[derive(Clone, Debug)]
pub enum Mode {
    Predefined,
    Rle,
    /// The block describes a table of this log, with counts that fit the sequences.
    Fse(u32),
    /// The block describes a table with these counts and this log.
    Counts(Vec<i16>, u32),
    Repeat,
}

/// The form in which the number of sequences is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    Shortest,
    /// In 1, 2 or 3 bytes.
    Bytes(u8),
}

/// The fields of a sequence, in the order of the section: literal length, offset, match length.
pub const FIELDS: [Field; 3] = [Field::Literals, Field::Offset, Field::Length];

/// A field of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Literals,
    Offset,
    Length,
}

/// A value's code, the number of its extra bits, and those bits.
#[derive(Clone, Copy, Debug)]
struct Code {
    code: u8,
    bits: u32,
    extra: u64,
}

const LITERAL_BASES: [(u32, u32); 20] = [
    (16, 1),
    (18, 1),
    (20, 1),
    (22, 1),
    (24, 2),
    (28, 2),
    (32, 3),
    (40, 3),
    (48, 4),
    (64, 6),
    (128, 7),
    (256, 8),
    (512, 9),
    (1024, 10),
    (2048, 11),
    (4096, 12),
    (8192, 13),
    (16384, 14),
    (32768, 15),
    (65536, 16),
];

const LENGTH_BASES: [(u32, u32); 21] = [
    (35, 1),
    (37, 1),
    (39, 1),
    (41, 1),
    (43, 2),
    (47, 2),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 5),
    (131, 7),
    (259, 8),
    (515, 9),
    (1027, 10),
    (2051, 11),
    (4099, 12),
    (8195, 13),
    (16387, 14),
    (32771, 15),
    (65539, 16),
];

fn code_of(value: u32, least: u32, plain: u8, bases: &[(u32, u32)]) -> Code {
    match bases.iter().rposition(|row| row.0 <= value) {
        None => Code { code: (value - least) as u8, bits: 0, extra: 0 },
        Some(i) => Code { code: plain + i as u8, bits: bases[i].1, extra: u64::from(value - bases[i].0) },
    }
}

impl Field {
    fn code(self, of: &Sequence) -> Code {
        match self {
            Field::Literals => code_of(of.literals, 0, 16, &LITERAL_BASES),
            Field::Length => code_of(of.length, 3, 32, &LENGTH_BASES),
            Field::Offset => {
                let bits = of.offset.ilog2();
                Code { code: bits as u8, bits, extra: u64::from(of.offset) - (1 << bits) }
            }
        }
    }

    /// Whether a table has the codes of all these sequences.
    pub fn fits(self, table: &Table, sequences: &[Sequence]) -> bool {
        let has = |code: u8| table.cells.iter().any(|cell| cell.symbol == code);
        sequences.iter().all(|sequence| has(self.code(sequence).code))
    }

    /// Whether all these sequences have the same code.
    pub fn is_uniform(self, sequences: &[Sequence]) -> bool {
        sequences.windows(2).all(|pair| self.code(&pair[0]).code == self.code(&pair[1]).code)
    }

    /// The predefined table of the field.
    fn predefined(self) -> Table {
        match self {
            Field::Literals => Table::new(&default_literals(), 6),
            Field::Offset => Table::new(&default_offsets(), 5),
            Field::Length => Table::new(&default_lengths(), 6),
        }
    }
}

/// Expands runs of equal counts: each run is a count and how often it occurs.
fn runs(runs: &[(i16, usize)]) -> Vec<i16> {
    runs.iter().flat_map(|&(count, n)| std::iter::repeat_n(count, n)).collect()
}

pub fn default_literals() -> Vec<i16> {
    runs(&[(4, 1), (3, 1), (2, 11), (1, 3), (2, 9), (3, 1), (2, 1), (1, 5), (-1, 4)])
}

pub fn default_lengths() -> Vec<i16> {
    runs(&[(1, 1), (4, 1), (3, 1), (2, 6), (1, 37), (-1, 7)])
}

pub fn default_offsets() -> Vec<i16> {
    runs(&[(1, 6), (2, 3), (1, 15), (-1, 5)])
}

/// The tables of the last block with sequences, or of the dictionary, in the order of [`FIELDS`].
pub type Tables = [Option<Table>; 3];

/// Writes the sequences section, and updates `tables` for the next block.
pub fn section(sequences: &[Sequence], modes: &[Mode; 3], count: Count, tables: &mut Tables) -> Vec<u8> {
    let mut bytes = count_bytes(sequences.len(), count);
    if sequences.is_empty() {
        return bytes;
    }
    let numbers = modes.each_ref().map(|mode| match mode {
        Mode::Predefined => 0u8,
        Mode::Rle => 1,
        Mode::Fse(_) | Mode::Counts(..) => 2,
        Mode::Repeat => 3,
    });
    bytes.push(numbers[0] << 6 | numbers[1] << 4 | numbers[2] << 2);
    for (i, field) in FIELDS.into_iter().enumerate() {
        let codes: Vec<u8> = sequences.iter().map(|sequence| field.code(sequence).code).collect();
        match &modes[i] {
            Mode::Predefined => tables[i] = Some(field.predefined()),
            Mode::Rle => {
                assert!(codes.iter().all(|code| *code == codes[0]), "{field:?} differs: {codes:?}");
                bytes.push(codes[0]);
                tables[i] = Some(Table::rle(codes[0]));
            }
            Mode::Fse(log) => {
                let counts = normalise(&codes, *log);
                bytes.extend(describe(&counts, *log));
                tables[i] = Some(Table::new(&counts, *log));
            }
            Mode::Counts(counts, log) => {
                bytes.extend(describe(counts, *log));
                tables[i] = Some(Table::new(counts, *log));
            }
            Mode::Repeat => assert!(tables[i].is_some(), "no table of {field:?} to repeat"),
        }
    }
    let tables = tables.each_ref().map(|table| table.as_ref().expect("set above"));
    bytes.extend(stream(sequences, tables));
    bytes
}

pub fn count_bytes(n: usize, count: Count) -> Vec<u8> {
    let width = match (count, n) {
        (Count::Bytes(width), _) => width,
        (Count::Shortest, 0..0x80) => 1,
        (Count::Shortest, 0x80..0x7f00) => 2,
        (Count::Shortest, _) => 3,
    };
    match width {
        1 => vec![n as u8],
        2 => vec![0x80 + (n >> 8) as u8, n as u8],
        _ => [&[0xff][..], &((n - 0x7f00) as u16).to_le_bytes()].concat(),
    }
}

/// The bitstream of the sequences. It is written from the last sequence to the first, since
/// decoders read it backward.
fn stream(sequences: &[Sequence], tables: [&Table; 3]) -> Vec<u8> {
    const LITERALS: usize = 0;
    const OFFSET: usize = 1;
    const LENGTH: usize = 2;
    let mut bits = Bits::default();
    let mut states: Option<[u32; 3]> = None;
    for sequence in sequences.iter().rev() {
        let codes = FIELDS.map(|field| field.code(sequence));
        let moved = match states {
            None => [0, 1, 2].map(|i| (tables[i].state(codes[i].code, false), 0, 0)),
            Some(next) => [0, 1, 2].map(|i| tables[i].before(codes[i].code, next[i])),
        };
        for i in [OFFSET, LENGTH, LITERALS] {
            bits.push(moved[i].1, moved[i].2);
        }
        for i in [LITERALS, LENGTH, OFFSET] {
            bits.push(codes[i].extra, codes[i].bits);
        }
        states = Some(moved.map(|state| state.0));
    }
    let states = states.expect("at least one sequence");
    for i in [LENGTH, OFFSET, LITERALS] {
        bits.push(u64::from(states[i]), tables[i].log);
    }
    bits.backward()
}
