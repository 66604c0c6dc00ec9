//! Measures decoders, for the shapes "frames" and "inflate".

use crate::harness::{Clock, Contender, PART, Rounds, measure as harness, parts, progress, repeats, same};
use crate::records::Measurement;

/// Decodes a frame or stream into a buffer. Returns the number of bytes written.
pub(crate) type Run = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<usize, String>>;

/// A decoder, ready to run.
pub(crate) struct Decoder {
    pub(crate) name: &'static str,
    pub(crate) run: Run,
    /// Bytes that an idle stream keeps between calls, if known.
    pub(crate) state: Option<usize>,
    /// Bytes of working memory that all streams of a thread can share, if known.
    pub(crate) scratch: Option<usize>,
}

/// Frames or streams to decode, with their contents in the same order.
pub(crate) struct Jobs<'a> {
    pub(crate) frames: Vec<Vec<u8>>,
    pub(crate) contents: Vec<&'a [u8]>,
    /// Room for the output of a timed call, in bytes. `None` means the length of the longest
    /// content, which is also the maximum.
    pub(crate) room: Option<usize>,
}

impl Jobs<'_> {
    pub(crate) fn bytes(&self) -> usize {
        self.contents.iter().map(|content| content.len()).sum()
    }
}

/// Lets every decoder decode everything once, compares the content, then times the decoders. `base`
/// names the decoder that the others are compared with, and `blank` has what all measurements
/// share.
pub(crate) fn measure(
    blank: &Measurement,
    base: &str,
    jobs: &Jobs<'_>,
    mut decoders: Vec<Decoder>,
    rounds: usize,
) -> Result<Vec<Measurement>, String> {
    let bytes = jobs.bytes();
    let longest = jobs.contents.iter().map(|content| content.len()).max().unwrap_or(0);
    let mut out = vec![0; longest];
    for Decoder { name, run, .. } in &mut decoders {
        progress(&format!("{}, {}: checking {name}", blank.shape, blank.data));
        for (frame, content) in jobs.frames.iter().zip(&jobs.contents) {
            let found = run(frame, &mut out[..content.len()]).and_then(|n| same(&out[..n], content));
            found.map_err(|e| format!("{name}: {e}"))?;
        }
    }
    let place = decoders.iter().position(|d| d.name == base).ok_or_else(|| format!("{base} is missing"))?;
    let ratio = bytes as f64 / jobs.frames.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    let (ranges, repeats) = (parts(jobs.contents.iter().map(|content| content.len()), PART), repeats(bytes));
    let out = std::cell::RefCell::new(out);
    let contenders = decoders.into_iter().map(|Decoder { name, mut run, state, scratch }| {
        let mut measurement = blank.clone().exact("ratio", ratio).exact("ratio_by_base", 1.0);
        measurement.contender = name.into();
        let measurement = measurement.size("state", state).size("scratch", scratch);
        let (ranges, out) = (&ranges, &out);
        let turn = move |part: usize| {
            let out = &mut out.borrow_mut()[..jobs.room.unwrap_or(longest).min(longest)];
            let ((), time) = Clock::Cpu.time(|| {
                for frame in (0..repeats).flat_map(|_| &jobs.frames[ranges[part].clone()]) {
                    std::hint::black_box(run(frame, out)?);
                }
                Ok(())
            })?;
            Ok(time / repeats)
        };
        Contender::new(measurement, turn).bytes(bytes).base(place, base)
    });
    harness(contenders.collect(), Rounds::parts(rounds, ranges.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::row;

    #[test]
    fn other_content_or_length_is_an_error() {
        let measured = |contents: Vec<&[u8]>, written: usize| {
            let jobs = Jobs { frames: vec![vec![0]; contents.len()], contents, room: None };
            let run: Run = Box::new(move |_, out| {
                out.fill(1);
                Ok(written)
            });
            let decoders = vec![Decoder { name: "wrong", run, state: None, scratch: None }];
            measure(&row("inflate", "small", ""), "wrong", &jobs, decoders, 1)
        };
        let found = measured(vec![&[1; 9]], 9).unwrap();
        assert_eq!((found[0].metrics["ratio"].median, &*found[0].contender), (9.0, "wrong"));
        assert!(measured(vec![&[1; 9]], 8).unwrap_err().starts_with("wrong: "));
        assert!(measured(vec![&[1; 9], &[1, 1, 2]], 3).is_err());
    }
}
