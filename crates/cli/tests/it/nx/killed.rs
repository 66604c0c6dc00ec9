//! Killing `pack`, `repack` and `extract` at random moments leaves no incomplete file under a final
//! name.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::tree::{files_below, plant};
#[cfg(unix)]
use linerate_testkit::kill::terminate;
use linerate_testkit::kill::{self, moments};
use linerate_testkit::program::Folder;

const MOMENTS: u32 = 25;

fn killed(folder: &Folder, args: &[&str], after: Duration) -> bool {
    kill::killed(folder.command(&["nx"]).args(args), after)
}

fn time_of(folder: &Folder, args: &[&str]) -> Duration {
    let begun = Instant::now();
    folder.nx(args).ok();
    begun.elapsed()
}

#[test]
fn killed_pack_leaves_the_old_archive() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    let args =
        ["pack", "-f", "-p2", "--filters=auto", "--solidlevel=6", "--chunkedlevel=6", "in", "-o", "out/a.nx"];
    folder.write("out/a.nx", b"before");
    let whole_run = time_of(&folder, &args);
    let whole = folder.read("out/a.nx");
    let mut kills = 0;
    for moment in moments(MOMENTS, whole_run) {
        fs::remove_dir_all(folder.path("out")).unwrap();
        folder.write("out/a.nx", b"before");
        let was_killed = killed(&folder, &args, moment);
        let found = folder.read("out/a.nx");
        assert!(found == b"before" || found == whole, "{} bytes after {moment:?}", found.len());
        kills += u32::from(was_killed);
    }
    assert!(kills > 0, "none was killed in time");
    assert!(files_below(&folder.path("in")) == files, "the sources are as they were");
}

#[test]
fn killed_repack_leaves_the_old_or_the_new_archive() {
    let folder = Folder::new();
    plant(&folder, "in");
    fs::create_dir(folder.path("out")).unwrap();
    folder.nx(&["pack", "--solidlevel=1", "--chunkedlevel=1", "in", "-o", "out/a.nx"]).ok();
    let old = folder.read("out/a.nx");
    let args = ["repack", "-p2", "--filters=auto", "--solidlevel=6", "--chunkedlevel=6", "out/a.nx"];
    let whole_run = time_of(&folder, &args);
    let new = folder.read("out/a.nx");
    assert!(old != new);
    let mut kills = 0;
    for moment in moments(MOMENTS, whole_run) {
        fs::remove_dir_all(folder.path("out")).unwrap();
        folder.write("out/a.nx", &old);
        kills += u32::from(killed(&folder, &args, moment));
        let found = folder.read("out/a.nx");
        assert!(found == old || found == new, "{} bytes after {moment:?}", found.len());
    }
    assert!(kills > 0, "none was killed in time");
}

#[test]
fn killed_extract_leaves_only_complete_files() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    let pack = ["pack", "--filters=auto", "--solidlevel=1", "--chunkedlevel=1", "--chunksize=64K"];
    folder.nx(&[&pack[..], &["in", "-o", "a.nx"]].concat()).ok();
    let archive = folder.read("a.nx");
    assert_eq!(archive[7] >> 1, 65, "some of its blocks are filtered");
    let args = ["extract", "-f", "-p2", "a.nx", "-o", "out"];
    let whole_run = time_of(&folder, &args);
    assert!(files_below(&folder.path("out")) == files);
    let (mut kills, mut partial) = (0, 0);
    for moment in moments(MOMENTS, whole_run) {
        fs::remove_dir_all(folder.path("out")).unwrap();
        fs::create_dir(folder.path("out")).unwrap();
        let was_killed = killed(&folder, &args, moment);
        let found = files_below(&folder.path("out"));
        for (path, bytes) in &found {
            let name = path.rsplit('/').next().unwrap_or(path);
            let is_temporary = linerate_io::is_temporary_name(name);
            assert!(is_temporary || files.get(path) == Some(bytes), "{path} after {moment:?}");
        }
        kills += u32::from(was_killed);
        partial += u32::from(!found.is_empty() && found != files);
    }
    assert!(kills > 0, "none was killed in time");
    println!("{kills} killed, {partial} of them with files there");
    assert!(folder.read("a.nx") == archive);
    folder.nx(&args).ok();
    let found = files_below(&folder.path("out"));
    assert!(files.iter().all(|(path, bytes)| found.get(path) == Some(bytes)), "it can be done again");
}

#[cfg(unix)]
#[test]
fn interrupted_pack_leaves_the_old_archive() {
    use std::os::unix::process::ExitStatusExt;

    let folder = Folder::new();
    plant(&folder, "in");
    let args = ["pack", "-f", "-p2", "--solidlevel=12", "--chunkedlevel=12", "in", "-o", "out/a.nx"];
    folder.write("out/a.nx", b"before");
    let whole_run = time_of(&folder, &args);
    let whole = folder.read("out/a.nx");
    let mut interrupted = 0;
    for moment in 0..8 {
        folder.write("out/a.nx", b"before");
        let mut command = folder.command(&["nx"]);
        let command = command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        thread::sleep(whole_run * moment / 8);
        terminate(&child);
        let status = child.wait().expect("it ends");
        assert!(status.success() || status.signal() == Some(15), "{status}");
        let found = folder.read("out/a.nx");
        assert!(found == whole || found == b"before", "{} bytes", found.len());
        assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 1, "nothing is left over");
        interrupted += u32::from(!status.success());
    }
    assert!(interrupted > 0, "none was interrupted in time");
}

#[test]
fn next_extract_removes_temporary_files_of_a_killed_one() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    folder.nx(&["pack", "--solidlevel=1", "--chunkedlevel=1", "--chunksize=4K", "in", "-o", "a.nx"]).ok();
    let args = ["extract", "-f", "-p2", "a.nx", "-o", "out"];
    let whole_run = time_of(&folder, &args);
    let mut left = 0;
    for moment in moments(MOMENTS, whole_run) {
        killed(&folder, &args, moment);
        let found = files_below(&folder.path("out"));
        left += found.keys().filter(|path| !files.contains_key(*path)).count();
    }
    println!("{left} files left by kills");
    let _alive = folder.write(&format!("out/text/{}", linerate_io::temporary_name()), b"of a living process");
    folder.nx(&args).ok();
    let mut found = files_below(&folder.path("out"));
    found.retain(|path, _| !files.contains_key(path));
    let others: Vec<&Vec<u8>> = found.values().collect();
    assert_eq!(others, [b"of a living process"], "{:?}", found.keys());
}

#[test]
fn clean_and_the_next_run_remove_the_folder_of_a_killed_bench() {
    let folder = Folder::new();
    plant(&folder, "in");
    folder.nx(&["pack", "--solidlevel=1", "--chunkedlevel=1", "in", "-o", "a.nx"]).ok();
    fs::create_dir(folder.path("out")).unwrap();
    let left = || -> Vec<String> { files_below(&folder.path("out")).into_keys().collect() };
    let kill = || {
        // A run may remove its folder between the look at it and the kill.
        for _ in 0..100 {
            let args = ["nx", "bench", "-p1", "--attempts=100", "--to-files", "out", "a.nx"];
            let mut command = folder.command(&args);
            let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().expect("the program starts");
            while left().is_empty() && child.try_wait().expect("it was started").is_none() {
                thread::sleep(Duration::from_millis(1));
            }
            let _ = child.kill();
            child.wait().expect("it ends");
            if !left().is_empty() {
                return;
            }
        }
        panic!("no run was killed while its folder was there");
    };
    kill();
    let removed = linerate_testkit::program::Run::of(&mut folder.command(&["clean", "--json", "."]), b"");
    let removed = removed.ok().object()["removed"].as_array().expect("paths").len();
    assert_eq!((removed, left()), (1, Vec::new()));
    assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 0);
    kill();
    folder.nx(&["bench", "-p1", "--attempts=1", "--to-files", "out", "a.nx"]).ok();
    assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn interrupted_extract_removes_temporary_files() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    folder.nx(&["pack", "--solidlevel=1", "--chunkedlevel=1", "--chunksize=4K", "in", "-o", "a.nx"]).ok();
    let args = ["extract", "-f", "-p2", "a.nx", "-o", "out"];
    let whole_run = time_of(&folder, &args);
    let mut interrupted = 0;
    for moment in 0..8 {
        fs::remove_dir_all(folder.path("out")).unwrap();
        fs::create_dir(folder.path("out")).unwrap();
        let mut command = folder.command(&["nx"]);
        let command = command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        thread::sleep(whole_run * (moment + 1) / 10);
        terminate(&child);
        let status = child.wait().expect("it ends");
        interrupted += u32::from(!status.success());
        for (path, bytes) in files_below(&folder.path("out")) {
            assert_eq!(files.get(&path), Some(&bytes), "{path}");
        }
    }
    assert!(interrupted > 0, "none was interrupted in time");
}
