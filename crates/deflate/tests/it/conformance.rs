//! Output of every level, format, CPU tier and call size round-trips through other decoders.
//! Neither tier nor format changes the blocks.

use linerate_deflate::{Format, Level, Scratch};

use crate::common::data::{self, Noise};
use crate::common::decoders::{assert_decodes, system_gzip};
use crate::common::{CODING, FORMATS, encode, scratches};

/// Encodes in every format on every tier and decodes the output.
fn check(scratches: &mut [Box<Scratch>], name: &str, level: Level, plain: &[u8], chunk: usize) {
    let what = format!("{name}, {level:?}, calls of {chunk}");
    let (portable, others) = scratches.split_first_mut().expect("the scalar tier");
    let [raw, zlib, gzip] = FORMATS.map(|format| {
        let encoded = encode(portable, format, level, plain, chunk);
        for other in &mut *others {
            assert!(encode(other, format, level, plain, chunk) == encoded, "tiers differ: {what}");
        }
        let (header, trailer) = (format.header().len(), format.trailer_len());
        encoded[header..encoded.len() - trailer].to_vec()
    });
    assert!(zlib == raw && gzip == raw, "formats differ: {what}");
    for format in FORMATS {
        let encoded = encode(portable, format, level, plain, chunk);
        let caught = std::panic::catch_unwind(|| assert_decodes(format, &encoded, plain));
        assert!(caught.is_ok(), "{what}, {format:?}");
    }
}

fn check_generated(level: Level) {
    let mut scratches = scratches();
    for (name, plain) in data::generated() {
        let chunks: &[usize] =
            if level < Level::Optimal { &[1 << 20, 70_000, 16_384, 4_096, 1_000] } else { &[1 << 20, 4_096] };
        for &chunk in chunks {
            check(&mut scratches, name, level, &plain, chunk);
        }
        for chunk in [1, 7, 100] {
            check(&mut scratches, name, level, &plain[..plain.len().min(chunk * 200)], chunk);
        }
    }
}

fn check_corpus(level: Level) {
    let mut scratches = scratches();
    for (name, plain) in linerate_testkit::testdata::corpus() {
        for chunk in [plain.len(), 65_536, 16_384, 1_024] {
            check(&mut scratches, &name, level, &plain, chunk);
        }
    }
}

fn check_short(level: Level) {
    let mut scratches = scratches();
    let noise = &mut Noise::new(3);
    for kind in 0..6 {
        let plain = data::piece(noise, kind, 300);
        for len in 0..plain.len() {
            check(&mut scratches, "short", level, &plain[..len], 300);
        }
    }
    for len in [258, 259, 260, 261, 516, 517, 65_534, 65_535, 65_536, 65_537, 100_000] {
        check(&mut scratches, "one symbol", level, &vec![b'a'; len], len);
    }
}

fn check_geometry(level: Level) {
    let mut scratches = scratches();
    let noise = &mut Noise::new(4);
    for distance in [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 257, 258, 259] {
        for len in [3, 4, 5, 10, 11, 16, 17, 257, 258, 259, 260, 261, 516, 517, 1_000] {
            let plain = data::repeat(noise, distance, len);
            check(&mut scratches, &format!("{len} from {distance}"), level, &plain, 1 << 20);
        }
    }
    for distance in [32_764, 32_765, 32_766, 32_767, 32_768, 32_769, 32_770] {
        for len in [4, 258, 259, 2_000] {
            let plain = data::repeat(noise, distance, len);
            check(&mut scratches, &format!("{len} from {distance}"), level, &plain, 1 << 20);
        }
    }
}

macro_rules! for_each_level {
    ($($check:ident { $($name:ident $level:ident)* })*) => {$($(
        #[test]
        fn $name() {
            $check(Level::$level);
        }
    )*)*};
}

for_each_level! {
    check_generated {
        generated_stored Stored generated_fast Fast generated_default Default generated_deeper Deeper generated_best Best
    }
    check_corpus { corpus_stored Stored corpus_fast Fast corpus_default Default corpus_deeper Deeper corpus_best Best }
    check_short { short_stored Stored short_fast Fast short_default Default short_deeper Deeper short_best Best }
    check_geometry { geometry_fast Fast geometry_default Default geometry_deeper Deeper geometry_best Best }
}

#[test]
fn gzip_program_decodes_every_member() {
    let mut scratch = Scratch::boxed();
    let (mut members, mut plain) = (Vec::new(), Vec::new());
    let inputs = linerate_testkit::testdata::corpus()
        .into_iter()
        .chain(data::generated().into_iter().map(|(name, data)| (name.to_owned(), data)));
    for (_, input) in inputs {
        for level in Level::ALL {
            for chunk in [1 << 20, 16_384, 1_024] {
                members.extend(encode(&mut scratch, Format::Gzip, level, &input, chunk));
                plain.extend_from_slice(&input);
            }
        }
    }
    let found = system_gzip(members);
    assert!(found.is_none_or(|found| found == plain));
}

#[test]
fn matches_reach_the_whole_window_and_no_further() {
    for level in CODING {
        let [within, beyond] = [32_768, 32_769].map(|distance| {
            let plain = data::repeat(&mut Noise::new(5), distance, 8_000);
            encode(&mut Scratch::boxed(), Format::Deflate, level, &plain, 1 << 20).len()
        });
        assert!(within + 4_000 < beyond, "{level:?}: {within} bytes, {beyond} without the repeat");
    }
}

#[test]
fn level_3_takes_matches_of_3_bytes_among_16_bit_samples() {
    let (mut scratch, plain) = (Scratch::boxed(), data::samples(&mut Noise::new(9), 200_000));
    let [default, high] = [Level::Default, Level::High]
        .map(|level| encode(&mut scratch, Format::Deflate, level, &plain, plain.len()).len());
    assert!(high * 100 < default * 94, "{high} of {default}");
}

/// On two random letters a parse settles in a local minimum near its first costs. Parsing again
/// from the costs of the fixed trees saves more than 1 %.
#[test]
fn level_9_parses_blocks_of_few_literals_from_two_starts() {
    let noise = &mut Noise::new(5);
    let plain: Vec<u8> = (0..40_000).map(|_| noise.pick(b"ab")).collect();
    let expected = encode(&mut Scratch::boxed(), Format::Deflate, Level::Best, &plain, plain.len());
    assert!(expected.len() <= 5_830, "{} bytes", expected.len());
    assert_decodes(Format::Deflate, &expected, &plain);
    for scratch in &mut scratches() {
        for _ in 0..2 {
            let found = encode(scratch, Format::Deflate, Level::Best, &plain, plain.len());
            assert!(found == expected, "{} bytes", found.len());
        }
    }
}

#[test]
fn level_1_fits_trees_to_16_bit_samples() {
    let (mut scratch, plain) = (Scratch::boxed(), data::samples(&mut Noise::new(9), 200_000));
    for chunk in [plain.len(), 16_384] {
        let n = encode(&mut scratch, Format::Deflate, Level::Fast, &plain, chunk).len();
        assert!(n * 100 < plain.len() * 90, "{n} of {}, calls of {chunk}", plain.len());
    }
}
