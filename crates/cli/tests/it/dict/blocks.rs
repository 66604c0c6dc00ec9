//! `linerate dict build`, `get` and `scan`.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value, json};

use super::data::{DAMAGED, FAILED, USAGE, WARNED, kind, lines_of, rows};
use linerate_testkit::data::Noise;
use linerate_testkit::program::{Folder, Run};

/// Rows in another order than that of their keys.
fn shuffled(count: usize) -> Vec<Value> {
    let mut rows = rows(1, count, 3);
    let mut noise = Noise::new(9);
    for i in (1..rows.len()).rev() {
        rows.swap(i, noise.below(i + 1));
    }
    rows
}

/// Rows as length-prefixed records.
fn records(rows: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    for bytes in rows.iter().flat_map(|(key, value)| [key, value]) {
        out.extend((bytes.len() as u32).to_le_bytes());
        out.extend(bytes);
    }
    out
}

#[test]
fn json_lines_are_scanned_in_key_order() {
    let folder = Folder::new();
    let rows = shuffled(3000);
    folder.write("rows", &lines_of(&rows));
    let mut sorted = rows.clone();
    sorted.sort_by(|a, b| a["id"].as_str().cmp(&b["id"].as_str()));
    let cases: [&[&str]; 5] = [
        &[],
        &["--no-dictionary", "--no-checksums", "-b", "1K"],
        &["-s", "2K", "--small-tables", "--level", "9"],
        &["-D", "d", "-b", "16K"],
        &["-M", "64K"],
    ];
    folder.dict(&["train", "--lines", "--expect=1G", "rows", "-o", "d"]).ok();
    for (i, options) in cases.iter().enumerate() {
        let name = format!("{i}.blocks");
        let args = [&["build", "--key", "id", "--json", "rows", "-o", &name][..], options].concat();
        let run = folder.dict(&args);
        // The dictionary of -D takes more bytes than it saves in so little data: a warning.
        assert_eq!(run.status, Some(if i == 3 { WARNED } else { 0 }), "{run:?}");
        let built = run.objects().remove(0);
        assert_eq!(
            (built["records"].as_u64(), built["bytes"].as_u64()),
            (Some(3000), Some(folder.read(&name).len() as u64))
        );
        assert_eq!(built["dictionary"].is_null(), i == 1, "{built}");
        assert!(folder.dict(&["scan", &name]).ok().stdout == lines_of(&sorted), "{options:?}");
        let objects = folder.dict(&["scan", "--json", &name]).ok().objects();
        assert!(
            objects
                .iter()
                .zip(&sorted)
                .all(|(found, row)| found["value"] == *row && found["key"] == row["id"])
        );
        assert_eq!(objects.len(), 3000);
        for row in sorted.iter().step_by(271) {
            let found = folder.dict(&["get", &name, row["id"].as_str().unwrap()]).ok().stdout;
            assert_eq!(found, format!("{row}\n").as_bytes());
        }
    }
    let size = |i: usize| folder.read(&format!("{i}.blocks")).len();
    assert!(size(0) < size(1), "a dictionary makes it smaller");
    assert!(folder.read("4.blocks") == folder.read("0.blocks"), "memory changes nothing");
    assert_eq!(folder.names(), ["0.blocks", "1.blocks", "2.blocks", "3.blocks", "4.blocks", "d", "rows"]);
}

#[test]
fn records_round_trip() {
    let folder = Folder::new();
    let mut noise = Noise::new(3);
    let mut rows = BTreeMap::new();
    for i in 0..1000 {
        let key: Vec<u8> = (0..1 + noise.below(20)).map(|_| noise.below(256) as u8).collect();
        rows.insert(key, vec![i as u8; noise.below(400)]);
    }
    rows.insert(Vec::new(), b"of the empty key".to_vec());
    let bytes = records(&rows);
    folder.write("rec", &bytes);
    folder.dict_with(&["build", "--records", "-", "-o", "a.blocks"], &bytes).ok();
    folder.dict(&["build", "--records", "rec", "-o", "b.blocks"]).ok();
    assert!(folder.read("a.blocks") == folder.read("b.blocks"));
    assert!(folder.dict(&["scan", "--records", "a.blocks"]).ok().stdout == bytes);
    let (key, value) = rows.iter().find(|(key, _)| std::str::from_utf8(key).is_err()).unwrap();
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let found = folder.dict(&["get", "--hex", "--records", "a.blocks", &hex]).ok().stdout;
    assert_eq!(found, records(&BTreeMap::from([(key.clone(), value.clone())])));
    let object = folder.dict(&["get", "--hex", "--json", "a.blocks", &hex]).ok().objects().remove(0);
    assert_eq!(object["key_hex"], json!(hex));
}

#[test]
fn ranges_and_prefixes_choose_records() {
    let folder = Folder::new();
    folder.write("rows", &lines_of(&rows(1, 500, 1)));
    folder.dict(&["build", "--key", "id", "rows", "-o", "a"]).ok();
    let keys = |args: &[&str]| folder.dict(&[&["scan", "--keys", "a"][..], args].concat()).ok().lines();
    let numbers = |range: std::ops::Range<usize>| range.map(|i| format!("user-{i:06}")).collect::<Vec<_>>();
    assert_eq!(keys(&[]), numbers(0..500));
    assert_eq!(keys(&["--from", "user-000100", "--to", "user-000103"]), numbers(100..103));
    assert_eq!(keys(&["--from", "user-000495x"]), numbers(496..500));
    assert_eq!(keys(&["--to", "user-000002"]), numbers(0..2));
    assert_eq!(keys(&["--prefix", "user-00012"]), numbers(120..130));
    assert_eq!(keys(&["--prefix", "user-00012", "--limit", "3"]), numbers(120..123));
    assert_eq!(keys(&["--prefix", "nobody"]), numbers(0..0));
    assert_eq!(keys(&["--from", "z", "--to", "a"]), numbers(0..0));
    let objects = folder.dict(&["scan", "--keys", "--json", "--limit=1", "a"]).ok().objects();
    assert_eq!(objects, [json!({ "key": "user-000000" })]);
    assert_eq!(keys(&["--hex", "--limit=1"]), ["757365722d303030303030"]);
}

#[test]
fn missing_keys_are_named_and_others_printed() {
    let folder = Folder::new();
    folder
        .write("rows", b"{\"n\":7,\"user\":{\"name\":\"ann\"}}\n\n{\"n\":12,\"user\":{\"name\":\"bob\"}}\n");
    folder.dict(&["build", "--key", "/user/name", "rows", "-o", "a"]).ok();
    let run = folder.dict(&["get", "a", "bob", "eve", "ann"]);
    run.fails(FAILED, "linerate: a: eve: there is no such key");
    assert_eq!(run.lines().len(), 2);
    let run = folder.dict(&["get", "--json", "a", "eve"]);
    let (line, object) = run.stderr.split_once('\n').expect("a line and an object");
    assert_eq!((run.status, line), (Some(FAILED), "linerate: a: eve: there is no such key"));
    assert_eq!(serde_json::from_str::<Value>(object).expect("JSON")["key"], "eve");
    folder.dict(&["build", "--key", "n", "rows", "-o", "b"]).ok();
    assert_eq!(folder.dict(&["scan", "--keys", "b"]).ok().lines(), ["12", "7"]);
}

#[test]
fn values_are_printed_unchanged() {
    let folder = Folder::new();
    let line = r#"{"z":1,"id":7,"a":123456789012345678901234567890,"f":1.50}"#;
    folder.write("rows", format!("{line}\n").as_bytes());
    folder.dict(&["build", "--key", "id", "rows", "-o", "a"]).ok();
    let printed = folder.dict(&["scan", "--json", "a"]).ok().lines();
    assert_eq!(printed, [format!("{{\"key\":\"7\",\"value\":{line}}}")]);
    for (value, expected) in [
        (&b"no JSON"[..], r#"{"key":"k","value":"no JSON"}"#),
        (b"[1,\n2]", r#"{"key":"k","value":"[1,\n2]"}"#),
        (b"\xff", r#"{"key":"k","value_hex":"ff"}"#),
    ] {
        folder.write("rec", &records(&BTreeMap::from([(b"k".to_vec(), value.to_vec())])));
        folder.dict(&["build", "-f", "--records", "rec", "-o", "b"]).ok();
        assert_eq!(folder.dict(&["get", "--json", "b", "k"]).ok().lines(), [expected]);
    }
}

#[cfg(unix)]
mod interrupted {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::path::PathBuf;
    use std::process::{Child, Stdio};
    use std::thread::sleep;
    use std::time::Duration;

    use linerate_testkit::kill::terminate;

    use super::*;

    /// Sends the program a signal, which ends it.
    fn end(mut child: Child) {
        terminate(&child);
        let status = child.wait().expect("it ends");
        assert_eq!(status.signal(), Some(15), "{status}");
    }

    #[test]
    fn signal_while_waiting_for_input_ends_the_program() {
        let folder = Folder::new();
        let mut command = folder.command(&["dict", "build", "--records", "-", "-o", "a"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("piped");
        // This is more than a pipe holds: once it is written, the program is reading.
        let record = records(&BTreeMap::from([(b"k".to_vec(), vec![0; 300_000])]));
        stdin.write_all(&record).expect("the program reads");
        end(child);
        assert!(folder.names().is_empty());
    }

    #[test]
    fn signal_while_writing_removes_the_output() {
        let folder = Folder::new();
        let mut noise = Noise::new(1);
        let value = |noise: &mut Noise| (0..1000).map(|_| b'a' + noise.below(9) as u8).collect();
        let rows = (0..20_000u32).map(|i| (i.to_be_bytes().to_vec(), value(&mut noise))).collect();
        folder.write("rec", &records(&rows));
        // At level 22 the work takes seconds.
        let mut command = folder.command(&["dict", "build", "--records", "--level=22", "rec", "-o", "a"]);
        let child = command.spawn().expect("the program starts");
        // On Linux the file has no name yet, but the program has it open.
        let open = format!("/proc/{}/fd", child.id());
        let is_begun = || {
            let fds = std::fs::read_dir(&open).into_iter().flatten().flatten();
            let mut files = fds.filter_map(|fd| std::fs::read_link(fd.path()).ok());
            let is_output = |file: PathBuf| file.starts_with(folder.path("")) && !file.ends_with("rec");
            folder.names().len() > 1 || files.any(is_output)
        };
        (0..3000).take_while(|_| !is_begun()).for_each(|_| sleep(Duration::from_millis(10)));
        assert!(is_begun());
        end(child);
        assert_eq!(folder.names(), ["rec"]);
    }
}

#[test]
fn duplicates_are_an_error_or_the_last_record_is_kept() {
    let folder = Folder::new();
    folder.write("rows", b"{\"k\":\"a\",\"v\":1}\n{\"k\":\"b\"}\n{\"k\":\"a\",\"v\":2}\n");
    let run = folder.dict(&["build", "--key", "k", "rows", "-o", "a"]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(FAILED), 1), "{}", run.stderr);
    assert!(run.stderr.contains("duplicate key"), "{}", run.stderr);
    assert_eq!(folder.names(), ["rows"]);
    folder.dict(&["build", "--key", "k", "--duplicates=last", "rows", "-o", "a"]).ok();
    assert_eq!(folder.dict(&["get", "a", "a"]).ok().lines(), ["{\"k\":\"a\",\"v\":2}"]);
}

#[test]
fn invalid_record_is_one_line_of_error() {
    let folder = Folder::new();
    let build = |bytes: &[u8], args: &[&str]| {
        folder.write("in", bytes);
        let run = folder.dict(&[&["build", "in", "-o", "a"][..], args].concat());
        assert_eq!(folder.names(), ["in"]);
        run
    };
    let key = &["--key", "id"][..];
    for (bytes, line) in [
        (&b"{\"id\":\"a\"}\nhello\n"[..], "the line is not JSON (at byte 11)"),
        (b"{\"name\":1}", "the line has no field `id`"),
        (b"{\"id\":[]}", "the field `id` is neither text nor a whole number"),
        (b"{\"id\":1.5}", "the field `id` is neither text nor a whole number"),
    ] {
        build(bytes, key).fails(DAMAGED, &format!("linerate: in: {line}"));
    }
    let records = &["--records"][..];
    for bytes in [&[1][..], &[1, 0, 0, 0], &[1, 0, 0, 0, 65, 1, 0], &[1, 0, 0, 0, 65, 1, 0, 0, 0]] {
        let line = format!("linerate: in: the file ends inside a record (at byte {})", bytes.len());
        build(bytes, records).fails(DAMAGED, &line);
    }
    assert_eq!(build(&[0xff; 20], records).status, Some(4));
    build(b"", &["--key", "id", "-D", "absent"])
        .fails(FAILED, "linerate: in: cannot open absent: No such file or directory");
    let nowhere = "linerate: in: there is no folder no to write to";
    folder.dict(&["build", "--key", "id", "in", "-o", "no/where"]).fails(FAILED, nowhere);
    for wrong in [
        &["build", "in", "-o", "a"][..],
        &["build", "--key", "id", "--records", "in", "-o", "a"],
        &["build", "--key", "id", "in"],
        &["build", "--key", "id", "-b", "3", "in", "-o", "a"],
        &["build", "--key", "id", "-D", "in", "--no-dictionary", "in", "-o", "a"],
        &["get", "a"],
        &["get", "--hex", "a", "xyz"],
        &["scan", "--prefix=a", "--from=b", "a"],
        &["scan", "--json", "--records", "a"],
    ] {
        assert_eq!(folder.dict(wrong).status, Some(USAGE), "{wrong:?}");
    }
}

#[test]
fn damaged_block_files_are_errors() {
    let folder = Folder::new();
    folder.write("rows", &lines_of(&rows(1, 2000, 1)));
    folder.dict(&["build", "--key", "id", "rows", "-o", "a"]).ok();
    let bytes = folder.read("a");
    let sorted = folder.dict(&["scan", "a"]).ok().stdout;
    for len in [0, 7, 63, 64, 5000, bytes.len() / 2, bytes.len() - 1] {
        folder.write("cut", &bytes[..len]);
        for args in [&["scan", "cut"][..], &["get", "cut", "user-000000"]] {
            let run = folder.dict(args);
            assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), 1), "{len}: {}", run.stderr);
        }
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 40) {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        folder.write("bad", &bad);
        let run = folder.dict(&["scan", "bad"]);
        assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), 1), "{at}: {}", run.stderr);
        assert!(sorted.starts_with(&run.stdout), "what is printed before is right: {at}");
    }
    let run = folder.dict(&["scan", "rows"]);
    assert_eq!(run.status, Some(DAMAGED), "{}", run.stderr);
    folder
        .dict(&["scan", "absent"])
        .fails(FAILED, "linerate: absent: cannot open: No such file or directory");
    folder.write("folder/x", b"");
    folder.dict(&["get", "folder", "k"]).fails(FAILED, "linerate: folder: it is a directory");
}

/// The limit on the size of files (`ulimit -f`) stands for a full disk.
#[test]
#[cfg(unix)]
fn unwritable_output_is_an_error_with_the_reason() {
    let folder = Folder::new();
    folder.write("rows.json", &lines_of(&shuffled(3000)));
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path("")).args(["-c", "ulimit -f 16; trap '' XFSZ; exec \"$@\"", "sh"]);
    shell.args([env!("CARGO_BIN_EXE_linerate"), "dict", "build", "--key", "id", "--no-dictionary"]);
    shell.args(["rows.json", "-o", "rows.blocks"]);
    Run::of(&mut shell, b"").fails(FAILED, "linerate: rows.json: cannot write rows.blocks: File too large");
    assert_eq!(folder.names(), ["rows.json"]);
    let absent = ["build", "--key", "id", "rows.json", "-o", "rows.json/rows.blocks"];
    folder.dict(&absent).fails(FAILED, "linerate: rows.json: there is no folder rows.json to write to");
}

#[test]
#[cfg(unix)]
fn fifo_as_output_is_written_to() {
    use std::os::unix::fs::FileTypeExt;
    let folder = Folder::new();
    folder.write("rows", &lines_of(&shuffled(2000)));
    folder.dict(&["build", "--key", "id", "rows", "-o", "file"]).ok();
    assert!(Command::new("mkfifo").arg(folder.path("fifo")).status().unwrap().success());
    let path = folder.path("fifo");
    let reader = std::thread::spawn(move || std::fs::read(path).unwrap());
    folder.dict(&["build", "-f", "--key", "id", "rows", "-o", "fifo"]).ok();
    assert!(reader.join().unwrap() == folder.read("file"));
    assert!(std::fs::metadata(folder.path("fifo")).unwrap().file_type().is_fifo());
    assert_eq!(folder.names(), ["fifo", "file", "rows"]);
}

#[test]
fn a_damaged_dictionary_is_named() {
    let folder = Folder::new();
    folder.write("rows", &lines_of(&shuffled(10)));
    // The magic number and an ID, without tables.
    folder.write("bad", &[0x37, 0xa4, 0x30, 0xec, 1, 0, 0, 0, 0xff]);
    let run = folder.dict(&["build", "--key", "id", "-D", "bad", "rows", "-o", "a"]);
    assert_eq!(run.status, Some(DAMAGED), "{}", run.stderr);
    assert!(run.stderr.starts_with("linerate: rows: bad: "), "{}", run.stderr);
    assert!(!folder.has("a"));
}

#[test]
fn build_compares_the_dictionary_with_none_in_the_words_of_train() {
    let folder = Folder::new();
    folder.write("rows", &lines_of(&rows(1, 4000, 1)));
    folder.write("poor.dict", &kind(1, 1, 6000));
    let saved = folder.dict(&["build", "--key", "id", "--json", "rows", "-o", "a"]).ok().objects().remove(0);
    let bytes = |name: &str| saved["savings"][name].as_u64().expect("a number");
    assert!(bytes("with") < bytes("without") && bytes("without") < bytes("content"), "{saved}");
    // The estimated size without a dictionary may differ slightly from that of a file without one.
    let plain = folder.dict(&["build", "--key", "id", "--json", "--no-dictionary", "rows", "-o", "b"]).ok();
    let stored = plain.objects()[0]["stored_bytes"].as_u64().expect("a number");
    assert!(stored.abs_diff(bytes("without")) < 2 * saved["blocks"].as_u64().expect("a number"), "{saved}");
    let lines = folder.dict(&["build", "-f", "--key", "id", "rows", "-o", "a"]).ok().lines();
    assert!(lines[0].starts_with("the dictionary saves ") && lines[0].ends_with(" without"), "{lines:?}");
    assert_eq!(saved["savings"]["measured"], saved["savings"]["content"]);
    // The estimate is from 2 MiB of more rows.
    folder.write("many", &lines_of(&rows(1, 40_000, 1)));
    let lines = folder.dict(&["build", "-f", "--key", "id", "many", "-o", "a"]).ok().lines();
    let (_, measured) = lines[0].split_once(" without, estimated from ").expect("the sampled bytes");
    let measured: u64 = measured.split(' ').next().expect("a number").parse().expect("a number");
    assert!(measured <= 2 << 20 && measured < folder.read("many").len() as u64, "{lines:?}");

    let run = folder.dict(&["build", "--key", "id", "-D", "poor.dict", "rows", "-o", "c"]);
    assert_eq!(run.status, Some(WARNED), "{run:?}");
    assert!(run.stderr.starts_with("linerate: rows: the dictionary saves nothing: "), "{run:?}");
    assert!(run.stderr.ends_with("; --no-dictionary makes a smaller file\n"), "{run:?}");
}
