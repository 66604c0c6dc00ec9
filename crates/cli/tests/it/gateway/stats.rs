//! `linerate gateway stats`: the counts, and their output.

use serde_json::Value;

use super::data::{DAMAGED, USAGE, sample, sample_messages, write_messages};
use linerate_testkit::program::Folder;

fn sum(groups: &Value, key: &str) -> u64 {
    groups.as_array().unwrap().iter().map(|group| group[key].as_u64().unwrap()).sum()
}

#[test]
fn groups_add_up_to_the_totals() {
    let object = Folder::new().gateway(&["stats", "--json", "--both", &sample("sample.zlib")]).ok().object();
    assert_eq!((&object["messages"], &object["payload_bytes"]), (&306.into(), &430_939.into()));
    assert_eq!(object["zlib"]["bytes"], 70_000);
    assert_eq!((&object["zlib"]["sent"], &object["zstd"]["sent"]), (&true.into(), &false.into()));
    let zstd = object["zstd"]["bytes"].as_u64().unwrap();
    assert!((60_000..75_000).contains(&zstd), "{zstd}");
    for groups in ["by_size", "by_opcode"] {
        assert_eq!(sum(&object[groups], "messages"), 306);
        assert_eq!(sum(&object[groups], "payload_bytes"), 430_939);
        assert_eq!(sum(&object[groups], "zlib_bytes"), 70_000);
        assert_eq!(sum(&object[groups], "zstd_bytes"), zstd);
    }
    let opcodes: Vec<(u64, u64)> = object["by_opcode"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (group["opcode"].as_u64().unwrap(), group["messages"].as_u64().unwrap()))
        .collect();
    assert_eq!(opcodes, [(0, 304), (10, 1), (11, 1)]);
    let events = object["by_event"].as_array().unwrap();
    let of = |name: &str| events.iter().find(|group| group["event"] == name).unwrap()["messages"].as_u64();
    assert_eq!((of("READY"), of("GUILD_CREATE"), of("MESSAGE_CREATE")), (Some(1), Some(4), Some(120)));
    assert_eq!(object["payload"]["quantiles"]["least"], 36);
    assert_eq!(object["payload"]["quantiles"]["most"], 124_278);
}

#[test]
fn payloads_are_measured_with_both_transports_and_compressed_messages_with_theirs() {
    let text = Folder::new().gateway(&["stats", &sample("sample.msgs")]).ok().text();
    for part in
        ["payloads, length-prefixed messages", "zlib-stream", "zstd-stream", "PRESENCE_UPDATE", "1024 - 2047"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = Folder::new().gateway(&["stats", &sample("sample.zst")]).ok().text();
    assert!(text.contains("64686") && !text.contains("zlib-stream"), "{text}");
}

#[test]
fn csv_has_a_line_for_each_message() {
    let run = Folder::new()
        .gateway(&["stats", "--csv", "--both", &sample("sample.zst"), &sample("hello.zlib")])
        .ok();
    let text = run.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 306 + 1);
    assert_eq!(lines[0], "file,message,time_ns,decode_ns,payload,zlib,zstd,opcode,event");
    let payloads = sample_messages("sample.msgs");
    let frames = sample_messages("sample.zst");
    for (i, line) in lines[1..307].iter().enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), 9, "{line}");
        assert_eq!((fields[1], fields[2]), (i.to_string().as_str(), ""));
        assert!(fields[3].parse::<u64>().is_ok(), "{line}");
        assert_eq!(
            (fields[4], fields[6]),
            (payloads[i].len().to_string().as_str(), frames[i].len().to_string().as_str())
        );
    }
    assert!(lines[1].ends_with(",10,") && lines[2].ends_with(",0,READY"), "{}", lines[1]);
}

#[test]
fn statistics_before_damage_are_printed() {
    let folder = Folder::new();
    let mut all = sample_messages("sample.zst");
    all[100][0] |= 6;
    write_messages(&folder, "bad", &all);
    let run = folder.gateway(&["stats", "bad"]);
    assert!(run.status == Some(DAMAGED) && run.stderr.contains("message 100: "), "{}", run.stderr);
    assert!(run.text().contains("GUILD_CREATE"), "{}", run.text());
    let run = folder.gateway(&["stats", "--json", "bad"]);
    assert_eq!((run.status, &run.object()["message"]), (Some(DAMAGED), &100.into()));
}

#[test]
fn etf_and_json_payloads_are_distinguished() {
    // A map with one entry: op => 11.
    let term = [&[131, 116, 0, 0, 0, 1, 109, 0, 0, 0, 2][..], b"op", &[97, 11]].concat();
    let folder = Folder::new();
    write_messages(&folder, "terms", &[term.clone(), term]);
    let object = folder.gateway(&["stats", "--json", "terms"]).ok().object();
    assert_eq!(object["by_opcode"].as_array().unwrap().len(), 1, "{object}");
    assert_eq!(
        (&object["by_opcode"][0]["opcode"], &object["by_opcode"][0]["messages"]),
        (&11.into(), &2.into())
    );
    folder.gateway(&["transcode", "--to", "zstd-stream", "terms", "-o", "made"]).ok();
    folder.gateway(&["replay", "-q", "--check", "etf", "--expect", "terms", "made"]).ok();
    assert_eq!(folder.gateway(&["replay", "-q", "--check", "json", "made"]).status, Some(DAMAGED));
}

/// A regular file is opened first to see whether it is a statistics log. A pipe must not be.
#[test]
#[cfg(unix)]
fn every_message_of_a_pipe_is_counted() {
    let folder = Folder::new();
    let file = std::fs::read(sample("sample.zlib")).unwrap();
    let counted = folder.gateway(&["stats", "--json", &sample("sample.zlib")]).ok().object();
    let piped = folder.gateway_with(&["stats", "--json", "/dev/stdin"], &file).ok().object();
    let sets =
        folder.gateway_with(&["stats", "--json", "--report", "page", "/dev/stdin"], &file).ok().object();
    for key in ["messages", "compressed_bytes", "payload_bytes"] {
        assert_eq!((&piped[key], &sets["sets"][0][key]), (&counted[key], &counted[key]), "{key}");
    }
}

#[test]
fn operand_that_is_a_hyphen_is_standard_input_and_not_a_file_of_that_name() {
    let folder = Folder::new();
    folder.write("-", &[&3400u64.to_be_bytes()[..], &[0, 0, 0, 156, 0, 0, 2, 238], b"\r\n"].concat());
    let hello = std::fs::read(sample("hello.zlib")).unwrap();
    let object = folder.gateway_with(&["stats", "--json", "-"], &hello).ok().object();
    assert_eq!((&object["kind"], &object["messages"]), (&"messages".into(), &1.into()));
    let sets = folder.gateway_with(&["stats", "--json", "--report", "page", "-"], &hello).ok().object();
    let payload = &object["payload_bytes"];
    assert_eq!((&sets["sets"][0]["messages"], &sets["sets"][0]["payload_bytes"]), (&1.into(), payload));
    // That file is no input, so a report may replace it.
    folder.gateway_with(&["stats", "-q", "--report", "./-", "-"], &hello).ok();
}

#[test]
fn csv_with_json_is_a_usage_error() {
    assert_eq!(Folder::new().gateway(&["stats", "--csv", "--json", "x"]).status, Some(USAGE));
    assert_eq!(Folder::new().gateway(&["stats"]).status, Some(USAGE));
}
