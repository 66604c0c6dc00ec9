//! Length-limited Huffman codes. The two-queue method builds a minimum-redundancy code; moving
//! leaves down enforces the limit, which is not always optimal.

/// A code for an alphabet of `N` symbols.
#[derive(Clone)]
pub(crate) struct Code<const N: usize> {
    /// Length in bits of each symbol's code; 0 for a symbol without a code.
    pub(crate) lengths: [u8; N],
    /// The canonical codes, bit-reversed as deflate sends them. The codes of symbols without a
    /// length are unspecified.
    pub(crate) codes: [u16; N],
}

impl<const N: usize> Code<N> {
    pub(crate) const fn new() -> Self {
        Code { lengths: [0; N], codes: [0; N] }
    }

    /// Returns the canonical code with the given lengths. Slow; meant for constants.
    pub(crate) const fn from_lengths(lengths: [u8; N]) -> Self {
        let mut of_length = [0u16; 16];
        let mut symbol = 0;
        while symbol < N {
            of_length[lengths[symbol] as usize] += 1;
            symbol += 1;
        }
        let mut next = first_codes(&of_length);
        let mut codes = [0; N];
        symbol = 0;
        while symbol < N {
            let length = lengths[symbol] as usize;
            codes[symbol] = (next[length] as u16).reverse_bits();
            next[length] += 1 << (16 - length);
            symbol += 1;
        }
        Code { lengths, codes }
    }

    /// Builds the code for `freqs`, which add up to at most [`MAX_SUM`], with lengths of at most
    /// `limit` bits.
    ///
    /// If fewer than two symbols are in use, two get codes of one bit, so that the set is complete,
    /// as strict decoders require.
    #[inline(always)]
    pub(crate) fn make(&mut self, freqs: &[u32; N], limit: u32, work: &mut TreeWork) {
        const { assert!(N <= MAX_SYMBOLS) };
        let TreeWork { used, sorted, nodes, parents, depths } = work;
        let n = collect_used(freqs, used);
        self.lengths.fill(0);
        if n < 2 {
            self.make_trivial(if n == 1 { used[0] as usize & 0xffff } else { 0 });
            return;
        }
        let used = &used[..n];
        debug_assert!(used.iter().map(|key| key >> 16).sum::<u32>() <= MAX_SUM);
        sort(used, &mut sorted[..n], &mut nodes[..n]);
        sorted[n..n + 2].fill(u32::MAX);
        let mut of_length = leaves_at_depths(n, sorted, nodes, parents, depths, limit);
        limit_depths(&mut of_length, limit);
        let by_rank = lengths_by_rank(&of_length, limit);
        for (key, &length) in sorted[..n].iter().zip(&by_rank) {
            self.lengths[(key & 0xffff) as usize] = length;
        }
        let mut next = first_codes(&of_length);
        for key in used {
            let symbol = (key & 0xffff) as usize;
            let length = self.lengths[symbol] as usize & 15;
            self.codes[symbol] = reversed(next[length]);
            next[length] += 1 << (16 - length);
        }
    }

    fn make_trivial(&mut self, symbol: usize) {
        let other = usize::from(symbol == 0);
        (self.lengths[symbol], self.lengths[other]) = (1, 1);
        self.codes[symbol.min(other)] = 0;
        self.codes[symbol.max(other)] = 1;
    }
}

/// Maximum sum of the frequencies. Weights in trees have 16 bits, and 65,535 marks the end of the
/// queue of leaves.
pub(crate) const MAX_SUM: u32 = 0xffff - 1;

/// Maximum number of symbols of an alphabet.
const MAX_SYMBOLS: usize = 286;

/// Working memory of [`Code::make`]. It keeps 4 KiB off the stack.
pub(crate) struct TreeWork {
    used: [u32; MAX_SYMBOLS],
    /// Keys in ascending order, followed by two that are greater than all others.
    sorted: [u32; MAX_SYMBOLS + 2],
    /// Second buffer of the sort, then weights of inner nodes.
    nodes: [u32; MAX_SYMBOLS],
    parents: [u16; MAX_SYMBOLS],
    depths: [u8; MAX_SYMBOLS],
}

impl TreeWork {
    pub(crate) const fn new() -> Self {
        TreeWork {
            used: [0; MAX_SYMBOLS],
            sorted: [0; MAX_SYMBOLS + 2],
            nodes: [0; MAX_SYMBOLS],
            parents: [0; MAX_SYMBOLS],
            depths: [0; MAX_SYMBOLS],
        }
    }
}

/// Number of code lengths that one store fills in. The lengths are in the order of ranks: a
/// symbol's rank is its place by frequency.
const FILLED: usize = 32;

/// Writes `frequency << 16 | symbol` for each symbol in use to `used`, in the order of symbols.
/// Returns their number.
#[inline(always)]
fn collect_used<const N: usize>(freqs: &[u32; N], used: &mut [u32; MAX_SYMBOLS]) -> usize {
    let mut n = 0;
    for (word, freqs) in freqs.chunks(64).enumerate() {
        let mut mask = mask_of_used(freqs);
        // There is no branch for each symbol: text uses few control characters and nothing above
        // 127, and which symbols a short block uses is unpredictable.
        while mask != 0 {
            let symbol = mask.trailing_zeros() as usize & 63;
            used[n] = freqs[symbol] << 16 | (64 * word + symbol) as u32;
            n += 1;
            mask &= mask - 1;
        }
    }
    n
}

/// Returns a mask with a bit for each of at most 64 frequencies that is not 0.
#[inline(always)]
fn mask_of_used(freqs: &[u32]) -> u64 {
    let mut flags = [0u8; 64];
    for (flag, &freq) in flags.iter_mut().zip(freqs) {
        *flag = u8::from(freq != 0);
    }
    let (eights, _) = flags.as_chunks::<8>();
    // The top byte of the product has the 8 flags.
    let byte = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    eights.iter().rev().fold(0, |mask, eight| mask << 8 | byte(eight))
}

/// Sorts keys by frequency and symbol into `sorted`.
///
/// A radix sort with 6 bits per pass. One pass sorts the frequencies of short blocks, below 64; two
/// sort frequencies below 4,096, as nearly all are.
#[inline(always)]
fn sort(keys: &[u32], sorted: &mut [u32], other: &mut [u32]) {
    let all = keys.iter().fold(0, |all, key| all | key);
    if all < 1 << 22 {
        radix_pass(keys, sorted, 16, all);
    } else if all < 1 << 28 {
        radix_pass(keys, other, 16, all);
        radix_pass(other, sorted, 22, all);
    } else {
        radix_pass(keys, sorted, 16, all);
        radix_pass(sorted, other, 22, all);
        radix_pass(other, sorted, 28, all);
    }
}

/// One stable pass over the 6 bits at `shift`. `all` has every bit that is set in any key.
#[inline(always)]
fn radix_pass(from: &[u32], to: &mut [u32], shift: u32, all: u32) {
    let mut places = [0u32; 64];
    for key in from {
        places[(key >> shift & 63) as usize] += 1;
    }
    let mut sum = 0;
    for place in &mut places[..=(all >> shift & 63) as usize] {
        let count = *place;
        *place = sum;
        sum += count;
    }
    for &key in from {
        let place = &mut places[(key >> shift & 63) as usize];
        to[*place as usize] = key;
        *place += 1;
    }
}

/// Returns the number of leaves at each depth of the minimum-redundancy tree over the first `n` of
/// ascending keys. Leaves deeper than `limit` count at `limit`.
///
/// The two-queue method (van Leeuwen 1976): one queue has the leaves in order of weight, the other
/// the inner nodes, which are created in order of weight. The two lightest are two leaves, two
/// inner nodes or one of each. That is unpredictable, so the choice is branchless.
#[inline(always)]
fn leaves_at_depths(
    n: usize,
    sorted: &[u32; MAX_SYMBOLS + 2],
    weights: &mut [u32; MAX_SYMBOLS],
    parents: &mut [u16; MAX_SYMBOLS],
    depth_of: &mut [u8; MAX_SYMBOLS],
    limit: u32,
) -> [u16; 16] {
    const NEVER: u32 = u32::MAX / 2;
    let (weights, parents) = (&mut weights[..n], &mut parents[..n]);
    weights.fill(NEVER);
    let (mut leaf, mut inner) = (0, 0);
    for next in 0..n - 1 {
        let (a, b) = (sorted[leaf] >> 16, sorted[leaf + 1] >> 16);
        let (c, d) = (weights[inner], weights[inner + 1]);
        // If the node is not taken this does no harm, because its parent is written again when it
        // is taken.
        parents[inner] = next as u16;
        parents[inner + 1] = next as u16;
        let leaves = 1 + usize::from(b <= c) - usize::from(d < a);
        weights[next] = (a + b).min(a + c).min(c + d);
        leaf += leaves;
        inner += 2 - leaves;
    }
    // A depth with i inner nodes has 2 i nodes below it, each of which is an inner node or a leaf.
    depth_of[n - 2] = 0;
    let mut inner_at = [0u16; 64];
    inner_at[0] = 1;
    for node in (0..n - 2).rev() {
        let depth = depth_of[parents[node] as usize] + 1;
        depth_of[node] = depth;
        inner_at[depth as usize & 63] += 1;
    }
    let mut of_length = [0u16; 16];
    for depth in 1..64 {
        of_length[depth.min(limit as usize)] += 2 * inner_at[depth - 1] - inner_at[depth];
        if inner_at[depth] == 0 {
            break;
        }
    }
    of_length
}

/// Returns the code length of each rank. The rarest symbols come first and get the longest codes.
#[inline(always)]
fn lengths_by_rank(of_length: &[u16; 16], limit: u32) -> [u8; MAX_SYMBOLS + FILLED] {
    let mut by_rank = [0; MAX_SYMBOLS + FILLED];
    let mut next = 0;
    for length in (1..=limit as usize).rev() {
        let end = next + of_length[length] as usize;
        // The number of codes of a length is unpredictable, and mostly less than is filled in at
        // once.
        loop {
            by_rank[next..next + FILLED].fill(length as u8);
            if next + FILLED >= end {
                break;
            }
            next += FILLED;
        }
        next = end;
    }
    by_rank
}

/// Makes the set of lengths complete after deeper leaves were counted at `limit`. While the set is
/// over-subscribed, one leaf of the deepest level above moves down and gets a sibling from `limit`.
fn limit_depths(of_length: &mut [u16; 16], limit: u32) {
    let limit = limit as usize;
    let mut used: u32 = (1..=limit).map(|l| u32::from(of_length[l]) << (limit - l)).sum();
    while used > 1 << limit {
        let mut above = limit - 1;
        while of_length[above] == 0 {
            above -= 1;
        }
        of_length[above] -= 1;
        of_length[above + 1] += 2;
        of_length[limit] -= 1;
        used -= 1;
    }
}

/// Returns the first code of each length, with its bits at the top of 16.
const fn first_codes(of_length: &[u16; 16]) -> [u32; 16] {
    let mut next = [0; 16];
    let (mut code, mut length) = (0, 1);
    while length < 16 {
        next[length] = code;
        code += (of_length[length] as u32) << (16 - length);
        length += 1;
    }
    next
}

/// Reverses the low 16 bits, by a table since this runs for every symbol of every block.
#[inline(always)]
fn reversed(code: u32) -> u16 {
    const REVERSED: [u8; 256] = {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            table[i] = (i as u8).reverse_bits();
            i += 1;
        }
        table
    };
    u16::from_be_bytes([REVERSED[code as usize & 0xff], REVERSED[code as usize >> 8 & 0xff]])
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETE: u32 = 1 << 15;

    fn lengths_of(freqs: &[u32], limit: u32) -> Vec<u8> {
        let mut all = [0; 286];
        all[..freqs.len()].copy_from_slice(freqs);
        let mut code = Code::new();
        code.make(&all, limit, &mut TreeWork::new());
        assert!(code.lengths[freqs.len()..].iter().all(|&l| l == 0));
        let canonical = Code::from_lengths(code.lengths);
        for symbol in (0..286).filter(|&s| code.lengths[s] > 0) {
            assert_eq!(code.codes[symbol], canonical.codes[symbol]);
        }
        code.lengths[..freqs.len()].to_vec()
    }

    /// The Kraft sum in units of 2^-15; a complete set has [`COMPLETE`].
    fn kraft(lengths: &[u8]) -> u32 {
        lengths.iter().filter(|&&l| l > 0).map(|&l| COMPLETE >> l).sum()
    }

    /// The cost of a Huffman code without a limit, by joining the two lightest nodes repeatedly.
    fn optimal_cost(freqs: &[u32]) -> u64 {
        let mut heap: std::collections::BinaryHeap<_> =
            freqs.iter().filter(|&&f| f > 0).map(|&f| std::cmp::Reverse(u64::from(f))).collect();
        let mut cost = 0;
        while heap.len() > 1 {
            let joined = heap.pop().unwrap().0 + heap.pop().unwrap().0;
            cost += joined;
            heap.push(std::cmp::Reverse(joined));
        }
        cost
    }

    #[test]
    fn codes_are_complete_and_optimal_below_the_limit() {
        let mut x = 1u32;
        for n in (2..=286).step_by(if cfg!(miri) { 142 } else { 1 }) {
            for spread in [26, 28, 30] {
                let freqs: Vec<u32> = (0..n)
                    .map(|_| {
                        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (x >> spread).max(1)
                    })
                    .collect();
                let lengths = lengths_of(&freqs, 15);
                assert_eq!(kraft(&lengths), COMPLETE, "{n} symbols");
                let cost: u64 = freqs.iter().zip(&lengths).map(|(&f, &l)| u64::from(f) * u64::from(l)).sum();
                assert_eq!(cost, optimal_cost(&freqs), "{n} symbols");
            }
        }
    }

    #[test]
    fn fibonacci_frequencies_respect_the_limit() {
        let mut freqs = vec![1u32, 1];
        while freqs.len() < 22 {
            freqs.push(freqs[freqs.len() - 1] + freqs[freqs.len() - 2]);
        }
        for limit in [7, 9, 15] {
            let lengths = lengths_of(&freqs, limit);
            assert_eq!(kraft(&lengths), COMPLETE);
            assert!(lengths.iter().all(|&l| 0 < l && u32::from(l) <= limit));
        }
    }

    #[test]
    fn fewer_than_two_symbols_get_a_complete_set() {
        assert_eq!(lengths_of(&[0, 0, 0], 15), [1, 1, 0]);
        assert_eq!(lengths_of(&[0, 0, 9], 15), [1, 0, 1]);
        assert_eq!(lengths_of(&[9, 0, 0], 15), [1, 1, 0]);
    }

    #[test]
    fn canonical_codes_of_the_rfc_example() {
        // RFC 1951, 3.2.2: lengths 3 3 3 3 3 2 4 4 give 010 011 100 101 110 00 1110 1111.
        let code = Code::from_lengths([3, 3, 3, 3, 3, 2, 4, 4]);
        assert_eq!(code.codes, [0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111]);
    }
}
