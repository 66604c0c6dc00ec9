//! The arguments of `deflateInit2`: which streams are served here, at which level of the encoder.

use std::ffi::c_int;

use linerate_deflate::Level;
use linerate_deflate::checksum::{ADLER32_START, CRC32_START};

/// What surrounds the deflate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Raw,
    Zlib,
    Gzip,
}

/// `Z_DEFLATED`.
const DEFLATED: c_int = 8;
/// `Z_HUFFMAN_ONLY`, `Z_RLE`, `Z_FIXED`.
const HUFFMAN_ONLY: c_int = 2;
const RLE: c_int = 3;
const FIXED: c_int = 4;

/// Bytes that zlib allocates beside its tables, which callers count with that compute its memory in advance.
const ZLIB_STATE: usize = 5888;
/// More input is not gathered: history and two thirds of new bytes. It costs no ratio, and saves entering the history.
const MAX_INPUT: usize = 96 << 10;
/// Of the memory, for the stream itself, header, trailer and flush.
const OVERHEAD: usize = 768;

/// The arguments of `deflateInit2`, as they were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) level: c_int,
    pub(crate) method: c_int,
    pub(crate) window_bits: c_int,
    pub(crate) mem_level: c_int,
    pub(crate) strategy: c_int,
}

impl Settings {
    /// Those of `deflateInit`.
    pub(crate) fn of_level(level: c_int) -> Settings {
        Settings { level, method: DEFLATED, window_bits: 15, mem_level: 8, strategy: 0 }
    }

    /// Whether the encoder serves such streams; zlib does others, and refuses what is wrong.
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

    /// The checksum of no input; `None` for raw streams, whose `adler` is the caller's.
    pub(crate) fn checksum_start(&self) -> Option<u32> {
        match self.container() {
            Container::Raw => None,
            Container::Zlib => Some(ADLER32_START),
            Container::Gzip => Some(CRC32_START),
        }
    }

    /// Of streams that are served: 9 to 15.
    pub(crate) fn window_bits(&self) -> u8 {
        let bits = self.window_bits.unsigned_abs();
        (if bits > 15 { bits - 16 } else { bits }) as u8
    }

    /// The level that takes less time than zlib's for the same ratio, or nearly. Level and strategy may have been changed to
    /// what is not served after bytes were: level 0 and `Z_HUFFMAN_ONLY` then store, others look for fewer matches. Levels that
    /// would allocate more than zlib does are not among them.
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

    /// What zlib searches with, and so compresses what came before when `deflateParams` changes it: nothing, a fast or a lazy
    /// search; and the strategy.
    pub(crate) fn zlib_search(&self) -> (u8, c_int) {
        let search = match self.level {
            0 => 0,
            1..=3 => 1,
            _ => 2,
        };
        (search, self.strategy)
    }

    /// Bytes to allocate: no more than zlib does.
    pub(crate) fn budget(&self) -> usize {
        (1 << (self.window_bits() + 2)) + (1 << (self.mem_level + 9)) + ZLIB_STATE
    }

    /// Bytes of history and gathered input: more than one window.
    pub(crate) fn input_capacity(&self) -> usize {
        // Half for what the input may become, of which stored blocks take 5 bytes for each 65,535.
        ((self.budget() - OVERHEAD) / 2 - 16).min(MAX_INPUT)
    }

    /// The zlib header's FLEVEL (RFC 1950, section 2.2).
    pub(crate) fn zlib_level(&self) -> u8 {
        match self.level {
            0 | 1 => 0,
            2..=5 => 1,
            6 | -1 => 2,
            _ => 3,
        }
    }

    /// The gzip header's XFL (RFC 1952, section 2.3.1).
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
