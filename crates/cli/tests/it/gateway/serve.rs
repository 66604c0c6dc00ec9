//! `linerate gateway serve`: the program as a server, with the client of `linerate_gateway_sim`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use linerate_gateway::Transport;
use linerate_gateway_sim::{Client, ClientCounts};
use serde_json::Value;

use super::data::{DAMAGED, FAILED, LIMIT, USAGE, sample, sample_messages, write_messages};
#[cfg(unix)]
use linerate_testkit::kill::terminate;
use linerate_testkit::program::Folder;

/// Seconds after which a server ends, even if its test fails.
const MOST: &str = "60";

/// A running server, and the first line that it printed.
struct Served {
    child: Child,
    stdout: BufReader<ChildStdout>,
    first: String,
}

impl Served {
    fn start(args: &[&str]) -> Served {
        Served::of(Folder::new().command(&["gateway", "serve", "--for", MOST]), args)
    }

    /// Starts a server in a shell that runs `limits` before, to limit its open files.
    fn limited(limits: &str, args: &[&str]) -> Served {
        let program = Folder::new().command(&[]).get_program().to_owned();
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{limits}; exec \"$@\""), "sh"]);
        command.arg(program).args(["gateway", "serve", "--for", MOST]);
        Served::of(command, args)
    }

    fn of(mut command: Command, args: &[&str]) -> Served {
        // The temporary folder is deleted before the server ends, which does not need it.
        let mut child =
            command.current_dir("/").args(args).stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut first = String::new();
        stdout.read_line(&mut first).expect("a line");
        Served { child, stdout, first }
    }

    fn url(&self) -> String {
        self.first.trim_end().strip_prefix("listening on ").expect("the address").to_owned()
    }

    /// Waits for the end. Returns the rest of the output, and the exit status.
    fn end(mut self) -> (String, ExitStatus) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("text");
        (rest, self.child.wait().expect("an end"))
    }
}

/// Runs a client until it has `wanted` events besides READY and RESUMED. Returns those events and
/// the client's counts.
fn fetch(url: &str, transport: Transport, wanted: usize) -> (Vec<Vec<u8>>, ClientCounts) {
    let mut client = Client::new(url, transport);
    let mut got = Vec::new();
    client
        .run(|envelope, payload| {
            if !matches!(envelope.event, Some("READY" | "RESUMED")) {
                got.push(payload.to_vec());
            }
            if got.len() == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("all events");
    (got, client.counts().clone())
}

/// The events of the sample, without READY.
fn events() -> Vec<Vec<u8>> {
    let is_event = |text: &Vec<u8>| {
        let value: Value = serde_json::from_slice(text).expect("JSON");
        value["op"] == 0 && value["t"] != "READY"
    };
    sample_messages("sample.msgs").into_iter().filter(is_event).collect()
}

#[test]
fn served_file_arrives_unchanged_over_both_transports() {
    let events = events();
    assert!(events.len() > 200);
    for transport in Transport::STREAMS {
        let server = Served::start(&["--once", "--messages", &sample("sample.msgs")]);
        let (got, counts) = fetch(&server.url(), transport, events.len());
        // No event was lost, so the sequence numbers are those of the file.
        assert!(got == events, "{counts:?}");
        let (summary, status) = server.end();
        assert!(status.success());
        for line in [
            "connections  1, requests over HTTP: 0, refused: 0\n",
            "sessions     1, resumed: 0, not known: 0\n",
            &format!("sent         {} events", events.len() + 1),
            "problems     0\n",
        ] {
            assert!(summary.contains(line), "{summary}");
        }
    }
}

#[test]
fn every_fault_option_injects_its_fault() {
    let faults = "--close-after 3 --close-after 5:4900 --disconnect-after 8 --reconnect-after 11 --corrupt-at 14 \
        --corrupt-at 17:1 --truncate-at 20 --drop-at 23 --fragment 50 --heartbeat 10000 --no-ack=1";
    let args: Vec<&str> = ["--once", "--json"].into_iter().chain(faults.split(' ')).collect();
    for transport in Transport::STREAMS {
        let server = Served::start(&args);
        let listening: Value = serde_json::from_str(&server.first).expect("an object");
        let url = listening["url"].as_str().expect("an address");
        assert_eq!(
            (&listening["status"], url),
            (&"listening".into(), &*format!("ws://127.0.0.1:{}", listening["port"]))
        );
        let (got, counts) = fetch(url, transport, 41);
        assert_eq!((got.len(), counts.resumes, counts.errors.len()), (41, 8, 4), "{counts:?}");
        let (report, status) = server.end();
        assert!(status.success());
        let report: Value = serde_json::from_str(&report).expect("an object");
        assert_eq!((&report["status"], &report["mode"]), (&"ok".into(), &"serve".into()));
        assert_eq!(
            (&report["resumes"], &report["identifies"], &report["connections"]),
            (&8.into(), &1.into(), &9.into())
        );
        assert!(report["problems"].as_u64() >= Some(8), "{report}");
        assert_eq!(report["closed_by_server"]["4900"], 1);
        assert_eq!(report["closed_by_clients"]["1000"], 1);
    }
}

#[test]
fn invalidated_session_is_followed_by_a_new_one() {
    let server = Served::start(&["--once", "--json", "--invalidate-after", "10", "--rate", "1000"]);
    let listening: Value = serde_json::from_str(&server.first).expect("an object");
    let (_, counts) = fetch(listening["url"].as_str().expect("an address"), Transport::Zstd, 9 + 41);
    assert_eq!((counts.identifies, counts.resumes), (2, 0));
    assert!(server.end().1.success());
}

#[cfg(unix)]
#[test]
fn http_is_answered_on_the_same_port() {
    let server = Served::start(&["-q"]);
    let url = server.url();
    let mut stream =
        TcpStream::connect(url.strip_prefix("ws://").expect("an address")).expect("a connection");
    stream.write_all(b"GET /api/v10/gateway HTTP/1.1\r\nHost: x\r\n\r\n").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains(&format!("{{\"url\":\"{url}\"}}")),
        "{answer}"
    );
    terminate(&server.child);
    assert_eq!(server.end().0, "", "-q leaves out the summary");
}

#[cfg(unix)]
#[test]
fn signal_ends_it_with_a_summary() {
    use std::os::unix::process::ExitStatusExt;
    let server = Served::start(&[]);
    // A connected client does not delay the end.
    let stream =
        TcpStream::connect(server.url().strip_prefix("ws://").expect("an address")).expect("a connection");
    terminate(&server.child);
    let (summary, status) = server.end();
    assert!(summary.contains("sessions     0"), "{summary}");
    assert_eq!(status.signal(), Some(15));
    drop(stream);
}

#[test]
fn server_stops_after_the_given_seconds() {
    let run = Folder::new().gateway(&["serve", "--for", "0.2"]).ok();
    assert!(run.text().starts_with("listening on ws://127.0.0.1:"));
}

#[test]
fn invalid_files_and_options_of_serve_are_errors() {
    let folder = Folder::new();
    write_messages(&folder, "odd.msgs", &[br#"{"op":0,"t":"A","d":1}"#.to_vec(), b"[]".to_vec()]);
    folder.write("cut.msgs", &[9, 0, 0, 0, b'{']);
    folder.write("long.msgs", &[0xff; 8]);
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("its address").port().to_string();
    for (args, code, words) in [
        (
            &["--messages", "odd.msgs"][..],
            DAMAGED,
            "odd.msgs: message 1: a message is not a JSON object (at byte 26)",
        ),
        (&["--messages", "cut.msgs"], DAMAGED, "cut.msgs: a file of messages is cut off"),
        (&["--messages", "long.msgs"], LIMIT, "long.msgs: a message of a file has more than 1 GiB"),
        (&["--messages", &sample("sample.zst")], DAMAGED, "a message is not UTF-8"),
        (&["--messages", "none"], FAILED, "none: cannot open: No such file"),
        (&["--port", &port], FAILED, "cannot listen on port"),
        (&["--close-after", "x"], USAGE, "`x` is not N or N:VALUE"),
        (&["--close-after", "5:1005"], USAGE, "must not close with the code 1005"),
        (&["--fragment", "0"], USAGE, "--fragment"),
        (&["--rate", "0"], USAGE, "is not a number of events per second"),
        (&["--heartbeat", "-1"], USAGE, "-1"),
        (&["--heartbeat", "0"], USAGE, "--heartbeat"),
        (&["--for", "0"], USAGE, "`0` is not a number of seconds"),
        (&["--listen", "0.0.0.0"], USAGE, "--listen"),
    ] {
        let run = folder.gateway(&[&["serve"], args].concat());
        assert_eq!(run.status, Some(code), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{args:?}: {}", run.stderr);
    }
}

/// Connects up to `most` clients, until one is refused. Returns the number that got a HELLO.
fn admitted(url: &str, most: usize) -> usize {
    let place = url.strip_prefix("ws://").expect("an address");
    let mut all = Vec::new();
    while all.len() < most {
        let stream = TcpStream::connect(place).expect("a connection");
        stream.set_read_timeout(Some(std::time::Duration::from_secs(30))).expect("a timeout");
        let Ok((mut socket, _)) = tungstenite::client(url, stream) else { break };
        assert!(socket.read().expect("HELLO").is_text());
        all.push(socket);
    }
    all.len()
}

#[test]
fn more_clients_than_the_soft_limit_of_open_files_are_served() {
    let server = Served::limited("ulimit -Sn 200", &["--json"]);
    let listening: Value = serde_json::from_str(&server.first).expect("an object");
    assert_eq!(admitted(listening["url"].as_str().expect("an address"), 300), 300);
    terminate(&server.child);
    let (report, _) = server.end();
    let report: Value = serde_json::from_str(&report).expect("an object");
    assert_eq!((&report["connections"], &report["refused"]), (&300.into(), &0.into()));
}

#[test]
fn clients_beyond_the_hard_limit_of_open_files_are_refused_after_a_note() {
    // The note is printed before the address, on the same stream.
    let mut server = Served::limited("ulimit -n 200; exec 2>&1", &[]);
    assert_eq!(
        server.first.trim_end(),
        "linerate: gateway serve: the system allows 200 open files, so at most 136 connections; \
         `ulimit -Hn` raises the limit"
    );
    server.first.clear();
    server.stdout.read_line(&mut server.first).expect("a line");
    assert_eq!(admitted(&server.url(), 200), 136);
    terminate(&server.child);
    assert!(server.end().0.contains("refused: 1\n"));
}
