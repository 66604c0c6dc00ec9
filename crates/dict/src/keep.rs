//! Greedy pruning of dictionaries that do not save their own size.

/// Prunes dictionaries greedily: repeatedly drops the one whose removal shrinks the total (dictionaries plus
/// compressed sets) most, until at most `max_count` remain and no removal helps. `costs_with[d][s]` is the
/// compressed size of set `s` with dictionary `d`, `costs_without[s]` without any. Returns which are kept.
pub(crate) fn worth_keeping(columns: &[&[u64]], plain: &[u64], bytes: &[u64], most: usize) -> Vec<bool> {
    let mut kept = vec![true; columns.len()];
    // For each set its best dictionary and the second best, which takes over if the best is dropped.
    let mut picks: Vec<Picks> = (0..plain.len()).map(|set| Picks::of(columns, plain, &kept, set)).collect();
    for left in (1..=columns.len()).rev() {
        let mut loss = vec![0u64; columns.len()];
        for pick in &picks {
            if let Some(first) = pick.first {
                loss[first] = loss[first].saturating_add(pick.second_cost - pick.first_cost);
            }
        }
        let gone = (0..columns.len()).filter(|&i| kept[i]);
        // Bytes saved by dropping: signed, and wide enough for any sizes.
        let saved = |i: usize| i128::from(bytes[i]) - i128::from(loss[i]);
        let Some(gone) = gone.max_by_key(|&i| (saved(i), i)) else { break };
        if left <= most && saved(gone) < 0 {
            break;
        }
        kept[gone] = false;
        for (set, pick) in picks.iter_mut().enumerate() {
            if pick.first == Some(gone) || pick.second == Some(gone) {
                *pick = Picks::of(columns, plain, &kept, set);
            }
        }
    }
    kept
}

/// The two best choices of a set; no dictionary is a choice, too.
struct Picks {
    first: Option<usize>,
    first_cost: u64,
    second: Option<usize>,
    second_cost: u64,
}

impl Picks {
    fn of(columns: &[&[u64]], plain: &[u64], kept: &[bool], set: usize) -> Picks {
        let cost = plain[set];
        let mut picks = Picks { first: None, first_cost: cost, second: None, second_cost: cost };
        for i in (0..columns.len()).filter(|&i| kept[i]) {
            let cost = columns[i][set];
            if cost < picks.first_cost {
                (picks.second, picks.second_cost) = (picks.first, picks.first_cost);
                (picks.first, picks.first_cost) = (Some(i), cost);
            } else if cost < picks.second_cost {
                (picks.second, picks.second_cost) = (Some(i), cost);
            }
        }
        picks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_saves_less_than_its_bytes_goes() {
        let plain = [100, 100, 100];
        let (a, b, c) = ([10, 100, 100], [100, 60, 100], [95, 95, 95]);
        let columns: [&[u64]; 3] = [&a, &b, &c];
        assert_eq!(worth_keeping(&columns, &plain, &[50, 50, 50], 3), [true, false, false]);
        assert_eq!(worth_keeping(&columns, &plain, &[30, 30, 30], 3), [true, true, false]);
        assert_eq!(worth_keeping(&columns, &plain, &[1, 1, 1], 3), [true, true, true]);
        assert_eq!(worth_keeping(&columns, &plain, &[1, 1, 1], 1), [true, false, false]);
        assert_eq!(worth_keeping(&columns, &plain, &[1, 1, 1], 0), [false, false, false]);
        assert_eq!(worth_keeping(&columns, &plain, &[200, 200, 200], 3), [false, false, false]);
    }

    #[test]
    fn of_two_alike_one_stays() {
        let plain = [100, 100];
        let columns: [&[u64]; 2] = [&[20, 21], &[21, 20]];
        let kept = worth_keeping(&columns, &plain, &[10, 10], 2);
        assert_eq!(kept.iter().filter(|kept| **kept).count(), 1);
        assert!(worth_keeping(&[], &plain, &[], 2).is_empty());
        assert_eq!(worth_keeping(&[&[], &[]], &[], &[5, 5], 2), [false, false]);
    }
}
