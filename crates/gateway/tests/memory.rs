//! Compares the memory that a session reports with what the allocator counts. A program of its own,
//! since the allocator counts the whole process.

#[allow(dead_code, reason = "this program uses a part of the module")]
#[path = "it/common.rs"]
mod common;

use common::{traffic, wire};
use linerate_gateway::{Limits, Scratch, Session, Transport};
use linerate_testkit::sys::counting::{Counting, held};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that each of 200 sessions holds, on average, after 322 messages.
fn per_session(transport: Transport) -> usize {
    const SESSIONS: usize = 200;
    let wire = wire(transport, &traffic(1, 20, 300));
    let mut scratch = Scratch::new();
    let mut run = || {
        let mut session = Session::new(transport, Limits::new());
        for wire in &wire {
            session.message(wire, &mut scratch).unwrap().unwrap();
        }
        session
    };
    let mut sessions = Vec::with_capacity(SESSIONS);
    // The first one also allocates the scratch.
    drop(run());
    let before = held();
    sessions.extend((0..SESSIONS).map(|_| run()));
    let each = (held() - before) / SESSIONS + size_of::<Session>();
    let told = sessions[0].memory();
    assert!(each <= told && told <= each + 256, "{transport}: told {told}, held {each}");
    each
}

#[test]
fn memory_per_session_is_bounded() {
    let [zlib, zstd] = Transport::STREAMS.map(per_session);
    println!("bytes per session: zlib {zlib}, zstd {zstd}");
    assert!(zlib <= 33 << 10, "{zlib}");
    assert!(zstd <= 72 << 10, "{zstd}");
}
