//! Uncompressed texels: channels apart, decorrelated.

use linerate_core::Tier;

use super::color::to_ycocg;
use crate::kernel::planes;

/// Channels of a 32-bit texel. Green is the second one whichever of red and blue comes first.
const CHANNELS: usize = 4;

/// Takes texels apart, each channel a stream; with `GREEN` less green in the first and the third.
pub(crate) fn split_rgba8<const GREEN: bool>(texels: &[u8], streams: &mut [u8]) {
    let len = texels.len() / CHANNELS;
    for (i, texel) in texels.as_chunks::<CHANNELS>().0.iter().enumerate() {
        let green = if GREEN { texel[1] } else { 0 };
        streams[i] = texel[0].wrapping_sub(green);
        streams[len + i] = texel[1];
        streams[2 * len + i] = texel[2].wrapping_sub(green);
        streams[3 * len + i] = texel[3];
    }
}

/// Puts texels together again.
pub(crate) fn join_rgba8<const GREEN: bool>(tier: Tier, streams: &[u8], texels: &mut [u8]) {
    let mut planes = streams.chunks_exact((texels.len() / CHANNELS).max(1));
    let planes = [(); CHANNELS].map(|()| planes.next().unwrap_or_default());
    planes::join_4::<GREEN>(tier, planes, texels.as_chunks_mut().0);
}

/// Takes 16-bit texels apart, as YCoCg: low bytes, then high bytes.
pub(crate) fn split_rgb565(texels: &[u8], streams: &mut [u8]) {
    let (low, high) = streams.split_at_mut(texels.len() / 2);
    for ((texel, low), high) in texels.as_chunks().0.iter().zip(low).zip(high) {
        [*low, *high] = to_ycocg(u16::from_le_bytes(*texel)).to_le_bytes();
    }
}

/// Puts 16-bit texels together again.
pub(crate) fn join_rgb565(tier: Tier, streams: &[u8], texels: &mut [u8]) {
    let (low, high) = streams.split_at(texels.len() / 2);
    planes::join_ycocg(tier, low, high, texels.as_chunks_mut().0);
}
