//! `linerate gateway replay`: valid connections, and the first bad message of others.

use std::fs;

use super::data::{
    DAMAGED, FAILED, LIMIT, USAGE, prefixed, sample, sample_messages, sample_path, write_messages,
    write_recording,
};
use linerate_testkit::program::Folder;

#[test]
fn sample_decodes_to_the_expected_payloads() {
    let raw = sample("sample.msgs");
    for (file, transport, compressed) in
        [("sample.zlib", "zlib-stream", 70_000), ("sample.zst", "zstd-stream", 64_686)]
    {
        let run = Folder::new().gateway(&["replay", "--expect", &raw, "--json", &sample(file)]).ok();
        let object = run.object();
        for (key, value) in [
            ("messages", 306.into()),
            ("frames", 306.into()),
            ("connections", 1.into()),
            ("payload_bytes", 430_939.into()),
            ("compressed_bytes", compressed.into()),
            ("transport", transport.into()),
            ("kind", "messages".into()),
            ("expected", raw.as_str().into()),
            ("status", "ok".into()),
        ] {
            let value: serde_json::Value = value;
            assert_eq!(object[key], value, "{key}");
        }
        for (key, most) in [("connection_memory", 90_000), ("thread_memory", 3_000_000)] {
            assert!((1..most).contains(&object[key].as_u64().unwrap()), "{key}: {}", object[key]);
        }
        assert!(object["mb_per_second"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn text_output_has_totals() {
    let text = Folder::new().gateway(&["replay", &sample("hello.zst")]).ok().text();
    for line in
        ["format       length-prefixed messages, zstd-stream", "messages     1 in 1 frames, connections: 1"]
    {
        assert!(text.lines().any(|found| found == line), "{text}");
    }
    assert!(text.contains("bytes        113 -> 121, ratio 1.07"), "{text}");
}

#[test]
fn standard_input_is_replayed() {
    let folder = Folder::new();
    let input = fs::read(sample_path("sample.zlib")).unwrap();
    let object = folder.gateway_with(&["replay", "--json", "-"], &input).ok().object();
    assert_eq!(object["messages"], 306);
}

#[test]
fn first_invalid_message_is_named() {
    let folder = Folder::new();
    let mut all = sample_messages("sample.zst");
    // A block of the reserved type.
    let begin: usize = all[..50].iter().map(Vec::len).sum();
    all[50][0] |= 6;
    write_messages(&folder, "bad.zst", &all);
    let run = folder.gateway(&["replay", "--json", "bad.zst"]);
    assert_eq!(run.status, Some(DAMAGED));
    assert!(run.stderr.starts_with("linerate: bad.zst: message 50: ") && run.stderr.lines().count() == 1);
    let object = run.object();
    assert_eq!((&object["status"], &object["kind"]), (&"failed".into(), &"corrupt".into()));
    assert_eq!((&object["message"], &object["connection"]), (&50.into(), &0.into()));
    let at = object["offset"].as_u64().unwrap() as usize;
    assert!((begin..begin + 8).contains(&at), "{at} of {begin}");
    // The text output also shows the totals up to the error.
    let run = folder.gateway(&["replay", "bad.zst"]);
    assert!(run.text().contains("messages     50 in 51 frames"), "{}", run.text());
}

#[test]
fn missing_message_is_detected_by_sequence_numbers() {
    let folder = Folder::new();
    for name in ["sample.zlib", "sample.zst"] {
        let mut all = sample_messages(name);
        all.remove(200);
        write_messages(&folder, name, &all);
        let run = folder.gateway(&["replay", "--check", "json-sequence", name]);
        assert_eq!(run.status, Some(DAMAGED));
        let run = folder.gateway(&["replay", "--expect", &sample("sample.msgs"), "--json", name]);
        assert_eq!((run.status, run.object()["message"].as_u64()), (Some(DAMAGED), Some(200)));
        folder.gateway(&["replay", "-q", "--check", "json-sequence", &sample(name)]).ok();
    }
}

#[test]
fn first_different_payload_is_an_error() {
    let folder = Folder::new();
    let mut raw = sample_messages("sample.msgs");
    raw[7][10] ^= 1;
    write_messages(&folder, "raw", &raw);
    let len = raw[7].len();
    let run = folder.gateway(&["replay", "--expect", "raw", &sample("sample.zst")]);
    let expected = format!(
        "message 7: the payload differs from the expected one at byte 10 (at byte 33132); it has {len} bytes"
    );
    assert!(run.status == Some(DAMAGED) && run.stderr.contains(&expected), "{}", run.stderr);

    let raw = sample_messages("sample.msgs");
    write_messages(&folder, "short", &raw[..300]);
    let run = folder.gateway(&["replay", "--expect", "short", &sample("sample.zst")]);
    assert!(
        run.status == Some(DAMAGED)
            && run.stderr.contains("message 300: it has more messages than are expected")
    );
    write_messages(&folder, "less.zst", &sample_messages("sample.zst")[..300]);
    let run = folder.gateway(&["replay", "--expect", &sample("sample.msgs"), "less.zst"]);
    assert!(run.status == Some(DAMAGED) && run.stderr.contains("ends after 300 messages"), "{}", run.stderr);
}

#[test]
fn limits_are_exact_and_exit_with_4() {
    let raw = sample_messages("sample.msgs");
    let largest = raw.iter().map(Vec::len).max().unwrap();
    for file in ["sample.zlib", "sample.zst"] {
        let folder = Folder::new();
        folder.gateway(&["replay", "-q", "--max-message", &largest.to_string(), &sample(file)]).ok();
        let run =
            folder.gateway(&["replay", "--json", "--max-message", &(largest - 1).to_string(), &sample(file)]);
        assert_eq!((run.status, &run.object()["kind"]), (Some(LIMIT), &"limit exceeded".into()));
    }
    let run = Folder::new().gateway(&["replay", "--window-log", "15", &sample("hello.zst")]);
    assert_eq!(run.status, Some(LIMIT));
}

#[test]
fn truncated_and_empty_files_are_errors() {
    let folder = Folder::new();
    let whole = fs::read(sample_path("sample.zlib")).unwrap();
    folder.write("cut", &whole[..whole.len() - 1]);
    let run = folder.gateway(&["replay", "--json", "cut"]);
    assert_eq!((run.status, &run.object()["kind"]), (Some(DAMAGED), &"truncated".into()));
    // The connection is cut off inside a message, but the file is complete.
    let mut all = sample_messages("sample.zlib");
    let half = all.pop().unwrap();
    all.push(half[..half.len() / 2].to_vec());
    folder.write("half", &prefixed(&all));
    let run = folder.gateway(&["replay", "--json", "half"]);
    assert_eq!((run.status, &run.object()["message"]), (Some(DAMAGED), &305.into()));

    folder.write("empty", b"");
    folder.gateway(&["replay", "empty"]).fails(DAMAGED, "linerate: empty: it is empty");
    folder.write("noise", &[5, 0, 0, 0, 1, 2, 3, 4, 5]);
    assert!(folder.gateway(&["replay", "noise"]).stderr.contains("--transport"));
    let run = folder.gateway(&["replay", "--transport", "zlib-stream", "noise"]);
    assert_eq!(run.status, Some(DAMAGED));
    folder.write("long", &[0xff; 20]);
    assert_eq!(folder.gateway(&["replay", "--transport", "zstd-stream", "long"]).status, Some(LIMIT));
    let run = folder.gateway(&["replay", &sample("sample.msgs")]);
    assert!(run.status == Some(DAMAGED) && run.stderr.contains("it holds payloads"), "{}", run.stderr);
}

#[test]
fn unreadable_file_is_an_error_and_others_are_replayed() {
    let folder = Folder::new();
    let run = folder.gateway(&["replay", "absent", &sample("hello.zlib")]);
    assert_eq!(run.status, Some(FAILED));
    assert!(run.stderr.starts_with("linerate: absent: cannot open: "));
    assert!(run.text().contains("111 -> 121"), "{}", run.text());
    assert_eq!(folder.gateway(&["replay", "."]).status, Some(FAILED));
    let run = folder.gateway(&["replay", "--expect", "absent", &sample("hello.zst")]);
    assert_eq!(run.status, Some(FAILED));
    for wrong in [
        &["replay"][..],
        &["replay", "--transport", "lz4", "x"],
        &["replay", "--window-log", "40", "x"],
        &["replay", "--check", "xml", "x"],
        &["replay", "--expect", "raw", "a", "b"],
    ] {
        assert_eq!(folder.gateway(wrong).status, Some(USAGE), "{wrong:?}");
    }
}

#[test]
fn other_decoders_give_the_same_result() {
    let (folder, raw) = (Folder::new(), sample("sample.msgs"));
    for (decoder, file) in [("zlib-rs", "sample.zlib"), ("libzstd", "sample.zst")] {
        let args = ["replay", "--json", "--decoder", decoder, "--expect", &raw, &sample(file)];
        let object = folder.gateway(&args).ok().object();
        assert_eq!((&object["messages"], &object["decoder"]), (&306.into(), &decoder.into()));
        // The other library's decoder fails at the same message, and at a payload above the limit.
        let mut all = sample_messages(file);
        all[50][0] |= 6;
        write_messages(&folder, "bad", &all);
        let run = folder.gateway(&["replay", "--json", "--decoder", decoder, "bad"]);
        assert_eq!((run.status, &run.object()["message"]), (Some(DAMAGED), &50.into()), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("message 50: {decoder}: ")), "{}", run.stderr);
        let limited = ["replay", "--decoder", decoder, "--max-message", "100000", &sample(file)];
        assert_eq!(folder.gateway(&limited).status, Some(DAMAGED), "{decoder}");
    }
    // Several connections, and messages in parts.
    write_recording(&folder, "two.lgwr", "sample.zlib", &[20, 20]);
    let object = folder.gateway(&["replay", "--json", "--decoder", "zlib-rs", "two.lgwr"]).ok().object();
    assert_eq!((&object["messages"], &object["connections"]), (&40.into(), &2.into()));
    let parts: Vec<Vec<u8>> = sample_messages("sample.zlib")[..20]
        .iter()
        .flat_map(|message| message.chunks(1 + message.len() / 3).map(<[u8]>::to_vec))
        .collect();
    write_messages(&folder, "parts", &parts);
    for decoder in [&["--decoder", "zlib-rs"][..], &[]] {
        let object = folder.gateway(&[&["replay", "--json", "parts"][..], decoder].concat()).ok().object();
        assert_eq!((&object["messages"], &object["frames"]), (&20.into(), &parts.len().into()));
    }
    assert_eq!(
        folder.gateway(&["replay", "--decoder", "libzstd", &sample("hello.zlib")]).status,
        Some(FAILED)
    );
    assert_eq!(folder.gateway(&["replay", "--decoder", "gzip", "x"]).status, Some(USAGE));
    let both = ["replay", "--decoder", "libzstd", "--check", "json", "x"];
    assert_eq!(folder.gateway(&both).status, Some(USAGE));
}
