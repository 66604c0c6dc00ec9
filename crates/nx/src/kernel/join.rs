//! Joins blocks from streams of fields at fixed offsets, 8 bytes at a time.
//!
//! A block consists of one or two halves of 8 bytes, each a [`Half`] with streams of its own; only
//! the halves of BC5 share streams ([`Pair`]). A half is a 64-bit word, made by shifts of loads of
//! 2 to 8 bytes. Compilers vectorise this.

use linerate_core::Tier;

use super::dispatch::{Kernel, dispatch};

/// The streams of one half of every block.
pub(crate) trait Half {
    /// Returns the number of blocks in the streams.
    fn blocks(&self) -> usize;

    /// Returns the half of block `i`.
    ///
    /// # Safety
    /// `i` must be below [`blocks`](Half::blocks).
    unsafe fn word(&self, i: usize) -> u64;
}

/// The streams of a colour half: endpoints and indices. With `YCOCG`, endpoints are YCoCg.
pub(crate) struct Color<'a, const YCOCG: bool> {
    pub(crate) endpoints: &'a [[u8; 4]],
    pub(crate) indices: &'a [[u8; 4]],
}

impl<const YCOCG: bool> Half for Color<'_, YCOCG> {
    fn blocks(&self) -> usize {
        self.endpoints.len().min(self.indices.len())
    }

    #[inline(always)]
    unsafe fn word(&self, i: usize) -> u64 {
        // SAFETY: the caller guarantees that `i` is below `blocks`, so both streams have more than
        // `i` fields.
        let (endpoints, indices) =
            unsafe { (*self.endpoints.get_unchecked(i), *self.indices.get_unchecked(i)) };
        let endpoints = u32::from_le_bytes(endpoints);
        let endpoints = if YCOCG { from_ycocg_pair(endpoints) } else { endpoints };
        u64::from(endpoints) | (u64::from(u32::from_le_bytes(indices)) << 32)
    }
}

/// Applies [`from_ycocg`](crate::filter::color::from_ycocg) to both halves of a word. Each field is
/// moved to the low bits of its half. 32 is added before a subtraction, so that it borrows nothing
/// from the other half.
#[inline(always)]
fn from_ycocg_pair(colors: u32) -> u32 {
    const FIELD: u32 = 0x001f_001f;
    const BORROW: u32 = 0x0020_0020;
    let (y, co, cg, low) =
        ((colors >> 11) & FIELD, (colors >> 6) & FIELD, (colors >> 1) & FIELD, colors & 0x0001_0001);
    let half = |field: u32| ((field >> 1) & 0x000f_000f) | (field & 0x0010_0010);
    let t = (y + BORROW - half(cg)) & FIELD;
    let green = (cg + t) & FIELD;
    let blue = (t + BORROW - half(co)) & FIELD;
    let red = (co + blue) & FIELD;
    (red << 11) | (green << 6) | (low << 5) | blue
}

/// The streams of an alpha half: two endpoints and 6 bytes of indices. `indices` begins two bytes
/// before the indices of the first block, so that a load of 8 bytes ends with the 6 bytes that are
/// needed.
pub(crate) struct Alpha<'a> {
    pub(crate) endpoints: &'a [[u8; 2]],
    pub(crate) indices: &'a [u8],
}

impl Half for Alpha<'_> {
    fn blocks(&self) -> usize {
        self.endpoints.len().min(self.indices.len().saturating_sub(2) / 6)
    }

    #[inline(always)]
    unsafe fn word(&self, i: usize) -> u64 {
        // SAFETY: the caller guarantees that `i` is below `blocks`, so there are more than `i`
        // endpoints and at least 6 * (i + 1) + 2 bytes of indices.
        let (endpoints, indices) = unsafe {
            (
                *self.endpoints.get_unchecked(i),
                self.indices.as_ptr().add(6 * i).cast::<u64>().read_unaligned(),
            )
        };
        (u64::from_le(indices) & !0xffff) | u64::from(u16::from_le_bytes(endpoints))
    }
}

/// The stream of a half whose 8 bytes are unchanged.
pub(crate) struct Plain<'a>(pub(crate) &'a [[u8; 8]]);

impl Half for Plain<'_> {
    fn blocks(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    unsafe fn word(&self, i: usize) -> u64 {
        // SAFETY: the caller guarantees that the stream has more than `i` halves.
        u64::from_le_bytes(unsafe { *self.0.get_unchecked(i) })
    }
}

/// Joins blocks of one half, as many as both the streams and `blocks` have.
pub(crate) fn join_half(tier: Tier, half: impl Half, blocks: &mut [[u8; 8]]) {
    struct Join<'a, A>(A, &'a mut [[u8; 8]]);
    impl<A: Half> Kernel for Join<'_, A> {
        #[inline(always)]
        fn run(self) {
            let count = self.0.blocks();
            for (i, block) in self.1.iter_mut().take(count).enumerate() {
                // SAFETY: `i` is below `count`.
                *block = unsafe { self.0.word(i) }.to_le_bytes();
            }
        }
    }
    dispatch(tier, Join(half, blocks));
}

/// Joins blocks of two halves, as many as the streams of both and `blocks` have.
pub(crate) fn join_halves(tier: Tier, first: impl Half, second: impl Half, blocks: &mut [[u8; 16]]) {
    struct Join<'a, A, B>(A, B, &'a mut [[u8; 16]]);
    impl<A: Half, B: Half> Kernel for Join<'_, A, B> {
        #[inline(always)]
        fn run(self) {
            let Join(first, second, blocks) = self;
            let count = first.blocks().min(second.blocks());
            for (i, block) in blocks.iter_mut().take(count).enumerate() {
                // SAFETY: `i` is below `count`.
                let (low, high) = unsafe { (first.word(i), second.word(i)) };
                *block = (u128::from(low) | (u128::from(high) << 64)).to_le_bytes();
            }
        }
    }
    dispatch(tier, Join(first, second, blocks));
}

/// Joins blocks of BC3, as many as the streams of both halves and `blocks` have.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "no form takes a part first"))]
pub(crate) fn join_alpha_color<const YCOCG: bool>(
    tier: Tier,
    mut alpha: Alpha,
    mut color: Color<'_, YCOCG>,
    mut blocks: &mut [[u8; 16]],
) {
    #[cfg(target_arch = "x86_64")]
    if tier >= Tier::Avx2 && Tier::Avx2.is_supported() {
        // SAFETY: the CPU has AVX2.
        let done = unsafe { super::join_avx2::join_alpha_color(&alpha, &color, blocks) };
        alpha = Alpha { endpoints: &alpha.endpoints[done..], indices: &alpha.indices[6 * done..] };
        color = Color { endpoints: &color.endpoints[done..], indices: &color.indices[done..] };
        blocks = &mut blocks[done..];
    }
    join_halves(tier, alpha, color, blocks);
}

/// The streams of BC5: the first endpoints of both halves, the second endpoints of both, and 6
/// bytes of indices of each half.
pub(crate) struct Pair<'a> {
    pub(crate) first: &'a [[u8; 2]],
    pub(crate) second: &'a [[u8; 2]],
    pub(crate) indices: &'a [[u8; 12]],
}

/// Joins blocks of BC5, as many as the streams and `blocks` have.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "no form takes a part first"))]
pub(crate) fn join_pair(tier: Tier, mut pair: Pair, mut blocks: &mut [[u8; 16]]) {
    #[cfg(target_arch = "x86_64")]
    if tier >= Tier::Avx2 && Tier::Avx2.is_supported() {
        // SAFETY: the CPU has AVX2.
        let done = unsafe { super::join_avx2::join_pair(&pair, blocks) };
        let Pair { first, second, indices } = pair;
        pair = Pair { first: &first[done..], second: &second[done..], indices: &indices[done..] };
        blocks = &mut blocks[done..];
    }
    struct Join<'a>(Pair<'a>, &'a mut [[u8; 16]]);
    impl Kernel for Join<'_> {
        #[inline(always)]
        fn run(self) {
            let fields = self.0.first.iter().zip(self.0.second).zip(self.0.indices);
            for (block, ((first, second), indices)) in self.1.iter_mut().zip(fields) {
                let (first, second) = (u16::from_le_bytes(*first), u16::from_le_bytes(*second));
                let endpoints =
                    [(first & 0xff) | (second << 8), (first >> 8) | (second & 0xff00)].map(u64::from);
                let [.., a, b, c, d, e, f, g, h] = *indices;
                let low = u64::from_le_bytes(*indices.first_chunk().expect("8 of 12 bytes")) << 16;
                let high = u64::from_le_bytes([a, b, c, d, e, f, g, h]) & !0xffff;
                let block_of = u128::from(low | endpoints[0]) | (u128::from(high | endpoints[1]) << 64);
                *block = block_of.to_le_bytes();
            }
        }
    }
    dispatch(tier, Join(pair, blocks));
}
