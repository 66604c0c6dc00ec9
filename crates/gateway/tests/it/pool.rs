//! Scratch pools shared by threads.

use std::sync::Barrier;

use linerate_gateway::{Limits, ScratchPool, Session, Transport};

use crate::common::{traffic, wire};

#[test]
fn threads_share_a_pool() {
    static POOL: ScratchPool = ScratchPool::new(2);
    // More threads than slots: some use temporary scratch.
    let together = Barrier::new(5);
    std::thread::scope(|scope| {
        for seed in 0..5 {
            let together = &together;
            scope.spawn(move || {
                let sent = traffic(seed, 3, 40);
                let transport = Transport::STREAMS[seed as usize % 2];
                let mut session = Session::new(transport, Limits::new());
                together.wait();
                for (wire, sent) in wire(transport, &sent).iter().zip(&sent) {
                    POOL.with(|scratch| {
                        assert_eq!(session.message(wire, scratch).unwrap().unwrap().payload, sent);
                    });
                }
            });
        }
    });
    assert!(POOL.memory() > 0 && POOL.memory() <= 2 * ((1 << 20) + (340 << 10)), "{}", POOL.memory());
    POOL.clear();
    assert_eq!(POOL.memory(), 0);
}

#[test]
fn exhausted_pool_does_not_block_and_only_the_first_slot_keeps_large_buffers() {
    let pool = ScratchPool::new(2);
    let sent = vec![vec![b'x'; 3 << 20]];
    let wire = &wire(Transport::Zlib, &sent)[0];
    let mut loans: Vec<_> = (0..3).map(|_| pool.acquire()).collect();
    for loan in &mut loans {
        let mut session = Session::new(Transport::Zlib, Limits::new());
        assert_eq!(session.message(wire, loan).unwrap().unwrap().payload, sent[0]);
        assert!(loan.memory() >= 3 << 20);
    }
    assert_eq!(pool.memory(), 0, "all are lent");
    drop(loans);
    let kept = pool.memory();
    assert!((4 << 20..8 << 20).contains(&kept), "the first keeps its buffer, the second a megabyte: {kept}");
    let again = pool.acquire();
    assert!(again.memory() > 3 << 20, "the first is lent first");
}

#[test]
fn panic_does_not_lose_a_scratch() {
    let pool = ScratchPool::new(1);
    let panics = || pool.with(|_| -> () { std::panic::resume_unwind(Box::new(())) });
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    let sent = traffic(3, 1, 5);
    let mut session = Session::new(Transport::Zstd, Limits::new());
    for (wire, sent) in wire(Transport::Zstd, &sent).iter().zip(&sent) {
        pool.with(|scratch| assert_eq!(session.message(wire, scratch).unwrap().unwrap().payload, sent));
    }
    assert!(pool.memory() > 0);
}
