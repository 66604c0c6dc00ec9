//! Deflate: a call with too little capacity for its output fails and changes nothing; the exact
//! capacity is enough.

use linerate_deflate::{Kind, Result, Scratch, Stream, bound, finish_bound, flush_bound};

use crate::program::{Noise, Program, Step};

const GUARD: u8 = 0xA5;

/// Repeats each call of a program with exactly the capacity that its output takes, with one byte
/// less, and with a random capacity.
///
/// # Panics
/// If a call fails with enough capacity, succeeds with too little, changes the stream when it fails,
/// writes beyond its capacity, or if its bytes depend on the capacity.
pub fn tight_output(data: &[u8]) {
    let program = Program::read(data);
    let mut scratch = Scratch::boxed();
    scratch.set_tier(program.tier);
    let mut noise = Noise::new(data.len() as u64);
    let mut stream = Stream::new(program.format, program.level);
    let mut at = 0;
    for (i, step) in program.steps.iter().enumerate() {
        match *step {
            Step::Level(level) => stream.set_level(level),
            Step::Flush => {
                stream = every_capacity(stream, flush_bound(), &mut noise, |s, out| s.flush(out));
            }
            Step::Encode { end, history } => {
                let buffer = &program.plain[at - history..end];
                let more = !program.ends_at(i);
                stream = every_capacity(stream, bound(end - at), &mut noise, |s, out| {
                    s.encode_with_history(&mut scratch, buffer, history, out, more)
                });
                at = end;
            }
        }
    }
    every_capacity(stream, finish_bound(), &mut noise, |s, out| s.finish(out));
}

/// Makes one call with `most` bytes of capacity, repeats it from the same state with less, and
/// returns the stream after the call.
fn every_capacity(
    before: Stream,
    most: usize,
    noise: &mut Noise,
    mut call: impl FnMut(&mut Stream, &mut [u8]) -> Result<usize>,
) -> Stream {
    let mut wanted = vec![0; most];
    let mut after = before;
    let n = call(&mut after, &mut wanted).expect("capacity of the bound");
    let capacities = [Some(n), n.checked_sub(1), Some(noise.below(most + 1))];
    for capacity in capacities.into_iter().flatten() {
        let mut out = vec![GUARD; capacity + 16];
        let mut stream = before;
        let result = call(&mut stream, &mut out[..capacity]);
        assert!(out[capacity..].iter().all(|&byte| byte == GUARD), "written beyond the capacity");
        match result {
            Ok(written) => {
                assert!(
                    capacity >= n && written == n,
                    "{written} bytes in a capacity of {capacity}, {n} wanted"
                );
                assert!(out[..n] == wanted[..n], "the output depends on the capacity");
                assert_eq!(stream, after, "the stream depends on the capacity");
            }
            Err(e) => {
                assert!(capacity < n, "{n} bytes do not fit a capacity of {capacity}");
                assert_eq!(e.kind, Kind::OutputTooSmall);
                assert_eq!(stream, before, "an error changed the stream");
            }
        }
    }
    after
}
