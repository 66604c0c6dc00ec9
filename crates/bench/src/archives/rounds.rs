//! Contenders that take turns.

use std::time::{Duration, Instant};

use super::row::{Row, Target};
use crate::stats;

/// One that is measured: a turn tells the time it took.
pub(super) struct Contender<'c> {
    pub(super) row: Row,
    pub(super) turn: Box<dyn FnMut() -> Result<Duration, String> + 'c>,
    /// Which contender it is compared with, by place, and how that should come out. A contender may be
    /// compared with several: each makes a row.
    pub(super) bases: Vec<(usize, Option<Target>)>,
}

/// Gives each contender one turn that does not count and then `rounds` that do, in alternating order,
/// and makes their rows. What is compared is turns of the same round; `vs_base` is the median of the
/// base's time by the contender's own, so more is better.
pub(super) fn measure(
    mut contenders: Vec<Contender<'_>>,
    rounds: usize,
    progress: fn(&str),
) -> Result<Vec<Row>, String> {
    let mut times = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..=rounds {
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for i in order {
            let row = &contenders[i].row;
            progress(&format!(
                "{} of {}: round {round} of {rounds}: {}",
                row.measure, row.corpus, row.contender
            ));
            let time = (contenders[i].turn)()?;
            if round > 0 {
                times[i].push(time);
            }
        }
    }
    progress("");
    let names: Vec<String> = contenders.iter().map(|contender| contender.row.contender.clone()).collect();
    let mut rows = Vec::new();
    for (i, contender) in contenders.into_iter().enumerate() {
        let row = timed(contender.row, &times[i]);
        if contender.bases.is_empty() {
            rows.push(row.clone());
        }
        for (base, target) in contender.bases {
            let ratios =
                times[base].iter().zip(&times[i]).map(|(b, own)| b.as_secs_f64() / own.as_secs_f64());
            let vs_base = Some(stats::middle(ratios.collect()));
            rows.push(Row { base: names[base].clone(), vs_base, target, ..row.clone() });
        }
    }
    Ok(rows)
}

/// The row with these times.
pub(super) fn timed(row: Row, times: &[Duration]) -> Row {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let median = stats::median(times);
    Row {
        rounds: times.len(),
        best_ms: stats::best(times).map(ms),
        median_ms: median.map(ms),
        mb_s: median.map(|time| row.bytes as f64 / 1e6 / time.as_secs_f64()),
        ..row
    }
}

/// The time of `work`, by the wall clock.
pub(super) fn wall<T>(work: impl FnOnce() -> Result<T, String>) -> Result<(T, Duration), String> {
    let begun = Instant::now();
    let made = work()?;
    Ok((made, begun.elapsed()))
}

/// The time of `work`, by the CPU clock of the process.
pub(super) fn cpu<T>(work: impl FnOnce() -> Result<T, String>) -> Result<(T, Duration), String> {
    let begun = crate::cpu_time();
    let made = work()?;
    Ok((made, crate::cpu_time() - begun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vs_base_compares_turns_of_the_same_round() {
        let turn = |times: &'static [u64]| {
            let mut next = times.iter();
            Box::new(move || next.next().map(|ms| Duration::from_millis(*ms)).ok_or_else(String::new))
        };
        let row = |name: &str| Row { contender: name.into(), bytes: 8_000, ..Row::default() };
        let contenders = vec![
            Contender {
                row: row("a"),
                turn: turn(&[99, 4, 8, 6]),
                bases: vec![(1, Some(Target::Above(1.9)))],
            },
            Contender { row: row("b"), turn: turn(&[99, 8, 16, 3]), bases: vec![] },
        ];
        let rows = measure(contenders, 3, |_| {}).unwrap();
        assert_eq!((rows[0].best_ms, rows[0].median_ms, rows[0].rounds), (Some(4.0), Some(6.0), 3));
        assert_eq!((rows[0].vs_base, rows[0].base.as_str()), (Some(2.0), "b"));
        assert_eq!(rows[1].vs_base, None);
        assert_eq!(rows[1].mb_s, Some(1.0));
    }
}
