//! Which candidate wins, which are excluded, and the sentences about it.

use linerate_plan::{
    Bound, Budget, Direction, Exclusion, Goal, Measurement, Pipe, Plan, Read, Saturation, Speed, plan,
};

use crate::common::{budget, candidate, pipe, speed};

fn winner(plan: &Plan) -> &str {
    &plan.winner().expect("a winner").measurement.settings
}

#[test]
fn fast_decoder_saturates_the_pipe() {
    let plan = plan(&[candidate("zstd 3", 2.0, 900e6)], &pipe(500e6), &budget(2));
    let row = plan.winner().unwrap();
    assert_eq!((row.bound, row.cores, row.delivered.median), (Bound::Pipe, 2, 1e9));
    assert_eq!(row.required, 1e9);
    assert_eq!(row.saturation.map(|s| (s.cores, s.extrapolated)), Some((2, false)));
    assert_eq!(row.saved_per_core_second, 450e6);
    assert_eq!(row.memory, (1 << 20) + 2 * (8 << 20));
    assert_eq!(
        plan.sentence(),
        "zstd 3: 2.0x smaller, 1.8 GB/s on 2 of your 2 cores; your pipe of 500 MB/s is saturated and delivers 1 GB/s of \
         content, 2.0x as much as stored plainly."
    );
    assert_eq!(plan.command().as_deref(), Some("linerate nx pack 'zstd 3'"));
}

#[test]
fn slow_decoder_is_bound_by_cores_and_says_how_many_are_lacking() {
    let plan = plan(&[candidate("zstd 12", 3.0, 300e6)], &pipe(500e6), &budget(2));
    let row = plan.winner().unwrap();
    assert_eq!((row.bound, row.cores, row.delivered.median), (Bound::Cores, 2, 600e6));
    assert_eq!(row.saturation.map(|s| (s.cores, s.extrapolated)), Some((5, true)));
    assert_eq!(
        plan.sentence(),
        "zstd 12: 3.0x smaller, 600 MB/s on 2 of your 2 cores; your pipe of 500 MB/s then delivers 600 MB/s of content, \
         1.20x as much as stored plainly, and with about 5 cores it would saturate."
    );
    assert!((row.shortfall() - 0.6).abs() < 1e-9);
    let said = plan.sentence_of(row);
    assert_eq!(
        said.strip_prefix(plan.sentence().trim_end_matches('.')),
        Some(": 60 % short of the 1.5 GB/s that it needs.")
    );
}

#[test]
fn best_coded_is_the_winner_or_the_best_beside_storing_plainly() {
    let slow = [candidate("zstd 19", 4.0, 100e6), candidate("zstd 3", 2.0, 300e6)];
    let without = plan(&slow, &pipe(7e9), &budget(2));
    assert!(without.winner().unwrap().plain);
    assert_eq!(without.best_coded().unwrap().measurement.settings, "zstd 3");
    let with = plan(&slow, &pipe(100e6), &budget(2));
    assert_eq!(with.best_coded(), with.winner());
    assert_eq!((winner(&with), with.winner().unwrap().shortfall()), ("zstd 19", 0.5));
    let fits = plan(&slow, &pipe(20e6), &budget(2));
    assert_eq!((winner(&fits), fits.winner().unwrap().shortfall()), ("zstd 19", 0.0));
    assert_eq!(fits.sentence_of(fits.winner().unwrap()), fits.sentence());
    let estimate = plan(&slow, &pipe(100e6), &budget(8));
    let said = estimate.sentence_of(estimate.best_coded().unwrap());
    assert!(said.ends_with(" Speeds on 8 cores are estimates: at most 2 threads were measured."), "{said}");
    assert_eq!(plan(&[], &pipe(1e6), &budget(1)).best_coded(), None);
}

#[test]
fn decoder_below_the_pipe_loses_to_storing_plainly() {
    let plan = plan(&[candidate("zstd 19", 4.0, 100e6)], &pipe(7e9), &budget(2));
    assert!(plan.winner().unwrap().plain);
    assert_eq!(
        plan.sentence(),
        "Store it plainly: your pipe of 7 GB/s delivers 7 GB/s by itself, and zstd 19 200 MB/s on your 2 cores; it \
         would take more than 128 cores to saturate it. It would save 75 % of the space all the same:"
    );
    assert_eq!(plan.command().as_deref(), Some("linerate nx pack 'zstd 19'"));
}

#[test]
fn data_that_does_not_compress_is_stored_plainly() {
    let plan = plan(&[candidate("zstd 3", 1.001, 9e9)], &pipe(500e6), &budget(2));
    assert!(plan.winner().unwrap().plain && plan.command().is_none());
    assert!(
        plan.sentence().ends_with("and the data does not compress (zstd 3: 1.00x)."),
        "{}",
        plan.sentence()
    );
}

#[test]
fn no_measurement_is_a_plan_to_store_plainly() {
    let plan = plan(&[], &pipe(500e6), &budget(2));
    assert!(plan.winner().unwrap().plain);
    assert!(plan.sentence().ends_with("and no candidate is usable."));
}

#[test]
fn of_nearly_equal_candidates_the_smallest_wins_then_cores_then_order_decide() {
    let fast = candidate("fast", 2.0, 1000e6);
    let small = candidate("small", 3.0, 980e6);
    let found = plan(&[fast.clone(), small], &pipe(9e9), &budget(1));
    assert!(found.winner().unwrap().plain, "1 GB/s is too slow for 9 GB/s");
    let no_plain = Budget { min_ratio: Some(1.5), ..budget(1) };
    let found = plan(&[fast.clone(), candidate("small", 3.0, 980e6)], &pipe(9e9), &no_plain);
    assert_eq!((winner(&found), &*found.ties), ("small", &[][..]), "sizes differ");

    // Both candidates saturate the pipe, with one core and with two. Sizes differ by less than 1 %.
    let lean = candidate("one core", 2.0, 1100e6);
    let found = plan(&[candidate("two cores", 2.01, 600e6), lean], &pipe(500e6), &budget(2));
    assert_eq!(winner(&found), "one core");

    let again = Measurement { settings: "again".into(), ..fast.clone() };
    let found = plan(&[fast.clone(), again.clone()], &pipe(500e6), &budget(2));
    assert_eq!((winner(&found), &*found.ties), ("fast", &[2][..]));
    assert!(
        found.notes().iter().any(|note| note.starts_with("Tied with the chosen one: again.")),
        "{:?}",
        found.notes()
    );
    assert_eq!(winner(&plan(&[again, fast], &pipe(500e6), &budget(2))), "again");
}

#[test]
fn tied_are_only_equal_sizes_with_overlapping_speeds() {
    let ties = |second: Measurement, rate: f64| {
        let budget = Budget { min_ratio: Some(1.5), ..budget(1) };
        plan(&[candidate("first", 2.0, 1000e6), second], &pipe(rate), &budget).ties.len()
    };
    let spread = |low: f64, high: f64| {
        let decode = Some(Speed { low, median: (low + high) / 2.0, high });
        Measurement { decode, decode_scaling: Vec::new(), ..candidate("second", 1.995, 1000e6) }
    };
    assert_eq!(ties(candidate("second", 1.99, 1000e6), 100e6), 1, "both saturate the pipe");
    assert_eq!(ties(spread(800e6, 1100e6), 9e9), 1, "spreads overlap");
    assert_eq!(ties(spread(940e6, 942e6), 9e9), 0, "spreads are disjoint");
}

#[test]
fn stream_that_wins_comes_with_the_command_for_single_records() {
    let blocks = |read: f64| Measurement {
        engine: "dict".into(),
        read: Some(Read { seconds: read, fetched: 900.0 }),
        ..candidate("blocks", 3.0, 400e6)
    };
    let notes = |measured: &[Measurement]| plan(measured, &pipe(100e6), &budget(2)).notes().concat();
    let found = notes(&[candidate("zstd 19", 5.0, 900e6), blocks(4e-6)]);
    let wanted = "To read single records, blocks (3.0x smaller), where a random read takes 4 us: linerate nx pack blocks";
    assert!(found.ends_with(wanted), "{found}");
    assert!(!notes(&[candidate("zstd 19", 5.0, 900e6), blocks(1e-3)]).contains("single records"));
    assert!(!notes(&[candidate("zstd 19", 2.0, 100e6), blocks(4e-6)]).contains("single records"));
    let archive = Measurement { engine: "nx".into(), ..blocks(4e-6) };
    assert!(!notes(&[candidate("zstd 19", 5.0, 900e6), archive]).contains("single records"));
}

#[test]
fn data_that_does_not_compress_has_no_command_for_single_records() {
    let blocks = Measurement {
        engine: "dict".into(),
        read: Some(Read { seconds: 4e-6, fetched: 900.0 }),
        ..candidate("blocks", 1.01, 400e6)
    };
    let found = plan(&[candidate("zstd 19", 1.0, 900e6), blocks.clone()], &pipe(100e6), &budget(2));
    assert!(found.winner().is_some_and(|row| row.plain), "{found:?}");
    assert!(!found.notes().concat().contains("single records"), "{:?}", found.notes());
    let found = plan(&[candidate("zstd 19", 5.0, 900e6), blocks], &pipe(100e6), &budget(2));
    assert!(!found.notes().concat().contains("single records"), "{:?}", found.notes());
}

#[test]
fn comparison_that_is_better_by_the_goal_is_named() {
    let shuffled = |ratio| Measurement { command: None, ..candidate("shuffle", ratio, 900e6) };
    let notes =
        |ratio| plan(&[candidate("zstd 3", 2.0, 900e6), shuffled(ratio)], &pipe(100e6), &budget(2)).notes();
    let found = notes(3.0).concat();
    assert!(
        found.contains("Better by this goal, but not made by `linerate`: shuffle, 3.0x smaller"),
        "{found}"
    );
    assert!(!notes(2.1).concat().contains("shuffle"), "a tie");
    let limits = [
        Budget { min_ratio: Some(4.0), ..budget(2) },
        Budget { memory_per_stream: Some(1 << 10), ..budget(2) },
    ];
    for limit in limits {
        let found = plan(&[candidate("zstd 3", 2.0, 900e6), shuffled(3.0)], &pipe(100e6), &limit).notes();
        assert!(!found.concat().contains("shuffle"), "{limit:?}: {found:?}");
    }
}

#[test]
fn spread_of_the_rounds_does_not_widen_a_tie() {
    let no_plain = Budget { min_ratio: Some(1.5), ..budget(1) };
    let with = |settings: &str, ratio: f64, median: f64, spread: f64| Measurement {
        decode: Some(Speed { low: median * (1.0 - spread), median, high: median * (1.0 + spread) }),
        decode_scaling: Vec::new(),
        ..candidate(settings, ratio, median)
    };
    let choose = |a: Measurement, b: Measurement| winner(&plan(&[a, b], &pipe(9e9), &no_plain)).to_owned();
    for spread in [0.01, 0.3] {
        let fast = || with("fast", 2.0, 1000e6, spread);
        assert_eq!(choose(fast(), with("small", 3.0, 910e6, spread)), "small");
        assert_eq!(choose(fast(), with("small", 3.0, 890e6, spread)), "fast");
    }
}

#[test]
fn both_directions_have_a_row_and_a_part_of_the_sentence_each() {
    let both = Pipe { direction: Direction::Both, ..pipe(500e6) };
    let plan = plan(&[candidate("zstd 3", 2.0, 2000e6)], &both, &budget(2));
    assert!(plan.winner().unwrap().plain, "encoding takes less than the pipe");
    let plan = linerate_plan::plan(
        &[candidate("zstd 3", 2.0, 9000e6)],
        &both,
        &Budget { min_ratio: Some(1.5), ..budget(2) },
    );
    assert_eq!(
        plan.sentence(),
        "zstd 3: 2.0x smaller; read: 9 GB/s on 1 of your 2 cores; your pipe of 500 MB/s is saturated and delivers 1 GB/s \
         of content, 2.0x as much as stored plainly; write: 1.8 GB/s on 2 of your 2 cores; your pipe of 500 MB/s is \
         saturated and takes 1 GB/s of content, 2.0x as much as stored plainly."
    );
    let rows = plan.winner().unwrap().by_direction();
    let names: Vec<&str> = rows.iter().map(|row| row.measurement.settings.as_str()).collect();
    assert_eq!(names, ["zstd 3, read", "zstd 3, write"]);
    assert_eq!(rows.iter().map(|row| row.cores).collect::<Vec<_>>(), [1, 2]);
    let json = plan.to_json();
    assert_eq!(json["candidates"][1]["directions"][1]["direction"], "write");
    assert_eq!(json["candidates"][1]["directions"][0]["cores"], 1);
    assert_eq!(json["candidates"][1]["cores"], 2, "the slower direction");
}

#[test]
fn copy_that_is_fastest_does_not_hide_that_the_data_compresses() {
    let copy = candidate("stored in an archive", 0.999, 20e9);
    let plan = plan(&[copy, candidate("zstd 3", 4.0, 1e9)], &pipe(7e9), &budget(2));
    assert_eq!(
        plan.sentence(),
        "Store it plainly: your pipe of 7 GB/s delivers 7 GB/s by itself, and zstd 3 2 GB/s on your 2 cores; with about \
         28 cores it would saturate. It would save 75 % of the space all the same:"
    );
    assert_eq!((plan.alternative, &plan.to_json()["alternative"]), (Some(2), &2.into()));
}

#[test]
fn goal_decides_between_speed_size_and_their_product() {
    // Through 1.2 GB/s, on one core: lz4 delivers 1.5, zstd 3 2.4, zstd 19 0.3, plain storing 1.2
    // GB/s.
    let rows =
        [candidate("lz4", 1.25, 9e9), candidate("zstd 3", 2.0, 2.4e9), candidate("zstd 19", 4.0, 0.3e9)];
    let with = |goal| plan(&rows, &pipe(1.2e9), &Budget { goal, ..budget(1) });
    assert_eq!(Goal::ALL.map(|goal| winner(&with(goal)).to_owned()), ["zstd 3", "zstd 19", "zstd 3"]);

    // Through 4 GB/s, on one core: lz4 delivers 5, zstd 3 2.4, zstd 19 0.3, plain storing 4 GB/s.
    let with = |goal| plan(&rows, &pipe(4e9), &Budget { goal, ..budget(1) });
    assert_eq!(Goal::ALL.map(|goal| winner(&with(goal)).to_owned()), ["lz4", "zstd 19", "lz4"]);
    // Without lz4, storing plainly is the fastest. By the product of speed and ratio, zstd 3 is
    // better.
    let with = |goal| plan(&rows[1..], &pipe(4e9), &Budget { goal, ..budget(1) });
    let winners = Goal::ALL.map(|goal| winner(&with(goal)).to_owned());
    assert_eq!(winners, ["stored plainly", "zstd 19", "zstd 3"]);
    assert_eq!(with(Goal::Size).to_json()["budget"]["goal"], "size");
}

#[test]
fn sizes_within_a_hundredth_are_told_apart_by_speed_if_size_is_the_goal() {
    let rows = [candidate("slow", 3.0, 100e6), candidate("fast", 2.98, 900e6), candidate("large", 2.9, 2e9)];
    let found = plan(&rows, &pipe(1e9), &Budget { goal: Goal::Size, ..budget(1) });
    assert_eq!((winner(&found), &*found.ties), ("fast", &[][..]), "speeds differ");
}

#[test]
fn slow_encoding_is_said_where_the_pipe_waits_for_decoding() {
    let slow = Measurement {
        encode: Some(speed(5e6)),
        encode_scaling: Vec::new(),
        ..candidate("zstd 19", 4.0, 9e9)
    };
    let read = plan(std::slice::from_ref(&slow), &pipe(500e6), &budget(1));
    assert!(read.sentence().ends_with("; encoding takes 3.3 min for each GB."), "{}", read.sentence());
    let write = Pipe { direction: Direction::Write, ..pipe(1e6) };
    let write = plan(&[slow], &write, &budget(1));
    assert!(!write.sentence().contains("min"), "{}", write.sentence());
}

#[test]
fn write_needs_encoding_and_both_the_slower_of_the_two() {
    let rows = [candidate("zstd 3", 2.0, 1000e6)];
    let delivered = |direction| {
        let pipe = Pipe { direction, ..pipe(500e6) };
        plan(&rows, &pipe, &budget(1)).rows[1].delivered.median
    };
    assert_eq!([Direction::Read, Direction::Write, Direction::Both].map(delivered), [1000e6, 100e6, 100e6]);
}

#[test]
fn every_exclusion_has_its_reason() {
    let fine = candidate("fine", 2.0, 1e9);
    let limits = Budget { memory_per_stream: Some(4 << 20), min_ratio: Some(1.5), ..budget(2) };
    let excluded = |m: Measurement, direction| {
        let found = plan(&[m], &Pipe { direction, ..pipe(500e6) }, &limits);
        (found.rows[1].excluded, found.winner)
    };
    let mut peer = fine.clone();
    peer.command = None;
    let mut empty = fine.clone();
    (empty.content, empty.compressed) = (0, 10);
    let mut no_decoder = fine.clone();
    (no_decoder.decode, no_decoder.decode_scaling) = (None, Vec::new());
    let mut no_encoder = fine.clone();
    (no_encoder.encode, no_encoder.encode_scaling) = (None, Vec::new());
    let large = candidate("large", 1.25, 1e9);
    let mut hungry = fine.clone();
    hungry.memory.per_stream = 5 << 20;

    let no_speed = |direction| Some(Exclusion::NoSpeed(direction));
    let ratio = large.ratio();
    for (candidate, direction, reason) in [
        (peer, Direction::Read, Some(Exclusion::ComparisonOnly)),
        (empty, Direction::Read, Some(Exclusion::NoContent)),
        (no_decoder.clone(), Direction::Read, no_speed(Direction::Read)),
        (no_decoder.clone(), Direction::Both, no_speed(Direction::Read)),
        (no_encoder.clone(), Direction::Write, no_speed(Direction::Write)),
        (no_encoder.clone(), Direction::Both, no_speed(Direction::Write)),
        (large, Direction::Read, Some(Exclusion::BelowMinRatio { ratio, min_ratio: 1.5 })),
        (hungry, Direction::Read, Some(Exclusion::AboveMemory { per_stream: 5 << 20, limit: 4 << 20 })),
    ] {
        assert_eq!(excluded(candidate, direction), (reason, None));
    }
    for (candidate, direction) in
        [(no_decoder, Direction::Write), (no_encoder, Direction::Read), (fine, Direction::Both)]
    {
        assert_eq!(excluded(candidate, direction), (None, Some(1)));
    }
}

#[test]
fn nothing_usable_says_what_to_change() {
    let strict = Budget { min_ratio: Some(5.0), ..budget(2) };
    let rows = [candidate("zstd 3", 2.0, 1e9), candidate("zstd 19", 3.0, 1e9)];
    assert_eq!(
        plan(&rows, &pipe(500e6), &strict).sentence(),
        "Nothing is usable: the smallest candidate, zstd 19, has a ratio of 3.00, below the minimum of 5; lower the \
         minimum ratio or raise the memory per stream."
    );
    let none = plan(&[], &pipe(500e6), &strict).sentence();
    assert!(none.starts_with("Nothing is usable: no candidate was measured"), "{none}");
}

#[test]
fn candidate_above_the_memory_limit_is_named_if_it_would_deliver_more() {
    let mut hungry = candidate("zstd 19", 4.0, 2e9);
    hungry.memory.per_stream = 128 << 20;
    let limit = Budget { memory_per_stream: Some(64 << 20), ..budget(2) };
    let found = plan(&[candidate("zstd 3", 2.0, 2e9), hungry], &pipe(500e6), &limit);
    assert_eq!(winner(&found), "zstd 3");
    assert_eq!(found.rows[2].bound, Bound::Memory);
    assert_eq!(
        found.notes(),
        [
            "Memory is the limit: zstd 19, 4.0x smaller, would deliver 2 GB/s, but takes 128 MiB per stream, above the limit \
          of 64 MiB."
        ]
    );
}

#[test]
fn random_reads_are_bound_by_cores_or_pipe() {
    let mut blocks = candidate("blocks of 4 KiB", 2.0, 2e9);
    blocks.read = Some(Read { seconds: 10e-6, fetched: 2048.0 });
    let reads = |rate, cores| plan(&[blocks.clone()], &pipe(rate), &budget(cores)).rows[1].reads.unwrap();
    let reads = |rate, cores| (reads(rate, cores).bound, reads(rate, cores).per_second.round());
    assert_eq!(reads(1e9, 2), (Bound::Cores, 200_000.0));
    assert_eq!(reads(2048e4, 2), (Bound::Pipe, 10_000.0));
    let notes = plan(&[blocks.clone()], &pipe(500e6), &budget(2)).notes();
    assert_eq!(
        notes,
        [
            "A random read takes 10 us of one core and fetches 2 KiB; your cores allow 200000 reads per second."
        ]
    );
}

#[test]
fn wide_spread_and_more_cores_than_measured_are_mentioned() {
    let mut wide = candidate("zstd 12", 3.0, 300e6);
    wide.decode_scaling[0].speed = Speed { low: 400e6, median: 600e6, high: 650e6 };
    let found = plan(&[wide], &pipe(1e9), &Budget { min_ratio: Some(2.0), ..budget(4) });
    assert!(found.winner().unwrap().extrapolated);
    let notes = found.notes().join(" ");
    assert!(notes.contains("Speeds on 4 cores are estimates: at most 2 threads were measured."), "{notes}");
    assert!(notes.contains("The delivered rate lies between 800 MB/s and 1.3 GB/s."), "{notes}");
}

#[test]
fn pareto_front_has_the_rows_that_no_other_beats() {
    let rows = [candidate("fast", 2.0, 1e9), candidate("beaten", 1.9, 0.9e9), candidate("small", 3.0, 0.5e9)];
    let found = plan(&rows, &pipe(500e6), &budget(2));
    assert_eq!(found.rows.iter().map(|row| row.pareto).collect::<Vec<_>>(), [true, true, false, true]);
}

#[test]
fn json_has_every_documented_key() {
    let mut blocks = candidate("zstd 3", 2.0, 2e9);
    blocks.read = Some(Read { seconds: 10e-6, fetched: 2048.0 });
    let mut plan = plan(&[blocks], &pipe(500e6), &budget(2));
    plan.rows[1].decode_command = Some(["linerate", "nx", "extract", "zstd 3"].map(String::from).into());
    let json = plan.to_json();
    let documented = include_str!("../../src/json.rs");
    let keys: Vec<&str> = documented
        .lines()
        .filter_map(|line| line.strip_prefix("//! | `"))
        .flat_map(|line| {
            line.split(" | ").next().unwrap_or("").split("`, `").map(|key| key.trim_end_matches('`'))
        })
        .collect();
    for key in &keys {
        assert!(
            json.get(key).is_some() || json["candidates"][1].get(key).is_some(),
            "{key} is documented, but not there"
        );
    }
    let objects = [&json, &json["candidates"][1]];
    for key in objects.iter().flat_map(|object| object.as_object().expect("an object").keys()) {
        assert!(keys.contains(&key.as_str()), "{key} is there, but not documented");
    }
    assert_eq!(json["command_line"], "linerate nx pack 'zstd 3'");
    assert_eq!(json["decode_command_line"], "linerate nx extract 'zstd 3'");
    assert_eq!(json["winner"], 1);
    assert_eq!(json["candidates"][1]["read"]["fetched"], 2048.0);
}

#[test]
fn candidate_with_a_speed_of_zero_or_nan_has_none() {
    for median in [0.0, f64::NAN, f64::INFINITY] {
        let broken = Measurement {
            decode: Some(speed(median)),
            decode_scaling: Vec::new(),
            ..candidate("odd", 2.0, 1.0)
        };
        let found = plan(&[broken], &pipe(500e6), &budget(2));
        assert_eq!(found.rows[1].excluded, Some(Exclusion::NoSpeed(Direction::Read)));
    }
}

#[test]
fn large_estimates_of_cores_are_not_stated() {
    let text = |cores, extrapolated| Saturation { cores, extrapolated }.text();
    assert_eq!(text(129, false), "129");
    assert_eq!(text(128, true), "about 128");
    assert_eq!(text(129, true), "more than 128");
}
