//! What writers hold, counted by the allocator.

use std::io::{self, Sink, Write};

use linerate_deflate::{Format, GzWriter, Level};
use linerate_testkit::sys::counting::{Counting, held};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const WRITERS: usize = 100;

type Writer = GzWriter<Sink>;

/// Bytes that each of [`WRITERS`] writers holds after `work`.
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
fn idle_writers_hold_less_than_200_bytes_and_busy_ones_what_they_hold_back() {
    let page = b"<p>a paragraph of a page</p>\n".repeat(7_000);
    let event = &page[..500];
    // The scratch of the thread, and its output.
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
