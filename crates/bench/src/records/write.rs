//! Writes records line by line.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{Figure, Measurement, Run, metric};

/// Writes the lines of one run to a file or to standard output.
pub struct Writer {
    out: Box<dyn Write>,
}

impl Writer {
    /// Writes the line of `run`: appends it to the file at `path`, which is created if it does not
    /// exist, or without a path prints it to standard output.
    ///
    /// # Errors
    /// Those of opening the file and of writing.
    pub fn new(path: Option<&Path>, run: &Run) -> io::Result<Self> {
        let out: Box<dyn Write> = match path {
            Some(path) => Box::new(OpenOptions::new().create(true).append(true).open(path)?),
            None => Box::new(io::stdout()),
        };
        let mut writer = Self { out };
        writer.line(&run_line(run))?;
        Ok(writer)
    }

    /// Writes the line of a measurement.
    ///
    /// # Errors
    /// Those of writing. A metric with an unknown name is `InvalidInput`, and so is one that is
    /// infinite or not a number, which JSON does not have.
    pub fn measurement(&mut self, measurement: &Measurement) -> io::Result<()> {
        let problem = |(name, figure): (&String, &Figure)| {
            let values = [Some(figure.median), figure.low, figure.high];
            let wrong = values.into_iter().flatten().find(|value| !value.is_finite());
            match (metric(name), wrong) {
                (None, _) => Some(format!("no metric is named {name}")),
                (_, Some(value)) => Some(format!("{}: {name} is {value}", measurement.contender)),
                _ => None,
            }
        };
        if let Some(problem) = measurement.metrics.iter().find_map(problem) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        self.line(&measurement_line(measurement))
    }

    /// Writes a line in one piece, so that lines of programs that append to the same file stay
    /// whole.
    fn line(&mut self, line: &str) -> io::Result<()> {
        self.out.write_all(format!("{line}\n").as_bytes())?;
        self.out.flush()
    }
}

/// The line of a run in a record, without empty fields and without the line break.
pub(super) fn run_line(run: &Run) -> String {
    let texts = [
        ("date", &run.date),
        ("cpu", &run.cpu),
        ("linerate", &run.linerate),
        ("command", &run.command),
        ("source", &run.source),
        ("url", &run.url),
    ];
    let mut fields: Vec<String> = Vec::new();
    for (name, value) in texts.into_iter().filter(|(_, value)| !value.is_empty()) {
        fields.push(format!("\"{name}\":{}", json!(value)));
    }
    if !run.versions.is_empty() {
        fields.push(format!("\"versions\":{}", json!(run.versions)));
    }
    if run.converted {
        fields.push("\"converted\":true".into());
    }
    format!("{{\"run\":{{{}}}}}", fields.join(","))
}

/// The line of a measurement in a record: shape, data, contender, params, metrics, in this order
/// because people read it. The line break is left out.
pub(super) fn measurement_line(measurement: &Measurement) -> String {
    let Measurement { shape, data, contender, params, metrics } = measurement;
    let metrics: Map<String, Value> = metrics.iter().map(|(name, f)| (name.clone(), figure(*f))).collect();
    format!(
        "{{\"shape\":{},\"data\":{},\"contender\":{},\"params\":{},\"metrics\":{}}}",
        json!(shape),
        json!(data),
        json!(contender),
        json!(params),
        json!(metrics)
    )
}

fn figure(Figure { median, low, high }: Figure) -> Value {
    match (low, high) {
        (None, None) => number(median),
        _ => {
            let parts = [("median", Some(median)), ("low", low), ("high", high)];
            let known = parts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), number(value?))));
            Value::Object(known.collect())
        }
    }
}

/// Returns a JSON number, without `.0` if it is whole and its magnitude is below 9e15.
#[allow(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
fn number(value: f64) -> Value {
    let whole = value.fract() == 0.0 && value.abs() < 9e15;
    if whole { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.jsonl");
        let run = Run { date: "d".into(), cpu: "c \"q\"".into(), command: "x".into(), ..Run::default() };
        let metrics = [
            ("speed".to_owned(), Figure::of(&[3.5, 1.0, 2.0]).expect("rounds")),
            ("ratio".to_owned(), 2.25.into()),
        ];
        let params = [("block".to_owned(), json!("4K")), ("count".to_owned(), json!(30_000))];
        let measurement = Measurement {
            shape: "s".into(),
            data: "d".into(),
            contender: "c".into(),
            params: params.into(),
            metrics: metrics.into(),
        };
        for _ in 0..2 {
            Writer::new(Some(&path), &run).and_then(|mut w| w.measurement(&measurement)).expect("written");
        }
        let found = super::super::read(&path).expect("read");
        assert_eq!(found.len(), 2);
        assert_eq!((&*found[1].0, &found[1].1), (&run, &measurement));
        for (name, value) in [("sped", 1.0), ("ratio", f64::NAN), ("ratio", f64::INFINITY)] {
            let wrong =
                Measurement { metrics: [(name.to_owned(), value.into())].into(), ..measurement.clone() };
            let error = Writer::new(None, &run).and_then(|mut w| w.measurement(&wrong)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
