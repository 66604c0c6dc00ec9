//! `linerate dict sst stats` and `verify`: statistics and checks of SST files.

use std::path::{Path, PathBuf};

use clap::ValueHint;
use linerate_dict::sst::{DictionaryKind, Properties, SstStats};
use serde_json::{Map, Value, json};

use super::keys::hex;
use super::sst_file::{LimitArgs, open};
use super::sst_savings::SampledSavings;
use crate::ui::error::{CliError, engine_error};
use crate::ui::exit_code;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;

const STATS_EXAMPLES: &str = "\
Examples:
  linerate dict sst stats *.sst
  linerate dict sst stats --properties 000012.sst
  linerate dict sst stats --json *.sst";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{STATS_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct StatsArgs {
    /// Also print all properties of the files
    #[arg(long)]
    pub(super) properties: bool,

    #[command(flatten)]
    pub(super) limits: LimitArgs,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// SST files
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  linerate dict sst verify *.sst
  linerate dict sst verify -v --json 000012.sst";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{VERIFY_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(super) limits: LimitArgs,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// Files to check
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
}

pub(super) fn stats(limits: &LimitArgs, all_properties: bool, path: &Path) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "stats");
    summary.set("kind", "sst");
    let (sst, mut reader) = open(path, limits)?;
    let stats = reader.stats(&sst).map_err(engine_error)?;
    let savings = SampledSavings::measure(&stats, &sst, &mut reader)?;
    lines(&stats, savings.as_ref(), &mut summary);
    record(&stats, savings.as_ref(), &mut summary);
    if all_properties {
        let mut all = Map::new();
        for property in stats.properties.iter() {
            let name = String::from_utf8_lossy(&property.name).into_owned();
            let value = value_of(&stats, &name, &property.value);
            summary
                .lines
                .push(format!("  {name} = {}", value.as_str().map_or(value.to_string(), str::to_owned)));
            all.insert(name, value);
        }
        summary.set("properties", Value::Object(all));
    }
    Ok(summary)
}

/// Properties whose values are LEB128 integers: those that `table/meta_blocks.cc` of RocksDB 11.8
/// writes. Their values do not tell, since a number from 32 to 126 is stored as a byte of ASCII.
const NUMBERS: [&str; 36] = [
    "rocksdb.column.family.id",
    "rocksdb.creation.time",
    "rocksdb.data.block.restart.interval",
    "rocksdb.data.size",
    "rocksdb.deleted.keys",
    "rocksdb.file.creation.time",
    "rocksdb.filter.size",
    "rocksdb.fixed.key.length",
    "rocksdb.format.version",
    "rocksdb.index.block.restart.interval",
    "rocksdb.index.key.is.user.key",
    "rocksdb.index.partitions",
    "rocksdb.index.size",
    "rocksdb.index.value.is.delta.encoded",
    "rocksdb.key.largest.seqno",
    "rocksdb.key.smallest.seqno",
    "rocksdb.merge.operands",
    "rocksdb.newest.key.time",
    "rocksdb.num.data.blocks",
    "rocksdb.num.data.blocks.compression.bypassed",
    "rocksdb.num.data.blocks.compression.rejected",
    "rocksdb.num.entries",
    "rocksdb.num.filter_entries",
    "rocksdb.num.range-deletions",
    "rocksdb.num.uniform.blocks",
    "rocksdb.oldest.key.time",
    "rocksdb.original.file.number",
    "rocksdb.raw.key.size",
    "rocksdb.raw.value.size",
    "rocksdb.sample_for_compression.fast.data.size",
    "rocksdb.sample_for_compression.slow.data.size",
    "rocksdb.separate.key.value.in.data.block",
    "rocksdb.tail.start.offset",
    "rocksdb.top-level.index.size",
    "rocksdb.udi.is.primary.index",
    "rocksdb.user.defined.timestamps.persisted",
];

/// Formats a property: as a number if its name is one of [`NUMBERS`]. The values of others are text
/// if they are UTF-8 without control characters, and else bytes, which are printed in hexadecimal.
fn value_of(stats: &SstStats, name: &str, value: &[u8]) -> Value {
    if let Some(number) = NUMBERS.contains(&name).then(|| stats.properties.number(name)).flatten() {
        return json!(number);
    }
    match std::str::from_utf8(value) {
        Ok(text) if !text.is_empty() && !text.contains(char::is_control) => json!(text),
        _ => json!(hex(value)),
    }
}

/// The compression manager that wrote the file, in words: RocksDB's own, none, or a custom one.
fn manager(properties: &Properties) -> String {
    match properties.compression_manager().as_deref() {
        None => "RocksDB".into(),
        Some("BuiltinV2") => "BuiltinV2, RocksDB's own".into(),
        Some("") => "none".into(),
        Some(custom) => {
            format!("{custom}, a custom compression manager: blocks of types 128 to 254 are its own")
        }
    }
}

fn lines(stats: &SstStats, savings: Option<&SampledSavings>, summary: &mut RunSummary) {
    let SstStats { properties, .. } = stats;
    let all = stats.all_blocks();
    let dictionary = match stats.dictionary.map(|found| (found.bytes, found.kind)) {
        None => "none".into(),
        Some((bytes, DictionaryKind::Trained { number })) => {
            format!("{bytes} bytes, trained, number {number}")
        }
        Some((bytes, _)) => format!("{bytes} bytes, raw content"),
    };
    summary.lines.extend([
        format!("file        {}", summary.file()),
        format!(
            "format      version {}, checksums {}, index {}",
            stats.format_version,
            stats.checksum.name(),
            stats.index.name()
        ),
        format!("compressor  {}", manager(properties)),
        format!("bytes       {}", stats.file_bytes),
        format!(
            "entries     {}: {} deletions, {} merge operands; {} range deletions",
            properties.entries(),
            properties.deletions(),
            properties.merge_operands(),
            properties.range_deletions()
        ),
        format!("content     keys {}, values {}", properties.raw_key_bytes(), properties.raw_value_bytes()),
        format!("dictionary  {dictionary}"),
    ]);
    summary.lines.extend(savings.map(|found| format!("savings     {}", found.text())));
    summary.lines.extend([format!("blocks      {}, {} -> {} bytes", all.blocks, all.content, all.stored)]);
    for (compression, count) in &stats.blocks {
        let (name, blocks) = (compression.name(), count.blocks);
        summary.lines.push(format!("  {name:<9} {blocks}, {} -> {} bytes", count.content, count.stored));
    }
    summary.lines.push(format!(
        "ratio       {:.3} of blocks with the dictionary, {:.3} of the file",
        stats.block_ratio(),
        stats.ratio()
    ));
}

fn record(stats: &SstStats, savings: Option<&SampledSavings>, summary: &mut RunSummary) {
    let SstStats { properties, .. } = stats;
    summary.set("bytes", stats.file_bytes);
    summary.set("format_version", stats.format_version);
    summary.set("checksum", stats.checksum.name());
    summary.set("index", stats.index.name());
    summary.set("entries", properties.entries());
    summary.set("deletions", properties.deletions());
    summary.set("merge_operands", properties.merge_operands());
    summary.set("range_deletions", properties.range_deletions());
    summary.set("key_bytes", properties.raw_key_bytes());
    summary.set("value_bytes", properties.raw_value_bytes());
    let dictionary = stats.dictionary.map(|found| match found.kind {
        DictionaryKind::Trained { number } => {
            json!({ "bytes": found.bytes, "kind": "trained", "id": number })
        }
        _ => json!({ "bytes": found.bytes, "kind": "raw" }),
    });
    summary.set("dictionary", dictionary.unwrap_or_default());
    summary.set("savings", savings.map(SampledSavings::object).unwrap_or_default());
    summary.set("compression_manager", properties.compression_manager());
    let of = |count: &linerate_dict::sst::BlockCount| json!({ "blocks": count.blocks, "stored": count.stored, "content": count.content });
    let blocks: Map<String, Value> =
        stats.blocks.iter().map(|(compression, count)| (compression.name().to_owned(), of(count))).collect();
    summary.set("blocks", Value::Object(blocks));
    let digits = |ratio: f64| (ratio * 1e4).round() / 1e4;
    summary.set("block_ratio", digits(stats.block_ratio()));
    summary.set("ratio", digits(stats.ratio()));
}

pub(super) fn verify(
    limits: &LimitArgs,
    path: &Path,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "verify");
    summary.set("kind", "sst");
    let (sst, mut reader) = open(path, limits)?;
    let progress = reporter.shared_progress(path, Some(sst.file_bytes()));
    let verified = reader.verify_with_progress(&sst, &|bytes| progress.add(bytes)).map_err(engine_error)?;
    drop(progress);
    for error in &verified.failures {
        reporter.failed(&path.display().to_string(), engine_error(*error));
    }
    summary.bytes = verified.key_bytes + verified.value_bytes;
    let (blocks, entries) = (verified.data_blocks, verified.entries);
    summary.text = Some(match verified.failed {
        0 => format!("OK, {entries} entries in {blocks} blocks"),
        failed => format!("{entries} entries in {blocks} blocks were read, {failed} failed"),
    });
    summary.set("data_blocks", blocks);
    summary.set("other_blocks", verified.other_blocks);
    summary.set("entries", entries);
    summary.set("deletions", verified.deletions);
    summary.set("merge_operands", verified.merge_operands);
    summary.set("key_bytes", verified.key_bytes);
    summary.set("value_bytes", verified.value_bytes);
    summary.set("failed", verified.failed);
    if !verified.is_sound() {
        summary.set("status", "failed");
    }
    Ok(summary)
}
