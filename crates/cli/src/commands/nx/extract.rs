//! `linerate nx extract`: extracts files of an archive to a folder or to standard output.

use std::collections::HashSet;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::{ValueEnum, ValueHint};
use linerate_core::lock;
use linerate_nx::metadata::{Links, Metadata, Restorer};
use linerate_nx::{Existing, Extracted, Extractor, File, FileError, Kind};

use super::args::{ChoiceArgs, LimitArgs};
use super::open::{Opened, damage, damage_or_output, entry_at, is_still_there, open};
use super::select::{GLOBS, Select};
use super::tree;
use crate::ui::error::CliError;
use crate::ui::reporter::Reporter;
use crate::ui::signals::CancelToken;
use crate::ui::summary::RunSummary;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, inputs, output, output_args};

/// Help of the option `-o` of `extract`.
const FOLDER_OR_STDOUT: &str =
    "Write to FOLDER, which is created if it does not exist; `-` is standard output";

const EXAMPLES: &str = "\
Examples:
  linerate nx extract mods.nx -o mods                all files
  linerate nx extract mods.nx '*.dds' -o textures    files with matching names
  linerate nx extract --stdout mods.nx readme.txt
  linerate nx extract --metadata mods.nx -o mods     with times, modes, links and empty folders
  linerate nx extract --strip-components 1 --overwrite replace mods.nx";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{GLOBS}\n\n{}", exit_code::HELP))]
pub(crate) struct ExtractArgs {
    #[arg(
        short = 'o',
        long,
        alias = "target",
        help = FOLDER_OR_STDOUT,
        value_name = "FOLDER",
        default_value = ".",
        value_hint = ValueHint::DirPath
    )]
    pub(crate) output: PathBuf,

    /// Write the contents to standard output, one after another; the same as -o -
    #[arg(short = 'c', long, conflicts_with_all = ["output", "strip_components", "overwrite", "force", "sync", "metadata"])]
    pub(crate) stdout: bool,

    /// Remove N leading folders from each path; files in fewer folders are skipped
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) strip_components: usize,

    /// What to do if a file exists; -f is the same as `replace`
    #[arg(long, value_enum, value_name = "POLICY", default_value = "fail")]
    pub(crate) overwrite: Overwrite,

    #[arg(short = 'f', long, help = output_args::FORCE, conflicts_with = "overwrite")]
    pub(crate) force: bool,

    /// Do not check the hashes of contents
    #[arg(long)]
    pub(crate) no_verify: bool,

    /// Restore times, modes, links and empty folders, if the archive has them
    #[arg(long)]
    pub(crate) metadata: bool,

    /// Which links --metadata creates
    #[arg(long, value_enum, value_name = "WHICH", default_value = "inside", requires = "metadata")]
    pub(crate) links: LinkChoice,

    /// Sync each file to the disk before it gets its name, which is slow for small files
    #[arg(long)]
    pub(crate) sync: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,
}

impl ExtractArgs {
    /// Whether the contents go to standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.stdout || output_args::is_stdout(&self.output)
    }

    /// How existing files are treated, by `--overwrite` or `-f`.
    pub(crate) fn policy(&self) -> Overwrite {
        if self.force { Overwrite::Replace } else { self.overwrite }
    }
}

/// How existing files are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Overwrite {
    /// Keep the existing file, and report an error
    Fail,
    /// Keep the existing file, and skip that of the archive
    Skip,
    /// Replace the existing file atomically by the complete and verified new one
    Replace,
}

/// Which links are created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinkChoice {
    /// Links that stay in the folder; others are errors
    Inside,
    /// All links, for trusted archives
    Any,
    /// No links
    None,
}

impl LinkChoice {
    pub(crate) fn links(self) -> Links {
        match self {
            LinkChoice::Inside => Links::Inside,
            LinkChoice::Any => Links::Any,
            LinkChoice::None => Links::None,
        }
    }
}

pub(super) fn run(args: &ExtractArgs) -> Result<ExitCode, String> {
    if args.is_stdout() && (args.metadata || args.sync || args.strip_components > 0) {
        return Err(
            "with -o -, only contents are written; leave out --metadata, --sync and --strip-components"
                .into(),
        );
    }
    let select = args.choice.select()?;
    let path = args.choice.path();
    let reporter = Reporter::new(&args.verbosity, args.is_stdout());
    Ok(reporter.one(&path, |reporter| process(args, &path, &select, reporter)))
}

fn process(
    args: &ExtractArgs,
    path: &Path,
    select: &Select,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "extract");
    let archive = open(path, &args.limits)?;
    inputs::keep(path);
    let name = path.display().to_string();
    let metadata = wanted(args, &archive, &name, reporter)?;
    let others = metadata.iter().flat_map(Metadata::others);
    if let Some(glob) = select.unmatched(archive.files().map(|file| file.path()).chain(others)) {
        return Err(CliError::Refused(format!("no file matches `{glob}`")));
    }
    match args.is_stdout() {
        true => to_stdout(args, &archive, &name, select, reporter, &mut summary)?,
        false => to_folder(args, &archive, &name, select, metadata, reporter, &mut summary)?,
    }
    Ok(summary)
}

/// Extracts the chosen files to the folder of the command line, then restores `metadata`.
fn to_folder(
    args: &ExtractArgs,
    archive: &Opened,
    name: &str,
    select: &Select,
    metadata: Option<Metadata>,
    reporter: &mut Reporter,
    summary: &mut RunSummary,
) -> Result<(), CliError> {
    let cancel = CancelToken::on_signal();
    let chosen = archive.files().filter(|file| select.takes(file.path()));
    let total = chosen.fold(0u64, |sum, file| sum.saturating_add(file.size()));
    let bar = Mutex::new(reporter.progress(name, Some(total)));
    let extracted = Extractor::new(archive)
        .threads(args.threads.count())
        .verify(!args.no_verify)
        .existing(existing(args.policy()))
        .sync(args.sync)
        .names(|file| select.takes(file.path()).then(|| strip(file.path(), args.strip_components)).flatten())
        .on_progress(|progress| {
            lock(&bar).update(progress.bytes);
            !cancel.is_cancelled()
        })
        .to_folder(&args.output);
    drop(bar);
    // The extractor has removed incomplete files by now.
    cancel.exit_if_cancelled();
    is_still_there(archive)?;
    let extracted = extracted.map_err(|error| match error.source {
        FileError::Archive(error) => damage(error),
        cause => in_folder(cause, &args.output),
    })?;
    let unrestored = match metadata {
        Some(metadata) if !extracted.stopped => {
            restore(args, select, metadata, &extracted, (name, archive), reporter, summary)?
        }
        _ => 0,
    };
    describe(extracted, args, archive, name, reporter, summary);
    if unrestored > 0 {
        summary.set("status", "failed");
    }
    Ok(())
}

/// Reports the files that failed, and adds the numbers of an extraction to the summary.
fn describe(
    extracted: Extracted,
    args: &ExtractArgs,
    archive: &Opened,
    name: &str,
    reporter: &mut Reporter,
    summary: &mut RunSummary,
) {
    let failed = extracted.failures.len();
    for error in extracted.failures {
        let at = entry_at(archive, &error.path);
        reporter.entry_failed(name, &error.path, entry_failure(error.source, at));
    }
    summary.output = Some(args.output.clone());
    summary.bytes = extracted.bytes;
    let mut words = format!("{} files, {} bytes", extracted.files, extracted.bytes);
    for (count, what) in [(extracted.skipped.len(), "skipped"), (failed, "failed")] {
        if count > 0 {
            words.push_str(&format!(", {count} {what}"));
        }
    }
    summary.text = Some(words);
    summary.set("files", extracted.files);
    summary.set("bytes", extracted.bytes);
    summary.set("skipped", extracted.skipped);
    summary.set("failed", failed);
    summary.set("threads", args.threads.count());
    if failed > 0 || extracted.stopped {
        summary.set("status", "failed");
    }
}

pub(crate) fn existing(policy: Overwrite) -> Existing {
    match policy {
        Overwrite::Fail => Existing::Fail,
        Overwrite::Skip => Existing::Skip,
        Overwrite::Replace => Existing::Replace,
    }
}

/// A path without its first `components` components, or `None` if it has no more than these.
pub(crate) fn strip(path: &str, components: usize) -> Option<String> {
    match components {
        0 => Some(path.to_owned()),
        n => path.splitn(n + 1, '/').nth(n).map(str::to_owned),
    }
}

/// Converts the error of one file or link of an archive. `at` is the offset of its table entry in
/// bytes, for errors about its path or target.
pub(crate) fn entry_failure(cause: FileError, at: u64) -> CliError {
    match cause {
        FileError::Archive(error) => damage(error),
        FileError::Output(error) => CliError::Io { context: "cannot write".into(), error },
        FileError::Exists => CliError::Refused("it exists already; --overwrite skips or replaces it".into()),
        FileError::Link(what) => {
            CliError::data(Kind::Corrupt, at, format!("not created: {what}; --links any creates it"))
        }
        // Paths that are refused and names that collide count as damage of the archive.
        cause => CliError::data(Kind::Corrupt, at, format!("not extracted: {cause}")),
    }
}

/// Converts an error of the whole extraction to `folder`.
fn in_folder(cause: FileError, folder: &Path) -> CliError {
    match cause {
        FileError::Output(error)
            if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory) =>
        {
            let folder = folder.display();
            CliError::Refused(format!("cannot extract to {folder}: it is not a folder; -o names another"))
        }
        FileError::Output(error) => CliError::io_at("cannot extract to", folder)(error),
        cause => entry_failure(cause, 0),
    }
}

/// Reads the metadata to restore. Returns `None` without `--metadata`, and with a note if the
/// archive has none.
pub(crate) fn wanted(
    args: &ExtractArgs,
    archive: &Opened,
    name: &str,
    reporter: &Reporter,
) -> Result<Option<Metadata>, CliError> {
    if !args.metadata {
        return Ok(None);
    }
    let found = Metadata::from_archive(archive).map_err(damage)?;
    if found.is_none() {
        reporter.note(name, "it has no metadata");
    }
    Ok(found)
}

/// Restores the metadata of the chosen files that were extracted, and creates the chosen folders
/// and links. Reports each error, and returns the number of errors.
pub(crate) fn restore(
    args: &ExtractArgs,
    select: &Select,
    mut metadata: Metadata,
    extracted: &Extracted,
    (name, archive): (&str, &Opened),
    reporter: &mut Reporter,
    summary: &mut RunSummary,
) -> Result<usize, CliError> {
    metadata.retain(|path| select.takes(path));
    let failed = extracted.failures.iter().map(|error| error.path.as_str());
    let untouched: HashSet<&str> = failed.chain(extracted.skipped.iter().map(String::as_str)).collect();
    let restored = Restorer::new(&metadata)
        .links(args.links.links())
        .existing(existing(args.policy()))
        .names(|path| strip(path, args.strip_components))
        .written(|path| archive.find(path).is_some() && !untouched.contains(path))
        .to_folder(&args.output)
        .map_err(|error| entry_failure(error.source, 0))?;
    let failures = restored.failures.len();
    for error in restored.failures {
        reporter.entry_failed(name, &error.path, entry_failure(error.source, 0));
    }
    summary.set("restored_files", restored.files);
    summary.set("folders", restored.folders);
    summary.set("links", restored.links);
    summary.set("skipped_links", restored.skipped);
    Ok(failures)
}

/// Writes the chosen files to standard output, in the order of their paths. A file of up to
/// [`MAX_BUFFERED`] bytes is written only if it is valid, a larger one up to the damage. Damaged
/// files are reported.
fn to_stdout(
    args: &ExtractArgs,
    archive: &Opened,
    name: &str,
    select: &Select,
    reporter: &mut Reporter,
    summary: &mut RunSummary,
) -> Result<(), CliError> {
    let mut files: Vec<File<'_>> = archive.files().filter(|file| select.takes(file.path())).collect();
    files.sort_by(|a, b| tree::order(a.path(), b.path()));
    let total = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.size()));
    if total > archive.limits().total {
        let limit = archive.limits().total;
        let what =
            format!("its files have {total} bytes, more than the limit of {limit}; --max-output raises it");
        return Err(CliError::data(Kind::Limit, 0, what));
    }
    archive.check_limits(&files).map_err(damage)?;
    let mut stdout = output::stdout()?;
    let mut reader = archive.reader().map_err(damage)?;
    reader.verify(!args.no_verify);
    let mut bar = reporter.progress(name, Some(total));
    let (mut count, mut failed) = (0u64, 0u64);
    for file in files {
        let written = match file.size() <= MAX_BUFFERED {
            true => reader
                .read(file)
                .map_err(damage)
                .and_then(|bytes| stdout.write_all(&bytes).map_err(CliError::stdout_write)),
            false => reader
                .write_to(file, &mut stdout)
                .map(drop)
                .map_err(|e| damage_or_output(e, CliError::stdout_write)),
        };
        match written {
            Ok(()) => {
                count += 1;
                summary.bytes += file.size();
                bar.update(summary.bytes);
            }
            Err(error @ (CliError::Data { .. } | CliError::Read { .. })) => {
                is_still_there(archive)?;
                failed += 1;
                reporter.entry_failed(name, file.path(), error);
            }
            // An error of writing would occur again with every other file.
            Err(error) => return Err(error),
        }
    }
    summary.text = Some(format!("{count} files, {} bytes", summary.bytes));
    summary.set("files", count);
    summary.set("bytes", summary.bytes);
    summary.set("failed", failed);
    if failed > 0 {
        summary.set("status", "failed");
    }
    Ok(())
}

/// Files up to this size, in bytes, are checked before the first of their bytes is written to
/// standard output.
const MAX_BUFFERED: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_stripped_from_the_front() {
        assert_eq!(strip("a/b/c", 0).as_deref(), Some("a/b/c"));
        assert_eq!(strip("a/b/c", 1).as_deref(), Some("b/c"));
        assert_eq!(strip("a/b/c", 2).as_deref(), Some("c"));
        assert_eq!(strip("a/b/c", 3), None);
        assert_eq!(strip("a", 1), None);
    }
}
