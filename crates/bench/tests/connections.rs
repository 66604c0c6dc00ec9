//! Compares the memory that connections report with the growth of the heap. This test needs its own
//! process, because tests on other threads would change the heap.

use linerate_bench::messages::{Input, measure};
use linerate_gateway::Transport;
use linerate_gateway_sim::traffic::Traffic;

#[test]
fn reported_memory_is_close_to_heap_growth() {
    let input = Input::generated(Traffic::new(3).guilds(0).events(900), 2).unwrap();
    for transport in Transport::STREAMS {
        let mut seen = 0;
        for m in measure(&input, transport, 1, 50).unwrap().iter().filter(|m| m.params["mode"] == "many") {
            let metric = |name: &str| m.metrics.get(name).map(|figure| figure.median);
            // The contender that records statistics is left out: the memory in which its recorder
            // counts is not part of a connection.
            let (Some(heap), Some(told), "linerate" | "libzstd") =
                (metric("heap"), metric("told"), &*m.contender)
            else {
                continue;
            };
            let apart = (heap - told).abs() / told;
            assert!(apart < 0.1, "{transport} {}: {heap} on the heap, {told} told", m.contender);
            seen += 1;
        }
        assert!(seen > 0, "{transport}: nothing was compared");
    }
}
