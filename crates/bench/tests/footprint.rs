//! Compares the state that a contender reports with the growth of the heap. This test needs its own
//! process, because tests on other threads would change the heap.

use linerate_bench::bytes::table;
use linerate_candidates::heap_in_use;

#[test]
fn the_state_of_a_stream_is_what_the_heap_grows_by() {
    let entry = table().into_iter().find(|e| e.name == "zlib-rs 1").unwrap();
    let contender = (entry.make)().unwrap();
    match contender.state_bytes() {
        // zlib-rs's window, hash chains and pending output alone take more than 224 KiB.
        Some(n) => assert!((224 << 10..1 << 20).contains(&n), "{n}"),
        None => assert!(heap_in_use().is_none()),
    }
}
