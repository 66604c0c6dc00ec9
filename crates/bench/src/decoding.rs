//! Decoders timed beside each other: what the shapes "frames" and "inflate" share.

use std::ops::Range;
use std::time::Duration;

use crate::corpus::Corpus;
use crate::record::Record;
use crate::session::blank;
use crate::stats;
use linerate_candidates::cpu_time;

/// Content per turn, in bytes; contenders alternate after each turn.
const TURN: usize = 4 << 20;

/// A decoder, ready to run.
pub(crate) trait Decode {
    fn name(&self) -> &'static str;
    fn version(&self) -> String;
    /// Decodes one frame or stream; returns the bytes written.
    fn decode(&mut self, frame: &[u8], out: &mut [u8]) -> Result<usize, String>;
    /// What an idle stream keeps between calls.
    fn state_bytes(&self) -> Option<usize>;
    /// What all streams of a thread can share.
    fn scratch_bytes(&self) -> Option<usize>;
}

/// Frames or streams, each with its content.
pub(crate) struct Jobs<'a> {
    pub(crate) frames: Vec<Vec<u8>>,
    pub(crate) contents: Vec<&'a [u8]>,
    /// Of all contents.
    pub(crate) bytes: usize,
}

impl<'a> Jobs<'a> {
    pub(crate) fn new(frames: Vec<Vec<u8>>, contents: Vec<&'a [u8]>) -> Self {
        let bytes = contents.iter().map(|content| content.len()).sum();
        Jobs { frames, contents, bytes }
    }

    fn longest(&self) -> usize {
        self.contents.iter().map(|content| content.len()).max().unwrap_or(0)
    }

    fn ratio(&self) -> f64 {
        self.bytes as f64 / self.frames.iter().map(Vec::len).sum::<usize>().max(1) as f64
    }

    /// Runs of frames of about `bytes` bytes of content.
    pub(crate) fn turns(&self, bytes: usize) -> impl Iterator<Item = Range<usize>> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let mut sum = 0;
            let enough = |content: &&[u8]| {
                sum += content.len();
                sum >= bytes
            };
            let rest = &self.contents[start..];
            let n = rest.iter().position(enough).map_or(rest.len(), |last| last + 1);
            let part = start..start + n;
            start += n;
            (n > 0).then_some(part)
        })
    }
}

/// What the records of one measurement have in common.
pub(crate) struct Case {
    pub(crate) shape: &'static str,
    pub(crate) chunk: String,
    pub(crate) format: String,
    /// The name of the contender that others are compared with.
    pub(crate) base: &'static str,
    pub(crate) rounds: usize,
}

/// Has every contender decode everything once, which is compared with the content, then times them: a record for each.
/// `speed_vs_base` is the median over the rounds, within each of which the contenders take turns.
pub(crate) fn measure(
    corpus: &Corpus,
    case: &Case,
    jobs: &Jobs<'_>,
    mut all: Vec<Box<dyn Decode>>,
    progress: &mut impl FnMut(&str),
) -> Result<Vec<Record>, String> {
    let Case { chunk, base, rounds, .. } = case;
    let mut out = vec![0; jobs.longest()];
    for contender in &mut all {
        progress(&format!("{chunk}: checking {}", contender.name()));
        check(&mut **contender, jobs, &mut out).map_err(|e| format!("{}: {e}", contender.name()))?;
    }
    let mut times = vec![Vec::with_capacity(*rounds); all.len()];
    for round in 0..*rounds {
        progress(&format!("{chunk}: round {} of {rounds}", round + 1));
        for (sum, times) in pass(&mut all, jobs, round, &mut out)?.into_iter().zip(&mut times) {
            times.push(sum);
        }
    }
    let base = all.iter().position(|c| c.name() == *base).ok_or_else(|| format!("{base} is missing"))?;
    let records = all.iter().zip(&times).map(|(contender, own)| Record {
        bytes: jobs.bytes,
        files: jobs.frames.len(),
        ratio: jobs.ratio(),
        ..record(corpus, case, &**contender, Times { bytes: jobs.bytes, own, base: &times[base] })
    });
    Ok(records.collect())
}

/// Times of a contender and of the base, round by round, for so many bytes.
struct Times<'a> {
    bytes: usize,
    own: &'a [Duration],
    base: &'a [Duration],
}

fn record(corpus: &Corpus, case: &Case, contender: &dyn Decode, times: Times<'_>) -> Record {
    let ratios = times.base.iter().zip(times.own).map(|(base, own)| base.as_secs_f64() / own.as_secs_f64());
    let speed = |time: Option<Duration>| time.map_or(0.0, |t| stats::speed(times.bytes, t));
    Record {
        chunk: case.chunk.clone(),
        contender: contender.name().into(),
        version: contender.version(),
        format: case.format.clone(),
        best_mbs: speed(stats::best(times.own)),
        median_mbs: speed(stats::median(times.own)),
        base: case.base.into(),
        speed_vs_base: stats::middle(ratios.collect()),
        ratio_vs_base: 1.0,
        state_bytes: contender.state_bytes(),
        scratch_bytes: contender.scratch_bytes(),
        rounds: case.rounds,
        ..blank(case.shape, corpus)
    }
}

/// Decodes every frame once, and compares.
fn check(contender: &mut dyn Decode, jobs: &Jobs<'_>, out: &mut [u8]) -> Result<(), String> {
    for (frame, content) in jobs.frames.iter().zip(&jobs.contents) {
        let n = contender.decode(frame, &mut out[..content.len()])?;
        if out[..n] != **content {
            return Err("what was decoded is not what was compressed".into());
        }
    }
    Ok(())
}

/// Times every contender over all frames once. They alternate every 4 MiB in rotating order; shorter
/// input is repeated.
fn pass(
    all: &mut [Box<dyn Decode>],
    jobs: &Jobs<'_>,
    round: usize,
    out: &mut [u8],
) -> Result<Vec<Duration>, String> {
    let mut sums = vec![Duration::ZERO; all.len()];
    let repeats = (TURN / jobs.bytes.max(1)).clamp(1, 1000) as u32;
    for (turn, part) in jobs.turns(TURN).enumerate() {
        for i in 0..all.len() {
            let index = (i + turn + round) % all.len();
            let start = cpu_time();
            for _ in 0..repeats {
                for frame in &jobs.frames[part.clone()] {
                    all[index].decode(frame, out)?;
                }
            }
            sums[index] += (cpu_time() - start) / repeats;
        }
    }
    std::hint::black_box(out);
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says that it has written the content, after as many bytes as it is told.
    struct Wrong(usize);

    impl Decode for Wrong {
        fn name(&self) -> &'static str {
            "wrong"
        }

        fn version(&self) -> String {
            String::new()
        }

        fn decode(&mut self, _frame: &[u8], out: &mut [u8]) -> Result<usize, String> {
            out.fill(1);
            Ok(self.0)
        }

        fn state_bytes(&self) -> Option<usize> {
            None
        }

        fn scratch_bytes(&self) -> Option<usize> {
            None
        }
    }

    #[test]
    fn other_content_or_length_is_an_error() {
        let corpus = Corpus { name: "small".into(), files: vec![vec![1; 9], vec![1, 1, 2]] };
        let measured = |files: usize, written: usize| {
            let contents: Vec<_> = corpus.files[..files].iter().map(|file| &file[..]).collect();
            let jobs = Jobs::new(vec![vec![0]; files], contents);
            let (shape, chunk, format) = ("inflate", "whole".to_owned(), "deflate".to_owned());
            let case = Case { shape, chunk, format, base: "wrong", rounds: 1 };
            measure(&corpus, &case, &jobs, vec![Box::new(Wrong(written))], &mut |_| {})
        };
        assert_eq!(measured(1, 9).unwrap()[0].ratio, 9.0);
        assert!(measured(1, 8).unwrap_err().starts_with("wrong: "));
        assert!(measured(2, 3).is_err());
    }
}
