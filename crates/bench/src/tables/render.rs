//! Selects the measurements of queries and renders them as Markdown.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use super::library::{Entry, Library};
use super::query::{Filter, Part, Piece, Query, Rows, Statistic};
use crate::records::{Better, metric};

/// Units, each with its quantity and its size in the base unit of that quantity, which is 1, ns,
/// byte, or byte per second.
const UNITS: &[(&str, &str, f64)] = &[
    ("", "quotient", 1.0),
    ("%", "quotient", 0.01),
    ("ns", "time", 1.0),
    ("µs", "time", 1e3),
    ("ms", "time", 1e6),
    ("s", "time", 1e9),
    ("bytes", "bytes", 1.0),
    ("KB", "bytes", 1e3),
    ("KiB", "bytes", 1024.0),
    ("MB", "bytes", 1e6),
    ("MiB", "bytes", 1_048_576.0),
    ("MB/s", "speed", 1e6),
    ("GB/s", "speed", 1e9),
    ("GiB/s", "speed", 1_073_741_824.0),
];

/// The entries of the files of one query, and those of them that its cells used.
struct Selection {
    entries: Vec<Rc<Entry>>,
    used: RefCell<Vec<Rc<Entry>>>,
}

/// Returns the table of a query, with a line about the source for each file that it used. `records`
/// is the path of the folder of records in links, with a slash at the end.
pub(super) fn table(library: &Library, text: &str, records: &str) -> Result<String, String> {
    let query = Query::parse(text)?;
    let selection = Selection::new(library, &query.files)?;
    let headings: Vec<&str> = query.columns.iter().map(|column| column.heading.as_str()).collect();
    let mut table = line(&headings);
    let _ = writeln!(table, "|{}", "---|".repeat(headings.len()));
    let mut filled = vec![false; headings.len()];
    for (label, filter) in selection.rows(&query.filter, &query.rows)? {
        let mut cells = Vec::new();
        for column in &query.columns {
            let filter = filter.with(&column.filter);
            let cell = selection.cell(&filter, &column.template, label.as_deref());
            cells.push(cell.map_err(|error| format!("column {:?}: {error}", column.heading))?);
        }
        let measured =
            cells.iter().zip(&query.columns).any(|(cell, column)| cell.is_some() && column.measures());
        if !measured {
            return Err(format!("a row has no measurement: {filter:?}"));
        }
        for (filled, cell) in filled.iter_mut().zip(&cells) {
            *filled |= cell.is_some();
        }
        table += &line(&cells.iter().map(|cell| cell.as_deref().unwrap_or("")).collect::<Vec<_>>());
    }
    if let Some(empty) = filled.iter().position(|filled| !filled) {
        return Err(format!("column {:?} is empty", headings[empty]));
    }
    Ok(format!("{table}\n{}", selection.sources(records)))
}

/// The text of an inline value.
pub(super) fn value(library: &Library, text: &str) -> Result<String, String> {
    let (file, filter, template) = Query::parse_value(text)?;
    let cell = Selection::new(library, &[file])?.cell(&filter, &template, None)?;
    cell.ok_or_else(|| "no measurement".to_owned())
}

pub(super) fn line(cells: &[&str]) -> String {
    cells.iter().fold(
        "|".to_owned(),
        |line, cell| if cell.is_empty() { line + " |" } else { format!("{line} {cell} |") },
    ) + "\n"
}

impl super::query::Column {
    /// Whether the column shows values of the record, and not only text and the label of the row.
    fn measures(&self) -> bool {
        fn any(parts: &[Part]) -> bool {
            parts.iter().any(|part| match part {
                Part::Text(_) => false,
                Part::Optional(parts) => any(parts),
                Part::Value(piece) => piece.name != "row",
            })
        }
        any(&self.template)
    }
}

impl Selection {
    fn new(library: &Library, files: &[String]) -> Result<Self, String> {
        let mut entries = Vec::new();
        for file in files {
            entries.extend(library.open(file)?.iter().cloned());
        }
        Ok(Self { entries, used: RefCell::default() })
    }

    /// The label and the filter of each row of a table. It is an error if a line `row` or `rows` of
    /// the query gives no row.
    fn rows(&self, filter: &Filter, rows: &[Rows]) -> Result<Vec<(Option<String>, Filter)>, String> {
        let mut found = Vec::new();
        for Rows { label, keys, single } in rows {
            let before = found.len();
            let given = if *single { vec![keys.clone()] } else { product(&keys.0) };
            for given in given {
                let of_row = filter.with(&given);
                let open: Vec<&String> =
                    keys.0.iter().filter(|key| key.1.is_empty()).map(|key| &key.0).collect();
                for entry in self.entries.iter().filter(|entry| entry.matches(&of_row)) {
                    let one = |key: &&String| ((*key).clone(), vec![entry.field(key).into_owned()]);
                    let row = (label.clone(), of_row.with(&Filter(open.iter().map(one).collect())));
                    if !found.contains(&row) {
                        found.push(row);
                    }
                }
            }
            if found.len() == before {
                return Err(format!("no measurement for the row {keys:?}"));
            }
        }
        Ok(found)
    }

    /// The text of a cell. `None` if a value outside of optional parts is missing, or if the text
    /// is empty.
    fn cell(&self, filter: &Filter, parts: &[Part], label: Option<&str>) -> Result<Option<String>, String> {
        let mut text = String::new();
        for part in parts {
            let value = match part {
                Part::Text(fixed) => Some(fixed.clone()),
                Part::Optional(parts) => Some(self.cell(filter, parts, label)?.unwrap_or_default()),
                Part::Value(piece) if piece.name == "row" => label.map(str::to_owned),
                Part::Value(piece) => self.piece(filter, piece, parts)?,
            };
            let Some(value) = value else { return Ok(None) };
            text += &value;
        }
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    fn piece(&self, filter: &Filter, piece: &Piece, cell: &[Part]) -> Result<Option<String>, String> {
        let filter = filter.with(&piece.filter);
        let (name, best) = chooser(piece, cell);
        let found = self.select(&filter, name, best)?;
        let Some(first) = found.first() else { return Ok(None) };
        let is_number = metric(&piece.name).is_some()
            || piece.unit.is_some()
            || piece.decimals.is_some()
            || piece.nonzero
            || piece.statistic != Statistic::Median;
        let text = if is_number {
            let Some(mut number) = number(&found, piece)? else { return Ok(None) };
            if let Some(base) = &piece.base {
                let found = self.select(&filter.with(base), name, best)?;
                let Some(base) = self::number(&found, piece)? else { return Ok(None) };
                number /= base;
                self.used.borrow_mut().extend(found.first().cloned());
            }
            if piece.nonzero && number == 0.0 {
                return Ok(None);
            }
            format(number, piece)?
        } else {
            let text = first.field(&piece.name).into_owned();
            if let Some(other) = found.iter().find(|entry| entry.field(&piece.name) != text) {
                return Err(format!("{} is {text} and {}", piece.name, other.field(&piece.name)));
            }
            if text.is_empty() {
                return Ok(None);
            }
            text
        };
        self.used.borrow_mut().extend(found.iter().cloned());
        Ok(Some(text))
    }

    /// The entries that match a filter. If it has alternatives, and `name` is a metric, only the
    /// entry with the best figure of that metric.
    ///
    /// # Errors
    /// A sentence, if one alternative has several entries with different figures.
    fn select(&self, filter: &Filter, name: &str, best: bool) -> Result<Vec<Rc<Entry>>, String> {
        let found: Vec<_> = self.entries.iter().filter(|entry| entry.matches(filter)).cloned().collect();
        let Some(metric) = metric(name).filter(|_| found.len() > 1 && filter.choices().next().is_some())
        else {
            return Ok(found);
        };
        for (i, entry) in found.iter().enumerate() {
            let is_same = |other: &&Rc<Entry>| {
                filter.choices().all(|key| entry.field(key) == other.field(key))
                    && other
                        .value(name, best)
                        .is_some_and(|value| entry.value(name, best).is_some_and(|own| own != value))
            };
            if let Some(other) = found[..i].iter().find(is_same) {
                return Err(several(&found, other, entry));
            }
        }
        let sign = if metric.better == Better::Lower { -1.0 } else { 1.0 };
        let rank =
            |entry: &Rc<Entry>| entry.value(name, best).map_or(f64::NEG_INFINITY, |value| sign * value);
        Ok(found.into_iter().max_by(|a, b| rank(a).total_cmp(&rank(b))).into_iter().collect())
    }

    /// A line for each file that cells used: a link to it below `records`, the first run of it that
    /// they used, and the number of other runs.
    fn sources(&self, records: &str) -> String {
        let mut files: Vec<(String, Vec<String>)> = Vec::new();
        for entry in self.used.borrow().iter() {
            let run = &entry.run;
            let texts = match run.source.as_str() {
                "" => {
                    let linerate = if run.linerate.is_empty() {
                        String::new()
                    } else {
                        format!("linerate {}", run.linerate)
                    };
                    vec![run.date.clone(), run.cpu.clone(), linerate, format!("`{}`", run.command)]
                }
                title if run.url.is_empty() => vec![title.to_owned(), run.cpu.clone(), run.date.clone()],
                title => vec![format!("[{title}]({})", run.url), run.cpu.clone(), run.date.clone()],
            };
            let text = texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
            match files.iter_mut().find(|(file, _)| *file == entry.file) {
                Some((_, runs)) if !runs.contains(&text) => runs.push(text),
                Some(_) => {}
                None => files.push((entry.file.clone(), vec![text])),
            }
        }
        let lines = files.iter().map(|(file, runs)| {
            let more = match runs.len() - 1 {
                0 => String::new(),
                1 => ", and another run".to_owned(),
                more => format!(", and {more} more runs"),
            };
            format!("[{file}]({records}{file}), {}{more}\n", runs[0])
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The metric that chooses among alternatives for a value, and whether by its best round: the
/// cell's first metric without a filter of its own; or the value's own metric, if the value has a
/// filter or the cell has no such metric.
fn chooser<'p>(piece: &'p Piece, cell: &'p [Part]) -> (&'p str, bool) {
    let is_metric = |piece: &Piece| metric(&piece.name).is_some();
    let first = cell.iter().find_map(|part| match part {
        Part::Value(first) if is_metric(first) && first.filter.0.is_empty() => Some(first),
        _ => None,
    });
    let chosen = first.filter(|_| piece.filter.0.is_empty()).unwrap_or(piece);
    (&chosen.name, chosen.statistic == Statistic::Best)
}

/// The number that a value takes from its entries, in the unit of the metric. `None` if no entry
/// has the metric, except for sums and counts.
fn number(found: &[Rc<Entry>], piece: &Piece) -> Result<Option<f64>, String> {
    let figures: Vec<_> = found.iter().filter_map(|entry| entry.figure(&piece.name)).collect();
    let least = |values: Vec<f64>| values.into_iter().min_by(f64::total_cmp);
    let most = |values: Vec<f64>| values.into_iter().max_by(f64::total_cmp);
    #[allow(clippy::cast_precision_loss, reason = "a count of rows")]
    Ok(match piece.statistic {
        Statistic::Count => Some(found.len() as f64),
        Statistic::Sum => Some(figures.iter().map(|figure| figure.median).sum()),
        Statistic::Low => least(figures.iter().map(|figure| figure.low.unwrap_or(figure.median)).collect()),
        Statistic::High => most(figures.iter().map(|figure| figure.high.unwrap_or(figure.median)).collect()),
        statistic => {
            let values =
                found.iter().filter_map(|entry| entry.value(&piece.name, statistic == Statistic::Best));
            let values: Vec<f64> = values.collect();
            if values.windows(2).any(|pair| pair[0] != pair[1]) {
                return Err(several(found, &found[0], &found[1]));
            }
            values.first().copied()
        }
    })
}

fn several(found: &[Rc<Entry>], a: &Entry, b: &Entry) -> String {
    format!("{} measurements match, {:?} and {:?}", found.len(), a.measurement, b.measurement)
}

/// Formats a number in the unit and with the decimals that the query gives for a value.
fn format(number: f64, piece: &Piece) -> Result<String, String> {
    let known = metric(&piece.name);
    let find = |name: &str| {
        let unit = UNITS.iter().find(|(unit, ..)| *unit == name);
        unit.ok_or_else(|| format!("no unit is named `{name}`"))
    };
    if piece.change {
        let text = format!("{:+.*} %", piece.decimals.unwrap_or(0), 100.0 * (number - 1.0));
        return Ok(text.replace('-', "\u{2212}"));
    }
    let mut value = number;
    if let Some(unit) = piece.unit.as_deref() {
        let (_, quantity, factor) = *find(unit)?;
        let from = known.filter(|_| piece.base.is_none()).map(|metric| find(metric.unit)).transpose()?;
        let (_, other, base) = from.copied().unwrap_or(("", quantity, 1.0));
        if quantity != other {
            return Err(format!("`{}` is no {quantity}", piece.name));
        }
        value *= base / factor;
    }
    let usual = if piece.base.is_some() { 2 } else { known.map_or(0, |metric| metric.decimals) };
    let decimals = piece.decimals.unwrap_or(if piece.unit.is_some() { 0 } else { usual });
    let suffix = if piece.unit.as_deref() == Some("%") { " %" } else { "" };
    Ok(format!("{value:.decimals$}{suffix}"))
}

/// Every combination of the values of keys, as filters. The values of the last key change first.
/// Keys without values are left out.
fn product(keys: &[(String, Vec<String>)]) -> Vec<Filter> {
    let given = keys.iter().filter(|(_, values)| !values.is_empty());
    given.fold(vec![Filter::default()], |rows, (key, values)| {
        let with = |row: &Filter, value: &String| row.with(&Filter(vec![(key.clone(), vec![value.clone()])]));
        rows.iter().flat_map(|row| values.iter().map(move |value| with(row, value))).collect()
    })
}
