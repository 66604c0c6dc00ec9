//! `linerate nx mount`: the folder shows the files of the archive, until a signal ends the mount.
//!
//! Tests of `linerate-nx` check the file system itself, without mounting. These tests need
//! `/dev/fuse` and the right to mount.

use std::fs;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use linerate_testkit::kill::terminate;
use linerate_testkit::program::Folder;

use super::data::USAGE;
use super::tree::{files_below, plant};

/// Mounts `a.nx` on `mnt`, and returns when it is mounted. Returns `None` if the system does not
/// permit mounting.
fn mount(folder: &Folder, args: &[&str]) -> Option<Child> {
    fs::create_dir_all(folder.path("mnt")).unwrap();
    let mut command = folder.command(&["nx", "mount", "a.nx", "mnt"]);
    let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if line.trim() == "mounted on mnt" {
        return Some(child);
    }
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert!(error.contains("cannot mount on mnt"), "{line}{error}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    // This is no failure with STRICT=1, either, since no package enables it on a system that
    // forbids it.
    let _ = writeln!(std::io::stderr(), "note: nothing can be mounted here: {}", error.trim());
    None
}

/// Waits until the program ends by itself, and returns its exit status. After half a minute, kills
/// it and panics.
fn status(mut child: Child) -> Option<i32> {
    for _ in 0..600 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("the signal did not end it");
}

#[test]
fn mounted_folder_has_the_files_of_the_archive_and_a_signal_unmounts_it() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    folder.nx(&["pack", "--solidlevel=1", "--chunkedlevel=1", "in", "-o", "a.nx"]).ok();
    for args in [&["-p1"][..], &["-p3", "--cache=0"]] {
        let Some(child) = mount(&folder, args) else { return };
        assert!(files_below(&folder.path("mnt")) == files, "{args:?}");
        let refused = fs::write(folder.path("mnt").join("new"), b"x").unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(rustix::io::Errno::ROFS.raw_os_error()));
        assert!(fs::metadata(folder.path("mnt").join("no such file")).is_err());
        terminate(&child);
        assert_eq!(status(child), Some(0), "{args:?}");
        assert_eq!(fs::read_dir(folder.path("mnt")).unwrap().count(), 0, "{args:?}");
    }
}

#[test]
fn metadata_of_the_archive_is_that_of_the_files() {
    let folder = Folder::new();
    folder.write("in/a", b"some text");
    fs::set_permissions(folder.path("in/a"), fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("a", folder.path("in/link")).unwrap();
    fs::create_dir(folder.path("in/empty")).unwrap();
    folder.nx(&["pack", "--metadata", "in", "-o", "a.nx"]).ok();
    let Some(child) = mount(&folder, &[]) else { return };
    let (packed, mounted) = (folder.path("in/a"), folder.path("mnt/a"));
    let (packed, mounted) = (fs::metadata(packed).unwrap(), fs::metadata(mounted).unwrap());
    assert_eq!(
        (mounted.mode(), mounted.mtime(), mounted.mtime_nsec()),
        (packed.mode(), packed.mtime(), packed.mtime_nsec())
    );
    assert_eq!(fs::read_link(folder.path("mnt/link")).unwrap().to_str(), Some("a"));
    assert_eq!(fs::read(folder.path("mnt/link")).unwrap(), b"some text");
    assert!(folder.path("mnt/empty").is_dir());
    terminate(&child);
    assert_eq!(status(child), Some(0));
}

#[test]
fn open_file_does_not_keep_the_mount_from_ending() {
    let folder = Folder::new();
    folder.write("in/a", &vec![7; 3 << 20]);
    folder.nx(&["pack", "in", "-o", "a.nx"]).ok();
    let Some(child) = mount(&folder, &[]) else { return };
    let mut open = fs::File::open(folder.path("mnt/a")).unwrap();
    open.seek(SeekFrom::Start(2 << 20)).unwrap();
    let mut byte = [0];
    open.read_exact(&mut byte).unwrap();
    assert_eq!(byte, [7]);
    terminate(&child);
    assert_eq!(status(child), Some(0));
    assert_eq!(fs::read_dir(folder.path("mnt")).unwrap().count(), 0);
}

#[test]
fn mount_of_a_killed_program_is_an_error_that_says_how_to_remove_it() {
    let folder = Folder::new();
    folder.write("in/a", b"some text");
    folder.nx(&["pack", "in", "-o", "a.nx"]).ok();
    let Some(mut child) = mount(&folder, &[]) else { return };
    child.kill().unwrap();
    child.wait().unwrap();
    let run = folder.nx(&["mount", "a.nx", "mnt"]);
    let removed = folder.path("mnt");
    let removed = ["umount", "fusermount3"].map(|program| {
        let arguments = if program == "umount" { &[][..] } else { &["-u"] };
        Command::new(program).args(arguments).arg(&removed).output().is_ok_and(|run| run.status.success())
    });
    assert!(removed.contains(&true));
    let remedy = "cannot mount on mnt: the program of an earlier mount was killed; `umount mnt` removes it";
    assert!(run.status == Some(1) && run.stderr.contains(remedy), "{}", run.stderr);
}

#[test]
fn mount_keeps_the_archive_that_another_replaces() {
    let folder = Folder::new();
    folder.write("in/a", &vec![7; 3 << 20]);
    folder.nx(&["pack", "in", "-o", "a.nx"]).ok();
    let Some(child) = mount(&folder, &["--cache=0"]) else { return };
    folder.write("in/a", b"another");
    folder.nx(&["update", "a.nx", "in"]).ok();
    assert!(fs::read(folder.path("mnt/a")).unwrap() == vec![7; 3 << 20]);
    terminate(&child);
    assert_eq!(status(child), Some(0));
}

#[test]
fn mounting_on_what_is_no_folder_is_an_error() {
    let folder = Folder::new();
    folder.write("in/a", b"some text");
    folder.nx(&["pack", "in", "-o", "a.nx"]).ok();
    for (target, why) in [
        ("none", "there is no such folder"),
        ("in/a", "it is not a folder"),
        ("in/a/b", "it is not a folder"),
    ] {
        // Waits for the end with a limit: if this mounted, the program would not end by itself.
        let mut child =
            folder.command(&["nx", "mount", "a.nx", target]).stderr(Stdio::piped()).spawn().unwrap();
        let mut error = String::new();
        let mut stderr = child.stderr.take().unwrap();
        assert_eq!(status(child), Some(1), "{target}");
        stderr.read_to_string(&mut error).unwrap();
        assert!(error.starts_with(&format!("linerate: a.nx: cannot mount on {target}: {why}; ")), "{error}");
    }
    assert_eq!(folder.nx(&["mount", "a.nx"]).status, Some(USAGE));
}
