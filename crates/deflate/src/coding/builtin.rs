//! The trees of level 1: the fixed pair, six trained pairs, and the choice among them.
//!
//! The lengths are printed by `examples/train_trees.rs`. A trained pair costs a header of 81 to 101
//! bytes, so short blocks do not use it.

use super::bits::BitWriter;
use super::huffman::Code;
use super::tables::{DISTANCES, FIXED, LITLENS, Tables};

/// Code lengths of a trained pair of trees.
struct Trained {
    litlens: [u8; LITLENS],
    distances: [u8; DISTANCES],
}

/// A pair of trees for level 1.
pub(crate) struct Builtin {
    pub(crate) tables: Tables,
    /// The block header after BFINAL: BTYPE and, in a dynamic block, the trees.
    header: &'static [u8],
    header_bits: u32,
}

impl Builtin {
    /// Writes the block header.
    pub(crate) fn begin(&self, bits: &mut BitWriter<'_>) {
        put_header(self.header, self.header_bits, bits);
    }
}

/// Writes BFINAL 0 and the `len` bits of a header, whose last byte is padded with zeros.
pub(crate) fn put_header(header: &[u8], len: u32, bits: &mut BitWriter<'_>) {
    bits.put_or_count(0, 1);
    let mut left = len;
    for piece in header[..len.div_ceil(8) as usize].chunks(4) {
        let mut bytes = [0; 4];
        bytes[..piece.len()].copy_from_slice(piece);
        bits.put_or_count(u64::from(u32::from_le_bytes(bytes)), left.min(32));
        left = left.saturating_sub(32);
    }
}

/// Size in bytes below which blocks use the fixed trees, because a header would cost more than
/// better trees save.
const WORTH_A_HEADER: usize = 2048;
/// Number of bytes sampled for the choice of a pair.
const SAMPLES: usize = 64;
/// Length of the input that the samples are taken from, in bytes.
const SAMPLED: usize = 2048;

/// Returns the tables of the fixed trees.
pub(crate) fn fixed_tables() -> &'static Tables {
    &BUILTINS[0].tables
}

/// Chooses the pair of trees with the shortest codes for a sample of `input`. Also returns the size
/// in bits of the 64 sampled bytes, with the [`HANDICAP`] of the pair, or 0 if the block is too
/// short for a header.
pub(crate) fn choose(input: &[u8]) -> (&'static Builtin, u32) {
    if input.len() < WORTH_A_HEADER {
        return (&BUILTINS[0], 0);
    }
    // Samples come from the beginning, which is read next anyway. Samples from everywhere would
    // miss the cache.
    let step = input.len().min(SAMPLED) / SAMPLES;
    // One addition adds to the sums of all pairs.
    let sums: u128 =
        HANDICAP + (0..SAMPLES).map(|i| LITERAL_LENGTHS[usize::from(input[i * step])]).sum::<u128>();
    let bits = |i: usize| (sums >> (16 * i) & 0xffff) as u32;
    let best = (0..BUILTINS.len()).min_by_key(|&i| bits(i)).unwrap_or(0);
    (&BUILTINS[best], bits(best))
}

/// The 16 bits that a pair for a non-Latin script must save over 64 bytes, in the places of these
/// pairs. With less, such pairs are chosen by chance for markup and binary data.
const HANDICAP: u128 = 16 << 64 | 16 << 80 | 16 << 96;

/// The code lengths of each literal in the pairs of [`BUILTINS`], 16 bits each.
static LITERAL_LENGTHS: [u128; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = if i < 144 { 8 } else { 9 };
        let mut pair = 0;
        while pair < TRAINED.len() {
            table[i] |= (TRAINED[pair].litlens[i] as u128) << (16 * (pair + 1));
            pair += 1;
        }
        i += 1;
    }
    table
};

/// The trained pairs, in the order of [`BUILTINS`].
const TRAINED: [&Trained; 6] = [&MARKUP, &PROSE, &BINARY, &CJK, &CYRILLIC, &ARABIC];

static BUILTINS: [Builtin; 1 + TRAINED.len()] = [
    Builtin { tables: FIXED, header: &[0b01], header_bits: 2 },
    MARKUP.builtin(&MARKUP_HEADER, 695),
    PROSE.builtin(&PROSE_HEADER, 648),
    BINARY.builtin(&BINARY_HEADER, 694),
    CJK.builtin(&CJK_HEADER, 805),
    CYRILLIC.builtin(&CYRILLIC_HEADER, 790),
    ARABIC.builtin(&ARABIC_HEADER, 780),
];

impl Trained {
    const fn builtin(&self, header: &'static [u8], header_bits: u32) -> Builtin {
        let mut tables = Tables::new();
        tables.fill(&Code::from_lengths(self.litlens), &Code::from_lengths(self.distances));
        Builtin { tables, header, header_bits }
    }
}

/// Trained on HTML, CSS, JavaScript and JSON.
const MARKUP: Trained = Trained {
    litlens: [
        12, 12, 12, 12, 12, 12, 12, 12, 12, 8, 7, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 4, 10, 6, 10, 11, 11, 10, 9, 7, 8, 9, 9, 7, 7, 6, 7, 7, 6, 6, 7, 7, 7, 7, 7,
        7, 7, 7, 8, 8, 7, 8, 10, 10, 9, 10, 9, 9, 9, 10, 11, 10, 9, 12, 12, 9, 9, 10, 10, 9, 12, 9, 8, 8, 10,
        11, 10, 12, 12, 12, 9, 9, 9, 12, 8, 9, 5, 7, 6, 6, 5, 7, 7, 7, 5, 10, 9, 6, 7, 6, 5, 6, 10, 5, 5, 5,
        6, 8, 8, 8, 8, 10, 9, 10, 8, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 11, 12, 5, 5, 5, 6, 6, 6, 6, 6, 6, 5, 6, 7, 8, 9, 9,
        9, 9, 10, 11, 10, 10, 11, 12, 11, 12, 12, 12, 9,
    ],
    distances: [9, 9, 10, 11, 9, 8, 6, 5, 4, 5, 4, 5, 4, 4, 3, 4, 4, 5, 4, 4, 4, 4, 5, 5, 6, 7, 7, 8, 12, 12],
};

/// Trained on English and Polish prose.
const PROSE: Trained = Trained {
    litlens: [
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 7, 12, 12, 7, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 4, 9, 10, 12, 12, 12, 12, 8, 6, 6, 12, 12, 7, 7, 8, 10, 8, 7, 6, 6, 7, 7, 7,
        7, 7, 8, 11, 10, 12, 12, 11, 10, 12, 9, 10, 10, 10, 11, 11, 11, 10, 8, 10, 12, 11, 10, 10, 10, 10,
        12, 10, 10, 9, 12, 12, 10, 12, 12, 12, 12, 7, 9, 12, 12, 12, 5, 7, 6, 6, 5, 7, 7, 6, 5, 8, 7, 6, 6,
        5, 5, 7, 11, 5, 5, 5, 6, 8, 7, 10, 6, 7, 11, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 4, 4, 4, 5, 6, 7, 7,
        7, 8, 8, 9, 9, 10, 11, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
    ],
    distances: [
        11, 11, 12, 12, 9, 7, 7, 7, 6, 6, 5, 5, 5, 5, 5, 5, 4, 4, 4, 4, 3, 4, 3, 4, 4, 5, 5, 8, 12, 12,
    ],
};

/// The distance code for binary data.
pub(crate) static BINARY_DISTANCES: Code<DISTANCES> = Code::from_lengths(BINARY.distances);

/// Trained on executables, database files and images.
const BINARY: Trained = Trained {
    litlens: [
        3, 5, 6, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 8, 8, 8, 8, 9, 9, 8, 9, 9, 9, 8, 9, 9, 9, 9, 10, 8, 9, 8,
        9, 10, 9, 7, 10, 10, 10, 9, 10, 10, 9, 9, 9, 8, 8, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 9, 9, 9, 10, 10,
        9, 8, 8, 8, 7, 8, 8, 8, 8, 8, 8, 8, 7, 7, 7, 8, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 10, 10, 10, 10, 10,
        8, 7, 8, 8, 8, 8, 7, 8, 8, 8, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7, 8, 8, 8, 8, 8, 8, 10, 10, 10, 10, 10,
        9, 10, 10, 9, 9, 9, 10, 10, 9, 8, 9, 7, 10, 8, 10, 10, 9, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
        10, 11, 10, 10, 10, 10, 10, 10, 10, 11, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
        10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 9, 9, 10, 9, 9, 10, 9, 9, 10, 10, 10, 10, 9, 8, 9, 10,
        10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 7, 9,
        10, 9, 9, 10, 10, 10, 9, 10, 10, 10, 10, 10, 9, 10, 9, 10, 10, 10, 10, 10, 10, 8, 12, 12, 5, 4, 6, 6,
        8, 9, 10, 9, 9, 9, 8, 8, 11, 11, 12, 11, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 10,
    ],
    distances: [7, 5, 11, 9, 7, 8, 6, 6, 6, 6, 5, 5, 5, 5, 5, 5, 4, 5, 4, 4, 4, 4, 3, 4, 4, 4, 5, 7, 11, 10],
};

/// Trained on Japanese and Chinese HTML.
const CJK: Trained = Trained {
    litlens: [
        12, 12, 12, 12, 12, 12, 12, 12, 12, 9, 9, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 4, 12, 6, 11, 12, 12, 12, 12, 9, 9, 12, 12, 8, 7, 7, 6, 9, 7, 8, 8, 9, 9, 9,
        10, 10, 9, 9, 11, 6, 8, 7, 11, 12, 10, 10, 9, 8, 10, 10, 10, 11, 9, 12, 12, 10, 10, 10, 10, 9, 12,
        10, 9, 8, 10, 11, 11, 11, 11, 12, 12, 12, 12, 12, 10, 12, 5, 8, 6, 6, 5, 7, 7, 7, 5, 11, 8, 6, 7, 6,
        6, 6, 10, 6, 5, 5, 7, 8, 8, 8, 8, 10, 12, 12, 12, 12, 12, 7, 6, 7, 7, 9, 9, 9, 9, 8, 8, 9, 8, 8, 9,
        10, 8, 9, 9, 9, 10, 9, 9, 9, 9, 9, 9, 9, 9, 8, 9, 10, 9, 8, 9, 10, 10, 9, 9, 9, 9, 8, 10, 9, 8, 9, 9,
        8, 8, 9, 10, 11, 9, 10, 10, 10, 9, 8, 9, 8, 8, 8, 9, 9, 9, 12, 12, 10, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 10,
        6, 7, 6, 7, 7, 7, 8, 12, 12, 12, 12, 12, 9, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 11, 12, 5, 5, 6, 6, 6, 7, 7, 6, 7, 7, 8, 7, 8, 8, 9, 8, 9, 10, 11, 10, 10, 11, 12, 11, 12,
        12, 12, 12,
    ],
    distances: [
        10, 8, 12, 12, 8, 9, 7, 7, 6, 6, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 8, 12, 12,
    ],
};

/// Trained on Russian HTML.
const CYRILLIC: Trained = Trained {
    litlens: [
        12, 12, 12, 12, 12, 12, 12, 12, 12, 10, 9, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 4, 11, 6, 11, 12, 12, 12, 12, 10, 10, 12, 12, 8, 7, 6, 6, 9, 8, 8, 8, 9,
        9, 10, 10, 10, 9, 9, 10, 6, 7, 7, 10, 12, 10, 10, 9, 9, 10, 10, 10, 11, 9, 12, 12, 10, 10, 10, 10, 9,
        12, 10, 9, 8, 10, 12, 11, 11, 11, 12, 12, 12, 12, 12, 11, 12, 5, 8, 6, 6, 5, 8, 7, 7, 5, 11, 8, 6, 7,
        6, 6, 6, 10, 6, 6, 5, 7, 8, 8, 8, 8, 11, 12, 12, 12, 12, 12, 8, 8, 8, 8, 10, 9, 10, 9, 11, 11, 12, 9,
        9, 11, 10, 9, 12, 11, 10, 12, 12, 12, 12, 12, 11, 12, 11, 12, 11, 10, 11, 10, 10, 10, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 11, 12, 12, 12, 12, 7, 9, 8, 9, 8, 7, 10, 9, 7, 9, 8, 8, 8, 8, 7, 9, 12, 12, 9,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 4, 5, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 11, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 11, 12, 4, 5, 5, 6, 6, 7, 7, 6, 6, 7, 8, 7, 8, 8, 9, 8, 9,
        10, 10, 9, 10, 12, 11, 11, 12, 12, 12, 12,
    ],
    distances: [9, 7, 12, 10, 8, 8, 7, 6, 6, 6, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 6, 8, 12, 11],
};

/// Trained on Arabic and Persian HTML.
const ARABIC: Trained = Trained {
    litlens: [
        12, 12, 12, 12, 12, 12, 12, 12, 12, 9, 9, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 4, 12, 6, 11, 12, 12, 12, 12, 9, 9, 12, 12, 8, 7, 6, 6, 9, 7, 9, 9, 9, 10,
        10, 10, 10, 9, 9, 11, 7, 8, 7, 11, 12, 10, 10, 9, 8, 10, 10, 12, 11, 9, 12, 12, 10, 10, 10, 10, 9,
        12, 10, 9, 8, 10, 12, 11, 11, 11, 12, 12, 12, 12, 12, 10, 12, 5, 7, 6, 6, 5, 7, 7, 7, 5, 11, 8, 6, 6,
        5, 5, 6, 10, 6, 5, 5, 7, 8, 8, 8, 7, 11, 12, 12, 12, 12, 12, 9, 9, 9, 10, 8, 8, 8, 8, 8, 12, 9, 12,
        8, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 11, 12, 12, 10, 12, 10, 10, 12,
        11, 12, 7, 8, 9, 8, 11, 9, 9, 9, 7, 11, 8, 9, 8, 9, 9, 11, 10, 11, 9, 11, 12, 12, 12, 10, 12, 12, 12,
        10, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 5, 5, 8, 8,
        12, 12, 12, 12, 12, 12, 9, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
        12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 4, 5, 5, 6, 6, 7, 7, 6, 7, 7, 8, 8, 8, 9, 10, 9,
        9, 10, 11, 11, 10, 12, 12, 12, 12, 12, 12, 12,
    ],
    distances: [
        9, 12, 12, 10, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 8, 12, 12,
    ],
};

const MARKUP_HEADER: [u8; 87] = [
    246, 174, 2, 64, 142, 35, 187, 134, 104, 39, 204, 68, 223, 237, 59, 107, 86, 154, 233, 153, 238, 33, 216,
    157, 181, 101, 73, 62, 43, 145, 108, 69, 187, 62, 39, 145, 148, 85, 77, 119, 205, 76, 89, 61, 93, 237,
    170, 234, 5, 203, 27, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 134, 75, 85, 53, 86, 207, 10,
    124, 246, 229, 146, 72, 242, 105, 187, 126, 253, 250, 255, 253, 95, 31, 170, 122, 102, 19,
];
const PROSE_HEADER: [u8; 81] = [
    246, 174, 2, 192, 149, 35, 185, 134, 65, 137, 194, 140, 245, 29, 216, 153, 68, 90, 175, 102, 68, 123, 78,
    206, 249, 182, 239, 206, 235, 156, 33, 246, 79, 28, 208, 79, 210, 154, 105, 105, 122, 53, 211, 173, 235,
    238, 89, 121, 116, 97, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 130, 170, 234, 145, 180, 251,
    191, 47, 76, 112, 151, 124, 73, 51, 141, 5, 175, 94, 85, 247, 38,
];
const BINARY_HEADER: [u8; 87] = [
    246, 174, 2, 176, 201, 107, 109, 63, 231, 139, 73, 83, 131, 2, 69, 86, 202, 200, 54, 54, 160, 141, 75,
    129, 141, 182, 169, 39, 105, 234, 50, 107, 42, 105, 155, 154, 165, 58, 99, 3, 54, 74, 214, 141, 185, 222,
    249, 157, 187, 155, 192, 96, 48, 161, 204, 221, 61, 12, 182, 49, 99, 76, 251, 255, 231, 253, 190, 50,
    160, 189, 247, 191, 191, 219, 114, 46, 233, 39, 71, 223, 243, 202, 243, 190, 239, 201, 29,
];

const CJK_HEADER: [u8; 101] = [
    246, 158, 3, 176, 109, 43, 187, 174, 101, 119, 239, 181, 94, 113, 29, 118, 43, 18, 166, 100, 59, 177, 15,
    226, 53, 177, 146, 156, 219, 12, 55, 86, 110, 116, 165, 95, 192, 39, 249, 79, 32, 128, 224, 127, 106,
    164, 139, 32, 61, 36, 75, 142, 108, 199, 107, 200, 177, 156, 120, 40, 150, 45, 57, 231, 36, 150, 37, 217,
    110, 211, 189, 247, 222, 1, 65, 82, 93, 238, 222, 227, 250, 63, 0, 18, 164, 40, 89, 206, 37, 215, 235,
    136, 90, 153, 4, 254, 127, 123, 255, 175, 22,
];
const CYRILLIC_HEADER: [u8; 99] = [
    246, 158, 3, 48, 110, 235, 186, 174, 101, 117, 239, 181, 94, 144, 14, 187, 229, 1, 34, 41, 217, 150, 140,
    59, 215, 150, 108, 71, 173, 135, 106, 209, 77, 210, 149, 126, 2, 159, 119, 63, 196, 1, 48, 240, 143, 35,
    93, 28, 150, 149, 84, 138, 213, 184, 43, 77, 227, 216, 238, 90, 233, 56, 81, 60, 235, 196, 113, 106, 213,
    189, 223, 239, 222, 35, 221, 123, 239, 149, 190, 255, 129, 59, 224, 120, 164, 40, 91, 110, 210, 161, 171,
    201, 3, 240, 255, 219, 251, 131, 13,
];
const ARABIC_HEADER: [u8; 98] = [
    246, 158, 3, 48, 174, 35, 43, 90, 179, 233, 189, 181, 199, 63, 138, 13, 218, 255, 189, 182, 83, 236, 91,
    237, 145, 88, 9, 103, 72, 49, 177, 194, 221, 209, 194, 236, 255, 179, 187, 115, 250, 127, 230, 231, 207,
    172, 164, 61, 154, 237, 168, 97, 68, 239, 229, 32, 36, 28, 43, 235, 108, 239, 201, 178, 47, 231, 3, 2,
    132, 222, 91, 155, 145, 168, 166, 247, 222, 251, 155, 249, 127, 247, 239, 74, 114, 236, 220, 133, 110,
    136, 180, 251, 255, 204, 235, 125, 70, 0,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::fast::MAX_LITLEN;
    use crate::kernel::header::Header;

    /// If the trees change, this prints the new constants.
    #[test]
    fn header_constants_match_the_trees() {
        for (trained, builtin) in TRAINED.iter().zip(&BUILTINS[1..]) {
            let (header, cost) = Header::of_lengths(&trained.litlens, &trained.distances);
            let mut out = [0; 256];
            let mut bits = BitWriter::new(&mut out, 0, 0);
            bits.put(0b10, 2).unwrap();
            header.put(&mut bits).unwrap();
            bits.align().unwrap();
            let (n, _, _) = bits.end();
            assert_eq!((builtin.header, builtin.header_bits), (&out[..n], cost + 2));
        }
    }

    #[test]
    fn code_lengths_fit_the_bit_buffer() {
        for trained in TRAINED {
            assert!(trained.litlens.iter().all(|&l| 0 < l && l <= MAX_LITLEN));
            assert!(trained.distances.iter().all(|&l| 0 < l && l <= 15));
        }
    }

    #[test]
    fn texts_binary_and_short_input_select_their_trees() {
        let of = |text: &[u8]| BUILTINS.iter().position(|b| core::ptr::eq(b, choose(&text.repeat(200)).0));
        assert_eq!(of(b"<div class=\"row\"><a href=\"/index.html\">Home</a></div>"), Some(1));
        assert_eq!(of(b"and the rest of them went home in the evening, "), Some(2));
        assert_eq!(of(&[0, 0, 0, 2, 1, 0, 0, 64, 0, 255, 0]), Some(3));
        assert_eq!(of("<p>これは日本語の文章です。</p><p>这是一个中文网页。</p>".as_bytes()), Some(4));
        assert_eq!(of("<p>Это обычная страница на русском языке.</p>".as_bytes()), Some(5));
        assert_eq!(of("<p>هذه صفحة عادية باللغة العربية.</p>".as_bytes()), Some(6));
        assert_eq!(of(&[200, 210, 220, 230, 240, 250, 201, 211, 221, 231]), Some(0));
        assert!(core::ptr::eq(choose(b"short").0, &BUILTINS[0]));
    }
}
