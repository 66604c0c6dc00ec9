//! What connections hold, by the heap and by their own account. Alone in its program: the heap is everyone's.

use linerate_bench::messages::{BenchOptions, Input, measure};
use linerate_gateway::Transport;
use linerate_gateway::traffic::Traffic;

#[test]
fn reported_memory_is_close_to_heap_growth() {
    let input = Input::generated(Traffic::new(3).guilds(0).events(900), 2).unwrap();
    let options = BenchOptions {
        transports: vec![Transport::Zlib, Transport::Zstd],
        rounds: 1,
        encode: false,
        connections: 50,
    };
    let rows = measure(&input, &options, |_| {}).unwrap();
    for row in rows.iter().filter(|row| row.measure == "many") {
        let (Some(heap), Some(reported)) = (row.heap_bytes, row.reported_bytes) else { continue };
        let apart = heap.abs_diff(reported) as f64 / reported as f64;
        assert!(apart < 0.1, "{} {}: {heap} on the heap, {reported} reported", row.transport, row.contender);
    }
}
