//! The files below a folder, for `-r`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file, or a folder that could not be read.
pub(crate) type Found = Result<PathBuf, (PathBuf, Failure)>;

/// Calls `each` for every regular file below `folder`, in the order of their names. Links are not
/// followed. A folder is read before anything in it is worked on, so new files are not met.
pub(crate) fn files_below(folder: &Path, each: &mut dyn FnMut(Found)) {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        match entries(&folder) {
            Ok((files, folders)) => {
                files.into_iter().for_each(|file| each(Ok(file)));
                waiting.extend(folders.into_iter().rev());
            }
            Err(e) => each(Err((folder, Failure::doing("cannot read the folder")(e)))),
        }
    }
}

/// Regular files and folders in a folder, sorted.
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
