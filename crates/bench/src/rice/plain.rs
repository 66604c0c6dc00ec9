//! Straightforward codecs for Delta-Rice version 1, to compare ours with.
//!
//! They stand for the original HDF5 filter, which is not part of this project. `waveforms.jsonl`
//! has the original's own speeds.

/// Encodes samples in rows of `row` samples into a chunk of version 1, one sample at a time into a
/// 64-bit accumulator. `m` is a power of two.
pub fn encode(samples: &[i16], row: usize, m: u32) -> Vec<u8> {
    let k = m.trailing_zeros();
    let mut out = (samples.len() as u32).to_le_bytes().to_vec();
    for row in samples.chunks(row) {
        let length_at = out.len();
        out.extend([0; 4]);
        let (mut acc, mut n, mut last) = (0u64, 0, 0i16);
        for &x in row {
            let y = x.wrapping_sub(last);
            last = x;
            let z = u64::from(((y << 1) ^ (y >> 15)) as u16);
            let q = (z >> k) as u32;
            let (value, len) =
                if q < 8 { (1 << k | (z & u64::from(m - 1)), q + 1 + k) } else { (1 << 16 | z, 25) };
            acc = acc << len | value;
            n += len;
            if n >= 32 {
                n -= 32;
                out.extend(((acc >> n) as u32).to_le_bytes());
            }
        }
        if n > 0 {
            out.extend(((acc << (32 - n)) as u32).to_le_bytes());
        }
        let words = ((out.len() - length_at) / 4 - 1) as u32;
        out[length_at..length_at + 4].copy_from_slice(&words.to_le_bytes());
    }
    out
}

/// Decodes a chunk of version 1 into `out`. It reads the unary part of a sample bit by bit, the
/// rest in one piece.
///
/// # Panics
/// Panics if the chunk is too short.
pub fn decode(chunk: &[u8], row: usize, m: u32, out: &mut [i16]) {
    let word = |i: usize| u32::from_le_bytes(chunk[4 * i..4 * i + 4].try_into().expect("4 bytes"));
    let k = m.trailing_zeros();
    let mut at = 1;
    for row in out.chunks_mut(row) {
        let mut bit = 32 * (at + 1);
        at += 1 + word(at) as usize;
        let mut last = 0i16;
        let field = |bit: usize, n: u32| {
            if n == 0 {
                return 0;
            }
            let next = if bit / 32 + 1 < chunk.len() / 4 { word(bit / 32 + 1) } else { 0 };
            let pair = u64::from(word(bit / 32)) << 32 | u64::from(next);
            ((pair << (bit % 32)) >> (64 - n)) as u32
        };
        for x in row {
            let mut q = 0;
            while word(bit / 32) >> (31 - bit % 32) & 1 == 0 {
                bit += 1;
                q += 1;
            }
            bit += 1;
            let n = if q < 8 { k } else { 16 };
            let z = (if q < 8 { q << k } else { 0 } | field(bit, n)) as u16;
            bit += n as usize;
            last = last.wrapping_add(((z >> 1) ^ (z & 1).wrapping_neg()) as i16);
            *x = last;
        }
    }
}

/// Decodes a chunk of version 1 into `out`. It keeps the next bits in a 64-bit register, and counts
/// the zeros of the unary part with one instruction.
///
/// # Panics
/// Panics if the chunk has fewer rows than `out`.
pub fn clz_decode(chunk: &[u8], row: usize, m: u32, out: &mut [i16]) {
    let k = m.trailing_zeros();
    let (words, _) = chunk.as_chunks::<4>();
    let mut words = words.iter().map(|&word| u32::from_le_bytes(word));
    words.next();
    for row in out.chunks_mut(row) {
        let length = words.next().expect("a length") as usize;
        let mut payload = words.by_ref().take(length);
        // The upper `left` bits of `bits` are the row's next bits; the lower bits are zero.
        let (mut bits, mut left, mut last) = (0u64, 0, 0i16);
        for x in row {
            if left < 32 {
                bits |= u64::from(payload.next().unwrap_or(0)) << (32 - left);
                left += 32;
            }
            let q = bits.leading_zeros();
            let (z, len) = if q < 8 {
                ((q << k) | ((bits << q << 1 >> 1) >> (63 - k)) as u32, q + 1 + k)
            } else {
                ((bits >> 39) as u32, 25)
            };
            bits <<= len;
            left -= len;
            last = last.wrapping_add(((z as u16 >> 1) ^ (z as u16 & 1).wrapping_neg()) as i16);
            *x = last;
        }
        payload.for_each(drop);
    }
}
