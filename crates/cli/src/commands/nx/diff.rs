//! `linerate nx diff`: compares the files of two archives by their hashes, and their metadata.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueHint;
use linerate_nx::metadata::{Change as MetadataChange, Difference};
use linerate_nx::{File, HashKind, Reader};
use serde_json::{Value, json};

use super::args::LimitArgs;
use super::metadata;
use super::open::{AnySource, Opened, blocks, damage, open};
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::progress::Progress;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;

const EXAMPLES: &str = "\
Examples:
  linerate nx diff old.nx new.nx                  print -, + or M and a path; m for metadata
  linerate nx diff -v old.nx new.nx               also print how many bytes of blocks are new
  linerate nx diff --exit-code old.nx new.nx && echo the same files";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct DiffArgs {
    /// End with status 1 if there is a difference
    #[arg(long)]
    pub(crate) exit_code: bool,

    /// Compare contents only, not times, modes, links and empty folders
    #[arg(long)]
    pub(crate) no_metadata: bool,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// The old archive
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub(crate) old: PathBuf,

    /// The new archive
    #[arg(value_name = "NEW", value_hint = ValueHint::FilePath)]
    pub(crate) new: PathBuf,
}

/// How the file of a path differs between the archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Removed,
    Added,
    Changed,
}

impl Change {
    /// The sign in the lines of text.
    fn sign(self) -> char {
        match self {
            Change::Removed => '-',
            Change::Added => '+',
            Change::Changed => 'M',
        }
    }

    /// The name in the objects of `--json`.
    fn name(self) -> &'static str {
        match self {
            Change::Removed => "removed",
            Change::Added => "added",
            Change::Changed => "changed",
        }
    }
}

/// Compares the archives and reports the differences. Returns the exit status: 1 for differences
/// with `--exit-code`, else the status of errors and warnings.
pub(super) fn run(args: &DiffArgs) -> ExitCode {
    let mut differences = 0;
    let code = Reporter::new(&args.verbosity, false).one(&args.old, |reporter| {
        let (summary, count) = process(args, reporter)?;
        differences = count;
        Ok(summary)
    });
    if args.exit_code && differences > 0 { ExitCode::FAILURE } else { code }
}

/// Compares the archives. Returns the summary and the number of differences.
fn process(args: &DiffArgs, reporter: &mut Reporter) -> Result<(RunSummary, usize), CliError> {
    let mut summary = RunSummary::new(&args.old, "diff");
    let old = open(&args.old, &args.limits)?;
    let in_new = |error: CliError| error.in_file(&args.new.display().to_string());
    let new = open(&args.new, &args.limits).map_err(in_new)?;
    let mut counts = [0u64; 3];
    // For each row its path, its line of text and its object of `--json`. Rows are sorted by path;
    // of the same path, the row about the content comes first.
    let mut rows: Vec<(String, String, Value)> = Vec::new();
    for (change, path) in changes(args, &old, &new, reporter)? {
        counts[change as usize] += 1;
        let record = json!({ "path": path, "change": change.name(), "kind": "file" });
        rows.push((path.to_owned(), format!("{} {path}", change.sign()), record));
    }
    let mut others = 0u64;
    for change in metadata_changes(args, &old, &new, reporter) {
        let path = &change.path;
        let line = match change.difference {
            Difference::LinkRemoved => format!("- {path}"),
            Difference::LinkAdded => format!("+ {path}"),
            Difference::FolderRemoved => format!("- {path}/"),
            Difference::FolderAdded => format!("+ {path}/"),
            _ => format!("m {path}: {}", change.difference),
        };
        match change.difference {
            Difference::LinkRemoved | Difference::FolderRemoved => counts[0] += 1,
            Difference::LinkAdded | Difference::FolderAdded => counts[1] += 1,
            _ => others += 1,
        }
        rows.push((change.path.clone(), line, metadata::record(&change)));
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    let count = rows.len();
    for (_, line, mut record) in rows {
        summary.lines.push(line);
        record["old"] = json!(args.old.display().to_string());
        record["new"] = json!(args.new.display().to_string());
        reporter.record(&record);
    }
    let fetched = bytes_to_fetch(&old, &new);
    let [removed, added, changed] = counts;
    summary.text = Some(format!(
        "{removed} removed, {added} added, {changed} changed, {others} times, modes and targets; \
         {fetched} bytes of blocks are new"
    ));
    summary.set("new", args.new.display().to_string());
    summary.set("removed", removed);
    summary.set("added", added);
    summary.set("changed", changed);
    summary.set("metadata_changes", others);
    summary.set("bytes_to_fetch", fetched);
    Ok((summary, count))
}

/// Returns the differences of times, modes, links and empty folders, if one of the archives has
/// metadata, but none with `--no-metadata`. If only one has metadata, times and modes are not
/// compared, and a note says so.
fn metadata_changes(
    args: &DiffArgs,
    old: &Opened,
    new: &Opened,
    reporter: &mut Reporter,
) -> Vec<MetadataChange> {
    if args.no_metadata {
        return Vec::new();
    }
    let old_name = args.old.display().to_string();
    let before = metadata::for_display(old, &old_name, reporter);
    let after = metadata::for_display(new, &args.new.display().to_string(), reporter);
    if before.is_some() != after.is_some() {
        reporter
            .note(&old_name, "only one of the archives has metadata, so times and modes are not compared");
    }
    let paths = |archive: &'_ Opened| archive.files().map(|file| file.path().to_owned()).collect::<Vec<_>>();
    let (files, new_files) = (paths(old), paths(new));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let files = files.iter().map(String::as_str);
    before.changes(files, &after, new_files.iter().map(String::as_str))
}

/// Returns the paths of files that were removed, added or changed, sorted.
fn changes<'a>(
    args: &DiffArgs,
    old: &'a Opened,
    new: &'a Opened,
    reporter: &Reporter,
) -> Result<Vec<(Change, &'a str)>, CliError> {
    let mut found = Vec::new();
    let kind = new.hash_kind();
    let pairs = old.files().filter_map(|file| Pair::of(file, old.hash_kind(), new.find(file.path())?, kind));
    let (of_old, of_new): (Vec<_>, Vec<_>) = pairs.map(|pair| (pair.old, pair.new)).unzip();
    let total = hashed_bytes(old, of_old)?.saturating_add(
        hashed_bytes(new, of_new).map_err(|error| error.in_file(&args.new.display().to_string()))?,
    );
    let reader = |archive: &'a Opened| archive.reader().map_err(damage);
    let progress = reporter.progress(&args.old.display().to_string(), Some(total));
    let mut comparison = Comparison { old: reader(old)?, new: reader(new)?, kind, progress, done: 0 };
    for file in old.files() {
        match new.find(file.path()) {
            None => found.push((Change::Removed, file.path())),
            Some(other) if comparison.is_same(Pair::of(file, old.hash_kind(), other, kind))? => {}
            Some(_) => found.push((Change::Changed, file.path())),
        }
    }
    let added = new.files().filter(|file| old.find(file.path()).is_none());
    found.extend(added.map(|file| (Change::Added, file.path())));
    found.sort_by(|a, b| a.1.cmp(b.1));
    Ok(found)
}

/// Files of the same path and size in both archives. Each has its stored hash, or `None` if it must
/// be hashed to be compared.
struct Pair<'a> {
    old: (File<'a>, Option<u64>),
    new: (File<'a>, Option<u64>),
}

impl<'a> Pair<'a> {
    /// Makes the pair of two files, whose archives have hashes of `old_kind` and `kind`. Returns
    /// `None` if the files differ in size.
    fn of(old: File<'a>, old_kind: HashKind, new: File<'a>, kind: HashKind) -> Option<Pair<'a>> {
        let stored = old.hash().filter(|_| old_kind == kind);
        (old.size() == new.size()).then(|| Pair { old: (old, stored), new: (new, new.hash()) })
    }
}

/// Number of bytes of content of `archive` that must be hashed, because it has no hashes, or hashes
/// of another kind than the new archive. Fails if these files exceed the limits.
fn hashed_bytes(archive: &Opened, files: Vec<(File<'_>, Option<u64>)>) -> Result<u64, CliError> {
    let hashed: Vec<File<'_>> =
        files.into_iter().filter(|(_, stored)| stored.is_none()).map(|(file, _)| file).collect();
    archive.check_limits(&hashed).map_err(damage)
}

/// Compares the contents of files in both archives.
struct Comparison<'a> {
    old: Reader<'a, AnySource>,
    new: Reader<'a, AnySource>,
    /// The kind of the new archive's hashes, by which files are compared.
    kind: HashKind,
    progress: Progress,
    /// Bytes hashed so far.
    done: u64,
}

impl Comparison<'_> {
    /// Whether two files have the same hash. `None` stands for files of different sizes, which are
    /// not the same.
    fn is_same(&mut self, pair: Option<Pair<'_>>) -> Result<bool, CliError> {
        let Some(Pair { old, new }) = pair else { return Ok(false) };
        let mut taken = |bytes: usize| {
            self.done += bytes as u64;
            self.progress.update(self.done);
        };
        let mut hash = |reader: &mut Reader<'_, AnySource>, (file, stored): (File<'_>, Option<u64>)| {
            let hash = stored.map_or_else(|| reader.hash_with_progress(file, self.kind, &mut taken), Ok);
            hash.map_err(|error| damage(error).in_file(file.path()))
        };
        Ok(hash(&mut self.old, old)? == hash(&mut self.new, new)?)
    }
}

/// Compressed bytes of the blocks of `new` with files whose content no file of `old` has, by their
/// hashes: the download size of an update from `old`. Unless both archives have hashes of the same
/// kind, all blocks with content count.
fn bytes_to_fetch(old: &Opened, new: &Opened) -> u64 {
    let same_hash = old.hash_kind() == new.hash_kind() && old.has_hashes();
    let known: HashMap<u64, u64> =
        old.toc().entries.iter().filter(|_| same_hash).map(|entry| (entry.hash, entry.size)).collect();
    // Difference array over the blocks: +1 where a file with new content begins and -1 where it
    // ends. Its prefix sums tell which blocks have new content, so that a block that several files
    // share is counted once, in linear time.
    let mut runs = vec![0i64; new.layout().len() + 1];
    for file in new.files().filter(|file| file.hash().and_then(|hash| known.get(&hash)) != Some(&file.size()))
    {
        runs[file.blocks().start] += 1;
        runs[file.blocks().end] -= 1;
    }
    let wanted = runs.iter().scan(0, |open, change| {
        *open += change;
        Some(*open > 0)
    });
    let blocks = blocks(new).into_iter().zip(wanted).filter(|(_, wanted)| *wanted);
    blocks.map(|((_, len), _)| u64::from(len)).sum()
}
