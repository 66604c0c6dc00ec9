//! Sets of statistics: messages counted by hour of the day (UTC) and by event, shown as a table,
//! CSV, JSON and a page.

use std::collections::BTreeMap;

use linerate_gateway::stats::{MessageRecord, Stats};
use linerate_plan::report::day::{Group, Set};
use linerate_plan::units;
use serde_json::{Value, json};

use crate::ui::columns::aligned;

/// Number of hours of a day.
const HOURS: usize = 24;
const HOUR_NS: i64 = 3_600_000_000_000;
/// Maximum number of event names with counts of their own; later ones are counted as `other`.
const MAX_EVENTS: usize = 64;

/// The header line of the CSV about sets.
pub(crate) const CSV_HEADER: &str =
    "set,hour,messages,errors,compressed,payload,decode_ns,median_ns,p90_ns,p99_ns,p999_ns,timed";

/// The counts of a set of files. Its memory is bounded: it has at most 90 histograms, one of all
/// messages, 24 of hours of the day and 65 of events.
pub(crate) struct SetStats {
    pub(crate) name: String,
    pub(crate) total: Stats,
    hours: [Option<Box<Stats>>; HOURS],
    events: BTreeMap<String, Box<Stats>>,
}

impl SetStats {
    pub(crate) fn new(name: impl Into<String>) -> SetStats {
        let hours = std::array::from_fn(|_| None);
        SetStats { name: name.into(), total: Stats::new(), hours, events: BTreeMap::new() }
    }

    /// Counts a message, in its hour if its time is known, and for its event if that is known.
    pub(crate) fn add(&mut self, record: &MessageRecord, event: Option<&str>) {
        self.total.add(record);
        // A message without a time is counted in no hour.
        if record.time != 0 {
            let hour = record.time.div_euclid(HOUR_NS).rem_euclid(HOURS as i64) as usize;
            self.hours[hour].get_or_insert_default().add(record);
        }
        if let Some(event) = event {
            let known = self.events.contains_key(event) || self.events.len() < MAX_EVENTS;
            let name = if known { event } else { "other" };
            match self.events.get_mut(name) {
                Some(stats) => stats.add(record),
                None => self.events.entry(name.to_owned()).or_default().add(record),
            }
        }
    }

    /// The hours of the day that have messages, from 0 to 23, and their counts.
    fn hours(&self) -> impl Iterator<Item = (usize, &Stats)> {
        self.hours.iter().enumerate().filter_map(|(hour, stats)| Some((hour, stats.as_deref()?)))
    }

    /// The set for the HTML page.
    pub(crate) fn set(&self) -> Set {
        Set {
            name: self.name.clone(),
            total: group(&self.total),
            hours: self.hours().map(|(hour, stats)| (hour as u8, group(stats))).collect(),
            events: self.events.iter().map(|(event, stats)| (event.clone(), group(stats))).collect(),
            dropped: self.total.dropped(),
        }
    }

    /// The set as a JSON object.
    pub(crate) fn object(&self) -> Value {
        let mut object = counts(&self.total);
        object["name"] = json!(self.name);
        object["dropped"] = json!(self.total.dropped());
        let keyed = |key: &str, value: Value, stats: &Stats| {
            let mut object = counts(stats);
            object[key] = value;
            object
        };
        let hours: Vec<Value> = self.hours().map(|(hour, stats)| keyed("hour", json!(hour), stats)).collect();
        let events = self.events.iter().map(|(event, stats)| keyed("event", json!(event), stats));
        object["by_hour"] = json!(hours);
        object["by_event"] = events.collect();
        object
    }

    /// The lines of CSV: the whole set, with an empty hour, then each hour that has messages.
    pub(crate) fn csv(&self) -> Vec<String> {
        let line = |hour: String, stats: &Stats| {
            let counted = [
                stats.messages(),
                stats.errors(),
                stats.compressed_bytes(),
                stats.payload_bytes(),
                stats.decode_ns(),
            ];
            let numbers = counted.into_iter().chain(quantiles(stats)).chain([stats.timed()]);
            let numbers = numbers.map(|number| number.to_string());
            let numbers: Vec<String> = numbers.collect();
            format!("{},{hour},{}", super::stats::quoted(&self.name), numbers.join(","))
        };
        let hours = self.hours().map(|(hour, stats)| line(hour.to_string(), stats));
        std::iter::once(line(String::new(), &self.total)).chain(hours).collect()
    }
}

/// The lines of a table of the sets, their hours and their events.
pub(crate) fn lines(sets: &[SetStats]) -> Vec<String> {
    let titles =
        ["set", "messages", "failed", "payload", "ratio", "decoded", "median", "90 %", "99 %", "99.9 %"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(sets.iter().map(|set| row(set.name.clone(), &set.total)));
    for set in sets {
        rows.extend(set.hours().map(|(hour, stats)| row(format!("{} {hour:02}:00", set.name), stats)));
    }
    for set in sets {
        rows.extend(set.events.iter().map(|(event, stats)| row(format!("{} {event}", set.name), stats)));
    }
    aligned(&rows)
}

fn row(name: String, stats: &Stats) -> Vec<String> {
    let mut row = vec![
        name,
        stats.messages().to_string(),
        stats.errors().to_string(),
        stats.payload_bytes().to_string(),
        format!("{:.3}", stats.ratio()),
        units::rate(stats.bytes_per_second()),
    ];
    row.extend(quantiles(stats).map(|ns| units::time(ns as f64 / 1e9)));
    row
}

/// Decoding times of messages in nanoseconds: the median, and the 90th, 99th and 99.9th percentile.
fn quantiles(stats: &Stats) -> [u64; 4] {
    [0.5, 0.9, 0.99, 0.999].map(|quantile| stats.quantile_ns(quantile))
}

/// Seconds to decode all messages, estimated from those that were timed; 0 if none was.
fn decode_seconds(stats: &Stats) -> f64 {
    match stats.bytes_per_second() {
        speed if speed > 0.0 => stats.payload_bytes() as f64 / speed,
        _ => stats.decode_ns() as f64 / 1e9,
    }
}

fn group(stats: &Stats) -> Group {
    Group {
        messages: stats.messages(),
        errors: stats.errors(),
        compressed: stats.compressed_bytes(),
        payload: stats.payload_bytes(),
        seconds: decode_seconds(stats),
        quantiles: quantiles(stats).map(|ns| ns as f64 / 1e9),
    }
}

fn counts(stats: &Stats) -> Value {
    let [median, p90, p99, p999] = quantiles(stats);
    json!({
        "messages": stats.messages(),
        "errors": stats.errors(),
        "compressed_bytes": stats.compressed_bytes(),
        "payload_bytes": stats.payload_bytes(),
        "ratio": stats.ratio(),
        "timed": stats.timed(),
        "decode_ns": stats.decode_ns(),
        "median_ns": median,
        "p90_ns": p90,
        "p99_ns": p99,
        "p999_ns": p999,
    })
}
