//! Reads the files that queries name: records, and CSV files with one measurement in each row.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::query::Filter;
use crate::csv;
use crate::records::{self, Better, Figure, Measurement, Records, Run, conditions, metric};

/// The records and CSV files of a folder. Each is read when it is first opened, and kept.
pub(super) struct Library {
    folder: PathBuf,
    files: RefCell<BTreeMap<String, Rc<Vec<Rc<Entry>>>>>,
}

/// A measurement with its run and the name of its file.
pub(super) struct Entry {
    pub(super) file: String,
    pub(super) run: Arc<Run>,
    pub(super) measurement: Measurement,
}

impl Library {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), files: RefCell::default() }
    }

    /// The entries of the file `name`, in the order of the file.
    pub(super) fn open(&self, name: &str) -> Result<Rc<Vec<Rc<Entry>>>, String> {
        if let Some(entries) = self.files.borrow().get(name) {
            return Ok(entries.clone());
        }
        let path = self.folder.join(name);
        let found = if name.ends_with(".csv") { read_csv(&path)? } else { records::read(&path)? };
        let entry = |(run, measurement)| Rc::new(Entry { file: name.to_owned(), run, measurement });
        let entries = Rc::new(found.into_iter().map(entry).collect::<Vec<_>>());
        self.files.borrow_mut().insert(name.to_owned(), entries.clone());
        Ok(entries)
    }
}

/// Reads a CSV file: each row after the heading is a measurement, whose columns become parameters.
/// The columns `date`, `cpu`, `linerate` and `command` also describe its run.
fn read_csv(path: &Path) -> Result<Records, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = text.lines().map(csv::fields);
    let head = lines.next().ok_or_else(|| format!("{}: no columns", path.display()))??;
    let row = |fields: Result<Vec<String>, String>| {
        let values: BTreeMap<_, _> =
            head.iter().cloned().zip(fields?).filter(|(_, v)| !v.is_empty()).collect();
        let text = |name: &str| values.get(name).cloned().unwrap_or_default();
        let [date, cpu, linerate, command] = ["date", "cpu", "linerate", "command"].map(text);
        let params = values.into_iter().map(|(name, value)| (name, json!(value))).collect();
        let run = Run { date, cpu, linerate, command, ..Run::default() };
        Ok((Arc::new(run), Measurement { params, ..Measurement::default() }))
    };
    lines.map(row).collect()
}

impl Entry {
    /// The text of a key: a parameter, or else a part of the measurement or of its run. Empty if
    /// there is no such key.
    pub(super) fn field(&self, key: &str) -> Cow<'_, str> {
        let (run, Measurement { shape, data, contender, params, .. }) = (&self.run, &self.measurement);
        let text = match (key, params.get(key)) {
            (_, Some(Value::String(text))) => text,
            (_, Some(number)) => return number.to_string().into(),
            ("file", _) => &self.file,
            ("shape", _) => shape,
            ("data", _) => data,
            ("contender", _) => contender,
            ("date", _) => &run.date,
            ("cpu", _) => &run.cpu,
            ("processor", _) => &run.cpu,
            ("linerate", _) => &run.linerate,
            ("build", _) => run.linerate.split_once(' ').map_or("", |(_, build)| build),
            ("command", _) => &run.command,
            ("source", _) => &run.source,
            ("version", _) => return self.version().into(),
            _ => "",
        };
        text.into()
    }

    /// The version of the contender. Empty if the run has none.
    fn version(&self) -> &str {
        conditions::version(&self.run, &self.measurement).map_or("", |(_, version)| version)
    }

    /// The figure of a metric, or else a number in a parameter, as a column of a CSV file is.
    pub(super) fn figure(&self, name: &str) -> Option<Figure> {
        let metric = self.measurement.metrics.get(name).copied();
        metric.or_else(|| self.field(name).parse::<f64>().ok().map(Figure::from))
    }

    /// The value of a metric: the best round if `best` and the figure has that round, otherwise the
    /// median.
    pub(super) fn value(&self, name: &str, best: bool) -> Option<f64> {
        let Figure { median, low, high } = self.figure(name)?;
        let round = match metric(name).map(|metric| metric.better) {
            Some(Better::Higher) if best => high,
            Some(Better::Lower) if best => low,
            _ => None,
        };
        Some(round.unwrap_or(median))
    }

    /// Whether the entry has, for each key of the filter, one of the values that the filter gives,
    /// or any if it gives none. For the CPU and the command, a part of the text is enough.
    pub(super) fn matches(&self, filter: &Filter) -> bool {
        filter.0.iter().all(|(key, values)| {
            let text = self.field(key);
            let partly = key == "cpu" || key == "command";
            values.is_empty() || values.iter().any(|value| text == *value || partly && text.contains(value))
        })
    }
}
