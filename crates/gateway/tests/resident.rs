//! Resident memory of many sessions. A program with a single test, since it measures the whole
//! process.

#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "this program uses a part of the module")]
#[path = "it/common.rs"]
mod common;

use common::{traffic, wire};
use linerate_gateway::{Limits, Scratch, Session, Transport, release_memory};

/// Resident memory of this process, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

#[test]
fn resident_memory_of_2500_sessions_is_bounded() {
    const CONNECTIONS: usize = 2500;
    let sent = traffic(1, 4, 30);
    let mut scratch = Scratch::new();
    // Limits in bytes for all sessions: 2,500 times 33 KB or 72 KB, and the allocator's overhead.
    for (transport, most) in [(Transport::Zlib, 100_000_000), (Transport::Zstd, 190_000_000)] {
        let wire = wire(transport, &sent);
        let mut connect = || {
            let mut session = Session::new(transport, Limits::new());
            for (wire, sent) in wire.iter().zip(&sent) {
                assert!(session.message(wire, &mut scratch).unwrap().unwrap().payload == sent);
            }
            session
        };
        drop(connect());
        let mut sessions = Vec::with_capacity(CONNECTIONS);
        let before = resident();
        sessions.extend((0..CONNECTIONS).map(|_| connect()));
        let grown = resident().saturating_sub(before);
        let told: usize = sessions.iter().map(Session::memory).sum();
        println!(
            "{transport}: {} bytes resident per connection, {} told",
            grown / CONNECTIONS,
            told / CONNECTIONS
        );
        assert!(told / CONNECTIONS > 32_000, "they are in use");
        assert!(grown <= most, "{transport}: {grown}");
        // Closes every other session, so that memory in use lies between the freed pieces.
        let mut kept = Vec::with_capacity(CONNECTIONS);
        for (i, session) in sessions.into_iter().enumerate() {
            if i % 2 == 0 {
                kept.push(session);
            }
        }
        drop(kept);
        let closed = resident().saturating_sub(before);
        let can = release_memory();
        let left = resident().saturating_sub(before);
        println!("{transport}: of {grown} bytes {closed} stay after the close, {left} once released");
        assert!(left <= grown / 4 || !can, "{transport}: {left} of {grown}");
    }
}
