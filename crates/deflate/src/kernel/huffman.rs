//! Code lengths of minimum redundancy under a length limit, and canonical codes.

/// Most symbols of an alphabet that deflate sends.
pub(crate) const MAX_SYMBOLS: usize = 288;

/// Frequencies from here on are sorted by comparison; below, by counting.
const COUNTED: usize = 64;

/// Sets `lengths[s]` to the code length of each symbol `s`, 0 if its frequency is 0, none above
/// `limit`. With fewer than two symbols in use, two get codes of one bit, so that the set is
/// complete, as strict decoders ask. Frequencies are below 2^23, their sum below 2^32.
pub(crate) fn code_lengths(freqs: &[u32], limit: u32, lengths: &mut [u8]) {
    debug_assert!(freqs.len() <= MAX_SYMBOLS && freqs.len() == lengths.len());
    let mut sorted = [0u32; MAX_SYMBOLS];
    let n = sort_used(freqs, &mut sorted);
    lengths.fill(0);
    if n < 2 {
        let used = if n == 1 { (sorted[0] & 0x1ff) as usize } else { 0 };
        lengths[used] = 1;
        lengths[if used == 0 { 1 } else { 0 }] = 1;
        return;
    }
    let mut nodes = [0u32; MAX_SYMBOLS];
    for (node, key) in nodes.iter_mut().zip(&sorted[..n]) {
        *node = key >> 9;
    }
    let mut of_length = depths(&mut nodes[..n], limit);
    limit_depths(&mut of_length, limit);
    // The rarest symbols get the longest codes.
    let mut next = 0;
    for length in (1..=limit as usize).rev() {
        for key in &sorted[next..next + of_length[length] as usize] {
            lengths[(key & 0x1ff) as usize] = length as u8;
        }
        next += of_length[length] as usize;
    }
}

/// Puts `frequency << 9 | symbol` of each symbol in use into `sorted`, ascending; their number.
fn sort_used(freqs: &[u32], sorted: &mut [u32; MAX_SYMBOLS]) -> usize {
    let mut starts = [0u16; COUNTED + 1];
    for &f in freqs {
        starts[(f as usize).min(COUNTED)] += 1;
    }
    starts[0] = 0;
    let mut sum = 0;
    for start in &mut starts {
        let count = *start;
        *start = sum;
        sum += count;
    }
    let counted = starts[COUNTED] as usize;
    for (symbol, &f) in freqs.iter().enumerate() {
        if f != 0 {
            let place = &mut starts[(f as usize).min(COUNTED)];
            sorted[*place as usize] = f << 9 | symbol as u32;
            *place += 1;
        }
    }
    sorted[counted..sum as usize].sort_unstable();
    sum as usize
}

/// The number of leaves at each depth of the minimum-redundancy tree over ascending weights, those
/// deeper than `limit` counted at `limit`. In place, after Moffat and Katajainen (1995).
fn depths(a: &mut [u32], limit: u32) -> [u16; 16] {
    let n = a.len();
    // Phase 1: left to right, `a[node]` becomes an inner node's weight, then its parent.
    let (mut leaf, mut root) = (0, 0);
    for next in 0..n - 1 {
        let mut weight = 0;
        for _ in 0..2 {
            if leaf >= n || (root < next && a[root] < a[leaf]) {
                weight += a[root];
                a[root] = next as u32;
                root += 1;
            } else {
                weight += a[leaf];
                leaf += 1;
            }
        }
        a[next] = weight;
    }
    // Phase 2: right to left, the depth of each inner node; what a level's inner nodes leave of
    // its places are leaves.
    let mut of_length = [0u16; 16];
    a[n - 2] = 0;
    for i in (0..n - 2).rev() {
        a[i] = a[a[i] as usize] + 1;
    }
    let (mut places, mut depth, mut inner) = (1, 0u32, n - 1);
    while places > 0 {
        let mut used = 0;
        while inner > 0 && a[inner - 1] == depth {
            used += 1;
            inner -= 1;
        }
        of_length[depth.min(limit) as usize] += (places - used) as u16;
        places = 2 * used;
        depth += 1;
    }
    of_length
}

/// Makes the set of lengths complete again after deeper leaves were counted at `limit`: while it is
/// over-subscribed, one leaf of the deepest level above moves down and takes a sibling with it.
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

/// Sets `codes[s]` to the canonical code of each symbol, bit-reversed as deflate sends it.
pub(crate) fn canonical_codes(lengths: &[u8], codes: &mut [u16]) {
    let mut next = first_codes(lengths);
    for (code, &length) in codes.iter_mut().zip(lengths) {
        let plain = next[length as usize];
        next[length as usize] = plain.wrapping_add(1);
        *code = ((plain as u16).reverse_bits() as u32 >> (16 - length as u32)) as u16;
    }
}

/// The first code of each length.
fn first_codes(lengths: &[u8]) -> [u32; 16] {
    let mut of_length = [0u32; 16];
    for &length in lengths {
        of_length[length as usize & 15] += 1;
    }
    of_length[0] = 0;
    let mut next = [0; 16];
    for length in 1..16 {
        next[length] = (next[length - 1] + of_length[length - 1]) << 1;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths_of(freqs: &[u32], limit: u32) -> Vec<u8> {
        let mut lengths = vec![0; freqs.len()];
        code_lengths(freqs, limit, &mut lengths);
        lengths
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
    fn complete_and_optimal_when_the_limit_does_not_bind() {
        let mut x = 1u32;
        for n in 2..=286 {
            let freqs: Vec<u32> = (0..n)
                .map(|_| {
                    x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (x >> 24).max(1)
                })
                .collect();
            let lengths = lengths_of(&freqs, 15);
            assert_eq!(kraft(&lengths), 1.0, "{n} symbols");
            let cost: u64 = freqs.iter().zip(&lengths).map(|(&f, &l)| u64::from(f) * u64::from(l)).sum();
            assert_eq!(cost, optimal_cost(&freqs), "{n} symbols");
        }
    }

    #[test]
    fn fibonacci_frequencies_meet_the_limit() {
        let mut freqs = vec![1u32, 1];
        while freqs.len() < 30 {
            freqs.push(freqs[freqs.len() - 1] + freqs[freqs.len() - 2]);
        }
        for limit in [7, 9, 15] {
            let lengths = lengths_of(&freqs, limit);
            assert_eq!(kraft(&lengths), 1.0);
            assert!(lengths.iter().all(|&l| 0 < l && u32::from(l) <= limit));
        }
    }

    #[test]
    fn fewer_than_two_symbols_still_give_a_complete_set() {
        assert_eq!(lengths_of(&[0, 0, 0], 15), [1, 1, 0]);
        assert_eq!(lengths_of(&[0, 0, 9], 15), [1, 0, 1]);
        assert_eq!(lengths_of(&[9, 0, 0], 15), [1, 1, 0]);
    }

    #[test]
    fn canonical_codes_of_the_rfc_example() {
        // RFC 1951, 3.2.2: lengths 3 3 3 3 3 2 4 4 give 010 011 100 101 110 00 1110 1111.
        let mut codes = [0; 8];
        canonical_codes(&[3, 3, 3, 3, 3, 2, 4, 4], &mut codes);
        assert_eq!(codes, [0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111]);
    }
}
