//! Bounds that figures of archives should keep. Below the tables they are printed as met or missed.

use std::cmp::Ordering::{self, Greater, Less};
use std::fmt::Write;

use crate::records::Measurement;

/// Names of params, each with the value that a measurement must have.
type Params = &'static [(&'static str, &'static str)];

/// A bound that a metric should keep.
struct Goal {
    /// Name of the contender, or empty for all contenders.
    contender: &'static str,
    params: Params,
    metric: &'static str,
    /// The side of the bound on which the goal is missed.
    missed: Ordering,
    bound: f64,
}

const fn least(contender: &'static str, params: Params, metric: &'static str, bound: f64) -> Goal {
    Goal { contender, params, metric, missed: Less, bound }
}

const fn most(contender: &'static str, params: Params, metric: &'static str, bound: f64) -> Goal {
    Goal { contender, params, metric, missed: Greater, bound }
}

const GOALS: [Goal; 17] = [
    least("linerate", &[("measure", "decode"), ("verify", "no"), ("base", "libzstd")], "speed_by_base", 0.95),
    // Checking the hashes should make decoding take at most 8 % longer.
    least(
        "linerate",
        &[("measure", "decode"), ("base", "linerate --no-verify")],
        "speed_by_base",
        1.0 / 1.08,
    ),
    least("linerate", &[("measure", "decode"), ("threads", "2")], "speed_by_base", 1.85),
    least("linerate", &[("measure", "extract"), ("base", "unsquashfs 128K")], "speed_by_base", 1.0),
    least("linerate", &[("measure", "extract"), ("base", "unsquashfs 1M")], "speed_by_base", 1.0),
    least("linerate", &[("measure", "extract"), ("base", "tar --zstd")], "speed_by_base", 1.0),
    least("linerate", &[("measure", "extract"), ("base", "unzip")], "speed_by_base", 3.0),
    least("linerate", &[("measure", "extract"), ("base", "7z")], "speed_by_base", 6.0),
    least("linerate", &[("measure", "extract"), ("base", "linerate mapped output x2")], "speed_by_base", 1.5),
    least("linerate", &[("measure", "pack"), ("threads", "1"), ("base", "libzstd")], "speed_by_base", 0.9),
    least("linerate", &[("measure", "pack"), ("threads", "2"), ("base", "libzstd")], "speed_by_base", 1.8),
    least(
        "linerate plain",
        &[("measure", "pack"), ("threads", "1"), ("base", "libzstd")],
        "speed_by_base",
        0.9,
    ),
    least(
        "linerate plain",
        &[("measure", "pack"), ("threads", "2"), ("base", "libzstd")],
        "speed_by_base",
        1.8,
    ),
    most("", &[("measure", "memory"), ("base", "allowed")], "counted_by_base", 1.0),
    most("", &[("measure", "open"), ("base", "header and one block")], "counted_by_base", 1.0),
    most("open, find, read 4 KiB", &[("measure", "open")], "elapsed", 0.010),
    // The base is a tar file, compressed by zstd at level 9, the default level for large files.
    most("linerate default", &[("measure", "costs")], "output_by_base", 1.01),
];

impl Goal {
    /// The value of the goal's metric, if the goal applies to this measurement.
    fn of(&self, m: &Measurement) -> Option<f64> {
        let text =
            |name: &str| m.params.get(name).map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
        let is_it = self.contender.is_empty() || m.contender == self.contender;
        let is_case = self.params.iter().all(|(name, value)| text(name).as_deref() == Some(*value));
        m.metrics.get(self.metric).filter(|_| is_it && is_case).map(|figure| figure.median)
    }
}

/// Returns a line for each measurement and each goal that applies to it, which says whether the
/// goal is met.
pub(super) fn said(found: &[Measurement]) -> String {
    let mut text = String::new();
    for m in found {
        for goal in &GOALS {
            let Some(value) = goal.of(m) else { continue };
            let is_met = value.partial_cmp(&goal.bound).is_some_and(|side| side != goal.missed);
            let params: Vec<String> =
                goal.params.iter().map(|(name, value)| format!("{name} {value}")).collect();
            let sign = if goal.missed == Less { "at least" } else { "at most" };
            let verdict = if is_met { "met" } else { "MISSED" };
            let Goal { metric, bound, .. } = goal;
            let _ = writeln!(
                text,
                "{verdict}: {}, {}: {metric} {value:.3}, {sign} {bound:.3}",
                m.contender,
                params.join(", ")
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::row;

    #[test]
    fn a_goal_is_met_or_missed_by_its_own_measurements() {
        let one = |contender: &str, base: &str, by: f64| {
            let row = row("archives", "d", contender).param("measure", "extract").param("threads", 2);
            row.param("base", base).exact("speed_by_base", by)
        };
        let text = said(&[
            one("linerate", "unzip", 3.5),
            one("linerate", "7z", 5.0),
            one("linerate", "7z", f64::NAN),
            one("other", "7z", 1.0),
        ]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("met: linerate, "), "{text}");
        assert!(lines[1..].iter().all(|line| line.starts_with("MISSED: ")), "{text}");
    }
}
