//! `linerate gateway record` from live gateways, which the tests run on the loopback interface.

use std::num::NonZeroUsize;
use std::time::Duration;

use linerate_gateway_sim::{InjectedFault, Script, Server};
use serde_json::Value;

use super::data::{DAMAGED, FAILED, USAGE, WARNED};
use linerate_testkit::program::{Folder, Run};

const IDENTIFY: &str =
    r#"{"op":2,"d":{"token":"test","intents":0,"properties":{"os":"x","browser":"x","device":"x"}}}"#;

/// Starts a gateway, which ends by itself after a while even if its test fails.
fn served(change: impl FnOnce(&mut Script)) -> Server {
    let mut script = Script::new();
    script.max_duration = Duration::from_secs(60);
    change(&mut script);
    Server::start(script).expect("a server on loopback")
}

/// Records from a server into `live.lgwr`. An IDENTIFY is sent to the server.
fn recorded(folder: &Folder, server: &Server, transport: &str, args: &[&str]) -> Run {
    folder.write("identify", format!("\n{IDENTIFY}\n").as_bytes());
    let url = format!("{}/?v=10&encoding=json&compress={transport}", server.url());
    let all = ["record", "--json", &url, "-o", "live.lgwr", "--send", "identify"];
    folder.gateway(&[&all[..], args].concat())
}

#[test]
fn messages_of_a_gateway_are_recorded() {
    for transport in ["zlib-stream", "zstd-stream", "zstd-frame", "gzip"] {
        let (folder, server) = (Folder::new(), served(|_| {}));
        let object = recorded(&folder, &server, transport, &["--messages", "20"]).ok().object();
        assert_eq!((&object["messages"], &object["end"]), (&20.into(), &"messages".into()));
        assert_eq!(server.stop().identifies, 1);
        #[cfg(unix)]
        assert_eq!(folder.mode("live.lgwr"), 0o600);
        let replayed =
            folder.gateway(&["replay", "--json", "--check", "json-sequence", "live.lgwr"]).ok().object();
        assert_eq!((&replayed["messages"], &replayed["transport"]), (&20.into(), &transport.into()));
        let stats = folder.gateway(&["stats", "--json", "live.lgwr"]).ok().object();
        assert_eq!(stats["by_opcode"].as_array().unwrap().len(), 2, "HELLO and events: {stats}");
    }
}

#[test]
fn progress_of_a_recording_has_the_bytes_received() {
    let (folder, server) = (Folder::new(), served(|_| {}));
    let args =
        ["gateway", "record", "--json", server.url(), "--transport=zstd-stream", "--for=0.3", "-o", "a"];
    let mut command = folder.command(&args);
    let output = command.env("LINERATE_PROGRESS_AT_EVERY_STEP", "1").output().expect("the program starts");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    let last: Value = serde_json::from_str(text.lines().last().expect("progress")).expect("JSON");
    assert_eq!((&last["status"], &last["file"]), (&"progress".into(), &server.url().into()));
    assert!(last["done"].as_u64() > Some(0) && last["total"].is_null(), "{last}");
}

#[test]
fn recording_without_identify_has_hello_and_ends_by_time() {
    let (folder, server) = (Folder::new(), served(|_| {}));
    let url = server.url();
    let args = ["record", url, "--transport", "zstd-stream", "--for", "0.3", "-o", "live.lgwr", "--json"];
    let object = folder.gateway(&args).ok().object();
    assert_eq!((&object["messages"], &object["end"]), (&1.into(), &"time".into()));
}

#[test]
fn heartbeats_are_sent_at_the_interval_of_hello() {
    let folder = Folder::new();
    let server = served(|script| script.heartbeat_interval = Duration::from_millis(200));
    recorded(&folder, &server, "zlib-stream", &["--for", "1.5"]).ok();
    assert!(server.stop().heartbeats >= 2);
    let stats = folder.gateway(&["stats", "--json", "live.lgwr"]).ok().object();
    let acknowledged = stats["by_opcode"].as_array().unwrap().iter().any(|group| group["opcode"] == 11);
    assert!(acknowledged, "{stats}");
}

#[test]
fn fragments_are_recorded_one_by_one() {
    let folder = Folder::new();
    let server = served(|script| script.fragment = NonZeroUsize::new(40));
    let object = recorded(&folder, &server, "zlib-stream", &["--messages", "12"]).ok().object();
    assert!(object["messages"] == 12 && object["frames"].as_u64().unwrap() > 20, "{object}");
    let replayed = folder.gateway(&["replay", "--json", "live.lgwr"]).ok().object();
    assert_eq!((&replayed["messages"], &replayed["frames"]), (&object["messages"], &object["frames"]));
}

#[test]
fn closed_connection_ends_the_recording_and_keeps_it() {
    for (trouble, end) in
        [(InjectedFault::Close(4000), Some("closed, 4000")), (InjectedFault::Disconnect, None)]
    {
        let folder = Folder::new();
        let server = served(|script| {
            script.inject_fault(6, trouble);
        });
        let run = recorded(&folder, &server, "zstd-stream", &[]);
        match end {
            Some(end) => assert_eq!(run.ok().object()["end"], end),
            None => {
                let said = run.stderr.contains("the connection was lost");
                assert!(run.status == Some(FAILED) && said, "{run:?}");
            }
        }
        // The messages up to event 6: HELLO, READY (event 1) and five more events.
        let replayed = folder.gateway(&["replay", "--json", "live.lgwr"]).ok().object();
        assert_eq!(replayed["messages"], 7);
    }
}

#[test]
fn damaged_message_is_recorded_with_a_warning() {
    let folder = Folder::new();
    let server = served(|script| {
        script.inject_fault(4, InjectedFault::Flip(1));
    });
    let run = recorded(&folder, &server, "zstd-stream", &["--for", "0.5"]);
    assert_eq!(run.status, Some(WARNED), "{run:?}");
    assert!(run.stderr.contains("message 4: ") && run.object()["fault"] != Value::Null, "{run:?}");
    let run = folder.gateway(&["replay", "--json", "live.lgwr"]);
    assert_eq!(run.object()["message"], 4);
}

#[test]
fn damaged_message_ends_a_recording_that_counts_messages() {
    let folder = Folder::new();
    let server = served(|script| {
        script.inject_fault(4, InjectedFault::Flip(1));
    });
    let run = recorded(&folder, &server, "zstd-stream", &["--messages", "1000", "--for", "20"]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), 1), "{run:?}");
    assert!(run.stderr.contains("message 4: "), "{run:?}");
    // The messages before it are kept, and so is the damaged one.
    let run = folder.gateway(&["replay", "--json", "live.lgwr"]);
    assert_eq!(run.object()["message"], 4);
}

#[test]
fn etf_gateway_is_refused_and_an_etf_feed_is_not() {
    let folder = Folder::new();
    for (query, status) in
        [("compress=zlib-stream&encoding=etf", USAGE), ("compress=gzip&encoding=etf", FAILED)]
    {
        let run = folder.gateway(&["record", &format!("ws://127.0.0.1:1/?{query}"), "-o", "x"]);
        assert_eq!((run.status, run.stderr.lines().count()), (Some(status), 1), "{run:?}");
        assert_eq!(run.stderr.contains("record with encoding=json"), status == USAGE, "{run:?}");
    }
}

#[cfg(unix)]
#[test]
fn signal_ends_it_with_a_summary() {
    use std::process::Stdio;
    use std::time::Instant;

    use linerate_testkit::kill::terminate;

    let (folder, server) = (Folder::new(), served(|_| {}));
    let url = format!("{}/?compress=zlib-stream", server.url());
    let mut command = folder.command(&["gateway", "record", &url, "-o", "live.lgwr", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let begun = Instant::now();
    while !folder.has("live.lgwr") || folder.read("live.lgwr").len() < 100 {
        assert!(begun.elapsed() < Duration::from_secs(20), "nothing is recorded");
        std::thread::sleep(Duration::from_millis(20));
    }
    terminate(&child);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["end"], "interrupted");
    assert_eq!(folder.gateway(&["replay", "--json", "live.lgwr"]).ok().object()["messages"], 1);
}

#[test]
fn refused_connection_is_an_error_without_a_file() {
    let folder = Folder::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("ws://{}/?compress=zlib-stream", taken.local_addr().expect("its address"));
    drop(taken);
    let run = folder.gateway(&["record", &url, "-o", "live.lgwr"]);
    assert!(run.status == Some(FAILED) && run.stderr.lines().count() == 1, "{}", run.stderr);
    assert!(run.stderr.contains("cannot connect") && !folder.has("live.lgwr"), "{}", run.stderr);
}
