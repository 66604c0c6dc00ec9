//! The shape "messages": small runs of recorded connections.

use linerate_testkit::program::{FAILED, Folder, USAGE};

use super::{bench, connection as sample, measurements};

#[test]
fn small_run_is_printed_and_recorded() {
    let folder = Folder::new();
    let args = [
        "messages",
        "--rounds",
        "1",
        "--connections",
        "10",
        &sample("sample.msgs"),
        "--record",
        "kept.jsonl",
    ];
    let text = bench(&folder, &args).ok().text();
    assert!(
        text.contains("base zlib-rs") && text.contains("base libzstd") && text.contains("mode many"),
        "{text}"
    );
    let kept = String::from_utf8(folder.read("kept.jsonl")).unwrap();
    assert!(
        kept.starts_with("{\"run\":{\"date\":") && kept.contains("linerate-bench messages --rounds 1"),
        "{kept}"
    );
    assert!(kept.lines().count() > 3 * 5, "{kept}");
}

#[test]
fn results_are_printed_as_json_lines() {
    let args = ["messages", "--json", "--rounds", "1", "--connections", "0", "--transport", "zstd-stream"];
    let found = measurements(&bench(&Folder::new(), &[&args[..], &[&sample("sample.zst")]].concat()).ok());
    assert!(found.iter().all(|m| m["params"]["transport"] == "zstd-stream" && m["params"]["mode"] != "many"));
    assert!(found.len() >= 6, "{found:?}");
}

#[test]
fn memory_of_connections_is_that_of_processes_of_their_own() {
    let args = ["messages", "--resident", "--connections", "100", "--json", "--quick"];
    let found = measurements(&bench(&Folder::new(), &args).ok());
    assert!(
        found.len() >= 6 && found.iter().all(|m| m["metrics"]["per_connection"].as_f64().unwrap() > 1000.0),
        "{found:?}"
    );
}

#[test]
fn missing_file_is_one_line_of_error() {
    let run = bench(&Folder::new(), &["messages", "absent.zst"]);
    assert_eq!(run.status, Some(FAILED));
    assert!(
        run.stderr.starts_with("linerate-bench: absent: ") && run.stderr.lines().count() == 1,
        "{}",
        run.stderr
    );
    assert_eq!(bench(&Folder::new(), &["messages", "--transport", "lz4"]).status, Some(USAGE));
    assert_eq!(bench(&Folder::new(), &["messages", "--shards", "2", "x"]).status, Some(USAGE));
}

#[test]
fn encoding_a_connection_without_live_events_is_an_error() {
    let folder = Folder::new();
    let guild = br#"{"t":"READY","s":1,"op":0,"d":{}}"#;
    folder.write("start.msgs", &[&(guild.len() as u32).to_le_bytes(), &guild[..]].concat());
    let run = bench(&folder, &["messages", "--encode", "--rounds", "1", "start.msgs"]);
    let wanted = "linerate-bench: start: no live event of at most 4000 bytes\n";
    assert_eq!((run.status, &*run.stderr), (Some(FAILED), wanted));
}
