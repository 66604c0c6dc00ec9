//! Draws the chart of ratio and speed. It has the Pareto front (candidates that no other beats in
//! size or speed without being worse in the other) and the line of the speed that each ratio
//! requires to saturate the pipe.

use std::fmt::Write as _;

use super::axis::Axis;
use super::labels::{Places, Rect, width};
use super::markup::{escape, shortened};
use super::{Size, is_tie, is_winner, short_name};
use crate::plan::{Plan, Row};
use crate::units;

const LEFT: f64 = 68.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;
/// Ratios that span more than this factor get a logarithmic axis.
const LINEAR_RATIOS: f64 = 10.0;
/// Number of straight pieces of the line of required speed.
const PIECES: usize = 48;

/// The axes of the chart.
struct Chart {
    x: Axis,
    y: Axis,
}

/// Returns the chart as SVG. Empty if no candidate has a speed.
pub(super) fn svg(plan: &Plan, name: &str, size: &Size) -> String {
    let rows: Vec<usize> = (0..plan.rows.len()).filter(|i| plan.rows[*i].speed.is_some()).collect();
    let Some(chart) = axes(plan, &rows, size) else { return String::new() };
    let mut svg = size.open(name, "Ratio and speed of every candidate", &description(plan));
    grid(&mut svg, &chart, size, plan);
    let line = required_line(&mut svg, &chart, plan);
    front(&mut svg, &chart, plan);
    points(&mut svg, &chart, plan, &rows);
    labels(&mut svg, &chart, plan, &rows, &line, size);
    svg.push_str("</svg>\n");
    svg
}

fn description(plan: &Plan) -> String {
    format!(
        "Across: content size divided by compressed size. Up, logarithmic: bytes of content per second on {}. The dashed line \
         is the speed that {} requires at each ratio; above it a candidate saturates the pipe. The table below has all \
         numbers.",
        units::cores(plan.budget.cores),
        units::rate(plan.pipe.rate)
    )
}

fn axes(plan: &Plan, rows: &[usize], size: &Size) -> Option<Chart> {
    let ratios = || rows.iter().map(|i| plan.rows[*i].ratio).chain([1.0]).filter(|ratio| *ratio > 0.0);
    let (smallest, largest) = (ratios().fold(1.0, f64::min), ratios().fold(1.1, f64::max));
    let speeds = rows.iter().filter_map(|i| plan.rows[*i].speed).flat_map(|speed| [speed.low, speed.high]);
    let required = [plan.pipe.rate * smallest, plan.pipe.rate * largest];
    let speeds: Vec<f64> = speeds.chain(required).collect();
    if rows.is_empty() {
        return None;
    }
    let logarithmic = largest / smallest > LINEAR_RATIOS;
    let margin = if logarithmic { (largest / smallest).powf(0.04) } else { 1.0 };
    let space = if logarithmic { 0.0 } else { (largest - smallest) * 0.06 };
    let x = Axis {
        low: (smallest / margin - space).max(smallest / 2.0),
        high: largest * margin + space,
        from: LEFT,
        to: size.width - RIGHT,
        logarithmic,
    };
    let y = Axis {
        low: speeds.iter().copied().fold(f64::INFINITY, f64::min) / 1.5,
        high: speeds.iter().copied().fold(0.0, f64::max) * 1.7,
        from: size.height - BOTTOM,
        to: TOP,
        logarithmic: true,
    };
    Some(Chart { x, y })
}

fn grid(svg: &mut String, chart: &Chart, size: &Size, plan: &Plan) {
    let Chart { x, y } = chart;
    y.rate_grid(svg, 8, LEFT, x.to);
    for tick in x.ticks((size.width / 60.0) as usize) {
        let at = x.at(tick);
        let _ = writeln!(svg, r#"<path class="grid" d="M{at:.1} {TOP}V{:.1}"/>"#, y.from);
        let label = format!("{}x", (tick * 100.0).round() / 100.0);
        let _ = writeln!(
            svg,
            r#"<text class="tick" x="{at:.1}" y="{:.1}" text-anchor="middle">{label}</text>"#,
            y.from + 18.0
        );
    }
    let cores = units::cores(plan.budget.cores);
    let _ = writeln!(svg, r#"<text class="axis" x="2" y="14">Speed on {cores}</text>"#);
    let _ = writeln!(
        svg,
        r#"<text class="axis" x="{:.1}" y="{:.1}" text-anchor="end">Ratio: smaller files to the right</text>"#,
        x.to,
        size.height - 6.0
    );
}

/// Draws the line of required speed and the area above it. Returns the points of the line.
fn required_line(svg: &mut String, chart: &Chart, plan: &Plan) -> Vec<(f64, f64)> {
    let Chart { x, y } = chart;
    let at = |ratio: f64| (x.at(ratio), y.at(plan.pipe.rate * ratio));
    let points: Vec<(f64, f64)> = (0..=PIECES).map(|i| at(x.value(i as f64 / PIECES as f64))).collect();
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let path = path.join("L");
    let _ = writeln!(svg, r#"<path class="enough" d="M{path}V{:.1}H{:.1}Z"/>"#, y.to, x.from);
    let _ = writeln!(svg, r#"<path class="required" d="M{path}"/>"#);
    points
}

/// Draws the Pareto front as straight lines between those of its candidates that have a ratio above
/// 1.
fn front(svg: &mut String, chart: &Chart, plan: &Plan) {
    let on_front = plan.rows.iter().filter(|row| row.pareto && row.ratio > 1.0);
    let mut points: Vec<(f64, f64)> =
        on_front.filter_map(|row| Some((chart.x.at(row.ratio), chart.y.at(row.speed?.median)))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    if points.len() > 1 {
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = writeln!(svg, r#"<path class="front" d="M{}"/>"#, path.join("L"));
    }
}

fn position(chart: &Chart, row: &Row) -> (f64, f64) {
    let speed = row.speed.map_or(row.required, |speed| speed.median);
    (chart.x.at(row.ratio), chart.y.at(speed))
}

fn points(svg: &mut String, chart: &Chart, plan: &Plan, rows: &[usize]) {
    let (x, y) = position(chart, &plan.rows[0]);
    let plain = if is_winner(plan, 0) { "point winner" } else { "point plain" };
    let _ = writeln!(
        svg,
        r#"<g class="{plain}"><title>Stored plainly: {}</title><path d="M{x:.1} {:.1}l6 6l-6 6l-6 -6Z"/></g>"#,
        units::rate(plan.pipe.rate),
        y - 6.0
    );
    // The winner is drawn last, on top of the others.
    let winner = rows.iter().filter(|i| is_winner(plan, **i));
    for i in rows.iter().filter(|i| !is_winner(plan, **i)).chain(winner) {
        let row = &plan.rows[*i];
        let (x, y) = position(chart, row);
        let (class, radius) = point_class(plan, *i);
        let _ = writeln!(svg, r#"<g class="point {class}"><title>{}</title>"#, escape(&tooltip(row)));
        if let Some(speed) = row.speed {
            let _ = writeln!(
                svg,
                r#"<path class="whisker" d="M{x:.1} {:.1}V{:.1}"/>"#,
                chart.y.at(speed.low),
                chart.y.at(speed.high)
            );
        }
        if class == "winner" {
            let _ = writeln!(svg, r#"<circle class="halo" cx="{x:.1}" cy="{y:.1}" r="11"/>"#);
        }
        let _ = writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius}"/></g>"#);
    }
}

/// Returns the CSS class of a candidate's point, and its radius in pixels.
fn point_class(plan: &Plan, i: usize) -> (&'static str, f64) {
    match &plan.rows[i] {
        _ if is_winner(plan, i) => ("winner", 6.0),
        row if row.excluded.is_some() => ("excluded", 4.5),
        _ if is_tie(plan, i) => ("tie", 5.0),
        row if row.pareto => ("on-front", 5.0),
        _ => ("other", 4.5),
    }
}

fn tooltip(row: &Row) -> String {
    let speed = row.speed.map_or(0.0, |speed| speed.median);
    format!("{}: {}, {}", row.measurement.settings, units::ratio(row.ratio), units::rate(speed))
}

fn labels(svg: &mut String, chart: &Chart, plan: &Plan, rows: &[usize], line: &[(f64, f64)], size: &Size) {
    let Chart { x, y } = chart;
    let mut places = Places::new(Rect { left: x.from, top: y.to, right: x.to, bottom: y.from });
    for i in rows.iter().chain([&0]) {
        let (x, y) = position(chart, &plan.rows[*i]);
        places.take(Rect::around(x, y, if is_winner(plan, *i) { 11.0 } else { 6.0 }));
        if let Some(speed) = plan.rows[*i].speed {
            let (top, bottom) = (chart.y.at(speed.high), chart.y.at(speed.low));
            places.take(Rect { left: x - 2.0, top, right: x + 2.0, bottom });
        }
    }
    line.iter().for_each(|(x, y)| places.avoid(Rect::around(*x, *y, 4.0)));
    areas(svg, chart, plan, &mut places);

    let mut order: Vec<usize> = rows.to_vec();
    order.push(0);
    order.sort_by_key(|i| (!is_winner(plan, *i), *i != 0, !is_tie(plan, *i), !plan.rows[*i].pareto, *i));
    for i in order {
        let row = &plan.rows[i];
        let text = shortened(short_name(row), size.label_chars);
        let (x, y) = position(chart, row);
        if let Some(placed) = places.place(x, y, &text) {
            if let Some((to_x, to_y)) = placed.leader {
                let _ = writeln!(svg, r#"<path class="leader" d="M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}"/>"#);
            }
            let class = if is_winner(plan, i) { "label winner" } else { "label" };
            let _ = writeln!(
                svg,
                r#"<text class="{class}" x="{:.1}" y="{:.1}" text-anchor="{}">{}</text>"#,
                placed.x,
                placed.y,
                placed.anchor,
                escape(&text)
            );
        }
    }
}

/// Writes the names of the areas above and below the line of required speed into the upper left and
/// the lower right corner, and keeps labels out of them.
fn areas(svg: &mut String, chart: &Chart, plan: &Plan, places: &mut Places) {
    let Chart { x, y } = chart;
    let above = format!("saturates {}", shortened(&plan.pipe.name, 16));
    let below = "cores too slow";
    let (left, top) = (x.from + 8.0, y.to + 16.0);
    let (right, bottom) = (x.to - 8.0, y.from - 9.0);
    let _ = writeln!(svg, r#"<text class="area" x="{left:.1}" y="{top:.1}">{}</text>"#, escape(&above));
    let _ = writeln!(
        svg,
        r#"<text class="area" x="{right:.1}" y="{bottom:.1}" text-anchor="end">{below}</text>"#
    );
    places.take(Rect { left, top: top - 12.0, right: left + width(&above), bottom: top + 4.0 });
    places.take(Rect { left: right - width(below), top: bottom - 12.0, right, bottom: bottom + 4.0 });
}
