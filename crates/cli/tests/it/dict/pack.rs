//! `linerate dict pack`, and block files whose dictionaries are in a pack.

use super::data::{DAMAGED, FAILED, USAGE, WARNED, kind, lines_of, rows};
use linerate_testkit::program::Folder;

/// Trains four dictionaries on samples of two kinds, and writes them as `dicts/0.dict` to
/// `dicts/3.dict`.
fn plant(folder: &Folder) -> Vec<Vec<u8>> {
    let train = |i: u64| {
        folder.write("samples", &kind(i % 2, 50 + i, 60 << 10));
        let name = format!("dicts/{i}.dict");
        folder.write(&name, b"");
        folder.dict(&["train", "-f", "-b1K", "-s4K", "samples", "-o", &name]).ok();
        folder.read(&name)
    };
    (0..4).map(train).collect()
}

/// Number, size in bytes and number of users of each dictionary of a pack.
fn listed(folder: &Folder, pack: &str) -> Vec<(u64, u64, u64)> {
    let number = |entry: &serde_json::Value, key: &str| entry[key].as_u64().expect("a number");
    let objects = folder.dict(&["pack", "list", "--json", pack]).ok().objects();
    objects.iter().map(|e| (number(e, "number"), number(e, "bytes"), number(e, "users"))).collect()
}

#[test]
fn dictionaries_round_trip_through_a_pack() {
    let folder = Folder::new();
    let dictionaries = plant(&folder);
    folder.write("dicts/README", b"this is no dictionary");
    let lines = folder.dict(&["pack", "make", "-o", "a.pack", "dicts"]).ok().lines();
    assert_eq!(lines.len(), 4, "{lines:?}");
    let again = folder.dict(&["pack", "append", "--json", "a.pack", "dicts/2.dict"]).ok().objects();
    assert_eq!(again[0]["added"][0]["number"], 3, "what is there is not added again");
    let sizes: Vec<u64> = listed(&folder, "a.pack").iter().map(|entry| entry.1).collect();
    assert_eq!(sizes, dictionaries.iter().map(|d| d.len() as u64).collect::<Vec<_>>());
    folder.dict(&["pack", "extract", "a.pack", "-o", "out"]).ok();
    for (i, dictionary) in dictionaries.iter().enumerate() {
        assert!(folder.read(&format!("out/{}.dict", i + 1)) == *dictionary);
    }
    folder.dict(&["pack", "extract", "a.pack", "2", "-o", "one"]).ok();
    assert!(folder.read("one/2.dict") == dictionaries[1] && !folder.has("one/1.dict"));
    folder.dict(&["pack", "make", "--uncompressed", "-o", "b.pack", "dicts"]).ok();
    assert!(folder.read("a.pack").len() < folder.read("b.pack").len());
    for pack in ["a.pack", "b.pack"] {
        folder.dict(&["pack", "verify", pack]).ok();
        folder.dict(&["verify", pack]).ok();
        let info = folder.dict(&["info", "--json", pack]).ok().objects().remove(0);
        assert_eq!((info["dictionaries"].as_u64(), info["unused"].as_u64()), (Some(4), Some(4)));
        assert_eq!(info["bytes"], folder.read(pack).len());
    }
}

#[test]
fn dictionaries_with_users_are_not_dropped() {
    let folder = Folder::new();
    plant(&folder);
    folder.dict(&["pack", "make", "-o", "a.pack", "dicts"]).ok();
    folder.dict(&["pack", "retain", "a.pack", "2", "x.sst", "y.sst"]).ok();
    assert_eq!(listed(&folder, "a.pack")[1].2, 2);
    let before = folder.read("a.pack");
    let run = folder.dict(&["pack", "compact", "--drop", "2", "a.pack"]);
    run.fails(FAILED, "linerate: a.pack: a dictionary is still in use");
    let run = folder.dict(&["pack", "compact", "--drop", "9", "a.pack"]);
    run.fails(FAILED, "linerate: a.pack: the pack has no dictionary of the number 9");
    assert!(folder.read("a.pack") == before);
    let done =
        folder.dict(&["pack", "compact", "--drop-unused", "--json", "a.pack"]).ok().objects().remove(0);
    assert_eq!((done["kept"].as_u64(), done["dropped"].as_u64()), (Some(1), Some(3)));
    assert_eq!(done["after"], folder.read("a.pack").len());
    assert!(folder.read("a.pack").len() < before.len());
    folder.dict(&["pack", "release", "a.pack", "2", "x.sst"]).ok();
    assert_eq!(folder.dict(&["pack", "compact", "--drop", "2", "a.pack"]).status, Some(FAILED));
    folder.dict(&["pack", "release", "a.pack", "2", "y.sst"]).ok();
    folder.dict(&["pack", "compact", "--drop", "2", "a.pack"]).ok();
    assert_eq!(listed(&folder, "a.pack"), []);
    folder.dict(&["pack", "append", "--used-by", "z", "a.pack", "dicts/0.dict"]).ok();
    assert_eq!(listed(&folder, "a.pack")[0].0, 5, "numbers are not given twice");
    assert_eq!(folder.names(), ["a.pack", "dicts", "samples"]);
}

#[test]
fn block_files_use_dictionaries_of_packs() {
    let folder = Folder::new();
    plant(&folder);
    folder.write("few", &lines_of(&rows(1, 20, 1)));
    let rows = lines_of(&rows(1, 2000, 1));
    folder.write("rows", &rows);
    folder.dict(&["train", "--lines", "--expect=1G", "rows", "-o", "dicts/rows.dict"]).ok();
    folder.dict(&["pack", "make", "-o", "a.pack", "dicts"]).ok();
    let build = ["build", "--key", "id", "--pack", "a.pack", "--number", "5", "rows", "-o", "b.blocks"];
    let lines = folder.dict(&build).ok().lines();
    let parts: Vec<&str> =
        lines[0].split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    // The bytes of the dictionary, which other files use, too, are not counted.
    assert_eq!(parts, ["the dictionary saves ", " bytes: ", " with it, ", " without"], "{lines:?}");
    assert_eq!(listed(&folder, "a.pack")[4].2, 1, "the pack knows its user");
    // Embedding makes the file larger by the dictionary, which with few rows is more than it saves.
    folder.dict(&["build", "--key", "id", "-D", "dicts/rows.dict", "rows", "-o", "c.blocks"]).ok();
    let embedded = folder.read("c.blocks").len() - folder.read("b.blocks").len();
    assert!(embedded.abs_diff(folder.read("dicts/rows.dict").len()) < 100, "{embedded}");
    let run = folder.dict(&["build", "--key", "id", "-D", "dicts/rows.dict", "few", "-o", "few.blocks"]);
    assert!(run.status == Some(WARNED) && run.stderr.contains("saves nothing"), "{run:?}");
    assert!(folder.dict(&["scan", "--pack", "a.pack", "b.blocks"]).ok().stdout == rows);
    let one = folder.dict(&["get", "--pack", "a.pack", "b.blocks", "user-000007"]).ok().stdout;
    assert_eq!(one, rows.split_inclusive(|b| *b == b'\n').nth(7).unwrap());
    folder.dict(&["verify", "--pack", "a.pack", "b.blocks", "a.pack", "c.blocks"]).ok();
    let info = folder.dict(&["info", "--json", "--pack", "a.pack", "b.blocks"]).ok().objects().remove(0);
    assert_eq!(info["dictionary"]["number"], 5);

    let told = "linerate: b.blocks: its dictionary is number 5 of a pack; --pack names the pack";
    folder.dict(&["scan", "b.blocks"]).fails(FAILED, told);
    folder.dict(&["pack", "make", "-o", "other.pack", "dicts/0.dict"]).ok();
    let other = "linerate: b.blocks: its dictionary is not in other.pack; --pack names another pack";
    folder.dict(&["scan", "--pack", "other.pack", "b.blocks"]).fails(FAILED, other);
    let absent = "linerate: b.blocks: no.pack: cannot open: No such file or directory";
    folder.dict(&["scan", "--pack", "no.pack", "b.blocks"]).fails(FAILED, absent);
    // A dictionary with users is kept, and the block file can be read with the compacted pack.
    folder.dict(&["pack", "compact", "--drop-unused", "a.pack"]).ok();
    assert!(folder.dict(&["scan", "--pack", "a.pack", "b.blocks"]).ok().stdout == rows);
    let unknown = ["build", "--key", "id", "--pack", "a.pack", "--number", "1", "rows", "-o", "d.blocks"];
    assert_eq!(folder.dict(&unknown).status, Some(FAILED));
    assert!(!folder.has("d.blocks"));
}

#[test]
fn failed_build_leaves_no_user_in_the_pack() {
    let folder = Folder::new();
    folder.write("1.dict", b"a dictionary may be any bytes that messages have in common");
    folder.dict(&["pack", "make", "-o", "a.pack", "1.dict"]).ok();
    let rows = lines_of(&rows(1, 20, 1));
    folder.write("rows", &rows);
    folder.write("twice", &rows.repeat(2));
    folder.write("bad", b"no JSON");
    let before = folder.read("a.pack");
    let build = |rows| {
        folder.dict(&["build", "-f", "--key=id", "--pack=a.pack", "--number=1", rows, "-o", "b.blocks"])
    };
    // The file `bad` fails while it is read. The file `twice` has a duplicate key, which is found
    // when sorted records are written.
    assert_eq!(build("bad").status, Some(DAMAGED));
    assert!(folder.read("a.pack") == before);
    let run = build("twice");
    assert!(run.status == Some(FAILED) && run.stderr.contains("duplicate key"), "{run:?}");
    assert_eq!(listed(&folder, "a.pack")[0].2, 0);
    build("rows");
    assert_eq!(listed(&folder, "a.pack")[0].2, 1);
    // `b.blocks`, which was not replaced, still uses its dictionary.
    assert_eq!(build("twice").status, Some(FAILED));
    assert_eq!(listed(&folder, "a.pack")[0].2, 1);
    folder.dict(&["verify", "--pack", "a.pack", "b.blocks"]).ok();
}

#[test]
fn cluster_writes_a_pack() {
    let folder = Folder::new();
    for i in 0..6u64 {
        folder.write(&format!("sets/{i}"), &kind(i % 2, 100 + i, 40 << 10));
    }
    let cluster = ["cluster", "--json", "--pack", "--count=3", "-s4K", "-b1K", "sets", "-o", "out"];
    let objects = folder.dict(&cluster).ok().objects();
    let [.., summary] = objects.as_slice() else { panic!() };
    let packed = &summary["dictionaries"];
    assert_eq!((&packed[0]["number"], &packed[1]["number"]), (&1.into(), &2.into()), "{packed}");
    assert!(packed[0].get("file").is_none() && packed[0]["sets"] == 3, "{packed}");
    let users: Vec<u64> = listed(&folder, "out/dictionaries.pack").iter().map(|entry| entry.2).collect();
    assert_eq!(users, [3, 3]);
    let text = String::from_utf8(folder.read("out/assignment.json")).unwrap();
    let numbers: Vec<u64> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["dictionary"].as_u64().unwrap())
        .collect();
    assert!(numbers.iter().enumerate().all(|(i, number)| *number == numbers[i % 2]), "{numbers:?}");
    let run =
        folder.dict(&["pack", "release", "out/dictionaries.pack", &numbers[0].to_string(), "sets/0", "-v"]);
    assert!(run.stderr.contains("1 of 1 users"), "sets are users by their paths: {}", run.stderr);
}

#[test]
fn damaged_packs_and_other_files_are_errors() {
    let folder = Folder::new();
    plant(&folder);
    folder.dict(&["pack", "make", "-o", "a.pack", "dicts"]).ok();
    let bytes = folder.read("a.pack");
    for len in [0, 7, 40, 63, bytes.len() / 2] {
        folder.write("cut.pack", &bytes[..len]);
        for args in [&["pack", "verify", "cut.pack"][..], &["pack", "list", "cut.pack"]] {
            let run = folder.dict(args);
            assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), 1), "{len}: {}", run.stderr);
        }
    }
    let (mut found, mut count) = (0, 0);
    for at in (0..bytes.len()).step_by(bytes.len() / 50) {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        folder.write("bad.pack", &bad);
        let run = folder.dict(&["pack", "verify", "bad.pack"]);
        assert!([Some(0), Some(DAMAGED)].contains(&run.status), "{at}: {}", run.stderr);
        found += usize::from(run.status == Some(DAMAGED));
        count += 1;
    }
    // A change of padding, or of one of the two trailers, is not found.
    assert!(found * 10 > count * 7, "{found} of {count}");
    folder.write("text", b"hello, this is a text and neither of them");
    let neither = "linerate: text: it is no block file, pack or SST file";
    folder.dict(&["verify", "text"]).fails(DAMAGED, neither);
    folder.dict(&["info", "text"]).fails(DAMAGED, neither);
    folder
        .dict(&["info", "absent"])
        .fails(FAILED, "linerate: absent: cannot open: No such file or directory");
    let exists = "linerate: a.pack: the pack exists already; `append` adds to it";
    folder.dict(&["pack", "make", "-o", "a.pack", "dicts"]).fails(FAILED, exists);
    folder.write("tiny", b"tiny");
    let short = "linerate: b.pack: tiny: a dictionary has fewer than 8 bytes";
    folder.dict(&["pack", "make", "-o", "b.pack", "tiny"]).fails(FAILED, short);
    let before = folder.read("a.pack");
    let run = folder.dict(&["pack", "append", "a.pack", "dicts/0.dict", "absent"]);
    run.fails(FAILED, "linerate: a.pack: absent: cannot open: No such file or directory");
    assert!(folder.read("a.pack") == before && !folder.has("b.pack"));
    for wrong in [
        &["pack"][..],
        &["pack", "make", "dicts"],
        &["pack", "append", "a.pack"],
        &["pack", "extract", "a.pack"],
        &["pack", "retain", "a.pack", "x", "name"],
        &["build", "--key", "id", "--pack", "a.pack", "text", "-o", "x"],
        &["verify"],
    ] {
        assert_eq!(folder.dict(wrong).status, Some(USAGE), "{wrong:?}");
    }
}

#[test]
fn locked_pack_is_not_changed_and_its_holder_is_named() {
    let folder = Folder::new();
    folder.write("dicts/1.dict", b"a dictionary may be any bytes that messages have in common");
    folder.write("2.dict", b"and another one has other bytes that are in no message at all");
    folder.write("empty", b"");
    folder.dict(&["pack", "make", "-o", "a.pack", "dicts"]).ok();
    let before = folder.read("a.pack");
    let lock = linerate_io::Lock::exclusive(folder.path("a.pack"), linerate_io::Wait::No).unwrap();
    for args in [
        &["pack", "append", "a.pack", "2.dict"][..],
        &["pack", "compact", "a.pack"],
        &["pack", "retain", "a.pack", "1", "user"],
        &["pack", "append", "--wait=0", "a.pack", "2.dict"],
        &["build", "--records", "--pack", "a.pack", "--number", "1", "empty", "-o", "x.blocks"],
        &["build", "--wait=0", "--records", "--pack", "a.pack", "--number", "1", "empty", "-o", "x.blocks"],
    ] {
        let run = folder.dict(args);
        assert_eq!(run.status, Some(FAILED), "{args:?}");
        assert!(run.stderr.contains("a.pack is being changed by "), "{args:?}: {}", run.stderr);
        assert!(folder.read("a.pack") == before);
    }
    drop(lock);
    folder.dict(&["pack", "append", "--wait=0", "a.pack", "2.dict"]).ok();
}
