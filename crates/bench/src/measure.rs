//! CPU time of each contender over a corpus, in interleaved rounds.

use std::time::Duration;

use crate::contender::{Contender, output_capacity, pieces};
use crate::table::Loaded;
use linerate_candidates::cpu_time;

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
    let mut out = vec![0; output_capacity(chunk.min(longest))];
    let mut times = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..rounds {
        progress(round);
        let mut sums = vec![Duration::ZERO; contenders.len()];
        for (turn, part) in turns(files).enumerate() {
            let passes = passes(part);
            for i in 0..contenders.len() {
                let index = (i + turn + round) % contenders.len();
                let start = cpu_time();
                for _ in 0..passes {
                    pass(&mut *contenders[index], part, chunk, &mut out).map_err(|e| (index, e))?;
                }
                sums[index] += (cpu_time() - start) / passes;
            }
        }
        times.iter_mut().zip(sums).for_each(|(all, sum)| all.push(sum));
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
        for (piece, last) in pieces(file, chunk) {
            contender.chunk(piece, last, out)?;
        }
    }
    std::hint::black_box(out);
    Ok(())
}

/// How often a turn repeats a part that is shorter than [`TURN`].
fn passes(part: &[Vec<u8>]) -> u32 {
    let bytes: usize = part.iter().map(Vec::len).sum();
    (TURN / bytes.max(1)).clamp(1, 1000) as u32
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_cover_every_file_once_and_in_order() {
        let sizes = [TURN / 2, TURN / 2, 1, 2 * TURN, 5, 6];
        let files: Vec<_> = sizes.iter().map(|&n| vec![0; n]).collect();
        let lengths = |part: &[Vec<u8>]| part.iter().map(Vec::len).collect::<Vec<_>>();
        let parts: Vec<_> = turns(&files).map(lengths).collect();
        assert_eq!(parts, [vec![TURN / 2, TURN / 2], vec![1, 2 * TURN], vec![5, 6]]);
        assert_eq!(turns(&[]).count(), 0);
    }

    #[test]
    fn short_parts_are_repeated() {
        assert_eq!(passes(&[vec![0; TURN]]), 1);
        assert_eq!(passes(&[vec![0; TURN / 4], vec![0; TURN / 4]]), 2);
        assert_eq!(passes(&[vec![0; 1]]), 1000);
    }
}
