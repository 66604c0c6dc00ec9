//! Short constructors of candidates, pipes and budgets.

use linerate_plan::{Budget, Direction, Goal, Measurement, Memory, Pipe, Scaling, Speed};

/// Returns a speed whose slowest and fastest rounds are 1 % from the median.
pub(crate) fn speed(median: f64) -> Speed {
    Speed { low: median * 0.99, median, high: median * 1.01 }
}

/// Returns a candidate of 1 GB with this ratio and this decoding speed of one thread, in bytes per
/// second. Two threads are twice as fast; encoding has a tenth of the speed.
pub(crate) fn candidate(settings: &str, ratio: f64, decode: f64) -> Measurement {
    let two = |speed_of_one: f64| vec![Scaling { threads: 2, speed: speed(2.0 * speed_of_one) }];
    Measurement {
        engine: "nx".into(),
        settings: settings.into(),
        command: Some(vec!["linerate".into(), "nx".into(), "pack".into(), settings.into()]),
        content: 1_000_000_000,
        compressed: (1e9 / ratio) as u64,
        encode: Some(speed(decode / 10.0)),
        decode: Some(speed(decode)),
        encode_scaling: two(decode / 10.0),
        decode_scaling: two(decode),
        memory: Memory { per_stream: 1 << 20, per_thread: 8 << 20 },
        ..Measurement::default()
    }
}

pub(crate) fn pipe(rate: f64) -> Pipe {
    Pipe { name: format!("{rate}B/s"), rate, direction: Direction::Read }
}

/// Returns a budget without limits on memory and ratio, whose goal is speed.
pub(crate) fn budget(cores: usize) -> Budget {
    Budget { cores, memory_per_stream: None, min_ratio: None, goal: Goal::Speed }
}
