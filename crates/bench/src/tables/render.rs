//! Selects the measurements of queries and renders them as Markdown.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::rc::Rc;

use super::library::{Entry, Library};
use super::query::{Filter, Part, Piece, Query, Rows, Statistic};
use crate::records::{Better, Figure, Run, metric};

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

/// Keys that say of which run the figures before them in a cell are.
const OF_RUN: [&str; 3] = ["build", "date", "processor"];

/// The entries of the files of one query, and those of them that its cells used, each with the
/// statistic that the cell printed of it.
struct Selection {
    entries: Vec<Rc<Entry>>,
    used: RefCell<Vec<(Rc<Entry>, &'static str)>>,
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
    let has_versions = query.columns.iter().any(|column| mentions(&column.template, "version"));
    Ok(format!("{table}\n{}", selection.sources(records, !has_versions)))
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
        let before = self.used.borrow().len();
        for part in parts {
            let value = match part {
                Part::Text(fixed) => Some(fixed.clone()),
                Part::Optional(parts) => Some(self.cell(filter, parts, label)?.unwrap_or_default()),
                Part::Value(piece) if piece.name == "row" => label.map(str::to_owned),
                Part::Value(piece) if OF_RUN.contains(&&*piece.name) && self.used.borrow().len() > before => {
                    let used = self.used.borrow();
                    Some(common(used[before..].iter().map(|(entry, _)| entry), &piece.name)?)
                }
                Part::Value(piece) => self.piece(filter, piece, parts)?,
            };
            let Some(value) = value else {
                self.used.borrow_mut().truncate(before);
                return Ok(None);
            };
            text += &value;
        }
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    fn piece(&self, filter: &Filter, piece: &Piece, cell: &[Part]) -> Result<Option<String>, String> {
        let filter = filter.with(&piece.filter);
        let (name, best) = chooser(piece, cell);
        let found = self.select(&filter, name, best)?;
        if found.is_empty() {
            return Ok(None);
        }
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
                self.used
                    .borrow_mut()
                    .extend(found.first().map(|entry| (entry.clone(), printed(entry, piece))));
            }
            if piece.nonzero && number == 0.0 {
                return Ok(None);
            }
            format(number, piece)?
        } else {
            let text = common(&found, &piece.name)?;
            if text.is_empty() {
                return Ok(None);
            }
            text
        };
        self.used.borrow_mut().extend(found.iter().map(|entry| (entry.clone(), printed(entry, piece))));
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

    /// A line for each file that cells used: a link to it below `records`, which of the rounds its
    /// figures are, and each date, CPU and build with its first command and the number of others.
    /// With `versions` also the versions of other libraries and programs.
    fn sources(&self, records: &str, versions: bool) -> String {
        let mut files: Vec<Source> = Vec::new();
        for (entry, statistic) in self.used.borrow().iter() {
            let (place, command) = described(&entry.run);
            let at = files.iter().position(|source| source.file == entry.file).unwrap_or_else(|| {
                files.push(Source { file: entry.file.clone(), ..Source::default() });
                files.len() - 1
            });
            let named = entry
                .named_version()
                .filter(|(name, version)| versions && !name.contains("linerate") && !name.ends_with(version));
            files[at].versions.extend(named.map(|(name, version)| format!("{name} {version}")));
            files[at].statistics.extend(Some(*statistic).filter(|statistic| !statistic.is_empty()));
            match files[at].runs.iter_mut().find(|(known, _)| *known == place) {
                Some((_, commands)) if !commands.contains(&command) => commands.push(command),
                Some(_) => {}
                None => files[at].runs.push((place, vec![command])),
            }
        }
        let lines = files.iter().map(|Source { file, statistics, runs, versions }| {
            let statistics: Vec<_> = statistics.iter().copied().collect();
            let mut line = format!("[{file}]({records}{file})");
            if !statistics.is_empty() {
                let _ = write!(line, ", {}", statistics.join(" and "));
            }
            for (i, (place, commands)) in runs.iter().enumerate() {
                let _ = write!(line, "{} {place}{}", if i == 0 { "," } else { ";" }, commands[0]);
                match commands.len() - 1 {
                    0 => {}
                    1 => line += ", and another run",
                    more => line += &format!(", and {more} more runs"),
                }
            }
            for (i, version) in versions.iter().enumerate() {
                let _ = write!(line, "{} {version}", if i == 0 { ". Versions:" } else { "," });
            }
            line + "\n"
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A file that a table used.
#[derive(Default)]
struct Source {
    file: String,
    statistics: BTreeSet<&'static str>,
    /// Date, CPU and build, each with the commands of its runs.
    runs: Vec<(String, Vec<String>)>,
    /// Names and versions of other libraries and programs.
    versions: BTreeSet<String>,
}

/// Whether a template has a value of this name.
fn mentions(template: &[Part], name: &str) -> bool {
    template.iter().any(|part| match part {
        Part::Text(_) => false,
        Part::Optional(parts) => mentions(parts, name),
        Part::Value(piece) => piece.name == name,
    })
}

/// The date, CPU and build of a run, or the document that published it; and its command after a
/// comma.
fn described(run: &Run) -> (String, String) {
    let linerate = if run.linerate.is_empty() { String::new() } else { format!("linerate {}", run.linerate) };
    let (texts, command) = match run.source.as_str() {
        "" => ([run.date.clone(), run.cpu.clone(), linerate], format!(", `{}`", run.command)),
        title if run.url.is_empty() => ([title.to_owned(), run.cpu.clone(), run.date.clone()], String::new()),
        title => ([format!("[{title}]({})", run.url), run.cpu.clone(), run.date.clone()], String::new()),
    };
    (texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", "), command)
}

/// The text of a key that all entries share. Empty if there is no entry.
fn common<'e>(entries: impl IntoIterator<Item = &'e Rc<Entry>>, key: &str) -> Result<String, String> {
    let mut texts = entries.into_iter().map(|entry| entry.field(key));
    let Some(first) = texts.next() else { return Ok(String::new()) };
    match texts.find(|text| *text != first) {
        Some(other) => Err(format!("{key} is {first} and {other}")),
        None => Ok(first.into_owned()),
    }
}

/// Which of the rounds a value prints of an entry's figure. Empty if the figure is exact.
fn printed(entry: &Entry, piece: &Piece) -> &'static str {
    match (entry.figure(&piece.name), piece.statistic) {
        (None | Some(Figure { low: None, high: None, .. }), _) => "",
        (_, Statistic::Best) => "best rounds",
        (_, Statistic::Low) => "lowest rounds",
        (_, Statistic::High) => "highest rounds",
        _ => "medians",
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
