//! A disk that is really full: a file system of a mebibyte, mounted for one run of the program alone.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::data::FAILED;
use crate::tree::{files, files_below, plant};
use linerate_testkit::program::{Folder, Run};

/// Mounts the file system at `$1`, copies what is in `$2` to it, runs the rest, and copies what is
/// there then to `$3`.
const SCRIPT: &str = r#"
    mount -t tmpfs -o size=1m none "$1" && cp -R "$2/." "$1" || exit 99
    disk=$1 after=$3
    shift 3
    "$@"
    code=$?
    cp -R "$disk/." "$after"
    exit $code
"#;

/// How a process comes by a mount of its own: as root, or as an ordinary user where that is allowed.
fn mounter() -> Option<&'static [&'static str]> {
    const WAYS: [&[&str]; 2] = [&["--mount"], &["--mount", "--map-root-user"]];
    let folder = Folder::new();
    WAYS.into_iter().find(|way| {
        let mut command = Command::new("unshare");
        let command = command.args(*way).args(["mount", "-t", "tmpfs", "none"]).arg(folder.path("."));
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    })
}

/// A folder with `before/`, which is on the disk when the program starts, `disk/`, where the disk is,
/// and `after/`, what is there in the end.
struct Disk {
    folder: Folder,
    way: &'static [&'static str],
}

impl Disk {
    fn new() -> Option<Disk> {
        let Some(way) = mounter() else {
            // Not `println`, which the test runner swallows.
            let _ = writeln!(io::stderr(), "SKIP: no small file system can be mounted here");
            return None;
        };
        let folder = Folder::new();
        for name in ["before", "disk", "after"] {
            std::fs::create_dir(folder.path(name)).unwrap();
        }
        Some(Disk { folder, way })
    }

    fn run(&self, args: &[&str]) -> Run {
        let program = self.folder.command(&[]);
        let paths = ["disk", "before", "after"].map(|name| self.folder.path(name));
        let mut command = Command::new("unshare");
        command.args(self.way).args(["sh", "-c", SCRIPT, "sh"]).args(paths);
        command.arg(program.get_program()).arg("nx").args(args);
        Run::of(command.current_dir(self.folder.path(".")), b"")
    }

    fn after(&self) -> BTreeMap<String, Vec<u8>> {
        files_below(&self.folder.path("after"))
    }

    /// An archive of more than the disk holds, which is not on it.
    fn archive(&self) {
        plant(&self.folder, "in");
        self.folder.nx(&["pack", "--solidlevel=1", "--chunkedlevel=1", "in", "-o", "a.nx"]).ok();
    }
}

#[track_caller]
fn assert_told(run: &Run) {
    assert_eq!(run.status, Some(FAILED), "{}", run.stderr);
    assert!(run.stderr.lines().any(|line| line.contains("the disk is full")), "{}", run.stderr);
}

const STORED: [&str; 2] = ["--solid-algorithm=copy", "--chunked-algorithm=copy"];

#[test]
fn extraction_larger_than_the_free_space_writes_nothing() {
    let Some(disk) = Disk::new() else { return };
    disk.archive();
    let run = disk.run(&["extract", "a.nx", "-o", "disk/out"]);
    assert_told(&run);
    assert!(run.stderr.lines().count() == 1 && run.stderr.contains("bytes are needed"), "{}", run.stderr);
    assert!(disk.after().is_empty());
}

#[test]
fn extraction_that_fills_the_disk_leaves_only_complete_files() {
    let Some(disk) = Disk::new() else { return };
    disk.archive();
    for threads in ["-p1", "-p2", "-p4"] {
        // What replaces files does not ask for room.
        let run = disk.run(&["extract", "-f", threads, "a.nx", "-o", "disk"]);
        assert_told(&run);
        let (files, after) = (files(), disk.after());
        assert!(after.len() < files.len());
        for (path, bytes) in after {
            assert!(files.get(&path) == Some(&bytes), "{path}");
        }
        std::fs::remove_dir_all(disk.folder.path("after")).unwrap();
        std::fs::create_dir(disk.folder.path("after")).unwrap();
    }
}

#[test]
fn pack_that_fills_the_disk_leaves_the_old_archive() {
    let Some(disk) = Disk::new() else { return };
    let sources = plant(&disk.folder, "in");
    let pack = |more: &[&str]| disk.run(&[&["pack"], &STORED[..], more, &["in", "-o", "disk/a.nx"]].concat());
    assert_told(&pack(&[]));
    assert!(disk.after().is_empty());
    disk.folder.write("before/a.nx", b"before");
    assert_told(&pack(&["-f"]));
    assert_eq!(disk.after(), BTreeMap::from([("a.nx".to_owned(), b"before".to_vec())]));
    assert!(files_below(Path::new(&disk.folder.path("in"))) == sources);
}

#[test]
fn repack_that_fills_the_disk_leaves_the_old_archive() {
    let Some(disk) = Disk::new() else { return };
    // What is small now, and will not be.
    disk.folder.write("in/zeros", &vec![0; 3 << 20]);
    disk.folder.nx(&["pack", "in", "-o", "a.nx"]).ok();
    let archive = disk.folder.read("a.nx");
    assert!(archive.len() < 1 << 20);
    disk.folder.write("before/a.nx", &archive);
    assert_told(&disk.run(&[&["repack"], &STORED[..], &["disk/a.nx"]].concat()));
    assert!(disk.after() == BTreeMap::from([("a.nx".to_owned(), archive)]));
}
