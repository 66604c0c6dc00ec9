//! What a session holds, by its own account and by that of the allocator.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{traffic, wire};
use linerate_gateway::{Limits, Scratch, Session, Transport};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller vouches.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller vouches.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes for each of 200 sessions that have had a megabyte of traffic.
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
    // The first one also pays for the scratch.
    drop(run());
    let before = HELD.load(Ordering::Relaxed);
    sessions.extend((0..SESSIONS).map(|_| run()));
    let held = (HELD.load(Ordering::Relaxed) - before) / SESSIONS + size_of::<Session>();
    let told = sessions[0].memory();
    assert!(held <= told && told <= held + 256, "{transport}: told {told}, held {held}");
    held
}

#[test]
fn sessions_are_small() {
    let [zlib, zstd] = Transport::ALL.map(per_session);
    println!("bytes per session: zlib {zlib}, zstd {zstd}");
    assert!(zlib <= 44_000, "{zlib}");
    assert!(zstd <= 90 << 10, "{zstd}");
}
