//! The day of many connections.

use linerate_testkit::program::Folder;

use crate::bench;

#[test]
fn sets_of_a_day_have_the_same_messages_and_logs() {
    let folder = Folder::new();
    let args = ["day", "--shards", "20", "--messages", "3000", "--guilds", "1", "--logs", "logs"];
    let text = bench(&folder, &args).ok().text();
    let rows: Vec<Vec<&str>> =
        text.lines().skip(1).map(|line| line.split("  ").filter(|cell| !cell.is_empty()).collect()).collect();
    assert_eq!(rows.len(), 3, "{text}");
    assert!(rows.iter().all(|row| row[1].trim() == "3000" && row[2] == rows[0][2]), "{text}");
    for log in ["A", "B", "C"] {
        // A head of 32 bytes, and a record of 32 for each message and each connection's transport.
        let log = folder.read(&format!("logs/{log}-000001.stats"));
        assert!(log.len() >= 32 + 3000 * 32, "{}", log.len());
    }
}
