//! Counts the memory that sessions and writers hold. A program of its own, because it replaces the
//! allocator.

use std::io::{self, Sink, Write};

use linerate_deflate::session::{Session, SessionOptions, message_bound};
use linerate_deflate::{Format, GzWriter, Level, Scratch};
use linerate_testkit::sys::counting::{Counting, held};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn session_holds_its_window_its_index_and_at_most_64_bytes() {
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

const WRITERS: usize = 100;

type Writer = GzWriter<Sink>;

/// Returns the bytes that each of [`WRITERS`] writers holds after `work`.
fn bytes_each(work: impl Fn(&mut Writer) -> io::Result<()>) -> usize {
    let mut writers = Vec::with_capacity(WRITERS);
    let before = held();
    for _ in 0..WRITERS {
        let mut writer = GzWriter::new(io::sink(), Format::Gzip, Level::Default);
        work(&mut writer).expect("a sink takes everything");
        writers.push(writer);
    }
    size_of::<Writer>() + (held() - before) / WRITERS
}

#[test]
fn idle_writers_hold_less_than_200_bytes_and_busy_ones_their_buffers() {
    let page = b"<p>a paragraph of a page</p>\n".repeat(7_000);
    let event = &page[..500];
    // This allocates the scratch of the thread and its output.
    bytes_each(|writer| writer.write_all(&page).and_then(|()| writer.flush()));

    assert!(size_of::<Writer>() <= 200, "{}", size_of::<Writer>());
    assert_eq!(bytes_each(|_| Ok(())), size_of::<Writer>(), "new");
    let flushed = bytes_each(|writer| {
        for piece in [event, &page, event] {
            writer.write_all(piece)?;
            writer.flush()?;
        }
        Ok(())
    });
    assert_eq!(flushed, size_of::<Writer>(), "flushed");
    assert_eq!(bytes_each(|writer| writer.try_finish()), size_of::<Writer>(), "ended");
    let holding_back = bytes_each(|writer| (0..10).try_for_each(|_| writer.write_all(event)));
    assert!((5_000..=10_000 + size_of::<Writer>()).contains(&holding_back), "{holding_back}");
    let full = bytes_each(|writer| page.chunks(700).try_for_each(|piece| writer.write_all(piece)));
    assert!(full <= GzWriter::<Sink>::DEFAULT_BUFFER + size_of::<Writer>(), "{full}");
}
