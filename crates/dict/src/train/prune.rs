//! Prunes dictionaries that save no more than their own size, greedily.

/// Prunes dictionaries greedily: repeatedly drops the dictionary whose removal shrinks the total
/// (dictionaries plus compressed sets) most, until at most `max_count` remain and every removal
/// would enlarge the total. `costs_with[d][s]` is the compressed size of set `s` with dictionary
/// `d`, and `costs_without[s]` without any. Returns which are kept.
pub(crate) fn prune_dictionaries(
    costs_with: &[&[u64]],
    costs_without: &[u64],
    dictionary_sizes: &[u64],
    max_count: usize,
) -> Vec<bool> {
    let mut kept = vec![true; costs_with.len()];
    // Each set has its best dictionary and the second best, which takes over if the best is
    // dropped.
    let mut best: Vec<BestTwo> =
        (0..costs_without.len()).map(|set| BestTwo::of(costs_with, costs_without, &kept, set)).collect();
    for left in (1..=costs_with.len()).rev() {
        let mut loss = vec![0u64; costs_with.len()];
        for pick in &best {
            if let Some(first) = pick.first {
                loss[first] = loss[first].saturating_add(pick.second_cost - pick.first_cost);
            }
        }
        let dropped = (0..costs_with.len()).filter(|&i| kept[i]);
        // Number of bytes saved by dropping. It is signed, and wide enough for any sizes.
        let saved = |i: usize| i128::from(dictionary_sizes[i]) - i128::from(loss[i]);
        let Some(dropped) = dropped.max_by_key(|&i| (saved(i), i)) else { break };
        if left <= max_count && saved(dropped) < 0 {
            break;
        }
        kept[dropped] = false;
        for (set, pick) in best.iter_mut().enumerate() {
            if pick.first == Some(dropped) || pick.second == Some(dropped) {
                *pick = BestTwo::of(costs_with, costs_without, &kept, set);
            }
        }
    }
    kept
}

/// The two best choices of a set: dictionaries, or to use none (`None`).
struct BestTwo {
    first: Option<usize>,
    first_cost: u64,
    second: Option<usize>,
    second_cost: u64,
}

impl BestTwo {
    fn of(costs_with: &[&[u64]], costs_without: &[u64], kept: &[bool], set: usize) -> BestTwo {
        let cost = costs_without[set];
        let mut best = BestTwo { first: None, first_cost: cost, second: None, second_cost: cost };
        for i in (0..costs_with.len()).filter(|&i| kept[i]) {
            let cost = costs_with[i][set];
            if cost < best.first_cost {
                (best.second, best.second_cost) = (best.first, best.first_cost);
                (best.first, best.first_cost) = (Some(i), cost);
            } else if cost < best.second_cost {
                (best.second, best.second_cost) = (Some(i), cost);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prune_drops_dictionaries_that_save_less_than_their_size() {
        let costs_without = [100, 100, 100];
        let (a, b, c) = ([10, 100, 100], [100, 60, 100], [95, 95, 95]);
        let costs_with: [&[u64]; 3] = [&a, &b, &c];
        assert_eq!(prune_dictionaries(&costs_with, &costs_without, &[50, 50, 50], 3), [true, false, false]);
        assert_eq!(prune_dictionaries(&costs_with, &costs_without, &[30, 30, 30], 3), [true, true, false]);
        assert_eq!(prune_dictionaries(&costs_with, &costs_without, &[1, 1, 1], 3), [true, true, true]);
        assert_eq!(prune_dictionaries(&costs_with, &costs_without, &[1, 1, 1], 1), [true, false, false]);
        assert_eq!(prune_dictionaries(&costs_with, &costs_without, &[1, 1, 1], 0), [false, false, false]);
        assert_eq!(
            prune_dictionaries(&costs_with, &costs_without, &[200, 200, 200], 3),
            [false, false, false]
        );
    }

    #[test]
    fn prune_keeps_one_of_two_equivalent_dictionaries() {
        let costs_without = [100, 100];
        let costs_with: [&[u64]; 2] = [&[20, 21], &[21, 20]];
        let kept = prune_dictionaries(&costs_with, &costs_without, &[10, 10], 2);
        assert_eq!(kept.iter().filter(|kept| **kept).count(), 1);
        assert!(prune_dictionaries(&[], &costs_without, &[], 2).is_empty());
        assert_eq!(prune_dictionaries(&[&[], &[]], &[], &[5, 5], 2), [false, false]);
    }
}
