//! `linerate gateway transcode`: the output decodes to the same payloads.

use super::data::{DAMAGED, FAILED, USAGE, sample, sample_messages, split, write_messages, write_recording};
use linerate_testkit::program::Folder;

#[test]
fn payloads_survive_every_transcoding() {
    let folder = Folder::new();
    let raw = sample("sample.msgs");
    for (from, to, made) in [
        ("sample.zlib", "zstd-stream", "a.zst"),
        ("sample.zst", "zlib-stream", "a.zlib"),
        ("sample.msgs", "zlib-stream", "b.zlib"),
        ("sample.msgs", "zstd-stream", "b.zst"),
    ] {
        folder.gateway(&["transcode", "--to", to, &sample(from), "-o", made]).ok();
        let object = folder.gateway(&["replay", "--json", "--expect", &raw, made]).ok().object();
        assert_eq!((&object["transport"], &object["messages"]), (&to.into(), &306.into()));
    }
    for made in ["a.zst", "a.zlib"] {
        folder.gateway(&["transcode", "-f", "--to", "payloads", made, "-o", "raw"]).ok();
        assert!(split(&folder.read("raw")) == sample_messages("sample.msgs"));
    }
}

/// Messages that are compressed each on its own are written, replayed, recorded, and decoded again.
#[test]
fn independent_messages_are_replayed_and_recorded() {
    let folder = Folder::new();
    let raw = sample("sample.msgs");
    // A dictionary of raw content, which frames without a dictionary ID use.
    folder.write("feed.dict", &sample_messages("sample.msgs")[5]);
    for (to, options) in [
        ("zstd-frame", &["-D", "feed.dict"][..]),
        ("zstd-frame", &[]),
        ("gzip", &[]),
        ("zlib", &["--transport", "zlib"]),
        ("raw-deflate", &["--transport", "raw-deflate"]),
    ] {
        let dictionary = if to == "zstd-frame" { options } else { &[] };
        let made = [&["transcode", "-f", "--to", to, &raw, "-o", "made"], dictionary].concat();
        folder.gateway(&made).ok();
        folder.gateway(&[&["record", "-f", "made", "-o", "made.lgwr"], options].concat()).ok();
        // A recording states its transport, so that it is read without `--transport`.
        for (file, options) in [("made", options), ("made.lgwr", dictionary)] {
            let replay = [&["replay", "--json", "--expect", &raw, file], options].concat();
            let object = folder.gateway(&replay).ok().object();
            assert_eq!((&object["transport"], &object["messages"]), (&to.into(), &306.into()));
        }
        let back = [&["transcode", "-f", "--to", "payloads", "made", "-o", "back"], options].concat();
        folder.gateway(&back).ok();
        assert!(split(&folder.read("back")) == sample_messages("sample.msgs"));
        let counts = folder.gateway(&[&["stats", "--json", "made"], options].concat()).ok().object();
        assert_eq!(counts["messages"], 306);
    }
    let missing = folder.gateway(&["replay", "--transport", "zstd-frame", "-D", "missing", "made"]);
    assert_eq!(missing.status, Some(FAILED));
}

#[test]
fn transcode_prints_its_totals() {
    let folder = Folder::new();
    let args = ["transcode", "--json", "--to", "zstd-stream", &sample("sample.zlib"), "-o", "made"];
    let object = folder.gateway(&args).ok().object();
    let written = split(&folder.read("made")).iter().map(Vec::len).sum::<usize>() as u64;
    for (key, value) in [
        ("from", "zlib-stream".into()),
        ("to", "zstd-stream".into()),
        ("output", "made".into()),
        ("kind", "messages".into()),
        ("compressed_bytes", 70_000.into()),
        ("written_bytes", written.into()),
    ] {
        let value: serde_json::Value = value;
        assert_eq!(object[key], value, "{key}");
    }
}

#[test]
fn times_and_connections_of_recordings_are_kept() {
    let folder = Folder::new();
    write_recording(&folder, "two.lgwr", "sample.zlib", &[50, 20]);
    folder.gateway(&["transcode", "--to", "zstd-stream", "two.lgwr", "-o", "other.lgwr"]).ok();
    let object = folder.gateway(&["replay", "--json", "other.lgwr"]).ok().object();
    assert_eq!((&object["messages"], &object["connections"]), (&70.into(), &2.into()));
    assert_eq!((&object["kind"], &object["transport"]), (&"recording".into(), &"zstd-stream".into()));
    let times = |file: &str| -> Vec<String> {
        let text = folder.gateway(&["stats", "--csv", file]).ok().text();
        text.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().to_owned()).collect()
    };
    assert_eq!(times("two.lgwr"), times("other.lgwr"));
    assert_eq!(times("two.lgwr")[3], "1003");
    folder.gateway(&["transcode", "--to", "payloads", "two.lgwr", "-o", "other.msgs"]).ok();
    #[cfg(unix)]
    for made in ["other.lgwr", "other.msgs"] {
        assert_eq!(folder.mode(made), 0o600);
    }
}

#[test]
fn damaged_input_leaves_no_output() {
    let folder = Folder::new();
    let mut all = sample_messages("sample.zst");
    all[100][0] |= 6;
    write_messages(&folder, "bad", &all);
    let run = folder.gateway(&["transcode", "--to", "zlib-stream", "bad", "-o", "made"]);
    assert!(run.status == Some(DAMAGED) && run.stderr.contains("message 100: "), "{}", run.stderr);
    assert_eq!(folder.names(), ["bad"]);
}

#[test]
fn existing_output_is_kept_unless_forced() {
    let folder = Folder::new();
    folder.write("there", b"x");
    let args = ["transcode", "--to", "payloads", &sample("hello.zst"), "-o", "there"];
    assert_eq!(folder.gateway(&args).status, Some(FAILED));
    assert_eq!(folder.read("there"), b"x");
    folder.gateway(&[&args[..], &["-f"]].concat()).ok();
    assert_eq!(folder.gateway(&["transcode", "--to", "lz4", "x", "-o", "y"]).status, Some(USAGE));
    assert_eq!(folder.gateway(&["transcode", "x", "-o", "y"]).status, Some(USAGE));
}

#[test]
fn a_damaged_dictionary_is_named_with_the_status_of_damage() {
    let folder = Folder::new();
    folder.write("feed.dict", &[7; 4096]);
    folder.write("bad.dict", &[&[0x37, 0xa4, 0x30, 0xec, 1, 0, 0, 0][..], &[0xff; 100]].concat());
    let run = folder.gateway(&[
        "replay",
        "--transport=zstd-frame",
        "-D",
        "feed.dict",
        "-D",
        "bad.dict",
        "feed.dict",
    ]);
    assert_eq!(run.status, Some(DAMAGED), "{}", run.stderr);
    assert!(run.stderr.contains("-D bad.dict: ") && !run.stderr.contains("-D feed.dict"), "{}", run.stderr);
}
