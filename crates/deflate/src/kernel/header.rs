//! The header of a dynamic block: two sets of code lengths with run-length coding (RFC 1951,
//! section 3.2.7).

use linerate_core::Result;

use super::isa::Isa;
use crate::coding::bits::BitWriter;
use crate::coding::huffman::{Code, TreeWork};
use crate::coding::tables::{DISTANCES, LITLENS};

/// The order in which the code lengths of the code-length alphabet are sent.
const ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

const MAX_RUNS: usize = LITLENS + DISTANCES;
/// Number of single lengths copied at once.
const COPIED: usize = 16;
/// Size of a row with all lengths, and slack to compare 32 lengths with their successors from any
/// offset.
const ROW: usize = MAX_RUNS + 2 * 64;

/// A header that is ready to be written.
pub(crate) struct Header {
    /// Symbol of the code-length alphabet | value of its extra bits << 8.
    runs: [u16; MAX_RUNS + COPIED],
    len: usize,
    litlens: usize,
    distances: usize,
    code: Code<19>,
    sent: usize,
}

impl Header {
    pub(crate) const fn new() -> Self {
        Header { runs: [0; MAX_RUNS + COPIED], len: 0, litlens: 0, distances: 0, code: Code::new(), sent: 0 }
    }

    /// Run-length codes the two sets of lengths and builds a code for the runs. Returns the number
    /// of bits that [`put`](Self::put) will write.
    ///
    /// # Safety
    /// The CPU must support the tier that `I` is for.
    #[inline(always)]
    pub(crate) unsafe fn make<I: Isa>(
        &mut self,
        litlens: &[u8; LITLENS],
        distances: &[u8; DISTANCES],
        work: &mut TreeWork,
    ) -> u32 {
        self.litlens = used(litlens).max(257);
        self.distances = used(distances).max(1);
        let n = self.litlens + self.distances;
        let mut row = [0u8; ROW];
        row[..LITLENS].copy_from_slice(litlens);
        row[self.litlens..][..DISTANCES].copy_from_slice(distances);
        row[n] = 0xff; // This ends the last run.
        // SAFETY: as the caller vouches.
        unsafe { self.make_runs::<I>(&row, n) };
        let freqs = self.count_symbols();
        self.code.make(&freqs, 7, work);
        self.sent =
            ORDER.iter().rposition(|&s| self.code.lengths[s as usize] != 0).map_or(4, |i| (i + 1).max(4));
        let cost = |s: usize| freqs[s] * (u32::from(self.code.lengths[s]) + EXTRA_BITS[s]);
        14 + 3 * self.sent as u32 + (0..19).map(cost).sum::<u32>()
    }

    /// Counts the symbols of the runs.
    #[inline(always)]
    fn count_symbols(&self) -> [u32; 19] {
        // Two tables, because equal neighbours in one table would wait for each other.
        let mut counts = [[0u32; 32]; 2];
        for (i, run) in self.runs[..self.len].iter().enumerate() {
            counts[i % 2][usize::from(run & 31)] += 1;
        }
        core::array::from_fn(|symbol| counts[0][symbol] + counts[1][symbol])
    }

    /// Divides the first `n` lengths of `row` into runs.
    ///
    /// Most lengths differ from their neighbours. A mask finds the next run that is worth a repeat
    /// symbol; the lengths before it are copied without a look at each.
    ///
    /// # Safety
    /// See [`make`](Self::make).
    #[inline(always)]
    unsafe fn make_runs<I: Isa>(&mut self, row: &[u8; ROW], n: usize) {
        // SAFETY: as the caller vouches.
        let (repeats, long) = unsafe { run_masks::<I>(row) };
        let mut differs = repeats;
        for word in &mut differs {
            *word = !*word;
        }
        self.len = 0;
        let mut at = 0;
        while at < n {
            let next = next_one(&long, at).min(n);
            // The number of lengths before the run is unpredictable, and mostly less than are
            // copied at once.
            let mut copied = 0;
            loop {
                let single = &row[at + copied..][..COPIED];
                for (run, &length) in self.runs[self.len + copied..][..COPIED].iter_mut().zip(single) {
                    *run = u16::from(length);
                }
                copied += COPIED;
                if at + copied >= next {
                    break;
                }
            }
            self.len += next - at;
            at = next;
            if at < n {
                let end = next_one(&differs, at) + 1;
                self.push_run(row[at], end - at);
                at = end;
            }
        }
    }

    fn push(&mut self, symbol: u8, extra: usize) {
        self.runs[self.len] = u16::from(symbol) | (extra as u16) << 8;
        self.len += 1;
    }

    /// Appends a run of `run` equal lengths, with repeat symbols.
    fn push_run(&mut self, length: u8, mut run: usize) {
        if length == 0 {
            while run >= 11 {
                let n = run.min(138);
                self.push(18, n - 11);
                run -= n;
            }
            if run >= 3 {
                self.push(17, run - 3);
                run = 0;
            }
        } else {
            self.push(length, 0);
            run -= 1;
            while run >= 3 {
                // 7 and 8 are split into 4 + 3 and 4 + 4, so that no short rest remains.
                let n = if run == 7 || run == 8 { 4 } else { run.min(6) };
                self.push(16, n - 3);
                run -= n;
            }
        }
        for _ in 0..run {
            self.push(length, 0);
        }
    }

    /// Writes everything between the 3 header bits of the block and its first symbol.
    pub(crate) fn put(&self, bits: &mut BitWriter<'_>) -> Result<()> {
        let counts = (self.litlens - 257) | (self.distances - 1) << 5 | (self.sent - 4) << 10;
        let order = ORDER[..self.sent].iter().enumerate();
        let lengths =
            order.fold(0, |all, (i, &s)| all | u64::from(self.code.lengths[usize::from(s)]) << (3 * i));
        // There are at most 19 lengths of 3 bits. The first ten are written together with the
        // counts.
        let first = self.sent.min(10);
        bits.put(counts as u64 | (lengths & 0x3fff_ffff) << 14, 14 + 3 * first as u32)?;
        bits.put(lengths >> 30, 3 * (self.sent - first) as u32)?;
        // The entry of each symbol: code | length of the code << 8 | length with extra bits << 16.
        let mut entries = [0u32; 32];
        let codes = self.code.codes.iter().zip(&self.code.lengths).zip(&EXTRA_BITS);
        for (entry, ((&code, &n), extra_bits)) in entries.iter_mut().zip(codes) {
            let n = u32::from(n);
            *entry = u32::from(code & 0x7f) | n << 8 | (n + extra_bits) << 16;
        }
        let bits_of = |run: u16| {
            let entry = entries[usize::from(run & 31)];
            (u64::from(entry & 0xff) | u64::from(run >> 8) << (entry >> 8 & 0xff), entry >> 16)
        };
        // Four at a time take at most 56 bits, and 7 bits may be pending.
        let (fours, rest) = self.runs[..self.len].as_chunks::<4>();
        for &[a, b, c, d] in fours {
            let [(a, a_len), (b, b_len), (c, c_len), (d, d_len)] =
                [bits_of(a), bits_of(b), bits_of(c), bits_of(d)];
            let (ab, ab_len) = (a | b << a_len, a_len + b_len);
            let (cd, cd_len) = (c | d << c_len, c_len + d_len);
            bits.put(ab | cd << ab_len, ab_len + cd_len)?;
        }
        for &run in rest {
            let (value, len) = bits_of(run);
            bits.put(value, len)?;
        }
        Ok(())
    }
}

/// Returns the number of lengths up to the last non-zero one.
fn used(lengths: &[u8]) -> usize {
    lengths.iter().rposition(|&l| l != 0).map_or(0, |i| i + 1)
}

/// One bit for each of the first 384 places of the row, which include all lengths.
type Mask = [u64; ROW / 64];

/// Returns two masks: lengths that equal their successor, and starts of runs that are worth a
/// repeat symbol, which are three zeros or four equal lengths.
///
/// # Safety
/// The CPU must support the tier that `I` is for.
#[inline(always)]
unsafe fn run_masks<I: Isa>(row: &[u8; ROW]) -> (Mask, Mask) {
    const WORDS: usize = ROW / 64;
    let zeros = [0u8; 32];
    let (mut repeats, mut zero) = ([0u64; WORDS], [0u64; WORDS]);
    for half in 0..2 * WORDS - 1 {
        let place = &row[32 * half..32 * half + 33];
        // SAFETY: `place` has 33 bytes, and `zeros` has 32; the caller vouches for the tier.
        let (equal, empty) = unsafe {
            (I::equal32(place.as_ptr(), place[1..].as_ptr()), I::equal32(place.as_ptr(), zeros.as_ptr()))
        };
        repeats[half / 2] |= u64::from(equal) << (half % 2 * 32);
        zero[half / 2] |= u64::from(empty) << (half % 2 * 32);
    }
    let mut long = [0; WORDS];
    for i in 0..WORDS {
        let above = if i + 1 < WORDS { repeats[i + 1] } else { 0 };
        let second = repeats[i] >> 1 | above << 63;
        let third = repeats[i] >> 2 | above << 62;
        long[i] = repeats[i] & second & (third | zero[i]);
    }
    (repeats, long)
}

/// Returns the first set bit at or after `at`, or the number of bits if there is none.
#[inline(always)]
fn next_one(mask: &Mask, at: usize) -> usize {
    let mut word = at / 64;
    let mut bits = mask[word] & !0 << (at % 64);
    while bits == 0 && word + 1 < mask.len() {
        word += 1;
        bits = mask[word];
    }
    64 * word + bits.trailing_zeros() as usize
}

/// Number of extra bits of each symbol of the code-length alphabet. Entries 19 and above are never
/// read.
const EXTRA_BITS: [u32; 32] = {
    let mut bits = [0; 32];
    (bits[16], bits[17], bits[18]) = (2, 3, 7);
    bits
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::scalar::Scalar;

    impl Header {
        /// Makes the header for trees with these code lengths. Returns it and its size in bits.
        pub(crate) fn of_lengths(litlens: &[u8; LITLENS], distances: &[u8; DISTANCES]) -> (Header, u32) {
            let mut header = Header::new();
            // SAFETY: every CPU supports the scalar tier.
            let cost = unsafe { header.make::<Scalar>(litlens, distances, &mut TreeWork::new()) };
            (header, cost)
        }
    }

    fn made(litlens: &[u8; LITLENS], distances: &[u8; DISTANCES]) -> Header {
        let (header, cost) = Header::of_lengths(litlens, distances);
        let mut out = [0; 1024];
        let mut bits = BitWriter::new(&mut out, 0, 0);
        header.put(&mut bits).unwrap();
        assert_eq!(bits.position(), u64::from(cost));
        header
    }

    /// Expands the runs to lengths, as a decoder does.
    fn expanded(header: &Header) -> Vec<u8> {
        let mut all: Vec<u8> = Vec::new();
        for &run in &header.runs[..header.len] {
            let (symbol, extra) = ((run & 0xff) as u8, usize::from(run >> 8));
            assert!(extra < 1 << EXTRA_BITS[usize::from(symbol)]);
            match symbol {
                16 => all.extend(vec![*all.last().expect("a repeat of something"); 3 + extra]),
                17 => all.extend(vec![0; 3 + extra]),
                18 => all.extend(vec![0; 11 + extra]),
                length => all.push(length),
            }
        }
        all
    }

    #[test]
    fn runs_expand_to_the_lengths() {
        let mut x = 1u32;
        let mut random = |n: u32| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 16) % n
        };
        for round in 0..if cfg!(miri) { 6 } else { 500 } {
            let mut lengths = [0u8; LITLENS + DISTANCES];
            let mut at = 0;
            while at < lengths.len() {
                let run = if round % 3 == 0 { 1 } else { 1 + random(160) as usize };
                let length = random(if round % 2 == 0 { 3 } else { 16 }) as u8;
                let end = lengths.len().min(at + run);
                lengths[at..end].fill(length);
                at = end;
            }
            let (litlens, distances) = lengths.split_first_chunk().expect("286 of 316");
            let distances = distances.first_chunk().expect("30");
            let header = made(litlens, distances);
            let mut sent = litlens[..header.litlens].to_vec();
            sent.extend_from_slice(&distances[..header.distances]);
            assert_eq!(expanded(&header), sent);
            assert!(litlens[header.litlens..].iter().chain(&distances[header.distances..]).all(|&l| l == 0));
        }
    }

    #[test]
    fn long_runs_are_split_without_a_short_rest() {
        let symbols = |run: usize| {
            let mut header = Header::new();
            header.push_run(5, run);
            header.runs[..header.len].iter().map(|r| (r & 0xff, r >> 8)).collect::<Vec<_>>()
        };
        assert_eq!(symbols(4), [(5, 0), (16, 0)]);
        assert_eq!(symbols(8), [(5, 0), (16, 1), (16, 0)]);
        assert_eq!(symbols(9), [(5, 0), (16, 1), (16, 1)]);
    }
}
