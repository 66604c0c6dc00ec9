//! Codes of sequences and their values, predefined tables, and repeat offsets (RFC 8878, section
//! 3.1.1.3.2).

use super::fse::{Cell, NormalizedCounts};

/// Alphabet sizes of literal length, match length and offset codes.
const LL_CODES: usize = 36;
const ML_CODES: usize = 53;
const OF_CODES: usize = 32;

pub(crate) const LL_LOG: u32 = 9;
pub(crate) const ML_LOG: u32 = 9;
pub(crate) const OF_LOG: u32 = 8;

const LL_BITS: [u8; LL_CODES] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13,
    14, 15, 16,
];
const ML_BITS: [u8; ML_CODES] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1,
    1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
];
const OF_BITS: [u8; OF_CODES] = {
    let mut bits = [0; OF_CODES];
    let mut code = 0;
    while code < OF_CODES {
        bits[code] = code as u8;
        code += 1;
    }
    bits
};

/// Computes the baseline value of each code. Codes cover the values without gaps. The table has 64
/// entries, so that a 6-bit index needs no bounds check.
const fn bases(bits: &[u8], first: u32) -> [u32; 64] {
    let mut bases = [0; 64];
    let (mut code, mut value) = (0, first);
    while code < bits.len() {
        bases[code] = value;
        value += 1 << bits[code];
        code += 1;
    }
    bases
}
pub(crate) const LL_BASE: [u32; 64] = bases(&LL_BITS, 0);
pub(crate) const ML_BASE: [u32; 64] = bases(&ML_BITS, 3);
/// Literal length and match length baselines.
pub(crate) static BASES: [[u32; 64]; 2] = [LL_BASE, ML_BASE];

/// The three fields of a sequence, in the order in which a block stores their tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SequenceField {
    LiteralLength,
    Offset,
    MatchLength,
}

impl SequenceField {
    pub(crate) const fn max_log(self) -> u32 {
        match self {
            SequenceField::LiteralLength => LL_LOG,
            SequenceField::Offset => OF_LOG,
            SequenceField::MatchLength => ML_LOG,
        }
    }

    pub(crate) const fn extra_bits(self) -> &'static [u8] {
        match self {
            SequenceField::LiteralLength => &LL_BITS,
            SequenceField::Offset => &OF_BITS,
            SequenceField::MatchLength => &ML_BITS,
        }
    }
}

/// A decoding table of `1 << log` cells.
#[derive(Clone, Copy)]
pub(crate) struct FseTable<'a> {
    pub(crate) cells: &'a [Cell],
    pub(crate) log: u32,
}

const fn default_table<const CELLS: usize>(field: SequenceField, log: u32, counts: &[i16]) -> [Cell; CELLS] {
    let mut all = NormalizedCounts::<64>::new();
    all.log = log;
    all.len = counts.len();
    let mut symbol = 0;
    while symbol < counts.len() {
        all.probabilities[symbol] = counts[symbol];
        symbol += 1;
    }
    let mut cells = [0; CELLS];
    all.build_reference(field.extra_bits(), &mut cells);
    cells
}

static LL_DEFAULT: [Cell; 64] = default_table(
    SequenceField::LiteralLength,
    6,
    &[
        4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1,
        -1, -1, -1,
    ],
);
static ML_DEFAULT: [Cell; 64] = default_table(
    SequenceField::MatchLength,
    6,
    &[
        1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
    ],
);
static OF_DEFAULT: [Cell; 32] = default_table(
    SequenceField::Offset,
    5,
    &[1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
);

pub(crate) fn default(field: SequenceField) -> FseTable<'static> {
    match field {
        SequenceField::LiteralLength => FseTable { cells: &LL_DEFAULT, log: 6 },
        SequenceField::Offset => FseTable { cells: &OF_DEFAULT, log: 5 },
        SequenceField::MatchLength => FseTable { cells: &ML_DEFAULT, log: 6 },
    }
}

/// The three repeat offsets, latest first (RFC 8878, section 3.1.1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RepeatOffsets(pub(crate) [u32; 3]);

impl RepeatOffsets {
    pub(crate) const INITIAL: RepeatOffsets = RepeatOffsets([1, 4, 8]);

    /// Resolves an offset value to an offset, and updates the repeat offsets. `literals` is the
    /// literal length of the sequence. Returns 0 if the offset is invalid.
    #[inline(always)]
    pub(crate) fn resolve(&mut self, value: u32, literals: u32) -> u32 {
        let [a, b, c] = self.0;
        if value > 3 {
            self.0 = [value - 3, a, b];
            return value - 3;
        }
        match value - 1 + u32::from(literals == 0) {
            0 => {}
            1 => self.0 = [b, a, c],
            2 => self.0 = [c, a, b],
            _ => self.0 = [a.wrapping_sub(1), a, b],
        }
        self.0[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::fse;

    #[test]
    fn baselines_match_the_rfc() {
        assert_eq!((LL_BASE[15], LL_BASE[16], LL_BASE[35]), (15, 16, 65536));
        assert_eq!((ML_BASE[31], ML_BASE[32], ML_BASE[52]), (34, 35, 65539));
    }

    #[test]
    fn predefined_tables_match_the_rfc() {
        let of = |cell| (fse::code(cell), fse::state_bits(cell), fse::base_state(cell));
        assert_eq!(of(LL_DEFAULT[0]), (0, 4, 0));
        assert_eq!(of(LL_DEFAULT[2]), (1, 5, 32));
        assert_eq!(of(LL_DEFAULT[63]), (32, 6, 0));
        assert_eq!(of(ML_DEFAULT[1]), (1, 4, 0));
        assert_eq!(of(ML_DEFAULT[57]), (52, 6, 0));
        assert_eq!(of(OF_DEFAULT[1]), (6, 4, 0));
        assert_eq!(of(OF_DEFAULT[15]), (7, 4, 16));
        assert_eq!(of(OF_DEFAULT[31]), (24, 5, 0));
    }

    #[test]
    fn repeat_offsets_match_the_example_of_the_rfc() {
        let mut repeats = RepeatOffsets::INITIAL;
        for (value, literals, after) in [
            (1114, 11, [1111, 1, 4]),
            (1, 22, [1111, 1, 4]),
            (2225, 22, [2222, 1111, 1]),
            (1114, 111, [1111, 2222, 1111]),
            (3336, 33, [3333, 1111, 2222]),
            (2, 22, [1111, 3333, 2222]),
            (3, 33, [2222, 1111, 3333]),
            (3, 0, [2221, 2222, 1111]),
            (1, 0, [2222, 2221, 1111]),
        ] {
            assert_eq!(repeats.resolve(value, literals), after[0]);
            assert_eq!(repeats.0, after);
        }
        repeats = RepeatOffsets::INITIAL;
        assert_eq!(repeats.resolve(3, 0), 0);
    }
}
