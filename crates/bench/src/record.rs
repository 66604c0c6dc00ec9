//! What is kept of a measurement: one row per contender and chunk size.

use std::fs::OpenOptions;
use std::io::{Read, Seek, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::csv;

/// One contender at one chunk size. `docs/bench.md` says what each field means.
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

impl Record {
    /// The values, in the order of [`COLUMNS`]. What is not known is empty.
    fn values(&self) -> [Value; 22] {
        [
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

    /// As one JSON object, keyed by [`COLUMNS`].
    pub fn to_json(&self) -> Value {
        let keys = COLUMNS.iter().map(|c| (*c).to_owned());
        Value::Object(keys.zip(self.values()).collect::<Map<_, _>>())
    }

    /// As one line of a CSV file.
    pub fn to_line(&self) -> String {
        csv::line(&self.values().map(|v| match v {
            Value::String(s) => s,
            Value::Null => String::new(),
            other => other.to_string(),
        }))
    }

    /// Reads what [`to_line`](Self::to_line) wrote.
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

/// Rounds to that many decimals; what is not finite becomes 0, which JSON can hold.
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

/// Adds records at the end of a CSV file, which is made with its header if need be.
///
/// # Errors
/// A sentence that names the file; also if its columns are not [`COLUMNS`].
pub fn append(path: &Path, records: &[Record]) -> Result<(), String> {
    append_lines(path, &COLUMNS, records.iter().map(Record::to_line))
}

/// Adds lines of those columns at the end of a CSV file, which is made with its header if need be.
///
/// # Errors
/// A sentence that names the file; also if its columns are others.
pub fn append_lines(
    path: &Path,
    columns: &[&str],
    lines: impl Iterator<Item = String>,
) -> Result<(), String> {
    let told = |e: std::io::Error| format!("{}: {e}", path.display());
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(told)?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(told)?;
    let mut added = String::new();
    match text.lines().next() {
        None => added = csv::line(columns) + "\n",
        Some(header) if header == csv::line(columns) => {}
        Some(_) => return Err(format!("{}: has other columns; choose another file", path.display())),
    }
    for line in lines {
        added += &(line + "\n");
    }
    file.seek(std::io::SeekFrom::End(0)).map_err(told)?;
    file.write_all(added.as_bytes()).map_err(told)
}

/// Reads all records of a CSV file.
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
