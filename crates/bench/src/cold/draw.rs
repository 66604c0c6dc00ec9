//! What was measured, as SVG: bars for the cases, and lines from few to many dictionaries.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::case::{dictionaries, grouped, kib, size};
use super::row::Row;
use super::table::{find, groups};
use crate::labels;

const FONT: &str = "sans-serif";
const WIDTH: u32 = 960;
/// Of the picture of lines.
const HEIGHT: u32 = 600;
/// Cases in one picture of bars.
const CASES: usize = 12;
/// Pixels of a bar, of the name above the bars of a case, and left of them.
const BAR: i32 = 15;
const NAME: i32 = 26;
const LEFT: i32 = 170;
/// Pixels for a share of 1.
const WHOLE: f64 = 560.0;

/// What is drawn of a case.
const SHOWN: [(&str, &str, &str, RGBColor); 7] = [
    ("libzstd", "single", "libzstd", RGBColor(60, 90, 130)),
    ("libzstd", "burst", "libzstd, prefetch", RGBColor(90, 120, 160)),
    ("libzstd", "copy", "libzstd, copy", RGBColor(110, 145, 185)),
    ("libzstd", "copy burst", "libzstd, prefetch + copy", RGBColor(130, 165, 205)),
    ("libzstd", "raw", "libzstd, raw bytes", RGBColor(150, 165, 180)),
    ("linerate", "single", "linerate, one by one", RGBColor(225, 120, 90)),
    ("linerate", "batch", "linerate, batches", RGBColor(196, 48, 32)),
];

type Fallible = Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws rows into `folder`, and returns the paths, one per line: `cases-N.svg` for the cases, and
/// `sweep-KIND-BLOCK-DICTIONARY.svg` where there are three or more numbers of dictionaries.
///
/// # Errors
/// A sentence that names the file.
pub(crate) fn draw(rows: &[Row], folder: &Path) -> Result<String, String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let cases: Vec<&[Row]> = groups(rows).collect();
    let mut made = String::new();
    let mut one = |name: String, height: u32, draw: &dyn Fn(&Area<'_>) -> Fallible| {
        let path = folder.join(name);
        let area = SVGBackend::new(&path, (WIDTH, height)).into_drawing_area();
        let done = area.fill(&WHITE).map_err(Into::into).and_then(|()| draw(&area));
        done.and_then(|()| Ok(area.present()?)).map_err(|e| format!("{}: {e}", path.display()))?;
        made += &format!("{}\n", path.display());
        Ok::<(), String>(())
    };
    for (i, some) in cases.chunks(CASES).enumerate() {
        let height = 60 + some.len() as i32 * (NAME + SHOWN.len() as i32 * BAR);
        one(format!("cases-{}.svg", i + 1), height as u32, &|area| bars(area, some))?;
    }
    for line in sweeps(&cases) {
        let first = &line[0][0];
        let name = format!("sweep-{}-{}-{}.svg", first.kind, size(first.block), size(first.dictionary));
        one(name, HEIGHT, &|area| lines(area, &line))?;
    }
    Ok(made)
}

/// Runs of cases that differ in the number of dictionaries only.
fn sweeps<'a>(cases: &[&'a [Row]]) -> Vec<Vec<&'a [Row]>> {
    let alike = |a: &&[Row], b: &&[Row]| {
        let of = |case: &[Row]| (case[0].kind, case[0].block, case[0].dictionary, case[0].tables);
        of(a) == of(b) && a[0].count < b[0].count
    };
    cases.chunk_by(alike).filter(|line| line.len() >= 3).map(<[_]>::to_vec).collect()
}

fn cold<'a>(case: &'a [Row], library: &str, calls: &str) -> Option<&'a Row> {
    find(case, library, "cold", calls)
}

fn bars(area: &Area<'_>, cases: &[&[Row]]) -> Fallible {
    let text = |size: i32| (FONT, size).into_font().color(&BLACK);
    let title = "Each block with another dictionary: share of the decoder's own hot speed, and MB/s";
    area.draw(&Text::new(title, (16, 14), text(18)))?;
    let mut y = 48;
    for case in cases {
        let first = &case[0];
        let name = format!(
            "{} ({}), blocks of {}, {}",
            first.kind,
            first.data,
            kib(first.block),
            dictionaries(first.count, first.dictionary)
        );
        area.draw(&Text::new(name, (16, y), text(14)))?;
        y += NAME - 6;
        for (library, calls, label, colour) in SHOWN {
            let Some(row) = cold(case, library, calls) else { continue };
            let share = row.share.unwrap_or(0.0);
            let end = LEFT + (share.clamp(0.0, 1.2) * WHOLE) as i32;
            let middle = y + BAR / 2;
            let right = text(12).pos(Pos::new(HPos::Right, VPos::Center));
            area.draw(&Text::new(label, (LEFT - 6, middle), right))?;
            area.draw(&Rectangle::new([(LEFT, y + 1), (end, y + BAR - 2)], colour.filled()))?;
            let figures = format!("{:.0} %  {:.0} MB/s", 100.0 * share, row.best_mbs.unwrap_or(0.0));
            let left = text(12).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(figures, (end + 6, middle), left))?;
            y += BAR;
        }
        y += 6;
    }
    Ok(())
}

fn lines(area: &Area<'_>, cases: &[&[Row]]) -> Fallible {
    let first = &cases[0][0];
    let counts = cases.iter().map(|case| case[0].count as f64);
    let (least, most) = counts.fold((f64::INFINITY, 1.0), |(low, high), n| (n.min(low), n.max(high)));
    let title = format!(
        "{} ({}), blocks of {}, dictionaries of {}",
        first.kind,
        first.data,
        kib(first.block),
        kib(first.dictionary)
    );
    let top = cases.iter().flat_map(|case| case.iter()).filter(|row| row.mode == "cold");
    let top = top.filter_map(|row| row.share).fold(1.0, f64::max) * 105.0;
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 18))
        .margin(16)
        .margin_right(250)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d((least..most * 1.01).log_scale(), 0.0..top)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .x_desc("dictionaries, used in random order")
        .y_desc("share of the decoder's own hot speed, %")
        .x_label_formatter(&|x| grouped(x.round() as usize))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .axis_desc_style((FONT, 15))
        .label_style((FONT, 13))
        .draw()?;
    let mut ends = Vec::new();
    for (library, calls, label, colour) in SHOWN {
        let rows: Vec<&Row> = cases.iter().filter_map(|case| cold(case, library, calls)).collect();
        let points = rows.iter().map(|row| (row.count as f64, 100.0 * row.share.unwrap_or(0.0)));
        let points: Vec<(f64, f64)> = points.collect();
        chart.draw_series([PathElement::new(points.clone(), colour.stroke_width(2))])?;
        chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
        if let (Some(last), Some(row)) = (points.last(), rows.last()) {
            let label = format!("{label}: {:.0} MB/s", row.best_mbs.unwrap_or(0.0));
            ends.push((chart.backend_coord(last), label, colour));
        }
    }
    let points: Vec<_> = ends.iter().map(|(point, ..)| *point).collect();
    let widths: Vec<_> = ends.iter().map(|(_, label, _)| 7 * label.chars().count() as i32).collect();
    let spots = labels::place(&points, &widths, (WIDTH as i32, HEIGHT as i32));
    for ((_, label, colour), spot) in ends.into_iter().zip(spots) {
        let side = if spot.left { HPos::Right } else { HPos::Left };
        let style = (FONT, 13).into_font().color(&colour).pos(Pos::new(side, VPos::Center));
        area.draw(&Text::new(label, spot.near_end(), style))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(count: usize) -> Vec<Row> {
        SHOWN
            .iter()
            .map(|(contender, calls, ..)| Row {
                contender,
                calls: (*calls).into(),
                mode: "cold",
                kind: "text",
                block: 4096,
                dictionary: 8192,
                count,
                share: Some(0.5),
                best_mbs: Some(321.0),
                ..Row::default()
            })
            .collect()
    }

    #[test]
    fn bars_for_each_case_and_lines_for_three() {
        let folder = tempfile::tempdir().unwrap();
        let rows: Vec<Row> = [1, 100, 2500].into_iter().flat_map(case).collect();
        let made = draw(&rows[..2 * SHOWN.len()], folder.path()).unwrap();
        assert_eq!(made.lines().count(), 1);
        let made = draw(&rows, folder.path()).unwrap();
        let svg: Vec<_> = made.lines().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        assert_eq!(svg.len(), 2);
        assert_eq!(svg[0].matches("50 %  321 MB/s").count(), 3 * SHOWN.len());
        assert_eq!(svg[1].matches("<circle").count(), 3 * SHOWN.len());
        assert!(svg[1].contains("1,000") && svg.iter().all(|svg| svg.trim_end().ends_with("</svg>")));
    }
}
