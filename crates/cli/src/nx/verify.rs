//! `linerate nx verify`: every file of an archive against its hash, or a folder against an archive.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use linerate_nx::metadata::{Difference, Metadata};
use linerate_nx::{Kind, Note, Verifier};

use super::args::VerifyArgs;
use super::extract::entry_failure;
use super::metadata;
use super::open::{Opened, damage, entry_at, open};
use crate::account::Account;
use crate::done::Done;
use crate::failure::Failure;

pub(crate) fn process(args: &VerifyArgs, path: &Path, account: &mut Account) -> Result<Done, Failure> {
    let mut done = Done::new(path, "verify");
    let archive = open(path, &args.limits)?;
    let name = path.display().to_string();
    match &args.against {
        Some(folder) => against(args, &archive, &name, folder, account, &mut done)?,
        None => contents(args, &archive, &name, account, &mut done)?,
    }
    Ok(done)
}

fn contents(
    args: &VerifyArgs,
    archive: &Opened,
    name: &str,
    account: &mut Account,
    done: &mut Done,
) -> Result<(), Failure> {
    let total = archive.files().fold(0u64, |sum, file| sum.saturating_add(file.size()));
    let bar = Mutex::new(account.progress(name, Some(total)));
    let verified = Verifier::new(archive)
        .threads(args.threads.threads)
        .on_progress(|progress| {
            bar.lock().unwrap_or_else(PoisonError::into_inner).update(progress.bytes);
            true
        })
        .run()
        .map_err(damage);
    drop(bar);
    let verified = verified?;
    let metadata = Metadata::from_archive(archive);
    // What stands there is known, or told as damage.
    let is_known = |note: &&Note| matches!(note, Note::SpareInHeader) && !matches!(metadata, Ok(None));
    let notes: Vec<String> =
        verified.notes.iter().filter(|note| !is_known(note)).map(Note::to_string).collect();
    notes.iter().for_each(|note| account.note(name, note));
    let unchecked = if archive.has_hashes() { 0 } else { verified.files };
    if unchecked > 0 {
        account.warned();
    }
    let failed = verified.failures.len() + usize::from(metadata.is_err());
    if let Err(error) = metadata {
        account.entry_failed(name, "(metadata)", damage(error));
    }
    for failure in verified.failures {
        let at = entry_at(archive, &failure.path);
        account.entry_failed(name, &failure.path, entry_failure(failure.source, at));
    }
    done.bytes = verified.bytes;
    done.words = Some(match failed {
        0 if unchecked > 0 => format!("{unchecked} files decode; they have no hashes to be checked against"),
        0 => format!("OK, {} files", verified.files),
        _ => format!("{} files are right, {failed} failed", verified.files),
    });
    done.set("files", verified.files);
    done.set("bytes", verified.bytes);
    done.set("failed", failed);
    done.set("unchecked", unchecked);
    done.set("notes", notes);
    if failed > 0 {
        done.set("status", "failed");
    }
    Ok(())
}

fn against(
    args: &VerifyArgs,
    archive: &Opened,
    name: &str,
    folder: &Path,
    account: &mut Account,
    done: &mut Done,
) -> Result<(), Failure> {
    let metadata = (!args.no_metadata).then(|| metadata::told(archive, name, account)).flatten();
    let mut verifier = Verifier::new(archive).threads(args.threads.threads);
    if let Some(metadata) = &metadata {
        verifier = verifier.metadata(metadata);
    }
    let compared = verifier.compare(folder).map_err(Failure::doing_to("cannot read", folder))?;
    let shown = folder.display();
    let differs = |path: &String, what: String| {
        (path.clone(), Failure::data(Kind::Corrupt, entry_at(archive, path), what))
    };
    let missing = compared.missing.iter().map(|path| differs(path, format!("it is not in {shown}")));
    let different = compared.different.iter().map(|path| differs(path, format!("it is another in {shown}")));
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
    let mut found: Vec<(String, Failure)> =
        missing.chain(different).chain(unexpected).chain(changes).collect();
    for failure in compared.failures {
        let at = entry_at(archive, &failure.path);
        found.push((failure.path, entry_failure(failure.source, at)));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    done.words = Some(match found.len() {
        0 => format!("OK, {} files are those of {shown}", compared.same),
        n => format!("{} files are those of {shown}, {n} differences", compared.same),
    });
    done.set("against", shown.to_string());
    done.set("same", compared.same);
    done.set("missing", compared.missing);
    done.set("different", compared.different);
    done.set("unexpected", compared.unexpected);
    done.set("changes", compared.changes.iter().map(metadata::record).collect::<Vec<_>>());
    if !found.is_empty() {
        done.set("status", "failed");
    }
    for (path, failure) in found {
        account.entry_failed(name, &path, failure);
    }
    Ok(())
}
