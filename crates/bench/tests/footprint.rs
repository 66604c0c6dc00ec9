//! Memory as the heap reports it. One test in its own process, because other threads would change
//! the heap.

use linerate_bench::bytes::table;
use linerate_candidates::heap_in_use;

#[test]
fn the_state_of_a_stream_is_what_the_heap_grows_by() {
    let entry = table().into_iter().find(|e| e.name == "zlib-rs 1").unwrap();
    let contender = (entry.make)().unwrap();
    match contender.state_bytes() {
        // zlib's window, hash chains and pending output alone are 224 KiB.
        Some(n) => assert!((224 << 10..1 << 20).contains(&n), "{n}"),
        None => assert!(heap_in_use().is_none()),
    }
}
