//! Speed against ratio as SVG, from the records of a CSV file.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::labels::{self, Spot};
use crate::messages;
use crate::record::{self, Record};

const SIZE: (u32, u32) = (960, 640);
const FONT: &str = "sans-serif";
const OURS: RGBColor = RGBColor(196, 48, 32);
const PEERS: RGBColor = RGBColor(60, 90, 130);

/// Contenders that compress less than this, such as memcpy, are left out: they would press the
/// others into a corner.
const MIN_RATIO: f64 = 1.05;

/// Draws the newest measurement of each corpus and chunk size of shape "bytes" into `folder`, as
/// `CORPUS-CHUNK.svg`, and returns their paths, one per line. Of a file of shape "messages" the bars of its
/// newest run are drawn.
///
/// # Errors
/// A sentence that names the file.
pub fn draw(csv: &Path, folder: &Path) -> Result<String, String> {
    if let Some(rows) = messages::row::read(csv)? {
        return messages::draw::draw(&rows, folder);
    }
    let records = record::read(csv)?;
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut made = String::new();
    for group in groups(&records) {
        let (corpus, chunk) = (&group[0].corpus, &group[0].chunk);
        let path = folder.join(format!("{}-{chunk}.svg", corpus.replace(['/', '\\'], "-")));
        let root = SVGBackend::new(&path, SIZE).into_drawing_area();
        chart(&root, &group).map_err(|e| format!("{}: {e}", path.display()))?;
        made += &format!("{}\n", path.display());
    }
    Ok(made)
}

/// The newest measurement of each corpus and chunk size, where it has points to draw.
fn groups(records: &[Record]) -> Vec<Vec<&Record>> {
    let mut groups: Vec<Vec<&Record>> = Vec::new();
    for r in records.iter().rev().filter(|r| r.shape == "bytes") {
        let place = |g: &&mut Vec<&Record>| (&g[0].corpus, &g[0].chunk) == (&r.corpus, &r.chunk);
        match groups.iter_mut().find(place) {
            None => groups.push(vec![r]),
            Some(group) => {
                let seen = group.iter().any(|g| (&g.contender, &g.format) == (&r.contender, &r.format));
                if !seen && same_run(group[0], r) {
                    group.push(r);
                }
            }
        }
    }
    for group in &mut groups {
        group.retain(|r| r.ratio >= MIN_RATIO);
        group.reverse();
    }
    groups.retain(|g| !g.is_empty());
    groups.reverse();
    groups
}

fn same_run(a: &Record, b: &Record) -> bool {
    let of = |r: &Record| (r.date.clone(), r.cpu.clone(), r.linerate.clone(), r.base.clone(), r.bytes);
    of(a) == of(b)
}

type Fallible = Result<(), Box<dyn std::error::Error>>;

fn chart(root: &DrawingArea<SVGBackend<'_>, Shift>, group: &[&Record]) -> Fallible {
    root.fill(&WHITE)?;
    let highest = |of: fn(&Record) -> f64| group.iter().map(|r| of(r)).fold(0.0, f64::max);
    let lowest = group.iter().map(|r| r.ratio).fold(f64::INFINITY, f64::min);
    let (right, top) = (highest(|r| r.best_mbs) * 1.15, highest(|r| r.ratio));
    let margin = (0.08 * (top - lowest)).max(0.01 * top);
    let first = group[0];
    let title = format!("{}, {} chunks: {}", first.corpus, first.chunk, first.cpu);
    let mut chart = ChartBuilder::on(root)
        .caption(title, (FONT, 18))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..right, (lowest - margin)..(top + margin))?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .x_desc("speed, MB/s of CPU time (best round)")
        .y_desc("ratio")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.2}"))
        .axis_desc_style((FONT, 15))
        .label_style((FONT, 13))
        .draw()?;
    let points: Vec<_> = group.iter().map(|r| chart.backend_coord(&(r.best_mbs, r.ratio))).collect();
    for (r, spot) in group.iter().zip(spots(group, &points)) {
        mark(root, r, spot)?;
    }
    root.present()?;
    Ok(())
}

/// Where each label goes, beside or near its point.
fn spots(group: &[&Record], points: &[(i32, i32)]) -> Vec<Spot> {
    let widths: Vec<_> = group.iter().map(|r| 7 * label(r).chars().count() as i32).collect();
    labels::place(points, &widths, (SIZE.0 as i32, SIZE.1 as i32))
}

fn mark(root: &DrawingArea<SVGBackend<'_>, Shift>, r: &Record, spot: Spot) -> Fallible {
    let colour = if r.contender.starts_with("linerate") { OURS } else { PEERS };
    if spot.far {
        root.draw(&PathElement::new([spot.point, spot.near_end()], colour.mix(0.4)))?;
    }
    root.draw(&Circle::new(spot.point, 4, colour.filled()))?;
    let side = if spot.left { HPos::Right } else { HPos::Left };
    let style = (FONT, 13).into_font().color(&colour).pos(Pos::new(side, VPos::Center));
    root.draw(&Text::new(label(r), spot.near_end(), style))?;
    Ok(())
}

fn label(r: &Record) -> String {
    match r.format.as_str() {
        "gzip" => format!("{} gzip", r.contender),
        _ => r.contender.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(contender: &str, date: &str, chunk: &str, ratio: f64) -> Record {
        let text = String::from;
        Record {
            shape: text("bytes"),
            corpus: text("c"),
            best_mbs: 100.0,
            contender: text(contender),
            date: text(date),
            chunk: text(chunk),
            ratio,
            ..Record::default()
        }
    }

    #[test]
    fn only_the_newest_measurement_of_each_chunk_size_is_drawn() {
        let records = [
            record("old", "2026-01-01", "1K", 2.0),
            record("a", "2026-01-02", "1K", 2.0),
            record("a", "2026-01-02", "1K", 3.0),
            record("memcpy", "2026-01-02", "1K", 1.0),
            record("b", "2026-01-02", "4K", 2.0),
        ];
        let found: Vec<Vec<_>> =
            groups(&records).iter().map(|g| g.iter().map(|r| (&*r.contender, r.ratio)).collect()).collect();
        assert_eq!(found, [vec![("a", 3.0)], vec![("b", 2.0)]]);
    }

    #[test]
    fn each_point_is_drawn_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let csv = folder.path().join("r.csv");
        let records = [record("one", "d", "1K", 2.0), record("two", "d", "1K", 2.5)];
        record::append(&csv, &records).unwrap();
        let made = draw(&csv, folder.path()).unwrap();
        let svg = std::fs::read_to_string(made.trim()).unwrap();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("one") && svg.contains("two"), "{svg}");
    }
}
