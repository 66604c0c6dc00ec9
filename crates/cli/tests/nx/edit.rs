//! `merge`, `update`, `delete`, `repack`: archives from archives.

use std::collections::BTreeMap;
use std::fs;

use crate::data::{DAMAGED, FAILED, USAGE, golden, goldens};
use crate::support::Folder;
use crate::tree::{files_below, plant};

const FAST: [&str; 2] = ["--solidlevel=2", "--chunkedlevel=2"];

fn pack(folder: &Folder, source: &str, target: &str) {
    folder.nx(&[&["pack", source, "-o", target], &FAST[..]].concat()).ok();
}

/// What is in an archive, by extracting it.
fn contents(folder: &Folder, archive: &str) -> BTreeMap<String, Vec<u8>> {
    let out = format!("contents of {archive}");
    let _ = fs::remove_dir_all(folder.path(&out));
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
    run.fails(USAGE, "linerate: merging needs -o: none of the archives is changed");
    let run = folder.nx(&["merge", "one.nx", "absent.nx", "-o", "b.nx"]);
    run.fails(FAILED, "linerate: one.nx: absent.nx: cannot open: No such file or directory");
}

#[test]
fn clashes_are_decided() {
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
fn goldens_merge_without_being_coded_anew() {
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
fn updating_takes_what_changed() {
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
fn damage_is_never_carried_over_silently() {
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
