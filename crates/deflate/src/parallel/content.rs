//! Block boundaries that depend on the content alone, so that a change of the input moves only the
//! boundaries near it. A gear hash (Xia et al., "Ddelta", 2014) over the last 64 bytes decides.

/// Size of the smallest block, except at the end of the input. It exceeds the window of the hash,
/// so a block's end depends on no byte before the block.
pub(super) const MIN: usize = 4 << 10;
/// Smallest maximum length of a block. If the maximum ended most blocks, an insertion would move
/// all boundaries after it.
pub(super) const LEAST_LIMIT: usize = 64 << 10;
/// Number of bytes that the hash depends on: each shift drops one bit of the oldest.
const WINDOW: usize = 64;
/// A block ends where these bits of the hash are zero, on average 32 KiB after the minimum length.
const MASK: u64 = !0 << (64 - 15);

const _: () = assert!(WINDOW <= MIN && MIN < LEAST_LIMIT);

/// A random number for each byte value: the finalizer of SplitMix64.
const GEAR: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut x = (byte as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        table[byte] = x ^ x >> 31;
        byte += 1;
    }
    table
};

/// Returns the length of the first block of `bytes`, at most `limit`, or `None` if the block does
/// not end within `bytes`.
pub(super) fn block_len(bytes: &[u8], limit: usize) -> Option<usize> {
    let searched = &bytes[..bytes.len().min(limit)];
    let mut hash = 0u64;
    for (i, &byte) in searched.iter().enumerate().skip(MIN - WINDOW) {
        hash = (hash << 1).wrapping_add(GEAR[usize::from(byte)]);
        if i + 1 >= MIN && hash & MASK == 0 {
            return Some(i + 1);
        }
    }
    (bytes.len() >= limit).then_some(limit)
}
