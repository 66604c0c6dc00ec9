//! A disk that is full: a file system of 1 MiB.

use std::collections::BTreeMap;
use std::path::Path;

use super::tree::{files, files_below, plant};
use linerate_testkit::disk::{Disk, assert_full};
use linerate_testkit::program::Run;

fn run(disk: &Disk, args: &[&str]) -> Run {
    disk.run(1 << 20, &[&["nx"], args].concat())
}

/// Packs more data than the disk holds into the archive `a.nx`, which is not on the disk.
fn archive(disk: &Disk) {
    plant(&disk.folder, "in");
    disk.folder.nx(&["pack", "--solidlevel=1", "--chunkedlevel=1", "in", "-o", "a.nx"]).ok();
}

const STORED: [&str; 2] = ["--solid-algorithm=copy", "--chunked-algorithm=copy"];

#[test]
fn extraction_larger_than_the_free_space_writes_nothing() {
    let Some(disk) = Disk::new() else { return };
    archive(&disk);
    let run = run(&disk, &["extract", "a.nx", "-o", "disk/out"]);
    assert_full(&run);
    assert!(run.stderr.lines().count() == 1 && run.stderr.contains("bytes are needed"), "{}", run.stderr);
    assert!(disk.after().is_empty());
}

#[test]
fn extraction_that_fills_the_disk_leaves_only_complete_files() {
    let Some(disk) = Disk::new() else { return };
    archive(&disk);
    for threads in ["-p1", "-p2", "-p4"] {
        // With -f, extraction does not compare the needed with the free space first.
        let run = run(&disk, &["extract", "-f", threads, "a.nx", "-o", "disk"]);
        assert_full(&run);
        let (files, after) = (files(), disk.after());
        assert!(after.len() < files.len());
        for (path, bytes) in after {
            assert!(files.get(&path) == Some(&bytes), "{path}");
        }
        disk.clear();
    }
}

#[test]
fn pack_that_fills_the_disk_leaves_the_old_archive() {
    let Some(disk) = Disk::new() else { return };
    let sources = plant(&disk.folder, "in");
    let pack =
        |more: &[&str]| run(&disk, &[&["pack"], &STORED[..], more, &["in", "-o", "disk/a.nx"]].concat());
    assert_full(&pack(&[]));
    assert!(disk.after().is_empty());
    disk.folder.write("before/a.nx", b"before");
    assert_full(&pack(&["-f"]));
    assert_eq!(disk.after(), BTreeMap::from([("a.nx".to_owned(), b"before".to_vec())]));
    assert!(files_below(Path::new(&disk.folder.path("in"))) == sources);
}

#[test]
fn repack_that_fills_the_disk_leaves_the_old_archive() {
    let Some(disk) = Disk::new() else { return };
    // The archive is small while its content is compressed, and too large for the disk if it is
    // stored.
    disk.folder.write("in/zeros", &vec![0; 3 << 20]);
    disk.folder.nx(&["pack", "in", "-o", "a.nx"]).ok();
    let archive = disk.folder.read("a.nx");
    assert!(archive.len() < 1 << 20);
    disk.folder.write("before/a.nx", &archive);
    assert_full(&run(&disk, &[&["repack"], &STORED[..], &["disk/a.nx"]].concat()));
    assert!(disk.after() == BTreeMap::from([("a.nx".to_owned(), archive)]));
}
