//! Reference decoders of other projects.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use linerate_deflate::Format;
use linerate_testkit::tools::require;
use zlib_rs::{Inflate, InflateFlush, Status};

/// Asserts that each decoder of this build returns `plain`, and finds nothing after the end.
#[track_caller]
pub(crate) fn assert_decodes(format: Format, encoded: &[u8], plain: &[u8]) {
    let decoded = decode(format, encoded, plain.len());
    assert!(decoded.as_deref() == Ok(plain), "{:?}", decoded.err());
}

/// Decodes a stream of `len` bytes of plain text with each decoder of this build.
pub(crate) fn decode(format: Format, encoded: &[u8], len: usize) -> Result<Vec<u8>, String> {
    linerate_testkit::deflate::decode(window_bits(format, 15), encoded, len)
}

/// Returns the argument of zlib's `inflateInit2` for a window of 2^`bits` bytes.
pub(crate) fn window_bits(format: Format, bits: u8) -> i32 {
    match format {
        Format::Deflate => -i32::from(bits),
        Format::Zlib => i32::from(bits),
        Format::Gzip => 16 + i32::from(bits),
    }
}

/// A zlib-rs decoder that takes a stream piece by piece.
pub(crate) struct Incremental {
    inflate: Inflate,
    out: Vec<u8>,
    len: usize,
    ended: bool,
}

impl Incremental {
    /// Creates a decoder for a stream of at most `len` bytes of plain text.
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

    /// Returns everything decoded so far.
    pub(crate) fn plain(&self) -> &[u8] {
        &self.out[..self.len]
    }
}

/// Decodes these members with the system's gzip. Returns `None` if gzip is not installed; the test
/// then says so and is skipped, or fails with STRICT=1.
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
