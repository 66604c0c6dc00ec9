//! CSV rows of the shape "cold": one per contender of a case, and one per way to open a store.

use serde_json::{Value, json};

use super::case::{Case, size};
use super::data::Data;
use crate::environment as env;
use crate::record::{Columns, rounded};

/// One figure with where and how it was made. `docs/reference/bench.md` says what each field means.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv;

    #[test]
    fn lines_have_every_column_and_unknown_values_are_empty() {
        let row = Row { measure: "cold", block: 4096, share: Some(0.81249), seed: 7, ..Row::default() };
        let fields = csv::fields(&row.to_line()).unwrap();
        let at = |name: &str| &*fields[COLUMNS.iter().position(|c| *c == name).unwrap()];
        assert_eq!(fields.len(), COLUMNS.len());
        assert_eq!((at("block"), at("share"), at("vs_none"), at("seed")), ("4K", "0.812", "", "7"));
        assert!(row.to_json()["vs_none"].is_null() && row.to_json()["share"] == 0.812);
    }
}
