//! `merge`, `update`, `delete`, `repack`: archives made from archives.

use std::collections::BTreeMap;
use std::fs;

use super::data::{DAMAGED, FAILED, USAGE, golden, goldens};
use super::tree::{files_below, plant};
use linerate_testkit::nx::disorder;
use linerate_testkit::program::{Folder, Run, program};

const FAST: [&str; 2] = ["--solidlevel=2", "--chunkedlevel=2"];

fn pack(folder: &Folder, source: &str, target: &str) {
    folder.nx(&[&["pack", source, "-o", target], &FAST[..]].concat()).ok();
}

/// The files of an archive, as extraction restores them. Also verifies the archive.
fn contents(folder: &Folder, archive: &str) -> BTreeMap<String, Vec<u8>> {
    let out = format!("contents of {archive}");
    let _ = fs::remove_dir_all(folder.path(&out));
    assert_eq!(disorder(&folder.read(archive)), [""; 0], "{archive}");
    folder.nx(&["verify", "-q", archive]).ok();
    folder.nx(&["extract", archive, "-o", &out]).ok();
    files_below(&folder.path(&out))
}

#[test]
fn merging_keeps_every_file() {
    let folder = Folder::new();
    let mut files = plant(&folder, "one");
    folder.write("two/new.txt", b"new");
    folder.write("two/empty", b"");
    files.insert("new.txt".into(), b"new".to_vec());
    pack(&folder, "one", "one.nx");
    pack(&folder, "two", "two.nx");
    folder.nx(&["merge", "one.nx", "two.nx", "-o", "all.nx"]).ok();
    assert!(contents(&folder, "all.nx") == files);
    folder.nx(&["merge", "--sources", "one.nx", "two.nx", "--output", "again.nx"]).ok();
    assert!(folder.read("again.nx") == folder.read("all.nx"));
    let run = folder.nx(&["merge", "one.nx", "two.nx"]);
    run.fails(USAGE, "linerate: `merge` needs -o FILE, since it changes none of the archives");
    let run = folder.nx(&["merge", "one.nx", "absent.nx", "-o", "b.nx"]);
    run.fails(FAILED, "linerate: one.nx: absent.nx: cannot open: No such file or directory");
}

#[test]
fn on_clash_chooses_the_file_of_equal_paths() {
    let folder = Folder::new();
    folder.write("one/a", b"first");
    folder.write("two/a", b"second");
    pack(&folder, "one", "one.nx");
    pack(&folder, "two", "two.nx");
    let run = folder.nx(&["merge", "one.nx", "two.nx", "-o", "all.nx"]);
    assert_eq!(run.status, Some(FAILED));
    assert!(run.stderr.contains("one.nx: a: "), "{}", run.stderr);
    assert!(!folder.has("all.nx"));
    for (rule, expected) in [("first", b"first".to_vec()), ("last", b"second".to_vec())] {
        folder.nx(&["merge", "-f", "--on-clash", rule, "one.nx", "two.nx", "-o", "all.nx"]).ok();
        assert_eq!(contents(&folder, "all.nx")["a"], expected);
    }
}

#[test]
fn merge_names_both_archives_and_the_number_of_clashes() {
    let folder = Folder::new();
    for (archive, text) in [("one", "first"), ("two", "second")] {
        (0..3).for_each(|i| drop(folder.write(&format!("{archive}/{i}"), text.as_bytes())));
        folder.write(&format!("{archive}/same"), b"same");
        pack(&folder, archive, &format!("{archive}.nx"));
    }
    folder.write("three/other", b"");
    pack(&folder, "three", "three.nx");
    let run = folder.nx(&["merge", "three.nx", "one.nx", "two.nx", "-o", "all.nx"]);
    let line = "linerate: three.nx: 0: one.nx and two.nx have different files under this path \
                (clashes in all: 3); --on-clash chooses one";
    run.fails(FAILED, line);
}

#[test]
fn file_and_folder_of_one_path_are_not_packed_together() {
    let folder = Folder::new();
    folder.write("m1/a", b"a file");
    folder.write("m2/a/b", b"in a folder");
    let run = folder.nx(&["pack", "m1", "m2", "-o", "a.nx"]);
    assert_eq!(run.status, Some(FAILED));
    assert!(run.stderr.contains("m1: m2/a/b: a folder of the path is a file: m1/a"), "{}", run.stderr);
    let run = folder.nx(&["pack", "m2", "m1", "-o", "a.nx"]);
    assert!(run.stderr.contains("m2: m1/a: the path is a folder of other files: m2/a/b"), "{}", run.stderr);
    assert!(!folder.has("a.nx"));
    pack(&folder, "m1", "1.nx");
    pack(&folder, "m2", "2.nx");
    let run = folder.nx(&["merge", "1.nx", "2.nx", "-o", "a.nx"]);
    let line = "linerate: 1.nx: a: a file in 1.nx, but a folder of a/b in 2.nx (clashes in all: 1); \
                --on-clash chooses one";
    run.fails(FAILED, line);
    for (rule, expected) in [("first", "a"), ("last", "a/b")] {
        folder.nx(&["merge", "-f", "--on-clash", rule, "1.nx", "2.nx", "-o", "a.nx"]).ok();
        assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines(), [expected]);
    }
    // An update that makes a folder of a file, or a file of a folder, with and without metadata.
    folder.nx(&["pack", "--metadata", "m2", "-f", "-o", "2.nx"]).ok();
    for archive in ["1.nx", "2.nx"] {
        let source = if archive == "1.nx" { "m2" } else { "m1" };
        folder.nx(&["update", archive, source]).ok();
        assert!(contents(&folder, archive) == files_below(&folder.path(source)), "{archive}");
    }
    folder.nx(&["extract", "--metadata", "2.nx", "-o", "with metadata"]).ok();
    for format in [&["--format", "r3a"][..], &[]] {
        let run = folder.nx(&[&["pack", "m1", "m2", "-f", "-o", "b.nx"], format].concat());
        assert_eq!(run.status, Some(FAILED));
    }
}

#[test]
fn archive_with_a_path_that_is_file_and_folder_is_named_and_its_rest_extracted() {
    let folder = Folder::new();
    let files: [(&str, &[u8]); 4] =
        [("a", b"a file"), ("a/b", b"in a"), ("a/c/d", b"deeper"), ("e", b"else")];
    folder.write("a.nx", &super::forge::stored(&files));
    for args in [&["verify", "a.nx"][..], &["list", "a.nx"], &["list", "--json", "a.nx"]] {
        let run = folder.nx(args);
        assert_eq!(run.status, Some(DAMAGED), "{args:?}: {}", run.stderr);
        assert!(
            run.stderr.contains("a.nx: a: this path is also the folder of a/b"),
            "{args:?}: {}",
            run.stderr
        );
    }
    assert_eq!(folder.nx(&["list", "a.nx"]).lines(), ["a", "a/b", "a/c/d", "e"]);
    let run = folder.nx(&["extract", "a.nx", "-o", "out"]);
    assert_eq!(run.status, Some(DAMAGED));
    assert!(run.stderr.contains("a.nx: a: not extracted: other files"), "{}", run.stderr);
    assert_eq!(files_below(&folder.path("out")).into_keys().collect::<Vec<_>>(), ["a/b", "a/c/d", "e"]);
    folder.nx(&["extract", "a.nx", "a", "-x", "a/*", "-o", "alone"]).ok();
    folder.nx(&["delete", "a.nx", "/a", "-o", "b.nx"]).ok();
    assert_eq!(folder.nx(&["repack", "a.nx", "-o", "c.nx"]).status, Some(FAILED));
}

#[test]
fn names_that_differ_only_in_case_are_noted_when_packed() {
    let folder = Folder::new();
    folder.write("k1/a", b"a file");
    folder.write("k1/x", b"x");
    folder.write("k2/A/b", b"in a folder");
    folder.write("k2/X", b"X");
    let run = folder.nx(&["pack", "k1", "k2", "-o", "a.nx"]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(0), 2), "{}", run.stderr);
    for both in ["x, X: packed, but not portable", "a, A/b: packed, but not portable"] {
        assert!(run.stderr.contains(both), "{both}: {}", run.stderr);
    }
    let run = folder.nx(&["verify", "a.nx"]);
    assert_eq!(run.status, Some(0));
    assert!(run.stderr.contains("\"A/b\" \"a\""), "{}", run.stderr);
}

#[test]
fn merge_of_goldens_copies_blocks() {
    let folder = Folder::new();
    let (a, b) = (golden("edges-32k"), golden("many"));
    folder.nx(&["merge", a.file(), b.file(), "-o", "all.nx"]).ok();
    folder.nx(&["verify", "-q", "all.nx"]).ok();
    let mut expected = a.entries();
    expected.extend(b.entries());
    let found = folder.nx(&["list", "--json", "all.nx"]).ok().objects();
    assert_eq!(found.len(), expected.len());
    for file in found {
        let (size, hash) = &expected[file["path"].as_str().expect("a path")];
        assert_eq!((file["size"].as_u64(), file["hash"].as_str()), (Some(*size), Some(hash.as_str())));
    }
}

#[test]
fn update_adds_and_replaces_changed_files() {
    let folder = Folder::new();
    let mut files = plant(&folder, "in");
    pack(&folder, "in", "a.nx");
    folder.write("in/text/0/0.txt", b"changed");
    files.insert("text/0/0.txt".into(), b"changed".to_vec());
    folder.write("in/added", b"added");
    files.insert("added".into(), b"added".to_vec());
    fs::remove_file(folder.path("in/noise.ogg")).unwrap();
    let before = folder.read("a.nx");
    let lines = folder.nx(&["update", "--dry-run", "--mirror", "a.nx", "in"]).ok().lines();
    let same = files.len() - 3;
    let counts = format!("1 added, 1 replaced, {same} unchanged, 1 removed");
    assert_eq!(lines[..4], ["+ added", "- noise.ogg", "M text/0/0.txt", &counts]);
    let objects = folder.nx(&["update", "-n", "--json", "--mirror", "a.nx", "in"]).ok().objects();
    let paths: Vec<&str> = objects.iter().filter_map(|object| object["change"].as_str()).collect();
    assert_eq!(paths, ["added", "removed", "replaced"]);
    assert!(folder.read("a.nx") == before);
    folder.nx(&["update", "a.nx", "in"]).ok();
    assert!(contents(&folder, "a.nx") == files, "without --mirror nothing goes");
    let object =
        folder.nx(&["update", "--json", "--mirror", "a.nx", "in", "-o", "b.nx"]).ok().objects().remove(0);
    assert_eq!((object["removed"].as_u64(), object["added"].as_u64()), (Some(1), Some(0)));
    assert!(contents(&folder, "a.nx") == files, "-o leaves the archive alone");
    files.remove("noise.ogg");
    assert!(contents(&folder, "b.nx") == files);
}

#[test]
fn update_refuses_another_chunk_size_than_that_of_the_archive() {
    let folder = Folder::new();
    folder.write("in/a", b"content");
    pack(&folder, "in", "a.nx");
    let before = folder.read("a.nx");
    folder.write("in/b", b"more");
    for size in ["4M", "3000000"] {
        let line = "linerate: a.nx: --chunksize is 4194304 bytes, but `update` keeps the chunks of 1048576 \
                    bytes; `nx repack --chunksize` changes them";
        folder.nx(&["update", "--chunksize", size, "a.nx", "in"]).fails(FAILED, line);
    }
    assert!(folder.read("a.nx") == before);
    // The same size is no change, and a preset may have another one.
    for options in ["--chunksize=1M", "--chunksize=1000000", "--preset=vfs"] {
        folder.nx(&["update", "--dry-run", options, "a.nx", "in"]).ok();
    }
    let run = folder.nx(&["update", "--preset=archive", "--blocksize=2M", "a.nx", "in"]);
    run.fails(FAILED, "linerate: a.nx: the solid limit must be below the chunk size");
    folder.nx(&["repack", "--chunksize", "4M", "a.nx"]).ok();
    folder.nx(&["update", "--chunksize", "4M", "a.nx", "in"]).ok();
    let info = folder.nx(&["info", "--json", "a.nx"]).ok().object();
    assert_eq!((info["chunk"].as_u64(), info["files"].as_u64()), (Some(4 << 20), Some(2)));
}

/// All copies of a file are compared with the archive while the chunks that they share are decoded.
#[cfg(unix)]
#[test]
fn update_of_many_copies_stays_within_the_limit_of_open_files() {
    let folder = Folder::new();
    for (name, factor) in [("one", 3), ("two", 5)] {
        let bytes: Vec<u8> = (0..20_000u32).flat_map(|n| (n / 5 * factor).to_le_bytes()).collect();
        (0..70).for_each(|copy| drop(folder.write(&format!("in/{name}/{copy}"), &bytes)));
    }
    let sizes = ["--solidlevel=2", "--chunkedlevel=2", "--chunksize=32768", "--blocksize=32767"];
    folder.nx(&[&["pack", "in", "-o", "a.nx"], &sizes[..]].concat()).ok();
    let before = folder.read("a.nx");
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(folder.path("")).args(["-c", "ulimit -n 64; exec \"$0\" nx update -p2 a.nx in"]);
    Run::of(shell.arg(program()), b"").ok();
    assert!(folder.read("a.nx") == before);
}

#[test]
fn order_that_other_programs_misread_is_named_by_info_and_mended_by_any_edit() {
    let folder = Folder::new();
    folder.write("in/a", b"the longer one");
    folder.write("in/b", b"second");
    pack(&folder, "in", "a.nx");
    let told =
        || folder.nx(&["info", "a.nx"]).ok().lines().iter().any(|line| line.contains("damage this archive"));
    assert!(!told());
    let mut broken = folder.read("a.nx");
    let (first, second) = broken[16..56].split_at_mut(20);
    first.swap_with_slice(second);
    for edit in [&["update", "a.nx", "in"][..], &["repack", "a.nx"], &["merge", "a.nx", "-fo", "b.nx"]] {
        folder.write("a.nx", &broken);
        assert!(told() && !disorder(&folder.read("a.nx")).is_empty());
        let object = folder.nx(&["info", "--json", "a.nx"]).ok().objects().remove(0);
        assert_eq!(object["misplaced_files"].as_u64(), Some(1));
        folder.nx(edit).ok();
        let edited = if edit[0] == "merge" { "b.nx" } else { "a.nx" };
        assert_eq!(contents(&folder, edited), files_below(&folder.path("in")), "{edit:?}");
    }
}

#[test]
fn archive_in_its_folder_is_not_updated_with_itself() {
    let folder = Folder::new();
    folder.write("in/a", b"a");
    folder.nx(&["pack", "in", "-o", "in/all.nx"]).ok();
    folder.write("in/b", b"b");
    for options in [&["--metadata"][..], &["-f", "-o", "in/all.nx"]] {
        folder.nx(&[&["update", "in/all.nx", "in"], options].concat()).ok();
        assert_eq!(folder.nx(&["list", "in/all.nx"]).ok().lines(), ["a", "b"]);
    }
    // The second time, the output exists.
    for _ in 0..2 {
        folder.nx(&["update", "-f", "in/all.nx", "in", "-o", "in/other.nx"]).ok();
        assert_eq!(folder.nx(&["list", "in/other.nx"]).ok().lines(), ["a", "b"]);
    }
}

/// Updates an archive from two folders at the same time. Returns what both programs printed on
/// standard error, and their exit statuses.
fn update_at_once(folder: &Folder, more: &[&str]) -> [std::process::Output; 2] {
    let start = |source: &str| {
        let mut command = folder.command(&["nx"]);
        command
            .args(["update", "-p1", "--solidlevel=9", "--chunkedlevel=9"])
            .args(more)
            .args(["a.nx", source]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
        command.spawn().expect("the program starts")
    };
    ["one", "two"].map(start).map(|child| child.wait_with_output().expect("it ends"))
}

#[test]
fn concurrent_updates_lose_no_change() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    pack(&folder, "in", "before.nx");
    // Enough data that the two updates overlap.
    for (i, source) in ["one", "two"].into_iter().enumerate() {
        let bytes: Vec<u8> =
            (0..300_000u32).flat_map(|n| (n.wrapping_mul(n) / 7 + i as u32).to_le_bytes()).collect();
        folder.write(&format!("{source}/{source}"), &bytes);
    }
    let listed = |path: &str| folder.nx(&["list", "a.nx"]).ok().lines().iter().any(|line| line == path);
    for _ in 0..4 {
        fs::copy(folder.path("before.nx"), folder.path("a.nx")).unwrap();
        let ended = update_at_once(&folder, &[]);
        assert!(ended.iter().any(|output| output.status.success()));
        for (output, source) in ended.iter().zip(["one", "two"]) {
            let told = String::from_utf8_lossy(&output.stderr);
            if output.status.success() {
                assert!(listed(source), "{source} was lost");
            } else {
                let is_held = told.contains("a.nx is being changed by ") && told.contains("--wait");
                assert!(output.status.code() == Some(FAILED) && is_held, "{told}");
            }
        }
        fs::copy(folder.path("before.nx"), folder.path("a.nx")).unwrap();
        for output in update_at_once(&folder, &["--wait"]) {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert!(listed("one") && listed("two"));
    }
    folder.nx(&["verify", "-q", "a.nx"]).ok();
    assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines().len(), files.len() + 2);
}

#[test]
fn locked_archive_is_not_changed() {
    let folder = Folder::new();
    folder.write("in/a", b"a");
    pack(&folder, "in", "a.nx");
    let before = folder.read("a.nx");
    folder.write("copy.nx", &before);
    let lock = linerate_io::Lock::exclusive(folder.path("a.nx"), linerate_io::Wait::No).unwrap();
    for args in [
        &["update", "a.nx", "in"][..],
        &["delete", "a.nx", "a"],
        &["repack", "a.nx"],
        &["merge", "copy.nx", "copy.nx", "-fo", "a.nx"],
        &["repack", "--wait=0", "a.nx"],
        &["pack", "-f", "in", "-o", "a.nx"],
        &["pack", "--wait=0", "-f", "in", "-o", "a.nx"],
    ] {
        let run = folder.nx(args);
        assert_eq!(run.status, Some(FAILED), "{args:?}");
        assert!(run.stderr.contains("a.nx is being changed by "), "{args:?}: {}", run.stderr);
        assert!(folder.read("a.nx") == before);
    }
    folder.nx(&["verify", "-q", "a.nx"]).ok();
    folder.nx(&["update", "a.nx", "in", "-o", "b.nx"]).ok();
    drop(lock);
    folder.nx(&["pack", "-f", "in", "-o", "a.nx"]).ok();
    folder.nx(&["delete", "--wait=0", "a.nx", "a"]).ok();
}

#[cfg(unix)]
#[test]
fn changed_archive_of_mode_0600_keeps_mode_and_owner() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    let folder = Folder::new();
    plant(&folder, "in");
    fs::create_dir(folder.path("out")).unwrap();
    pack(&folder, "in", "out/a.nx");
    let path = folder.path("out/a.nx");
    // Only root can change the owner of files.
    let _ = chown(&path, Some(1), Some(1));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let of = |path: &std::path::Path| {
        let found = fs::metadata(path).unwrap();
        (found.mode() & 0o777, found.uid(), found.gid())
    };
    let before = of(&path);
    let cases = [
        &["update", "out/a.nx", "in"][..],
        &["delete", "out/a.nx", "text/1"],
        &["repack", "--chunksize=64K", "out/a.nx"],
        &["pack", "-f", "in", "-o", "out/a.nx"],
    ];
    for args in cases {
        folder.nx(&[args, if args[0] == "delete" { &[] } else { &FAST[..] }].concat()).ok();
        assert_eq!(of(&path), before, "{args:?}");
    }
    let args = ["repack", "-p1", "--solidlevel=9", "--chunkedlevel=9", "out/a.nx"];
    let begun = std::time::Instant::now();
    folder.nx(&args).ok();
    for moment in linerate_testkit::kill::moments(12, begun.elapsed()) {
        let mut command = folder.command(&["nx"]);
        let mut child = command.args(args).stderr(std::process::Stdio::null()).spawn().unwrap();
        let end = std::time::Instant::now() + moment;
        while std::time::Instant::now() < end {
            for entry in fs::read_dir(folder.path("out")).unwrap() {
                // A file that was deleted meanwhile has no mode.
                let mode = entry.unwrap().metadata().map_or(0, |found| found.mode());
                assert_eq!(mode & 0o077, 0);
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        linerate_testkit::kill::kill(&mut child);
        assert_eq!(of(&path), before, "killed after {moment:?}");
    }
    folder.nx(&args).ok();
    assert_eq!(
        fs::read_dir(folder.path("out")).unwrap().count(),
        1,
        "what kills left goes with the next write"
    );
}

#[test]
fn deleting_by_glob_and_by_hash() {
    let folder = Folder::new();
    let mut files = plant(&folder, "in");
    pack(&folder, "in", "a.nx");
    let gone: Vec<String> = files.keys().filter(|path| path.starts_with("text/1/")).cloned().collect();
    assert_eq!(folder.nx(&["delete", "-n", "a.nx", "text/1"]).ok().lines()[..gone.len()], gone);
    folder.nx(&["delete", "a.nx", "text/1"]).ok();
    files.retain(|path, _| !gone.contains(path));
    assert!(contents(&folder, "a.nx") == files);
    let run = folder.nx(&["delete", "a.nx", "*.absent"]);
    run.fails(FAILED, "linerate: a.nx: no file matches `*.absent`");
    assert_eq!(folder.nx(&["delete", "a.nx"]).status, Some(USAGE));

    let hashes: Vec<String> = folder
        .nx(&["list", "--json", "a.nx", "*.txt"])
        .ok()
        .objects()
        .iter()
        .map(|file| file["hash"].as_str().expect("a hash").to_owned() + "\n")
        .collect();
    folder.write("wanted", hashes.concat().as_bytes());
    folder.nx(&["delete", "--keep-hashes", "wanted", "a.nx", "-o", "b.nx"]).ok();
    files.retain(|path, _| path.ends_with(".txt"));
    assert!(contents(&folder, "b.nx") == files);
    folder.write("wrong", b"0123456789abcdef\n\nnothing\n");
    let run = folder.nx(&["delete", "--keep-hashes", "wrong", "a.nx"]);
    let line = "linerate: a.nx: wrong: `nothing` is not a hash of 16 hexadecimal digits (at byte 18)";
    run.fails(DAMAGED, line);
    for word in ["+123456789abcdef", "-123456789abcdef", "0x23456789abcdef", "0123456789abcdef0"] {
        folder.write("wrong", word.as_bytes());
        let line = format!("linerate: a.nx: wrong: `{word}` is not a hash of 16 hexadecimal digits");
        folder.nx(&["delete", "--keep-hashes", "wrong", "a.nx"]).fails(DAMAGED, &line);
    }
}

#[test]
fn repacking_keeps_contents() {
    let folder = Folder::new();
    for golden in goldens() {
        if golden.name == "over-4-gib" || !golden.damaged().is_empty() {
            continue;
        }
        let args = ["repack", golden.file(), "-fo", "b.nx"];
        folder.nx(&[&args[..], &FAST[..]].concat()).ok();
        folder.nx(&["diff", "--exit-code", golden.file(), "b.nx"]).ok();
        folder.nx(&["verify", "-q", "b.nx"]).ok();
    }
    let files = plant(&folder, "in");
    pack(&folder, "in", "a.nx");
    folder.nx(&["repack", "--chunksize", "64K", "--chunked-algorithm=lz4", "a.nx"]).ok();
    assert!(contents(&folder, "a.nx") == files, "in place");
}

#[test]
fn edits_of_damaged_archives_fail_or_report_the_damage() {
    let folder = Folder::new();
    let damaged = golden("damaged-by-its-writer");
    let other = golden("single-1-byte");
    for args in [
        vec!["repack", damaged.file(), "-o", "a.nx"],
        vec!["merge", damaged.file(), other.file(), "-o", "a.nx"],
        vec!["delete", damaged.file(), "chunked/0.pak", "-o", "a.nx"],
    ] {
        let run = folder.nx(&args);
        assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), 1), "{args:?}: {}", run.stderr);
        assert!(damaged.damaged().iter().any(|path| run.stderr.contains(path)), "{}", run.stderr);
        assert!(folder.names().is_empty(), "{args:?}");
    }
    let mut args = vec!["delete", damaged.file(), "-o", "a.nx"];
    let paths = damaged.damaged();
    args.extend(paths.iter().map(String::as_str));
    folder.nx(&args).ok();
    folder.nx(&["verify", "-q", "a.nx"]).ok();
}
