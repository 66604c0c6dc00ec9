//! `--metadata`: times, modes, links and folders are packed and restored, and links lead nowhere
//! outside.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use linerate_nx::metadata::{Attributes, Link, Metadata, Time};
use linerate_nx::pack::{Builder, PackOptions};

use linerate_testkit::tools::has_program;

use super::data::{DAMAGED, FAILED, USAGE, golden};
use super::tree::files_below;
use linerate_testkit::program::{Folder, WARNED};

const FAST: [&str; 2] = ["--solidlevel=1", "--chunkedlevel=1"];

/// The compared attributes of a path: kind and mode, time, and content or target.
type Seen = (u32, i64, i64, Vec<u8>);

/// Everything below a folder, including empty folders and links. Modes of links are not compared.
fn seen(root: &Path) -> BTreeMap<String, Seen> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let of = fs::symlink_metadata(&path).expect("there");
            let (mode, content) = match of.is_symlink() {
                true => (0, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()),
                false if of.is_dir() => (of.mode(), Vec::new()),
                false => (of.mode(), fs::read(&path).unwrap()),
            };
            if of.is_dir() {
                folders.push(path.clone());
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            found.insert(name, (mode, of.mtime(), of.mtime_nsec(), content));
        }
    }
    found
}

fn stamp(path: &Path, mode: u32, seconds: u64, nanoseconds: u32) {
    let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
    File::open(path).unwrap().set_modified(time).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A folder with everything that metadata keeps.
fn plant(folder: &Folder) {
    for (name, mode, content) in [
        ("in/readme.txt", 0o644, &b"text"[..]),
        ("in/bin/run", 0o755, b"#!/bin/sh"),
        ("in/bin/private", 0o600, b""),
        ("in/a/b/c/deep", 0o444, b"deep"),
    ] {
        stamp(&folder.write(name, content), mode, 1_234_567_890 + u64::from(mode), 987_654_321);
    }
    fs::create_dir_all(folder.path("in/empty/inner")).unwrap();
    symlink("readme.txt", folder.path("in/link")).unwrap();
    symlink("../../readme.txt", folder.path("in/a/b/up")).unwrap();
    symlink("b/c", folder.path("in/a/folder")).unwrap();
    symlink("nowhere", folder.path("in/dangling")).unwrap();
    for (name, mode) in [("in/empty/inner", 0o750), ("in/empty", 0o755), ("in/a/b", 0o700), ("in/a", 0o755)] {
        stamp(&folder.path(name), mode, 1_000_000_000 + u64::from(mode), 1);
    }
}

fn pack(folder: &Folder, source: &str, target: &str, more: &[&str]) {
    folder.nx(&[&["pack", "--metadata", source, "-o", target], &FAST[..], more].concat()).ok();
}

fn extracted(folder: &Folder, archive: &str, more: &[&str]) -> BTreeMap<String, Seen> {
    let _ = fs::remove_dir_all(folder.path("out"));
    folder.nx(&[&["extract", "--metadata", archive, "-o", "out"], more].concat()).ok();
    seen(&folder.path("out"))
}

/// An archive of these files, with this metadata.
fn forged(folder: &Folder, name: &str, files: &[&str], links: &[(&str, &str)], folders: &[&str]) {
    let mut builder = Builder::new(PackOptions::default()).unwrap();
    files.iter().for_each(|path| builder.add_bytes(*path, *b"content").unwrap());
    let mut metadata = Metadata::default();
    let modified = Time { seconds: 1, nanoseconds: 2 };
    let links =
        links.iter().map(|(path, target)| (path.to_string(), Link { target: (*target).into(), modified }));
    metadata.links.extend(links);
    let folders = folders.iter().map(|path| ((*path).into(), Attributes { modified, mode: Some(0o755) }));
    metadata.folders.extend(folders);
    builder.metadata(metadata);
    builder.write(folder.path(name)).unwrap();
}

#[test]
fn metadata_round_trips_in_both_formats() {
    let folder = Folder::new();
    plant(&folder);
    let expected = seen(&folder.path("in"));
    for format in ["nx", "r3a"] {
        pack(&folder, "in", "a", &["--force", "--format", format]);
        assert_eq!(extracted(&folder, "a", &[]), expected, "{format}");
        assert_eq!(extracted(&folder, "a", &["-p3"]), expected, "{format}");
        folder.nx(&["verify", "a"]).ok();
        let info = folder.nx(&["info", "--json", "a"]).ok().objects().remove(0);
        assert_eq!(info["metadata"], serde_json::json!({ "files": 4, "folders": 6, "links": 4 }));
    }
    // Without --metadata, extraction neither restores nor mentions metadata.
    folder.nx(&["extract", "a", "-o", "plain"]).ok();
    assert!(
        files_below(&folder.path("plain"))
            .keys()
            .eq(["a/b/c/deep", "bin/private", "bin/run", "readme.txt"].iter())
    );
    let run = folder.nx(&[&["pack", "in", "-o", "plain.nx"], &FAST[..]].concat());
    assert_eq!((run.status, run.stderr.lines().count()), (Some(WARNED), 4), "{}", run.stderr);
    let run = folder.nx(&["extract", "--metadata", "plain.nx", "-o", "other"]);
    assert_eq!((run.status, &*run.stderr), (Some(0), "linerate: plain.nx: it has no metadata\n"));
}

#[test]
fn info_does_not_count_metadata_as_padding() {
    let folder = Folder::new();
    plant(&folder);
    pack(&folder, "in", "a.nx", &[]);
    let info = folder.nx(&["info", "--json", "a.nx"]).ok().object();
    let bytes = |key: &str| info[key].as_u64().unwrap();
    let of_blocks = bytes("archive_bytes") - bytes("header_bytes") - bytes("compressed_bytes");
    let padding = format!("padding     {of_blocks} bytes");
    assert!(folder.nx(&["info", "a.nx"]).ok().lines().contains(&padding), "{padding}");
}

#[test]
fn archives_with_equal_metadata_have_equal_bytes() {
    let folder = Folder::new();
    plant(&folder);
    for (threads, target) in [("-p1", "1.nx"), ("-p3", "3.nx")] {
        pack(&folder, "in", target, &[threads]);
    }
    assert!(folder.read("1.nx") == folder.read("3.nx"));
    stamp(&folder.path("in/readme.txt"), 0o644, 5, 5);
    pack(&folder, "in", "later.nx", &[]);
    assert!(folder.read("1.nx") != folder.read("later.nx"));
}

#[test]
fn other_readers_ignore_metadata() {
    if !has_program("python3") || !has_program("zstd") {
        return;
    }
    let folder = Folder::new();
    plant(&folder);
    // The reader compares neither links nor empty folders.
    for link in ["link", "a/b/up", "a/folder", "dangling"] {
        fs::remove_file(folder.path("in").join(link)).unwrap();
    }
    let reader = linerate_testkit::tools::reader("pack_reader.py");
    for (target, more) in [("a.nx", &[][..]), ("b.nx", &["--chunksize=4K", "--solid-algorithm=lz4"])] {
        pack(&folder, "in", target, more);
        let output =
            Command::new("python3").arg(&reader).arg(folder.path(target)).arg(folder.path("in")).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.starts_with(b"4 files "));
    }
}

#[test]
fn metadata_follows_globs_and_stripped_paths() {
    let folder = Folder::new();
    plant(&folder);
    pack(&folder, "in", "a.nx", &["-x", "/bin"]);
    let all = seen(&folder.path("in"));
    let names = |found: BTreeMap<String, Seen>| found.into_keys().collect::<Vec<_>>();
    assert!(
        extracted(&folder, "a.nx", &[])
            .into_iter()
            .eq(all.clone().into_iter().filter(|(path, _)| !path.starts_with("bin")))
    );
    assert_eq!(names(extracted(&folder, "a.nx", &["up"])), ["a", "a/b", "a/b/up"]);
    assert_eq!(names(extracted(&folder, "a.nx", &["empty"])), ["empty", "empty/inner"]);
    assert_eq!(
        names(extracted(&folder, "a.nx", &["--links=none", "/a"])),
        ["a", "a/b", "a/b/c", "a/b/c/deep"]
    );
    let _ = fs::remove_dir_all(folder.path("out"));
    let run = folder.nx(&["extract", "--metadata", "--strip-components=1", "a.nx", "/a", "-o", "out"]);
    // Without its first folder, the link leads outside.
    let line = "not created: a link that leads out of the folder; --links any creates it";
    assert!(run.status == Some(DAMAGED) && run.stderr.contains(line), "{}", run.stderr);
    assert_eq!(names(seen(&folder.path("out"))), ["b", "b/c", "b/c/deep", "folder"]);
    let run = folder.nx(&["extract", "--metadata", "a.nx", "absent"]);
    run.fails(FAILED, "linerate: a.nx: no file matches `absent`");
}

#[test]
fn links_out_of_the_folder_are_errors_that_name_them() {
    let folder = Folder::new();
    folder.write("outside/kept", b"kept");
    let outside = folder.path("outside").to_str().unwrap().to_owned();
    let links = [
        ("absolute", outside.as_str()),
        ("up", "../outside"),
        ("d/up", "../../outside"),
        // `d/top` leads to the top folder, so a path that goes up from there leads outside.
        ("d/top", ".."),
        ("through", "d/top/../outside"),
        ("fine", "file"),
    ];
    forged(&folder, "a.nx", &["file"], &links, &[]);
    let run = folder.nx(&["extract", "--metadata", "a.nx", "-o", "out"]);
    assert_eq!(run.status, Some(DAMAGED));
    let refused: Vec<&str> = run.stderr.lines().map(|line| line.split(": ").nth(2).unwrap()).collect();
    assert_eq!(refused, ["absolute", "d/up", "through", "up"], "{}", run.stderr);
    assert_eq!(seen(&folder.path("out")).into_keys().collect::<Vec<_>>(), ["d", "d/top", "file", "fine"]);
    folder.nx(&["extract", "--metadata", "--links=any", "a.nx", "-o", "any"]).ok();
    assert_eq!(fs::read(folder.path("any/absolute/kept")).unwrap(), b"kept");
    folder.nx(&["extract", "--metadata", "--links=none", "a.nx", "-o", "none"]).ok();
    assert_eq!(seen(&folder.path("none")).into_keys().collect::<Vec<_>>(), ["file"]);
    assert_eq!(folder.nx(&["extract", "--links=any", "a.nx"]).status, Some(USAGE));
}

#[test]
fn metadata_is_not_written_through_links() {
    let folder = Folder::new();
    folder.write("outside/file", b"kept");
    let outside = folder.path("outside").to_str().unwrap().to_owned();
    // One link has the name of a folder with files, and another link is a folder in the path of a
    // third.
    forged(&folder, "a.nx", &["d/file"], &[("d", &outside), ("l", &outside), ("l/inner", "x")], &["l/made"]);
    let run = folder.nx(&["extract", "-f", "--metadata", "--links=any", "a.nx", "-o", "out"]);
    assert_eq!(run.status, Some(FAILED), "{}", run.stderr);
    assert_eq!(folder.read("out/d/file"), b"content");
    assert_eq!(files_below(&folder.path("outside")), BTreeMap::from([("file".into(), b"kept".to_vec())]));
    assert!(!folder.has("outside/inner") && !folder.has("outside/made"));
    // Existing links are not followed, either.
    fs::remove_dir_all(folder.path("out")).unwrap();
    fs::create_dir(folder.path("out")).unwrap();
    symlink(&outside, folder.path("out/d")).unwrap();
    symlink(&outside, folder.path("out/l")).unwrap();
    let before = seen(&folder.path("outside"));
    let run = folder.nx(&["extract", "-f", "--metadata", "a.nx", "-o", "out"]);
    assert_ne!(run.status, Some(0), "{}", run.stderr);
    assert_eq!(seen(&folder.path("outside")), before);
}

#[test]
fn metadata_of_paths_outside_the_folder_is_not_restored() {
    let folder = Folder::new();
    let bad = ["../f", "/f", "a\\f", "c:f", "nul", "x/../../f"];
    forged(&folder, "a.nx", &["file"], &bad.map(|path| (path, "file")), &[]);
    forged(&folder, "b.nx", &["file"], &[], &bad);
    for archive in ["a.nx", "b.nx"] {
        let run = folder.nx(&["extract", "--metadata", archive, "-o", "in/out"]);
        assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), bad.len()), "{}", run.stderr);
        assert_eq!(seen(&folder.path("in")).into_keys().collect::<Vec<_>>(), ["out", "out/file"]);
        fs::remove_dir_all(folder.path("in")).unwrap();
    }
}

#[test]
fn existing_links_follow_the_overwrite_policy() {
    let folder = Folder::new();
    forged(&folder, "a.nx", &["file"], &[("l", "file")], &["l2"]);
    let target = |name: &str| fs::read_link(folder.path(name)).unwrap();
    fs::create_dir(folder.path("out")).unwrap();
    symlink("old", folder.path("out/l")).unwrap();
    let run = folder.nx(&["extract", "--metadata", "a.nx", "-o", "out"]);
    run.fails(FAILED, "linerate: a.nx: l: it exists already; --overwrite skips or replaces it");
    let run = folder.nx(&["extract", "--metadata", "--json", "--overwrite=skip", "a.nx", "-o", "out"]).ok();
    assert_eq!(run.objects()[0]["skipped_links"], serde_json::json!(["l"]));
    assert_eq!(target("out/l"), Path::new("old"));
    folder.nx(&["extract", "--metadata", "-f", "a.nx", "-o", "out"]).ok();
    assert_eq!(target("out/l"), Path::new("file"));
    assert_eq!(
        seen(&folder.path("out")).into_keys().collect::<Vec<_>>(),
        ["file", "l", "l2"],
        "nothing is left over"
    );
}

#[test]
fn setuid_and_sticky_bits_are_not_restored() {
    let folder = Folder::new();
    stamp(&folder.write("in/tool", b"x"), 0o4755, 1, 0);
    fs::create_dir(folder.path("in/shared")).unwrap();
    stamp(&folder.path("in/shared"), 0o1777, 1, 0);
    pack(&folder, "in", "a.nx", &[]);
    let found = extracted(&folder, "a.nx", &[]);
    assert_eq!((found["tool"].0 & 0o7777, found["shared"].0 & 0o7777), (0o755, 0o777));
}

#[test]
fn edits_keep_metadata() {
    let folder = Folder::new();
    plant(&folder);
    pack(&folder, "in", "a.nx", &[]);
    let mut expected = seen(&folder.path("in"));
    for args in [
        vec!["repack", "a.nx"],
        vec!["repack", "--format=r3a", "a.nx"],
        vec!["repack", "--format=nx", "a.nx"],
    ] {
        folder.nx(&args).ok();
        assert_eq!(extracted(&folder, "a.nx", &[]), expected, "{args:?}");
    }
    // A deleted file loses its metadata; its folder stays.
    folder.nx(&["delete", "a.nx", "bin/run", "dangling"]).ok();
    expected.remove("bin/run");
    expected.remove("dangling");
    assert_eq!(extracted(&folder, "a.nx", &[]), expected);

    // An update takes new metadata from the folder, without --metadata.
    stamp(&folder.path("in/readme.txt"), 0o640, 77, 7);
    symlink("bin/run", folder.path("in/new")).unwrap();
    folder.nx(&["update", "a.nx", "in"]).ok();
    stamp(&folder.path("in/empty"), 0o755, 1_000_000_000 + 0o755, 1);
    let in_folder = seen(&folder.path("in"));
    assert_eq!(extracted(&folder, "a.nx", &[]), in_folder);
    fs::remove_file(folder.path("in/link")).unwrap();
    folder.nx(&["update", "a.nx", "in"]).ok();
    assert!(extracted(&folder, "a.nx", &[]).contains_key("link"), "without --mirror nothing goes");
    folder.nx(&["update", "--mirror", "a.nx", "in"]).ok();
    assert!(!extracted(&folder, "a.nx", &[]).contains_key("link"));

    // With --metadata, an archive without metadata gets it.
    folder.nx(&[&["pack", "in/bin", "-o", "b.nx"], &FAST[..]].concat()).ok();
    assert!(folder.nx(&["info", "--json", "b.nx"]).ok().objects()[0]["metadata"].is_null());
    folder.nx(&["update", "--metadata", "b.nx", "in/bin"]).ok();
    assert_eq!(extracted(&folder, "b.nx", &[]), seen(&folder.path("in/bin")));
}

#[test]
fn merge_takes_metadata_from_the_archive_of_the_file() {
    let folder = Folder::new();
    for (name, mode) in [("one/a", 0o600), ("two/a", 0o640), ("two/b", 0o644)] {
        stamp(&folder.write(name, name.as_bytes()), mode, 5, u32::from(mode == 0o600));
    }
    fs::create_dir(folder.path("one/empty")).unwrap();
    pack(&folder, "one", "1.nx", &[]);
    pack(&folder, "two", "2.nx", &[]);
    folder.nx(&[&["pack", "one", "-o", "bare.nx"], &FAST[..]].concat()).ok();
    for (first, rule, mode) in
        [("1.nx", "first", Some(0o600)), ("1.nx", "last", Some(0o640)), ("bare.nx", "first", None)]
    {
        folder.nx(&["merge", "-f", "--on-clash", rule, first, "2.nx", "-o", "all.nx"]).ok();
        let found = extracted(&folder, "all.nx", &[]);
        assert_eq!(found["b"].0 & 0o777, 0o644);
        assert_eq!(found.contains_key("empty"), first == "1.nx");
        match mode {
            Some(mode) => assert_eq!((found["a"].0 & 0o777, found["a"].1), (mode, 5)),
            // The file is taken from an archive without metadata.
            None => assert_ne!(found["a"].1, 5),
        }
    }
}

#[test]
fn damaged_metadata_is_reported_and_files_are_extracted() {
    let folder = Folder::new();
    plant(&folder);
    pack(&folder, "in", "a.nx", &[]);
    let mut bytes = folder.read("a.nx");
    let at = bytes.windows(8).position(|window| window == b"LNX-META").unwrap();
    bytes[at + 40] ^= 1;
    folder.write("bad.nx", &bytes);
    let what = "metadata that does not match its checksum";
    let run = folder.nx(&["extract", "--metadata", "bad.nx", "-o", "out"]);
    run.fails(DAMAGED, &format!("linerate: bad.nx: {what} (at byte {at})"));
    assert!(!folder.has("out"));
    folder.nx(&["extract", "bad.nx", "-o", "out"]).ok();
    let run = folder.nx(&["verify", "bad.nx"]);
    run.fails(DAMAGED, &format!("linerate: bad.nx: (metadata): {what} (at byte {at})"));
    let run = folder.nx(&["repack", "bad.nx", "-o", "b.nx"]);
    run.fails(WARNED, &format!("linerate: bad.nx: its metadata is damaged and is left out: {what}"));
    folder.nx(&["diff", "--exit-code", "--no-metadata", "a.nx", "b.nx"]).ok();
    assert_eq!(folder.nx(&["diff", "a.nx", "bad.nx"]).status, Some(DAMAGED));
    assert_eq!(folder.nx(&["list", "--metadata", "bad.nx"]).status, Some(DAMAGED));
    assert!(folder.nx(&["info", "bad.nx"]).ok().lines().iter().any(|line| line.ends_with(what)));
}

#[test]
fn verify_against_a_folder_reports_each_metadata_change() {
    let folder = Folder::new();
    plant(&folder);
    pack(&folder, "in", "a.nx", &[]);
    folder.nx(&["verify", "--against", "in", "a.nx"]).ok();
    folder.nx(&["extract", "--metadata", "a.nx", "-o", "out"]).ok();
    folder.nx(&["verify", "--against", "out", "a.nx"]).ok();
    stamp(&folder.path("in/readme.txt"), 0o640, 77, 7);
    for link in ["in/dangling", "in/link"] {
        fs::remove_file(folder.path(link)).unwrap();
    }
    symlink("bin/run", folder.path("in/link")).unwrap();
    symlink("bin/run", folder.path("in/added")).unwrap();
    fs::remove_dir(folder.path("in/empty/inner")).unwrap();
    fs::create_dir(folder.path("in/hollow")).unwrap();
    let run = folder.nx(&["verify", "--against", "in", "a.nx"]);
    assert_eq!(run.status, Some(DAMAGED), "{}", run.stderr);
    for line in [
        "added: the link is in in, not in the archive",
        "dangling: the link is not in in",
        "empty/inner: the empty folder is not in in",
        "hollow: the empty folder is in in, not in the archive",
        "link: target readme.txt -> bin/run in in",
        "readme.txt: mode 644 -> 640 in in",
        "readme.txt: modified 2009-02-13T23:38:30.987654321Z -> 1970-01-01T00:01:17.000000007Z in in",
    ] {
        assert!(run.stderr.contains(&format!("linerate: a.nx: {line}")), "{line}\n{}", run.stderr);
    }
    let object = folder.nx(&["verify", "--json", "--against", "in", "a.nx"]).objects().pop().unwrap();
    assert!(object["unexpected"].as_array().unwrap().is_empty(), "{object}");
    let mode = serde_json::json!({ "path": "readme.txt", "change": "mode", "was": "644", "is": "640" });
    assert!(object["changes"].as_array().unwrap().contains(&mode), "{object}");
    folder.nx(&["extract", "a.nx", "-o", "plain"]).ok();
    folder.nx(&["verify", "--no-metadata", "--against", "plain", "a.nx"]).ok();

    // `diff` of two archives reports the same differences.
    pack(&folder, "in", "b.nx", &[]);
    let run = folder.nx(&["diff", "--exit-code", "a.nx", "b.nx"]);
    assert_eq!(run.status, Some(FAILED), "{}", run.stderr);
    let lines = run.lines();
    for line in [
        "+ added",
        "- dangling",
        "- empty/inner/",
        "+ hollow/",
        "m link: target readme.txt -> bin/run",
        "m readme.txt: mode 644 -> 640",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line}: {lines:?}");
    }
    folder.nx(&["diff", "--exit-code", "--no-metadata", "a.nx", "b.nx"]).ok();
    folder.nx(&["diff", "--exit-code", "a.nx", "a.nx"]).ok();
}

#[test]
fn list_shows_metadata() {
    let folder = Folder::new();
    plant(&folder);
    pack(&folder, "in", "a.nx", &[]);
    let lines = folder.nx(&["list", "-m", "a.nx"]).ok().lines();
    let row = |path: &str| lines.iter().find(|line| line.ends_with(path)).expect(path);
    assert!(row(" bin/run").starts_with("-rwxr-xr-x 2009-02-13T23:39:43.987654321Z"), "{lines:?}");
    assert!(row(" empty/inner/").starts_with("drwxr-x--- 2001-09-09T"), "{lines:?}");
    assert!(row(" link -> readme.txt").starts_with("lrwxrwxrwx "), "{lines:?}");
    assert_eq!(lines.len(), 4 + 6 + 4);
    let objects = folder.nx(&["list", "--json", "a.nx", "readme.txt", "link", "inner"]).ok().objects();
    let kinds: Vec<&str> = objects.iter().map(|object| object["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["folder", "folder", "link", "file"], "{objects:?}");
    assert_eq!(objects[2]["target"], "readme.txt");
    assert_eq!(
        (&objects[3]["mode"], &objects[3]["modified"]),
        (&"644".into(), &"2009-02-13T23:38:30.987654321Z".into())
    );
    assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines().len(), 4, "files alone, without being asked");
}

#[test]
fn archives_of_other_packers_have_no_metadata() {
    let folder = Folder::new();
    let golden = golden("defaults");
    let run = folder.nx(&["extract", "--metadata", golden.file(), "-o", "out"]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(0), 1), "{}", run.stderr);
    folder.nx(&["verify", "--against", "out", golden.file()]).ok();
}
