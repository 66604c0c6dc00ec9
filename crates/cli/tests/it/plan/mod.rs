//! `linerate plan` as a user meets it: the real program on real files.

mod shapes;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use linerate_testkit::data::mixed;
use linerate_testkit::disk::Disk;
use linerate_testkit::program::{Folder, Run, WARNED, files_below};
use serde_json::Value;

/// Subcommand and options for a short measurement, which is enough since speeds are not checked.
const QUICK: [&str; 3] = ["plan", "--seconds", "0.05"];

fn plan(folder: &Folder, args: &[&str]) -> Run {
    Run::of(&mut folder.command(&[&QUICK[..], args].concat()), b"")
}

fn text(run: Run) -> String {
    String::from_utf8(run.ok().stdout).expect("UTF-8")
}

fn json(folder: &Folder, args: &[&str]) -> Value {
    let text = text(plan(folder, &[&["--json"], args].concat()));
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).expect("JSON")
}

/// Writes the folder `mods`, with 20 small files of JSON and a large file of text and noise.
fn mods(folder: &Folder) {
    for i in 0..20 {
        let row = format!("{{\"id\":{i},\"name\":\"item {}\",\"tags\":[\"common\",\"tool\"]}},", i * 37);
        folder.write(&format!("mods/items/{i}.json"), row.repeat(40 + i).as_bytes());
    }
    folder.write("mods/large.bin", &mixed(700_000));
}

#[test]
fn folder_gives_a_sentence_a_command_and_a_table() {
    let folder = Folder::new();
    mods(&folder);
    let found = text(plan(&folder, &["--pipe", "10MB/s", "mods"]));
    let mut lines = found.lines();
    assert!(lines.next().is_some_and(|sentence| sentence.contains("10 MB/s")), "{found}");
    assert!(found.contains("\n  linerate nx pack "), "{found}");
    assert!(
        found.contains(
            "mods -o mods.nx\n\nTo decode, where the files are not: linerate nx extract mods.nx -o mods\n\n"
        ),
        "{found}"
    );
    assert!(found.contains("\n> "), "{found}");
    let titles = ["ratio", "delivers", "product", "per core", "cores", "encodes"].join("  ");
    let squeezed = |text: &str| {
        text.split("  ").filter(|part| !part.is_empty()).map(str::trim).collect::<Vec<_>>().join("  ")
    };
    assert!(found.lines().any(|line| squeezed(line) == titles), "{found}");
    let found = text(plan(&folder, &["--goal", "speed", "--memory-per-stream", "1G", "mods"]));
    assert!(found.contains("memory\n") && !found.contains("product"), "{found}");
}

#[test]
fn verbose_lists_every_candidate() {
    let folder = Folder::new();
    mods(&folder);
    let run = plan(&folder, &["-v", "mods"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let found = String::from_utf8(run.stdout).expect("UTF-8");
    for settings in ["LZ4 1, blocks of 1 MiB", "zstd 12, blocks of 128 KiB", "preset archive"] {
        assert!(found.contains(settings), "{found}");
    }
    assert!(run.stderr.starts_with("mods: files, "), "{}", run.stderr);
}

#[test]
fn every_command_of_a_folder_runs_as_printed() {
    let folder = Folder::new();
    mods(&folder);
    every_command_runs(&folder, "mods", &["mods.nx"]);
}

#[test]
fn every_command_of_a_file_runs_as_printed() {
    let folder = Folder::new();
    folder.write("logs/some text.log", &mixed(300_000));
    let outputs = ["logs/some text.log.gz", "logs/some text.log.nx", "logs/some text.log.zst"];
    every_command_runs(&folder, "logs/some text.log", &outputs);
}

#[test]
fn every_command_runs_for_names_that_begin_with_a_hyphen() {
    let folder = Folder::new();
    mods(&folder);
    std::fs::rename(folder.path("mods"), folder.path("-mods")).expect("movable");
    every_command_runs(&folder, "-mods", &["-mods.nx"]);
    folder.write("-k", &mixed(100_000));
    every_command_runs(&folder, "-k", &["-k.gz", "-k.nx", "-k.zst"]);
    let found = text(plan(&folder, &["--pipe", "1MB/s", "--", "-k"]));
    assert!(found.contains(" ./-k"), "{found}");
}

#[track_caller]
fn every_command_runs(folder: &Folder, data: &str, outputs: &[&str]) {
    let made = commands_run(folder, &json(folder, &["--", data]), &[data]);
    assert_eq!(made.iter().collect::<Vec<_>>(), outputs);
}

/// Runs the command of every candidate as printed, on this data. If there is one that decodes,
/// deletes the data, runs it too, and compares the data. Deletes the outputs, and returns their
/// names.
#[track_caller]
fn commands_run(folder: &Folder, plan: &Value, data: &[&str]) -> BTreeSet<String> {
    let before = files_below(&folder.path("."));
    let is_data = |name: &str| data.iter().any(|data| Path::new(name).starts_with(data));
    let run = |command: &Value| -> Run {
        let words = words(command);
        assert_eq!(words[0], "linerate");
        let run = Run::of(&mut folder.command(&words[1..]), b"");
        // A dictionary for so little data may save less than its own size, which is a warning.
        let warns = words[1..3] == ["dict", "train"] && run.status == Some(WARNED);
        assert!(run.status == Some(0) || warns, "{words:?}: {}", run.stderr);
        run
    };
    let mut made = BTreeSet::new();
    let candidates = plan["candidates"].as_array().expect("a list").iter();
    for candidate in candidates.filter(|candidate| !candidate["command"].is_null()) {
        run(&candidate["command"]);
        let outputs = files_below(&folder.path(".")).into_keys().filter(|name| !before.contains_key(name));
        let outputs: Vec<String> = outputs.collect();
        let decode = &candidate["decode_command"];
        let encode = words(&candidate["command"]);
        assert_eq!(decode.is_null(), is_not_decoded(&encode[1..]), "{encode:?}");
        if !decode.is_null() {
            let lost = || before.iter().filter(|(name, _)| is_data(name));
            lost().for_each(|(name, _)| std::fs::remove_file(folder.path(name)).expect("removable"));
            let printed = run(decode).stdout;
            if words(decode)[1..3] == ["dict", "scan"] {
                let lines = |text: &[u8]| -> Vec<Vec<u8>> {
                    text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
                };
                let mut original: Vec<Vec<u8>> = lost().flat_map(|(_, rows)| lines(rows)).collect();
                original.sort();
                assert!(lines(&printed) == original, "{decode}");
                lost().for_each(|(name, rows)| _ = folder.write(name, rows));
            }
            outputs.iter().for_each(|name| assert!(folder.has(name), "{decode} deletes {name}"));
        }
        outputs.iter().for_each(|name| std::fs::remove_file(folder.path(name)).expect("removable"));
        assert!(files_below(&folder.path(".")) == before, "{encode:?}, {decode}");
        made.extend(outputs);
    }
    made
}

/// Whether no command decodes what this one makes.
fn is_not_decoded(encode: &[&str]) -> bool {
    matches!(encode, ["dict", "train" | "cluster" | "sst", ..])
}

fn words(command: &Value) -> Vec<&str> {
    command.as_array().expect("words").iter().filter_map(Value::as_str).collect()
}

#[test]
fn command_line_is_quoted_for_a_shell() {
    let folder = Folder::new();
    folder.write("it's text.log", &b"all work and no play ".repeat(5000));
    let found = json(&folder, &["--pipe", "1MB/s", "it's text.log"]);
    let line = found["command_line"].as_str().expect("a command");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_linerate")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).env("PATH", path).current_dir(folder.path("."));
    assert!(shell.status().expect("a shell").success(), "{line}");
    assert!(["gz", "zst", "nx"].iter().any(|end| folder.has(&format!("it's text.log.{end}"))), "{line}");
}

#[test]
fn json_has_the_keys_of_the_page_and_the_same_ratios_every_time() {
    let folder = Folder::new();
    mods(&folder);
    let (first, second) = (json(&folder, &["mods"]), json(&folder, &["mods"]));
    assert_eq!((first["status"].as_str(), first["mode"].as_str()), (Some("ok"), Some("plan")));
    let page = include_str!("../../../../../docs/plan/index.md");
    for key in first.as_object().expect("an object").keys() {
        assert!(page.contains(&format!("`{key}`")), "{key} is not on the page");
    }
    let sizes = |plan: &Value| -> Vec<(String, u64)> {
        let rows = plan["candidates"].as_array().expect("a list").iter();
        rows.map(|c| (c["settings"].to_string(), c["compressed"].as_u64().expect("a number"))).collect()
    };
    assert_eq!(sizes(&first), sizes(&second));
    assert_eq!(first["shape"], "files");
}

#[test]
fn shapes_are_recognised_and_overridden() {
    let folder = Folder::new();
    folder.write("page.html", &b"<!DOCTYPE html><p>some words of a page</p>".repeat(3000));
    folder.write("noise", &mixed(100_000));
    assert_eq!(json(&folder, &["page.html"])["shape"], "text");
    assert_eq!(json(&folder, &["--shape", "bytes", "page.html"])["shape"], "bytes");
    let unknown = json(&folder, &["noise"]);
    assert_eq!(unknown["shape"], "bytes");
    let notes = unknown["notes"].to_string();
    assert!(notes.contains("no known structure"), "{notes}");
    assert_eq!(json(&folder, &["page.html", "noise"])["shape"], "files");
}

#[test]
fn missing_and_empty_data_are_errors_that_name_it() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("empty")).expect("a folder");
    plan(&folder, &["absent"]).fails(1, "linerate: absent: cannot read: No such file or directory");
    plan(&folder, &["empty"]).fails(1, "linerate: empty: nothing to compress: there is no file with content");
}

#[test]
fn read_only_folder_of_small_files_is_planned_for_an_assumed_drive() {
    let Some(disk) = Disk::new() else { return };
    (0..20).for_each(|i| drop(disk.folder.write(&format!("before/{i}.txt"), &b"words ".repeat(200))));
    for (direction, why) in [
        ("read", "the files are too small, and no file can be written beside them"),
        ("write", "no file can be written in disk: "),
    ] {
        let args = [&QUICK[..], &["--json", "--shape", "bytes", "--direction", direction, "disk"]].concat();
        let found = disk.run_read_only(&args).ok().object();
        assert!(found["notes"][0].as_str().is_some_and(|note| note.contains(why)), "{found}");
        assert_eq!(found["pipe"]["name"], "nvme-4.0");
        assert!(found["candidates"].as_array().is_some_and(|all| all.len() > 10), "{found}");
    }
}

#[test]
fn wrong_pipes_and_numbers_are_errors_of_usage_that_say_what_is_right() {
    let folder = Folder::new();
    for (args, part) in [
        (&["--pipe", "fast", "."][..], "2.5GB/s"),
        (&["--min-ratio", "0", "."], "above zero"),
        (&["--shape", "cube", "."], "waveforms"),
        (&["--cores", "many", "."], "cores"),
        (&[], "DATA"),
    ] {
        let run = plan(&folder, args);
        assert_eq!(run.status, Some(2), "{args:?}");
        assert!(run.stderr.contains(part), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn report_is_a_page_of_its_own_that_replaces_the_last_one() {
    let folder = Folder::new();
    folder.write("plan.html", b"old");
    folder.write("a <b>.log", &b"all work and no play ".repeat(5000));
    let found = json(&folder, &["--report", "plan.html", "a <b>.log"]);
    assert_eq!(found["output"], "plan.html");
    let page = String::from_utf8(folder.read("plan.html")).expect("UTF-8");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"), "{}", &page[..200]);
    assert!(page.contains("a &lt;b&gt;.log") && !page.contains("<b>.log"), "names are escaped");
    assert!(!page.contains("<script") && !page.contains("src="), "no requests");
}

#[test]
fn report_in_a_missing_folder_is_an_error() {
    let folder = Folder::new();
    folder.write("text.log", b"all work and no play");
    let run = plan(&folder, &["--report", "absent/plan.html", "text.log"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("cannot write absent/plan.html"), "{}", run.stderr);
}

#[test]
fn minimum_ratio_that_nothing_reaches_is_said() {
    let folder = Folder::new();
    mods(&folder);
    let found = text(plan(&folder, &["--min-ratio", "10000", "mods"]));
    assert!(found.starts_with("Nothing is usable"), "{found}");
}
