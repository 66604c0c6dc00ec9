//! A small disk that can be full: a file system that is mounted only for one run of the program.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::process::{Command, Stdio};

use crate::program::{FAILED, Folder, Run, files_below};

/// A script that mounts a file system of `$1` bytes at `$2`, and copies the content of `$3` to it.
/// Then it runs the arguments after `$4` as a command, and copies the file system's content to
/// `$4`. It exits with the command's status, or with 99 if mounting or the first copy fails.
const SCRIPT: &str = r#"
    mount -t tmpfs -o "size=$1" none "$2" && cp -R "$3/." "$2" || exit 99
    disk=$2 after=$4
    shift 4
    "$@"
    code=$?
    cp -R "$disk/." "$after"
    exit $code
"#;

/// A script that mounts a file system at `$1`, copies the content of `$2` to it, makes it
/// read-only, and runs the arguments after `$2` as a command. It exits with the command's status,
/// or with 99 if anything before fails.
const READ_ONLY: &str = r#"
    mount -t tmpfs none "$1" && cp -R "$2/." "$1" && mount -o remount,ro "$1" || exit 99
    shift 2
    exec "$@"
"#;

/// The options of `unshare` that give a process its own mounts: those for root, or those for an
/// ordinary user, which some systems forbid. `None` if mounting fails with both.
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

/// A temporary folder for runs of the program on a small disk. It has `before/`, the content that
/// the disk gets before the program starts, `disk/`, where the disk is mounted, and `after/`, the
/// disk's content when the program has ended.
pub struct Disk {
    pub folder: Folder,
    way: &'static [&'static str],
}

impl Disk {
    /// Creates the folder. Returns `None`, and reports the test as skipped, if this user cannot
    /// mount file systems.
    pub fn new() -> Option<Disk> {
        let Some(way) = mounter() else {
            // The test runner would capture `println`.
            let _ = writeln!(io::stderr(), "SKIP: no small file system can be mounted here");
            return None;
        };
        let folder = Folder::new();
        ["before", "disk", "after"]
            .iter()
            .for_each(|name| fs::create_dir(folder.path(name)).expect("a folder"));
        Some(Disk { folder, way })
    }

    /// Runs the program in the folder, with `disk/` a disk of `bytes` bytes, rounded up to whole
    /// pages.
    pub fn run(&self, bytes: usize, args: &[&str]) -> Run {
        self.script(&[SCRIPT, "sh", &bytes.to_string(), "disk", "before", "after"], args)
    }

    /// Runs the program in the folder, with `disk/` a disk that cannot be written. `after/` stays
    /// as it is.
    pub fn run_read_only(&self, args: &[&str]) -> Run {
        self.script(&[READ_ONLY, "sh", "disk", "before"], args)
    }

    fn script(&self, script: &[&str], args: &[&str]) -> Run {
        let program = self.folder.command(&[]);
        let mut command = Command::new("unshare");
        command.args(self.way).args(["sh", "-c"]).args(script).arg(program.get_program()).args(args);
        Run::of(command.current_dir(self.folder.path(".")), b"")
    }

    pub fn after(&self) -> BTreeMap<String, Vec<u8>> {
        files_below(&self.folder.path("after"))
    }

    /// Empties the folders `before/` and `after/`.
    pub fn clear(&self) {
        for name in ["before", "after"] {
            fs::remove_dir_all(self.folder.path(name)).expect("a folder");
            fs::create_dir(self.folder.path(name)).expect("a folder");
        }
    }
}

/// Asserts that a run failed because the disk was full, and that its message says so.
#[track_caller]
pub fn assert_full(run: &Run) {
    assert_eq!(run.status, Some(FAILED), "{}", run.stderr);
    assert!(run.stderr.lines().any(|line| line.contains("the disk is full")), "{}", run.stderr);
}
