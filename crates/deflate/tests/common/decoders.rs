//! Reference decoders of other projects.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use linerate_deflate::Format;
use linerate_testkit::tools::require;
use zlib_rs::{Inflate, InflateFlush, Status};

/// Decodes with zlib, zlib-rs and libdeflate, which is the strictest about trees, and asserts that
/// each finds `plain`, and nothing after the end.
#[track_caller]
pub(crate) fn assert_decodes(format: Format, encoded: &[u8], plain: &[u8]) {
    assert!(libdeflate(format, encoded, plain.len()).as_deref() == Ok(plain), "libdeflate");
    assert!(zlib(format, encoded, plain.len()) == plain, "zlib");
    let mut decoder = Incremental::new(format, plain.len());
    decoder.take(encoded);
    assert!(decoder.has_ended(), "zlib-rs sees no end");
    assert!(decoder.plain() == plain, "zlib-rs");
}

/// Decodes with libdeflate a stream of `len` bytes of plain text.
pub(crate) fn libdeflate(format: Format, encoded: &[u8], len: usize) -> Result<Vec<u8>, String> {
    let mut decoder = libdeflater::Decompressor::new();
    let mut out = vec![0; len];
    let n = match format {
        Format::Deflate => decoder.deflate_decompress(encoded, &mut out),
        Format::Zlib => decoder.zlib_decompress(encoded, &mut out),
        Format::Gzip => decoder.gzip_decompress(encoded, &mut out),
    };
    out.truncate(n.map_err(|e| e.to_string())?);
    Ok(out)
}

/// Decodes with zlib, to the last byte.
#[track_caller]
pub(crate) fn zlib(format: Format, encoded: &[u8], len: usize) -> Vec<u8> {
    let mut decoder = match format {
        Format::Deflate => flate2::Decompress::new(false),
        Format::Zlib => flate2::Decompress::new(true),
        Format::Gzip => flate2::Decompress::new_gzip(15),
    };
    // One byte more, so that a stream which decodes to more is noticed.
    let mut out = vec![0; len + 1];
    let status = decoder.decompress(encoded, &mut out, flate2::FlushDecompress::Finish);
    assert_eq!(status.expect("zlib takes it"), flate2::Status::StreamEnd);
    assert_eq!(decoder.total_in(), encoded.len() as u64, "bytes after the end");
    out.truncate(decoder.total_out() as usize);
    out
}

/// zlib-rs, fed piece by piece.
pub(crate) struct Incremental {
    inflate: Inflate,
    out: Vec<u8>,
    len: usize,
    ended: bool,
}

impl Incremental {
    /// For a stream of `len` bytes of plain text at most.
    pub(crate) fn new(format: Format, len: usize) -> Self {
        let inflate = match format {
            Format::Deflate => Inflate::new(false, 15),
            Format::Zlib => Inflate::new(true, 15),
            Format::Gzip => Inflate::new(true, 16 + 15),
        };
        Incremental { inflate, out: vec![0; len + 1], len: 0, ended: false }
    }

    #[track_caller]
    pub(crate) fn take(&mut self, mut encoded: &[u8]) {
        while !encoded.is_empty() {
            assert!(!self.ended, "bytes after the end");
            let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(encoded, &mut self.out[self.len..], InflateFlush::NoFlush);
            let eaten = (self.inflate.total_in() - before_in) as usize;
            self.len += (self.inflate.total_out() - before_out) as usize;
            self.ended = status.expect("zlib-rs takes it") == Status::StreamEnd;
            assert!(eaten > 0, "zlib-rs is stuck");
            encoded = &encoded[eaten..];
        }
    }

    /// All that could be decoded so far.
    pub(crate) fn plain(&self) -> &[u8] {
        &self.out[..self.len]
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }
}

/// What the system's gzip makes of these members; none if it is not installed. Then the test says
/// so and is skipped, or with STRICT=1 fails.
#[track_caller]
pub(crate) fn system_gzip(members: Vec<u8>) -> Option<Vec<u8>> {
    let child = Command::new("gzip")
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        require(false, "gzip is not installed");
        return None;
    };
    let mut stdin = child.stdin.take().expect("a pipe");
    let feeder = thread::spawn(move || stdin.write_all(&members));
    let output = child.wait_with_output().expect("it ends");
    feeder.join().expect("no panic").expect("gzip reads everything");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    Some(output.stdout)
}
