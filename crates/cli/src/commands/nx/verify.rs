//! `linerate nx verify`: checks every file of archives against its hash, or a folder against an
//! archive.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::ValueHint;
use linerate_core::lock;
use linerate_nx::metadata::{Difference, Metadata};
use linerate_nx::{Kind, Note, Verifier};

use super::args::LimitArgs;
use super::extract::entry_failure;
use super::open::{Opened, damage, entry_at, is_still_there, open};
use super::{metadata, names};
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;

const EXAMPLES: &str = "\
Examples:
  linerate nx verify *.nx                    all files of all archives
  linerate nx verify -v --json mods.nx       errors and totals as objects
  linerate nx verify --against mods mods.nx  check that the folder has the same files";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct VerifyArgs {
    /// Compare this folder with the archive, reading only the archive's header if it has hashes
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) against: Option<PathBuf>,

    /// Compare contents only, not the times, modes, links and empty folders that an archive may
    /// keep
    #[arg(long, requires = "against")]
    pub(crate) no_metadata: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Archives to check
    #[arg(value_name = "ARCHIVE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) archives: Vec<PathBuf>,
}

pub(super) fn run(args: &VerifyArgs) -> Result<ExitCode, String> {
    if args.against.is_some() && args.archives.len() > 1 {
        return Err("--against takes a single archive".into());
    }
    let reporter = Reporter::new(&args.verbosity, false);
    Ok(reporter.each(&args.archives, |path, reporter| process(args, path, reporter)))
}

fn process(args: &VerifyArgs, path: &Path, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "verify");
    let archive = open(path, &args.limits)?;
    let name = path.display().to_string();
    match &args.against {
        Some(folder) => against(args, &archive, &name, folder, reporter, &mut summary)?,
        None => contents(args, &archive, &name, reporter, &mut summary)?,
    }
    Ok(summary)
}

/// Checks every file of an archive against its hash.
fn contents(
    args: &VerifyArgs,
    archive: &Opened,
    name: &str,
    reporter: &mut Reporter,
    summary: &mut RunSummary,
) -> Result<(), CliError> {
    let total = archive.files().fold(0u64, |sum, file| sum.saturating_add(file.size()));
    let bar = Mutex::new(reporter.progress(name, Some(total)));
    let verified = Verifier::new(archive)
        .threads(args.threads.count())
        .on_progress(|progress| {
            lock(&bar).update(progress.bytes);
            true
        })
        .run()
        .map_err(damage);
    drop(bar);
    is_still_there(archive)?;
    let verified = verified?;
    let metadata = Metadata::from_archive(archive);
    // The note about bytes between the tables and the first block is left out if these are
    // metadata, which may be damaged and is reported as such.
    let is_known = |note: &&Note| matches!(note, Note::SpareInHeader) && !matches!(metadata, Ok(None));
    let notes: Vec<String> =
        verified.notes.iter().filter(|note| !is_known(note)).map(Note::to_string).collect();
    notes.iter().for_each(|note| reporter.note(name, note));
    let unchecked = if archive.has_hashes() { 0 } else { verified.files };
    if unchecked > 0 {
        reporter.warned();
    }
    let failed = verified.failures.len() + usize::from(metadata.is_err());
    let failed = failed + names::report_folders(archive, name, reporter);
    if let Err(error) = metadata {
        reporter.entry_failed(name, "(metadata)", damage(error));
    }
    for error in verified.failures {
        let at = entry_at(archive, &error.path);
        reporter.entry_failed(name, &error.path, entry_failure(error.source, at));
    }
    summary.bytes = verified.bytes;
    summary.text = Some(match failed {
        0 if unchecked > 0 => format!("{unchecked} files decode, but have no hashes to check"),
        0 => format!("OK, {} files", verified.files),
        _ => format!("{} files are valid, {failed} failed", verified.files),
    });
    summary.set("files", verified.files);
    summary.set("bytes", verified.bytes);
    summary.set("failed", failed);
    summary.set("unchecked", unchecked);
    summary.set("notes", notes);
    if failed > 0 {
        summary.set("status", "failed");
    }
    Ok(())
}

/// Compares the files of a folder, and with metadata also their attributes, with an archive.
fn against(
    args: &VerifyArgs,
    archive: &Opened,
    name: &str,
    folder: &Path,
    reporter: &mut Reporter,
    summary: &mut RunSummary,
) -> Result<(), CliError> {
    let metadata = (!args.no_metadata).then(|| metadata::for_display(archive, name, reporter)).flatten();
    let mut verifier = Verifier::new(archive).threads(args.threads.count());
    if let Some(metadata) = &metadata {
        verifier = verifier.metadata(metadata);
    }
    let total = archive.files().fold(0u64, |sum, file| sum.saturating_add(file.size()));
    let bar = Mutex::new(reporter.progress(name, Some(total)));
    let verifier = verifier.on_progress(|progress| {
        lock(&bar).update(progress.bytes);
        true
    });
    let compared = verifier.compare(folder).map_err(CliError::io_at("cannot read", folder))?;
    drop(verifier);
    drop(bar);
    is_still_there(archive)?;
    let shown = folder.display();
    let differs = |path: &String, what: String| {
        (path.clone(), CliError::data(Kind::Corrupt, entry_at(archive, path), what))
    };
    let missing = compared.missing.iter().map(|path| differs(path, format!("it is not in {shown}")));
    let different = compared.different.iter().map(|path| differs(path, format!("it differs in {shown}")));
    let unexpected =
        compared.unexpected.iter().map(|path| differs(path, format!("it is in {shown}, not in the archive")));
    let changes = compared.changes.iter().map(|change| {
        let what = match change.difference {
            Difference::LinkRemoved => format!("the link is not in {shown}"),
            Difference::LinkAdded => format!("the link is in {shown}, not in the archive"),
            Difference::FolderRemoved => format!("the empty folder is not in {shown}"),
            Difference::FolderAdded => format!("the empty folder is in {shown}, not in the archive"),
            _ => format!("{} in {shown}", change.difference),
        };
        differs(&change.path, what)
    });
    let mut found: Vec<(String, CliError)> =
        missing.chain(different).chain(unexpected).chain(changes).collect();
    for error in compared.failures {
        let at = entry_at(archive, &error.path);
        found.push((error.path, entry_failure(error.source, at)));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    summary.text = Some(match found.len() {
        0 => format!("OK, {} files are equal in {shown}", compared.same),
        n => format!("{} files are equal in {shown}, {n} differences", compared.same),
    });
    summary.set("against", shown.to_string());
    summary.set("same", compared.same);
    summary.set("missing", compared.missing);
    summary.set("different", compared.different);
    summary.set("unexpected", compared.unexpected);
    summary.set("changes", compared.changes.iter().map(metadata::record).collect::<Vec<_>>());
    if !found.is_empty() {
        summary.set("status", "failed");
    }
    for (path, error) in found {
        reporter.entry_failed(name, &path, error);
    }
    Ok(())
}
