//! Asynchronous decoders have the results of `read::Decoder`, with readers and writers that are
//! pending before every call.
use std::io::{self, ErrorKind, Read};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker, ready};

use linerate_testkit::data::{Noise, json_rows, kinds, mixed};
use linerate_testkit::zstd::encoder::{compress, compress_flushed, level, train};
use linerate_zstd::asynchronous::{bufread, write};
use linerate_zstd::{Kind, Options, read};
use zstd_safe::CParameter;

use crate::common::{inner, many_frames};

/// Counts wake-ups.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Polls until the result is ready.
///
/// # Panics
/// Panics if the poll is pending and will not be woken.
fn wait<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    for round in 0.. {
        match poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => assert!(wakes.0.load(Ordering::Relaxed) > round, "pending without a wake-up"),
        }
    }
    unreachable!("the loop has no end")
}

/// Gives bytes in pieces of `size`, and is pending before each.
struct Slow<'s> {
    rest: &'s [u8],
    size: usize,
    buffered: usize,
    is_ready: bool,
}

impl<'s> Slow<'s> {
    fn new(rest: &'s [u8], size: usize) -> Self {
        Slow { rest, size, buffered: 0, is_ready: false }
    }

    /// Returns whether it is ready this time. It is ready every other time.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.is_ready = !self.is_ready;
        if self.is_ready {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        if self.buffered == 0 {
            ready!(self.poll_ready(cx));
            self.buffered = self.size.min(self.rest.len());
        }
        Poll::Ready(Ok(&self.rest[..self.buffered]))
    }

    fn take(&mut self, count: usize) {
        self.buffered -= count;
        self.rest = &self.rest[count..];
    }
}

/// Takes pieces of `size` bytes, and is pending before each.
#[derive(Default)]
struct SlowWriter {
    bytes: Vec<u8>,
    size: usize,
    is_pending: bool,
    flushes: usize,
    is_closed: bool,
}

impl SlowWriter {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<&mut Self> {
        self.is_pending = !self.is_pending;
        if self.is_pending {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self)
    }

    fn poll_take(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = ready!(self.poll_ready(cx));
        let n = this.size.min(buf.len());
        this.bytes.extend_from_slice(&buf[..n]);
        Poll::Ready(Ok(n))
    }
}

/// Implements the traits of one crate for the slow reader and writer, and calls a decoder by them.
/// The calling module imports the crate's traits, which have the same names in both crates. The
/// arguments are the type that a reader fills, its result, and the name of a writer's end.
macro_rules! slow_traits {
    ($buf:ty, $read:ty, $poll_close:ident) => {
        impl AsyncRead for Slow<'_> {
            fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut $buf) -> Poll<io::Result<$read>> {
                unreachable!("its buffer is read")
            }
        }

        impl AsyncBufRead for Slow<'_> {
            fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
                self.get_mut().poll_fill(cx)
            }

            fn consume(self: Pin<&mut Self>, count: usize) {
                self.get_mut().take(count);
            }
        }

        impl AsyncWrite for SlowWriter {
            fn poll_write(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.poll_take(cx, buf)
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                ready!(self.poll_ready(cx)).flushes += 1;
                Poll::Ready(Ok(()))
            }

            fn $poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                ready!(self.poll_ready(cx)).is_closed = true;
                Poll::Ready(Ok(()))
            }
        }

        pub(crate) fn write(decoder: &mut write::ZstdDecoder<SlowWriter>, bytes: &[u8]) -> io::Result<usize> {
            let mut decoder = pin!(decoder);
            wait(|cx| decoder.as_mut().poll_write(cx, bytes))
        }

        pub(crate) fn flush(decoder: &mut write::ZstdDecoder<SlowWriter>) -> io::Result<()> {
            let mut decoder = pin!(decoder);
            wait(|cx| decoder.as_mut().poll_flush(cx))
        }

        pub(crate) fn close(decoder: &mut write::ZstdDecoder<SlowWriter>) -> io::Result<()> {
            let mut decoder = pin!(decoder);
            wait(|cx| decoder.as_mut().$poll_close(cx))
        }
    };
}

mod by_tokio {
    use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};

    use super::*;

    slow_traits!(ReadBuf<'_>, (), poll_shutdown);

    pub(crate) fn read(decoder: &mut bufread::ZstdDecoder<Slow<'_>>, buf: &mut [u8]) -> io::Result<usize> {
        let mut decoder = pin!(decoder);
        wait(|cx| {
            let mut buf = ReadBuf::new(buf);
            decoder.as_mut().poll_read(cx, &mut buf).map_ok(|()| buf.filled().len())
        })
    }
}

mod by_futures {
    use futures_io::{AsyncBufRead, AsyncRead, AsyncWrite};

    use super::*;

    slow_traits!([u8], usize, poll_close);

    pub(crate) fn read(decoder: &mut bufread::ZstdDecoder<Slow<'_>>, buf: &mut [u8]) -> io::Result<usize> {
        let mut decoder = pin!(decoder);
        wait(|cx| decoder.as_mut().poll_read(cx, buf))
    }
}

type ReadFn = fn(&mut bufread::ZstdDecoder<Slow<'_>>, &mut [u8]) -> io::Result<usize>;
type WriteFn = fn(&mut write::ZstdDecoder<SlowWriter>, &[u8]) -> io::Result<usize>;
type EndFn = fn(&mut write::ZstdDecoder<SlowWriter>) -> io::Result<()>;

const READS: [ReadFn; 2] = [by_tokio::read, by_futures::read];
const WRITES: [(WriteFn, EndFn, EndFn); 2] = [
    (by_tokio::write, by_tokio::flush, by_tokio::close),
    (by_futures::write, by_futures::flush, by_futures::close),
];

/// Reads to the end. Returns the content before an error, too.
fn read_all(
    read: ReadFn,
    decoder: &mut bufread::ZstdDecoder<Slow<'_>>,
    size: usize,
) -> (Vec<u8>, io::Result<()>) {
    let (mut out, mut buffer) = (Vec::new(), vec![0; size]);
    loop {
        match read(decoder, &mut buffer) {
            Ok(0) => return (out, Ok(())),
            Ok(n) => out.extend_from_slice(&buffer[..n]),
            Err(e) => return (out, Err(e)),
        }
    }
}

fn write_all(
    (write, _, close): (WriteFn, EndFn, EndFn),
    input: &[u8],
    size: usize,
    taken: usize,
) -> io::Result<SlowWriter> {
    let mut decoder = write::ZstdDecoder::new(SlowWriter { size: taken, ..SlowWriter::default() });
    for mut part in input.chunks(size) {
        while !part.is_empty() {
            let n = write(&mut decoder, part)?;
            assert!(n > 0, "nothing is consumed");
            part = &part[n..];
        }
    }
    close(&mut decoder)?;
    Ok(decoder.into_inner())
}

#[test]
fn pending_readers_of_every_size_give_the_content() {
    let (frames, content) = many_frames();
    for read in READS {
        // Try every buffer of 1 to 64 bytes, with the input at once and in pieces of 65 - size
        // bytes, so that small buffers meet large pieces and the reverse.
        let small = (1..=64).flat_map(|size| [(size, 65 - size), (1 << 20, size)]);
        for (piece, size) in
            small.chain([(1, 1000), (3000, 70_000), (1 << 20, (1 << 17) - 1), (1 << 20, 1 << 17)])
        {
            let mut decoder = bufread::ZstdDecoder::new(Slow::new(&frames, piece));
            decoder.multiple_members(true);
            let (found, end) = read_all(read, &mut decoder, size);
            assert!(found == content && end.is_ok(), "pieces of {piece}, reads of {size} bytes: {end:?}");
            assert!(decoder.into_inner().rest.is_empty());
        }
    }
}

#[test]
fn bytes_after_the_first_frame_stay_in_the_reader() {
    let content = mixed(3000);
    let frame = compress(&content, &[], &[level(3)]);
    let file = [&frame[..], &frame, b"x"].concat();
    for read in READS {
        let mut decoder = bufread::ZstdDecoder::new(Slow::new(&file, 1 << 20));
        let (found, end) = read_all(read, &mut decoder, 100);
        assert!(found == content && end.is_ok());
        assert_eq!(decoder.get_ref().rest.len(), frame.len() + 1);
        decoder.multiple_members(true);
        assert_eq!(decoder.into_inner().rest[..4], frame[..4]);
    }
}

#[test]
fn skippable_frames_before_the_first_frame_are_skipped() {
    let content = mixed(3000);
    let frame = compress(&content, &[], &[level(3)]);
    let skippable = [&b"\x50\x2a\x4d\x18\x04\0\0\0skip"[..], b"\x5f\x2a\x4d\x18\0\0\0\0"].concat();
    let file = [&skippable[..], &frame, b"rest"].concat();
    for (read, piece) in READS.into_iter().flat_map(|read| [1, 3, 1 << 20].map(|piece| (read, piece))) {
        let mut decoder = bufread::ZstdDecoder::new(Slow::new(&file, piece));
        let (found, end) = read_all(read, &mut decoder, 100);
        assert!(found == content && end.is_ok(), "pieces of {piece}: {end:?}");
        assert_eq!(decoder.into_inner().rest, b"rest");
        let mut decoder = bufread::ZstdDecoder::new(Slow::new(&skippable, piece));
        let (found, end) = read_all(read, &mut decoder, 100);
        assert!(found.is_empty() && end.is_ok(), "only skippable frames: {end:?}");
    }
}

#[test]
fn flushed_content_is_read_before_the_reader_is_polled_again() {
    let parts = [json_rows(1, 10), json_rows(2, 10)];
    let slices = parts.each_ref().map(|part| &part[..]);
    let frame = compress_flushed(&slices, &[], &[level(3)]);
    // End of the first block. The frame's header has 6 bytes: magic number, descriptor, window.
    let header = u32::from_le_bytes([frame[6], frame[7], frame[8], 0]);
    let first = 6 + 3 + (header >> 3) as usize;
    for read in READS {
        let mut decoder = bufread::ZstdDecoder::new(Slow::new(&frame, first));
        let mut out = vec![0; parts[0].len()];
        for piece in out.chunks_mut(7) {
            assert_eq!(read(&mut decoder, piece).unwrap(), piece.len());
        }
        assert!(out == parts[0]);
        assert_eq!(decoder.get_ref().rest.len(), frame.len() - first);
    }
}

#[test]
fn damaged_input_has_the_content_and_error_of_the_blocking_reader() {
    let mut noise = Noise::new(5);
    let frames: Vec<Vec<u8>> = kinds(900)
        .into_iter()
        .map(|(_, data)| compress(&data, &[], &[level(3), CParameter::ChecksumFlag(true)]))
        .collect();
    let (mut sound, mut damaged) = (0, 0);
    for round in 0..1500 {
        let mut input = frames[round % frames.len()].clone();
        for _ in 0..noise.below(3) {
            let at = noise.below(input.len());
            match noise.below(3) {
                0 => input[at] = noise.below(256) as u8,
                1 => input.truncate(at),
                _ => input.insert(at, noise.below(256) as u8),
            }
        }
        let mut expected = Vec::new();
        let blocking = read::Decoder::with_buffer(&input[..]).unwrap().read_to_end(&mut expected);
        let piece = 1 + noise.below(300);
        let mut decoder = bufread::ZstdDecoder::new(Slow::new(&input, piece));
        decoder.multiple_members(true);
        let (found, end) = read_all(READS[round % 2], &mut decoder, 1 << 12);
        let error = |result: &io::Result<()>| result.as_ref().err().map(|e| (e.kind(), inner(e)));
        assert_eq!(error(&end), error(&blocking.map(|_| ())), "round {round}");
        assert!(end.is_err() || found == expected, "round {round}");
        let written = write_all(WRITES[round % 2], &input, piece, 1000).map(|writer| writer.bytes);
        assert_eq!(written.is_ok(), end.is_ok(), "round {round}: {:?}", written.err());
        assert!(written.is_err() || written.is_ok_and(|bytes| bytes == expected));
        *(if end.is_ok() { &mut sound } else { &mut damaged }) += 1;
    }
    assert!(sound > 200 && damaged > 200, "{sound} and {damaged}");
}

#[test]
fn pending_writers_of_every_size_get_the_content_and_are_closed() {
    let (frames, content) = many_frames();
    for way in WRITES {
        let small = (1..=64).flat_map(|size| [(size, 65 - size), (size, 1 << 20), (1 << 20, size)]);
        for (size, taken) in small.chain([(1000, 999), (1 << 20, 3000)]) {
            let writer = write_all(way, &frames, size, taken).unwrap();
            assert!(writer.bytes == content, "writes of {size} bytes, {taken} taken");
            assert!(writer.is_closed);
        }
    }
}

#[test]
fn a_flush_writes_what_is_decoded() {
    let content = mixed(400_000);
    let frame = compress(&content, &[], &[level(3)]);
    for (write, flush, _) in WRITES {
        let writer = SlowWriter { size: 1 << 20, is_pending: true, ..SlowWriter::default() };
        let mut decoder = write::ZstdDecoder::new(writer);
        let mut at = 0;
        while at < frame.len() {
            at += write(&mut decoder, &frame[at..]).unwrap();
        }
        flush(&mut decoder).unwrap();
        assert!(decoder.get_ref().bytes == content);
        assert!(!decoder.get_ref().is_closed && decoder.get_ref().flushes == 1);
    }
}

#[test]
fn closing_within_a_frame_is_an_unexpected_end() {
    let frame = compress(&json_rows(1, 10), &[], &[level(3)]);
    for way in WRITES {
        for len in [0, 3, frame.len() - 1] {
            let error = write_all(way, &frame[..len], 100, 100).err().expect("an incomplete frame");
            assert_eq!((error.kind(), inner(&error).kind), (ErrorKind::UnexpectedEof, Kind::Truncated));
        }
    }
}

#[test]
fn dictionaries_and_options_are_used() {
    let rows = json_rows(1, 500);
    let (dictionary, content) = (train(&rows, 370, 4096), json_rows(2, 3));
    let frame = compress(&content, &dictionary, &[level(3)]);
    for read in READS {
        let mut decoder = bufread::ZstdDecoder::with_dict(Slow::new(&frame, 50), &dictionary).unwrap();
        assert!(read_all(read, &mut decoder, 99).0 == content);
        let mut decoder = bufread::ZstdDecoder::with_dict(Slow::new(&frame, 50), &dictionary).unwrap();
        decoder.set_options(Options::new().window_limit(1)).unwrap();
        let error = read(&mut decoder, &mut [0; 9]).unwrap_err();
        assert_eq!(inner(&error).kind, Kind::Limit);
    }
    assert!(bufread::ZstdDecoder::with_dict(Slow::new(&frame, 50), &dictionary[..100]).is_err());
    let writer = SlowWriter { size: 9, ..SlowWriter::default() };
    let mut decoder = write::ZstdDecoder::with_dict(writer, &dictionary).unwrap();
    let (write, _, close) = WRITES[0];
    let mut at = 0;
    while at < frame.len() {
        at += write(&mut decoder, &frame[at..]).unwrap();
    }
    close(&mut decoder).unwrap();
    assert!(decoder.get_ref().bytes == content);
}

#[test]
fn decoders_move_between_threads() {
    fn moves<T: Send + Sync + Unpin>() {}
    moves::<bufread::ZstdDecoder<&[u8]>>();
    moves::<write::ZstdDecoder<Vec<u8>>>();
    moves::<read::Decoder<'_, &[u8]>>();
    moves::<linerate_zstd::write::Decoder<'_, Vec<u8>>>();
}
