//! What all shapes share: their list, records, `--against`, charts and `remake`.

use std::process::Command;

use linerate_bench::harness::provenance;
use linerate_testkit::program::{FAILED, Folder, Run, USAGE};

use super::{bench, measurements};

/// Arguments of a run of the shape "bytes" that takes little time.
const BYTES: [&str; 9] =
    ["bytes", "--corpus", "corpus", "--chunk", "4K", "--rounds", "3", "--only", "linerate 1,memcpy"];

fn with_corpus() -> Folder {
    let folder = Folder::new();
    folder.write("corpus/text", "some words of text\n".repeat(2000).as_bytes());
    folder
}

#[test]
fn shapes_and_contenders_are_listed() {
    let text = bench(&Folder::new(), &["contenders"]).ok().text();
    for shape in [
        "bytes", "threads", "inflate", "frames", "cold", "packs", "sst", "messages", "rice", "archives",
        "plan",
    ] {
        assert!(text.lines().any(|line| line.trim().starts_with(shape)), "{shape}: {text}");
    }
    assert!(text.contains("linerate 2 deflate") && text.contains("zlib-rs 1"), "{text}");
    for line in
        ["  zstd-stream: libzstd 8K", "  libzstd, cold, raw copy", "  RocksDB", "  linerate fast-load"]
    {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    let text = bench(&Folder::new(), &["contenders", "frames"]).ok().text();
    assert!(text.contains("  libzstd\n") && !text.contains("RocksDB"), "{text}");
    assert_eq!(bench(&Folder::new(), &["contenders", "frame"]).status, Some(1));
}

#[test]
fn a_run_against_its_own_record_has_every_measurement_in_both() {
    let folder = with_corpus();
    bench(&folder, &[&BYTES[..], &["--record", "r.jsonl"]].concat());
    let text = bench(&folder, &[&BYTES[..], &["--against", "r.jsonl"]].concat()).text();
    assert!(text.contains("now by then") && text.contains("speed"), "{text}");
    assert!(
        !text.contains("not measured now: ") && !text.contains("new: ") && !text.contains("another CPU"),
        "{text}"
    );
    let found = measurements(&bench(&folder, &[&BYTES[..], &["--json"]].concat()));
    assert!(found.len() >= 3, "{found:?}");
}

#[test]
fn a_file_that_is_no_record_is_an_error_before_the_run() {
    let folder = with_corpus();
    folder.write("other.jsonl", b"date,cpu,what\n");
    for name in ["other.jsonl", "absent.jsonl"] {
        let run = bench(&folder, &[&BYTES[..], &["--against", name]].concat());
        assert!(
            run.status == Some(1) && run.stderr.starts_with(&format!("linerate-bench: {name}")),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn record_is_drawn_with_a_chart_for_each_case() {
    let folder = with_corpus();
    let more = ["--record", "r.jsonl", "--chunk", "1K"];
    let args: Vec<&str> =
        BYTES.iter().copied().filter(|word| !["--chunk", "4K"].contains(word)).chain(more).collect();
    bench(&folder, &args);
    let made = bench(&folder, &["chart", "r.jsonl", "--out", "plots"]).ok().lines();
    assert_eq!(made.len(), 1, "{made:?}");
    let svg = String::from_utf8(folder.read(&made[0])).unwrap();
    assert!(
        svg.starts_with("<svg ")
            && svg.contains("<title>linerate 1 gzip</title>")
            && svg.ends_with("</svg>\n"),
        "{svg}"
    );
}

#[test]
fn remake_succeeds_and_lists_what_the_machine_lacks() {
    let folder = Folder::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate-bench"));
    // With an empty PATH there is no C compiler.
    command.args(["remake", "--only", "sst,threads"]).current_dir(folder.path("")).env("PATH", "");
    let run = Run::of(command.env_remove("LINERATE_CORPORA"), b"");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let text = run.text();
    for line in [
        "Not measured: 2 runs that lack something, 0 that failed:",
        "  threads --corpus silesia: not found below $LINERATE_CORPORA",
        "  sst: missing: a C compiler or RocksDB's library",
    ] {
        assert!(text.lines().any(|found| found == line), "{text}");
    }
}

#[test]
fn the_record_names_what_was_built_not_the_checkout_of_the_run() {
    let folder = with_corpus();
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate-bench"));
    // An empty PATH has no git.
    let run = Run::of(command.args(BYTES).arg("--json").current_dir(folder.path("")).env("PATH", ""), b"");
    assert_eq!(run.objects()[0]["run"]["linerate"], *provenance::run().linerate, "{}", run.stderr);
}

#[test]
fn file_too_short_to_train_a_dictionary_is_an_error() {
    let folder = Folder::new();
    folder.write("short", b"short");
    let run = bench(&folder, &["packs", "--quick", "short"]);
    let wanted = "linerate-bench: short: no dictionary can be trained; at least 819200 bytes are needed\n";
    assert_eq!((run.status, &*run.stderr), (Some(FAILED), wanted));
}

#[test]
fn options_that_would_be_ignored_are_usage_errors() {
    for args in [&["bytes", "--max-bytes-per-file", "9"][..], &["archives", "--name", "x"]] {
        assert_eq!(bench(&Folder::new(), args).status, Some(USAGE), "{args:?}");
    }
}

#[test]
fn quick_does_not_replace_a_given_size() {
    let folder = with_corpus();
    let args = ["frames", "--corpus", "corpus", "--case", "1K", "--flush", "1K", "--json", "--quick"];
    let ratio = |more: &[&str]| {
        let found = measurements(&bench(&folder, &[&args[..], more].concat()).ok());
        let stream = found.iter().find(|m| m["params"]["block"] == "1K flush").expect("a stream");
        stream["metrics"]["ratio"].as_f64().unwrap()
    };
    assert!(ratio(&["--most", "1K"]) < ratio(&[]), "the first piece has nothing to refer to");
}
