//! A frame decoded in every way, all of which must give its content.

use linerate_zstd::{Dictionary, Options, Scratch};

use super::ours::{self, Pieces};
use linerate_testkit::data::Noise;

/// Above this the specification, and single bytes, take too long.
const SMALL: usize = 100_000;
const TINY: usize = 3_000;

/// What decoding needs, used again and again.
pub struct Checker {
    forms: Vec<(String, Scratch)>,
    best: Scratch,
    noise: Noise,
    pub frames: usize,
}

impl Default for Checker {
    fn default() -> Self {
        Checker { forms: ours::scratches(), best: Scratch::new(), noise: Noise::new(1), frames: 0 }
    }
}

impl Checker {
    /// Asserts that the frames decode to `content`.
    #[track_caller]
    pub fn check(&mut self, name: &str, src: &[u8], dictionary: &[u8], content: &[u8]) {
        self.check_with(name, Options::new().window_limit(1 << 31), src, dictionary, content);
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
        same("more room", ours::whole(options, best, dictionary, src, most + 1000));
        same("two phases", ours::whole(options.two_phase(true), best, dictionary, src, most));
        let mut random = Pieces::Random(Noise::new(self.noise.number()));
        same("pieces", ours::stream(options, best, dictionary, src, most, &mut random));
        same("one piece", ours::stream(options, best, dictionary, src, most, &mut Pieces::Whole));
        if content.len() <= SMALL {
            for (form, scratch) in &mut self.forms {
                same(form, ours::whole(options, scratch, dictionary, src, most));
                let mut random = Pieces::Random(Noise::new(self.noise.number()));
                same(
                    &format!("{form} in pieces"),
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
            assert!(short.is_err(), "{name}: decoded into too little room");
        }
    }
}

/// Where two contents first differ.
fn first(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
