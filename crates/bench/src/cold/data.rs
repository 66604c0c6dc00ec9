//! The bytes from which blocks and dictionaries are cut.

use std::path::{Path, PathBuf};

use super::generated;
use crate::harness::corpus::{Corpus, corpora};

/// Number of bytes of generated rows.
const ROWS: usize = 10_500_000;
/// Number of bytes of each other kind of generated records.
const RECORDS: usize = 4 << 20;
/// Size of the segments that go to dictionaries and to blocks alternately, so that no block is part
/// of a dictionary.
const SEGMENT: usize = 16 << 10;
/// The path of the text below `$LINERATE_CORPORA`.
const CORPUS_TEXT: &str = "silesia/dickens";
/// Text that the program carries.
const CARRIED: [&[u8]; 3] = [
    include_bytes!("../../corpus/northamerica.tz"),
    include_bytes!("../../corpus/theory.html"),
    include_bytes!("../../corpus/zic.c"),
];

/// Kinds of data. Figures that others published are of JSON and text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Generated log rows in JSON.
    Json,
    /// Prose: `silesia/dickens`, or the text that the program carries.
    Text,
    /// Generated lines of logs.
    Log,
    /// Generated rows as SQLite stores them.
    Sqlite,
    /// Generated messages as Protocol Buffers code them.
    Protobuf,
    /// Any other file or folder.
    Other,
}

impl Kind {
    /// Name of the kind in records.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Json => "JSON",
            Kind::Text => "text",
            Kind::Log => "logs",
            Kind::Sqlite => "SQLite",
            Kind::Protobuf => "protobuf",
            Kind::Other => "file",
        }
    }
}

/// Bytes in two halves: one to make dictionaries of, the other to cut blocks from.
pub struct Data {
    /// Kind of the data.
    pub kind: Kind,
    /// Name of the data in the record, never a path of the machine.
    pub name: String,
    pub(crate) dictionaries: Vec<u8>,
    pub(crate) blocks: Vec<u8>,
}

impl Data {
    /// Finds data by name: `json`, `text`, `log`, `sqlite`, `protobuf`, or a file or folder, which
    /// may be below `$LINERATE_CORPORA`.
    ///
    /// # Errors
    /// A sentence that names the file or folder.
    pub fn find(name: &str) -> Result<Data, String> {
        match name {
            "json" => Ok(Data::json()),
            "text" => Data::text(),
            "log" => Ok(Data::generated(Kind::Log, generated::log_lines(RECORDS))),
            "sqlite" => Ok(Data::generated(Kind::Sqlite, generated::sqlite_rows(RECORDS))),
            "protobuf" => Ok(Data::generated(Kind::Protobuf, generated::protobuf_messages(RECORDS))),
            path => Data::file(Path::new(path)),
        }
    }

    /// Log rows in JSON of about 340 bytes each, the same on every machine.
    pub fn json() -> Data {
        Data::new(Kind::Json, "generated rows".into(), &Corpus::rows(ROWS).files.concat())
    }

    /// Reads `silesia/dickens` below `$LINERATE_CORPORA`, or takes the text that the program
    /// carries.
    ///
    /// # Errors
    /// A sentence, if the file exists but cannot be read.
    pub fn text() -> Result<Data, String> {
        if let Some(path) = corpora().map(|root| root.join(CORPUS_TEXT)).filter(|path| path.is_file()) {
            return Data::file(&path);
        }
        Ok(Data::carried())
    }

    /// The text that the program carries.
    pub fn carried() -> Data {
        Data::new(Kind::Text, "carried text".into(), &CARRIED.concat())
    }

    fn generated(kind: Kind, bytes: Vec<u8>) -> Data {
        Data::new(kind, "generated records".into(), &bytes)
    }

    fn file(path: &Path) -> Result<Data, String> {
        let corpus = Corpus::read(path, None)?;
        let stem = path.file_name().map(PathBuf::from).unwrap_or_default();
        let kind = if stem == Path::new("dickens") { Kind::Text } else { Kind::Other };
        let name = stem.to_string_lossy().into_owned();
        Ok(Data::new(kind, name, &corpus.files.concat()))
    }

    pub(crate) fn new(kind: Kind, name: String, bytes: &[u8]) -> Data {
        let (mut dictionaries, mut blocks) = (Vec::new(), Vec::new());
        // Data shorter than two segments is divided in half.
        let segment = SEGMENT.min(bytes.len() / 2).max(1);
        for (i, part) in bytes.chunks(segment).enumerate() {
            if i % 2 == 0 { &mut dictionaries } else { &mut blocks }.extend_from_slice(part);
        }
        Data { kind, name, dictionaries, blocks }
    }
}

/// Pieces of `source`, all of one length. Each begins at a different place until all places are
/// used; then they come again.
pub(crate) struct Pieces<'a> {
    source: &'a [u8],
    len: usize,
    places: usize,
    start: usize,
    step: usize,
}

impl<'a> Pieces<'a> {
    /// Makes pieces of `len` bytes, each at another place. The places are all byte offsets at which
    /// the source has a whole piece; the first piece is at `start`, modulo their number. Returns
    /// `None` if the source is shorter than a piece.
    pub(crate) fn new(source: &'a [u8], len: usize, start: usize) -> Option<Self> {
        let places = source.len().checked_sub(len)? + 1;
        // Steps of the golden section spread pieces evenly over the source. A step that is coprime
        // to the number of places visits each place once.
        let mut step = (places as f64 * 0.618_034) as usize | 1;
        while divisor(step, places) != 1 {
            step += 1;
        }
        Some(Pieces { source, len, places, start: start % places, step })
    }

    /// Number of different places at which a piece can begin.
    pub(crate) fn places(&self) -> usize {
        self.places
    }

    pub(crate) fn get(&self, i: usize) -> &'a [u8] {
        let at = (self.start + (i % self.places) * self.step) % self.places;
        &self.source[at..at + self.len]
    }
}

/// The greatest common divisor of `a` and `b`.
fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn pieces_begin_at_every_place_once() {
        let source: Vec<u8> = (0..=255).collect();
        for len in [1, 2, 50, 256] {
            let pieces = Pieces::new(&source, len, 77).unwrap();
            let starts: HashSet<u8> = (0..pieces.places()).map(|i| pieces.get(i)[0]).collect();
            assert_eq!(starts.len(), 257 - len);
            assert!((0..1000).all(|i| pieces.get(i).len() == len));
        }
        assert!(Pieces::new(&source, 257, 0).is_none());
    }

    #[test]
    fn no_block_stands_in_a_dictionary() {
        let bytes: Vec<u8> = (0..40_000u32).flat_map(u32::to_le_bytes).collect();
        let data = Data::new(Kind::Other, String::new(), &bytes);
        assert_eq!(data.dictionaries.len() + data.blocks.len(), bytes.len());
        let words = |half: &[u8]| half.chunks(4).map(<[u8]>::to_vec).collect::<HashSet<_>>();
        assert!(words(&data.dictionaries).is_disjoint(&words(&data.blocks)));
        let short = Data::new(Kind::Other, String::new(), b"abcd");
        assert_eq!((&short.dictionaries[..], &short.blocks[..]), (&b"ab"[..], &b"cd"[..]));
    }

    #[test]
    fn carried_text_is_there() {
        let text = Data::carried();
        assert!(text.blocks.len() > 150_000 && text.dictionaries.len() > 150_000);
    }
}
