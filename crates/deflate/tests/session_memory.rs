//! What a session holds, counted by the allocator.

use linerate_deflate::session::{Session, SessionOptions, message_bound};
use linerate_deflate::{Format, Level, Scratch};
use linerate_testkit::sys::counting::{Counting, held};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn session_holds_its_window_its_index_and_64_bytes() {
    let mut scratch = Scratch::boxed();
    let mut out = vec![0; message_bound(5_000)];
    let message = b"{\"price\":".repeat(500);
    for bits in [0, 8, 9, 10, 11, 12, 13, 14, 15] {
        let window = if bits == 0 { 0 } else { 1 << bits };
        for (level, keep_index, takeover) in [
            (Level::Default, true, true),
            (Level::Default, false, true),
            (Level::Best, true, true),
            (Level::Default, true, false),
        ] {
            let options = SessionOptions::new(Format::Deflate).window_bits(bits).level(level);
            let options = options.keep_index(keep_index).takeover(takeover);
            let before = held();
            let mut session = Session::new(options).expect("valid options");
            for _ in 0..20 {
                session.message(&mut scratch, &message, &mut out).expect("capacity of message_bound");
            }
            let held = held() - before + size_of::<Session>();
            let window = if takeover { window } else { 0 };
            let index = match (keep_index, level < Level::Lazy) {
                (false, _) => 0,
                (true, true) => (2 * window).min(8 << 10),
                (true, false) => 4 * window + (2 * window).min(16 << 10),
            };
            assert!(held <= window + index + 64, "{bits} bits, {level:?}: {held} bytes");
            assert_eq!(held, session.memory());
        }
    }
}
