//! Selects the measurements of queries and renders them as Markdown.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::rc::Rc;

use super::library::{Entry, Library};
use super::query::{Filter, Part, Piece, Query, Rows, Statistic};
use crate::records::{Better, Figure, Run, conditions, metric};

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

/// Clock and threads of figures that others published.
const PUBLISHED: &str = "that of the document";

/// Keys that say of which run the figures before them in a cell are.
const OF_RUN: [&str; 3] = ["build", "date", "processor"];

/// The entries of the files of one query, and those of them that its cells used.
struct Selection {
    entries: Vec<Rc<Entry>>,
    used: RefCell<Vec<Used>>,
    /// Index of the column whose cells are made.
    column: Cell<usize>,
}

/// An entry that a cell used.
struct Used {
    entry: Rc<Entry>,
    /// The metric or the key that the cell printed of it.
    name: String,
    /// Which of the rounds. Empty if the figure is exact.
    statistic: &'static str,
    /// Index of the column.
    column: usize,
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
        for (i, column) in query.columns.iter().enumerate() {
            selection.column.set(i);
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
    Ok(format!("{table}\n{}", selection.sources(records, &headings)))
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
        Ok(Self { entries, used: RefCell::default(), column: Cell::default() })
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
                    Some(common(used[before..].iter().map(|used| &used.entry), &piece.name)?)
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
                self.used.borrow_mut().extend(found.first().map(|entry| self.using(entry, piece)));
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
        self.used.borrow_mut().extend(found.iter().map(|entry| self.using(entry, piece)));
        Ok(Some(text))
    }

    fn using(&self, entry: &Rc<Entry>, piece: &Piece) -> Used {
        let statistic = printed(entry, piece);
        Used { entry: entry.clone(), name: piece.name.clone(), statistic, column: self.column.get() }
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

    /// Two lines for each file that cells used. The first has a link to it below `records`, which of
    /// the rounds its figures are, and each date, CPU and build with its first command and the
    /// number of others. The second has the conditions: clock and threads, what the data is, and
    /// the versions of other libraries and programs that are not in cells. `headings` are those of
    /// the columns.
    fn sources(&self, records: &str, headings: &[&str]) -> String {
        let mut files: Vec<Source> = Vec::new();
        let used = self.used.borrow();
        let in_cells: BTreeSet<_> = used
            .iter()
            .filter(|used| used.name == "version")
            .filter_map(|Used { entry, .. }| conditions::version(&entry.run, &entry.measurement))
            .collect();
        for Used { entry, name, statistic, column } in used.iter() {
            let (place, command) = described(&entry.run);
            let at = files.iter().position(|source| source.file == entry.file).unwrap_or_else(|| {
                files.push(Source { file: entry.file.clone(), ..Source::default() });
                files.len() - 1
            });
            let source = &mut files[at];
            source.statistics.extend(Some(*statistic).filter(|statistic| !statistic.is_empty()));
            match source.runs.iter_mut().find(|(known, _)| *known == place) {
                Some((_, commands)) if !commands.contains(&command) => commands.push(command),
                Some(_) => {}
                None => source.runs.push((place, vec![command])),
            }
            source.add_data(entry);
            source.add_timing(entry, name, *column);
            if entry.run.source.is_empty() {
                let versions =
                    conditions::versions(&entry.run, &entry.measurement, name.ends_with("_by_base"));
                let missing = versions.into_iter().filter(|version| {
                    !version.1.is_some_and(|number| in_cells.contains(&(version.0, number)))
                });
                source.versions.extend(missing.map(|(name, version)| versioned(name, version)));
            }
        }
        let lines = files.iter().map(|source| {
            let Source { file, statistics, runs, .. } = source;
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
            let conditions = source.conditions(headings);
            line + if conditions.is_empty() { "\n" } else { ".\n" } + &conditions
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
    timings: Vec<Timing>,
    /// What data is, each with the names of that data.
    data: Vec<(&'static str, Vec<String>)>,
    /// Names and versions of other libraries and programs.
    versions: BTreeSet<String>,
}

/// Clock and threads of timed figures.
struct Timing {
    told: &'static str,
    /// Values of the parameter `threads`.
    threads: BTreeSet<u64>,
    /// Indices of the columns with these figures.
    columns: BTreeSet<usize>,
}

impl Source {
    fn add_timing(&mut self, entry: &Entry, name: &str, column: usize) {
        let told = match (conditions::timing(&entry.measurement, name), metric(name)) {
            (_, Some(metric)) if !entry.run.source.is_empty() && conditions::is_timed(metric) => PUBLISHED,
            (Some(told), _) if entry.run.source.is_empty() => told,
            _ => return,
        };
        let at = self.timings.iter().position(|timing| timing.told == told).unwrap_or_else(|| {
            self.timings.push(Timing { told, threads: BTreeSet::new(), columns: BTreeSet::new() });
            self.timings.len() - 1
        });
        let timing = &mut self.timings[at];
        timing.threads.extend(entry.field("threads").parse::<u64>());
        timing.columns.insert(column);
    }

    fn add_data(&mut self, entry: &Entry) {
        let name = &entry.measurement.data;
        let Some(what) = conditions::data(&entry.file, name).filter(|what| !what.is_empty()) else { return };
        let name = if name.contains(',') { format!("\"{name}\"") } else { name.clone() };
        match self.data.iter_mut().find(|(known, _)| *known == what) {
            Some((_, names)) if !names.contains(&name) => names.push(name),
            Some(_) => {}
            None => self.data.push((what, vec![name])),
        }
    }

    /// A line with clock and threads, data, and versions. Empty if there are none.
    fn conditions(&self, headings: &[&str]) -> String {
        let mut sentences = Vec::new();
        let clocks: Vec<String> = self.timings.iter().map(|timing| self.clock(timing, headings)).collect();
        if !clocks.is_empty() {
            sentences.push(format!("Clock: {}.", clocks.join("; ")));
        }
        let data: Vec<String> = match &self.data[..] {
            [(what, _)] => vec![(*what).to_owned()],
            all => all.iter().map(|(what, names)| format!("{} ({what})", names.join(", "))).collect(),
        };
        if !data.is_empty() {
            sentences.push(format!("Data: {}.", data.join("; ")));
        }
        if !self.versions.is_empty() {
            let versions: Vec<&str> = self.versions.iter().map(String::as_str).collect();
            sentences.push(format!("Versions: {}.", versions.join(", ")));
        }
        if sentences.is_empty() { String::new() } else { sentences.join(" ") + "\n" }
    }

    /// Clock and threads in words, after the headings of the columns if other columns have another
    /// clock.
    fn clock(&self, timing: &Timing, headings: &[&str]) -> String {
        let threads: Vec<String> = timing.threads.iter().map(u64::to_string).collect();
        let threads = match &threads[..] {
            [one] if one == "1" => "1 thread".to_owned(),
            [most @ .., last] if !most.is_empty() => format!("{} and {last} threads", most.join(", ")),
            all => format!("{} threads", all.join("")),
        };
        let told = timing.told.replace("{threads}", &threads);
        let others = || self.timings.iter().filter(|other| other.told != timing.told);
        let is_alone = others().all(|other| other.columns.is_disjoint(&timing.columns));
        if others().next().is_none() || !is_alone {
            return told;
        }
        let mut columns: Vec<String> =
            timing.columns.iter().map(|&i| format!("\"{}\"", headings[i])).collect();
        columns.dedup();
        format!("{}: {told}", columns.join(", "))
    }
}

/// A name with its version, once if the version begins with the name.
fn versioned(name: &str, version: Option<&str>) -> String {
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    match version {
        None if name.rsplit(' ').next().is_some_and(is_number) => name.to_owned(),
        None => format!("{name} (not recorded)"),
        Some(version) if name.ends_with(version) => name.to_owned(),
        Some(version) if version.to_lowercase().starts_with(&name.to_lowercase()) => version.to_owned(),
        Some(version) if is_number(version) => format!("{name} {version}"),
        Some(version) => format!("{name} ({version})"),
    }
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
