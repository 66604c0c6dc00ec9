//! Tests that a killed extraction leaves only complete files under their names, and incomplete
//! files only under temporary names.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use linerate_nx::{Archive, Existing, Extractor, FileSource, HashKind};
use linerate_testkit::kill::{killed, moments};

use crate::common::{Golden, goldens};

/// Environment variable with the folder of the process that is killed.
const FOLDER: &str = "LINERATE_EXTRACT_FOLDER";
const MOMENTS: u32 = 50;
/// Number of kills after which the test checks that the next extraction removes the leftover files.
const SWEPT: u32 = 5;

/// Not a test of its own: [`killed_extraction_leaves_no_incomplete_file`] runs it in another
/// process.
#[test]
fn extracts_when_asked() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    for golden in sources() {
        let archive = Archive::open(FileSource::open(&golden.path).unwrap()).unwrap();
        let target = Path::new(&folder).join(&golden.name);
        Extractor::new(&archive).threads(2).existing(Existing::Replace).to_folder(target).unwrap();
    }
}

/// Returns archives of small files in one block, and of large files in many blocks.
fn sources() -> Vec<Golden> {
    goldens().into_iter().filter(|g| ["hash-names", "dups-off", "edges-32k"].contains(&&*g.name)).collect()
}

/// Returns a command that runs this program again, on a folder.
fn run_on(folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", "extract_killed::extracts_when_asked"]);
    command.env(FOLDER, folder).stdout(Stdio::null());
    command
}

/// Returns the number of files in the folder, and checks that each is complete.
fn whole_files(folder: &Path) -> usize {
    let mut found = 0;
    for golden in sources() {
        for file in &golden.files {
            let Ok(bytes) = fs::read(folder.join(&golden.name).join(&file.path)) else { continue };
            assert_eq!(
                (bytes.len() as u64, HashKind::Xxh3.hash_bytes(&bytes)),
                (file.size, file.xxh3),
                "{}",
                file.path
            );
            found += 1;
        }
    }
    found
}

/// Returns the number of names in the folder that are not in the archives, and checks that they are
/// temporary names.
fn strange(folder: &Path) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            count += strange(&path);
        } else if path.file_name().unwrap().to_str().unwrap().starts_with(".linerate-") {
            count += 1;
        }
    }
    count
}

#[test]
fn killed_extraction_leaves_no_incomplete_file() {
    let all: usize = sources().iter().map(|golden| golden.files.len()).sum();
    let folder = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    assert!(run_on(folder.path()).status().expect("this program again").success());
    let whole_run = begun.elapsed();
    assert_eq!((whole_files(folder.path()), strange(folder.path())), (all, 0));

    let (mut unfinished, mut left) = (0, 0);
    for moment in moments(MOMENTS, whole_run) {
        let folder = tempfile::tempdir().unwrap();
        killed(&mut run_on(folder.path()), moment);
        let found = whole_files(folder.path());
        unfinished += usize::from(found < all);
        assert!(strange(folder.path()) <= 8, "at most what two threads and their large files had open");
        if strange(folder.path()) > 0 && left < SWEPT {
            left += 1;
            assert!(run_on(folder.path()).status().expect("this program again").success());
            assert_eq!(strange(folder.path()), 0, "the next extraction removes what the kill left");
        }
    }
    assert!(left > 0, "no kill left anything");
    assert!(unfinished > 0, "none was killed in time");
}
