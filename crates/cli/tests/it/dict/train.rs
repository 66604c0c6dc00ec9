//! `linerate dict train`.

use std::process::Command;

use linerate_testkit::tools::has_program;

use super::data::{FAILED, USAGE, WARNED, kind, lines_of, rows};
use linerate_testkit::data::Noise;
use linerate_testkit::program::{Folder, Run};

#[test]
fn dictionary_is_trained_and_its_savings_printed() {
    let folder = Folder::new();
    folder.write("rows", &lines_of(&rows(1, 4000, 1)));
    let args = ["train", "--lines", "--expect", "100M", "rows", "-o", "rows.dict"];
    let lines = folder.dict(&args).ok().lines();
    assert!(lines[0].contains(" samples of ") && lines[2].ends_with("best"), "{lines:?}");
    let dictionary = folder.read("rows.dict");
    assert_eq!(dictionary[..4], 0xec30_a437_u32.to_le_bytes());
    assert!(dictionary.len() <= 8192);

    let small = ["train", "--lines", "--small-tables", "--json", "-s", "4K", "rows", "-o", "small.dict"];
    let found = folder.dict(&small).ok().objects().remove(0);
    assert_eq!(found["dictionary"]["bytes"], folder.read("small.dict").len());
    assert_eq!(found["output"], "small.dict");
    assert!(found["dictionary"]["tables"].as_u64() <= Some(2840), "{found}");
    let [gained, plain] = [&found["sizes"][0]["ratio_of_blocks"], &found["without"]["ratio"]];
    assert!(gained.as_f64() > plain.as_f64(), "{found}");
    // Counting the dictionary's own bytes, the ratio is lower.
    assert!(found["sizes"][0]["ratio"].as_f64() < gained.as_f64(), "{found}");
    assert!(folder.read("small.dict").len() <= 4096);
    assert_eq!(folder.names(), ["rows", "rows.dict", "small.dict"]);
}

#[test]
fn blocks_of_an_sst_file_are_samples_and_other_files_are_refused() {
    let folder = Folder::new();
    let table = linerate_testkit::testdata::repository().join("testdata/sst/5-crc32c-zstd-trained.sst");
    std::fs::copy(table, folder.path("000012.sst")).expect("a copy");
    let args = ["train", "--sst", "--json", "--expect=1G", "-s", "2K", "000012.sst", "-o", "t.dict"];
    let found = folder.dict(&args).ok().objects().remove(0);
    let stats = folder.dict(&["sst", "stats", "--json", "000012.sst"]).ok().objects().remove(0);
    let blocks = &stats["blocks"]["zstd"]["blocks"];
    assert!(blocks.as_u64() > Some(1) && found["samples"] == *blocks, "{found} {stats}");
    assert!((1..=2048).contains(&folder.read("t.dict").len()));
    folder.write("rows", &lines_of(&rows(1, 100, 1)));
    let run = folder.dict(&["train", "--sst", "rows", "-o", "u.dict"]);
    assert!(run.status != Some(0) && run.stderr.contains("rows: "), "{}", run.stderr);
    assert!(!folder.has("u.dict"));
    assert_eq!(folder.dict(&["train", "--sst", "--lines", "rows", "-o", "u.dict"]).status, Some(USAGE));
}

#[test]
fn search_chooses_the_best_size() {
    let folder = Folder::new();
    folder.write("rows", &lines_of(&rows(1, 4000, 1)));
    let search = |more: &[&str]| {
        let mut args = vec!["train", "--lines", "--search", "--sizes", "1K,4K,32K", "--json", "rows"];
        args.extend(more);
        folder.dict(&args)
    };
    let found = search(&["--expect", "1G", "-o", "a.dict"]).ok().objects().remove(0);
    let sizes = found["sizes"].as_array().unwrap();
    assert_eq!(sizes.iter().map(|s| s["size"].as_u64().unwrap()).collect::<Vec<_>>(), [1024, 4096, 32768]);
    let best: Vec<_> = sizes.iter().filter(|s| s["best"] == true).collect();
    assert_eq!(best.len(), 1);
    assert!(sizes.iter().all(|s| s["total"].as_u64() >= best[0]["total"].as_u64()));
    assert!(folder.read("a.dict").len() <= best[0]["size"].as_u64().unwrap() as usize);
    for threads in ["1", "3"] {
        search(&["--expect", "1G", "-p", threads, "-o", threads]).ok();
    }
    assert!(folder.read("1") == folder.read("3") && folder.read("1") == folder.read("a.dict"));

    let run = search(&["--expect", "1K", "-o", "none.dict"]);
    assert_eq!(run.status, Some(WARNED));
    assert!(
        run.stderr.starts_with("linerate: rows: the dictionary saves nothing: 1024 bytes"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.ends_with("; nothing is written\n"), "{}", run.stderr);
    assert!(!folder.has("none.dict"));
    search(&["-n"]).ok();
    assert_eq!(folder.names(), ["1", "3", "a.dict", "rows"]);
}

#[test]
fn samples_are_blocks_files_lines_or_records() {
    let folder = Folder::new();
    let text = kind(1, 1, 200 << 10);
    folder.write("a/text", &text);
    let count = |args: &[&str]| {
        let all = [&["train", "-n", "--json"][..], args].concat();
        let found = folder.dict(&all).ok().objects().remove(0);
        (found["samples"].as_u64().unwrap() as usize, found["sample_bytes"].as_u64().unwrap() as usize)
    };
    assert_eq!(count(&["a"]), (text.len().div_ceil(4096), text.len()));
    let all = text.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(count(&["--lines", "-b0", "a"]), (all, text.len() - all));
    let (gathered, bytes) = count(&["--lines", "-b2K", "a"]);
    assert!(gathered < text.len() / 2048 + 1 && bytes == text.len());
    for (i, part) in text.chunks(10_000).enumerate() {
        folder.write(&format!("b/{}/{i}", i % 3), part);
    }
    assert_eq!(count(&["-b0", "b"]), (text.len().div_ceil(10_000), text.len()));
    let mut records = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        records.extend(3u32.to_le_bytes());
        records.extend(b"key");
        records.extend((line.len() as u32).to_le_bytes());
        records.extend(line);
    }
    folder.write("records", &records);
    assert_eq!(count(&["--records", "-b0", "records"]), (all, text.len() - all));
    let (few, bytes) = count(&["--max-samples", "64K", "a"]);
    assert!(bytes <= 65536 && bytes > 56 << 10 && few <= 16);
    let input = folder.dict_with(&["train", "--lines", "-n", "--json", "-"], &text).ok().objects().remove(0);
    assert_eq!(input["sample_bytes"], text.len());
}

#[test]
fn zstd_uses_the_dictionary_in_both_directions() {
    if !has_program("zstd") {
        return;
    }
    let folder = Folder::new();
    folder.write("rows", &lines_of(&rows(1, 4000, 1)));
    let block = lines_of(&rows(2, 30, 7));
    folder.write("block", &block);
    for (name, more) in [("large", &[][..]), ("small", &["--small-tables"])] {
        folder.dict(&[&["train", "--lines", "--expect=1G", "rows", "-o", name], more].concat()).ok();
        let zstd = |args: &[&str]| {
            let mut command = Command::new("zstd");
            Run::of(command.current_dir(folder.path("")).args(["-q", "-f", "-D", name]).args(args), b"").ok()
        };
        zstd(&["block", "-o", "block.zst"]);
        assert!(folder.read("block.zst").len() < block.len() / 5);
        zstd(&["-d", "block.zst", "-o", "again"]);
        assert!(folder.read("again") == block);
        let mut ours = folder.command(&["zstd", "-dc", "-D", name, "block.zst"]);
        assert!(Run::of(&mut ours, b"").ok().stdout == block);
    }
}

#[test]
fn a_dictionary_that_loses_is_made_with_a_warning() {
    let folder = Folder::new();
    let mut noise = Noise::new(1);
    // A dictionary saves a few bytes in each of the few blocks: less than its own size.
    let words = |noise: &mut Noise| {
        (0..90).map(|_| 33 + noise.below(94) as u8).chain(*b" and the same words\n").collect()
    };
    let lines: Vec<Vec<u8>> = (0..200).map(|_| words(&mut noise)).collect();
    folder.write("rows", &lines.concat()[..22_000]);
    folder.write("noise", &(0..100_000).map(|_| noise.below(256) as u8).collect::<Vec<u8>>());
    for (file, dictionary) in [("rows", "rows.dict"), ("noise", "noise.dict")] {
        let run = folder.dict(&["train", file, "-o", dictionary]);
        assert_eq!(run.status, Some(WARNED), "{run:?}");
        let warning = format!("linerate: {file}: the dictionary saves nothing: ");
        let hint = if file == "rows" { "give --expect" } else { "blocks get no smaller with it" };
        assert!(run.stderr.starts_with(&warning) && run.stderr.contains(hint), "{run:?}");
        assert!(!folder.read(dictionary).is_empty());
    }
    let run = folder.dict(&["train", "--json", "noise", "-fo", "noise.dict"]);
    let record: serde_json::Value = serde_json::from_slice(&run.stdout).expect("an object");
    let warning = record["warnings"][0].as_str().expect("a warning");
    assert!(record["status"] == "warning" && warning.starts_with("the dictionary saves nothing"), "{record}");
    // With enough data, the dictionary saves more than its own bytes.
    folder.dict(&["train", "--lines", "--expect", "1G", "rows", "-o", "more.dict"]).ok();
}

#[test]
fn invalid_input_is_one_line_of_error() {
    let folder = Folder::new();
    folder.write("few", b"hello");
    folder.write("rows", &lines_of(&rows(1, 2000, 1)));
    folder.write("cut", &[3, 0, 0, 0, b'k']);
    let few = "the samples are too few or too short to train a dictionary of any of these sizes";
    folder.dict(&["train", "few", "-o", "d"]).fails(FAILED, &format!("linerate: few: {few}"));
    let absent = "linerate: absent: cannot open: No such file or directory";
    folder.dict(&["train", "absent", "-o", "d"]).fails(FAILED, absent);
    let within = "linerate: few: absent: cannot open: No such file or directory";
    folder.dict(&["train", "few", "absent", "-o", "d"]).fails(FAILED, within);
    let cut = "linerate: cut: the file ends inside a record (at byte 5)";
    folder.dict(&["train", "--records", "cut", "-o", "d"]).fails(super::data::DAMAGED, cut);
    folder.write("there", b"");
    let there = "linerate: rows: there exists already; -f overwrites it";
    folder.dict(&["train", "--lines", "rows", "-o", "there"]).fails(FAILED, there);
    folder.dict(&["train", "-f", "--lines", "--expect=1G", "rows", "-o", "there"]).ok();
    for size in ["0", "1", "255"] {
        let run = folder.dict(&["train", "-s", size, "--lines", "rows", "-o", "d"]);
        run.fails(FAILED, &format!("linerate: rows: {few}"));
    }
    for wrong in [
        &["train", "rows"][..],
        &["train", "-o", "d"],
        &["train", "--lines", "--records", "rows", "-o", "d"],
        &["train", "--search", "--size=4K", "rows", "-o", "d"],
        &["train", "--level=40", "rows", "-o", "d"],
        &["train", "--size=65M", "rows", "-o", "d"],
        &["train", "--block=65M", "rows", "-o", "d"],
        &["train", "--sizes=1K", "rows", "-o", "d"],
        &["nothing"],
    ] {
        assert_eq!(folder.dict(wrong).status, Some(USAGE), "{wrong:?}");
    }
}
