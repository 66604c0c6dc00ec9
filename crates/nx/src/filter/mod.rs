//! Reversible filters for block-compressed textures. A filter groups fields of the same meaning, so
//! that a compressor finds longer matches and more uniform statistics.
//!
//! A filter is a bijection on byte strings of any length. It keeps the length, and
//! [`Filter::invert`] restores any input, whether it is a texture or not. Bytes after the last
//! whole block stay in place. `docs/nx/filters-reference.md` has the bit layout of each filter.
//!
//! ```
//! use linerate_nx::filter::{Filter, TextureFormat};
//!
//! let texels: Vec<u8> = (0..1000).map(|i| (i % 251) as u8).collect();
//! let (mut filtered, mut restored) = (vec![0; texels.len()], vec![0; texels.len()]);
//! for filter in TextureFormat::Bc1.filters() {
//!     filter.apply(&texels, &mut filtered);
//!     filter.invert(&filtered, &mut restored);
//!     assert_eq!(restored, texels);
//! }
//! ```
//!
//! | module | content |
//! |---|---|
//! | `bc7` | aligns the endpoints of BC7 blocks |
//! | `bc7_bits` | does the same bit by bit, for tests |
//! | `color` | decorrelates 5:6:5 colours |
//! | `detect` | finds texels by the header of a file: DDS, KTX 2.0 |
//! | `guess` | finds texels by their statistics |
//! | `modes` | groups blocks of BC6H and BC7 by mode |
//! | `streams` | splits BC1 to BC5, whose fields have fixed offsets |

pub(crate) mod bc7;
#[cfg(test)]
mod bc7_bits;
pub(crate) mod color;
mod detect;
mod guess;
pub(crate) mod modes;
mod streams;

pub use detect::{MAX_HEAD, Texture, detect};
pub use guess::guess;

use linerate_core::Tier;
use streams::Half;

/// A reversible transform of the bytes of a texture. The discriminants are stable numbers of the
/// archive format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Filter {
    /// BC1: endpoints, then indices.
    Bc1Split = 1,
    /// BC1: endpoints as YCoCg, then indices.
    Bc1Ycocg = 2,
    /// BC2: alpha, endpoints, indices.
    Bc2Split = 3,
    /// BC2: alpha, endpoints as YCoCg, indices.
    Bc2Ycocg = 4,
    /// BC3: alpha endpoints, alpha indices, endpoints, indices.
    Bc3Split = 5,
    /// BC3: alpha endpoints, alpha indices, endpoints as YCoCg, indices.
    Bc3Ycocg = 6,
    /// BC4: endpoints, then indices.
    Bc4Split = 7,
    /// BC5: first endpoints of both channels, second endpoints, indices of both.
    Bc5Split = 8,
    /// BC6H: modes; then endpoints by mode; then indices by mode.
    Bc6hModes = 9,
    /// BC7: modes; then endpoints by mode; then indices by mode.
    Bc7Modes = 10,
    /// BC7: as `Bc7Modes`, and in modes 1, 3 and 6 the endpoints are aligned to bytes, with green
    /// subtracted from red and blue.
    Bc7Aligned = 11,
}

impl Filter {
    /// All filters, by number.
    pub const ALL: &[Filter] = &[
        Filter::Bc1Split,
        Filter::Bc1Ycocg,
        Filter::Bc2Split,
        Filter::Bc2Ycocg,
        Filter::Bc3Split,
        Filter::Bc3Ycocg,
        Filter::Bc4Split,
        Filter::Bc5Split,
        Filter::Bc6hModes,
        Filter::Bc7Modes,
        Filter::Bc7Aligned,
    ];

    /// Returns the number of the filter in archives. The first is 1.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// Returns the filter with this number.
    pub const fn from_id(id: u8) -> Option<Filter> {
        let mut i = 0;
        while i < Filter::ALL.len() {
            if Filter::ALL[i].id() == id {
                return Some(Filter::ALL[i]);
            }
            i += 1;
        }
        None
    }

    /// Returns the name, which consists of format and variant.
    pub const fn name(self) -> &'static str {
        match self {
            Filter::Bc1Split => "bc1-split",
            Filter::Bc1Ycocg => "bc1-ycocg",
            Filter::Bc2Split => "bc2-split",
            Filter::Bc2Ycocg => "bc2-ycocg",
            Filter::Bc3Split => "bc3-split",
            Filter::Bc3Ycocg => "bc3-ycocg",
            Filter::Bc4Split => "bc4-split",
            Filter::Bc5Split => "bc5-split",
            Filter::Bc6hModes => "bc6h-modes",
            Filter::Bc7Modes => "bc7-modes",
            Filter::Bc7Aligned => "bc7-aligned",
        }
    }

    /// Returns the filter of this name.
    pub fn from_name(name: &str) -> Option<Filter> {
        Filter::ALL.iter().copied().find(|filter| filter.name() == name)
    }

    /// Returns the texture format that the filter is for.
    pub const fn format(self) -> TextureFormat {
        match self {
            Filter::Bc1Split | Filter::Bc1Ycocg => TextureFormat::Bc1,
            Filter::Bc2Split | Filter::Bc2Ycocg => TextureFormat::Bc2,
            Filter::Bc3Split | Filter::Bc3Ycocg => TextureFormat::Bc3,
            Filter::Bc4Split => TextureFormat::Bc4,
            Filter::Bc5Split => TextureFormat::Bc5,
            Filter::Bc6hModes => TextureFormat::Bc6h,
            Filter::Bc7Modes | Filter::Bc7Aligned => TextureFormat::Bc7,
        }
    }

    /// Filters `content` into `filtered`.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    pub fn apply(self, content: &[u8], filtered: &mut [u8]) {
        assert_eq!(content.len(), filtered.len(), "a filter keeps the length");
        let (blocks, tail) = content.split_at(self.whole_blocks(content.len()));
        let (streams, end) = filtered.split_at_mut(blocks.len());
        end.copy_from_slice(tail);
        match self {
            Filter::Bc5Split => streams::apply_bc5(blocks, streams),
            Filter::Bc6hModes => modes::apply(&modes::BC6H, |block| block, blocks, streams),
            Filter::Bc7Modes => modes::apply(&modes::BC7, |block| block, blocks, streams),
            Filter::Bc7Aligned => modes::apply(&modes::BC7, bc7::align, blocks, streams),
            _ => streams::apply(self.halves(), blocks, streams),
        }
    }

    /// Returns the end offsets of the streams in `filtered`, in ascending order. Empty streams
    /// repeat an offset. A tail that is not filtered may follow the last stream. Needs the feature
    /// `pack`.
    #[cfg(feature = "pack")]
    pub fn stream_ends(self, filtered: &[u8]) -> Vec<usize> {
        let streams = &filtered[..self.whole_blocks(filtered.len())];
        let count = streams.len() / self.format().block_bytes();
        match self {
            Filter::Bc5Split => vec![2 * count, 4 * count, 16 * count],
            Filter::Bc6hModes => modes::stream_ends(&modes::BC6H, &streams[..count]),
            Filter::Bc7Modes | Filter::Bc7Aligned => modes::stream_ends(&modes::BC7, &streams[..count]),
            _ => streams::stream_ends(self.halves(), count),
        }
    }

    /// Returns the approximate time of the inverse, in picoseconds per byte.
    #[cfg(feature = "pack")]
    pub(crate) const fn inverse_time(self) -> u64 {
        match self {
            Filter::Bc6hModes | Filter::Bc7Modes => 80,
            Filter::Bc7Aligned => 140,
            Filter::Bc1Split => 40,
            _ => 60,
        }
    }

    /// Restores into `content` the bytes from which [`apply`](Filter::apply) made `filtered`. Bytes
    /// of any length and content are valid.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    pub fn invert(self, filtered: &[u8], content: &mut [u8]) {
        self.invert_with(linerate_core::cpu::tier(), filtered, content);
    }

    /// Runs [`invert`](Filter::invert) as compiled for a CPU tier.
    fn invert_with(self, tier: Tier, filtered: &[u8], content: &mut [u8]) {
        assert_eq!(content.len(), filtered.len(), "a filter keeps the length");
        let (streams, end) = filtered.split_at(self.whole_blocks(filtered.len()));
        let (blocks, tail) = content.split_at_mut(streams.len());
        tail.copy_from_slice(end);
        match self {
            Filter::Bc5Split => streams::invert_bc5(tier, streams, blocks),
            Filter::Bc6hModes => modes::invert::<false>(tier, &modes::BC6H, streams, blocks),
            Filter::Bc7Modes => modes::invert::<false>(tier, &modes::BC7, streams, blocks),
            Filter::Bc7Aligned => modes::invert::<true>(tier, &modes::BC7, streams, blocks),
            _ => streams::invert(tier, self.halves(), streams, blocks),
        }
    }

    /// Returns the number of bytes in whole blocks, out of `len` bytes.
    fn whole_blocks(self, len: usize) -> usize {
        len - len % self.format().block_bytes()
    }

    /// Returns the halves of a block of BC1 to BC4.
    fn halves(self) -> &'static [Half] {
        match self {
            Filter::Bc1Split => &[Half::Color],
            Filter::Bc1Ycocg => &[Half::Ycocg],
            Filter::Bc2Split => &[Half::Values, Half::Color],
            Filter::Bc2Ycocg => &[Half::Values, Half::Ycocg],
            Filter::Bc3Split => &[Half::Alpha, Half::Color],
            Filter::Bc3Ycocg => &[Half::Alpha, Half::Ycocg],
            Filter::Bc4Split => &[Half::Alpha],
            _ => unreachable!("fields at offsets that vary"),
        }
    }
}

/// The format in which the texels of a texture are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextureFormat {
    /// BC1 (DXT1): 8 bytes per 4 by 4 texels.
    Bc1,
    /// BC2 (DXT2, DXT3): 16 bytes per 4 by 4 texels.
    Bc2,
    /// BC3 (DXT4, DXT5): 16 bytes per 4 by 4 texels.
    Bc3,
    /// BC4 (ATI1): 8 bytes per 4 by 4 texels.
    Bc4,
    /// BC5 (ATI2): 16 bytes per 4 by 4 texels.
    Bc5,
    /// BC6H: 16 bytes per 4 by 4 texels.
    Bc6h,
    /// BC7: 16 bytes per 4 by 4 texels.
    Bc7,
}

impl TextureFormat {
    /// All formats.
    pub const ALL: &[TextureFormat] = &[
        TextureFormat::Bc1,
        TextureFormat::Bc2,
        TextureFormat::Bc3,
        TextureFormat::Bc4,
        TextureFormat::Bc5,
        TextureFormat::Bc6h,
        TextureFormat::Bc7,
    ];

    /// Returns the filters that packing tries on this format. Readers undo every [`Filter`], but
    /// those of BC2 are no longer written: no real textures were found to show that they pay.
    pub const fn filters(self) -> &'static [Filter] {
        match self {
            TextureFormat::Bc1 => &[Filter::Bc1Split, Filter::Bc1Ycocg],
            TextureFormat::Bc2 => &[],
            TextureFormat::Bc3 => &[Filter::Bc3Split, Filter::Bc3Ycocg],
            TextureFormat::Bc4 => &[Filter::Bc4Split],
            TextureFormat::Bc5 => &[Filter::Bc5Split],
            TextureFormat::Bc6h => &[Filter::Bc6hModes],
            TextureFormat::Bc7 => &[Filter::Bc7Modes, Filter::Bc7Aligned],
        }
    }

    /// Returns the name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            TextureFormat::Bc1 => "bc1",
            TextureFormat::Bc2 => "bc2",
            TextureFormat::Bc3 => "bc3",
            TextureFormat::Bc4 => "bc4",
            TextureFormat::Bc5 => "bc5",
            TextureFormat::Bc6h => "bc6h",
            TextureFormat::Bc7 => "bc7",
        }
    }

    /// Returns the format of this name.
    pub fn from_name(name: &str) -> Option<TextureFormat> {
        TextureFormat::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// Returns the size of a block of 4 by 4 texels in bytes. Blocks follow each other without
    /// gaps.
    pub const fn block_bytes(self) -> usize {
        match self {
            TextureFormat::Bc1 | TextureFormat::Bc4 => 8,
            _ => 16,
        }
    }
}

#[cfg(test)]
mod tests {
    use linerate_testkit::data::Noise;

    use super::*;

    /// Returns lengths around multiples of every block size, and some that are more than any CPU
    /// tier handles at once.
    fn lengths() -> impl Iterator<Item = usize> {
        (0..70).chain([127, 128, 129, 511, 512, 1000, 4096, 5000, 16_384 + 5, 70_000])
    }

    #[test]
    fn every_tier_inverts_every_filter_at_every_length() {
        let mut noise = Noise::new(1);
        for len in lengths() {
            let content = noise.bytes(len);
            let (mut filtered, mut restored) = (vec![0; len], vec![0; len]);
            for &filter in Filter::ALL {
                filter.apply(&content, &mut filtered);
                for tier in Tier::ALL {
                    restored.fill(0);
                    filter.invert_with(tier, &filtered, &mut restored);
                    assert_eq!(restored, content, "{} of {len} bytes, {}", filter.name(), tier.name());
                }
            }
        }
    }

    #[test]
    fn every_tier_inverts_bc7_of_one_mode_and_of_all_in_equal_parts() {
        let mut noise = Noise::new(2);
        for (len, modes) in [(5 * 16, 0..9), (70 * 16, 0..9), (900 * 16, 0..9), (4000 * 16, 0..9)]
            .into_iter()
            .flat_map(|(len, all)| all.clone().map(move |mode| (len, mode..mode + 1)).chain([(len, all)]))
        {
            let mut content = noise.bytes(len);
            for block in content.as_chunks_mut::<16>().0 {
                let mode = modes.start + noise.number() as u32 % (modes.end - modes.start);
                block[0] = (u32::from(block[0] | 1) << mode) as u8;
            }
            let (mut filtered, mut restored) = (vec![0; len], vec![0; len]);
            for filter in [Filter::Bc7Modes, Filter::Bc7Aligned] {
                filter.apply(&content, &mut filtered);
                for tier in Tier::ALL {
                    restored.fill(0);
                    filter.invert_with(tier, &filtered, &mut restored);
                    assert!(restored == content, "{} {modes:?}, {len} bytes, {}", filter.name(), tier.name());
                }
            }
        }
    }

    #[test]
    fn numbers_and_names_are_found_again() {
        for (i, &filter) in Filter::ALL.iter().enumerate() {
            assert_eq!(usize::from(filter.id()), i + 1);
            assert_eq!(Filter::from_id(filter.id()), Some(filter));
            assert_eq!(Filter::from_name(filter.name()), Some(filter));
            let is_written = filter.format() != TextureFormat::Bc2;
            assert_eq!(filter.format().filters().contains(&filter), is_written);
        }
        assert_eq!(Filter::from_id(0), None);
        assert_eq!(Filter::from_id(Filter::ALL.len() as u8 + 1), None);
    }
}
