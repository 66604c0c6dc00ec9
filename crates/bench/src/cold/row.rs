//! What is kept of a measurement: one row for each contender of a case, and for each way to open.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::case::{Case, size};
use super::data::Data;
use crate::record::{append_lines, rounded};
use crate::{csv, environment as env};

/// One figure with where and how it was made. `docs/bench.md` says what each field means.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "the fields are the columns, and COLUMNS is where they are listed")]
pub struct Row {
    pub measure: &'static str,
    pub date: String,
    pub cpu: String,
    pub rustc: String,
    pub linerate: String,
    pub kind: &'static str,
    pub data: String,
    pub block: usize,
    pub dictionary: usize,
    pub count: usize,
    pub level: i32,
    pub tables: &'static str,
    pub seed: u64,
    pub contender: &'static str,
    pub version: String,
    pub mode: &'static str,
    pub calls: String,
    pub blocks: usize,
    pub ratio: Option<f64>,
    pub rounds: usize,
    pub best_mbs: Option<f64>,
    pub median_mbs: Option<f64>,
    pub best_us: f64,
    pub median_us: f64,
    pub share: Option<f64>,
    pub share_median: Option<f64>,
    pub vs_none: Option<f64>,
    pub beside_bytes: Option<usize>,
    pub huge_pages: &'static str,
    pub published_mbs: Option<f64>,
    pub published_share: Option<f64>,
    pub command: String,
}

/// The columns, in the order of the file.
pub const COLUMNS: [&str; 32] = [
    "measure",
    "date",
    "cpu",
    "rustc",
    "linerate",
    "kind",
    "data",
    "block",
    "dictionary",
    "dictionaries",
    "level",
    "tables",
    "seed",
    "contender",
    "contender_version",
    "mode",
    "calls",
    "blocks",
    "ratio",
    "rounds",
    "best_mb_s",
    "median_mb_s",
    "best_us",
    "median_us",
    "share",
    "share_median",
    "vs_none",
    "beside_bytes",
    "huge_pages",
    "published_mb_s",
    "published_share",
    "command",
];

impl Row {
    /// A row that says where it was made and of what, and nothing else yet.
    pub(crate) fn blank(data: &Data, case: &Case) -> Row {
        Row {
            date: env::date(),
            cpu: env::cpu(),
            rustc: env::rustc().into(),
            linerate: env::linerate(),
            kind: data.kind.name(),
            data: data.name.clone(),
            block: case.block,
            dictionary: case.dictionary,
            count: case.count,
            command: env::command(),
            ..Row::default()
        }
    }

    /// The case that it belongs to.
    pub fn case(&self) -> Case {
        Case { block: self.block, dictionary: self.dictionary, count: self.count }
    }

    fn values(&self) -> [Value; COLUMNS.len()] {
        let decimals = |x: Option<f64>, n| json!(x.map(|x| rounded(x, n)));
        [
            json!(self.measure),
            json!(self.date),
            json!(self.cpu),
            json!(self.rustc),
            json!(self.linerate),
            json!(self.kind),
            json!(self.data),
            json!(size(self.block)),
            json!(size(self.dictionary)),
            json!(self.count),
            json!(self.level),
            json!(self.tables),
            json!(self.seed),
            json!(self.contender),
            json!(self.version),
            json!(self.mode),
            json!(self.calls),
            json!(self.blocks),
            decimals(self.ratio, 4),
            json!(self.rounds),
            decimals(self.best_mbs, 1),
            decimals(self.median_mbs, 1),
            decimals(Some(self.best_us), 3),
            decimals(Some(self.median_us), 3),
            decimals(self.share, 3),
            decimals(self.share_median, 3),
            decimals(self.vs_none, 3),
            json!(self.beside_bytes),
            json!(self.huge_pages),
            decimals(self.published_mbs, 1),
            decimals(self.published_share, 3),
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
}

/// Adds rows at the end of a CSV file, which is made with its header if need be.
///
/// # Errors
/// A sentence that names the file; also if its columns are not [`COLUMNS`].
pub fn append(path: &Path, rows: &[Row]) -> Result<(), String> {
    append_lines(path, &COLUMNS, rows.iter().map(Row::to_line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_every_column_and_what_is_unknown_is_empty() {
        let row = Row { measure: "cold", block: 4096, share: Some(0.81249), seed: 7, ..Row::default() };
        let fields = csv::fields(&row.to_line()).unwrap();
        let at = |name: &str| &*fields[COLUMNS.iter().position(|c| *c == name).unwrap()];
        assert_eq!(fields.len(), COLUMNS.len());
        assert_eq!((at("block"), at("share"), at("vs_none"), at("seed")), ("4K", "0.812", "", "7"));
        assert!(row.to_json()["vs_none"].is_null() && row.to_json()["share"] == 0.812);
    }
}
