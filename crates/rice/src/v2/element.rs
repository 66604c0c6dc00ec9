//! The sample types of a stream, and the words that they are coded as.

use alloc::borrow::Cow;
use core::ops::Range;

use linerate_core::Result;

use super::geometry::Geometry;
use super::header::Layout;
use super::{StreamOptions, decode, encode};
use crate::Options;

/// The type of the samples of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// `i16`
    I16,
    /// `u16`
    U16,
    /// `i32`
    I32,
    /// `u32`
    U32,
}

impl ElementType {
    /// All types, in the order of their codes.
    pub const ALL: [ElementType; 4] =
        [ElementType::I16, ElementType::U16, ElementType::I32, ElementType::U32];

    /// The code of the type in a stream's header, 0 to 3.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The type with this code.
    pub fn from_code(code: u8) -> Option<ElementType> {
        ElementType::ALL.get(usize::from(code)).copied()
    }

    /// Bytes per sample: 2 or 4.
    pub const fn bytes(self) -> usize {
        match self {
            ElementType::I16 | ElementType::U16 => 2,
            ElementType::I32 | ElementType::U32 => 4,
        }
    }

    /// The name of the type in Rust: `i16`, `u16`, `i32` or `u32`.
    pub const fn name(self) -> &'static str {
        match self {
            ElementType::I16 => "i16",
            ElementType::U16 => "u16",
            ElementType::I32 => "i32",
            ElementType::U32 => "u32",
        }
    }
}

/// A sample of a version 2 stream: `i16`, `u16`, `i32` or `u32`.
pub trait Element: sealed::Words + Copy + Default + PartialEq + Send + Sync + 'static {
    /// The type as a value.
    const TYPE: ElementType;
}

macro_rules! element {
    ($type:ty, $word:ty, $name:ident) => {
        impl Element for $type {
            const TYPE: ElementType = ElementType::$name;
        }
        impl sealed::Words for $type {
            type Word = $word;
            const SIGNED: bool = <$type>::MIN != 0;
            const SIGN: $word = if <$type>::MIN != 0 { 0 } else { 1 << (<$word>::BITS - 1) };
            fn words(samples: &[$type]) -> &[$word] {
                bytemuck::cast_slice(samples)
            }
            fn words_mut(samples: &mut [$type]) -> &mut [$word] {
                bytemuck::cast_slice_mut(samples)
            }
            fn divide(settings: &StreamOptions, samples: &[$type], options: Options) -> Geometry {
                encode::divide(settings, samples, options)
            }
            fn encode_run(
                samples: &[$type],
                geometry: &Geometry,
                base: usize,
                table: &mut [[u8; 4]],
                out: &mut [u8],
                options: Options,
            ) -> Result<usize> {
                encode::encode_run(samples, geometry, base, table, out, options)
            }
            fn decode_run(
                layout: &Layout<'_>,
                which: Range<usize>,
                out: &mut [$type],
                options: Options,
            ) -> Result<()> {
                decode::decode_run(layout, which, out, options)
            }
        }
    };
}

element!(i16, u16, I16);
element!(u16, u16, U16);
element!(i32, u32, I32);
element!(u32, u32, U32);

pub(crate) use sealed::Word;

/// Returns the samples as little-endian bytes, borrowed if that is the byte order of the CPU.
pub(super) fn little_endian<T: bytemuck::NoUninit>(samples: &[T]) -> Cow<'_, [u8]> {
    let bytes: &[u8] = bytemuck::cast_slice(samples);
    if cfg!(target_endian = "little") {
        return bytes.into();
    }
    let swapped = bytes.chunks(size_of::<T>()).flat_map(|sample| sample.iter().rev().copied());
    swapped.collect::<alloc::vec::Vec<u8>>().into()
}

mod sealed {
    use super::{Geometry, Layout, Options, Range, Result, StreamOptions};

    /// Samples that are cast to unsigned words, and coded by functions that are compiled with this
    /// crate. Its users compile no kernel, so kernels are fast even in their builds without
    /// optimisation.
    pub trait Words: bytemuck::Pod {
        type Word: Word;
        const SIGNED: bool;
        /// Bits to flip so that words become signed numbers.
        const SIGN: Self::Word;
        fn words(samples: &[Self]) -> &[Self::Word];
        fn words_mut(samples: &mut [Self]) -> &mut [Self::Word];
        /// Chooses how the samples are divided.
        fn divide(settings: &StreamOptions, samples: &[Self], options: Options) -> Geometry;
        /// Encodes consecutive segments, the first of which begins `base` bytes after the table.
        /// Returns their size in bytes.
        fn encode_run(
            samples: &[Self],
            geometry: &Geometry,
            base: usize,
            table: &mut [[u8; 4]],
            out: &mut [u8],
            options: Options,
        ) -> Result<usize>;
        /// Decodes the segments `which`, which fill `out`.
        fn decode_run(
            layout: &Layout<'_>,
            which: Range<usize>,
            out: &mut [Self],
            options: Options,
        ) -> Result<()>;
    }

    /// A word of a stream: 16 or 32 bits. Its arithmetic wraps.
    #[allow(unreachable_pub, reason = "Element::Word has it as a bound; Rust 1.89 does not see that")]
    pub trait Word: bytemuck::Pod + Default + Ord + Send + Sync + core::fmt::Debug + 'static {
        const BITS: u32;
        const BYTES: usize;
        /// Returns the low bits of `value`.
        fn of(value: u64) -> Self;
        fn get(self) -> u64;
        /// Returns the word read as a signed number in two's complement.
        fn signed(self) -> i64;
        fn plus(self, other: Self) -> Self;
        fn minus(self, other: Self) -> Self;
        fn times(self, other: Self) -> Self;
        /// Flips `bits`.
        fn flipped(self, bits: Self) -> Self;
        /// Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
        fn zigzag(self) -> Self;
        fn unzigzag(self) -> Self;
        /// Sets the bits above the low `k` bits, which are zero, to `high`.
        fn with_high(self, high: u8, k: u32) -> Self;
        /// Returns the word shifted right by `k`, but at most `most`.
        fn quotient(self, k: u32, most: u32) -> u8;
        fn sum(words: &[Self; crate::v2::BLOCK]) -> u64;
        /// Returns the sum of the quotients, each limited to `most`, and the number of quotients
        /// that reach `most`.
        fn quotients(words: &[Self; crate::v2::BLOCK], k: u32, most: u32) -> (u32, u32);
        /// The type of sums of products of words and 16-bit coefficients. Sums wrap.
        type Sum: Copy + Default;
        /// Extends the word, read in two's complement.
        fn wide(self) -> Self::Sum;
        fn add_product(sum: Self::Sum, coefficient: i16, word: Self::Sum) -> Self::Sum;
        /// Returns half of 2^`shift`, which rounds a sum that is then shifted right by `shift`.
        fn half(shift: u32) -> Self::Sum;
        /// Returns the low bits of `sum` shifted right.
        fn shifted(sum: Self::Sum, shift: u32) -> Self;
        /// Predicts a word from the words before it, latest word first.
        #[inline(always)]
        fn predict(taps: &[i16], shift: u32, history: impl Iterator<Item = Self>) -> Self {
            let products = taps.iter().zip(history);
            let sum = products.fold(Self::half(shift), |sum, (&c, x)| Self::add_product(sum, c, x.wide()));
            Self::shifted(sum, shift)
        }
    }

    macro_rules! word {
        ($word:ty, $signed:ty, $accumulator:ty, $sum:ty) => {
            impl Word for $word {
                const BITS: u32 = <$word>::BITS;
                const BYTES: usize = size_of::<$word>();
                #[inline(always)]
                fn of(value: u64) -> Self {
                    value as $word
                }
                #[inline(always)]
                fn get(self) -> u64 {
                    u64::from(self)
                }
                #[inline(always)]
                fn signed(self) -> i64 {
                    i64::from(self as $signed)
                }
                #[inline(always)]
                fn plus(self, other: Self) -> Self {
                    self.wrapping_add(other)
                }
                #[inline(always)]
                fn minus(self, other: Self) -> Self {
                    self.wrapping_sub(other)
                }
                #[inline(always)]
                fn times(self, other: Self) -> Self {
                    self.wrapping_mul(other)
                }
                #[inline(always)]
                fn flipped(self, bits: Self) -> Self {
                    self ^ bits
                }
                #[inline(always)]
                fn zigzag(self) -> Self {
                    (self << 1) ^ ((self as $signed >> (<$word>::BITS - 1)) as $word)
                }
                #[inline(always)]
                fn unzigzag(self) -> Self {
                    (self >> 1) ^ (self & 1).wrapping_neg()
                }
                #[inline(always)]
                fn with_high(self, high: u8, k: u32) -> Self {
                    self | <$word>::from(high) << k
                }
                #[inline(always)]
                fn quotient(self, k: u32, most: u32) -> u8 {
                    (self >> k).min(most as $word) as u8
                }
                #[inline(always)]
                fn sum(words: &[Self; crate::v2::BLOCK]) -> u64 {
                    // No overflow: the sum of 32 words has 5 bits more than a word, and `$sum` at
                    // least 16 more.
                    let mut sum: $sum = 0;
                    for &word in words {
                        sum += <$sum>::from(word);
                    }
                    sum.into()
                }
                #[inline(always)]
                fn quotients(words: &[Self; crate::v2::BLOCK], k: u32, most: u32) -> (u32, u32) {
                    // One sum counts both: 32 quotients of at most 31 add up to less than 1024.
                    let mut sum: $word = 0;
                    for word in words {
                        let quotient = (word >> k).min(most as $word);
                        sum += quotient + (<$word>::from(quotient == most as $word) << 10);
                    }
                    ((sum % 1024) as u32, (sum / 1024) as u32)
                }
                type Sum = $accumulator;
                #[inline(always)]
                fn wide(self) -> $accumulator {
                    <$accumulator>::from(self as $signed)
                }
                #[inline(always)]
                fn add_product(sum: $accumulator, coefficient: i16, word: $accumulator) -> $accumulator {
                    sum.wrapping_add(<$accumulator>::from(coefficient).wrapping_mul(word))
                }
                #[inline(always)]
                fn half(shift: u32) -> $accumulator {
                    (1 << shift) >> 1
                }
                #[inline(always)]
                fn shifted(sum: $accumulator, shift: u32) -> Self {
                    (sum >> shift) as $word
                }
            }
        };
    }

    word!(u16, i16, i32, u32);
    word!(u32, i32, i64, u64);
}
