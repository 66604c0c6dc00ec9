//! CSV records of any shape, read by the names of their columns.

use std::path::Path;

use crate::csv;
use crate::record::Columns;

/// Columns that say where, when and with what a row was made.
const PROVENANCE: &[&str] =
    &["date", "cpu", "rustc", "linerate", "contender_version", "rounds", "huge_pages", "command"];
/// Columns that hold what was measured.
const FIGURES: &[&str] = &[
    "ratio",
    "best_mb_s",
    "median_mb_s",
    "mb_s",
    "best_ms",
    "median_ms",
    "best_us",
    "median_us",
    "median_ns",
    "archive_bytes",
    "payload_bytes",
];
/// Columns of memory, in bytes.
pub(crate) const MEMORY: &[&str] = &[
    "state_bytes",
    "scratch_bytes",
    "heap_bytes",
    "resident_bytes",
    "told_bytes",
    "beside_bytes",
    "counted_bytes",
];
/// Columns that follow from other rows, or from other records.
const DERIVED: &[&str] = &[
    "base",
    "speed_vs_base",
    "ratio_vs_base",
    "vs_base",
    "target",
    "met",
    "share",
    "share_median",
    "vs_none",
    "published_mb_s",
    "published_share",
];
/// Columns that tell the contenders of one case apart.
const CONTENDER: &[&str] = &["contender", "format", "mode", "calls", "threads", "clock"];

/// Columns with the fastest and the middle round, and whether they hold times instead of speeds.
const SPEEDS: [(&str, &str, bool); 3] =
    [("best_mb_s", "median_mb_s", false), ("best_ms", "median_ms", true), ("best_us", "median_us", true)];

/// The rows of a record under their columns.
#[derive(Clone, Debug)]
pub struct Sheet {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    /// Reads a CSV file.
    ///
    /// # Errors
    /// A sentence that names the file and the line.
    pub fn read(path: &Path) -> Result<Sheet, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Sheet::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Reads the text of a CSV file.
    ///
    /// # Errors
    /// A sentence that names the line.
    pub fn parse(text: &str) -> Result<Sheet, String> {
        let mut lines = (1..).zip(text.lines());
        let (_, header) = lines.next().ok_or("no line with the names of columns")?;
        let columns = csv::fields(header).map_err(|e| format!("line 1: {e}"))?;
        let row = |(number, line)| match csv::fields(line) {
            Ok(cells) if cells.len() == columns.len() => Ok(cells),
            Ok(cells) => Err(format!("line {number}: {} columns instead of {}", cells.len(), columns.len())),
            Err(e) => Err(format!("line {number}: {e}")),
        };
        let rows = lines.map(row).collect::<Result<_, _>>()?;
        Ok(Sheet { columns, rows })
    }

    /// The rows of a run, as its record has them.
    pub fn of<R: Columns>(rows: &[R]) -> Sheet {
        let line = |row: &R| csv::fields(&row.to_line()).unwrap_or_default();
        let columns = R::COLUMNS.iter().map(|&column| column.to_owned()).collect();
        Sheet { columns, rows: rows.iter().map(line).collect() }
    }

    /// The names of the columns, in the order of the file.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = Line<'_>> {
        self.rows.iter().map(|cells| Line { columns: &self.columns, cells })
    }

    /// The columns that name the case of a row: all that are neither provenance, figures nor what
    /// follows from them, nor the contender.
    pub fn case_columns(&self) -> Vec<&str> {
        let is_case = |column: &&str| {
            ![PROVENANCE, FIGURES, MEMORY, DERIVED, CONTENDER].iter().any(|list| list.contains(column))
        };
        self.columns.iter().map(String::as_str).filter(is_case).collect()
    }
}

/// A row under its columns.
#[derive(Clone, Copy, Debug)]
pub struct Line<'s> {
    columns: &'s [String],
    cells: &'s [String],
}

impl<'s> Line<'s> {
    /// The cell of a column; empty if the record has no such column.
    pub fn get(&self, column: &str) -> &'s str {
        let place = self.columns.iter().position(|found| found == column);
        place.map_or("", |i| self.cells[i].as_str())
    }

    /// The number in the cell of a column.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.get(column).parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The cells of these columns.
    pub(crate) fn cells(&self, columns: &[&str]) -> Vec<&'s str> {
        columns.iter().map(|column| self.get(column)).collect()
    }

    /// Contender, format, mode and calls, those that are there: `libzstd cold single`.
    pub fn contender(&self) -> String {
        let threads = |(column, cell): &(&str, &str)| match *column {
            "threads" => format!("x{cell}"),
            _ => (*cell).to_owned(),
        };
        let cells = CONTENDER.iter().copied().zip(self.cells(CONTENDER));
        cells.filter(|(_, cell)| !cell.is_empty()).map(|pair| threads(&pair)).collect::<Vec<_>>().join(" ")
    }

    /// Speed of the rounds; `None` where none was measured.
    pub fn speed(&self) -> Option<Speed> {
        SPEEDS.iter().find_map(|&(best, median, is_time)| {
            let (best, median) = (self.number(best)?, self.number(median)?);
            (best > 0.0 && median > 0.0).then_some(Speed { best, median, is_time, rounds: self.rounds() })
        })
    }

    /// Bytes written for each byte of content.
    pub fn size(&self) -> Option<f64> {
        match self.columns.iter().any(|column| column == "archive_bytes") {
            true => self.number("archive_bytes").zip(self.number("bytes")).map(|(own, all)| own / all),
            false => self.number("ratio").filter(|&ratio| ratio > 0.0).map(|ratio| 1.0 / ratio),
        }
    }

    fn rounds(&self) -> usize {
        self.get("rounds").parse().unwrap_or(0)
    }
}

/// The fastest and the middle round, in MB/s, or as times in the unit of the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Of the fastest round.
    pub best: f64,
    /// Of the middle round.
    pub median: f64,
    /// Whether both are times: less is faster.
    pub is_time: bool,
    /// How many rounds there were.
    pub rounds: usize,
}

impl Speed {
    /// How many times as fast as `earlier`, by the middle rounds.
    pub fn times(&self, earlier: &Speed) -> f64 {
        match self.is_time {
            true => earlier.median / self.median,
            false => self.median / earlier.median,
        }
    }

    /// Whether the rounds of both may have been of the same speed: their ranges, which reach as far
    /// below the middle round as the fastest is above it, overlap. `None` with fewer than three rounds,
    /// whose range says nothing.
    pub fn is_within_noise(&self, earlier: &Speed) -> Option<bool> {
        let range = |speed: &Speed| {
            let other_end = 2.0 * speed.median - speed.best;
            (speed.best.min(other_end), speed.best.max(other_end))
        };
        let ((low, high), (low_earlier, high_earlier)) = (range(self), range(earlier));
        let known = self.rounds >= 3 && earlier.rounds >= 3;
        known.then_some(low <= high_earlier && low_earlier <= high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speed(best: f64, median: f64, is_time: bool) -> Speed {
        Speed { best, median, is_time, rounds: 5 }
    }

    #[test]
    fn ranges_that_overlap_are_within_noise() {
        // 90 to 110 and 108 to 112; 90 to 110 and 111 to 115.
        let (then, near, far) =
            (speed(110.0, 100.0, false), speed(112.0, 110.0, false), speed(115.0, 113.0, false));
        assert_eq!((near.is_within_noise(&then), far.is_within_noise(&then)), (Some(true), Some(false)));
        assert_eq!((then.is_within_noise(&near), then.is_within_noise(&far)), (Some(true), Some(false)));
        assert_eq!(Speed { rounds: 2, ..near }.is_within_noise(&then), None);
    }

    #[test]
    fn less_time_is_more_speed() {
        assert_eq!(speed(4.0, 5.0, true).times(&speed(9.0, 10.0, true)), 2.0);
        assert_eq!(speed(9.0, 10.0, false).times(&speed(4.0, 5.0, false)), 2.0);
        assert_eq!(speed(4.0, 5.0, true).is_within_noise(&speed(6.5, 7.0, true)), Some(false));
        assert_eq!(speed(4.0, 5.0, true).is_within_noise(&speed(5.5, 7.0, true)), Some(true));
    }

    #[test]
    fn cells_are_found_by_name_and_missing_columns_are_empty() {
        let sheet =
            Sheet::parse("shape,chunk,contender,threads,ratio,rounds\nbytes,16K,\"a, b\",2,4.0,5\n").unwrap();
        let line = sheet.rows().next().unwrap();
        assert_eq!((line.get("chunk"), line.get("absent"), line.number("rounds")), ("16K", "", Some(5.0)));
        assert_eq!((line.contender(), line.size(), line.speed()), ("a, b x2".into(), Some(0.25), None));
        assert_eq!(sheet.case_columns(), ["shape", "chunk"]);
    }

    #[test]
    fn damaged_records_name_the_line() {
        assert_eq!(Sheet::parse("a,b\n1,2\n3\n").unwrap_err(), "line 3: 1 columns instead of 2");
        assert!(Sheet::parse("").unwrap_err().contains("names of columns"));
        assert!(Sheet::parse("a\n\"\n").unwrap_err().starts_with("line 2: "));
    }
}
