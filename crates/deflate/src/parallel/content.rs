//! Block boundaries that the content alone decides, so that a change of the input moves only those near it: a gear hash
//! (Xia et al., "Ddelta", 2014) over the last 64 bytes.

/// Smallest block, except at the end of the input. More than the window of the hash, so that a block's end depends on no
/// byte before it.
pub(super) const MIN: usize = 4 << 10;
/// Smallest limit of a block's length: where limits cut most blocks, an insertion moves all boundaries after it.
pub(super) const LEAST_LIMIT: usize = 64 << 10;
/// Bytes that the hash depends on: each shift drops a bit of the oldest.
const WINDOW: usize = 64;
/// A block ends where these bits of the hash are zero: on average 32 KiB after its smallest length.
const MASK: u64 = !0 << (64 - 15);

const _: () = assert!(WINDOW <= MIN && MIN < LEAST_LIMIT);

/// Random numbers for the bytes: the finalizer of SplitMix64 over their values.
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

/// Length of the first block of `bytes`, at most `limit`; `None` if it does not end in them.
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
