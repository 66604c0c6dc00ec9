//! `linerate gateway day`, and the sets of `linerate gateway stats` over its logs.

use serde_json::Value;

use crate::data::{DAMAGED, sample};
use linerate_testkit::program::Folder;

fn numbers(set: &Value, key: &str) -> Vec<u64> {
    set["by_hour"].as_array().unwrap().iter().map(|hour| hour[key].as_u64().unwrap()).collect()
}

#[test]
fn sets_of_a_day_have_the_same_messages_and_logs_give_the_same_counts() {
    let folder = Folder::new();
    let day =
        ["day", "--shards", "20", "--messages", "3K", "--guilds", "1", "--json", "--report", "day.html"];
    let day = folder.gateway(&[&day[..], &["--logs", "logs"]].concat()).ok().object();
    let sets = day["sets"].as_array().unwrap();
    assert_eq!(sets.len(), 3);
    for set in sets {
        assert_eq!((&set["messages"], &set["errors"], &set["dropped"]), (&3000.into(), &0.into(), &0.into()));
        assert_eq!(set["payload_bytes"], sets[0]["payload_bytes"]);
        let hours = numbers(set, "messages");
        assert_eq!((hours.len(), hours.iter().sum::<u64>()), (24, 3000));
        assert!(hours[20] > 3 * hours[8], "{hours:?}");
        assert!(set["p99_ns"].as_u64() >= set["median_ns"].as_u64() && set["ratio"].as_f64() > Some(1.0));
    }
    assert_eq!(sets[1]["compressed_bytes"], sets[2]["compressed_bytes"]);
    let page = std::fs::read_to_string(folder.path("day.html")).unwrap();
    for part in ["9,000 messages in 3 sets", "A: zlib, 8 KiB", "C: zstd, 128 KiB", "<svg", "Throughput"] {
        assert!(page.contains(part), "{part}");
    }
    let stats = ["stats", "--set", "A=logs/A-*.stats", "--set", "B=logs/B-*.stats", "--json"];
    let again = folder.gateway(&[&stats[..], &["--report", "again.html"]].concat()).ok().object();
    for (set, (logged, name)) in sets.iter().zip(again["sets"].as_array().unwrap().iter().zip(["A", "B"])) {
        assert_eq!(logged["name"], name);
        for key in ["messages", "compressed_bytes", "payload_bytes", "decode_ns", "median_ns", "by_hour"] {
            assert_eq!(logged[key], set[key], "{key}");
        }
    }
    let csv = folder.gateway(&["stats", "--csv", "--set", "A=logs/A-*.stats"]).ok().text();
    assert_eq!(csv.lines().count(), 26);
    assert!(csv.contains("\nA,,3000,0,") && csv.contains("\nA,20,"), "{csv}");
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
    // Without times there are no hours.
    assert!(numbers(old, "messages").is_empty() && numbers(new, "messages").is_empty());
}

#[test]
fn damaged_log_is_counted_up_to_the_damage() {
    let folder = Folder::new();
    folder.gateway(&["day", "--shards", "2", "--messages", "100", "--guilds", "1", "--logs", "."]).ok();
    let path = folder.path("A-000001.stats");
    let mut log = std::fs::read(&path).unwrap();
    log[32 + 60 * 32 + 9] ^= 1;
    std::fs::write(&path, log).unwrap();
    let run = folder.gateway(&["stats", "A-000001.stats"]);
    assert_eq!(run.status, Some(DAMAGED));
    let errors = &run.stderr;
    assert!(errors.contains("A-000001.stats: a record of a statistics log fails its checksum"), "{errors}");
    let line =
        run.text().lines().nth(1).map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "));
    assert_eq!(line.as_deref(), Some("all 60"));
}
