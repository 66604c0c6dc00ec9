//! Clustering, and the search for a dictionary size.

use std::sync::atomic::{AtomicUsize, Ordering};

use linerate_dict::{
    Choice, Clustering, ClusteringResult, Decoder, Encoder, Kind, Reason, SIZES, SampleSet, Savings, Search,
    Store,
};
use linerate_testkit::data::lines_of_kind;

use crate::common::{Noise, rows};

/// Generates rows of a kind. Rows of one kind share their words; different kinds have none in
/// common.
fn kind(kind: u64, seed: u64, len: usize) -> Vec<u8> {
    let mut rows = lines_of_kind(kind, seed, len);
    rows.truncate(len);
    rows
}

fn noise(seed: u64, len: usize) -> Vec<u8> {
    Noise::new(seed).bytes(len)
}

/// Clusters `sets`, each in blocks of 1 KiB.
fn run(clustering: Clustering, sets: &[Vec<u8>]) -> ClusteringResult {
    let blocks: Vec<Vec<&[u8]>> = sets.iter().map(|set| set.chunks(1024).collect()).collect();
    let sets: Vec<SampleSet<'_>> = blocks.iter().map(|blocks| SampleSet::new(blocks)).collect();
    clustering.run(&sets).expect("libzstd has enough memory")
}

/// Generates `sets` sets of rows, whose kinds alternate: the first `kinds` sets differ in kind.
fn planted(sets: usize, kinds: usize) -> Vec<Vec<u8>> {
    (0..sets).map(|i| kind((i % kinds) as u64, 1 + i as u64, 40 << 10)).collect()
}

#[test]
fn clustering_finds_generated_clusters() {
    let sets = planted(24, 4);
    let found = run(Clustering::new(4, 4 << 10).small_tables(true), &sets);
    assert_eq!(found.dictionaries.len(), 4);
    let choices: Vec<Choice> = found.sets.iter().map(|set| set.choice).collect();
    for (i, choice) in choices.iter().enumerate() {
        assert!(matches!(choice, Choice::Dictionary(_)), "{i}");
        assert_eq!(*choice, choices[i % 4], "{choices:?}");
        assert!((0..i % 4).all(|other| choices[other] != *choice), "{choices:?}");
    }
    assert!(found.rounds > 0);
    let [without, own, one, shared] = [found.without, found.own, found.one, found.shared].map(|c| c.total());
    assert!(shared < own && shared < one && shared < without, "{found:?}");
    assert_eq!((found.own.count, found.one.count, found.shared.count), (24, 1, 4));
    assert_eq!(found.content(), 24 * (40 << 10));
    assert_eq!(found.shared.dictionaries, found.dictionaries.iter().map(|d| d.len() as u64).sum::<u64>());
    assert_eq!(found.shared.blocks, found.sets.iter().map(|set| set.chosen).sum::<u64>());
}

#[test]
fn reported_sizes_predict_those_of_other_blocks() {
    let found = run(Clustering::new(3, 4 << 10), &planted(15, 3));
    for (i, set) in found.sets.iter().take(3).enumerate() {
        let Choice::Dictionary(choice) = set.choice else { panic!("{set:?}") };
        let fresh = kind(i as u64, 999, 40 << 10);
        let blocks: Vec<&[u8]> = fresh.chunks(1024).collect();
        let savings = Savings::measure(&found.dictionaries[choice], &blocks, 3).unwrap();
        let promised = set.chosen as f64 / set.content as f64;
        let kept = savings.with as f64 / savings.content as f64;
        assert!((kept / promised - 1.0).abs() < 0.1, "{promised} {kept}");
    }
}

#[test]
fn result_is_independent_of_threads() {
    let sets = planted(10, 3);
    let clustering = Clustering::new(3, 2 << 10);
    let found = run(clustering, &sets);
    assert_eq!(run(clustering.threads(4), &sets), found);
    assert_eq!(run(clustering, &sets), found);
}

#[test]
fn dictionaries_without_savings_are_pruned() {
    // The sets are of one kind, and many dictionaries are allowed.
    let found = run(Clustering::new(6, 4 << 10), &planted(8, 1));
    assert_eq!(found.dictionaries.len(), 1, "{found:?}");
    assert!(found.shared.total() <= found.one.total());
    // The sets are noise, so no dictionary saves bytes.
    let sets: Vec<Vec<u8>> = (0..4).map(|i| noise(i, 40 << 10)).collect();
    let found = run(Clustering::new(4, 4 << 10), &sets);
    assert!(found.dictionaries.is_empty());
    assert!(found.sets.iter().all(|set| set.choice == Choice::Plain(Reason::NoSavings)));
    assert_eq!(found.shared, found.without);
    // No dictionary is allowed.
    let found = run(Clustering::new(0, 4 << 10), &planted(4, 2));
    assert!(found.dictionaries.is_empty() && found.one.count == 0 && found.own.count == 4);
}

#[test]
fn maximum_above_the_number_of_sets_is_accepted() {
    let found = run(Clustering::new(9, 2 << 10), &planted(3, 3));
    assert_eq!(found.dictionaries.len(), 3);
    assert!(found.shared.total() <= found.own.total());
}

#[test]
fn empty_and_short_sets_report_their_reason() {
    let none = run(Clustering::new(3, 4 << 10), &[]);
    assert_eq!((none.dictionaries.len(), none.sets.len(), none.content()), (0, 0, 0));

    let found = run(Clustering::new(3, 4 << 10), &[Vec::new(), b"few bytes".to_vec()]);
    assert_eq!(found.sets[0].choice, Choice::Plain(Reason::Empty));
    assert_eq!(found.sets[1].choice, Choice::Plain(Reason::TooFewSamples));
    assert_eq!(found.sets[1].own, None);
    assert!(found.dictionaries.is_empty() && found.shared == found.without);

    let found = run(Clustering::new(3, 4 << 10), &[kind(1, 1, 40 << 10)]);
    assert_eq!(found.sets[0].choice, Choice::Dictionary(0));
    assert_eq!(found.shared, found.one);

    // The set is too short to train with, but another set's dictionary helps.
    let mut sets = planted(5, 1);
    sets.push(kind(0, 77, 2048));
    sets.push(kind(9, 78, 2048));
    let found = run(Clustering::new(3, 4 << 10), &sets);
    assert_eq!(found.sets[5].choice, found.sets[0].choice);
    assert_eq!(found.sets[5].own, None);
}

#[test]
fn total_bytes_scale_the_costs_of_a_set() {
    let data = planted(2, 1);
    let blocks: Vec<Vec<&[u8]>> = data.iter().map(|set| set.chunks(1024).collect()).collect();
    let sets: Vec<SampleSet<'_>> = blocks.iter().map(|b| SampleSet::new(b).total_bytes(40 << 30)).collect();
    let found = Clustering::new(2, 4 << 10).run(&sets).unwrap();
    assert_eq!(found.content(), 80 << 30);
    let small = run(Clustering::new(2, 4 << 10), &data);
    assert!((found.without.blocks >> 20).abs_diff(small.without.blocks) < 8);
    assert!(found.shared.dictionaries < 9 << 10 && found.shared.blocks > 1 << 30);
    let run_with_progress = AtomicUsize::new(0);
    let watch = |bytes| _ = run_with_progress.fetch_add(bytes, Ordering::Relaxed);
    assert_eq!(Clustering::new(2, 4 << 10).run_with_progress(&sets, &watch).unwrap(), found);
    assert!(run_with_progress.into_inner() > 80 << 10);
}

/// No more than 1 MiB is trained with, or 128 times the size of the dictionary.
#[test]
fn progress_counts_the_bytes_that_are_trained_with() {
    let data = rows(1, 6 << 20);
    let samples: Vec<&[u8]> = data.chunks(2048).collect();
    let (trained, measured) = (1 << 20, data.len() / 4);
    let passed = AtomicUsize::new(0);
    let watch = |bytes| _ = passed.fetch_add(bytes, Ordering::Relaxed);
    Search::new(&[4096]).run_with_progress(&samples, &watch).unwrap();
    // Training with three quarters, measuring the rest, training with all samples.
    assert!(passed.swap(0, Ordering::Relaxed) <= 2 * trained + measured);
    let sets = [SampleSet::new(&samples)];
    Clustering::new(1, 4096).sample_limit(data.len()).run_with_progress(&sets, &watch).unwrap();
    // The set is measured without a dictionary, with its own, and with the one for all sets.
    assert!(passed.into_inner() <= 2 * trained + 3 * measured);
}

#[test]
fn best_size_grows_with_expected_bytes() {
    let data = rows(1, 600 << 10);
    let samples: Vec<&[u8]> = data.chunks(2048).collect();
    let sizes = &SIZES[..6];
    let search =
        |expected| Search::new(sizes).small_tables(true).expected_bytes(expected).run(&samples).unwrap();
    let (few, many) = (search(60 << 10), search(1 << 40));
    let size = |found: &linerate_dict::SearchResult| found.best.map(|best| found.candidates[best].size);
    assert!(size(&few) < size(&many), "{few:?} {many:?}");
    for found in [&few, &many] {
        let best = &found.candidates[found.best.unwrap()];
        assert!(found.candidates.iter().all(|c| c.total >= best.total));
        assert!(best.total < found.without && best.total > best.savings.dictionary as u64);
        let dictionary = found.dictionary.as_deref().unwrap();
        assert!(dictionary.len() <= best.size);
        assert!(found.candidates.iter().all(|c| c.savings.dictionary <= c.size));
    }
    // There are too few bytes for a dictionary to save any.
    let none = search(1000);
    assert_eq!((none.best, &none.dictionary), (None, &None));
    assert!(none.candidates.iter().all(|c| c.total >= none.without));
    let threads = Search::new(sizes).small_tables(true).expected_bytes(1 << 40).threads(3);
    assert_eq!(threads.run(&samples).unwrap(), many);
    assert_eq!(Search::new(sizes).run(&[b"one"]).unwrap_err().kind, Kind::BadArgument);
    assert_eq!(Search::new(&[]).run(&samples).unwrap_err().kind, Kind::BadArgument);
    assert_eq!(Search::new(&[1]).run(&samples).unwrap_err().kind, Kind::BadArgument);
}

#[test]
fn blocks_decode_with_the_dictionaries_found() {
    let sets = planted(6, 2);
    let found = run(Clustering::new(2, 4 << 10).level(9), &sets);
    let store = Store::new();
    let ids: Vec<_> = found.dictionaries.iter().map(|d| store.insert(d).unwrap()).collect();
    let (mut encoder, mut decoder) = (Encoder::new(&store), Decoder::new(&store));
    for (set, report) in sets.iter().zip(&found.sets) {
        let Choice::Dictionary(choice) = report.choice else { panic!("{report:?}") };
        let mut block = vec![0; Encoder::bound(1024)];
        let n = encoder.encode(ids[choice], &set[..1024], &mut block).unwrap();
        let mut out = [0; 1024];
        assert_eq!(decoder.decode(ids[choice], &block[..n], &mut out), Ok(1024));
        assert!(out[..] == set[..1024]);
    }
}
