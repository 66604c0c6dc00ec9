//! What connections hold, by the heap and by their own account. Alone in its program: the heap is everyone's.

use linerate_bench::messages::traffic::Traffic;
use linerate_bench::messages::{Input, Setup, measure};
use linerate_gateway::Transport;

#[test]
fn connections_hold_what_they_say() {
    let input = Input::generated(Traffic::new(3).with_guilds(0).with_events(900), 2).unwrap();
    let setup = Setup { transports: vec![Transport::Zlib, Transport::Zstd], rounds: 1, connections: 50 };
    let rows = measure(&input, &setup, |_| {}).unwrap();
    for row in rows.iter().filter(|row| row.measure == "many") {
        let (Some(heap), Some(told)) = (row.heap_bytes, row.told_bytes) else { continue };
        let apart = heap.abs_diff(told) as f64 / told as f64;
        assert!(apart < 0.1, "{} {}: {heap} on the heap, {told} told", row.transport, row.contender);
    }
}
