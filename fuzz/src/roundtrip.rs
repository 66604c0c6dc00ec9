//! Deflate: a program of calls decodes to its content, and no call exceeds its bound.

use linerate_core::Tier;
use linerate_deflate::{Format, Scratch, Stream, bound, finish_bound, flush_bound};
use zlib_rs::{Inflate, InflateFlush, Status};

use crate::max_output;
use crate::program::{Program, Step};
use linerate_testkit::sys::guarded::Guarded;

/// Encodes the content of a program, decodes the output of each call at once with zlib-rs, and
/// encodes the content once more with the portable code.
///
/// # Panics
/// If data cannot be decoded completely after a flush, the decoded content differs, a call exceeds
/// its bound, or the two encodings differ.
pub fn roundtrip(data: &[u8]) {
    let program = Program::read(data);
    let mut decoder = Decoder::new(program.format, program.plain.len());
    let encoded = run(&program, program.tier, |bytes, complete| decoder.take(bytes, complete));
    assert!(decoder.ended, "the stream does not end");
    assert!(decoder.out[..decoder.len] == program.plain, "the plain text does not come back");
    if program.tier != Tier::Scalar {
        let portable = run(&program, Tier::Scalar, |_, _| {});
        assert!(encoded == portable, "the output depends on the CPU");
    }
}

/// Encodes the content of a program and returns the output. A guard page follows or, in turn,
/// precedes the buffers of each call, so that an access outside of them ends the process. `sent`
/// gets the bytes of each call and, after a flush or the end, the length of content that must be
/// decodable.
fn run(program: &Program, tier: Tier, mut sent: impl FnMut(&[u8], Option<usize>)) -> Vec<u8> {
    let mut scratch = Scratch::boxed();
    scratch.set_tier(tier);
    let mut stream = Stream::new(program.format, program.level);
    let mut header_due = program.format.header().len();
    let mut all = Vec::new();
    let mut at = 0;
    let mut inputs = Guarded::new(program.plain.len());
    let mut outputs = Guarded::new(bound(program.plain.len()).max(flush_bound()).max(finish_bound()));
    for (i, step) in program.steps.iter().enumerate() {
        match *step {
            Step::Level(level) => stream.set_level(level),
            Step::Flush => {
                let out = outputs.last(flush_bound());
                let n = stream.flush(out).expect("room of flush_bound");
                sent(&out[..n], Some(at));
                all.extend_from_slice(&out[..n]);
                header_due = 0;
            }
            Step::Encode { end, history } => {
                let plain = &program.plain[at - history..end];
                let (buffer, out) = if i % 2 == 0 {
                    (inputs.last(plain.len()), outputs.last(bound(end - at)))
                } else {
                    (inputs.first(plain.len()), outputs.first(bound(end - at)))
                };
                buffer.copy_from_slice(plain);
                let more = !program.ends_at(i);
                let n = stream
                    .encode_with_history(&mut scratch, buffer, history, out, more)
                    .expect("room of bound");
                assert!(n <= max_output(end - at) + header_due, "{n} bytes for {}", end - at);
                sent(&out[..n], None);
                all.extend_from_slice(&out[..n]);
                (at, header_due) = (end, 0);
            }
        }
    }
    let out = outputs.last(finish_bound());
    let n = stream.finish(out).expect("room of finish_bound");
    sent(&out[..n], Some(at));
    all.extend_from_slice(&out[..n]);
    all
}

/// zlib-rs, which gets a stream piece by piece.
struct Decoder {
    inflate: Inflate,
    out: Vec<u8>,
    len: usize,
    ended: bool,
}

impl Decoder {
    fn new(format: Format, plain_len: usize) -> Self {
        let inflate = match format {
            Format::Deflate => Inflate::new(false, 15),
            Format::Zlib => Inflate::new(true, 15),
            Format::Gzip => Inflate::new(true, 16 + 15),
        };
        // One byte more than the plain text, so that a stream which decodes to more is noticed.
        Decoder { inflate, out: vec![0; plain_len + 1], len: 0, ended: false }
    }

    fn take(&mut self, mut bytes: &[u8], complete: Option<usize>) {
        while !bytes.is_empty() {
            assert!(!self.ended, "bytes after the end of the stream");
            let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(bytes, &mut self.out[self.len..], InflateFlush::NoFlush)
                .expect("valid data");
            let eaten = (self.inflate.total_in() - before_in) as usize;
            self.len += (self.inflate.total_out() - before_out) as usize;
            self.ended = status == Status::StreamEnd;
            assert!(eaten > 0, "the decoder is stuck");
            bytes = &bytes[eaten..];
        }
        if let Some(complete) = complete {
            assert_eq!(self.len, complete, "what was flushed is not decodable");
        }
    }
}
