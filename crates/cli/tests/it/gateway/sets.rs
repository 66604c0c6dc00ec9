//! Sets of statistics: `linerate gateway stats --set` over logs and recordings.

use linerate_gateway::Transport;
use linerate_gateway::stats::{Clock, LogEntry, LogFiles, LogOptions, MessageRecord, Verdict};
use serde_json::Value;

use super::data::{DAMAGED, sample};
use linerate_testkit::program::Folder;

const HOUR_NS: i64 = 3_600_000_000_000;
/// 2025-06-01, in nanoseconds since 1970.
const MIDNIGHT: i64 = 1_748_736_000_000_000_000;

fn numbers(set: &Value, key: &str) -> Vec<u64> {
    set["by_hour"].as_array().unwrap().iter().map(|hour| hour[key].as_u64().unwrap()).collect()
}

/// Writes the statistics of 300 messages of 3 connections as a log in the folder `logs`. Hour `n`
/// of the day has `n + 1` messages.
fn write_log(folder: &Folder, name: &str) {
    let options = LogOptions::new(folder.path("logs")).name(name);
    let mut log = LogFiles::create(options, Clock::Monotonic, 0).unwrap();
    for hour in 0..24 {
        for i in 0..hour + 1 {
            let record = MessageRecord {
                time: MIDNIGHT + i64::from(hour) * HOUR_NS + i64::from(i),
                connection: i % 3,
                transport: Transport::Zstd,
                verdict: Verdict::Decoded,
                compressed: 100,
                payload: 500,
                // A program that writes such logs times one message in 16, too.
                decode_ns: (i % 16 == 0).then_some(1000 + i),
            };
            log.add(&LogEntry::Message(record), record.time).unwrap();
        }
    }
    log.flush().unwrap();
}

#[test]
fn sets_of_logs_are_counted_by_hour_and_drawn() {
    let folder = Folder::new();
    write_log(&folder, "A");
    write_log(&folder, "B");
    let stats = ["stats", "--set", "A=logs/A-*.stats", "--set", "B=logs/B-*.stats", "--json"];
    let object = folder.gateway(&[&stats[..], &["--report", "day.html"]].concat()).ok().object();
    for (set, name) in object["sets"].as_array().unwrap().iter().zip(["A", "B"]) {
        assert_eq!((&set["name"], &set["messages"], &set["errors"]), (&name.into(), &300.into(), &0.into()));
        assert_eq!((&set["compressed_bytes"], &set["payload_bytes"]), (&30_000.into(), &150_000.into()));
        assert_eq!(numbers(set, "messages"), (1..=24).collect::<Vec<_>>());
        // Of each hour the first message and the 17th, if any, are timed. Only these count in the
        // time.
        assert_eq!((&set["timed"], &set["decode_ns"]), (&32.into(), &32_128.into()));
        assert!(set["p99_ns"].as_u64() >= set["median_ns"].as_u64() && set["ratio"] == 5.0);
    }
    let page = std::fs::read_to_string(folder.path("day.html")).unwrap();
    for part in ["600 messages in 2 sets", "<svg", "Throughput"] {
        assert!(page.contains(part), "{part}");
    }
    // The speed is that of the timed messages: 500 bytes per microsecond.
    let table = folder.gateway(&["stats", "--set", "A=logs/A-*.stats"]).ok().text();
    assert!(table.contains("498 MB/s") && page.contains("498 MB/s"), "{table}");
    let csv = folder.gateway(&["stats", "--csv", "--set", "A=logs/A-*.stats"]).ok().text();
    assert_eq!(csv.lines().count(), 26);
    assert!(csv.contains("\nA,,300,0,") && csv.contains("\nA,20,21,"), "{csv}");
}

#[test]
fn recordings_and_records_of_18_bytes_are_sets_too() {
    let folder = Folder::new();
    let record: Vec<u8> =
        [&3400u64.to_be_bytes()[..], &156u32.to_be_bytes(), &750u32.to_be_bytes(), b"\r\n"].concat();
    std::fs::write(folder.path("old.bin"), record.repeat(5)).unwrap();
    let messages = format!("new={}", sample("sample.zst"));
    let object =
        folder.gateway(&["stats", "--json", "--set", "old=old.bin", "--set", &messages]).ok().object();
    let [old, new] = [0, 1].map(|i| &object["sets"][i]);
    assert_eq!(
        (&old["messages"], &old["payload_bytes"], &old["decode_ns"]),
        (&5.into(), &3750.into(), &17000.into())
    );
    assert_eq!((&new["messages"], &new["payload_bytes"]), (&306.into(), &430_939.into()));
    let events = new["by_event"].as_array().unwrap();
    let created = events.iter().find(|event| event["event"] == "MESSAGE_CREATE").unwrap();
    assert_eq!(created["messages"], 120);
    // Messages without times are in no hour.
    assert!(numbers(old, "messages").is_empty() && numbers(new, "messages").is_empty());
}

#[test]
fn payloads_are_counted_as_untimed_messages() {
    let folder = Folder::new();
    let [plain, sent] = ["sample.msgs", "sample.zst"].map(sample).map(|file| format!("a={file}"));
    let set =
        |files: &str| folder.gateway(&["stats", "--json", "--set", files]).ok().object()["sets"][0].clone();
    let (plain, sent) = (set(&plain), set(&sent));
    assert_eq!((&plain["messages"], &plain["timed"]), (&306.into(), &0.into()));
    assert_eq!((&sent["messages"], &sent["timed"]), (&306.into(), &306.into()));
}

#[test]
fn damaged_log_is_counted_up_to_the_damage() {
    let folder = Folder::new();
    write_log(&folder, "A");
    let path = folder.path("logs/A-000001.stats");
    let mut log = std::fs::read(&path).unwrap();
    log[32 + 60 * 32 + 9] ^= 1;
    std::fs::write(&path, log).unwrap();
    let run = folder.gateway(&["stats", "logs/A-000001.stats"]);
    assert_eq!(run.status, Some(DAMAGED));
    let errors = &run.stderr;
    assert!(
        errors.contains("logs/A-000001.stats: a record of a statistics log fails its checksum"),
        "{errors}"
    );
    let line =
        run.text().lines().nth(1).map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "));
    assert_eq!(line.as_deref(), Some("all 60"));
}
