//! Finds texel data without a header by its statistics.
//!
//! The order of a block's two endpoints selects a mode. A block of BC1, for instance, has four
//! colours if the greater colour comes first, otherwise three colours and transparency. So almost
//! all blocks of a texture have their endpoints in the same order, and the endpoints of a block are
//! near each other. BC7 has no such order, but encoders seldom choose modes 0 and 2, which 5 of 8
//! random blocks have.

use super::TextureFormat;

/// Length in bytes of a run, a sampled part of the data. It is a multiple of every block size.
const RUN: usize = 512;
/// Maximum number of sampled runs, which are evenly spaced.
const RUNS: usize = 32;
/// Minimum number of runs in a sample. Shorter data is not guessed.
const MIN_RUNS: usize = 8;

/// 16 bytes: one block, or two blocks of BC1.
type Block = [u8; 16];

/// Guesses the format of texels from a sample of at most 16 KiB: BC1, BC3, BC5 or BC7. The first
/// block must begin at the start of `bytes`. Returns `None` unless the statistics are clear, and
/// for less than 4 KiB. Other data is hardly ever taken for texels. Some texels are not recognised,
/// especially flat areas.
pub fn guess(bytes: &[u8]) -> Option<TextureFormat> {
    let runs = (bytes.len() / RUN).min(RUNS);
    if runs < MIN_RUNS {
        return None;
    }
    let step = bytes.len() / runs / RUN * RUN;
    let sample: Vec<Block> =
        (0..runs).flat_map(|i| bytes[i * step..][..RUN].as_chunks().0).copied().collect();
    let colors = [0, 8].map(|offset| has_colors(&sample, offset));
    let ascending_alpha = count(&sample, |block| block[0] < block[1]);
    match colors {
        [true, true] => Some(TextureFormat::Bc1),
        [false, true] if ascending_alpha * 5 < sample.len() => Some(TextureFormat::Bc3),
        [true, false] => None,
        _ if has_alpha(&sample, 0) && has_alpha(&sample, 8) => Some(TextureFormat::Bc5),
        _ => has_modes(&sample).then_some(TextureFormat::Bc7),
    }
}

fn count(sample: &[Block], is: impl Fn(&Block) -> bool) -> usize {
    sample.iter().filter(|block| is(block)).count()
}

/// Whether blocks have colour endpoints at `offset`. More than 1/4 of the pairs must have two
/// different endpoints. More than 95 % of these pairs must have the same order, and more than 3/4 a
/// second colour above 0. Their greens must differ by less than 12 on average; those of random
/// pairs differ by 21.
fn has_colors(sample: &[Block], offset: usize) -> bool {
    let pair = |block: &Block| {
        let color = |at: usize| u16::from_le_bytes([block[offset + at], block[offset + at + 1]]);
        (color(0), color(2))
    };
    let green = |color: u16| (color >> 5) & 63;
    let descending = count(sample, |block| pair(block).0 > pair(block).1);
    let ascending = count(sample, |block| pair(block).0 < pair(block).1);
    let different = descending + ascending;
    let bright = count(sample, |block| pair(block).0 != pair(block).1 && pair(block).1 != 0);
    let distance: usize =
        sample.iter().map(pair).map(|(a, b)| usize::from(green(a).abs_diff(green(b)))).sum();
    different * 4 > sample.len()
        && descending.min(ascending) * 20 < different
        && bright * 4 > different * 3
        && distance < different * 12
}

/// Whether blocks have alpha endpoints at `offset`. More than 1/5 of the pairs must be descending
/// and less than 2 % ascending. Of the descending pairs, more than 3/4 must have a second endpoint
/// of at least 16, and their endpoints must differ by less than 48 on average.
fn has_alpha(sample: &[Block], offset: usize) -> bool {
    let pair = |block: &Block| (block[offset], block[offset + 1]);
    let descending = count(sample, |block| pair(block).0 > pair(block).1);
    let ascending = count(sample, |block| pair(block).0 < pair(block).1);
    let bright = count(sample, |block| pair(block).0 > pair(block).1 && pair(block).1 >= 16);
    let distance: usize = sample.iter().map(pair).map(|(a, b)| usize::from(a.saturating_sub(b))).sum();
    descending * 5 > sample.len()
        && ascending * 50 < sample.len()
        && bright * 4 > descending * 3
        && distance < descending * 48
}

/// Whether these are blocks of BC7. Less than 2 % of the first bytes may give mode 0, mode 2 or a
/// reserved mode, while more than 1/4 of the sixth bytes would. There must be at least 16 different
/// first bytes, and both endpoints of a block of mode 6 must on average be near each other in red
/// and in green.
fn has_modes(sample: &[Block]) -> bool {
    let is_rare = |byte: u8| matches!(byte.trailing_zeros(), 0 | 2 | 8);
    let mut first_bytes = [false; 256];
    sample.iter().for_each(|block| first_bytes[usize::from(block[0])] = true);
    let field = |block: &Block, bit: u32| ((u128::from_le_bytes(*block) >> bit) & 127) as u8;
    let (mut mode_6, mut distance) = (0, 0);
    for block in sample.iter().filter(|block| block[0].trailing_zeros() == 6) {
        mode_6 += 1;
        distance += usize::from(field(block, 7).abs_diff(field(block, 14)));
        distance += usize::from(field(block, 21).abs_diff(field(block, 28)));
    }
    count(sample, |block| is_rare(block[0])) * 50 < sample.len()
        && count(sample, |block| is_rare(block[5])) * 4 > sample.len()
        && first_bytes.iter().filter(|&&seen| seen).count() >= 16
        && (mode_6 == 0 || distance < mode_6 * 40)
}
