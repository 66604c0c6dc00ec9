//! The day of many connections.

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
        assert_eq!(hours.map(|m| m["params"]["messages"].as_u64().unwrap()).sum::<u64>(), 3000);
    }
    for log in ["A", "B", "C"] {
        // A head of 32 bytes, and a record of 32 for each message.
        let log = folder.read(&format!("logs/{log}-000001.stats"));
        assert!(log.len() >= 32 + 3000 * 32, "{}", log.len());
    }
}
