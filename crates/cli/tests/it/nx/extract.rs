//! `extract` and `verify`: archives of the original library, damaged archives, paths that lead
//! outside.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use linerate_nx::HashKind;

use super::data::{DAMAGED, FAILED, LIMIT, USAGE, golden, goldens};
use super::forge;
use super::tree::files_below;
use linerate_testkit::program::{Folder, Run};

#[test]
fn path_of_millions_of_folders_is_an_error_in_bounded_time() {
    let folder = Folder::new();
    let deep = "x/".repeat(5_000_000) + "x";
    folder.write("a.nx", &forge::stored(&[("file", b"content"), (&deep, b"deep")]));
    let run = folder.nx(&["extract", "a.nx", "-o", "out"]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), 1));
    assert!(run.stderr.contains("not extracted: a path of more than 4095 bytes"));
    assert!(run.stderr.len() < 10_000, "{} bytes", run.stderr.len());
    assert!(files_below(&folder.path("out")).keys().eq(["file"]));
}

/// The recorded content of an archive, without the files that its packer damaged.
fn expected(golden: &super::data::Golden) -> BTreeMap<String, (u64, String)> {
    let damaged = golden.damaged();
    golden.entries().into_iter().filter(|(path, _)| !damaged.contains(path)).collect()
}

fn found(root: &Path) -> BTreeMap<String, (u64, String)> {
    let entry = |(path, bytes): (String, Vec<u8>)| {
        (path, (bytes.len() as u64, format!("{:016x}", HashKind::Xxh3.hash_bytes(&bytes))))
    };
    files_below(root).into_iter().map(entry).collect()
}

/// All archives except one that decodes to more than 4 GiB, which takes too long here.
fn small() -> impl Iterator<Item = super::data::Golden> {
    goldens().into_iter().filter(|golden| golden.name != "over-4-gib")
}

#[test]
fn every_golden_is_extracted_to_its_tree() {
    for threads in ["1", "3"] {
        for golden in small().filter(|golden| golden.damaged().is_empty()) {
            // Two of its names are impossible on Windows; crates/nx/tests/it/windows.rs tests them.
            if cfg!(windows) && golden.name == "names" {
                continue;
            }
            let folder = Folder::new();
            folder.nx(&["extract", "-p", threads, golden.file(), "-o", "out"]).ok();
            assert_eq!(found(&folder.path("out")), expected(&golden), "{}", golden.name);
        }
    }
}

#[test]
fn damaged_files_of_goldens_are_named_and_others_extracted() {
    let folder = Folder::new();
    let golden = golden("damaged-by-its-writer");
    let names_the_damaged = |run: &Run| {
        assert_eq!(run.status, Some(DAMAGED));
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert_eq!(lines.len(), golden.damaged().len(), "{}", run.stderr);
        for path in golden.damaged() {
            let prefix = format!("linerate: {}: {path}: ", golden.file());
            let line = lines.iter().find(|line| line.starts_with(&prefix));
            assert!(line.is_some_and(|line| line.contains(" (at byte ")), "{path}: {}", run.stderr);
        }
    };
    names_the_damaged(&folder.nx(&["extract", golden.file(), "--target", "out"]));
    assert_eq!(found(&folder.path("out")), expected(&golden));
    let run = folder.nx(&["verify", "-q", golden.file()]);
    names_the_damaged(&run);
    let objects = folder.nx(&["verify", "--json", golden.file()]).objects();
    let named: Vec<&str> = objects.iter().filter_map(|object| object["path"].as_str()).collect();
    assert_eq!(named, golden.damaged());
    assert!(objects.iter().take(named.len()).all(|object| object["kind"] == "corrupt"));
    assert_eq!(objects.last().unwrap()["status"], "failed");
}

#[test]
fn every_golden_verifies_except_its_damaged_files() {
    let folder = Folder::new();
    for golden in small().filter(|golden| golden.damaged().is_empty()) {
        let run = folder.nx(&["verify", "--json", "-q", golden.file()]).ok();
        let object = run.objects().remove(0);
        assert_eq!(object["status"], "ok");
        assert_eq!(object["files"].as_u64(), Some(golden.entries().len() as u64), "{}", golden.name);
    }
    let run = folder.nx(&["verify", "-v", golden("single-1-byte").file()]);
    assert!(run.stderr.contains(": OK, 1 files"), "{}", run.stderr);
}

#[test]
fn verify_against_a_folder_reports_every_difference() {
    let folder = Folder::new();
    let golden = golden("defaults");
    folder.nx(&["extract", golden.file(), "-o", "out"]).ok();
    let verify = || folder.nx(&["verify", "--against", "out", golden.file()]);
    verify().ok();
    let paths: Vec<String> = golden.entries().into_keys().collect();
    let (gone, changed) = (&paths[2], &paths[4]);
    fs::remove_file(folder.path("out").join(gone)).unwrap();
    fs::write(folder.path("out").join(changed), b"other").unwrap();
    fs::write(folder.path("out/new"), b"new").unwrap();
    let run = verify();
    assert_eq!(run.status, Some(DAMAGED));
    for (path, what) in [(gone, "it is not in out"), (changed, "it differs in out")] {
        assert!(run.stderr.contains(&format!("{path}: {what} (at byte ")), "{}", run.stderr);
    }
    assert!(run.stderr.contains("new: it is in out, not in the archive"), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 3);
    let usage = folder.nx(&["verify", "--against", "out", golden.file(), golden.file()]);
    usage.fails(USAGE, "linerate: --against takes a single archive");
}

#[test]
fn globs_choose_files_and_leading_components_are_stripped() {
    let folder = Folder::new();
    let golden = golden("defaults");
    folder.nx(&["extract", golden.file(), "*.txt", "-o", "texts"]).ok();
    let texts: Vec<String> = golden.entries().into_keys().filter(|path| path.ends_with(".txt")).collect();
    assert_eq!(found(&folder.path("texts")).into_keys().collect::<Vec<_>>(), texts);
    folder.nx(&["extract", golden.file(), "-x", "*.txt", "--strip-components=1", "-o", "rest"]).ok();
    let rest: Vec<String> = golden
        .entries()
        .into_keys()
        .filter(|path| !path.ends_with(".txt"))
        .filter_map(|path| Some(path.split_once('/')?.1.to_owned()))
        .collect();
    let mut rest_sorted = rest.clone();
    rest_sorted.sort();
    assert_eq!(found(&folder.path("rest")).into_keys().collect::<Vec<_>>(), rest_sorted);
    let run = folder.nx(&["extract", golden.file(), "*.nothing", "-o", "none"]);
    run.fails(FAILED, &format!("linerate: {}: no file matches `*.nothing`", golden.file()));
    assert!(!folder.has("none"));
}

#[test]
fn files_go_to_standard_output_in_order() {
    let folder = Folder::new();
    let golden = golden("defaults");
    folder.nx(&["extract", golden.file(), "-o", "out"]).ok();
    let mut paths: Vec<String> = golden.entries().into_keys().filter(|path| path.ends_with(".txt")).collect();
    paths.sort_by(|a, b| a.split('/').cmp(b.split('/')));
    let all: Vec<u8> =
        paths.iter().flat_map(|path| fs::read(folder.path("out").join(path)).unwrap()).collect();
    assert_eq!(folder.nx(&["extract", "-c", golden.file(), "*.txt"]).ok().stdout, all);
    let run = folder.nx(&["extract", "-c", "--json", golden.file(), "*.txt"]);
    assert_eq!((run.status, run.stdout), (Some(0), all), "objects go to standard error");
    let damaged = self::golden("damaged-by-its-writer");
    let run = folder.nx(&["extract", "--stdout", damaged.file(), &damaged.damaged()[0]]);
    assert_eq!((run.status, run.stdout.len()), (Some(DAMAGED), 0), "nothing of it is written");
}

#[cfg(target_os = "linux")]
#[test]
fn full_standard_output_is_one_error() {
    let folder = Folder::new();
    let golden = golden("defaults");
    let mut command = folder.command(&["nx", "extract", "-c", golden.file()]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command.stdin(std::process::Stdio::null()).stdout(full).output().unwrap();
    let line = "cannot write standard output: the disk is full (No space left on device)";
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, format!("linerate: {}: {line}\n", golden.file()));
    assert_eq!(output.status.code(), Some(FAILED));
}

#[test]
fn overwrite_policies_fail_skip_or_replace() {
    let folder = Folder::new();
    let golden = golden("single-1-byte");
    let (path, _) = golden.entries().pop_first().unwrap();
    let name = format!("out/{path}");
    folder.nx(&["extract", golden.file(), "-o", "out"]).ok();
    let right = folder.read(&name);
    let extract = |more: &[&str]| {
        folder.write(&name, b"mine");
        let mut args = vec!["extract", golden.file(), "-o", "out"];
        args.extend(more);
        folder.nx(&args)
    };
    let line =
        format!("linerate: {}: {path}: it exists already; --overwrite skips or replaces it", golden.file());
    extract(&[]).fails(FAILED, &line);
    assert_eq!(folder.read(&name), b"mine");
    let object = extract(&["--overwrite", "skip", "--json"]).ok().objects().remove(0);
    assert_eq!((object["files"].as_u64(), &object["skipped"][0]), (Some(0), &path.as_str().into()));
    assert_eq!(folder.read(&name), b"mine");
    for replace in [&["--overwrite=replace"][..], &["-f"]] {
        extract(replace).ok();
        assert_eq!(folder.read(&name), right);
    }
    assert_eq!(files_below(&folder.path("out")).len(), 1, "no temporary file stays");
    let run = extract(&["--overwrite", "perhaps"]);
    assert_eq!(run.status, Some(USAGE));
}

#[test]
fn paths_outside_the_folder_are_not_extracted() {
    for path in [
        "../escaped",
        "a/../../escaped",
        "/tmp/linerate-escaped",
        "..",
        "a//b",
        "./a",
        "..\\escaped",
        "C:\\escaped",
        "C:escaped",
        "\\\\server\\share\\x",
        "a:stream",
        "con",
        "aux.txt",
        "a.",
        "a ",
        "line\nbreak",
        "esc\x1b[2J",
    ] {
        let folder = Folder::new();
        fs::create_dir(folder.path("deep")).unwrap();
        folder.write("in/evil.nx", &forge::stored(&[(path, b"evil"), ("good", b"good")]));
        let run = folder.nx(&["extract", "in/evil.nx", "-o", "deep/out"]);
        assert_eq!(run.status, Some(DAMAGED), "{path:?}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{path:?}: {}", run.stderr);
        assert!(run.stderr.starts_with("linerate: in/evil.nx: "), "{}", run.stderr);
        assert!(!run.stderr.trim_end().contains(char::is_control), "{:?}", run.stderr);
        let below = files_below(&folder.path(""));
        let names: Vec<&String> = below.keys().collect();
        assert_eq!(names, ["deep/out/good", "in/evil.nx"], "{path:?}");
        assert!(!Path::new("/tmp/linerate-escaped").exists());
        // Commands that create no file accept such a path.
        let run = folder.nx(&["list", "in/evil.nx"]).ok();
        assert_eq!(run.lines().len(), 2);
    }
}

#[cfg(unix)]
#[test]
fn extraction_does_not_follow_links() {
    let folder = Folder::new();
    folder.write("a.nx", &forge::stored(&[("sub/file", b"evil"), ("link", b"new")]));
    folder.write("elsewhere/keep", b"keep");
    fs::create_dir(folder.path("out")).unwrap();
    std::os::unix::fs::symlink(folder.path("elsewhere"), folder.path("out/sub")).unwrap();
    std::os::unix::fs::symlink(folder.path("elsewhere/keep"), folder.path("out/link")).unwrap();
    let run = folder.nx(&["extract", "--overwrite", "replace", "a.nx", "-o", "out"]);
    assert_ne!(run.status, Some(0));
    assert!(run.stderr.contains("a.nx: sub/file: "), "{}", run.stderr);
    assert!(!folder.has("elsewhere/file"));
    assert_eq!(folder.read("elsewhere/keep"), b"keep");
    assert_eq!(folder.read("out/link"), b"new", "the link itself is replaced");
}

#[test]
fn equal_paths_are_extracted_once_and_reported() {
    let folder = Folder::new();
    folder.write("a.nx", &forge::stored(&[("x", b"first"), ("x", b"second")]));
    let run = folder.nx(&["extract", "a.nx", "-o", "out"]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), 1), "{}", run.stderr);
    assert_eq!(folder.read("out/x"), b"first");
}

#[test]
fn exceeded_limits_exit_with_4() {
    let folder = Folder::new();
    let huge = golden("over-4-gib");
    for command in ["extract", "verify"] {
        let run = folder.nx(&[command, "--max-output", "1G", huge.file()]);
        assert_eq!((run.status, run.stderr.lines().count()), (Some(LIMIT), 1), "{command}: {}", run.stderr);
        let run = folder.nx(&[command, "--max-file", "4G", huge.file()]);
        assert_eq!(run.status, Some(LIMIT), "{command}: {}", run.stderr);
    }
    let run = folder.nx(&["extract", "-c", "--max-output", "1G", huge.file()]);
    assert_eq!((run.status, run.stdout.len()), (Some(LIMIT), 0));
}

/// The ratio of the files to the archive is limited from 16 GiB of files on.
#[test]
fn archive_of_17_gib_in_one_block_is_an_error_to_a_folder_and_to_standard_output() {
    let folder = Folder::new();
    folder.write("a.nx", &forge::repeated(&[0; 1 << 20], 17 << 10));
    for output in ["out", "-"] {
        let mut command = folder.command(&["nx", "extract", "a.nx", "-o", output]);
        let output = command.stdout(std::process::Stdio::null()).output().expect("the program starts");
        let line = "linerate: a.nx: the files are larger than the archive by more than the limit\n";
        assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(LIMIT), line));
    }
    let first = folder.nx(&["extract", "-c", "a.nx", "/0"]).ok().stdout;
    assert_eq!(first.len(), 1 << 20, "one file is within the limit");
}

#[test]
fn flipped_bits_never_give_a_wrong_file() {
    let golden = golden("dups-chunked");
    let bytes = fs::read(&golden.path).unwrap();
    let expected = golden.entries();
    let mut failures = 0;
    for i in 0..40usize {
        let folder = Folder::new();
        let at = 4096 + i * (bytes.len() - 4096) / 40 + i;
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (i % 8);
        folder.write("a.nx", &damaged);
        let run = folder.nx(&["extract", "a.nx", "-o", "out"]);
        // A damaged frame may also need more memory than is allowed.
        assert!(matches!(run.status, Some(0 | FAILED | DAMAGED | LIMIT)), "{at}: {}", run.stderr);
        failures += usize::from(run.status != Some(0));
        for (path, entry) in found(&folder.path("out")) {
            assert_eq!(entry, expected[&path], "bit {i} at {at}");
        }
    }
    assert!(failures > 10, "{failures}");
}
