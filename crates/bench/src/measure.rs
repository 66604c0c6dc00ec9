//! CPU time of each contender over a corpus, in interleaved rounds.

use std::time::Duration;

use crate::contender::{Contender, room};
use crate::kernel::os::cpu_time;
use crate::table::Loaded;

/// Bytes after which the next contender has its turn. Small enough that a disturbance of the
/// machine hits all contenders alike, large enough that reading the clock costs nothing.
const TURN: usize = 4 << 20;

/// Runs every contender `rounds` times over `files` in chunks of `chunk` bytes and returns, for
/// each contender, the CPU time of each round.
///
/// The contenders alternate every few megabytes, starting with another one each time. Each chunk's
/// output overwrites the last one's.
///
/// # Errors
/// What a contender says, after its position in `contenders`.
pub fn run(
    contenders: &mut [Loaded],
    files: &[Vec<u8>],
    chunk: usize,
    rounds: usize,
    mut progress: impl FnMut(usize),
) -> Result<Vec<Vec<Duration>>, (usize, String)> {
    let longest = files.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = vec![0; room(chunk.min(longest))];
    let mut times = vec![vec![Duration::ZERO; rounds]; contenders.len()];
    for round in 0..rounds {
        progress(round);
        for (turn, part) in turns(files).enumerate() {
            for i in 0..contenders.len() {
                let who = (i + turn + round) % contenders.len();
                let start = cpu_time();
                pass(&mut *contenders[who], part, chunk, &mut out).map_err(|e| (who, e))?;
                times[who][round] += cpu_time() - start;
            }
        }
    }
    Ok(times)
}

/// Compresses `files` once.
fn pass(
    contender: &mut dyn Contender,
    files: &[Vec<u8>],
    chunk: usize,
    out: &mut [u8],
) -> Result<(), String> {
    for file in files {
        contender.begin()?;
        for piece in file.chunks(chunk) {
            contender.chunk(piece, out)?;
        }
        contender.finish(out)?;
    }
    std::hint::black_box(out);
    Ok(())
}

/// Runs of files of about [`TURN`] bytes; a file is never split.
fn turns(files: &[Vec<u8>]) -> impl Iterator<Item = &[Vec<u8>]> {
    let mut rest = files;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let enough = |f: &Vec<u8>| {
            bytes += f.len();
            bytes >= TURN
        };
        let n = rest.iter().position(enough).map_or(rest.len(), |last| last + 1);
        let (part, after) = rest.split_at(n);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}
