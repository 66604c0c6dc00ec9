//! Decoders of the shape "inflate": ours, zlib-rs, and the peers that are features.

use linerate_inflate::{BufferDecoder, Format, Options, Scratch, Status, StreamDecoder};
use zlib_rs::{Inflate, InflateFlush};

use super::compress;
use crate::decoding::{Decoder, Run};
use crate::harness::filter::Chunk;
use crate::harness::message;
#[cfg(any(feature = "zlib", feature = "zlib-ng"))]
use crate::kernel::inflate;
use crate::kernel::inflate::{Given, Resumable, Step};
use linerate_candidates::footprint;

/// The decoders of this build that can decode in calls of this size.
pub(super) fn contenders(chunk: Chunk) -> Result<Vec<Decoder>, String> {
    let all = vec![
        ours(chunk)?,
        peer("zlib-rs", chunk, || Ok(Inflate::new(false, 15)))?,
        #[cfg(feature = "zlib-ng")]
        peer("zlib-ng", chunk, inflate::ZlibNg::raw)?,
        #[cfg(feature = "zlib")]
        peer("zlib", chunk, inflate::Zlib::raw)?,
    ];
    #[cfg(feature = "libdeflate")]
    let all = all.into_iter().chain(libdeflate(chunk));
    #[cfg(feature = "isal")]
    let all = all.into_iter().chain(isal(chunk));
    Ok(all.into_iter().collect())
}

fn ours(chunk: Chunk) -> Result<Decoder, String> {
    let options = Options::new(Format::Deflate);
    let mut scratch = Scratch::new();
    let (run, state): (Run, usize) = match chunk {
        Chunk::Whole => {
            let decoder = BufferDecoder::new(options);
            let run = move |stream: &[u8], out: &mut [u8]| {
                decoder.decode(&mut scratch, None, stream, out).map(|n| n.written).map_err(message)
            };
            (Box::new(run), 0)
        }
        Chunk::Bytes(size) => {
            let mut decoder = StreamDecoder::new(options).map_err(message)?;
            let mut run = move |decoder: &mut StreamDecoder<'_>, stream: &[u8], out: &mut [u8]| {
                decoder.reset();
                in_calls(stream, out, size, |input, out| {
                    let progress = decoder.decode(&mut scratch, input, out).map_err(message)?;
                    let ends = progress.status == Status::End;
                    Ok(Step { read: progress.read, written: progress.written, ends })
                })
            };
            run(&mut decoder, &sample()?, &mut [0; SAMPLE])?;
            let state = decoder.memory();
            (Box::new(move |stream, out| run(&mut decoder, stream, out)), state)
        }
    };
    Ok(Decoder { name: "linerate", run, state: Some(state), scratch: Some(size_of::<Scratch>()) })
}

impl Resumable for Inflate {
    fn reset(&mut self) -> Result<(), String> {
        Inflate::reset(self, false);
        Ok(())
    }

    fn call(&mut self, input: &[u8], out: &mut [u8], given: Given) -> Result<Step, String> {
        let flush = match given {
            Given::All => InflateFlush::Finish,
            Given::Part => InflateFlush::NoFlush,
            Given::Message => InflateFlush::SyncFlush,
        };
        let (read, written) = (self.total_in(), self.total_out());
        let status = self.decompress(input, out, flush).map_err(|e| e.as_str().to_owned())?;
        Ok(Step {
            read: (self.total_in() - read) as usize,
            written: (self.total_out() - written) as usize,
            ends: status == zlib_rs::Status::StreamEnd,
        })
    }
}

/// Makes a contender of the decoder that `open` returns. The memory that this decoder holds after a
/// first stream counts as `state` if a stream takes several calls. If a stream takes one call, all
/// streams can share the memory, and it counts as `scratch`.
fn peer<D: Resumable + 'static>(
    name: &'static str,
    chunk: Chunk,
    open: impl FnOnce() -> Result<D, String>,
) -> Result<Decoder, String> {
    let is_whole = chunk == Chunk::Whole;
    let given = if is_whole { Given::All } else { Given::Part };
    let run = move |decoder: &mut D, stream: &[u8], out: &mut [u8]| {
        decoder.reset()?;
        in_calls(stream, out, chunk.size(), |input, out| decoder.call(input, out, given))
    };
    let (stream, mut out) = (sample()?, vec![0; SAMPLE]);
    let (decoder, held) = footprint(|| {
        let mut decoder = open()?;
        run(&mut decoder, &stream, &mut out)?;
        Ok::<_, String>(decoder)
    });
    let mut decoder = decoder?;
    let held = held.map(|heap| heap + size_of::<D>());
    let (state, scratch) = if is_whole { (Some(0), held) } else { (held, Some(0)) };
    let run = Box::new(move |stream: &[u8], out: &mut [u8]| run(&mut decoder, stream, out));
    Ok(Decoder { name, run, state, scratch })
}

/// libdeflate, which decodes whole streams only: `None` for other sizes of calls.
#[cfg(feature = "libdeflate")]
fn libdeflate(chunk: Chunk) -> Option<Decoder> {
    if chunk != Chunk::Whole {
        return None;
    }
    let (mut decoder, scratch) = footprint(libdeflater::Decompressor::new);
    let run = Box::new(move |stream: &[u8], out: &mut [u8]| {
        decoder.deflate_decompress(stream, out).map_err(message)
    });
    Some(Decoder { name: "libdeflate", run, state: Some(0), scratch })
}

/// ISA-L's decoder of whole streams: `None` for other sizes of calls.
#[cfg(feature = "isal")]
fn isal(chunk: Chunk) -> Option<Decoder> {
    use crate::kernel::isal::IsalInflate;
    let mut decoder = IsalInflate::new();
    let run = Box::new(move |stream: &[u8], out: &mut [u8]| decoder.decode(stream, out));
    (chunk == Chunk::Whole).then(|| Decoder {
        name: "ISA-L",
        run,
        state: Some(0),
        scratch: Some(IsalInflate::SCRATCH),
    })
}

/// Decodes a stream with at most `size` bytes of input and of output in each call. Each call writes
/// behind the output of the call before. Returns the length of the content.
fn in_calls(
    stream: &[u8],
    out: &mut [u8],
    size: usize,
    mut call: impl FnMut(&[u8], &mut [u8]) -> Result<Step, String>,
) -> Result<usize, String> {
    let (mut read, mut written) = (0, 0);
    loop {
        let input = &stream[read..][..size.min(stream.len() - read)];
        let room = size.min(out.len() - written);
        let step = call(input, &mut out[written..][..room])?;
        read += step.read;
        written += step.written;
        if step.ends {
            return Ok(written);
        }
        if step.read + step.written == 0 {
            return Err("the stream has not ended".into());
        }
    }
}

/// Bytes of content in a sample stream: enough to fill any window.
const SAMPLE: usize = 64 << 10;

/// A stream of deflate data whose content is [`SAMPLE`] zeros.
fn sample() -> Result<Vec<u8>, String> {
    compress(&[0; SAMPLE], 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_without_its_end_is_an_error_of_every_contender() {
        let (stream, mut out) = (sample().unwrap(), [0; SAMPLE]);
        for chunk in [Chunk::Whole, Chunk::Bytes(7), Chunk::Bytes(1 << 20)] {
            for mut contender in contenders(chunk).unwrap() {
                let name = contender.name;
                assert_eq!((contender.run)(&stream, &mut out), Ok(SAMPLE), "{name}, {chunk}");
                assert!((contender.run)(&stream[..stream.len() - 1], &mut out).is_err(), "{name}, {chunk}");
                assert_eq!((contender.run)(&stream, &mut out), Ok(SAMPLE), "{name}, {chunk}");
            }
        }
    }

    /// zlib, zlib-ng and zlib-rs accept the same streams as ours, with the same content. libdeflate
    /// and ISA-L accept some that these reject.
    #[test]
    fn damaged_streams_have_the_same_verdict_and_content_in_every_contender() {
        let mut seed = 1u64;
        let mut below = |end: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % end
        };
        let mut all: Vec<_> = [Chunk::Whole, Chunk::Bytes(100)]
            .into_iter()
            .flat_map(|chunk| contenders(chunk).unwrap())
            .filter(|contender| !["libdeflate", "ISA-L"].contains(&contender.name))
            .collect();
        let (mut valid, mut outs) = (0, vec![vec![0; 4000]; all.len()]);
        for round in 0..4000 {
            let symbols = 1 + below(60);
            let mut content: Vec<u8> = (0..1 + below(500)).map(|_| below(symbols) as u8).collect();
            content.extend_from_within(..below(content.len()));
            let mut stream = compress(&content, 1 + round % 9).unwrap();
            for _ in 0..below(3) {
                let bit = below(8 * stream.len().min(if round % 2 == 0 { 60 } else { usize::MAX }));
                stream[bit / 8] ^= 1 << (bit % 8);
            }
            let mut results = all.iter_mut().zip(&mut outs).map(|(contender, out)| {
                let result = (contender.run)(&stream, out).ok();
                result.map(|len| &out[..len])
            });
            let ours = results.next().unwrap();
            valid += usize::from(ours.is_some());
            assert!(results.all(|theirs| theirs == ours), "{round}: {stream:x?}");
        }
        assert!((1500..3000).contains(&valid), "{valid}");
    }

    #[test]
    fn an_idle_stream_of_ours_is_its_window_and_little_more() {
        let ours = ours(Chunk::Bytes(64 << 10)).unwrap();
        assert!(ours.state.is_some_and(|n| (32_768..=33_792).contains(&n)), "{:?}", ours.state);
        assert!(ours.scratch.is_some_and(|n| n <= 16 << 10), "{:?}", ours.scratch);
    }
}
