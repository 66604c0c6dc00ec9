//! [`GzipFile`]: content, errors and positions are the same for any number of threads.

use std::io::{Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use linerate_inflate::index::{self, Index};
use linerate_inflate::{Error, Format, GzipFile};

use crate::common::{Noise, compressed};

const THREADS: [usize; 5] = [0, 1, 2, 3, 5];

/// Returns a file with zeros after members, and its content. The first member is larger than the
/// files that one thread decodes alone.
fn padded() -> (Vec<u8>, Vec<u8>) {
    members([3, 0, 200_000, 17])
}

/// Returns a file of members with zeros after each, and its content.
fn members(zeros: [usize; 4]) -> (Vec<u8>, Vec<u8>) {
    let mut noise = Noise(7);
    let mut text = |len| -> Vec<u8> { (0..len).map(|_| b' ' + noise.below(64) as u8).collect() };
    let parts = [text(900_000), Vec::new(), text(400_000), b"end".to_vec()];
    let mut file = Vec::new();
    for (part, zeros) in parts.iter().zip(zeros) {
        file.extend(compressed(Format::Gzip, 6, 15, part));
        file.resize(file.len() + zeros, 0);
    }
    assert!(file.len() > 500_000);
    (file, parts.concat())
}

fn index(file: &[u8]) -> Index {
    Index::build(file, &index::Options::new().spacing(64 << 10)).unwrap()
}

/// Reads up to the error, and returns the content and the error.
fn read_all(mut file: impl Read) -> (Vec<u8>, Option<(ErrorKind, String)>) {
    let mut content = Vec::new();
    let error = file.read_to_end(&mut content).err();
    if error.is_some() {
        assert!(file.read(&mut [0]).is_err(), "the error stays");
    }
    (content, error.map(|error| (error.kind(), error.to_string())))
}

#[test]
fn members_are_read_with_zeros_between_them() {
    let (file, content) = padded();
    for threads in THREADS {
        let (read, error) = read_all(GzipFile::new(Cursor::new(file.clone()), threads).unwrap());
        assert_eq!(error, None, "{threads} threads");
        assert!(read == content, "{threads} threads");
    }
    let empty = GzipFile::new(Cursor::new(Vec::new()), 1).unwrap();
    assert_eq!(read_all(empty), (Vec::new(), None));
}

#[test]
fn errors_are_those_of_one_thread() {
    let (file, content) = padded();
    let garbage = [&file, &b"garbage"[..]].concat();
    let truncated = |len: usize| file[..len].to_vec();
    let damaged = |at: usize| {
        let mut file = file.clone();
        file[at] ^= 0x10;
        file
    };
    let first = compressed(Format::Gzip, 6, 15, &content[..900_000]).len();
    let cases = [
        (garbage, ErrorKind::InvalidData, Some(content.len())),
        (b"no gzip file, but longer than what a small one has".repeat(2000), ErrorKind::InvalidData, Some(0)),
        (vec![0; 100_000], ErrorKind::InvalidData, Some(0)),
        (truncated(first - 1), ErrorKind::UnexpectedEof, Some(900_000)),
        (truncated(first / 2), ErrorKind::UnexpectedEof, None),
        (truncated(9), ErrorKind::UnexpectedEof, Some(0)),
        (damaged(first - 5), ErrorKind::InvalidData, Some(900_000)),
        (damaged(first - 1), ErrorKind::InvalidData, Some(900_000)),
        (damaged(first / 2), ErrorKind::InvalidData, None),
    ];
    for (at, (file, kind, len)) in cases.into_iter().enumerate() {
        let read = |threads| read_all(GzipFile::new(Cursor::new(file.clone()), threads).unwrap());
        let expected = read(1);
        assert_eq!(expected.1.as_ref().map(|error| error.0), Some(kind), "case {at}");
        // Damaged data may first decode to other bytes.
        assert!(len.is_none_or(|len| expected.0 == content[..len]), "case {at}");
        for threads in THREADS {
            assert!(read(threads) == expected, "case {at}, {threads} threads: {:?}", read(threads).1);
        }
    }
}

#[test]
fn any_position_is_read_with_and_without_an_index() {
    // With an index the content ends before zeros.
    let ((padded, content), (plain, _)) = (padded(), members([0; 4]));
    let index = index(&plain);
    for (threads, has_index) in [(1, false), (2, false), (4, false), (1, true), (2, true), (4, true)] {
        let source = Cursor::new(if has_index { plain.clone() } else { padded.clone() });
        let mut ours = match has_index {
            true => GzipFile::with_index(source, index.clone(), threads).unwrap(),
            false => GzipFile::new(source, threads).unwrap(),
        };
        let (mut theirs, mut noise) = (Cursor::new(&content[..]), Noise(9));
        for step in 0..if has_index { 100 } else { 30 } {
            // The first read begins at the beginning, where threads decode ahead.
            let to = match noise.below(5) {
                0 => SeekFrom::Current(noise.below(100_000) as i64),
                1 => SeekFrom::End(-(noise.below(content.len()) as i64)),
                2 => SeekFrom::Start(noise.below(content.len() + 100) as u64),
                _ => SeekFrom::Current(0),
            };
            let to = if step == 0 { SeekFrom::Current(0) } else { to };
            // A position after the end becomes the end.
            let wanted = theirs.seek(to).unwrap().min(content.len() as u64);
            theirs.set_position(wanted);
            assert_eq!(ours.seek(to).unwrap(), wanted, "step {step}, {threads} threads");
            let len = noise.below(150_000);
            let (mut own, mut expected) = (Vec::new(), Vec::new());
            Read::by_ref(&mut ours).take(len as u64).read_to_end(&mut own).unwrap();
            Read::by_ref(&mut theirs).take(len as u64).read_to_end(&mut expected).unwrap();
            assert!(own == expected, "step {step}, {threads} threads, index: {has_index}");
        }
        ours.rewind().unwrap();
        assert!(read_all(&mut ours) == (content.clone(), None), "{threads} threads, index: {has_index}");
        assert_eq!(ours.stream_position().unwrap(), content.len() as u64);
        assert_eq!(
            ours.seek(SeekFrom::Current(-2 * content.len() as i64)).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }
}

#[test]
fn content_before_an_error_can_be_read_after_it() {
    let (mut file, content) = padded();
    let half = file.len() / 2;
    file.truncate(half);
    for threads in THREADS {
        let mut file = GzipFile::new(Cursor::new(file.clone()), threads).unwrap();
        let error = file.seek(SeekFrom::End(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        assert!(error.get_ref().is_some_and(|error| error.is::<Error>()));
        file.seek(SeekFrom::Start(1000)).unwrap();
        let mut some = vec![0; 300_000];
        file.read_exact(&mut some).unwrap();
        assert!(some == content[1000..301_000], "{threads} threads");
    }
}

/// A source that records whether other threads have read it.
struct Watched(Cursor<Vec<u8>>, ThreadId, Arc<AtomicBool>);

impl Read for Watched {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.2.fetch_or(thread::current().id() != self.1, Ordering::Relaxed);
        self.0.read(into)
    }
}

impl Seek for Watched {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn other_threads_decode_from_the_beginning_and_with_an_index_until_the_first_seek() {
    let (file, content) = members([0; 4]);
    let small = compressed(Format::Gzip, 6, 15, &content[..50_000]);
    let cases = [
        (&file, 1, false, [false; 2]),
        (&small, 4, false, [false; 2]),
        (&file, 2, false, [true; 2]),
        (&file, 4, false, [true; 2]),
        (&file, 1, true, [false; 2]),
        (&file, 2, true, [true, false]),
    ];
    for (file, threads, has_index, expected) in cases {
        let is_read_by_others = Arc::new(AtomicBool::new(false));
        let source = Watched(Cursor::new(file.clone()), thread::current().id(), is_read_by_others.clone());
        let mut ours = match has_index {
            true => GzipFile::with_index(source, index(file), threads).unwrap(),
            false => GzipFile::new(source, threads).unwrap(),
        };
        let found = [0, 1].map(|_| {
            ours.read_exact(&mut [0; 10_000]).unwrap();
            ours.rewind().unwrap();
            is_read_by_others.swap(false, Ordering::Relaxed)
        });
        assert_eq!(found, expected, "{threads} threads, index: {has_index}");
    }
}

/// A source that cannot be sought, like a pipe.
struct Pipe(Cursor<Vec<u8>>);

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let len = into.len().min(1000);
        self.0.read(&mut into[..len])
    }
}

impl Seek for Pipe {
    fn seek(&mut self, _: SeekFrom) -> std::io::Result<u64> {
        Err(ErrorKind::NotSeekable.into())
    }
}

#[test]
fn pipe_is_read_on_one_thread_and_sought_forward() {
    let (file, content) = padded();
    let mut pipe = GzipFile::new(Pipe(Cursor::new(file)), 1).unwrap();
    pipe.seek(SeekFrom::Start(500_000)).unwrap();
    assert!(read_all(&mut pipe) == (content[500_000..].to_vec(), None));
    assert_eq!(pipe.seek(SeekFrom::Start(0)).unwrap_err().kind(), ErrorKind::NotSeekable);
}

/// A source that cannot be sought for a while.
struct Stuck(Cursor<Vec<u8>>, Arc<AtomicBool>);

impl Read for Stuck {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(into)
    }
}

impl Seek for Stuck {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        if self.1.load(Ordering::Relaxed) { Err(ErrorKind::TimedOut.into()) } else { self.0.seek(to) }
    }
}

#[test]
fn nothing_wrong_is_read_after_a_failure_to_seek_back() {
    let (file, content) = padded();
    for threads in THREADS {
        let is_stuck = Arc::new(AtomicBool::new(false));
        let mut file = GzipFile::new(Stuck(Cursor::new(file.clone()), is_stuck.clone()), threads).unwrap();
        file.read_exact(&mut [0; 1000]).unwrap();
        is_stuck.store(true, Ordering::Relaxed);
        assert_eq!(file.rewind().unwrap_err().kind(), ErrorKind::TimedOut);
        is_stuck.store(false, Ordering::Relaxed);
        // Another thread has read further.
        let expected = if threads < 2 { &content[1000..] } else { &[] };
        let (read, error) = read_all(&mut file);
        assert!((&read[..], error.is_some()) == (expected, threads > 1), "{threads} threads: {error:?}");
        file.rewind().unwrap();
        assert!(read_all(&mut file) == (content.clone(), None), "{threads} threads");
    }
}

#[test]
fn error_stays_after_a_failure_to_seek_back() {
    let (mut file, _) = padded();
    file.truncate(file.len() / 2);
    for threads in THREADS {
        let is_stuck = Arc::new(AtomicBool::new(false));
        let mut file = GzipFile::new(Stuck(Cursor::new(file.clone()), is_stuck.clone()), threads).unwrap();
        let (_, error) = read_all(&mut file);
        is_stuck.store(true, Ordering::Relaxed);
        assert_eq!(file.rewind().unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(read_all(&mut file) == (Vec::new(), error), "{threads} threads");
    }
}
