//! The files below a folder, for `-r`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ui::error::CliError;

/// A file, or a folder that could not be read and why.
pub(crate) type Found = Result<PathBuf, (PathBuf, CliError)>;

/// Returns every regular file below `folder`. The files of each folder come sorted by name, then
/// those of its subfolders. Links are not followed, except if `folder` is one. Each folder is read
/// completely before its files are processed, so that their outputs are not found.
pub(crate) fn files_below(folder: &Path) -> impl Iterator<Item = Found> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new().into_iter();
    std::iter::from_fn(move || {
        loop {
            if let Some(file) = files.next() {
                return Some(Ok(file));
            }
            let folder = folders.pop()?;
            match entries(&folder) {
                Ok((found, subfolders)) => {
                    files = found.into_iter();
                    folders.extend(subfolders.into_iter().rev());
                }
                Err(e) => return Some(Err((folder, CliError::io("cannot read the folder")(e)))),
            }
        }
    })
}

/// The regular files and the folders in a folder, each sorted by name.
fn entries(folder: &Path) -> std::io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            folders.push(entry.path());
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    folders.sort();
    Ok((files, folders))
}
