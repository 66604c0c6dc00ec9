//! Tests of `list`, `info` and `diff`, which usually read only the headers of archives.

use std::collections::BTreeMap;

use super::data::{DAMAGED, FAILED, LIMIT, USAGE, golden, goldens};
use linerate_testkit::program::Folder;

#[test]
fn json_list_has_the_recorded_tree_of_every_golden() {
    let folder = Folder::new();
    for golden in goldens() {
        let run = folder.nx(&["list", "--json", golden.file()]).ok();
        let found: BTreeMap<String, (u64, String)> = run
            .objects()
            .iter()
            .map(|file| {
                let text = |key: &str| file[key].as_str().expect("text").to_owned();
                (text("path"), (file["size"].as_u64().expect("a size"), text("hash")))
            })
            .collect();
        assert_eq!(found, golden.entries(), "{}", golden.name);
    }
}

#[test]
fn list_prints_paths_in_order() {
    let folder = Folder::new();
    for golden in goldens() {
        let lines = folder.nx(&["list", golden.file()]).ok().lines();
        let mut expected: Vec<String> = golden.entries().into_keys().collect();
        expected.sort_by(|a, b| a.split('/').cmp(b.split('/')));
        assert_eq!(lines, expected, "{}", golden.name);
    }
}

#[test]
fn long_list_has_a_row_per_file() {
    let folder = Folder::new();
    let golden = golden("single-1-byte");
    let lines = folder.nx(&["list", "--long", golden.file()]).ok().lines();
    assert_eq!(lines.len(), 2);
    let words: Vec<&str> = lines[1].split_whitespace().collect();
    let (path, (size, hash)) = golden.entries().pop_first().expect("a file");
    assert_eq!(words, [&size.to_string(), "0", "1", "0", "copy", &hash, &path]);
}

#[test]
fn tree_shows_folders_with_their_total_bytes() {
    let folder = Folder::new();
    let golden = golden("defaults");
    let lines = folder.nx(&["list", "--tree", golden.file(), "text"]).ok().lines();
    let below: Vec<(String, u64)> = golden
        .entries()
        .into_iter()
        .filter_map(|(path, (size, _))| Some((path.strip_prefix("text/")?.to_owned(), size)))
        .collect();
    let total: u64 = below.iter().map(|(_, size)| size).sum();
    assert_eq!(lines[0], format!("{total:>15}  ."));
    assert_eq!(lines[1], format!("{total:>15}    text/"));
    let files = lines.iter().filter(|line| !line.ends_with(['/', '.'])).count();
    assert_eq!(files, below.len());
}

#[test]
fn globs_choose_listed_files() {
    let folder = Folder::new();
    let golden = golden("defaults");
    let list = |args: &[&str]| {
        let mut all = vec!["list", golden.file()];
        all.extend(args);
        folder.nx(&all)
    };
    let all = golden.entries();
    let expected: Vec<&String> = all.keys().filter(|path| path.ends_with(".txt")).collect();
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert_eq!(list(&["*.txt"]).ok().lines(), expected.iter().map(|p| p.as_str()).collect::<Vec<_>>());
    assert_eq!(list(&["-i", "*.TXT"]).ok().lines().len(), expected.len());
    let others = list(&["--exclude", "*.txt"]).ok().lines();
    assert_eq!(others.len(), all.len() - expected.len());
    let line = format!("linerate: {}: no file matches `*.TXT`", golden.file());
    list(&["*.TXT"]).fails(FAILED, &line);
    let run = list(&["a["]);
    assert_eq!(run.status, Some(USAGE));
    assert!(run.stderr.starts_with("linerate: `a[` is not a glob"), "{}", run.stderr);
    let by_option = folder.nx(&["list", "--source", golden.file(), "*.txt"]).ok();
    assert_eq!(by_option.lines().len(), expected.len());
}

#[test]
fn info_matches_the_record_of_every_golden() {
    let folder = Folder::new();
    for golden in goldens() {
        let found = folder.nx(&["info", "--json", golden.file()]).ok().objects().remove(0);
        let header = &golden.record["header"];
        for (ours, theirs) in
            [("chunk", "chunk"), ("blocks", "blocks"), ("files", "files"), ("pool_bytes", "pool")]
        {
            assert_eq!(found[ours], header[theirs], "{} {ours}", golden.name);
        }
        for codec in ["copy", "zstd", "lz4"] {
            let blocks = found["codecs"][codec]["blocks"].as_u64();
            let empty = if codec == "copy" { found["empty_blocks"].as_u64() } else { Some(0) };
            let expected = header["codecs"][codec].as_u64();
            let with_empty = blocks.zip(empty).map(|(a, b)| a + b);
            assert!(blocks == expected || with_empty == expected, "{} {codec}: {found}", golden.name);
        }
        let text = folder.nx(&["info", golden.file()]).ok().lines();
        assert!(text.iter().any(|line| line.starts_with("format      Nx 1, XXH3-64")), "{text:?}");
    }
}

#[test]
fn info_of_several_archives_continues_after_an_error() {
    let folder = Folder::new();
    folder.write("bad.nx", b"NXUSx");
    let golden = golden("single-empty");
    let run = folder.nx(&["info", "bad.nx", golden.file()]);
    assert_eq!(run.status, Some(DAMAGED));
    assert_eq!(run.stderr, "linerate: bad.nx: the archive ends within its header (at byte 5)\n");
    assert!(run.lines()[0].starts_with("archive     "));
}

#[test]
fn other_formats_are_one_line_of_error() {
    let folder = Folder::new();
    folder.write("empty", b"");
    folder.write("zero", &[0; 5000]);
    folder.write("text", b"hello, this is a text and not an archive");
    folder.write("short", &golden("defaults").path.to_str().map(std::fs::read).unwrap().unwrap()[..9000]);
    for (name, status, line) in [
        ("empty", DAMAGED, "not an Nx archive (it is empty)"),
        ("zero", DAMAGED, "not an Nx archive (its header is zero: an interrupted or unflushed writer)"),
        ("text", DAMAGED, "not an Nx archive"),
        ("short", DAMAGED, "the archive ends within its blocks (at byte 9000)"),
        ("absent", FAILED, "cannot open: No such file or directory"),
    ] {
        folder.nx(&["list", name]).fails(status, &format!("linerate: {name}: {line}"));
        folder.nx(&["info", name]).fails(status, &format!("linerate: {name}: {line}"));
    }
    let run = folder.nx(&["list", "--json", "text"]);
    assert_eq!(run.status, Some(DAMAGED));
    assert_eq!(run.objects()[0]["kind"], "corrupt");
}

#[test]
fn archive_truncated_anywhere_is_an_error() {
    let folder = Folder::new();
    let bytes = std::fs::read(golden("single-1-byte").path).unwrap();
    for len in [0, 1, 3, 4, 15, 16, 40, 4095, 4096] {
        folder.write("cut.nx", &bytes[..len]);
        let run = folder.nx(&["list", "cut.nx"]);
        assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), 1), "{len}: {}", run.stderr);
    }
}

#[test]
fn diff_of_equal_archives_prints_nothing() {
    let folder = Folder::new();
    for golden in goldens() {
        let run = folder.nx(&["diff", "--exit-code", golden.file(), golden.file()]).ok();
        assert!(run.stdout.is_empty());
    }
}

#[test]
fn diff_lists_added_removed_and_changed_files() {
    let folder = Folder::new();
    let (old, new) = (golden("defaults"), golden("dups"));
    let (a, b) = (old.entries(), new.entries());
    let mut expected: Vec<(String, char)> = Vec::new();
    expected.extend(a.keys().filter(|path| !b.contains_key(*path)).map(|path| (path.clone(), '-')));
    expected.extend(b.keys().filter(|path| !a.contains_key(*path)).map(|path| (path.clone(), '+')));
    let both = a.iter().filter(|(path, entry)| b.get(*path).is_some_and(|other| other != *entry));
    expected.extend(both.map(|(path, _)| (path.clone(), 'M')));
    expected.sort();
    let lines: Vec<String> = expected.iter().map(|(path, sign)| format!("{sign} {path}")).collect();
    let run = folder.nx(&["diff", old.file(), new.file()]).ok();
    assert!(!lines.is_empty());
    assert_eq!(run.lines(), lines);
    assert_eq!(folder.nx(&["diff", "--exit-code", old.file(), new.file()]).status, Some(FAILED));
    let objects = folder.nx(&["diff", "--json", old.file(), new.file()]).ok().objects();
    let last = objects.last().expect("a summary");
    assert_eq!(objects.len(), lines.len() + 1);
    let count = |sign| expected.iter().filter(|(_, found)| *found == sign).count() as u64;
    assert_eq!((last["removed"].as_u64(), last["added"].as_u64()), (Some(count('-')), Some(count('+'))));
    assert!(last["bytes_to_fetch"].as_u64() > Some(0));
    let line = format!("linerate: {}: absent: cannot open: No such file or directory", old.file());
    folder.nx(&["diff", old.file(), "absent"]).fails(FAILED, &line);
}

#[test]
fn memory_limit_is_an_error_with_status_4() {
    let folder = Folder::new();
    let golden = golden("defaults");
    let run = folder.nx(&["bench", "--max-memory", "1K", golden.file()]);
    assert_eq!(run.status, Some(LIMIT), "{}", run.stderr);
}
