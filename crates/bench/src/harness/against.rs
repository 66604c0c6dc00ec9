//! Compares the measurements of a run with those of an earlier record.

use std::fmt::Write;
use std::sync::Arc;

use super::output::aligned;
use crate::records::{Better, Figure, Measurement, Run, metric};

/// Returns a table that compares a run with earlier ones: a line for each metric that the same
/// measurement has in both, except exact figures that changed by less than 0.1 %, and metrics of
/// which neither more nor less is better. A sentence for each other CPU of the earlier runs comes
/// first. The contenders of new measurements, and of those that are missing now, come last.
pub(super) fn text(earlier: &[(Arc<Run>, Measurement)], run: &Run, now: &[Measurement]) -> String {
    let is_same = |a: &Measurement, b: &Measurement| {
        a.shape == b.shape && a.data == b.data && a.contender == b.contender && a.params == b.params
    };
    // The newest earlier measurement on this CPU or, if there is none, the newest on any CPU.
    let before = |m: &Measurement| {
        let mut found = earlier.iter().filter(|(_, old)| is_same(old, m));
        let newest = found.clone().next_back();
        found.rfind(|(of, _)| of.cpu == run.cpu).or(newest)
    };
    let mut rows =
        vec![["contender", "case", "metric", "then", "now", "now by then", ""].map(String::from).to_vec()];
    let (mut text, mut new, mut others) = (String::new(), Vec::new(), Vec::new());
    for m in now {
        let Some((of, old)) = before(m) else {
            new.push(m.contender.clone());
            continue;
        };
        if of.cpu != run.cpu && !others.contains(&of.cpu) {
            others.push(of.cpu.clone());
        }
        for (name, figure) in &m.metrics {
            let (Some(then), Some(known)) = (old.metrics.get(name), metric(name)) else { continue };
            let by = if figure.median == then.median { 1.0 } else { figure.median / then.median };
            let verdict = verdict(then, figure, known.better);
            let is_exact = figure.low.is_none() && figure.high.is_none();
            if known.better == Better::Neither || is_exact && (by - 1.0).abs() < 0.001 {
                continue;
            }
            let decimals = known.decimals;
            let number = |figure: &Figure| format!("{:.decimals$}", figure.median);
            let case: Vec<String> =
                m.params.values().map(|value| value.to_string().replace('"', "")).collect();
            let cells = [m.contender.clone(), case.join(" "), name.clone(), number(then), number(figure)];
            rows.push(cells.into_iter().chain([format!("{by:.3}"), verdict.into()]).collect());
        }
    }
    for cpu in others {
        let _ = writeln!(text, "The earlier run was on another CPU, so speeds do not compare: {cpu}");
    }
    text += &aligned(&rows);
    let shape = now.first().map_or("", |m| &m.shape);
    let is_missing = |old: &&Measurement| old.shape == shape && !now.iter().any(|m| is_same(old, m));
    let missing: Vec<&str> =
        earlier.iter().map(|(_, old)| old).filter(is_missing).map(|old| old.contender.as_str()).collect();
    for (what, names) in [("new", new.iter().map(String::as_str).collect()), ("not measured now", missing)] {
        if !names.is_empty() {
            let _ = writeln!(text, "{what}: {}", names.join("; "));
        }
    }
    text
}

/// Returns "better" or "worse" for a figure compared with the earlier one, or "within noise" if the
/// ranges of their rounds overlap.
fn verdict(then: &Figure, now: &Figure, better: Better) -> &'static str {
    // A record converted from the older format has only one end of the range of the rounds. The
    // other end is assumed to be as far from the median.
    let range = |f: &Figure| match (f.low, f.high) {
        (Some(low), Some(high)) => (low, high),
        (None, Some(high)) => (2.0 * f.median - high, high),
        (Some(low), None) => (low, 2.0 * f.median - low),
        (None, None) => (f.median, f.median),
    };
    let ((low, high), (now_low, now_high)) = (range(then), range(now));
    match (now_low > high, now_high < low, better) {
        (true, _, Better::Higher) | (_, true, Better::Lower) => "better",
        (true, _, Better::Lower) | (_, true, Better::Higher) => "worse",
        _ => "within noise",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::row;

    fn figure(low: f64, median: f64, high: f64) -> Figure {
        Figure { median, low: Some(low), high: Some(high) }
    }

    #[test]
    fn ranges_that_overlap_are_noise() {
        let (then, now) = (figure(9.0, 10.0, 11.0), figure(10.5, 12.0, 13.0));
        assert_eq!(verdict(&then, &now, Better::Higher), "within noise");
        assert_eq!(verdict(&then, &figure(11.5, 12.0, 13.0), Better::Higher), "better");
        assert_eq!(verdict(&then, &figure(11.5, 12.0, 13.0), Better::Lower), "worse");
        assert_eq!(verdict(&Figure { low: None, ..then }, &figure(7.0, 8.0, 8.5), Better::Higher), "worse");
    }

    #[test]
    fn missing_and_new_contenders_and_another_cpu_are_told() {
        let run = |cpu: &str| Arc::new(Run { cpu: cpu.into(), ..Run::default() });
        let a = |ratio: f64| row("s", "d", "a").exact("ratio", ratio).exact("errors", 0.0);
        let old = [(run("x"), a(2.0)), (run("x"), row("s", "d", "gone"))];
        let now = [a(3.0), row("s", "d", "b")];
        let text = text(&old, &run("y"), &now);
        assert!(text.contains("on another CPU") && text.contains("1.500  better"), "{text}");
        assert!(!text.contains("errors"), "0 is as 0 was: {text}");
        assert!(text.contains("new: b\n") && text.contains("not measured now: gone\n"), "{text}");
    }
}
