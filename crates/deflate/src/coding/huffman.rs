//! Length-limited Huffman codes (minimum-redundancy codes by the two-queue method; the limit by moving leaves
//! down, which is not always optimal).

/// A code for an alphabet of `N` symbols.
#[derive(Clone)]
pub(crate) struct Code<const N: usize> {
    /// Bits of each symbol's code, 0 for symbols without one.
    pub(crate) lengths: [u8; N],
    /// The canonical codes, bit-reversed as deflate sends them. Only symbols with a length have one.
    pub(crate) codes: [u16; N],
}

impl<const N: usize> Code<N> {
    pub(crate) const fn new() -> Self {
        Code { lengths: [0; N], codes: [0; N] }
    }

    /// The canonical code with the given lengths. For constants; slow.
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

    /// Builds the code for `freqs` with lengths up to `limit`.
    ///
    /// With fewer than two symbols in use, two get codes of one bit, so that the set is complete, as strict
    /// decoders require.
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
        let (used, sorted) = (&used[..n], &mut sorted[..n]);
        sort(used, sorted, &mut nodes[..n]);
        let mut of_length = leaves_at_depths(sorted, nodes, parents, depths, limit);
        limit_depths(&mut of_length, limit);
        // The rarest symbols get the longest codes.
        let mut next = 0;
        for length in (1..=limit as usize).rev() {
            let end = next + of_length[length] as usize;
            for key in &sorted[next..end] {
                self.lengths[(key & 0xffff) as usize] = length as u8;
            }
            next = end;
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

/// Most symbols of an alphabet.
const MAX_SYMBOLS: usize = 286;

/// Working memory of [`Code::make`]: 4 KiB kept off the stack.
pub(crate) struct TreeWork {
    used: [u32; MAX_SYMBOLS],
    sorted: [u32; MAX_SYMBOLS],
    /// Weights of inner nodes; before that, the second buffer of the sort.
    nodes: [u32; MAX_SYMBOLS],
    parents: [u16; MAX_SYMBOLS],
    depths: [u8; MAX_SYMBOLS],
}

impl TreeWork {
    pub(crate) const fn new() -> Self {
        TreeWork {
            used: [0; MAX_SYMBOLS],
            sorted: [0; MAX_SYMBOLS],
            nodes: [0; MAX_SYMBOLS],
            parents: [0; MAX_SYMBOLS],
            depths: [0; MAX_SYMBOLS],
        }
    }
}

/// The largest frequency that a key holds. Symbols that occur more often are treated alike.
const MAX_FREQ: u32 = 0xffff;
/// Symbols passed over together if none is in use.
const STRIDE: usize = 16;

/// Writes `frequency << 16 | symbol` of each symbol in use to `used`, by symbol; returns their number.
#[inline(always)]
fn collect_used<const N: usize>(freqs: &[u32; N], used: &mut [u32; MAX_SYMBOLS]) -> usize {
    let mut n = 0;
    for (first, freqs) in (0..).step_by(STRIDE).zip(freqs.chunks(STRIDE)) {
        // Text has few control characters and nothing above 127.
        if freqs.iter().fold(0, |all, f| all | f) == 0 {
            continue;
        }
        for (symbol, &f) in (first..).zip(freqs) {
            used[n] = f.min(MAX_FREQ) << 16 | symbol;
            n += usize::from(f != 0);
        }
    }
    n
}

/// Sorts keys by frequency and symbol into `sorted`.
///
/// A radix sort of 6 bits a pass: two passes for frequencies below 4,096, which is nearly always, and one for those
/// of short blocks.
#[inline(always)]
fn sort(keys: &[u32], sorted: &mut [u32], other: &mut [u32]) {
    let all = keys.iter().fold(0, |all, key| all | key) >> 16;
    if all < 1 << 6 {
        radix_pass(keys, sorted, 16);
    } else if all < 1 << 12 {
        radix_pass(keys, other, 16);
        radix_pass(other, sorted, 22);
    } else {
        radix_pass(keys, sorted, 16);
        radix_pass(sorted, other, 22);
        radix_pass(other, sorted, 28);
    }
}

/// One stable pass over the 6 bits at `shift`.
#[inline(always)]
fn radix_pass(from: &[u32], to: &mut [u32], shift: u32) {
    let mut places = [0u32; 64];
    for key in from {
        places[(key >> shift & 63) as usize] += 1;
    }
    let mut sum = 0;
    for place in &mut places {
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

/// The number of leaves at each depth of the minimum-redundancy tree over ascending keys, those
/// deeper than `limit` counted at `limit`.
///
/// The two-queue construction: leaves in order of weight, and inner nodes, which come out in order
/// of weight too. The two lightest are two leaves, two inner nodes or one of each, which is
/// unpredictable, so the choice is branchless.
#[inline(always)]
fn leaves_at_depths(
    sorted: &[u32],
    weights: &mut [u32; MAX_SYMBOLS],
    parents: &mut [u16; MAX_SYMBOLS],
    depth_of: &mut [u8; MAX_SYMBOLS],
    limit: u32,
) -> [u16; 16] {
    const NEVER: u32 = u32::MAX / 2;
    let n = sorted.len();
    let (weights, parents) = (&mut weights[..n], &mut parents[..n]);
    weights.fill(NEVER);
    let (mut leaf, mut inner) = (0, 0);
    let leaf_at = |i: usize| if i < n { sorted[i] >> 16 } else { NEVER };
    for next in 0..n - 1 {
        let (a, b) = (leaf_at(leaf), leaf_at(leaf + 1));
        let (c, d) = (weights[inner], weights[inner + 1]);
        // Harmless for nodes not taken: they are written again when they are.
        parents[inner] = next as u16;
        parents[inner + 1] = next as u16;
        let leaves = 1 + usize::from(b <= c) - usize::from(d < a);
        weights[next] = (a + b).min(a + c).min(c + d);
        leaf += leaves;
        inner += 2 - leaves;
    }
    // A level with i inner nodes has 2 i places below; those that are not inner are leaves.
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

/// Completes the set of lengths after deeper leaves were counted at `limit`: while it is over-subscribed, one
/// leaf of the deepest level above moves down and gets a sibling from `limit`.
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

/// The first code of each length, its bits at the top of 16.
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

/// The low 16 bits in reverse: by table, since this runs for every symbol of every block.
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

    fn kraft(lengths: &[u8]) -> f64 {
        lengths.iter().filter(|&&l| l > 0).map(|&l| 0.5f64.powi(i32::from(l))).sum()
    }

    /// Minimum redundancy by repeatedly joining the two lightest, without a limit.
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
        for n in 2..=286 {
            for spread in [26, 28, 30] {
                let freqs: Vec<u32> = (0..n)
                    .map(|_| {
                        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (x >> spread).max(1)
                    })
                    .collect();
                let lengths = lengths_of(&freqs, 15);
                assert_eq!(kraft(&lengths), 1.0, "{n} symbols");
                let cost: u64 = freqs.iter().zip(&lengths).map(|(&f, &l)| u64::from(f) * u64::from(l)).sum();
                assert_eq!(cost, optimal_cost(&freqs), "{n} symbols");
            }
        }
    }

    #[test]
    fn fibonacci_frequencies_respect_the_limit() {
        let mut freqs = vec![1u32, 1];
        while freqs.len() < 24 {
            freqs.push(freqs[freqs.len() - 1] + freqs[freqs.len() - 2]);
        }
        for limit in [7, 9, 15] {
            let lengths = lengths_of(&freqs, limit);
            assert_eq!(kraft(&lengths), 1.0);
            assert!(lengths.iter().all(|&l| 0 < l && u32::from(l) <= limit));
        }
    }

    #[test]
    fn fewer_than_two_symbols_give_a_complete_set() {
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
