//! `linerate dict cluster`: trains few dictionaries that many files, tenants or tables share.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use linerate_dict::pack::{Editor, PackOptions, user_id};
use linerate_dict::{Choice, Clustering, ClusteringResult, Costs, Reason, SampleSet};
use linerate_zstd::Dictionary;
use serde_json::{Value, json};

use super::samples::{SampleArgs, Sampler, Samples, files_of};
use crate::ui::error::{CliError, engine_error};
use crate::ui::format::{ratio, rounded};
use crate::ui::output_args::{self, FolderArgs};
use crate::ui::progress::SharedProgress;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, size};

const EXAMPLES: &str = "\
Examples:
  linerate dict cluster --count 16 --lines tenants -o shared       a set for each entry of tenants
  linerate dict cluster --count 4 --small-tables *.tbl -o shared   a set for each operand
  linerate dict cluster --count 8 -n --json tenants                print the report only

Output:
  The folder gets dictionary-000.dict, dictionary-001.dict and so on, and then
  assignment.json, with a JSON object on a line for each set: its path, the dictionary's file
  name or null, and its bytes before and after compression. With --pack the folder gets
  dictionaries.pack, and assignment.json names dictionaries by their numbers in the pack.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct ClusterArgs {
    /// Maximum number of dictionaries
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,

    /// Maximum bytes of each dictionary
    #[arg(short = 's', long, value_name = "SIZE", default_value = "8K", value_parser = size::parse)]
    size: u64,

    /// Use tables of half the size: cold blocks decode faster, but blocks get up to 1.3 % larger
    #[arg(long)]
    small_tables: bool,

    /// zstd level that blocks will be compressed at, -7 to 22
    #[arg(long, value_name = "LEVEL", default_value_t = 3, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-7..=22))]
    level: i32,

    /// Maximum rounds of assigning sets and training dictionaries
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(0..=1000))]
    rounds: u32,

    #[command(flatten)]
    samples: SampleArgs,

    /// Maximum bytes of samples from each set, evenly distributed
    #[arg(long, value_name = "SIZE", default_value = "256K", value_parser = size::parse)]
    max_samples: u64,

    /// Maximum bytes of the samples of all sets, which are kept in memory
    #[arg(short = 'M', long, value_name = "SIZE", default_value = "1G", value_parser = size::parse)]
    memory: u64,

    /// Write one pack, dictionaries.pack, instead of a file for each dictionary; it records the
    /// path of each set as a user of its dictionary
    #[arg(long)]
    pack: bool,

    #[command(flatten)]
    output: FolderArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    verbosity: VerbosityArgs,

    /// Sets: files, or folders with all files below them. The entries of a single folder are a set
    /// each
    #[arg(value_name = "SET", required = true, value_hint = ValueHint::AnyPath)]
    sets: Vec<PathBuf>,
}

pub(crate) fn run(args: &ClusterArgs) -> Result<ExitCode, String> {
    if args.size > super::train::MAX_DICTIONARY {
        return Err(format!("--size {} is too large; a dictionary has at most 64M", args.size));
    }
    Ok(Reporter::new(&args.verbosity, false).one(&args.sets[0], |reporter| process(args, reporter)))
}

fn process(args: &ClusterArgs, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.sets[0], "cluster");
    check_target(args)?;
    let paths = sets_of(&args.sets)?;
    let sets = read(args, &paths, reporter)?;
    let blocks: Vec<Vec<&[u8]>> = sets.iter().map(Samples::list).collect();
    let sample_sets: Vec<SampleSet<'_>> =
        blocks.iter().zip(&sets).map(|(blocks, set)| SampleSet::new(blocks).total_bytes(set.seen)).collect();
    let progress = SharedProgress::new(reporter.step("clustering", None));
    let found = Clustering::new(args.count as usize, args.size as usize)
        .small_tables(args.small_tables)
        .level(args.level)
        .rounds(args.rounds as usize)
        .sample_limit(args.max_samples as usize)
        .threads(args.threads.count())
        .run_with_progress(&sample_sets, &|bytes| progress.add(bytes))
        .map_err(engine_error)?;
    drop(progress);
    let pack = args.pack.then(|| Pack::of(&paths, &found)).transpose().map_err(engine_error)?;
    let named = NamedResult { paths: &paths, found: &found, pack };
    describe(&named, &mut summary);
    if let Some(folder) = args.output.path() {
        named.write(folder, args.output.force)?;
        summary.output = Some(folder.to_owned());
    }
    named.records().for_each(|set| reporter.record(&set));
    summary.text = Some(format!(
        "{} sets, {} dictionaries, {} -> {} bytes",
        paths.len(),
        found.shared.count,
        found.content(),
        found.shared.total()
    ));
    Ok(summary)
}

/// The sets: the operands or, if the only operand is a folder, the files and folders in it, except
/// links.
fn sets_of(operands: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let [folder] = operands else { return Ok(operands.to_vec()) };
    if !folder.is_dir() {
        return Ok(operands.to_vec());
    }
    let mut sets = Vec::new();
    for entry in fs::read_dir(folder).map_err(CliError::io("cannot read"))? {
        let entry = entry.map_err(CliError::io("cannot read"))?;
        let kind = entry.file_type().map_err(CliError::io("cannot read"))?;
        if kind.is_dir() || kind.is_file() {
            sets.push(entry.path());
        }
    }
    sets.sort();
    Ok(sets)
}

fn read(args: &ClusterArgs, sets: &[PathBuf], reporter: &Reporter) -> Result<Vec<Samples>, CliError> {
    let progress = SharedProgress::new(reporter.step("reading", None));
    let limit = args.max_samples.min(args.memory / sets.len().max(1) as u64);
    let read = |set: &PathBuf| {
        let files = files_of(std::slice::from_ref(set))?;
        let mut sampler = Sampler::new(&args.samples, limit, &files)?;
        for file in &files {
            let added = sampler.add(file, &|bytes| progress.add(bytes));
            added.map_err(|e| if file == set { e } else { e.in_file(&file.display().to_string()) })?;
        }
        Ok(sampler.finish())
    };
    let named = |set: &PathBuf| {
        read(set).map_err(
            |e: CliError| if *set == args.sets[0] { e } else { e.in_file(&set.display().to_string()) },
        )
    };
    sets.iter().map(named).collect()
}

fn dictionary_name(index: usize) -> String {
    format!("dictionary-{index:03}.dict")
}

/// Refuses an output folder that is not empty, unless `-f` is given.
fn check_target(args: &ClusterArgs) -> Result<(), CliError> {
    let Some(folder) = args.output.path() else { return Ok(()) };
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(is_empty) if is_empty || args.output.force => Ok(()),
        Ok(_) => Err(CliError::Refused(format!("{} is not empty; -f writes into it", folder.display()))),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        Err(e) => Err(CliError::io_at("cannot write", folder)(e)),
    }
}

/// The result of the clustering, and the paths of the sets in the same order.
struct NamedResult<'a> {
    paths: &'a [PathBuf],
    found: &'a ClusteringResult,
    /// The pack with the dictionaries. Without a pack, each dictionary gets a file.
    pack: Option<Pack>,
}

/// A pack with the dictionaries of a clustering.
struct Pack {
    bytes: Vec<u8>,
    /// Number of each dictionary in the pack. Equal dictionaries share a number.
    numbers: Vec<u64>,
}

impl Pack {
    /// Makes a pack of all dictionaries. In the pack they form one cluster, so that the others are
    /// compressed with the first one if that makes them smaller.
    fn of(paths: &[PathBuf], found: &ClusteringResult) -> linerate_core::Result<Pack> {
        let mut editor = Editor::in_memory(PackOptions::new())?;
        let mut numbers = Vec::new();
        for (i, dictionary) in found.dictionaries.iter().enumerate() {
            let number = editor.add(dictionary, 0)?;
            for (path, set) in paths.iter().zip(&found.sets) {
                if set.choice == Choice::Dictionary(i) {
                    editor.retain(number, user_id(&set_name(path)))?;
                }
            }
            numbers.push(number);
        }
        Ok(Pack { bytes: editor.into_bytes()?, numbers })
    }
}

impl NamedResult<'_> {
    fn write(&self, folder: &Path, force: bool) -> Result<(), CliError> {
        fs::create_dir_all(folder).map_err(CliError::io_at("cannot create", folder))?;
        if let Some(pack) = &self.pack {
            output_args::write(&folder.join("dictionaries.pack"), force, &pack.bytes)?;
        } else {
            for (i, dictionary) in self.found.dictionaries.iter().enumerate() {
                output_args::write(&folder.join(dictionary_name(i)), force, dictionary)?;
            }
        }
        let lines: Vec<String> = self.records().map(|set| format!("{set}\n")).collect();
        output_args::write(&folder.join("assignment.json"), force, lines.concat().as_bytes())
    }

    /// Returns the key and the value by which JSON objects identify the dictionary at this index:
    /// its number in the pack, or the name of its file.
    fn dictionary(&self, index: usize) -> (&'static str, Value) {
        match &self.pack {
            Some(pack) => ("number", json!(pack.numbers[index])),
            None => ("file", json!(dictionary_name(index))),
        }
    }

    fn records(&self) -> impl Iterator<Item = Value> + '_ {
        self.paths.iter().zip(&self.found.sets).map(|(path, set)| {
            let (dictionary, reason) = match set.choice {
                Choice::Dictionary(index) => (self.dictionary(index).1, None),
                Choice::Plain(reason) => (Value::Null, Some(text_of(reason))),
            };
            json!({
                "set": set_name(path),
                "dictionary": dictionary,
                "reason": reason,
                "bytes": set.content,
                "without": set.without,
                "own": set.own,
                "compressed": set.chosen,
            })
        })
    }
}

/// The path of a set, with slashes on every system: a pack finds users by the hash of this text.
fn set_name(path: &Path) -> String {
    path.display().to_string().replace(std::path::MAIN_SEPARATOR, "/")
}

fn text_of(reason: Reason) -> &'static str {
    match reason {
        Reason::Empty => "empty",
        Reason::TooFewSamples => "too few samples",
        Reason::NoSavings => "a dictionary saves nothing",
    }
}

fn describe(named: &NamedResult<'_>, summary: &mut RunSummary) {
    let found = named.found;
    let content = found.content();
    summary.lines.push(format!(
        "{:<18} {:>12} {:>14} {:>14} {:>14} {:>8}",
        format!("{} sets", found.sets.len()),
        "dictionaries",
        "their bytes",
        "blocks",
        "together",
        "ratio"
    ));
    let rows = [
        ("without", "no dictionary", found.without),
        ("own", "one for each", found.own),
        ("one", "one for all", found.one),
        ("shared", "shared", found.shared),
    ];
    for (key, name, costs) in rows {
        let Costs { blocks, dictionaries, count, .. } = costs;
        let total = costs.total();
        summary.lines.push(format!(
            "{name:<18} {count:>12} {dictionaries:>14} {blocks:>14} {total:>14} {:>8.3}",
            ratio(content, total)
        ));
        summary.set(
            key,
            json!({
                "count": count,
                "dictionaries": dictionaries,
                "blocks": blocks,
                "total": total,
                "ratio": rounded(content, total),
            }),
        );
    }
    let plain: Vec<String> = [Reason::Empty, Reason::TooFewSamples, Reason::NoSavings]
        .into_iter()
        .map(|reason| (reason, found.sets.iter().filter(|set| set.choice == Choice::Plain(reason)).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(reason, count)| format!("{count} ({})", text_of(reason)))
        .collect();
    if !plain.is_empty() {
        summary.lines.push(format!("without a dictionary: {}", plain.join(", ")));
    }
    summary.set("sets", found.sets.len());
    summary.set("bytes", content);
    summary.set("rounds", found.rounds);
    let of_dictionary = |(i, bytes): (usize, &Vec<u8>)| {
        let users = found.sets.iter().filter(|set| set.choice == Choice::Dictionary(i)).count();
        // Measuring does not fail, since a trained dictionary is valid.
        let id = Dictionary::measure(bytes).ok().map(|measured| measured.id());
        let (key, name) = named.dictionary(i);
        json!({ key: name, "bytes": bytes.len(), "id": id, "sets": users })
    };
    let dictionaries: Vec<Value> = found.dictionaries.iter().enumerate().map(of_dictionary).collect();
    summary.set("dictionaries", dictionaries);
}

#[cfg(test)]
mod tests {
    use linerate_dict::pack::Pack as Opened;
    use linerate_dict::{Input, SampleSet};

    use super::*;

    #[test]
    fn equal_dictionaries_have_the_number_of_the_one_in_the_pack() {
        let blocks: [&[u8]; 1] = [b"a sample"];
        let sets = [SampleSet::new(&blocks); 3];
        let mut found = Clustering::new(1, 1024).run(&sets).expect("a result");
        let twice = b"a dictionary of raw content".to_vec();
        found.dictionaries = vec![twice.clone(), twice, b"another dictionary".to_vec()];
        found.sets.iter_mut().enumerate().for_each(|(i, set)| set.choice = Choice::Dictionary(i));
        let paths = ["a", "b", "c"].map(PathBuf::from);
        let pack = Pack::of(&paths, &found).expect("a pack");
        assert_eq!(pack.numbers, [1, 1, 2]);
        let opened = Opened::open_input(Input::memory(pack.bytes.clone())).expect("a pack");
        let users = |number| opened.users(number).expect("users");
        assert!(users(1).contains(&user_id("a")) && users(1).contains(&user_id("b")));
        assert_eq!(users(2), [user_id("c")]);
        let named = NamedResult { paths: &paths, found: &found, pack: Some(pack) };
        let numbers: Vec<Value> = named.records().map(|set| set["dictionary"].clone()).collect();
        assert_eq!(numbers, [1, 1, 2]);
    }
}
