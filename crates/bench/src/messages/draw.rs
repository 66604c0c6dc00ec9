//! What was measured, as SVG: a bar for each contender of a shape.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::row::Row;
use super::table::groups;

const FONT: &str = "sans-serif";
const WIDTH: u32 = 960;
/// Pixels of a bar, of the name above the bars of a shape, and left of them.
const BAR: i32 = 17;
const NAME: i32 = 28;
const LEFT: i32 = 120;
/// Pixels of the longest bar.
const LONGEST: f64 = 560.0;
const OURS: RGBColor = RGBColor(196, 48, 32);
const PEERS: RGBColor = RGBColor(60, 90, 130);

type Fallible = Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What a bar says.
struct Bar {
    name: String,
    length: f64,
    figures: String,
}

/// Draws the newest measurement of each shape into `folder`, and returns the paths, one per line:
/// `gateway-speed.svg`, and `gateway-memory.svg` if memory was measured.
///
/// # Errors
/// A sentence that names the file.
pub(crate) fn draw(rows: &[Row], folder: &Path) -> Result<String, String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let rows = newest(rows);
    let mut made = String::new();
    for (name, title, bars) in [
        ("gateway-speed.svg", "MB/s of payload in CPU time of one thread, median", speed as fn(&Row) -> _),
        ("gateway-memory.svg", "Memory of each of many connections, resident", memory),
    ] {
        let shapes: Vec<(String, Vec<Bar>)> = groups(&rows)
            .map(|shape| (title_of(&shape[0]), shape.iter().filter_map(bars).collect::<Vec<_>>()))
            .filter(|(_, bars)| !bars.is_empty())
            .collect();
        if shapes.is_empty() {
            continue;
        }
        let path = folder.join(name);
        let count: usize = shapes.iter().map(|(_, bars)| bars.len()).sum();
        let height = 70 + shapes.len() as i32 * (NAME + 6) + count as i32 * BAR;
        let area = SVGBackend::new(&path, (WIDTH, height as u32)).into_drawing_area();
        let cpu = rows.first().map_or("", |row| &row.cpu);
        picture(&area, title, cpu, &shapes).map_err(|e| format!("{}: {e}", path.display()))?;
        made += &format!("{}\n", path.display());
    }
    Ok(made)
}

/// Of each contender of a shape the last row that was measured as the last row of all.
fn newest(rows: &[Row]) -> Vec<Row> {
    let Some(last) = rows.last() else { return Vec::new() };
    let of = |row: &Row| (row.date.clone(), row.cpu.clone(), row.linerate.clone(), row.command.clone());
    let same_run: Vec<&Row> = rows.iter().filter(|row| of(row) == of(last)).collect();
    let shape =
        |row: &Row| (row.measure.clone(), row.data.clone(), row.transport.clone(), row.contender.clone());
    let is_last = |i: usize| !same_run[i + 1..].iter().any(|later| shape(later) == shape(same_run[i]));
    (0..same_run.len()).filter(|&i| is_last(i)).map(|i| same_run[i].clone()).collect()
}

fn title_of(row: &Row) -> String {
    let shape = match row.measure.as_str() {
        "whole" => "whole connections".to_owned(),
        "live" => "live events".to_owned(),
        _ => format!("{} connections that take turns", row.connections),
    };
    format!("{}, {shape} ({})", row.transport, row.data)
}

fn speed(row: &Row) -> Option<Bar> {
    let speed = row.median_mbs?;
    let times = row.speed_vs_base.map_or_else(String::new, |x| format!(", {x:.2} x {}", row.base));
    Some(Bar { name: row.contender.clone(), length: speed, figures: format!("{speed:.0} MB/s{times}") })
}

fn memory(row: &Row) -> Option<Bar> {
    let kib = row.resident_bytes? as f64 / 1024.0;
    Some(Bar { name: row.contender.clone(), length: kib, figures: format!("{kib:.1} KiB") })
}

fn picture(area: &Area<'_>, title: &str, cpu: &str, shapes: &[(String, Vec<Bar>)]) -> Fallible {
    let text = |size: i32| (FONT, size).into_font().color(&BLACK);
    area.fill(&WHITE)?;
    area.draw(&Text::new(title.to_owned(), (16, 12), text(18)))?;
    area.draw(&Text::new(cpu.to_owned(), (16, 36), text(12)))?;
    let longest = shapes.iter().flat_map(|(_, bars)| bars).map(|bar| bar.length).fold(1.0, f64::max);
    let mut y = 58;
    for (name, bars) in shapes {
        area.draw(&Text::new(name.clone(), (16, y), text(14)))?;
        y += NAME - 6;
        for bar in bars {
            let (end, middle) = (LEFT + (bar.length / longest * LONGEST) as i32, y + BAR / 2);
            let right = text(12).pos(Pos::new(HPos::Right, VPos::Center));
            area.draw(&Text::new(bar.name.clone(), (LEFT - 6, middle), right))?;
            let colour = if bar.name.starts_with("linerate") { OURS } else { PEERS };
            area.draw(&Rectangle::new([(LEFT, y + 1), (end, y + BAR - 3)], colour.filled()))?;
            let left = text(12).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(bar.figures.clone(), (end + 6, middle), left))?;
            y += BAR;
        }
        y += 12;
    }
    Ok(area.present()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(contender: &str, measure: &str, date: &str, mbs: f64) -> Row {
        Row {
            contender: contender.into(),
            measure: measure.into(),
            date: date.into(),
            transport: "zstd-stream".into(),
            base: "libzstd".into(),
            median_mbs: Some(mbs),
            speed_vs_base: Some(1.0),
            resident_bytes: (measure == "many").then_some(70 << 10),
            ..Row::default()
        }
    }

    #[test]
    fn only_the_newest_run_is_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let rows = [
            row("old", "whole", "2026-01-01", 5.0),
            row("linerate", "whole", "2026-01-02", 1000.0),
            row("libzstd", "whole", "2026-01-02", 900.0),
            row("linerate", "many", "2026-01-02", 500.0),
        ];
        let made = draw(&rows, folder.path()).unwrap();
        assert_eq!(made.lines().count(), 2, "{made}");
        let speed = std::fs::read_to_string(folder.path().join("gateway-speed.svg")).unwrap();
        assert!(
            speed.contains("linerate") && speed.contains("900 MB/s") && !speed.contains("old"),
            "{speed}"
        );
        let memory = std::fs::read_to_string(folder.path().join("gateway-memory.svg")).unwrap();
        assert!(memory.contains("70.0 KiB") && !memory.contains("libzstd"), "{memory}");
        assert_eq!(draw(&[], folder.path()).unwrap(), "");
    }
}
