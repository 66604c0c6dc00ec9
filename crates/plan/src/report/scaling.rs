//! Draws the chart of speed by number of threads.

use std::fmt::Write as _;

use super::axis::Axis;
use super::labels::spread_out;
use super::markup::{escape, shortened};
use super::{Size, is_tie, is_winner, short_name};
use crate::curve::Curve;
use crate::plan::Plan;
use crate::units;

const LEFT: f64 = 68.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;
/// Largest number of lines. More are hard to distinguish, and the table has all candidates.
const MAX_LINES: usize = 6;
/// Smallest distance between labels, in pixels.
const LABEL_GAP: f64 = 15.0;

/// Returns the chart as SVG. Empty if no candidate was measured with more than one number of
/// threads.
pub(super) fn svg(plan: &Plan, name: &str, size: &Size) -> String {
    let lines = lines(plan);
    let threads = lines.iter().map(|(_, curve)| curve.max_threads()).max().unwrap_or(1);
    if threads < 2 {
        return String::new();
    }
    let speed = |curve: &Curve| curve.on(curve.max_threads()).median;
    let fastest = lines.iter().map(|(_, curve)| speed(curve)).fold(0.0, f64::max);
    let right = size.label_chars as f64 * 6.5 + 14.0;
    let x = Axis {
        low: 1.0,
        high: threads as f64,
        from: LEFT,
        to: size.width - right,
        logarithmic: threads > 16,
    };
    let y = Axis { low: 0.0, high: fastest * 1.08, from: size.height - BOTTOM, to: TOP, logarithmic: false };

    let mut svg = size.open(name, "Speed by number of threads", &description(plan, threads));
    grid(&mut svg, &x, &y, threads, size);
    // The winner is the first of `lines` if it has a line, and is drawn on top.
    for (i, curve) in lines.iter().rev() {
        line(&mut svg, &x, &y, plan, *i, curve);
    }
    labels(&mut svg, &x, &y, plan, &lines, size);
    svg.push_str("</svg>\n");
    svg
}

/// Returns at most `MAX_LINES` rows to draw, with their curves, of those that were measured with
/// more than one number of threads: the winner, ties, the Pareto front, other rows that can be
/// chosen, then excluded rows. Each of these groups is in descending order of the delivered rate.
fn lines(plan: &Plan) -> Vec<(usize, &Curve)> {
    let with_curve =
        |i: usize| Some((i, plan.rows[i].curve.as_ref().filter(|curve| curve.points().len() > 1)?));
    let mut lines: Vec<(usize, &Curve)> = (0..plan.rows.len()).filter_map(with_curve).collect();
    let rank = |i: usize| {
        (!is_winner(plan, i), plan.rows[i].excluded.is_some(), !is_tie(plan, i), !plan.rows[i].pareto)
    };
    let delivered = |i: usize| plan.rows[i].delivered.median;
    lines.sort_by(|(a, _), (b, _)| rank(*a).cmp(&rank(*b)).then(delivered(*b).total_cmp(&delivered(*a))));
    lines.truncate(MAX_LINES);
    lines
}

fn description(plan: &Plan, threads: usize) -> String {
    let winner = plan.winner().and_then(|row| Some((row, row.curve.as_ref()?)));
    let winner = winner.map_or_else(String::new, |(row, curve)| {
        let (one, all) = (curve.on(1).median, curve.on(threads).median);
        format!(
            " {}: {} with one, {} with {threads}.",
            row.measurement.settings,
            units::rate(one),
            units::rate(all)
        )
    });
    format!("Across: threads, 1 to {threads}. Up: bytes of content per second, all threads together.{winner}")
}

fn grid(svg: &mut String, x: &Axis, y: &Axis, threads: usize, size: &Size) {
    y.rate_grid(svg, 5, LEFT, x.to);
    let ticks = (1..=threads).filter(|n| threads <= 8 || n.is_power_of_two() || *n == threads);
    for tick in ticks {
        let at = x.at(tick as f64);
        let _ = writeln!(
            svg,
            r#"<text class="tick" x="{at:.1}" y="{:.1}" text-anchor="middle">{tick}</text>"#,
            y.from + 18.0
        );
    }
    let _ = writeln!(svg, r#"<text class="axis" x="2" y="14">Speed</text>"#);
    let _ = writeln!(
        svg,
        r#"<text class="axis" x="{:.1}" y="{:.1}" text-anchor="end">Threads</text>"#,
        x.to,
        size.height - 6.0
    );
}

fn line(svg: &mut String, x: &Axis, y: &Axis, plan: &Plan, i: usize, curve: &Curve) {
    let class = if is_winner(plan, i) { "series winner" } else { "series" };
    let points = || curve.points().iter().map(|point| (x.at(point.threads as f64), y.at(point.speed.median)));
    let path: Vec<String> = points().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let _ =
        writeln!(svg, r#"<g class="{class}"><title>{}</title>"#, escape(&plan.rows[i].measurement.settings));
    let _ = writeln!(svg, r#"<path d="M{}"/>"#, path.join("L"));
    for (x, y) in points() {
        let _ = writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5"/>"#);
    }
    svg.push_str("</g>\n");
}

/// Writes the name of each line at the right edge of the chart, near the height of the line's last
/// point. Names are moved up or down so that they do not overlap.
fn labels(svg: &mut String, x: &Axis, y: &Axis, plan: &Plan, lines: &[(usize, &Curve)], size: &Size) {
    let end = |curve: &Curve| y.at(curve.on(curve.max_threads()).median);
    let mut ends: Vec<(f64, usize)> = lines.iter().map(|(i, curve)| (end(curve), *i)).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut positions: Vec<f64> = ends.iter().map(|end| end.0).collect();
    spread_out(&mut positions, LABEL_GAP, y.to, y.from);
    for ((end, i), at) in ends.iter().zip(positions) {
        let class = if is_winner(plan, *i) { "label winner" } else { "label" };
        let text = escape(&shortened(short_name(&plan.rows[*i]), size.label_chars));
        let from = x.to + 5.0;
        let _ = writeln!(svg, r#"<path class="leader" d="M{from:.1} {end:.1}L{:.1} {at:.1}"/>"#, from + 6.0);
        let _ =
            writeln!(svg, r#"<text class="{class}" x="{:.1}" y="{:.1}">{text}</text>"#, from + 9.0, at + 4.0);
    }
}
