//! A call runs on the smallest stack that the standard library allows a thread. A build with all
//! checks, as in tests, needs more than a release build.

use std::thread;

use linerate_deflate::{Format, Level, Result, Scratch, Stream, bound, finish_bound, flush_bound};

use crate::common::data::{self, Noise};
use crate::common::scratches;

/// Size of the stack in bytes. Starting the thread also uses some of it.
const STACK: usize = 16 << 10;

fn encode(scratch: &mut Scratch, level: Level, plain: &[u8], out: &mut [u8]) -> Result<usize> {
    let mut stream = Stream::new(Format::Gzip, level);
    let (first, second) = plain.split_at(plain.len() / 3);
    let mut n = stream.encode(&mut *scratch, first, out, true)?;
    n += stream.flush(&mut out[n..])?;
    n += stream.encode_with_history(scratch, plain, first.len(), &mut out[n..], second.is_empty())?;
    Ok(n + stream.finish(&mut out[n..])?)
}

/// If the stack overflows, the process ends and the test fails.
#[test]
fn call_fits_a_stack_of_16_kib() {
    let noise = &mut Noise::new(1);
    for plain in [data::text(noise, 200_000), data::mixture(noise, 300_000), noise.bytes(100_000)] {
        for level in Level::ALL {
            for mut scratch in scratches() {
                let mut out = vec![0; 2 * bound(plain.len()) + flush_bound() + finish_bound()];
                let expected = encode(&mut scratch, level, &plain, &mut out);
                let small = thread::Builder::new().stack_size(STACK);
                let result = thread::scope(|scope| {
                    let task = || encode(&mut scratch, level, &plain, &mut out);
                    small.spawn_scoped(scope, task).expect("a thread").join().expect("no panic")
                });
                assert_eq!(result, expected);
                assert!(result.is_ok());
            }
        }
    }
}
