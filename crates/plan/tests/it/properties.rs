//! Properties of every plan, tested with random candidates.

use linerate_plan::{Budget, Goal, Measurement, Memory, Pipe, Scaling, Speed, plan};
use proptest::prelude::*;

use crate::common::{budget, candidate, pipe};

fn speeds() -> impl Strategy<Value = Speed> {
    (1e3..1e11_f64, 0.5..1.0_f64, 1.0..1.5_f64).prop_map(|(median, low, high)| Speed {
        low: median * low,
        median,
        high: median * high,
    })
}

fn scalings() -> impl Strategy<Value = Vec<Scaling>> {
    prop::collection::vec(
        (0..70_usize, speeds()).prop_map(|(threads, speed)| Scaling { threads, speed }),
        0..5,
    )
}

fn candidates() -> impl Strategy<Value = Vec<Measurement>> {
    let one = (
        any::<bool>(),
        (0..1_000_000_u64, 0..1_000_000_u64),
        (prop::option::of(speeds()), prop::option::of(speeds())),
        (scalings(), scalings()),
        (0..1_u64 << 30, 0..1_u64 << 30),
    );
    let one = one.prop_map(|(has_command, sizes, speeds, scalings, memory)| Measurement {
        engine: "nx".into(),
        settings: format!("{sizes:?}"),
        command: has_command.then(|| vec!["linerate".into()]),
        content: sizes.0,
        compressed: sizes.1,
        encode: speeds.0,
        decode: speeds.1,
        encode_scaling: scalings.0,
        decode_scaling: scalings.1,
        memory: Memory { per_stream: memory.0, per_thread: memory.1 },
        ..Measurement::default()
    });
    prop::collection::vec(one, 0..8)
}

fn directions() -> impl Strategy<Value = linerate_plan::Direction> {
    use linerate_plan::Direction::{Both, Read, Write};
    prop::sample::select(vec![Read, Write, Both])
}

/// Maximum relative difference of a speed in a second measurement of the same data.
const NOISE: f64 = 0.03;

/// Returns the same candidates measured again: each speed is multiplied by the next factor and has
/// another spread.
fn again(rows: &[Measurement], factors: &[f64]) -> Vec<Measurement> {
    let mut factors = factors.iter().cycle();
    let mut measure = |speed: &mut Speed| {
        let factor = factors.next().copied().unwrap_or(1.0);
        speed.median *= factor;
        speed.low = speed.median * (factor - 0.1);
        speed.high = speed.median * (factor + 0.2);
    };
    let mut rows = rows.to_vec();
    for row in &mut rows {
        row.encode.iter_mut().chain(&mut row.decode).for_each(&mut measure);
        let points = row.encode_scaling.iter_mut().chain(&mut row.decode_scaling);
        points.for_each(|point| measure(&mut point.speed));
    }
    rows
}

fn goals() -> impl Strategy<Value = Goal> {
    prop::sample::select(Goal::ALL.to_vec())
}

fn noise() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1.0 - NOISE..1.0 + NOISE, 1..40)
}

/// Returns candidates like one engine at several levels, with ratios from 1.1 to 5 and decoding
/// speeds from 0.1 to 2 GB/s, so that some are likely to be tied.
fn levels() -> impl Strategy<Value = Vec<Measurement>> {
    let one = (1.1..5.0_f64, 1e8..2e9_f64).prop_map(|(ratio, decode)| candidate("level", ratio, decode));
    prop::collection::vec(one, 1..12)
}

fn delivered(plan: &linerate_plan::Plan) -> Vec<f64> {
    plan.rows.iter().map(|row| row.delivered.median).collect()
}

proptest! {
    #[test]
    fn faster_pipe_never_delivers_less(
        rows in candidates(), direction in directions(), rate in 1e3..1e11_f64, times in 1.0..100.0_f64, cores in 1..80_usize,
    ) {
        let at = |rate| plan(&rows, &Pipe { direction, ..pipe(rate) }, &budget(cores));
        for (slow, fast) in delivered(&at(rate)).into_iter().zip(delivered(&at(rate * times))) {
            prop_assert!(fast >= slow, "{slow} became {fast}");
        }
    }

    #[test]
    fn more_cores_never_deliver_less(
        rows in candidates(), direction in directions(), rate in 1e3..1e11_f64, cores in 0..80_usize, more in 0..80_usize,
    ) {
        let on = |cores| plan(&rows, &Pipe { direction, ..pipe(rate) }, &budget(cores));
        for (few, many) in delivered(&on(cores)).into_iter().zip(delivered(&on(cores + more))) {
            prop_assert!(many >= few * (1.0 - 1e-9), "{few} became {many}");
        }
    }

    #[test]
    fn rates_are_bounded_and_busy_cores_deliver_them(
        rows in candidates(), direction in directions(), rate in 1e3..1e11_f64, cores in 1..80_usize,
    ) {
        let plan = plan(&rows, &Pipe { direction, ..pipe(rate) }, &budget(cores));
        for row in &plan.rows {
            prop_assert!(row.delivered.low <= row.delivered.median && row.delivered.median <= row.delivered.high);
            prop_assert!(row.delivered.high <= row.required && row.cores <= cores);
            if let Some(curve) = &row.curve {
                prop_assert!(curve.on(row.cores).median >= row.delivered.median * 0.998);
            }
        }
    }

    #[test]
    fn winner_is_usable_and_nearly_the_best(
        rows in candidates(), direction in directions(), rate in 1e3..1e11_f64, cores in 1..80_usize, goal in goals(),
    ) {
        let plan = plan(&rows, &Pipe { direction, ..pipe(rate) }, &Budget { goal, ..budget(cores) });
        let winner = plan.winner().expect("storing plainly is always usable without a minimum ratio");
        prop_assert!(winner.excluded.is_none());
        let score = |row: &linerate_plan::Row| match goal {
            Goal::Speed => row.delivered.median,
            Goal::Size => row.ratio,
            Goal::Balance => row.delivered.median * row.ratio,
        };
        for row in plan.rows.iter().filter(|row| row.excluded.is_none()) {
            prop_assert!(score(winner) >= score(row) * (1.0 - linerate_plan::NEAR) * (1.0 - 1e-9));
        }
        let alternative = plan.alternative.map(|i| &plan.rows[i]);
        prop_assert!(alternative.is_none_or(|row| winner.plain && !row.plain && row.ratio > 1.0));
        prop_assert!(plan.ties.iter().all(|i| Some(*i) != plan.winner && plan.rows[*i].excluded.is_none()));
    }

    #[test]
    fn second_measurement_names_a_winner_that_delivers_as_much(
        rows in levels(), direction in directions(), rate in 1e7..1e10_f64, cores in 1..3_usize, factors in noise(),
    ) {
        let pipe = Pipe { direction, ..pipe(rate) };
        let first = plan(&rows, &pipe, &budget(cores));
        let second = plan(&again(&rows, &factors), &pipe, &budget(cores));
        let (of_first, of_second) = (first.winner.expect("one wins"), second.winner.expect("one wins"));
        let part = first.rows[of_second].delivered.median / first.rows[of_first].delivered.median;
        let least = (1.0 - linerate_plan::NEAR) * (1.0 - NOISE) / (1.0 + NOISE);
        prop_assert!(part >= least, "the second winner delivers {part} of the first");
    }

    #[test]
    fn second_measurement_names_the_same_winner_unless_one_lies_at_the_edge_of_near(
        rows in levels(), direction in directions(), rate in 1e7..1e10_f64, cores in 1..3_usize, factors in noise(),
    ) {
        let pipe = Pipe { direction, ..pipe(rate) };
        let first = plan(&rows, &pipe, &budget(cores));
        let second = plan(&again(&rows, &factors), &pipe, &budget(cores));
        let best = delivered(&first).into_iter().fold(0.0, f64::max);
        let edge = best * (1.0 - linerate_plan::NEAR);
        let moves = (1.0 + NOISE) / (1.0 - NOISE);
        prop_assume!(delivered(&first).iter().all(|rate| *rate < edge / moves || *rate > edge * moves));
        let (a, b) = (first.winner().expect("one wins"), second.winner().expect("one wins"));
        // Among sizes that count as equal, the number of busy cores decides, which noise may
        // change.
        let same_size = |row: &linerate_plan::Row| row.ratio >= a.ratio * (1.0 - linerate_plan::SAME_SIZE);
        prop_assert!(first.winner == second.winner || same_size(b), "{} became {}", a.ratio, b.ratio);
    }

    #[test]
    fn same_input_gives_the_same_plan(
        rows in candidates(), direction in directions(), rate in 1e3..1e11_f64, cores in 1..80_usize,
    ) {
        let pipe = Pipe { direction, ..pipe(rate) };
        let (a, b) = (plan(&rows, &pipe, &budget(cores)), plan(&rows, &pipe, &budget(cores)));
        prop_assert_eq!(a.to_json().to_string(), b.to_json().to_string());
        prop_assert!(!a.sentence().is_empty() && a.sentence() == b.sentence());
    }
}
