//! Writes an archive to its target, and summarizes it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use linerate_core::lock;
use linerate_io::{Lock, Wait};
use linerate_nx::Kind;
use linerate_nx::pack::{Builder, CancelToken, Format, PackError, Stage, Summary};

use super::open::damage;
use super::write_args::{EditArgs, OutputArgs};
use crate::ui::error::CliError;
use crate::ui::inputs;
use crate::ui::progress::Watch;
use crate::ui::remote::url;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::wait;

/// Where to write an archive.
pub(crate) enum Target {
    /// Nothing is written.
    DryRun,
    /// A file that must not exist yet.
    Fresh(PathBuf),
    /// A file that may exist, and is replaced then.
    Replace(PathBuf),
}

impl Target {
    /// The target of `pack`.
    pub(crate) fn of(args: &OutputArgs) -> Target {
        match &args.output {
            _ if args.dry_run => Target::DryRun,
            Some(path) if args.force => Target::Replace(path.clone()),
            Some(path) => Target::Fresh(path.clone()),
            // Unreachable: clap requires a name.
            None => Target::DryRun,
        }
    }

    /// The target of a subcommand that changes `archive`: the file of `-o`, or else `archive`
    /// itself.
    pub(crate) fn of_edit(args: &EditArgs, archive: &Path) -> Target {
        match &args.output {
            _ if args.dry_run => Target::DryRun,
            Some(path) if args.force => Target::Replace(path.clone()),
            Some(path) => Target::Fresh(path.clone()),
            None => Target::Replace(archive.to_owned()),
        }
    }

    pub(crate) fn is_dry(&self) -> bool {
        matches!(self, Target::DryRun)
    }

    /// The path that is written to; `None` for a dry run.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Target::DryRun => None,
            Target::Fresh(path) | Target::Replace(path) => Some(path),
        }
    }

    /// Locks the file that may be replaced, if it exists, so that no other process changes it from
    /// the time when it is read. Other targets need no lock.
    pub(crate) fn lock(&self, how_long: Wait) -> Result<Option<Lock>, CliError> {
        let Target::Replace(path) = self else { return Ok(None) };
        Lock::of_target(path, how_long).map_err(|error| wait::not_locked(path, error))
    }

    /// Fails, before any work, if the target is a URL, an input, or an existing file that must not
    /// be replaced or is not regular. Otherwise returns its path, or `None` for a dry run.
    pub(crate) fn checked(&self) -> Result<Option<&Path>, CliError> {
        let Some(path) = self.path() else { return Ok(None) };
        if url(path).is_some() {
            return Err(CliError::Refused(
                "an archive on a server cannot be changed; -o FILE writes the result to a file".into(),
            ));
        }
        inputs::refuse(path)?;
        match fs::metadata(path) {
            Ok(found) if !found.is_file() => {
                Err(CliError::Refused(format!("the output {} is not a regular file", path.display())))
            }
            Ok(_) if matches!(self, Target::Fresh(_)) => {
                Err(CliError::Refused(format!("{} exists already; -f overwrites it", path.display())))
            }
            _ => Ok(Some(path)),
        }
    }
}

/// Makes a line on a terminal about `name`, which shows the stages of packing that come before the
/// first block is packed. It is erased when the result is dropped.
pub(crate) fn watch(name: &Path, cancel: &CancelToken, reporter: &Reporter) -> Watch {
    let cancel = cancel.clone();
    reporter.watch(&name.display().to_string(), move || {
        let (stage, count) = cancel.stage();
        match stage {
            Stage::Listing => format!("listing folders: {count} entries"),
            Stage::Measuring => format!("reading sizes: {count} entries"),
            Stage::Comparing => format!("comparing files: {count} reads"),
            Stage::Grouping => format!("grouping small files: {count} read"),
            _ => "packing".to_owned(),
        }
    })
}

/// Writes the archive to its target in a format, or only counts what it would contain if the target
/// is a dry run, and adds the result to the summary.
pub(crate) fn write(
    mut builder: Builder,
    target: &Target,
    format: Format,
    reporter: &Reporter,
    summary: &mut RunSummary,
) -> Result<(), CliError> {
    let cancel = builder.options().cancel.clone();
    let archive = match target.checked()? {
        None => {
            let _watch = watch(Path::new(summary.file()), &cancel, reporter);
            builder.dry_run().map_err(engine_error)?
        }
        Some(path) => {
            let bar = reporter.progress(&path.display().to_string(), None);
            let drawn = Arc::new(Mutex::new((bar, Some(watch(path, &cancel, reporter)))));
            let shared = Arc::clone(&drawn);
            builder.on_progress(move |progress| {
                let (bar, watch) = &mut *lock(&shared);
                *watch = None;
                bar.set_total(progress.bytes_in_total);
                bar.update(progress.bytes_in);
            });
            builder.replace(matches!(target, Target::Replace(_)));
            let archive = builder.write_as(path, format).map_err(engine_error)?;
            drop(drawn);
            archive
        }
    };
    describe(&archive, target, summary);
    Ok(())
}

/// Adds the numbers of a new archive to the summary.
fn describe(archive: &Summary, target: &Target, summary: &mut RunSummary) {
    let Summary { files, bytes, blocks, shared_files, shared_bytes, .. } = *archive;
    summary.set("dry_run", target.is_dry());
    summary.set("files", files);
    summary.set("bytes", bytes);
    summary.set("blocks", blocks);
    summary.set("shared_files", shared_files);
    summary.set("shared_bytes", shared_bytes);
    if target.is_dry() {
        summary.lines.push(format!(
            "{files} files, {bytes} bytes, in {blocks} blocks; {shared_files} files of {shared_bytes} bytes are shared"
        ));
        return;
    }
    let percent = 100.0 * archive.archive_bytes as f64 / bytes.max(1) as f64;
    summary.text = Some(format!("{files} files, {bytes} -> {} bytes ({percent:.1}%)", archive.archive_bytes));
    summary.bytes = bytes;
    summary.output = target.path().map(Path::to_owned);
    summary.set("stored_blocks", archive.stored_blocks);
    summary.set("filtered_blocks", archive.filtered_blocks);
    summary.set("archive_bytes", archive.archive_bytes);
}

/// Converts an error of packing. The message names the file that is concerned, if there is one.
pub(crate) fn engine_error(error: PackError) -> CliError {
    let file = error.file().map(|file| file.display().to_string());
    let named = |error: CliError| match &file {
        Some(file) => error.in_file(file),
        None => error,
    };
    let engine = std::error::Error::source(&error).and_then(|e| e.downcast_ref::<linerate_nx::Error>());
    if let Some(engine) = engine {
        return named(damage(*engine));
    }
    if let Some(io) = error.io() {
        let copy = match io.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(io.kind(), io.to_string()),
        };
        let verb = if error.kind() == Kind::Read { "cannot read" } else { "cannot write" };
        let context = file.map_or_else(|| verb.to_owned(), |file| format!("{verb} {file}"));
        return CliError::Io { context, error: copy };
    }
    match error.kind() {
        Kind::Truncated | Kind::Corrupt | Kind::Unsupported => {
            CliError::data(error.kind(), 0, error.to_string())
        }
        _ => CliError::Refused(error.to_string()),
    }
}
