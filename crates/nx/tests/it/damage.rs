//! Tests truncated archives and archives with flipped bits: they give an error, or content that
//! matches its hash.

use std::collections::HashMap;

use linerate_nx::{Archive, CountingSource, Extractor, Limits, ReadAt, Verifier};

use crate::common::make::{COPY, Frame, LZ4, Make, ZSTD, frame, lz4, noise};

/// Returns an archive of a few pages with every codec, solid and chunked, shared and single files.
fn archive() -> (Vec<u8>, HashMap<u64, Vec<u8>>) {
    let (text, large) = (b"some text, some more text".to_vec(), noise(1500, 1));
    let make = Make::new(1)
        .file("dir/solid", &text[..9], 0, 0)
        .file("dir/solid 2", &text[9..], 0, 9)
        .file("again", &text[..9], 0, 0)
        .file("chunked", &large, 1, 0)
        .file("empty", b"", 0, 0)
        .file("open", &text, 3, 0)
        .block(LZ4, lz4(&text, 0))
        .block(ZSTD, frame(&large[..1024], Frame::Streamed))
        .block(COPY, large[1024..].to_vec())
        .block(ZSTD, frame(&text, Frame::Open));
    let contents = [&text[..9], &text[9..], &large, b"", &text];
    let hash = |content: &&[u8]| linerate_nx::HashKind::Xxh3.hash_bytes(content);
    (make.bytes(), contents.iter().map(|content| (hash(content), content.to_vec())).collect())
}

/// Returns limits that bound the memory that a damaged header can request.
fn limits() -> Limits {
    Limits { block: 1 << 20, file: 1 << 20, total: 1 << 22, memory: 1 << 22, ..Limits::default() }
}

/// Opens, reads, verifies and extracts an archive. All content must match its hash. Returns whether
/// everything could be read.
fn try_all(bytes: impl ReadAt, contents: &HashMap<u64, Vec<u8>>) -> bool {
    let Ok(archive) = Archive::open_with(bytes, limits()) else { return false };
    let mut reader = archive.reader().unwrap();
    let mut whole = archive.len() == 6;
    for file in archive.files() {
        let read = reader.read(file);
        whole &= read.is_ok();
        if let (Ok(read), Some(content)) = (&read, file.hash().and_then(|hash| contents.get(&hash))) {
            assert!(read == content);
        }
        let mut part = vec![0; 7];
        // Gives an error or bytes that no hash checks.
        let _ = reader.read_range(file, file.size() / 2, &mut part);
    }
    // The files may exceed the limits.
    if let Ok(verified) = Verifier::new(&archive).threads(2).run() {
        assert_eq!(verified.files + verified.failures.len() as u64, archive.len() as u64);
        let all_read = archive.files().all(|file| reader.read(file).is_ok());
        assert!(!all_read || verified.failures.is_empty());
    }
    whole
}

#[test]
fn undamaged_archive_verifies() {
    let (bytes, contents) = archive();
    assert!(try_all(bytes, &contents));
}

#[test]
fn every_truncation_is_an_error() {
    let (bytes, contents) = archive();
    let end = bytes.iter().rposition(|b| *b != 0).unwrap() + 1;
    for len in 0..bytes.len() {
        // The padding of the last block is not needed.
        assert_eq!(try_all(&bytes[..len], &contents), len >= end, "{len} bytes");
    }
}

#[test]
fn every_flipped_bit_is_an_error_or_harmless() {
    let (bytes, contents) = archive();
    let header_end = bytes[..4096].iter().rposition(|b| *b != 0).unwrap() + 4;
    let used = |at: &usize| *at < header_end || *at >= 4096 && bytes[*at] != 0;
    for at in (0..bytes.len()).filter(used) {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            try_all(bytes, &contents);
        }
    }
}

#[test]
fn flipped_bit_in_stored_content_is_an_error_of_its_file() {
    let (bytes, _) = archive();
    // The third block has the end of `chunked`.
    let mut bytes = bytes;
    bytes[4096 * 3] ^= 1;
    let archive = Archive::open(bytes).unwrap();
    let verified = Verifier::new(&archive).run().unwrap();
    let failed: Vec<&str> = verified.failures.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(failed, ["chunked"]);
    let place = tempfile::tempdir().unwrap();
    let done = Extractor::new(&archive).threads(3).to_folder(place.path()).unwrap();
    assert_eq!((done.files, done.failures.len()), (5, 1));
    assert!(!place.path().join("chunked").exists());
    let unchecked = Extractor::new(&archive).verify(false).threads(3);
    let place = tempfile::tempdir().unwrap();
    assert_eq!(unchecked.to_folder(place.path()).unwrap().files, 6, "without hashes nobody can tell");
}

/// A source whose reads fail after some offset.
#[derive(Debug)]
struct Failing(Vec<u8>, u64);

impl ReadAt for Failing {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
    fn read_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        match offset + out.len() as u64 > self.1 {
            true => Err(std::io::Error::other("unplugged")),
            false => self.0.read_at(offset, out),
        }
    }
}

#[test]
fn failing_source_is_a_read_error() {
    let (bytes, _) = archive();
    assert_eq!(Archive::open(Failing(bytes.clone(), 0)).unwrap_err().kind, linerate_nx::Kind::Read);
    let archive = Archive::open(Failing(bytes, 4096 * 2)).unwrap();
    let verified = Verifier::new(&archive).threads(2).run().unwrap();
    let failed: Vec<&str> = verified.failures.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(failed, ["chunked", "open"]);
    assert!(verified.failures.iter().all(|f| f.kind() == linerate_nx::Kind::Read));
}

/// A source whose requests are expensive.
struct Far(Vec<u8>);

impl ReadAt for Far {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
    fn read_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        self.0.read_at(offset, out)
    }
    fn coalesce_limit(&self) -> u64 {
        1 << 20
    }
}

#[test]
fn reads_of_neighbouring_blocks_are_coalesced_within_the_reach() {
    let large = noise(10_240, 1);
    let make = (0..20).fold(Make::new(0).file("a", &large, 0, 0), |make, i| {
        make.block(COPY, large[i * 512..(i + 1) * 512].to_vec())
    });
    let archive = Archive::open(CountingSource::new(Far(make.bytes()))).unwrap();
    assert_eq!(archive.source().reads(), 1);
    assert!(archive.read(archive.get(0).unwrap()).unwrap() == large);
    assert_eq!(archive.source().reads(), 2);
    assert_eq!(archive.source().bytes(), 4096 + 19 * 4096 + 512);
}
