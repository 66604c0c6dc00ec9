//! zstd through readers, writers, several threads and seekable files: all give the same content.

use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Write};

use linerate_core::{Error, Kind};
use linerate_zstd::seekable::{Index, Reader};
use linerate_zstd::{Options, ParallelDecoder, decode_into_vec, pipeline, read, write};

use crate::program::Noise;

/// Limit on the content of an input, in bytes.
const MOST: usize = 256 << 10;
/// Logarithm of the largest window: 1 MiB.
const WINDOW_LOG: u32 = 20;

/// Returns the error inside an `io::Error`.
fn inner(error: &io::Error) -> Error {
    *error.get_ref().and_then(|e| e.downcast_ref::<Error>()).expect("an error of the crate")
}

/// Reads in pieces of random lengths. Content of more than [`MOST`] bytes is cut, at most 4 KiB
/// above that, without an error.
fn read_all(mut reader: impl Read, noise: &mut Noise) -> io::Result<Vec<u8>> {
    let (mut out, mut buffer) = (Vec::new(), [0; 1 << 12]);
    loop {
        let longest = 1 << noise.below(12);
        match reader.read(&mut buffer[..1 + noise.below(longest)])? {
            0 => return Ok(out),
            n => out.extend_from_slice(&buffer[..n]),
        }
        if out.len() > MOST {
            return Ok(out);
        }
    }
}

/// Decodes the bytes through a reader, through a writer, and on several threads. The first byte is
/// the seed of the lengths of pieces.
///
/// # Panics
/// If contents or errors differ, or if the offset of an error is not in the input.
pub fn zstd_reader(data: &[u8]) {
    let Some((&seed, src)) = data.split_first() else { return };
    let mut noise = Noise::new(seed.into());
    let buffered = BufReader::with_capacity(1 + noise.below(3000), src);
    let mut decoder = read::Decoder::with_buffer(buffered).expect("no dictionary");
    decoder.window_log_max(WINDOW_LOG).expect("a window");
    let found = read_all(decoder, &mut noise);
    if let Err(e) = &found {
        assert!(inner(e).offset <= src.len() as u64, "{e} in {} bytes", src.len());
        assert_eq!(inner(e).kind == Kind::Truncated, e.kind() == io::ErrorKind::UnexpectedEof);
    }
    if found.as_ref().is_ok_and(|out| out.len() > MOST) {
        return;
    }
    let mut writer = write::Decoder::new(Vec::new()).expect("no dictionary");
    writer.window_log_max(WINDOW_LOG).expect("a window");
    let mut rest = src;
    let written = loop {
        if rest.is_empty() {
            break writer.finish();
        }
        let n = rest.len().min(1 + noise.below(2000));
        match writer.write(&rest[..n]) {
            Ok(n) => rest = &rest[n..],
            Err(e) => break Err(e),
        }
        if writer.get_ref().len() > 2 * MOST {
            return;
        }
    };
    let (mut joined, options) = (Vec::new(), pipeline::Options::new().threads(2 + noise.below(3)));
    let stream = Options::new().window_limit(1 << WINDOW_LOG);
    let joined = pipeline::decode(src, &mut joined, &options.stream(stream)).map(|_| joined);
    for other in [written, joined] {
        match (&found, other) {
            (Ok(found), Ok(other)) => assert!(*found == other),
            (Err(found), Err(other)) => assert_eq!(inner(found), inner(&other)),
            (found, other) => panic!("{:?} and {:?}", found.as_ref().map(Vec::len), other.map(|b| b.len())),
        }
    }
}

/// Reads the bytes as a file of frames, with and without a seek table, at random positions and on several
/// threads.
///
/// # Panics
/// If the content differs from that of the slice decoder, or if an index contradicts the file.
pub fn zstd_seekable(data: &[u8]) {
    let content = decode_into_vec(data, MOST);
    let parallel = ParallelDecoder::new().threads(2).decode(data, MOST);
    if let (Ok(content), Ok(parallel)) = (&content, &parallel) {
        assert!(content == parallel);
    }
    // Only the parallel decoder reports a seek table with wrong sizes.
    assert!(parallel.is_err() || content.is_ok(), "{content:?}");
    if content.as_ref().is_err_and(|e| e.kind == Kind::Limit) {
        return;
    }
    let options = Options::new().window_limit(1 << WINDOW_LOG);
    let table = Index::from_seek_table(&mut Cursor::new(data));
    let scanned = Index::scan(&mut Cursor::new(data), options, None);
    if let (Ok(scanned), Ok(content)) = (&scanned, &content) {
        assert_eq!((scanned.len(), scanned.compressed_len()), (content.len() as u64, data.len() as u64));
    }
    // A damaged table may name frames that lie within others, so its content is not compared.
    for (index, is_scanned) in [(table.ok().flatten(), false), (scanned.ok(), true)] {
        let Some(index) = index else { continue };
        let mut reader = Reader::with_index(Cursor::new(data), index).max_frame(MOST as u64);
        let mut noise = Noise::new(data.len() as u64);
        for _ in 0..8 {
            let at = noise.below(MOST.min(reader.len() as usize + 1));
            reader.seek(SeekFrom::Start(at as u64)).expect("a position");
            let mut found = [0; 100];
            let read = reader.read(&mut found);
            if let (true, Ok(n), Ok(content)) = (is_scanned, read, &content) {
                assert!(content[at.min(content.len())..].starts_with(&found[..n]), "{n} bytes at {at}");
            }
        }
    }
}
