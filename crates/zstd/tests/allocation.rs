//! Readers and writers allocate for the first frame, and allocate nothing for later ones with
//! windows that are not larger. The tests are a program of their own, because the counting
//! allocator counts for a whole program.
#![cfg(feature = "std")]

use std::io::{self, BufReader, Read, Write};

use linerate_testkit::data::{json_rows, kinds};
use linerate_testkit::sys::counting::{Counting, allocations};
use linerate_testkit::zstd::encoder::{compress, level};
use linerate_testkit::zstd::frame::skippable;
use linerate_zstd::{read, write};
use zstd_safe::CParameter;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of bytes of the first frame's content: more than its window, so that the window has
/// grown.
const FIRST: usize = 300_000;

/// Makes frames with windows of at most 128 KiB, and their content. The first frame has compressed
/// blocks; raw, RLE and larger compressed ones come later.
fn frames() -> (Vec<u8>, Vec<u8>) {
    let with = |content: &[u8], size: bool| {
        let parameters = [
            level(3),
            CParameter::WindowLog(17),
            CParameter::ContentSizeFlag(size),
            CParameter::ChecksumFlag(true),
        ];
        compress(content, &[], &parameters)
    };
    let mut content = json_rows(1, 1000);
    content.truncate(FIRST);
    let mut frames = with(&content, false);
    for (i, (_, data)) in kinds(200_000).into_iter().enumerate() {
        let data = &data[..data.len() >> (i % 3 * 2)];
        frames.extend(skippable(i as u8, &data[..i]));
        frames.extend(with(data, i % 2 == 0));
        content.extend_from_slice(data);
    }
    (frames, content)
}

/// Reads through a buffer of `size` bytes. Checks the content, and returns the number of
/// allocations after the first frame.
fn read_all(mut decoder: impl Read, size: usize, content: &[u8]) -> usize {
    let mut buffer = vec![0; size];
    let (mut at, mut before) = (0, None);
    loop {
        if at > FIRST {
            before.get_or_insert_with(allocations);
        }
        let n = decoder.read(&mut buffer).expect("sound frames");
        assert!(buffer[..n] == content[at..at + n]);
        at += n;
        if n == 0 {
            assert_eq!(at, content.len());
            return allocations() - before.expect("more than a frame");
        }
    }
}

#[test]
fn reads_after_the_first_frame_allocate_nothing() {
    let (frames, content) = frames();
    for capacity in [1, 1000, 128 << 10, 1 << 20] {
        for size in [100, 128 << 10] {
            let reader = BufReader::with_capacity(capacity, &frames[..]);
            let count = read_all(read::Decoder::with_buffer(reader).unwrap(), size, &content);
            assert_eq!(count, 0, "a reader with a buffer of {capacity} bytes, reads of {size}");
        }
    }
    assert_eq!(read_all(read::Decoder::new(&frames[..]).unwrap(), 1000, &content), 0);
    assert_eq!(read_all(read::Decoder::with_buffer(&frames[..]).unwrap(), 1000, &content), 0, "a slice");
}

/// Compares the bytes that are written to it, and counts allocations after the first frame.
struct Comparer<'c> {
    content: &'c [u8],
    at: usize,
    before: Option<usize>,
}

impl Write for Comparer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        assert!(self.content[self.at..].starts_with(bytes));
        self.at += bytes.len();
        if self.at > FIRST {
            self.before.get_or_insert_with(allocations);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn writes_after_the_first_frame_allocate_nothing() {
    let (frames, content) = frames();
    for size in [1, 1000, 1 << 20] {
        let comparer = Comparer { content: &content, at: 0, before: None };
        let mut decoder = write::Decoder::new(comparer).unwrap();
        frames.chunks(size).for_each(|piece| decoder.write_all(piece).unwrap());
        let comparer = decoder.finish().unwrap();
        let count = allocations() - comparer.before.expect("more than a frame");
        assert_eq!((comparer.at, count), (content.len(), 0), "writes of {size} bytes");
    }
}
