//! Recorders of statistics: what they count, log and report.

use std::fs::File;

use linerate_gateway::stats::{
    Clock, LogEntry, LogOptions, LogReader, MessageRecord, StatsOptions, StatsRecorder, Verdict,
};
use linerate_gateway::{Limits, Scratch, Session, Transport};

use crate::common::{traffic, wire};

/// All records of the log files in a folder, in the order of the files, and the number of lost
/// records.
fn logged(folder: &std::path::Path) -> (Vec<MessageRecord>, u64) {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let (mut records, mut lost) = (Vec::new(), 0);
    for path in paths {
        for entry in LogReader::open(File::open(path).unwrap()).unwrap() {
            match entry.unwrap() {
                LogEntry::Message(record) => records.push(record),
                LogEntry::Dropped { records, .. } => lost += records,
            }
        }
    }
    (records, lost)
}

#[test]
fn logged_records_are_those_of_the_messages() {
    let folder = tempfile::tempdir().unwrap();
    for clock in [Clock::Monotonic, Clock::ThreadCpu] {
        let folder = folder.path().join(format!("{clock:?}"));
        // A file has at most 100 records.
        let log = LogOptions::new(&folder).max_bytes(101 * 32).max_files(100);
        let recorder = StatsRecorder::start(StatsOptions::new().log(log).clock(clock)).unwrap();
        let (mut scratch, mut expected) = (Scratch::new(), Vec::new());
        for (number, transport) in [Transport::Zlib, Transport::Zstd, Transport::Zlib].into_iter().enumerate()
        {
            let payloads = traffic(number as u64, 3, 80);
            let mut session = Session::new(transport, Limits::new()).record_stats(recorder.connection());
            assert_eq!(session.stats_number(), Some(number as u32));
            for (frame, payload) in wire(transport, &payloads).iter().zip(&payloads) {
                // zlib messages come in two parts.
                let cut = if transport == Transport::Zlib { frame.len() / 2 } else { 0 };
                if cut > 0 {
                    assert_eq!(session.message(&frame[..cut], &mut scratch).unwrap(), None);
                }
                session.message(&frame[cut..], &mut scratch).unwrap().unwrap();
                expected.push((number as u32, transport, Verdict::Decoded, frame.len(), payload.len()));
            }
        }
        recorder.stop().unwrap();
        let stats = recorder.stats();
        let (records, lost) = logged(&folder);
        assert_eq!((lost, stats.messages()), (0, expected.len() as u64));
        let seen = records.iter().map(|record| {
            let sizes = (record.compressed as usize, record.payload as usize);
            (record.connection, record.transport, record.verdict, sizes.0, sizes.1)
        });
        assert!(seen.eq(expected.iter().copied()));
        assert_eq!(stats.payload_bytes(), expected.iter().map(|message| message.4 as u64).sum::<u64>());
        // Each connection's first message is timed, and every 16th message after it.
        for connection in 0..3 {
            let of = records.iter().filter(|record| record.connection == connection);
            assert!(of.enumerate().all(|(i, record)| record.decode_ns.is_some() == (i % 16 == 0)));
        }
        let times: Vec<_> = records.iter().filter_map(|record| record.decode_ns).collect();
        assert_eq!((stats.timed(), stats.decode_ns()), {
            (times.len() as u64, times.iter().map(|&ns| u64::from(ns)).sum())
        });
        assert!(stats.quantile_ns(1.0) >= stats.quantile_ns(0.5) && stats.quantile_ns(0.5) > 0);
        // Arrivals are in order, and of this century.
        assert!(records.is_sorted_by_key(|record| record.time));
        assert!(records[0].time > 1_500_000_000_000_000_000);
    }
}

#[test]
fn failed_message_is_recorded_once_with_its_verdict() {
    let recorder = StatsRecorder::start(StatsOptions::new()).unwrap();
    let mut scratch = Scratch::new();
    let frames = wire(Transport::Zstd, &traffic(1, 1, 5));
    let mut session = Session::new(Transport::Zstd, Limits::new()).record_stats(recorder.connection());
    assert!(session.message(&frames[0][..frames[0].len() - 1], &mut scratch).is_err());
    // The persistent error of the next call does not count as a message.
    assert!(session.message(&frames[1], &mut scratch).is_err());
    session.reset();
    session.message(&frames[0], &mut scratch).unwrap().unwrap();
    let mut small =
        Session::new(Transport::Zstd, Limits::new().max_message(1)).record_stats(recorder.connection());
    assert!(small.message(&frames[0], &mut scratch).is_err());
    recorder.stop().unwrap();
    let stats = recorder.stats();
    let verdicts = [Verdict::Decoded, Verdict::Truncated, Verdict::Limit].map(|v| stats.with_verdict(v));
    assert_eq!((verdicts, stats.errors()), ([1, 1, 1], 2));
}

#[test]
fn statistics_are_complete_after_an_error_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    // After this file there is one more number, so the log cannot begin a second file.
    std::fs::write(folder.path().join("gateway-4294967294.stats"), "").unwrap();
    let log = LogOptions::new(folder.path()).max_bytes(64);
    let recorder = StatsRecorder::start(StatsOptions::new().log(log)).unwrap();
    let payloads = traffic(1, 1, 5);
    let mut session = Session::new(Transport::Zstd, Limits::new()).record_stats(recorder.connection());
    for frame in wire(Transport::Zstd, &payloads) {
        session.message(&frame, &mut Scratch::new()).unwrap().unwrap();
    }
    assert_eq!(recorder.stop().unwrap_err().kind(), std::io::ErrorKind::FileTooLarge);
    assert_eq!(recorder.stats().messages(), payloads.len() as u64);
    assert!(recorder.stop().is_ok());
}

#[test]
fn dropped_records_are_counted_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let options = StatsOptions::new().capacity(1).log(LogOptions::new(folder.path()));
    let recorder = StatsRecorder::start(options).unwrap();
    let payloads = traffic(1, 2, 3000);
    let mut session = Session::new(Transport::Zstd, Limits::new()).record_stats(recorder.connection());
    let mut scratch = Scratch::new();
    for frame in wire(Transport::Zstd, &payloads) {
        session.message(&frame, &mut scratch).unwrap().unwrap();
    }
    recorder.stop().unwrap();
    let stats = recorder.stats();
    let (records, lost) = logged(folder.path());
    assert_eq!(records.len() as u64 + lost, payloads.len() as u64);
    assert_eq!((stats.messages(), stats.dropped()), (records.len() as u64, lost));
}

#[test]
fn connections_have_statistics_of_their_own_while_they_live() {
    let recorder = StatsRecorder::start(StatsOptions::new().max_connections(2)).unwrap();
    let payloads = traffic(1, 2, 50);
    let frames = wire(Transport::Zlib, &payloads);
    let mut scratch = Scratch::new();
    let mut sessions: Vec<Session> = (0..3)
        .map(|_| Session::new(Transport::Zlib, Limits::new()).record_stats(recorder.connection()))
        .collect();
    for frame in &frames {
        for session in &mut sessions {
            session.message(frame, &mut scratch).unwrap().unwrap();
        }
    }
    while recorder.stats().messages() < 3 * payloads.len() as u64 {
        std::thread::yield_now();
    }
    let messages = |number| recorder.connection_stats(number).map(|stats| stats.messages());
    let each = payloads.len() as u64;
    assert_eq!([0, 1, 2].map(messages), [Some(each), Some(each), None]);
    assert!((recorder.connection_stats(0).unwrap().ratio() - recorder.stats().ratio()).abs() < 1e-9);
    drop(sessions.remove(0));
    assert_eq!((messages(0), recorder.connections()), (None, 1));
}

#[test]
fn prometheus_text_has_every_family_with_its_type() {
    let recorder = StatsRecorder::start(StatsOptions::new()).unwrap();
    let mut session = Session::new(Transport::Zstd, Limits::new()).record_stats(recorder.connection());
    let mut scratch = Scratch::new();
    for frame in wire(Transport::Zstd, &[b"{\"op\":11}".to_vec()]) {
        session.message(&frame, &mut scratch).unwrap();
    }
    while recorder.stats().messages() < 1 {
        std::thread::yield_now();
    }
    let text = recorder.prometheus();
    let has = |line: &str| assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    has("# TYPE linerate_gateway_messages_total counter");
    has("linerate_gateway_messages_total{transport=\"zstd-stream\",verdict=\"decoded\"} 1");
    has("linerate_gateway_messages_total{transport=\"zlib-stream\",verdict=\"decoded\"} 0");
    has("linerate_gateway_payload_bytes_total{transport=\"zstd-stream\"} 9");
    has("# TYPE linerate_gateway_decode_seconds summary");
    has("linerate_gateway_decode_seconds_count{transport=\"zstd-stream\"} 1");
    has("linerate_gateway_connections 1");
    has("linerate_gateway_dropped_records_total 0");
    // Each line is a comment, or a name with labels and a number.
    for line in text.lines().filter(|line| !line.starts_with("# ")) {
        let (name, value) = line.rsplit_once(' ').expect("a value");
        assert!(name.starts_with("linerate_gateway_") && value.parse::<f64>().is_ok(), "{line}");
    }
}
