//! The shape "day" from end to end.

use linerate_gateway::stats::{LogEntry, LogReader, Stats};
use linerate_testkit::program::Folder;

use super::{bench, measurements};

#[test]
fn sets_of_a_day_have_the_same_messages_and_logs() {
    let folder = Folder::new();
    let args = ["day", "--shards", "20", "--messages", "3000", "--guilds", "1", "--logs", "logs", "--json"];
    let found = measurements(&bench(&folder, &args).ok());
    let days: Vec<_> = found.iter().filter(|m| m["params"]["hour"].is_null()).collect();
    assert_eq!((days.len(), found.len()), (3, 3 * 25));
    for day in &days {
        assert_eq!(
            (&day["params"]["messages"], &day["metrics"]["content"]),
            (&3000.into(), &days[0]["metrics"]["content"])
        );
        let hours = found
            .iter()
            .filter(|m| m["params"]["set"] == day["params"]["set"] && !m["params"]["hour"].is_null());
        let hours: Vec<u64> = hours.map(|m| m["params"]["messages"].as_u64().unwrap()).collect();
        assert_eq!(hours.iter().sum::<u64>(), 3000);
        assert!(hours[20] > 3 * hours[8], "{hours:?}");
        assert_eq!(day["metrics"]["errors"], 0);
        let [cpu, content, speed] =
            ["cpu", "content", "speed"].map(|name| day["metrics"][name].as_f64().unwrap());
        let elapsed = content / 1e6 / speed;
        assert!((cpu / elapsed - 1.0).abs() > 1e-5, "{cpu} s is the elapsed time of decoding");
    }
    assert_eq!(days[1]["metrics"]["output"], days[2]["metrics"]["output"], "B and C have the same frames");
    for (log, day) in ["A", "B", "C"].into_iter().zip(&days) {
        let log = folder.read(&format!("logs/{log}-000001.stats"));
        let mut stats = Stats::new();
        for entry in LogReader::open(&log[..]).unwrap() {
            match entry.unwrap() {
                LogEntry::Message(record) => stats.add(&record),
                other => assert!(!matches!(other, LogEntry::Dropped { .. }), "{other:?}"),
            }
        }
        let metrics = &day["metrics"];
        assert_eq!((stats.messages(), stats.errors()), (3000, 0));
        assert_eq!(
            (metrics["output"].as_f64(), metrics["content"].as_f64()),
            (Some(stats.compressed_bytes() as f64), Some(stats.payload_bytes() as f64))
        );
    }
}
