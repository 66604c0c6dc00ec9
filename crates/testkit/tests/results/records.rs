//! Rows of the CSV records that published figures come from.

use std::collections::BTreeMap;
use std::fmt::Write;

use linerate_testkit::testdata::repository;

/// A row: its values by column.
#[derive(Debug)]
pub(crate) struct Row(BTreeMap<String, String>);

impl Row {
    pub(crate) fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    /// A figure. Panics if the field is empty: a table asks only for what its rows have.
    pub(crate) fn number(&self, column: &str) -> f64 {
        let text = self.text(column);
        text.parse().unwrap_or_else(|_| panic!("{column} is {text:?}: {:?}", self.0))
    }
}

/// The rows of one file of `records/`.
pub(crate) struct Record {
    name: &'static str,
    rows: Vec<Row>,
}

impl Record {
    pub(crate) fn read(name: &'static str) -> Self {
        let path = repository().join("records").join(name);
        let mut reader = csv::Reader::from_path(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let rows = reader.deserialize().map(|row| Row(row.unwrap_or_else(|error| panic!("{name}: {error}"))));
        Self { name, rows: rows.collect() }
    }

    /// The rows with these values.
    pub(crate) fn all(&self, wanted: &[(&str, &str)]) -> Vec<&Row> {
        let rows = self.rows.iter();
        rows.filter(|row| wanted.iter().all(|(column, value)| row.text(column) == *value)).collect()
    }

    /// The one row with these values.
    pub(crate) fn one(&self, wanted: &[(&str, &str)]) -> &Row {
        let found = self.all(wanted);
        assert_eq!(found.len(), 1, "rows of {} with {wanted:?}", self.name);
        found[0]
    }

    /// The latest of the rows with these values.
    pub(crate) fn latest(&self, wanted: &[(&str, &str)]) -> &Row {
        self.all(wanted).pop().unwrap_or_else(|| panic!("no row of {} with {wanted:?}", self.name))
    }

    /// A line below a table: the file, with a link from the root, and the date, processor, versions and command of a row.
    pub(crate) fn source(&self, row: &Row) -> String {
        let Self { name, .. } = self;
        let mut line = format!("[{name}](records/{name})");
        for (column, label) in [("date", ""), ("cpu", ""), ("linerate", "linerate "), ("command", "")] {
            let text = row.text(column);
            let quote = if column == "command" { "`" } else { "" };
            let _ = write!(line, ", {label}{quote}{text}{quote}");
        }
        line
    }
}

#[test]
fn a_quoted_command_with_commas_is_one_field() {
    let record = Record::read("2026-11-20-deflate-web.csv");
    let command = "linerate-bench bytes --corpus web/files --name web --chunk 16K --rounds 21 --only linerate,slz,isa-l";
    assert_eq!(record.all(&[("command", command)]).len(), 15);
}
