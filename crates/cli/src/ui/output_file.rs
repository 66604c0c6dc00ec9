//! Outputs made from files, which may replace their sources: checks first, then the commit, then
//! the deletion of the sources.

use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use linerate_core::ordered;

use crate::ui::error::CliError;
use crate::ui::input;
use crate::ui::inputs::{self, Reading};
use crate::ui::output::{self, Output};

/// An open input, which counts as being read until it is dropped.
pub(crate) struct Opened {
    pub(crate) file: File,
    /// Metadata of a regular file when it was opened; `None` for other files, such as pipes.
    pub(crate) meta: Option<Metadata>,
    _reading: Reading,
}

/// Options of making an output beside its source, which it may replace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InPlaceOptions {
    /// Follow symbolic links, and accept files with other hard links.
    pub(crate) force: bool,
    /// Delete the source once its output is committed.
    pub(crate) deletes: bool,
}

impl Opened {
    pub(crate) fn stdin() -> Result<Opened, CliError> {
        Opened::of(input::stdin())
    }

    /// Opens the file at `path`. If its output is made `beside` it, a file that cannot be replaced
    /// without loss is skipped. The message about a directory ends with `about_folders`.
    ///
    /// # Errors
    /// [`CliError::Skipped`] for a directory and for a file that is skipped; [`CliError::Io`] if
    /// the file cannot be opened.
    pub(crate) fn open(
        path: &Path,
        beside: Option<InPlaceOptions>,
        about_folders: &str,
    ) -> Result<Opened, CliError> {
        let meta = fs::metadata(path).map_err(CliError::io("cannot open"))?;
        if meta.is_dir() {
            return Err(CliError::Skipped(format!("skipped: it is a directory{about_folders}")));
        }
        if let Some(beside) = beside {
            check_replaceable(path, &meta, beside)?;
        }
        Opened::of(File::open(path))
    }

    fn of(file: std::io::Result<File>) -> Result<Opened, CliError> {
        let file = file.map_err(CliError::io("cannot open"))?;
        let meta = file.metadata().ok().filter(Metadata::is_file);
        Ok(Opened { _reading: inputs::reading(&file), file, meta })
    }

    /// The size of a regular file when it was opened, in bytes; `None` for other files.
    pub(crate) fn size(&self) -> Option<u64> {
        self.meta.as_ref().map(Metadata::len)
    }
}

/// Fails for files that cannot be replaced without losing something: files that are not regular,
/// and, without [`force`](InPlaceOptions::force), symbolic links and files to be deleted that have
/// other hard links.
fn check_replaceable(path: &Path, meta: &Metadata, beside: InPlaceOptions) -> Result<(), CliError> {
    let skipped = |what: &str| Err(CliError::Skipped(format!("skipped: it {what}")));
    if !meta.is_file() {
        return skipped("is not a regular file");
    }
    if !beside.force && path.is_symlink() {
        return skipped("is a symbolic link; -f follows it");
    }
    if !beside.force && beside.deletes && links(meta) > 1 {
        return skipped("has other hard links; -k keeps the file, -f replaces it anyway");
    }
    Ok(())
}

/// A complete output that is not committed yet.
pub(crate) struct FinishedOutput {
    output: Output,
    /// The source to delete after the commit, with its metadata when it was opened.
    deleted: Option<(PathBuf, Metadata)>,
}

impl FinishedOutput {
    /// Completes the output made from `input`, whose path is `source`, or `None` if it is standard
    /// input. The output gets the times, owner and mode of a source that is a regular file, and
    /// `modified`, if it is given, as its time of modification. With `deletes` such a source is
    /// deleted after the commit if the output is a regular file, too.
    pub(crate) fn new(
        mut output: Output,
        source: Option<&Path>,
        input: &Opened,
        modified: Option<SystemTime>,
        deletes: bool,
    ) -> Result<FinishedOutput, CliError> {
        let source = source.zip(input.meta.as_ref());
        let deleted = source.filter(|_| deletes && output.is_new_file());
        let deleted = deleted.map(|(path, meta)| (path.to_owned(), meta.clone()));
        output.take_over(source.map(|(_, meta)| meta), modified, deleted.is_some())?;
        Ok(FinishedOutput { output, deleted })
    }

    /// Completes an output that already has its attributes, or takes over none, and whose source is
    /// kept.
    pub(crate) fn without_source(output: Output) -> FinishedOutput {
        FinishedOutput { output, deleted: None }
    }
}

/// Result of a commit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Committed {
    /// The file written, if any.
    pub(crate) output: Option<PathBuf>,
    /// Why a source that should have been deleted was kept.
    pub(crate) warning: Option<String>,
}

/// Commits outputs together, then deletes their sources that are to be deleted. Returns a result
/// for each output, in order. The source of an output that could not be committed is kept, and so
/// is a source that changed while it was read.
fn commit_outputs(all: Vec<FinishedOutput>) -> Vec<Result<Committed, CliError>> {
    let (outputs, deleted): (Vec<_>, Vec<_>) = all.into_iter().map(|f| (f.output, f.deleted)).unzip();
    let results = output::commit_all(outputs).into_iter().zip(deleted);
    let committed = results.map(|(output, deleted)| {
        let mut committed = Committed { output: output?, warning: None };
        if let Some((path, meta)) = deleted {
            if is_still(&path, &meta) {
                fs::remove_file(path).map_err(CliError::io("cannot delete the source"))?;
            } else {
                committed.warning = Some("the source is kept: it changed while it was read".into());
            }
        }
        Ok(committed)
    });
    committed.collect()
}

/// Whether the path still names the file that was read, with the size and time of modification that
/// it had. On other systems than Unix these alone are compared.
fn is_still(path: &Path, read: &Metadata) -> bool {
    fs::metadata(path).is_ok_and(|now| {
        now.len() == read.len() && now.modified().ok() == read.modified().ok() && is_same_file(&now, read)
    })
}

/// Result of processing an operand, whose output is not committed yet: `Ok(None)` if the operand
/// was skipped silently.
pub(crate) struct Work<D> {
    pub(crate) name: String,
    pub(crate) result: Result<Option<(D, FinishedOutput)>, CliError>,
}

/// Total size of the sources to delete, in bytes, from which a batch of outputs is committed.
/// Committing syncs the outputs to the disk, which is faster for many together.
const BATCH_BYTES: u64 = 64 << 20;

/// Maximum number of results in a batch. The limit of open files bounds it, since each output takes
/// a descriptor, and its folder another.
fn batch_files() -> usize {
    linerate_io::Folder::max_open_folders().min(512)
}

/// Processes operands on up to `threads` threads and commits their outputs, those whose sources are
/// deleted many at a time. Calls `report` on the calling thread with the name and the result of
/// each operand, in their order, after the commit.
pub(crate) fn each<O: Send, D: Send>(
    threads: usize,
    operands: impl Iterator<Item = O>,
    process: impl Fn(O) -> Work<D> + Sync,
    mut report: impl FnMut(String, Result<Option<(D, Committed)>, CliError>),
) {
    // For each thread up to two results are in flight: one that is being made, with its input and
    // output open, and one that waits to be reported, with its output open. Each output also has
    // its folder open.
    let threads = threads.min(batch_files().div_ceil(4));
    let mut operands = operands.fuse();
    let mut batch = Batch { works: Vec::new(), bytes: 0 };
    let end: Result<(), std::convert::Infallible> = ordered(
        (threads, threads + 1),
        || Ok(operands.next()),
        || &process,
        |work| {
            batch.add(work);
            if batch.is_ready() {
                batch.finish(&mut report);
            }
            Ok(())
        },
    );
    let Ok(()) = end;
    batch.finish(&mut report);
}

/// Results whose outputs are not committed yet, in order.
struct Batch<D> {
    works: Vec<Work<D>>,
    /// Total size of the sources to delete, in bytes.
    bytes: u64,
}

impl<D> Batch<D> {
    fn add(&mut self, work: Work<D>) {
        if let Ok(Some((_, FinishedOutput { deleted: Some((_, meta)), .. }))) = &work.result {
            self.bytes += meta.len();
        }
        self.works.push(work);
    }

    /// Whether to commit now: because no source is to be deleted, so that there is no reason to
    /// wait, or because the batch is full.
    fn is_ready(&self) -> bool {
        let deletes = |work: &Work<D>| matches!(&work.result, Ok(Some((_, f))) if f.deleted.is_some());
        self.works.len() >= batch_files() || self.bytes >= BATCH_BYTES || !self.works.iter().any(deletes)
    }

    /// Commits all outputs of the batch, reports the results, and leaves the batch empty.
    fn finish(&mut self, report: &mut impl FnMut(String, Result<Option<(D, Committed)>, CliError>)) {
        self.bytes = 0;
        let mut outputs = Vec::new();
        let mut rest = Vec::new();
        for work in self.works.drain(..) {
            rest.push((
                work.name,
                work.result.map(|made| {
                    made.map(|(done, finished)| {
                        outputs.push(finished);
                        done
                    })
                }),
            ));
        }
        let mut committed = commit_outputs(outputs).into_iter();
        for (name, result) in rest {
            report(
                name,
                result.and_then(|done| {
                    let Some(done) = done else { return Ok(None) };
                    let committed = committed.next().unwrap_or_else(|| Ok(Committed::default()))?;
                    Ok(Some((done, committed)))
                }),
            );
        }
    }
}

/// The number of hard links to a file; 1 where the system does not tell it.
#[cfg(unix)]
fn links(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(meta)
}

#[cfg(not(unix))]
fn links(_: &Metadata) -> u64 {
    1
}

#[cfg(unix)]
fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::fs::FileTimes;
    use std::io::Write;

    use super::*;

    /// Reads `source`, calls `meanwhile` on it, commits the output and deletes the source. Returns
    /// the warning, and whether the source still exists.
    fn replaced(meanwhile: impl FnOnce(&Path)) -> (Option<String>, bool) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let source = folder.path().join("source");
        fs::write(&source, "old content").expect("a file");
        let input = Opened::open(&source, None, "").expect("the file opens");
        let mut output = Output::at(&folder.path().join("target"), false).expect("an output");
        output.write_all(b"what was read").expect("it is written");
        meanwhile(&source);
        let finished =
            FinishedOutput::new(output, Some(&source), &input, None, true).expect("it is complete");
        let committed = commit_outputs(vec![finished]).remove(0).expect("the output is in place");
        assert!(committed.output.is_some_and(|target| target.exists()));
        // On Windows a deleted file may exist until it is closed.
        drop(input);
        (committed.warning, source.exists())
    }

    fn set_time(path: &Path, time: SystemTime) {
        let file = File::options().write(true).open(path).expect("the file opens");
        file.set_times(FileTimes::new().set_modified(time)).expect("its time is set");
    }

    #[test]
    fn a_source_that_did_not_change_is_deleted() {
        assert_eq!(replaced(|_| {}), (None, false));
    }

    #[test]
    fn a_source_that_changed_while_it_was_read_is_kept() {
        let kept = || (Some("the source is kept: it changed while it was read".to_owned()), true);
        let append = |source: &Path| {
            let time = fs::metadata(source).and_then(|meta| meta.modified()).expect("a time");
            let mut file = File::options().append(true).open(source).expect("the file opens");
            file.write_all(b" and more").expect("it is written");
            set_time(source, time);
        };
        assert_eq!(replaced(append), kept(), "longer, of the same time");
        let touch = |source: &Path| set_time(source, SystemTime::UNIX_EPOCH);
        assert_eq!(replaced(touch), kept(), "of another time");
    }

    /// Processes ten files, named 0 to 9, of which 5 is skipped. Returns what happened, in order,
    /// with `w` for the work on a file and `r` for a report, and the names in the order of the
    /// reports.
    fn events(deletes: bool) -> (String, Vec<String>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (events, mut reports) = (std::sync::Mutex::new(String::new()), Vec::new());
        let log = |event| events.lock().expect("nobody panics").push(event);
        let operands = (0..10).map(|i| folder.path().join(i.to_string()));
        let process = |path: PathBuf| {
            fs::write(&path, "content").expect("a file");
            log('w');
            let input = Opened::open(&path, None, "").expect("the file opens");
            let output = Output::at(&path.with_extension("out"), false).expect("an output");
            let finished = FinishedOutput::new(output, Some(&path), &input, None, deletes);
            let is_fifth = path.ends_with("5");
            let result = if is_fifth {
                Err(CliError::Skipped("fifth".into()))
            } else {
                finished.map(|f| Some(((), f)))
            };
            Work { name: path.file_name().unwrap_or_default().display().to_string(), result }
        };
        each(1, operands, process, |name, result| {
            log('r');
            let is_there = folder.path().join(&name).with_extension("out").exists();
            assert_eq!((result.is_ok(), is_there), (name != "5", name != "5"), "{name}");
            assert_eq!(folder.path().join(&name).exists(), !deletes || name == "5");
            reports.push(name);
        });
        (events.into_inner().expect("nobody panics"), reports)
    }

    #[test]
    fn outputs_are_committed_together_if_their_sources_are_deleted() {
        let order: Vec<String> = (0..10).map(|i| i.to_string()).collect();
        assert_eq!(events(true), ("wwwwwwwwwwrrrrrrrrrr".into(), order.clone()));
        assert_eq!(events(false), ("wr".repeat(10), order));
    }

    #[cfg(unix)]
    #[test]
    fn another_file_under_the_name_of_the_source_is_kept() {
        let replace = |source: &Path| {
            let time = fs::metadata(source).and_then(|meta| meta.modified()).expect("a time");
            fs::rename(source, source.with_extension("away")).expect("it is renamed");
            fs::write(source, "new content").expect("a file");
            set_time(source, time);
        };
        let kept = "the source is kept: it changed while it was read";
        assert_eq!(replaced(replace), (Some(kept.to_owned()), true));
    }
}
