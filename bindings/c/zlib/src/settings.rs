//! The arguments of `deflateInit2`. They decide whether this library's encoder compresses a stream
//! (*serves* it) or leaves it to zlib, and which of the encoder's levels it uses.

use std::ffi::c_int;

use linerate_deflate::Level;
use linerate_deflate::checksum::{ADLER32_START, CRC32_START};

/// Container of the deflate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Raw,
    Zlib,
    Gzip,
}

/// `Z_DEFLATED`.
const DEFLATED: c_int = 8;
/// The strategy `Z_HUFFMAN_ONLY`.
const HUFFMAN_ONLY: c_int = 2;
/// The strategy `Z_RLE`.
const RLE: c_int = 3;
/// The strategy `Z_FIXED`.
const FIXED: c_int = 4;

/// Memory in bytes that zlib allocates for a stream in addition to its tables. Callers that compute
/// zlib's memory in advance include it.
const ZLIB_STATE: usize = 5888;
/// Largest buffer of history and gathered input, in bytes: 32 KiB of history and 64 KiB of new
/// input. The limit costs no ratio, and the encoder has to index the history only once per 64 KiB
/// of input.
const MAX_INPUT: usize = 96 << 10;
/// Memory reserved for the stream itself, header, trailer and flush, in bytes.
const OVERHEAD: usize = 768;

/// The arguments of `deflateInit2`, as the caller passed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) level: c_int,
    pub(crate) method: c_int,
    pub(crate) window_bits: c_int,
    pub(crate) mem_level: c_int,
    pub(crate) strategy: c_int,
}

impl Settings {
    /// Returns the settings of `deflateInit`.
    pub(crate) fn of_level(level: c_int) -> Settings {
        Settings { level, method: DEFLATED, window_bits: 15, mem_level: 8, strategy: 0 }
    }

    /// Returns whether this library's encoder compresses streams with these settings. All other
    /// streams are left to zlib, which also rejects invalid arguments.
    pub(crate) fn are_served(&self) -> bool {
        let window = match self.window_bits {
            -15..=-9 => -self.window_bits,
            25..=31 => self.window_bits - 16,
            bits => bits,
        };
        self.method == DEFLATED
            && matches!(self.level, -1 | 1..=6)
            && self.strategy == 0
            && matches!(window, 9..=15)
            && matches!(self.mem_level, 1..=9)
    }

    pub(crate) fn container(&self) -> Container {
        match self.window_bits {
            ..0 => Container::Raw,
            0..16 => Container::Zlib,
            16.. => Container::Gzip,
        }
    }

    /// Returns the initial checksum, or `None` for raw streams, whose `adler` belongs to the
    /// caller.
    pub(crate) fn checksum_start(&self) -> Option<u32> {
        match self.container() {
            Container::Raw => None,
            Container::Zlib => Some(ADLER32_START),
            Container::Gzip => Some(CRC32_START),
        }
    }

    /// Returns the base-2 logarithm of the window in bytes. It is 9 to 15 for the streams that the
    /// encoder serves; for others, the value may be out of this range.
    pub(crate) fn window_bits(&self) -> u8 {
        let bits = self.window_bits.unsigned_abs();
        (if bits > 15 { bits - 16 } else { bits }) as u8
    }

    /// Returns the encoder's level for the caller's level and strategy: one that takes less time
    /// than zlib's level for about the same ratio. Levels that would allocate more than zlib does
    /// are excluded.
    ///
    /// `deflateParams` may have changed a running stream to a level or strategy for which the
    /// encoder would not have begun it. Level 0 and `Z_HUFFMAN_ONLY` then store, `Z_RLE` and
    /// `Z_FIXED` search for fewer matches, and levels 7 to 9 use the encoder's level 7.
    pub(crate) fn engine_level(&self) -> Level {
        match (self.level, self.strategy) {
            (0, _) | (_, HUFFMAN_ONLY) => Level::Stored,
            (_, RLE | FIXED) => Level::Fast,
            (1, _) => Level::Default,
            (2 | 3, _) => Level::High,
            (4, _) => Level::Lazy,
            (5, _) => Level::Deep,
            (7..=9, _) => Level::Deepest,
            _ => Level::Deeper,
        }
    }

    /// Returns the kind of search that zlib uses (0 none, 1 fast, 2 lazy) and the strategy. When
    /// `deflateParams` changes either, zlib compresses earlier input first.
    pub(crate) fn zlib_search(&self) -> (u8, c_int) {
        let search = match self.level {
            0 => 0,
            1..=3 => 1,
            _ => 2,
        };
        (search, self.strategy)
    }

    /// Returns the most memory that a stream may allocate, in bytes: what zlib allocates for the
    /// same window and memory level.
    pub(crate) fn budget(&self) -> usize {
        (1 << (self.window_bits() + 2)) + (1 << (self.mem_level + 9)) + ZLIB_STATE
    }

    /// Returns the capacity for history and gathered input, in bytes: more than one window.
    pub(crate) fn input_capacity(&self) -> usize {
        // Half of the budget is for input. The other half is for the output, to which stored blocks
        // add 5 bytes per 65,535.
        ((self.budget() - OVERHEAD) / 2 - 16).min(MAX_INPUT)
    }

    /// Returns FLEVEL of the zlib header (RFC 1950, section 2.2).
    pub(crate) fn zlib_level(&self) -> u8 {
        match self.level {
            0 | 1 => 0,
            2..=5 => 1,
            6 | -1 => 2,
            _ => 3,
        }
    }

    /// Returns XFL of the gzip header (RFC 1952, section 2.3.1).
    pub(crate) fn gzip_flags(&self) -> u8 {
        match self.level {
            0 | 1 => 4,
            9 => 2,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_gathered_beyond_the_window() {
        for window_bits in 9..=15 {
            for mem_level in 1..=9 {
                let settings = Settings { window_bits, mem_level, ..Settings::of_level(6) };
                assert!(settings.input_capacity() >= (1 << window_bits) + 512, "{window_bits} {mem_level}");
            }
        }
    }

    #[test]
    fn streams_that_zlib_does_or_refuses_are_not_served() {
        let usual = Settings::of_level(-1);
        assert!(usual.are_served());
        for level in [-2, 0, 7, 9, 10] {
            assert!(!Settings { level, ..usual }.are_served());
        }
        for window_bits in [-16, -8, 0, 8, 16, 24, 32] {
            assert!(!Settings { window_bits, ..usual }.are_served());
        }
        for window_bits in [-15, -9, 9, 15, 25, 31] {
            assert!(Settings { window_bits, ..usual }.are_served());
        }
        assert!(!Settings { mem_level: 10, ..usual }.are_served());
        assert!(!Settings { strategy: 1, ..usual }.are_served());
        assert!(!Settings { method: 7, ..usual }.are_served());
    }
}
