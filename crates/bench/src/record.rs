//! CSV rows of the shapes "bytes", "threads", "inflate" and "frames": one per contender and chunk size.

use std::fs::OpenOptions;
use std::io::{Read, Seek, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::csv;

/// One contender at one chunk size. `docs/reference/bench.md` says what each field means.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "the fields are the columns, and COLUMNS is where they are listed")]
pub struct Record {
    pub shape: String,
    pub date: String,
    pub cpu: String,
    pub rustc: String,
    pub linerate: String,
    pub corpus: String,
    pub bytes: usize,
    pub files: usize,
    pub chunk: String,
    pub contender: String,
    pub version: String,
    pub format: String,
    pub ratio: f64,
    pub best_mbs: f64,
    pub median_mbs: f64,
    pub base: String,
    pub speed_vs_base: f64,
    pub ratio_vs_base: f64,
    pub state_bytes: Option<usize>,
    pub scratch_bytes: Option<usize>,
    pub rounds: usize,
    pub command: String,
}

/// The columns, in the order of the file.
pub const COLUMNS: [&str; 22] = [
    "shape",
    "date",
    "cpu",
    "rustc",
    "linerate",
    "corpus",
    "bytes",
    "files",
    "chunk",
    "contender",
    "contender_version",
    "format",
    "ratio",
    "best_mb_s",
    "median_mb_s",
    "base",
    "speed_vs_base",
    "ratio_vs_base",
    "state_bytes",
    "scratch_bytes",
    "rounds",
    "command",
];

/// A row of a CSV record: the same values as a JSON object and as a line of CSV.
pub trait Columns {
    /// The columns, in the order of the file.
    const COLUMNS: &'static [&'static str];

    /// One value per column; null if unknown.
    fn values(&self) -> Vec<Value>;

    /// One JSON object, keyed by column.
    fn to_json(&self) -> Value {
        let keys = Self::COLUMNS.iter().map(|column| (*column).to_owned());
        Value::Object(keys.zip(self.values()).collect::<Map<_, _>>())
    }

    /// One line of a CSV file; unknown values are empty.
    fn to_line(&self) -> String {
        let text = |value| match value {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        };
        csv::line(&self.values().into_iter().map(text).collect::<Vec<_>>())
    }
}

impl Columns for Record {
    const COLUMNS: &'static [&'static str] = &COLUMNS;

    fn values(&self) -> Vec<Value> {
        vec![
            json!(self.shape),
            json!(self.date),
            json!(self.cpu),
            json!(self.rustc),
            json!(self.linerate),
            json!(self.corpus),
            json!(self.bytes),
            json!(self.files),
            json!(self.chunk),
            json!(self.contender),
            json!(self.version),
            json!(self.format),
            json!(rounded(self.ratio, 4)),
            json!(rounded(self.best_mbs, 1)),
            json!(rounded(self.median_mbs, 1)),
            json!(self.base),
            json!(rounded(self.speed_vs_base, 3)),
            json!(rounded(self.ratio_vs_base, 4)),
            json!(self.state_bytes),
            json!(self.scratch_bytes),
            json!(self.rounds),
            json!(self.command),
        ]
    }
}

impl Record {
    /// Reads a line of a CSV file.
    ///
    /// # Errors
    /// A sentence that names the column.
    pub fn from_line(line: &str) -> Result<Self, String> {
        let fields = csv::fields(line)?;
        if fields.len() != COLUMNS.len() {
            return Err(format!("{} columns instead of {}", fields.len(), COLUMNS.len()));
        }
        let mut next = COLUMNS.iter().zip(fields);
        let mut text = || next.next().unwrap_or((&"", String::new()));
        Ok(Record {
            shape: text().1,
            date: text().1,
            cpu: text().1,
            rustc: text().1,
            linerate: text().1,
            corpus: text().1,
            bytes: number(text())?,
            files: number(text())?,
            chunk: text().1,
            contender: text().1,
            version: text().1,
            format: text().1,
            ratio: number(text())?,
            best_mbs: number(text())?,
            median_mbs: number(text())?,
            base: text().1,
            speed_vs_base: number(text())?,
            ratio_vs_base: number(text())?,
            state_bytes: optional(text())?,
            scratch_bytes: optional(text())?,
            rounds: number(text())?,
            command: text().1,
        })
    }
}

/// Rounds to `decimals` places; a number that is not finite becomes 0, since JSON has none.
pub(crate) fn rounded(x: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    if x.is_finite() { (x * scale).round() / scale } else { 0.0 }
}

fn number<T: std::str::FromStr>((column, field): (&&str, String)) -> Result<T, String> {
    field.parse().map_err(|_| format!("column {column}: `{field}` is not a number"))
}

fn optional((column, field): (&&str, String)) -> Result<Option<usize>, String> {
    if field.is_empty() { Ok(None) } else { number((column, field)).map(Some) }
}

/// Appends rows to a CSV file, which is created with its header if necessary.
///
/// # Errors
/// A sentence that names the file; also if it has other columns.
pub fn append<R: Columns>(path: &Path, rows: &[R]) -> Result<(), String> {
    append_lines(path, R::COLUMNS, rows.iter().map(R::to_line))
}

/// Appends lines with these columns to a CSV file, which is created with its header if necessary.
///
/// # Errors
/// A sentence that names the file; also if it has other columns.
pub fn append_lines(
    path: &Path,
    columns: &[&str],
    lines: impl Iterator<Item = String>,
) -> Result<(), String> {
    let message = |e: std::io::Error| format!("{}: {e}", path.display());
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(message)?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(message)?;
    let mut added = String::new();
    match text.lines().next() {
        None => added = csv::line(columns) + "\n",
        Some(header) if header == csv::line(columns) => {}
        Some(_) => return Err(format!("{}: has other columns; choose another file", path.display())),
    }
    for line in lines {
        added += &(line + "\n");
    }
    file.seek(std::io::SeekFrom::End(0)).map_err(message)?;
    file.write_all(added.as_bytes()).map_err(message)
}

/// Reads all rows of a CSV file.
///
/// # Errors
/// A sentence that names the file and the line.
pub fn read(path: &Path) -> Result<Vec<Record>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut lines = text.lines().enumerate();
    if lines.next().map(|(_, header)| header) != Some(&csv::line(&COLUMNS)) {
        return Err(format!("{}: line 1: not the columns of a record", path.display()));
    }
    let one =
        |(i, line)| Record::from_line(line).map_err(|e| format!("{}: line {}: {e}", path.display(), i + 1));
    lines.map(one).collect()
}
