//! Clocks, the median and files of folders, for the examples that measure.
#![allow(dead_code, reason = "each example uses some of these")]

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of this thread.
pub(crate) fn thread_time() -> Duration {
    time(ClockId::ThreadCPUTime)
}

/// CPU time of all threads of this process.
pub(crate) fn process_time() -> Duration {
    time(ClockId::ProcessCPUTime)
}

fn time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The value in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// All files below these folders, sorted by path.
pub(crate) fn files_below(folders: impl Iterator<Item = String>) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in folders {
        find_files(Path::new(&folder), &mut files)?;
    }
    files.sort();
    Ok(files)
}

fn find_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { find_files(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
