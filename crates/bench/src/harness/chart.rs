//! SVG charts of records.

use std::collections::BTreeMap;
use std::path::Path;

use linerate_plan::report::chart::{Chart, Series};

use crate::records::{self, Measurement, metric};

/// What the axes of a chart show: each the name of a metric, or of a param that is a number.
pub struct Axes<'a> {
    /// Metric or param of the horizontal axis.
    pub x: &'a str,
    /// Metric or param of the vertical axis.
    pub y: &'a str,
}

/// Draws the measurements of a record that have both axes, in an SVG file for each combination of
/// shape, data and params. A contender, with its params `mode`, `calls` and `format`, is a point,
/// or a line if its measurements have several values of `x`. The param `base` is ignored. Of
/// measurements with the same value of `x`, the last in the record counts. Returns the names of the
/// files in `folder`.
///
/// # Errors
/// A sentence that names the file that cannot be read or written.
pub fn draw(record: &Path, axes: &Axes<'_>, folder: &Path) -> Result<Vec<String>, String> {
    let mut charts: BTreeMap<String, BTreeMap<String, Vec<(f64, f64)>>> = BTreeMap::new();
    for (_, m) in records::read(record)? {
        let (Some(x), Some(y)) = (value(&m, axes.x), value(&m, axes.y)) else { continue };
        let differs = |name: &str| [axes.x, axes.y, "base", "mode", "calls", "format"].contains(&name);
        let text = |v: &serde_json::Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        let cases =
            m.params.iter().filter(|(name, _)| !differs(name)).map(|(name, v)| format!("{name} {}", text(v)));
        let title: Vec<String> = [m.shape.clone(), m.data.clone()].into_iter().chain(cases).collect();
        let more = ["mode", "calls", "format"].iter().filter_map(|name| m.params.get(*name)).map(text);
        let name: Vec<String> = std::iter::once(m.contender.clone()).chain(more).collect();
        let points = charts.entry(title.join(", ")).or_default().entry(name.join(" ")).or_default();
        points.retain(|point| point.0 != x);
        points.push((x, y));
    }
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut made: Vec<String> = Vec::new();
    for (title, series) in charts {
        let all = series.into_iter().map(|(name, mut points)| {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Series { name, points }
        });
        let label = |name: &str| match metric(name) {
            Some(m) if m.unit.is_empty() => m.meaning.to_owned(),
            Some(m) => format!("{}, {}", m.meaning, m.unit),
            None => name.to_owned(),
        };
        let (x, y) = (label(axes.x), label(axes.y));
        let svg = Chart { title: title.clone(), x, y, series: all.collect() }.svg();
        let name: String = title.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let name = name.replace("--", "-");
        // Two titles may differ only in characters that became `-`, so a number is added.
        let names = (1..).map(|n| if n == 1 { format!("{name}.svg") } else { format!("{name}-{n}.svg") });
        let name = names.into_iter().find(|name| !made.contains(name)).unwrap_or_default();
        let path = folder.join(&name);
        std::fs::write(&path, svg).map_err(|e| format!("{}: {e}", path.display()))?;
        made.push(name);
    }
    Ok(made)
}

fn value(m: &Measurement, name: &str) -> Option<f64> {
    m.metrics.get(name).map(|figure| figure.median).or_else(|| m.params.get(name)?.as_f64())
}
