//! Where the results of a run go: tables or JSON Lines on standard output, a record, a comparison.

use std::collections::BTreeSet;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::Arc;

use super::{Common, against, message, provenance};
use crate::records::{self, METRICS, Measurement, Run, Writer};

/// The results of a run so far, and where they are written.
pub struct Output {
    json: bool,
    writers: Vec<Writer>,
    earlier: Option<Vec<(Arc<Run>, Measurement)>>,
    run: Run,
    /// All measurements that were added so far.
    pub done: Vec<Measurement>,
}

impl Output {
    /// Reads the record of `--against`, and writes the line about this run to the record of
    /// `--record` and, with `--json`, to standard output. This comes before a long run, so that
    /// errors come early. `versions` are names and versions of other programs, which are added to
    /// those of the libraries in this program.
    ///
    /// # Errors
    /// A sentence that names the file, or standard output.
    pub fn open(args: &Common, versions: &[(String, String)]) -> Result<Self, String> {
        let earlier = args.against.as_deref().map(records::read).transpose()?;
        let mut run = provenance::run();
        run.versions.extend(versions.iter().cloned());
        let mut writers = Vec::new();
        if let Some(path) = &args.record {
            let writer = Writer::new(Some(path), &run).map_err(|e| format!("{}: {e}", path.display()))?;
            writers.push(writer);
        }
        if args.json {
            writers.push(Writer::new(None, &run).map_err(|e| format!("standard output: {e}"))?);
        }
        Ok(Output { json: args.json, writers, earlier, run, done: Vec::new() })
    }

    /// Writes measurements to the record at once, and prints them: as a table below `title`, or
    /// with `--json` as JSON Lines.
    ///
    /// # Errors
    /// A sentence, if they cannot be written; with a record or `--json` also if a metric has an
    /// unknown name or is not a finite number.
    pub fn add(&mut self, title: &str, measurements: Vec<Measurement>) -> Result<(), String> {
        for writer in &mut self.writers {
            for measurement in &measurements {
                writer.measurement(measurement).map_err(message)?;
            }
        }
        if !self.json && !measurements.is_empty() {
            print(&format!("{title}\n{}\n", table(&measurements)))?;
        }
        self.done.extend(measurements);
        Ok(())
    }

    /// Prints a sentence, except with `--json`.
    ///
    /// # Errors
    /// A sentence, if standard output cannot be written.
    pub fn say(&self, text: &str) -> Result<(), String> {
        if self.json { Ok(()) } else { print(&format!("{text}\n")) }
    }

    /// Prints which of these peers this build lacks, if any, except with `--json`. Peers are
    /// features of this crate; an empty list means all of them.
    ///
    /// # Errors
    /// A sentence, if standard output cannot be written.
    pub fn say_absent(&self, peers: &[&str]) -> Result<(), String> {
        provenance::absent(peers).map_or(Ok(()), |text| self.say(&text))
    }

    /// Prints the comparison with the earlier record, if the user gave one.
    ///
    /// # Errors
    /// A sentence, if standard output cannot be written.
    pub fn finish(&self) -> Result<(), String> {
        match &self.earlier {
            Some(earlier) if !self.json => print(&against::text(earlier, &self.run, &self.done)),
            _ => Ok(()),
        }
    }
}

/// Writes to standard output. A closed pipe is not an error.
///
/// # Errors
/// A sentence, if standard output cannot be written.
pub fn print(text: &str) -> Result<(), String> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {e}")),
        _ => Ok(()),
    }
}

/// Shows one line of progress in place of the last one, if standard error is a terminal. An empty
/// text removes the line.
pub fn progress(what: &str) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // Failing to show progress is no reason to stop.
        let _ = write!(terminal, "\r\x1b[K{what}");
        let _ = terminal.flush();
    }
}

/// A table of measurements: a heading with what they share, then a line for each.
///
/// # Panics
/// Panics if there are no measurements.
pub fn table(measurements: &[Measurement]) -> String {
    let shown = |m: &Measurement, name: &str| match m.params.get(name) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let params: BTreeSet<&String> = measurements.iter().flat_map(|m| m.params.keys()).collect();
    let differs =
        |name: &&&String| measurements.iter().any(|m| shown(m, name) != shown(&measurements[0], name));
    let columns: Vec<&String> = params.iter().filter(differs).copied().collect();
    let common = params.iter().filter(|name| !differs(name));
    let common: Vec<String> =
        common.map(|name| format!("{name} {}", shown(&measurements[0], name))).collect();
    let several_data = measurements.iter().any(|m| m.data != measurements[0].data);
    let metrics: Vec<_> = METRICS
        .iter()
        .filter(|metric| measurements.iter().any(|m| m.metrics.contains_key(metric.name)))
        .collect();

    let mut rows = vec![vec!["contender".to_owned()]];
    rows[0].extend(several_data.then(|| "data".to_owned()));
    rows[0].extend(columns.iter().map(|name| (*name).clone()));
    rows[0].extend(metrics.iter().map(|metric| match metric.unit {
        "" => metric.name.to_owned(),
        unit => format!("{}, {unit}", metric.name),
    }));
    for m in measurements {
        let mut row = vec![m.contender.clone()];
        row.extend(several_data.then(|| m.data.clone()));
        row.extend(columns.iter().map(|name| shown(m, name)));
        row.extend(metrics.iter().map(|metric| {
            let Some(figure) = m.metrics.get(metric.name) else { return String::new() };
            let median = format!("{:.*}", metric.decimals, figure.median);
            match (figure.low, figure.high) {
                (Some(low), Some(high)) if figure.median != 0.0 => {
                    format!("{median} ±{:.0}%", (high - low) / 2.0 / figure.median.abs() * 100.0)
                }
                _ => median,
            }
        }));
        rows.push(row);
    }
    let mut head = vec![measurements[0].shape.clone()];
    head.extend((!several_data).then(|| measurements[0].data.clone()));
    head.extend(common);
    format!("{}\n\n{}", head.join(", "), aligned(&rows))
}

/// Aligns the cells of rows in columns: the first column to the left, the others to the right.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|i| width(i).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, &width))| match i {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::row;
    use crate::records::Figure;

    #[test]
    fn table_has_what_differs_and_a_head_with_what_does_not() {
        let one = |name: &str, level: i32, speed: f64| {
            let mut row = row("bytes", "web", name).param("chunk", "4K").param("level", level);
            row.metrics.insert("speed".into(), Figure::of(&[speed * 0.9, speed, speed * 1.1]).unwrap());
            row
        };
        let text = table(&[one("a", 1, 100.0), one("longer", 2, 7.0).exact("ratio", 2.5)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "bytes, web, chunk 4K");
        assert_eq!(lines[2], "contender  level  speed, MB/s  ratio");
        assert_eq!(lines[3], "a              1     100 ±10%");
        assert_eq!(lines[4], "longer         2       7 ±10%  2.500");
    }
}
