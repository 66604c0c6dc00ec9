//! `linerate gateway stats`: counts messages by size, opcode and event and compares zlib with zstd,
//! or counts sets of statistics by hour.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use linerate_gateway::{Counters, Encoder, Encoding, Envelope, Statistics, Transport};
use linerate_plan::report::day;
use serde_json::{Value, json};

use super::decode::{Decoded, Decoding};
use super::session_args::SessionArgs;
use super::sets::{self, SetStats};
use super::sets_of_files::{self, NamedFiles};
use super::wire::{Wire, fault};
use crate::commands::plan::page::{Page, context};
use crate::ui::columns::aligned;
use crate::ui::error::CliError;
use crate::ui::format::rounded;
use crate::ui::reporter::Reporter;
use crate::ui::stdout::StdoutLines;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, inputs};

const EXAMPLES: &str = "\
Examples:
  linerate gateway stats shard-0.zlib                sizes, opcodes and events
  linerate gateway stats --both shard-0.zlib         also the size with zstd
  linerate gateway stats shard-0.msgs                payloads: sizes with zlib and zstd
  linerate gateway stats --csv *.lgwr > messages.csv a line for each message
  linerate gateway stats --set A='a*.stats' --set B='b*.stats' --report day.html
                                                     statistics logs, hour by hour

Sets:
  With --set or --report, and for statistics logs, messages are counted by set, hour (UTC) and
  event instead. A set may consist of statistics logs, records of 18 bytes, recordings and
  files of messages. The first two are not read from pipes.

CSV:
  Columns for sets: set, hour (empty for all), messages, errors, compressed bytes, payload bytes,
  nanoseconds to decode (sum of the timed messages, median, 90, 99 and 99.9 %), number of timed
  messages. Columns otherwise: file, message, time_ns (arrival, since 1970), decode_ns, payload,
  zlib, zstd (bytes), opcode, event. Unknown fields are empty.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct StatsArgs {
    /// Also compress the payloads with zlib-stream and zstd-stream, unless sent that way
    #[arg(long)]
    both: bool,

    /// Print CSV instead of tables: a line per message, or per set and hour
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Count the files that match GLOB as a set with this name; may be given several times
    #[arg(long, value_name = "NAME=GLOB", value_parser = sets_of_files::parse_set, conflicts_with = "both")]
    set: Vec<NamedFiles>,

    /// Write the sets to this file as an HTML page
    #[arg(long, value_name = "REPORT", value_hint = ValueHint::FilePath, conflicts_with = "both")]
    report: Option<PathBuf>,

    #[command(flatten)]
    session: SessionArgs,

    #[command(flatten)]
    verbosity: VerbosityArgs,

    /// Length-prefixed messages, compressed or not, recordings or statistics logs; `-` is standard
    /// input
    #[arg(value_name = "FILE", required_unless_present = "set", value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
}

const CSV_HEADER: &str = "file,message,time_ns,decode_ns,payload,zlib,zstd,opcode,event";

pub(crate) fn run(args: &StatsArgs) -> ExitCode {
    let are_sets = !args.set.is_empty() || args.report.is_some();
    if are_sets || args.files.iter().any(|path| sets_of_files::has_records(path)) {
        return run_sets(args);
    }
    let mut begun = false;
    Reporter::new(&args.verbosity, args.csv).each(&args.files, |path, reporter| {
        let mut csv = args.csv.then(StdoutLines::new).transpose()?;
        if let Some(csv) = &mut csv
            && !std::mem::replace(&mut begun, true)
        {
            csv.write(CSV_HEADER)?;
        }
        process(args, path, csv, reporter)
    })
}

/// Counts the named sets, and one more, `all`, of the files that are operands.
fn run_sets(args: &StatsArgs) -> ExitCode {
    let mut named = args.set.clone();
    if !args.files.is_empty() {
        named.push(NamedFiles { name: "all".into(), files: args.files.clone() });
    }
    let first = named.iter().flat_map(|set| &set.files).next().cloned().unwrap_or_default();
    Reporter::new(&args.verbosity, args.csv)
        .one(&first, |reporter| count_sets(args, &first, &named, reporter))
}

fn count_sets(
    args: &StatsArgs,
    first: &Path,
    named: &[NamedFiles],
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(first, "stats");
    named.iter().flat_map(|set| &set.files).for_each(|path| inputs::keep_operand(path));
    let page = args.report.as_deref().map(Page::create).transpose()?;
    let mut sets = Vec::new();
    for NamedFiles { name, files } in named {
        let mut set = SetStats::new(name);
        for path in files {
            // Messages before an error have been counted, and the next file is counted, too.
            if let Err(error) = sets_of_files::count(path, &args.session, &mut set, reporter) {
                reporter.failed(&path.display().to_string(), error);
            }
        }
        sets.push(set);
    }
    if args.csv {
        let mut csv = StdoutLines::new()?;
        csv.write(sets::CSV_HEADER)?;
        sets.iter().flat_map(SetStats::csv).try_for_each(|line| csv.write(line))?;
        csv.finish()?;
    } else {
        summary.lines = sets::lines(&sets);
    }
    summary.bytes = sets.iter().map(|set| set.total.payload_bytes()).sum();
    summary.text = Some(format!("{} sets", sets.len()));
    summary.set("sets", sets.iter().map(SetStats::object).collect::<Vec<_>>());
    if let Some(page) = page {
        let of_page: Vec<day::Set> = sets.iter().map(SetStats::set).collect();
        let names: Vec<&str> = named.iter().map(|set| set.name.as_str()).collect();
        summary.output = Some(page.write_text(&day::html(&of_page, &context(names.join(", "), 0)))?);
    }
    Ok(summary)
}

fn process(
    args: &StatsArgs,
    path: &Path,
    mut csv: Option<StdoutLines>,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "stats");
    let name = path.display().to_string();
    let wire = Wire::open(path, args.session.transport)?.with_progress(|len| reporter.progress(&name, len));
    let (form, words) = (wire.form, wire.words());
    let mut counted = FileStatistics::new(wire.transport, args.both)?;
    let mut decoding = Decoding::new(&args.session, &wire)?;
    let outcome = decoding.run(wire, |message| {
        let bytes = counted.add(message)?;
        csv.as_mut().map_or(Ok(()), |csv| csv.write(record(&name, message, bytes)))
    });
    let totals = decoding.totals;
    totals.describe(&mut summary);
    summary.set("kind", form.name());
    summary.bytes = totals.payload;
    summary.text = Some(format!("{} messages, {} bytes", totals.messages, totals.payload));
    match csv {
        Some(csv) => csv.finish()?,
        None => {
            summary.lines = vec![format!("{name}: {words}"), String::new()];
            summary.lines.extend(counted.lines());
        }
    }
    counted.describe(&mut summary);
    if let Err(ended) = outcome {
        summary.silent = true;
        summary.text = None;
        ended.report(&name, &totals, reporter);
    }
    Ok(summary)
}

/// The encoding of a payload. Erlang's external terms begin with the byte 131, which begins no
/// text.
pub(crate) fn encoding(payload: &[u8]) -> Encoding {
    if payload.first() == Some(&131) { Encoding::Etf } else { Encoding::Json }
}

/// Counts the messages of a file with the sizes that one transport gives them.
struct Side {
    transport: Transport,
    /// Compresses the payloads; `None` if the messages were sent with this transport.
    encoder: Option<Encoder>,
    /// Index of the connection that the encoder belongs to.
    connection: u64,
    statistics: Statistics,
    /// Compressed size of each message, in bytes.
    sizes: Vec<u32>,
}

impl Side {
    fn new(transport: Transport, sent: Option<Transport>) -> Result<Side, CliError> {
        let encoder =
            (sent != Some(transport)).then(|| Encoder::new(transport)).transpose().map_err(fault)?;
        Ok(Side { transport, encoder, connection: 0, statistics: Statistics::new(), sizes: Vec::new() })
    }

    /// Counts a message. Returns its compressed size in bytes.
    fn add(&mut self, message: &Decoded<'_>) -> Result<usize, CliError> {
        let bytes = match &mut self.encoder {
            None => message.compressed,
            Some(encoder) => {
                if std::mem::replace(&mut self.connection, message.connection) != message.connection {
                    *encoder = Encoder::new(self.transport).map_err(fault)?;
                }
                let mut wire = Vec::new();
                encoder.message(message.payload, &mut wire).map_err(fault)?;
                wire.len()
            }
        };
        self.sizes.push(bytes as u32);
        self.statistics.add(bytes, message.payload, encoding(message.payload));
        Ok(bytes)
    }
}

/// Statistics of a file, with one [`Side`] for each transport that is measured.
struct FileStatistics {
    /// At least one. Each counts all messages.
    sides: Vec<Side>,
    /// Size of each payload, in bytes.
    sizes: Vec<u32>,
}

impl FileStatistics {
    /// Prepares to measure the transport that messages were sent with and, if `both` is true or the
    /// file holds uncompressed payloads, zlib-stream and zstd-stream.
    fn new(sent: Option<Transport>, both: bool) -> Result<FileStatistics, CliError> {
        let streams =
            Transport::STREAMS.into_iter().filter(|&way| both || sent.is_none_or(|sent| sent == way));
        let own = sent.into_iter().filter(|sent| !sent.is_stream());
        let sides = own.chain(streams).map(|way| Side::new(way, sent)).collect::<Result<_, _>>()?;
        Ok(FileStatistics { sides, sizes: Vec::new() })
    }

    /// Counts a message. Returns its compressed size in bytes with zlib-stream and with
    /// zstd-stream, `None` for a transport that is not measured.
    fn add(&mut self, message: &Decoded<'_>) -> Result<[Option<usize>; 2], CliError> {
        let mut bytes = [None; 2];
        for side in &mut self.sides {
            let compressed = side.add(message)?;
            match side.transport {
                Transport::Zlib => bytes[0] = Some(compressed),
                Transport::Zstd => bytes[1] = Some(compressed),
                _ => {}
            }
        }
        self.sizes.push(message.payload.len() as u32);
        Ok(bytes)
    }

    /// The lines of the tables: of all messages, then of messages by size, by opcode and by event.
    fn lines(&mut self) -> Vec<String> {
        let mut lines = aligned(&self.quantile_rows());
        for ([title, ..], keys) in self.groups() {
            lines.push(String::new());
            lines.extend(aligned(&self.rows(title, &keys)));
        }
        lines
    }

    fn quantile_rows(&mut self) -> Vec<Vec<String>> {
        let heads = ["", "bytes", "ratio", "least", "median", "90 %", "99 %", "most"];
        let mut rows = vec![heads.map(String::from).to_vec()];
        let payload = self.sides[0].statistics.all.payload;
        let mut row = |name: &str, bytes: u64, ratio: Option<f64>, sizes: &mut [u32]| {
            let mut row = vec![name.to_owned(), bytes.to_string()];
            row.push(ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}")));
            row.extend(quantiles(sizes).map(|size| size.to_string()));
            rows.push(row);
        };
        row("payload", payload, None, &mut self.sizes);
        for side in &mut self.sides {
            let all = side.statistics.all;
            row(side.transport.name(), all.compressed, Some(all.ratio()), &mut side.sizes);
        }
        rows
    }

    /// The messages grouped by size, by opcode and by event. Before each list of groups are its
    /// title in the tables and, for `--json`, the name of the list and the name of a group's key.
    fn groups(&self) -> [([&'static str; 3], Vec<Group>); 3] {
        let first = &self.sides[0].statistics;
        let counters = |of: &dyn Fn(&Statistics) -> Counters| -> Vec<Counters> {
            self.sides.iter().map(|side| of(&side.statistics)).collect()
        };
        let sizes = first.by_size.keys().map(|bits| {
            let low = if *bits == 0 { 0 } else { 1u64 << (bits - 1) };
            Group {
                key: json!(low),
                name: if low < 2 { low.to_string() } else { format!("{low} - {}", 2 * low - 1) },
                counters: counters(&|all| all.by_size[bits]),
            }
        });
        let opcodes = first.by_opcode.keys().map(|op| Group {
            key: json!(op),
            name: op.map_or_else(|| "none".into(), |op| op.to_string()),
            counters: counters(&|all| all.by_opcode[op]),
        });
        let events = first.by_event.keys().map(|event| Group {
            key: json!(event),
            name: event.clone(),
            counters: counters(&|all| all.by_event[event]),
        });
        [
            (["payload bytes", "by_size", "from"], sizes.collect()),
            (["opcode", "by_opcode", "opcode"], opcodes.collect()),
            (["event", "by_event", "event"], events.collect()),
        ]
    }

    fn rows(&self, title: &str, groups: &[Group]) -> Vec<Vec<String>> {
        let mut heads = vec![title.to_owned(), "messages".into(), "share".into(), "bytes".into()];
        for side in &self.sides {
            heads.extend([side.transport.name().to_owned(), "ratio".into()]);
        }
        let all = self.sides[0].statistics.all.messages.max(1) as f64;
        let mut rows = vec![heads];
        rows.extend(groups.iter().map(|Group { name, counters, .. }| {
            let Counters { messages, payload, .. } = counters[0];
            let share = format!("{:.1} %", 100.0 * messages as f64 / all);
            let mut row = vec![name.clone(), messages.to_string(), share, payload.to_string()];
            row.extend(counters.iter().flat_map(|t| [t.compressed.to_string(), format!("{:.3}", t.ratio())]));
            row
        }));
        rows
    }

    fn describe(&mut self, summary: &mut RunSummary) {
        summary.set("payload", json!({ "quantiles": named(quantiles(&mut self.sizes)) }));
        for ([_, name, key], groups) in self.groups() {
            let all: Vec<Value> = groups.into_iter().map(|group| self.object(key, group)).collect();
            summary.set(name, all);
        }
        for side in &mut self.sides {
            let all = side.statistics.all;
            let object = json!({
                "bytes": all.compressed,
                "ratio": rounded(all.payload, all.compressed),
                "sent": side.encoder.is_none(),
                "quantiles": named(quantiles(&mut side.sizes)),
            });
            summary.set(short(side.transport), object);
        }
    }

    fn object(&self, key: &str, group: Group) -> Value {
        let Counters { messages, payload, .. } = group.counters[0];
        let mut object = json!({ "messages": messages, "payload_bytes": payload });
        object[key] = group.key;
        for (side, counters) in self.sides.iter().zip(&group.counters) {
            object[format!("{}_bytes", short(side.transport))] = json!(counters.compressed);
        }
        object
    }
}

/// The messages that have the same size, opcode or event, counted for each transport.
struct Group {
    key: Value,
    name: String,
    counters: Vec<Counters>,
}

fn short(transport: Transport) -> &'static str {
    match transport {
        Transport::Zlib => "zlib",
        Transport::Zstd => "zstd",
        independent => independent.name(),
    }
}

/// Sorts sizes. Returns minimum, median, 90th and 99th percentile, and maximum, or zeros if there
/// are none.
fn quantiles(sizes: &mut [u32]) -> [u32; 5] {
    sizes.sort_unstable();
    let last = sizes.len().saturating_sub(1);
    [0, 50, 90, 99, 100].map(|percent| sizes.get((last * percent).div_ceil(100)).copied().unwrap_or(0))
}

fn named([least, median, p90, p99, most]: [u32; 5]) -> Value {
    json!({ "least": least, "median": median, "p90": p90, "p99": p99, "most": most })
}

/// A message as a line of CSV.
fn record(file: &str, message: &Decoded<'_>, [zlib, zstd]: [Option<usize>; 2]) -> String {
    fn or_empty(value: Option<impl ToString>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
    let envelope = Envelope::read(message.payload, encoding(message.payload)).unwrap_or_default();
    let mut line = quoted(file);
    for value in [
        message.index.to_string(),
        or_empty(message.time),
        or_empty(message.spent.map(|spent| spent.as_nanos())),
        message.payload.len().to_string(),
        or_empty(zlib),
        or_empty(zstd),
        or_empty(envelope.op),
        envelope.event.map_or_else(String::new, quoted),
    ] {
        let _ = write!(line, ",{value}");
    }
    line
}

pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_minimum_median_percentiles_and_maximum() {
        assert_eq!(quantiles(&mut []), [0; 5]);
        assert_eq!(quantiles(&mut [7]), [7; 5]);
        let mut hundred: Vec<u32> = (1..=101).rev().collect();
        assert_eq!(quantiles(&mut hundred), [1, 51, 91, 100, 101]);
    }

    #[test]
    fn csv_fields_with_commas_or_quotes_are_quoted() {
        assert_eq!(quoted("a.zst"), "a.zst");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
