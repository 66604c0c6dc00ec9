//! CSV rows of the shape "archives": one per contender.

use serde_json::Value;

use crate::record::Columns;
use crate::report::aligned;
use crate::{csv, environment as env};

/// One figure with where and how it was made. `docs/reference/bench.md` says what each field means.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "the fields are the columns, and COLUMNS is where they are listed")]
pub struct Row {
    pub measure: String,
    pub date: String,
    pub cpu: String,
    pub rustc: String,
    pub linerate: String,
    pub corpus: String,
    pub files: usize,
    pub bytes: u64,
    pub contender: String,
    pub version: String,
    pub threads: Option<usize>,
    pub clock: &'static str,
    pub rounds: usize,
    pub best_ms: Option<f64>,
    pub median_ms: Option<f64>,
    pub mb_s: Option<f64>,
    pub archive_bytes: Option<u64>,
    pub ratio: Option<f64>,
    pub counted_bytes: Option<u64>,
    pub base: String,
    pub vs_base: Option<f64>,
    pub target: Option<Target>,
    pub command: String,
}

/// What [`Row::vs_base`] should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// No less.
    AtLeast(f64),
    /// No more.
    AtMost(f64),
    /// More.
    Above(f64),
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Target::AtLeast(wanted) => value >= wanted,
            Target::AtMost(wanted) => value <= wanted,
            Target::Above(wanted) => value > wanted,
        }
    }

    fn text(self) -> String {
        match self {
            Target::AtLeast(wanted) => format!(">= {wanted}"),
            Target::AtMost(wanted) => format!("<= {wanted}"),
            Target::Above(wanted) => format!("> {wanted}"),
        }
    }
}

/// The columns, in the order of the file.
pub const COLUMNS: [&str; 24] = [
    "measure",
    "date",
    "cpu",
    "rustc",
    "linerate",
    "corpus",
    "files",
    "bytes",
    "contender",
    "contender_version",
    "threads",
    "clock",
    "rounds",
    "best_ms",
    "median_ms",
    "mb_s",
    "archive_bytes",
    "ratio",
    "counted_bytes",
    "base",
    "vs_base",
    "target",
    "met",
    "command",
];

/// Columns that hold numbers, or nothing.
const NUMBERS: [&str; 11] = [
    "files",
    "bytes",
    "threads",
    "rounds",
    "best_ms",
    "median_ms",
    "mb_s",
    "archive_bytes",
    "ratio",
    "counted_bytes",
    "vs_base",
];

impl Row {
    /// A row that says where it was made and of what corpus, and nothing else yet.
    pub fn blank(corpus: &str, files: usize, bytes: u64) -> Row {
        Row {
            date: env::date(),
            cpu: env::cpu(),
            rustc: env::rustc().into(),
            linerate: env::linerate(),
            corpus: corpus.into(),
            files,
            bytes,
            command: env::command(),
            ..Row::default()
        }
    }

    fn met(&self) -> &'static str {
        match (self.target, self.vs_base) {
            (Some(target), Some(value)) if target.is_met(value) => "yes",
            (Some(_), Some(_)) => "no",
            _ => "",
        }
    }

    fn fields(&self) -> [String; COLUMNS.len()] {
        [
            self.measure.clone(),
            self.date.clone(),
            self.cpu.clone(),
            self.rustc.clone(),
            self.linerate.clone(),
            self.corpus.clone(),
            self.files.to_string(),
            self.bytes.to_string(),
            self.contender.clone(),
            self.version.clone(),
            whole(self.threads),
            self.clock.into(),
            self.rounds.to_string(),
            decimals(self.best_ms, 3),
            decimals(self.median_ms, 3),
            decimals(self.mb_s, 1),
            whole(self.archive_bytes),
            decimals(self.ratio, 4),
            whole(self.counted_bytes),
            self.base.clone(),
            decimals(self.vs_base, 3),
            self.target.map_or_else(String::new, Target::text),
            self.met().into(),
            self.command.clone(),
        ]
    }
}

fn whole<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |n| n.to_string())
}

fn decimals(number: Option<f64>, digits: usize) -> String {
    number.filter(|n| n.is_finite()).map_or_else(String::new, |n| format!("{n:.digits$}"))
}

impl Columns for Row {
    const COLUMNS: &'static [&'static str] = &COLUMNS;

    fn values(&self) -> Vec<Value> {
        let value = |(column, field): (&str, String)| match NUMBERS.contains(&column) {
            true => field.parse::<serde_json::Number>().map_or(Value::Null, Value::Number),
            false => Value::String(field),
        };
        COLUMNS.into_iter().zip(self.fields()).map(value).collect()
    }

    /// With a fixed number of decimals, unlike JSON.
    fn to_line(&self) -> String {
        csv::line(&self.fields())
    }
}

/// Columns of the terminal table; the names come first.
const SHOWN: [&str; 12] = [
    "contender",
    "base",
    "threads",
    "clock",
    "best_ms",
    "median_ms",
    "mb_s",
    "archive_bytes",
    "counted_bytes",
    "vs_base",
    "target",
    "met",
];

/// Rows of one measure as an aligned table, ending with a newline. Columns that are empty
/// throughout are left out.
pub fn table(rows: &[Row]) -> String {
    let all: Vec<[String; COLUMNS.len()]> = rows.iter().map(Row::fields).collect();
    let places = SHOWN.iter().filter_map(|name| COLUMNS.iter().position(|column| column == name));
    let places: Vec<usize> = places.filter(|&i| all.iter().any(|row| !row[i].is_empty())).collect();
    let mut cells = vec![places.iter().map(|&i| COLUMNS[i].to_owned()).collect::<Vec<_>>()];
    cells.extend(all.iter().map(|row| places.iter().map(|&i| row[i].clone()).collect()));
    let left = places.iter().filter(|&&i| matches!(COLUMNS[i], "contender" | "base")).count();
    aligned(&cells, left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::append;

    #[test]
    fn target_is_met_yes_no_or_empty() {
        let row = |target, value| Row { target, vs_base: value, ..Row::default() };
        assert_eq!(row(Some(Target::AtLeast(0.95)), Some(0.95)).met(), "yes");
        assert_eq!(row(Some(Target::Above(1.0)), Some(1.0)).met(), "no");
        assert_eq!(row(Some(Target::AtMost(1.08)), Some(1.09)).met(), "no");
        assert_eq!(row(None, Some(1.0)).met(), "");
        assert_eq!(row(Some(Target::Above(1.0)), None).met(), "");
    }

    #[test]
    fn a_row_has_every_column_and_files_only_grow() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let row = Row { measure: "decode".into(), contender: "a, b".into(), ..Row::blank("c", 3, 9) };
        append(&path, std::slice::from_ref(&row)).unwrap();
        append(&path, &[row]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], lines[2]);
        for line in lines {
            assert_eq!(csv::fields(line).unwrap().len(), COLUMNS.len());
        }
    }

    #[test]
    fn json_has_numbers_and_lines_keep_their_decimals() {
        let row = Row { contender: "7".into(), mb_s: Some(2.0), threads: Some(2), ..Row::default() };
        let json = row.to_json();
        assert_eq!((&json["mb_s"], &json["threads"]), (&2.0.into(), &2.into()));
        assert!(json["ratio"].is_null() && json["contender"] == "7");
        assert!(row.to_line().contains(",2.0,"));
    }

    #[test]
    fn empty_columns_are_not_shown() {
        let rows = [Row { contender: "x".into(), mb_s: Some(2.0), ..Row::default() }];
        assert_eq!(table(&rows), "contender  mb_s\nx           2.0\n");
    }
}
