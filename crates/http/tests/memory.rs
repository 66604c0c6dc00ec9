//! Counts the memory of an idle response by an allocator of its own, so this file is a program of
//! its own.

use std::task::Poll;

use bytes::Bytes;
use common::{Script, Step, poll};
use linerate_http::{Coding, CompressionBody, Level};
use linerate_testkit::sys::counting::{Counting, held};

#[allow(dead_code, reason = "this program uses a part of the module")]
#[path = "it/common.rs"]
mod common;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BODIES: usize = 100;

type Make = fn(Script) -> CompressionBody<Script>;

/// Average number of bytes that a body holds after ten events, without the body that it wraps.
fn bytes_each(make: Make) -> usize {
    let event = Bytes::from_static(b"event: price\ndata: {\"symbol\":\"BTC-USD\",\"price\":\"97012.5\"}\n\n");
    let steps = || (0..10).flat_map(|_| [Step::Data(event.clone()), Step::Pending]);
    let mut scripts: Vec<Script> = (0..BODIES).map(|_| Script::new(steps())).collect();
    let mut bodies = Vec::with_capacity(BODIES);
    let before = held();
    for script in scripts.drain(..) {
        let mut body = make(script);
        for _ in 0..10 {
            let Poll::Ready(Some(Ok(frame))) = poll(&mut body) else { panic!("a frame for each event") };
            drop(frame);
            assert!(body.get_ref().is_paused);
        }
        bodies.push(body);
    }
    size_of::<CompressionBody<Script>>() - size_of::<Script>() + (held() - before) / BODIES
}

#[test]
fn idle_body_holds_less_than_100_bytes_or_its_window() {
    let alone: Make = |script| CompressionBody::new(script, Coding::Gzip, Level::Best);
    let windowed: Make = |script| CompressionBody::with_window(script, Coding::Gzip, Level::Default, 11);
    // The first run also allocates the scratch of the thread.
    bytes_each(alone);
    let bytes = bytes_each(alone);
    assert!(bytes <= 100, "{bytes}");
    let bytes = bytes_each(windowed);
    assert!((6_144..=6_144 + 200).contains(&bytes), "{bytes}");
}
