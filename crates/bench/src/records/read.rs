//! Reads records. Every line must have the fields of the format, and metrics must have known names.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Figure, Measurement, Run, metric};

/// Measurements, each with its run.
pub type Records = Vec<(Arc<Run>, Measurement)>;

/// Reads a record, which is a file of JSON Lines. Returns each measurement with its run.
///
/// # Errors
/// A sentence of one line: the file, and the number of the wrong line and its problem, or why the
/// file cannot be read.
pub fn read(path: &Path) -> Result<Records, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    parse(&text).map_err(|(line, problem)| format!("{name}:{line}: {problem}"))
}

/// Parses the lines of a record. An error has the number of the wrong line, counted from 1, and the
/// problem.
fn parse(text: &str) -> Result<Records, (usize, String)> {
    let mut current: Option<Arc<Run>> = None;
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let at = |problem: String| (i + 1, problem);
        let value: Value = serde_json::from_str(line).map_err(|error| at(format!("no JSON: {error}")))?;
        let Value::Object(mut fields) = value else { return Err(at("not an object".into())) };
        if let Some(run) = fields.remove("run") {
            current = Some(Arc::new(parse_run(run).map_err(at)?));
            continue;
        }
        let run = current.clone().ok_or_else(|| at("a measurement before the first run".into()))?;
        found.push((run, parse_measurement(fields).map_err(at)?));
    }
    Ok(found)
}

fn parse_run(value: Value) -> Result<Run, String> {
    let mut fields = object(value, "run")?;
    let versions = fields.remove("versions").map_or(Ok(Map::new()), |value| object(value, "versions"))?;
    let version = |(name, value)| Ok((name, text(value, "a version")?));
    let run = Run {
        date: take(&mut fields, "date")?,
        cpu: take(&mut fields, "cpu")?,
        linerate: take(&mut fields, "linerate")?,
        command: take(&mut fields, "command")?,
        versions: versions.into_iter().map(version).collect::<Result<_, String>>()?,
        converted: fields.remove("converted") == Some(Value::Bool(true)),
        source: take(&mut fields, "source")?,
        url: take(&mut fields, "url")?,
    };
    if run.source.is_empty() && [&run.date, &run.cpu, &run.command].iter().any(|text| text.is_empty()) {
        return Err("a run has date, cpu and command, or the source that published it".into());
    }
    none_left(&fields).map(|()| run)
}

fn parse_measurement(mut fields: Map<String, Value>) -> Result<Measurement, String> {
    let params = fields.remove("params").map_or(Ok(Map::new()), |value| object(value, "params"))?;
    if let Some((name, _)) = params.iter().find(|(_, value)| !value.is_string() && !value.is_number()) {
        return Err(format!("parameter {name} is neither text nor number"));
    }
    let metrics = object(fields.remove("metrics").unwrap_or_default(), "metrics")?;
    let figure = |(name, value): (String, Value)| {
        metric(&name).ok_or_else(|| format!("no metric is named {name}"))?;
        let figure =
            figure(&value).ok_or_else(|| format!("{name} is neither a number nor median, low, high"))?;
        Ok((name, figure))
    };
    let metrics: BTreeMap<_, _> = metrics.into_iter().map(figure).collect::<Result<_, String>>()?;
    let measurement = Measurement {
        shape: take(&mut fields, "shape")?,
        data: take(&mut fields, "data")?,
        contender: take(&mut fields, "contender")?,
        params: params.into_iter().collect(),
        metrics,
    };
    let Measurement { shape, data, contender, metrics, .. } = &measurement;
    if shape.is_empty() || data.is_empty() || contender.is_empty() || metrics.is_empty() {
        return Err("a measurement has shape, data, contender and metrics".into());
    }
    none_left(&fields).map(|()| measurement)
}

fn figure(value: &Value) -> Option<Figure> {
    let Value::Object(fields) = value else { return value.as_f64().map(Figure::from) };
    let known = |name: &String| ["median", "low", "high"].contains(&name.as_str());
    let get = |name| fields.get(name).and_then(Value::as_f64);
    let figure = Figure { median: get("median")?, low: get("low"), high: get("high") };
    fields.iter().all(|(name, value)| known(name) && value.is_number()).then_some(figure)
}

fn object(value: Value, name: &str) -> Result<Map<String, Value>, String> {
    if let Value::Object(fields) = value { Ok(fields) } else { Err(format!("{name} is no object")) }
}

fn text(value: Value, name: &str) -> Result<String, String> {
    if let Value::String(text) = value { Ok(text) } else { Err(format!("{name} is no text")) }
}

/// Takes a field out of `fields` and returns its text, or an empty text if there is no such field.
/// A value that is not a text is an error.
fn take(fields: &mut Map<String, Value>, name: &str) -> Result<String, String> {
    fields.remove(name).map_or(Ok(String::new()), |value| text(value, name))
}

fn none_left(fields: &Map<String, Value>) -> Result<(), String> {
    fields.keys().next().map_or(Ok(()), |name| Err(format!("unknown field {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"run":{"date":"2026-11-26","cpu":"c","command":"x"}}"#;

    #[test]
    fn a_wrong_line_is_named_by_its_number() {
        let error = |line: &str| parse(&format!("{RUN}\n{line}")).expect_err(line);
        let unknown = r#"{"shape":"s","data":"d","contender":"c","metrics":{"sped":1}}"#;
        assert_eq!(error(unknown), (2, "no metric is named sped".to_owned()));
        let text = r#"{"shape":"s","data":"d","contender":"c","metrics":{"speed":"1"}}"#;
        assert_eq!(error(text), (2, "speed is neither a number nor median, low, high".to_owned()));
        let nested = r#"{"shape":"s","data":"d","contender":"c","params":{"a":[1]},"metrics":{"speed":1}}"#;
        assert_eq!(error(nested), (2, "parameter a is neither text nor number".to_owned()));
        assert_eq!(parse("{}").expect_err("no run").0, 1);
        assert_eq!(error(r#"{"run":{"cpu":"c"}}"#).0, 2);
        assert_eq!(error(r#"{"run":{"date":"d","cpu":"c","command":"x","colour":"red"}}"#).0, 2);
    }
}
