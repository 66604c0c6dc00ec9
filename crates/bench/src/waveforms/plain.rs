//! A straightforward Delta-Rice codec, as one writes it first: the measure of what the kernels of
//! `linerate-rice` gain. The encoder puts one code at a time into a 64-bit register; the decoder
//! reads the unary part bit by bit and the rest in one piece. Filter \[1, -1\] only.

/// The chunk that HDF5 filter 32025 writes for `samples` in segments of `segment` samples.
///
/// `m` is a power of two from 2 to 32,768, `segment` is not 0, and there are less than 2^32 samples.
pub fn encode(samples: &[i16], segment: usize, m: u32) -> Vec<u8> {
    let mut chunk = vec![samples.len() as u32];
    for segment in samples.chunks(segment) {
        let length_at = chunk.len();
        chunk.push(0);
        encode_segment(segment, m.trailing_zeros(), &mut chunk);
        chunk[length_at] = (chunk.len() - length_at - 1) as u32;
    }
    chunk.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn encode_segment(segment: &[i16], k: u32, words: &mut Vec<u32>) {
    let (mut register, mut bits, mut last) = (0u64, 0, 0i16);
    for &x in segment {
        let y = x.wrapping_sub(last);
        last = x;
        let z = u32::from(((y << 1) ^ (y >> 15)) as u16);
        let q = z >> k;
        let low = z & ((1 << k) - 1);
        let (code, length) = if q < 8 { (1 << k | low, q + 1 + k) } else { (1 << 16 | z, 25) };
        register = register << length | u64::from(code);
        bits += length;
        if bits >= 32 {
            bits -= 32;
            words.push((register >> bits) as u32);
        }
    }
    if bits > 0 {
        words.push((register << (32 - bits)) as u32);
    }
}

/// Decodes a chunk that [`encode`] made with the same `segment` and `m`; `out` holds exactly
/// its samples.
///
/// # Panics
/// On any other chunk, unless it happens to decode to something.
pub fn decode(chunk: &[u8], segment: usize, m: u32, out: &mut [i16]) {
    let mut at = 1;
    for segment in out.chunks_mut(segment) {
        let length = word(chunk, at) as usize;
        decode_segment(chunk, 32 * (at + 1), m.trailing_zeros(), segment);
        at += 1 + length;
    }
}

fn decode_segment(chunk: &[u8], mut bit: usize, k: u32, out: &mut [i16]) {
    let mut last = 0i16;
    for x in out {
        let mut q = 0;
        while word(chunk, bit / 32) >> (31 - bit % 32) & 1 == 0 {
            bit += 1;
            q += 1;
        }
        bit += 1;
        let (high, n) = if q < 8 { (q << k, k) } else { (0, 16) };
        let z = (high | field(chunk, bit, n)) as u16;
        bit += n as usize;
        last = last.wrapping_add(((z >> 1) ^ (z & 1).wrapping_neg()) as i16);
        *x = last;
    }
}

/// `n` bits from `bit` on, 1 to 16 of them.
fn field(chunk: &[u8], bit: usize, n: u32) -> u32 {
    let high = u64::from(word(chunk, bit / 32)) << 32;
    let low = if bit % 32 + n as usize > 32 { word(chunk, bit / 32 + 1) } else { 0 };
    ((high | u64::from(low)) << (bit % 32) >> (64 - n)) as u32
}

fn word(chunk: &[u8], i: usize) -> u32 {
    u32::from_le_bytes([chunk[4 * i], chunk[4 * i + 1], chunk[4 * i + 2], chunk[4 * i + 3]])
}
