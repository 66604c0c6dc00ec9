use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::testing;

/// Decodes a stream of at most a megabyte.
fn inflate(format: Format, bytes: &[u8]) -> Vec<u8> {
    testing::inflate(format, bytes, 1 << 20)
}

fn data(n: usize) -> Vec<u8> {
    (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 & 15).collect()
}

/// A writer that takes at most `step` bytes per call and fails once at each offset in `failures`.
#[derive(Debug, Default)]
struct Flaky {
    taken: Vec<u8>,
    step: usize,
    failures: Vec<(usize, ErrorKind)>,
    flushes: usize,
}

impl Write for Flaky {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failures.first().is_some_and(|f| f.0 <= self.taken.len()) {
            return Err(self.failures.remove(0).1.into());
        }
        let n = bytes.len().min(self.step);
        self.taken.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushes += 1;
        Ok(())
    }
}

#[test]
fn every_format_and_level_round_trips_for_any_division_into_writes() {
    let data = data(50_000);
    for format in [Format::Deflate, Format::Zlib, Format::Gzip] {
        for level in Level::ALL {
            let mut first: Option<Vec<u8>> = None;
            for cut in [1, 999, 1000, 1001, 4096, 50_000] {
                let mut writer = GzWriter::with_buffer(Vec::new(), format, level, 1000);
                data.chunks(cut).for_each(|piece| writer.write_all(piece).unwrap());
                let bytes = writer.finish().unwrap();
                assert!(inflate(format, &bytes) == data);
                assert!(*first.get_or_insert_with(|| bytes.clone()) == bytes, "cut every {cut}");
            }
        }
    }
}

#[test]
fn writes_and_buffers_of_every_small_size_round_trip() {
    let data = data(500);
    for size in 1..=64 {
        for cut in [1, size - 1, size, size + 1, 64, 500].into_iter().filter(|cut| *cut > 0) {
            let inner = Flaky { step: 1 + cut % 7, ..Flaky::default() };
            let mut writer = GzWriter::with_buffer(inner, Format::Gzip, Level::Default, size);
            for (i, piece) in data.chunks(cut).enumerate() {
                writer.write_all(piece).unwrap();
                if i % 5 == 4 {
                    writer.flush().unwrap();
                }
            }
            let bytes = writer.finish().unwrap().taken;
            assert!(inflate(Format::Gzip, &bytes) == data, "buffer of {size}, writes of {cut}");
        }
    }
}

#[test]
fn single_buffer_equals_one_call() {
    let data = data(5000);
    let mut writer = GzWriter::new(Vec::new(), Format::Gzip, Level::Default);
    writer.write_all(&data).unwrap();
    assert_eq!(writer.finish().unwrap(), crate::compress_to_vec(Format::Gzip, Level::Default, &data));
}

#[test]
fn no_writes_give_an_empty_stream() {
    let writer = GzWriter::new(Vec::new(), Format::Zlib, Level::Fast);
    assert_eq!(inflate(Format::Zlib, &writer.finish().unwrap()), b"");
}

#[test]
fn flush_makes_all_decodable_and_a_second_flush_writes_nothing() {
    let mut writer = GzWriter::new(Flaky { step: 7, ..Flaky::default() }, Format::Zlib, Level::Default);
    writer.flush().unwrap();
    assert!(writer.get_ref().taken.is_empty(), "nothing to send yet");
    let mut expected = Vec::new();
    for message in [&b"one"[..], b"two, two, two", b"x"] {
        writer.write_all(message).unwrap();
        expected.extend_from_slice(message);
        writer.flush().unwrap();
        let len = writer.get_ref().taken.len();
        writer.flush().unwrap();
        assert_eq!(writer.get_ref().taken.len(), len);

        let mut out = vec![0; 100];
        let mut decoder = zlib_rs::Inflate::new(true, 15);
        decoder.decompress(&writer.get_ref().taken, &mut out, zlib_rs::InflateFlush::SyncFlush).unwrap();
        assert_eq!(out[..decoder.total_out() as usize], expected);
    }
    assert_eq!(writer.get_ref().flushes, 7);
    assert_eq!(inflate(Format::Zlib, &writer.finish().unwrap().taken), expected);
}

#[test]
fn interrupted_and_short_writes_give_the_same_output() {
    let data = data(3000);
    let failures = (0..400).map(|i| (i * 3, ErrorKind::Interrupted)).collect();
    let inner = Flaky { step: 3, failures, ..Flaky::default() };
    let mut writer = GzWriter::with_buffer(inner, Format::Gzip, Level::Fast, 500);
    writer.write_all(&data).unwrap();
    assert_eq!(inflate(Format::Gzip, &writer.finish().unwrap().taken), data);
}

#[test]
fn call_after_an_error_continues_without_loss() {
    let data = data(3000);
    let failures = (0..40).map(|i| (i * 50, ErrorKind::WouldBlock)).collect();
    let inner = Flaky { step: 20, failures, ..Flaky::default() };
    let mut writer = GzWriter::with_buffer(inner, Format::Gzip, Level::Fast, 500);
    let (mut at, mut errors) = (0, 0);
    while at < data.len() {
        match writer.write(&data[at..data.len().min(at + 130)]) {
            Ok(n) => at += n,
            Err(e) => {
                assert_eq!(e.kind(), ErrorKind::WouldBlock);
                errors += 1;
            }
        }
        errors += usize::from(at % 650 == 0 && writer.flush().is_err());
    }
    while writer.try_finish().is_err() {
        errors += 1;
    }
    assert!(errors > 3, "the failures were met: {errors}");
    assert_eq!(inflate(Format::Gzip, &writer.finish().unwrap().taken), data);
}

#[test]
fn writer_that_accepts_0_bytes_is_an_error() {
    let mut writer = GzWriter::with_buffer(Flaky::default(), Format::Gzip, Level::Fast, 10);
    writer.write_all(&[0; 10]).unwrap();
    assert_eq!(writer.flush().unwrap_err().kind(), ErrorKind::WriteZero);
}

#[test]
fn writing_after_the_end_is_an_error() {
    let mut writer = GzWriter::new(Vec::new(), Format::Gzip, Level::Fast);
    writer.write_all(b"abc").unwrap();
    writer.try_finish().unwrap();
    assert_eq!(writer.write(b"d").unwrap_err().kind(), ErrorKind::InvalidInput);
    writer.flush().unwrap();
    assert_eq!(inflate(Format::Gzip, &writer.finish().unwrap()), b"abc");
}

/// A `Vec` that can be read after its writer is dropped.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn drop_ends_the_stream() {
    let shared = Shared::default();
    let mut writer = GzWriter::new(shared.clone(), Format::Gzip, Level::Default);
    writer.write_all(b"dropped").unwrap();
    drop(writer);
    assert_eq!(inflate(Format::Gzip, &shared.0.borrow()), b"dropped");
}

#[test]
fn drop_does_not_call_a_writer_that_panicked() {
    struct Panics(Rc<RefCell<u32>>);
    impl Write for Panics {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            *self.0.borrow_mut() += 1;
            std::panic::resume_unwind(Box::new("broken"));
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let calls = Rc::new(RefCell::new(0));
    let mut writer = GzWriter::new(Panics(calls.clone()), Format::Gzip, Level::Default);
    writer.write_all(b"data").unwrap();
    let flushed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| writer.flush()));
    assert!(flushed.is_err());
    drop(writer);
    assert_eq!(*calls.borrow(), 1);
}

#[test]
fn drop_during_a_panic_leaves_the_stream_truncated() {
    let shared = Shared::default();
    let inner = shared.clone();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let mut writer = GzWriter::new(inner, Format::Gzip, Level::Default);
        writer.write_all(b"half of it").unwrap();
        std::panic::resume_unwind(Box::new("before the other half"));
    }));
    assert!(panicked.is_err());
    assert!(shared.0.borrow().is_empty());
}
