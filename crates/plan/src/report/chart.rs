//! Draws a chart of points and lines as SVG.

use std::fmt::Write as _;

use super::axis::Axis;
use super::labels::{Places, Rect};
use super::markup::{escape, shortened};

const WIDTH: f64 = 940.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 74.0;
const TOP: f64 = 54.0;
const BOTTOM: f64 = 46.0;
const RIGHT: f64 = 20.0;
/// Values above zero that span more than this factor get a logarithmic axis.
const LINEAR: f64 = 8.0;
/// Number of colors. If a chart has more series, colors are used again.
const COLORS: usize = 6;
/// Colors of the page's scheme, light or dark, which browsers also apply to images.
const STYLE: &str = "<style>
.page { fill: #fff; } text { fill: #1b1f24; } .axis { fill: #57606a; } .grid { stroke: #ececea; }
.line { fill: none; stroke: currentColor; } .series text, .series circle { fill: currentColor; }
.c0 { color: #0a63c9; } .c1 { color: #a8480a; } .c2 { color: #1a7f53; }
.c3 { color: #7a3fb0; } .c4 { color: #57606a; } .c5 { color: #c22f6b; }
@media (prefers-color-scheme: dark) {
.page { fill: #1a1f25; } text { fill: #e9ecef; } .axis { fill: #a4aeb9; } .grid { stroke: #2c333b; }
.c0 { color: #6db5ff; } .c1 { color: #f2a765; } .c2 { color: #5cc893; }
.c3 { color: #c39bf0; } .c4 { color: #a4aeb9; } .c5 { color: #ff8fb8; }
}
</style>";

/// A line of a chart: points with a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Name of the series. It is written beside the last point if there is room.
    pub name: String,
    /// The points: the value on the horizontal axis, in ascending order, and the value on the
    /// vertical axis.
    pub points: Vec<(f64, f64)>,
}

/// A chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Title above the chart.
    pub title: String,
    /// Label of the horizontal axis, with its unit.
    pub x: String,
    /// Label of the vertical axis, with its unit.
    pub y: String,
    /// The lines to draw.
    pub series: Vec<Series>,
}

impl Chart {
    /// Returns the chart as the text of an SVG file. An axis is logarithmic if its values are above
    /// zero, and the largest is more than eight times the smallest.
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = axis(points().map(|point| point.0), LEFT, WIDTH - RIGHT);
        let y = axis(points().map(|point| point.1), HEIGHT - BOTTOM, TOP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n{STYLE}\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n"
        );
        let text = |x: f64, y: f64, anchor: &str, class: &str, text: &str| {
            format!(
                "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n",
                escape(text)
            )
        };
        svg += &text(LEFT, 18.0, "start", "title", &self.title);
        svg += &text(4.0, 40.0, "start", "axis", &self.y);
        svg += &text(WIDTH - RIGHT, HEIGHT - 6.0, "end", "axis", &self.x);
        for tick in x.ticks(12) {
            let at = x.at(tick);
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M{at:.1} {TOP}V{:.1}\"/>", y.from);
            svg += &text(at, y.from + 16.0, "middle", "axis", &number(tick));
        }
        for tick in y.ticks(8) {
            let at = y.at(tick);
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{:.1}\"/>", x.to);
            svg += &text(LEFT - 8.0, at + 4.0, "end", "axis", &number(tick));
        }
        let inside = Rect { left: LEFT, top: TOP - 10.0, right: WIDTH, bottom: HEIGHT - BOTTOM };
        let mut places = Places::new(inside);
        points().for_each(|point| places.take(Rect::around(x.at(point.0), y.at(point.1), 5.0)));
        for (series, color) in self.series.iter().zip((0..COLORS).cycle()) {
            let at: Vec<(f64, f64)> =
                series.points.iter().map(|point| (x.at(point.0), y.at(point.1))).collect();
            let path: Vec<String> = at.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            // Viewers show the title under the pointer, so a name without room beside its point is
            // not lost.
            let _ = writeln!(svg, "<g class=\"series c{color}\"><title>{}</title>", escape(&series.name));
            let _ = writeln!(svg, "<path class=\"line\" d=\"M{}\"/>", path.join("L"));
            for (x, y) in &at {
                let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>");
            }
            let name = shortened(&series.name, 40);
            let label = at.last().and_then(|(x, y)| places.place(*x, *y, &name));
            if let Some(label) = label {
                svg += &text(label.x, label.y, label.anchor, "label", &name);
            }
            svg += "</g>\n";
        }
        svg + "</svg>\n"
    }
}

fn axis(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Axis {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
    match low > 0.0 && high / low > LINEAR {
        true => Axis { low: low / 1.15, high: high * 1.15, from, to, logarithmic: true },
        false => Axis {
            low: low.min(0.0),
            high: if high > 0.0 { high * 1.06 } else { 1.0 },
            from,
            to,
            logarithmic: false,
        },
    }
}

/// Formats the number at a line of the grid with few digits.
fn number(value: f64) -> String {
    let text = if value.abs() >= 1e6 { format!("{:.4e}", value) } else { format!("{:.3}", value) };
    match text.contains('e') {
        true => text.replace(".0000", ""),
        false => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_has_its_points_and_its_name_as_text() {
        let series = |name: &str, points: &[(f64, f64)]| Series { name: name.into(), points: points.into() };
        let series =
            vec![series("a <b>", &[(1.0, 5.0), (100.0, 7.0), (30_000.0, 9.0)]), series("c", &[(2.0, 1.0)])];
        let svg = Chart { title: "t".into(), x: "x".into(), y: "y".into(), series }.svg();
        assert_eq!(svg.matches("<circle").count(), 4);
        assert!(svg.contains(">a &lt;b&gt;</text>") && svg.contains(">10000</text>"), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(Chart::default().svg().contains("</svg>"));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.5, 20.0, 1234.0, 2e6].map(number), ["0.5", "20", "1234", "2e6"]);
    }
}
