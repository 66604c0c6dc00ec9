//! Extracts Nx archives as both original Nx programs do: creates each file at its full length, maps
//! it into memory, and decodes blocks into the map. The bench measures this beside
//! `linerate nx extract`, which writes from a buffer that stays in the CPU caches.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use linerate_candidates::timing::on_threads;
use linerate_nx::{Archive, FileSource, ReadAt, Reader};

use super::message;
use crate::kernel::map::map_for_writing;

/// Extracts all files into the folder `out` and checks their hashes. Paths are not checked, so the
/// archive must be trusted.
pub fn extract(archive: &Path, out: &Path, threads: usize) -> Result<(), String> {
    let archive = Archive::open(FileSource::open(archive).map_err(message)?).map_err(message)?;
    let folders: HashSet<&Path> =
        archive.files().filter_map(|file| Path::new(file.path()).parent()).collect();
    for folder in folders {
        fs::create_dir_all(out.join(folder)).map_err(message)?;
    }
    let units = units(&archive);
    let next = AtomicUsize::new(0);
    let work = |_| -> Result<(), String> {
        let mut reader = archive.reader().map_err(message)?;
        while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
            for &file in unit {
                one(&archive, &mut reader, file, out)?;
            }
        }
        Ok(())
    };
    on_threads(threads, &work)
}

/// The work for threads, as indices of files: each group of files that share a block, and each
/// large file alone. Units with more bytes come first.
fn units<S: ReadAt>(archive: &Archive<S>) -> Vec<Vec<usize>> {
    let mut files: Vec<_> = archive.files().collect();
    files.sort_by_key(|file| (file.entry().first_block, file.entry().block_offset));
    let shared = files.chunk_by(|a, b| !a.is_chunked() && a.blocks() == b.blocks());
    let mut units: Vec<_> = shared
        .map(|unit| {
            (unit.iter().map(|file| file.size()).sum::<u64>(), unit.iter().map(|f| f.index()).collect())
        })
        .collect();
    units.sort_by_key(|(bytes, _): &(u64, Vec<usize>)| std::cmp::Reverse(*bytes));
    units.into_iter().map(|(_, unit)| unit).collect()
}

/// Extracts one file, first under a temporary name, as `linerate nx extract` does.
fn one<S: ReadAt>(
    archive: &Archive<S>,
    reader: &mut Reader<'_, S>,
    number: usize,
    out: &Path,
) -> Result<(), String> {
    let file = archive.get(number).ok_or("no such file")?;
    let path = out.join(file.path());
    let temp = path.with_file_name(format!(".{number:x}.part"));
    let made = OpenOptions::new().read(true).write(true).create_new(true).open(&temp).map_err(message)?;
    if file.size() > 0 {
        made.set_len(file.size()).map_err(message)?;
        let mut map = map_for_writing(&made).map_err(message)?;
        reader.read_into(file, &mut map).map_err(message)?;
    }
    fs::rename(&temp, &path).map_err(message)
}
