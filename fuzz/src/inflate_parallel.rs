//! Inflate on several threads: arbitrary bytes, cut into pieces of any size.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use linerate_inflate::index::{self, Index, Reader};
use linerate_inflate::{Format, Kind, Options, parallel, read};

/// Limit on the content, in bytes. More is an error.
const LIMIT: u64 = 1 << 20;

/// The content, then its length, or the kind and offset of the error that ended it.
type Outcome = (Vec<u8>, Result<u64, (Option<Kind>, u64)>);

fn outcome(content: Vec<u8>, end: io::Result<u64>) -> Outcome {
    let failure = |error: io::Error| {
        let ours = error.get_ref().and_then(|source| source.downcast_ref::<linerate_inflate::Error>());
        (ours.map(|e| e.kind), ours.map_or(0, |e| e.offset))
    };
    (content, end.map_err(failure))
}

/// Decodes a stream by one thread, by two threads, and by an index. The first byte chooses the
/// format and whether checksums are verified, the second the size of pieces; the rest is the
/// stream.
///
/// # Panics
/// If two threads or an index give other content, another kind of error or another offset than one
/// thread, or if bytes after the compressed data are lost.
pub fn inflate_parallel(data: &[u8]) {
    let [choice, size, src @ ..] = data else { return };
    let format = [Format::Gzip, Format::Zlib, Format::Deflate, Format::ZlibOrGzip][usize::from(choice % 4)];
    let stream = Options::new(format).output_limit(LIMIT).verify_checksum(choice & 64 == 0);
    // At most about 64 pieces, which bounds the time that an input takes.
    let piece = (24 + 8 * usize::from(*size)).max(src.len() / 64);
    let options = parallel::Options::new(format).stream(stream).threads(2).piece(piece);

    let mut content = Vec::new();
    let mut decoder = read::Decoder::with_options(src, stream).expect("options");
    let end = decoder.read_to_end(&mut content).map(|len| len as u64);
    let one = outcome(content, end);
    let mut content = Vec::new();
    let end = parallel::decode(src, &mut content, &options).map(|totals| totals.bytes_out);
    assert!(one == outcome(content, end), "threads decode as one does");
    // Only a valid gzip file has an index.
    if let (Format::Gzip, 0, (content, Ok(_))) = (format, choice & 64, &one) {
        by_index(src, content);
    }
    if format != Format::ZlibOrGzip {
        after_header(src, &options);
    }
}

/// Decodes a valid file by its index: all of it, and its second half alone.
fn by_index(src: &[u8], content: &[u8]) {
    let index = Index::build(src, &index::Options::new().spacing(0)).expect("the file is valid");
    let mut all = Vec::new();
    index::decode(src, &index, &mut all, 2).expect("the file is valid");
    assert!(all == content, "an index changes nothing");
    let (at, mut half) = (content.len() / 2, Vec::new());
    let mut reader = Reader::with_index(Cursor::new(src), index).expect("the index is of the file");
    reader.seek(SeekFrom::Start(at as u64)).and_then(|_| reader.read_to_end(&mut half)).expect("content");
    assert!(half == content[at..], "an index changes nothing");
}

/// Decodes the bytes as compressed data without a header, and compares two threads with one.
fn after_header(src: &[u8], options: &parallel::Options) {
    let decode = |options: &parallel::Options| {
        let (mut reader, mut content) = (src, Vec::new());
        let end = parallel::decode_data(&mut reader, &mut content as &mut dyn Write, options);
        let end = end.map(|end| {
            assert_eq!([&end.rest, reader].concat(), src[end.totals.bytes_in as usize..]);
            assert_eq!(end.totals.bytes_out, content.len() as u64);
            (end.totals, end.check, end.len)
        });
        (content, end.map_err(|error| error.to_string()))
    };
    assert!(
        decode(options) == decode(&options.threads(1)),
        "data without a header is decoded as by one thread"
    );
}
