//! Checks and times candidates that encode and decode the sample piece by piece. A piece is a part
//! of an array, a block of records or of an SST file, or a message.
//!
//! A [`Candidate`] encodes every piece once, decodes it and compares it. Then candidates take turns
//! at encoding all pieces and at decoding them: on one thread, and on several, each of which codes
//! all pieces. Candidates that are existing files are only decoded, and not compared. Some
//! candidates are timed by the work of their command instead, whose threads may share a piece.

use std::hint::black_box;
use std::time::Duration;

use linerate_plan::{Measurement, Scaling, Speed};

use super::timing::{Clock, Turn, on_threads, rounds, scaling, thread_counts};
use super::{Options, Progress};

/// A function that encodes all pieces in order, and passes the compressed bytes of each on.
pub(super) type Encode<'c, T> =
    Box<dyn Fn(&[Vec<T>], &mut dyn FnMut(&[u8])) -> Result<(), String> + Sync + 'c>;
/// A function that decodes all compressed pieces, and passes the content of each on with its index.
pub(super) type Decode<'c, T> =
    Box<dyn Fn(&[Vec<u8>], &mut dyn FnMut(usize, &[T])) -> Result<(), String> + Sync + 'c>;

/// An engine with its settings, and the pieces that it codes.
pub(super) struct Candidate<'c, T> {
    /// Engine, settings, and what is known of command, memory and random reads. Its `compressed`
    /// counts only bytes that are stored beside the pieces, such as a dictionary;
    /// [`Candidate::check`] adds those of the pieces.
    pub(super) measurement: Measurement,
    /// The content of each piece.
    pub(super) pieces: &'c [Vec<T>],
    pub(super) encode: Encode<'c, T>,
    pub(super) decode: Decode<'c, T>,
}

/// The work that is timed: usually it encodes, or decodes, all pieces once.
enum Pass<'c> {
    /// Works on the calling thread. Several threads each do all of it.
    Each(Box<dyn Fn() -> Result<(), String> + Sync + 'c>),
    /// Works on the given number of threads, which share it.
    Shared(Box<dyn Fn(usize) -> Result<(), String> + Sync + 'c>),
}

impl Pass<'_> {
    /// Does the work on this many threads.
    fn run(&self, threads: usize) -> Result<(), String> {
        match self {
            Pass::Each(work) => on_threads(threads, &|_| work()),
            Pass::Shared(work) => work(threads),
        }
    }

    /// Returns how many times the content is coded on this many threads.
    fn times(&self, threads: usize) -> u64 {
        match self {
            Pass::Each(_) => threads as u64,
            Pass::Shared(_) => 1,
        }
    }
}

/// A candidate that is ready to be timed.
pub(super) struct Checked<'c> {
    /// The measurement, with sizes but without speeds.
    pub(super) measurement: Measurement,
    /// `None` for a candidate that is only decoded.
    encode: Option<Pass<'c>>,
    decode: Pass<'c>,
}

impl<'c, T: PartialEq + Sync> Candidate<'c, T> {
    /// Encodes every piece, decodes the result, and compares the decoded content with the piece.
    /// Fills in the measurement's sizes in bytes.
    ///
    /// # Errors
    /// Returns a sentence that names the settings if a piece cannot be encoded or decoded, or
    /// decodes to other content.
    pub(super) fn check(self) -> Result<Checked<'c>, String> {
        let Candidate { mut measurement, pieces, encode, decode } = self;
        let name = measurement.settings.clone();
        let failed = |what: String| format!("{name}: {what}");
        let mut compressed = Vec::with_capacity(pieces.len());
        encode(pieces, &mut |bytes| compressed.push(bytes.to_vec())).map_err(failed)?;
        let mut equal = 0;
        let mut compare =
            |i: usize, content: &[T]| equal += usize::from(pieces.get(i).is_some_and(|p| p == content));
        decode(&compressed, &mut compare).map_err(failed)?;
        if equal != pieces.len() {
            return Err(failed(format!("{equal} of {} pieces decode to themselves", pieces.len())));
        }
        measurement.content = (pieces.iter().map(Vec::len).sum::<usize>() * size_of::<T>()) as u64;
        measurement.compressed += compressed.iter().map(|bytes| bytes.len() as u64).sum::<u64>();
        let encode = move || encode(pieces, &mut |bytes| _ = black_box(bytes));
        let decode = move || decode(&compressed, &mut |_, content| _ = black_box(content));
        let [encode, decode] = [Pass::Each(Box::new(encode)), Pass::Each(Box::new(decode))];
        Ok(Checked { measurement, encode: Some(encode), decode })
    }
}

impl<'c> Checked<'c> {
    /// Replaces the work that is timed, for commands that do more than encode and decode pieces.
    pub(super) fn coded_by(
        self,
        encode: impl Fn() -> Result<(), String> + Sync + 'c,
        decode: impl Fn() -> Result<(), String> + Sync + 'c,
    ) -> Checked<'c> {
        Checked { encode: Some(Pass::Each(Box::new(encode))), decode: Pass::Each(Box::new(decode)), ..self }
    }

    /// Replaces the work that is timed by that of commands whose threads share a file. The functions
    /// get the number of threads.
    pub(super) fn shared_by(
        self,
        encode: impl Fn(usize) -> Result<(), String> + Sync + 'c,
        decode: impl Fn(usize) -> Result<(), String> + Sync + 'c,
    ) -> Checked<'c> {
        Checked {
            encode: Some(Pass::Shared(Box::new(encode))),
            decode: Pass::Shared(Box::new(decode)),
            ..self
        }
    }

    /// Makes a candidate of existing files, which are only decoded. `measurement` must have the
    /// sizes.
    pub(super) fn decoder(
        measurement: Measurement,
        decode: impl Fn() -> Result<(), String> + Sync + 'c,
    ) -> Checked<'c> {
        Checked { measurement, encode: None, decode: Pass::Each(Box::new(decode)) }
    }
}

/// Times all candidates, and returns their measurements in the same order. Takes at most about as
/// many seconds as the options say, unless two passes of each piece of work take longer.
///
/// # Errors
/// Returns a sentence that names the settings of the candidate that failed.
pub(super) fn time(
    candidates: Vec<Checked<'_>>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Vec<Measurement>, String> {
    let threads = thread_counts(options.threads);
    let session = Session { candidates: &candidates, threads: &threads, options, progress };
    let encode = session.speeds("encoding", |one| one.encode.as_ref())?;
    let decode = session.speeds("decoding", |one| Some(&one.decode))?;
    let with = |((one, encode), decode): ((&Checked<'_>, Speeds), Speeds)| Measurement {
        encode: encode.single,
        decode: decode.single,
        encode_scaling: encode.scaling,
        decode_scaling: decode.scaling,
        ..one.measurement.clone()
    };
    Ok(candidates.iter().zip(encode).zip(decode).map(with).collect())
}

/// Speeds of one candidate, either of encoding or of decoding.
#[derive(Default)]
struct Speeds {
    /// Speed of one thread.
    single: Option<Speed>,
    scaling: Vec<Scaling>,
}

struct Session<'s> {
    candidates: &'s [Checked<'s>],
    /// The numbers of threads to measure, one first.
    threads: &'s [usize],
    options: &'s Options,
    progress: Progress<'s>,
}

impl<'s> Session<'s> {
    /// Times encoding, or decoding, for every candidate on each number of threads. `pass` returns
    /// the work to time, and `what` names it in progress messages. Speeds are empty for a candidate
    /// without that work. Takes at most about half of the seconds of the options. Two passes of
    /// each candidate are run even if they take longer.
    fn speeds(
        &self,
        what: &str,
        pass: impl Fn(&'s Checked<'s>) -> Option<&'s Pass<'s>>,
    ) -> Result<Vec<Speeds>, String> {
        let mut turns = Vec::new();
        for candidate in self.candidates {
            let Some(work) = pass(candidate) else { continue };
            turns.extend(self.threads.iter().map(|&threads| Turn {
                name: format!("{what}, {threads} threads: {}", candidate.measurement.settings),
                bytes: work.times(threads) * candidate.measurement.content,
                clock: Clock::of(threads),
                work: Box::new(move || work.run(threads)),
            }));
        }
        let budget = Duration::from_secs_f64(self.options.seconds.max(0.0) / 2.0);
        let found = rounds(&mut turns, budget, self.progress)?;
        let mut found = found.chunks(self.threads.len());
        let one = |candidate| match pass(candidate).and_then(|_| found.next()) {
            Some(speeds) => Speeds {
                single: speeds.first().copied(),
                scaling: scaling(self.threads, speeds.iter().copied()),
            },
            None => Speeds::default(),
        };
        Ok(self.candidates.iter().map(one).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(pieces: &[Vec<u8>], damage: bool) -> Candidate<'_, u8> {
        Candidate {
            measurement: Measurement { settings: "copy".into(), compressed: 10, ..Measurement::default() },
            pieces,
            encode: Box::new(|pieces, out| {
                pieces.iter().for_each(|piece| out(piece));
                Ok(())
            }),
            decode: Box::new(move |compressed, out| {
                let skipped = usize::from(damage);
                compressed.iter().enumerate().for_each(|(i, bytes)| out(i, &bytes[skipped..]));
                Ok(())
            }),
        }
    }

    #[test]
    fn copied_pieces_have_sizes_and_speeds_in_both_directions() {
        let pieces = [vec![1u8; 300], vec![2; 500]];
        let checked = copy(&pieces, false).check().expect("equal");
        let stored = Measurement { content: 5, compressed: 5, ..Measurement::default() };
        let candidates = vec![Checked::decoder(stored, || Ok(())), checked];
        let options = Options { seconds: 0.01, threads: 2, seed: 1 };
        let found = time(candidates, &options, &|_| {}).expect("no errors");
        assert_eq!((found[1].content, found[1].compressed), (800, 810));
        assert!(found[1].encode.is_some() && found[1].decode_scaling.len() == 1);
        assert!(found[0].encode.is_none() && found[0].encode_scaling.is_empty() && found[0].decode.is_some());
    }

    #[test]
    fn threads_that_share_the_work_code_the_content_once() {
        let pieces = [vec![1u8; 300]];
        let calls = std::sync::Mutex::new(Vec::new());
        let work = |threads: usize| {
            linerate_core::lock(&calls).push(threads);
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        let checked = copy(&pieces, false).check().expect("equal").shared_by(work, work);
        let options = Options { seconds: 0.01, threads: 2, seed: 1 };
        let found = time(vec![checked], &options, &|_| {}).expect("no errors");
        let speed = found[0].decode_scaling[0].speed.high;
        assert!(
            (1.0..=310e3).contains(&speed),
            "300 bytes in a millisecond or longer, on two threads: {speed}"
        );
        let calls = linerate_core::lock(&calls);
        assert!(calls.contains(&1) && calls.contains(&2) && calls.iter().all(|&threads| threads <= 2));
    }

    #[test]
    fn piece_that_decodes_to_another_is_an_error() {
        let pieces = [vec![1u8; 3]];
        let error = copy(&pieces, true).check().err().expect("an error");
        assert_eq!(error, "copy: 0 of 1 pieces decode to themselves");
    }
}
