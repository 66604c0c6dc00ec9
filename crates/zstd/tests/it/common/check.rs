//! Decodes a frame in every way, and compares the results with its content.

use linerate_zstd::{Dictionary, Options, Scratch};

use super::ours::{self, Pieces};
use linerate_testkit::data::Noise;

/// Largest number of bytes of content that all kernels decode. The reference kernels are slow.
const SMALL: usize = 100_000;
/// Largest number of bytes of frame and content together that are decoded byte by byte.
const TINY: usize = 3_000;

/// Reusable decoder state.
pub struct Checker {
    scratches: Vec<(String, Scratch)>,
    best: Scratch,
    noise: Noise,
    pub frames: usize,
}

impl Default for Checker {
    fn default() -> Self {
        Checker { scratches: ours::scratches(), best: Scratch::new(), noise: Noise::new(1), frames: 0 }
    }
}

impl Checker {
    /// Asserts that the frames decode to `content`.
    #[track_caller]
    pub fn check(&mut self, name: &str, src: &[u8], dictionary: &[u8], content: &[u8]) {
        self.check_with(name, Options::new().window_limit(1 << 31), src, dictionary, content);
    }

    /// Asserts that the frames decode to `content` in one call, by every kernel.
    #[track_caller]
    pub fn check_whole(&mut self, name: &str, src: &[u8], dictionary: &[u8], content: &[u8]) {
        self.frames += 1;
        let digested = Dictionary::new(dictionary).expect("a dictionary");
        for (kernels, scratch) in &mut self.scratches {
            let got = ours::whole(Options::new(), scratch, Some(&digested), src, content.len());
            assert!(got.as_deref() == Ok(content), "{name}, {kernels}: {:?}", got.err());
        }
    }

    #[track_caller]
    pub fn check_with(
        &mut self,
        name: &str,
        options: Options,
        src: &[u8],
        dictionary: &[u8],
        content: &[u8],
    ) {
        self.frames += 1;
        let digested = (!dictionary.is_empty()).then(|| Dictionary::new(dictionary).expect("a dictionary"));
        let dictionary = digested.as_ref();
        let most = content.len();
        let same = |how: &str, got: Result<Vec<u8>, linerate_zstd::Error>| match got {
            Ok(bytes) if bytes == content => {}
            Ok(bytes) => {
                panic!("{name}, {how}: {} bytes, different from {}", bytes.len(), first(&bytes, content))
            }
            Err(e) => panic!("{name}, {how}: {e}"),
        };
        let best = &mut self.best;
        same("whole", ours::whole(options, best, dictionary, src, most));
        same("a larger buffer", ours::whole(options, best, dictionary, src, most + 1000));
        same("two phases", ours::whole(options.two_phase(true), best, dictionary, src, most));
        let mut random = Pieces::Random(Noise::new(self.noise.number()));
        same("pieces", ours::stream(options, best, dictionary, src, most, &mut random));
        same("one piece", ours::stream(options, best, dictionary, src, most, &mut Pieces::Whole));
        if content.len() <= SMALL {
            for (kernels, scratch) in &mut self.scratches {
                same(kernels, ours::whole(options, scratch, dictionary, src, most));
                let mut random = Pieces::Random(Noise::new(self.noise.number()));
                same(
                    &format!("{kernels} in pieces"),
                    ours::stream(options, scratch, dictionary, src, most, &mut random),
                );
            }
        }
        if src.len() + content.len() <= TINY {
            let best = &mut self.best;
            for mut pieces in [Pieces::Each(1, 1), Pieces::Each(1, 1 << 17), Pieces::Each(usize::MAX, 1)] {
                same("bytes", ours::stream(options, best, dictionary, src, most, &mut pieces));
            }
        }
        if most > 0 {
            let short = ours::whole(options, &mut self.best, dictionary, src, most - 1);
            assert!(short.is_err(), "{name}: decoded into too small a buffer");
        }
    }
}

/// Returns the position where two contents first differ.
fn first(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
