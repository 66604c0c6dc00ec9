//! CSV rows of the shape "messages": one per contender and measure.

use std::path::Path;

use serde_json::{Value, json};

use crate::record::{Columns, rounded};
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
    pub data: String,
    pub transport: String,
    pub contender: String,
    pub version: String,
    pub connections: usize,
    pub messages: usize,
    pub payload_bytes: usize,
    pub ratio: Option<f64>,
    pub rounds: usize,
    pub best_mbs: Option<f64>,
    pub median_mbs: Option<f64>,
    pub median_ns: Option<f64>,
    pub base: String,
    pub speed_vs_base: Option<f64>,
    pub heap_bytes: Option<usize>,
    pub resident_bytes: Option<usize>,
    pub reported_bytes: Option<usize>,
    pub command: String,
}

/// The columns, in the order of the file.
pub const COLUMNS: [&str; 23] = [
    "measure",
    "date",
    "cpu",
    "rustc",
    "linerate",
    "data",
    "transport",
    "contender",
    "contender_version",
    "connections",
    "messages",
    "payload_bytes",
    "ratio",
    "rounds",
    "best_mb_s",
    "median_mb_s",
    "median_ns",
    "base",
    "speed_vs_base",
    "heap_bytes",
    "resident_bytes",
    "told_bytes",
    "command",
];

impl Row {
    /// A row that says where it was made and of what, and nothing else yet.
    pub(crate) fn blank(data: &str) -> Row {
        Row {
            date: env::date(),
            cpu: env::cpu(),
            rustc: env::rustc().into(),
            linerate: env::linerate(),
            data: data.into(),
            command: env::command(),
            ..Row::default()
        }
    }
}

impl Columns for Row {
    const COLUMNS: &'static [&'static str] = &COLUMNS;

    fn values(&self) -> Vec<Value> {
        let decimals = |x: Option<f64>, n| json!(x.map(|x| rounded(x, n)));
        vec![
            json!(self.measure),
            json!(self.date),
            json!(self.cpu),
            json!(self.rustc),
            json!(self.linerate),
            json!(self.data),
            json!(self.transport),
            json!(self.contender),
            json!(self.version),
            json!(self.connections),
            json!(self.messages),
            json!(self.payload_bytes),
            decimals(self.ratio, 4),
            json!(self.rounds),
            decimals(self.best_mbs, 1),
            decimals(self.median_mbs, 1),
            decimals(self.median_ns, 1),
            json!(self.base),
            decimals(self.speed_vs_base, 3),
            json!(self.heap_bytes),
            json!(self.resident_bytes),
            json!(self.reported_bytes),
            json!(self.command),
        ]
    }
}

impl Row {
    /// Reads a line of a CSV file.
    ///
    /// # Errors
    /// A sentence.
    pub fn from_line(line: &str) -> Result<Row, String> {
        let fields = csv::fields(line)?;
        let fields: [String; COLUMNS.len()] =
            fields.try_into().map_err(|all: Vec<_>| format!("{} fields", all.len()))?;
        let at = |column: &str| {
            let place = COLUMNS.iter().position(|c| *c == column);
            place.map_or("", |i| fields[i].as_str())
        };
        let number = |column: &str| -> Result<Option<f64>, String> {
            let text = Some(at(column)).filter(|text| !text.is_empty());
            text.map(|text| text.parse().map_err(|_| format!("{column}: `{text}`"))).transpose()
        };
        let count = |column: &str| number(column).map(|n| n.map(|n| n as usize));
        Ok(Row {
            measure: at("measure").into(),
            date: at("date").into(),
            cpu: at("cpu").into(),
            rustc: at("rustc").into(),
            linerate: at("linerate").into(),
            data: at("data").into(),
            transport: at("transport").into(),
            contender: at("contender").into(),
            version: at("contender_version").into(),
            connections: count("connections")?.unwrap_or(0),
            messages: count("messages")?.unwrap_or(0),
            payload_bytes: count("payload_bytes")?.unwrap_or(0),
            ratio: number("ratio")?,
            rounds: count("rounds")?.unwrap_or(0),
            best_mbs: number("best_mb_s")?,
            median_mbs: number("median_mb_s")?,
            median_ns: number("median_ns")?,
            base: at("base").into(),
            speed_vs_base: number("speed_vs_base")?,
            heap_bytes: count("heap_bytes")?,
            resident_bytes: count("resident_bytes")?,
            reported_bytes: count("told_bytes")?,
            command: at("command").into(),
        })
    }
}

/// Reads all rows of a CSV file; `None` if its columns are not [`COLUMNS`].
///
/// # Errors
/// A sentence that names the file and the line.
pub fn read(path: &Path) -> Result<Option<Vec<Row>>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut lines = text.lines().enumerate();
    if lines.next().map(|(_, header)| header) != Some(&csv::line(&COLUMNS)) {
        return Ok(None);
    }
    let one =
        |(i, line)| Row::from_line(line).map_err(|e| format!("{}: line {}: {e}", path.display(), i + 1));
    lines.map(one).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_every_column_and_unknown_values_are_empty() {
        let row = Row { measure: "whole".into(), speed_vs_base: Some(1.23456), ..Row::default() };
        let fields = csv::fields(&row.to_line()).unwrap();
        let at = |name: &str| &*fields[COLUMNS.iter().position(|c| *c == name).unwrap()];
        assert_eq!(fields.len(), COLUMNS.len());
        assert_eq!((at("measure"), at("speed_vs_base"), at("heap_bytes")), ("whole", "1.235", ""));
    }

    #[test]
    fn lines_are_read_again() {
        let row = Row {
            measure: "many".into(),
            data: "files: a, b".into(),
            connections: 2500,
            median_mbs: Some(12.5),
            heap_bytes: Some(70_000),
            ..Row::default()
        };
        assert_eq!(Row::from_line(&row.to_line()), Ok(row));
        assert!(Row::from_line("a,b").is_err());
    }
}
