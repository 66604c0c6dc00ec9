//! The AVX-512 form of [`modes`](super::modes): 192 blocks at a time, group by group as in
//! [`modes_avx2`](super::modes_avx2). Within a group, four blocks are joined at once, each in a
//! lane of 128 bits.

use core::arch::x86_64::*;
use core::ops::Range;

use super::modes::{BLOCK, GROUPS, Gather, Modes};
use super::modes_avx2::{Group, groups_of};

/// Shuffle index that gives 0.
const N: i8 = -1;
/// Bytes of a register.
const WIDE: usize = 64;
/// Number of registers that hold the first bytes of a batch. Each group of a batch costs a
/// mispredicted branch, so shorter batches, in which groups have fewer blocks, are slower.
const PARTS: usize = 3;
/// Number of blocks in a batch. Their numbers fit a byte.
const BATCH: usize = PARTS * WIDE;
/// Number of blocks that are joined at once, in the lanes of a register.
const LANES: usize = 4;
/// Maximum number of bytes that a batch has in a stream, plus the bytes after them that may be
/// read.
const NEAR_END: usize = BATCH * (BLOCK - 1) + WIDE;

/// A word whose bytes are all 1.
const ONES: i64 = 0x0101_0101_0101_0101;

/// Joins all blocks.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) fn gather<const ALIGNED: bool>(gather: Gather) {
    let Gather { modes, cursors, streams, blocks } = gather;
    let groups = groups_of(modes);
    let table = Table::new(modes);
    let mut at: [[usize; 2]; GROUPS] =
        core::array::from_fn(|group| [cursors.endpoints[group], cursors.indices[group]]);
    let mut near_end = [[0; NEAR_END]; 2];
    let mut members = Members { count: 0, places: [0; _], first_bytes: [0; _] };
    for (blocks, first) in blocks.chunks_mut(BATCH).zip(streams.chunks(BATCH)) {
        let firsts = Firsts::new(&table, &first[..blocks.len()]);
        for (number, group) in groups.iter().enumerate() {
            firsts.of_group(number, &mut members);
            if members.count == 0 {
                continue;
            }
            let begin = at[number];
            at[number] = core::array::from_fn(|i| begin[i] + members.count * group.steps[i]);
            let [endpoints, indices] = &mut near_end;
            let ends = at[number];
            let sources = [
                readable(streams, begin[0]..ends[0], endpoints),
                readable(streams, begin[1]..ends[1], indices),
            ];
            let each = Each { group, members: &members, sources, blocks };
            // SAFETY: `readable` gives sources with the bytes of the group's blocks and 64 more.
            // The places are numbers of blocks in this batch, because they come from masks that
            // have no other bits.
            unsafe { each.gather::<ALIGNED>(number) };
        }
    }
}

/// Returns the number of blocks in each group, by their first bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) fn count(modes: &Modes, first: &[u8]) -> [usize; GROUPS] {
    let table = Table::new(modes);
    let mut counts = [0; GROUPS];
    for first in first.chunks(BATCH) {
        let firsts = Firsts::new(&table, first);
        for (number, count) in counts.iter_mut().enumerate() {
            *count += firsts.masks(number).iter().map(|mask| mask.count_ones() as usize).sum::<usize>();
        }
    }
    counts
}

/// Returns the bytes of `range`, followed by at least 64 readable bytes. They are in place or, if
/// fewer bytes follow in the streams, copied to `near_end`.
#[inline]
fn readable<'a>(streams: &'a [u8], range: Range<usize>, near_end: &'a mut [u8; NEAR_END]) -> &'a [u8] {
    if range.end + WIDE <= streams.len() {
        return &streams[range.start..];
    }
    near_end[..range.len()].copy_from_slice(&streams[range]);
    near_end
}

/// The first bytes of a batch, and the groups of their blocks.
struct Firsts {
    bytes: [__m512i; PARTS],
    groups: [__m512i; PARTS],
    /// Masks of the blocks that exist. The last batch may have fewer than `BATCH`.
    inside: [u64; PARTS],
}

/// The numbers and first bytes of one group's blocks in a batch.
struct Members {
    count: usize,
    /// The numbers of the blocks in the batch. After them, the number of the first of the last four
    /// blocks is repeated three times, so that the last four lanes are complete.
    places: [u8; BATCH + WIDE],
    first_bytes: [u8; BATCH + WIDE],
}

impl Firsts {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(table: &Table, first: &[u8]) -> Firsts {
        let mut firsts = Firsts {
            bytes: [_mm512_setzero_si512(); PARTS],
            groups: [_mm512_setzero_si512(); PARTS],
            inside: [0; PARTS],
        };
        for (part, first) in first.chunks(WIDE).enumerate() {
            firsts.inside[part] = u64::MAX >> (WIDE - first.len());
            // SAFETY: these are the bytes of the mask.
            firsts.bytes[part] =
                unsafe { _mm512_maskz_loadu_epi8(firsts.inside[part], first.as_ptr().cast()) };
            firsts.groups[part] = table.groups(firsts.bytes[part]);
        }
        firsts
    }

    /// Returns masks of the blocks of a group.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn masks(&self, number: usize) -> [u64; PARTS] {
        let number = _mm512_set1_epi8(number as i8);
        let mask = |part| _mm512_mask_cmpeq_epi8_mask(self.inside[part], self.groups[part], number);
        core::array::from_fn(mask)
    }

    /// Lists the blocks of a group.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
    fn of_group(&self, number: usize, members: &mut Members) {
        let mut numbers = numbers();
        members.count = 0;
        for (mask, first_bytes) in self.masks(number).into_iter().zip(self.bytes) {
            if mask != 0 {
                members.extend(mask, numbers, first_bytes);
            }
            numbers = _mm512_add_epi8(numbers, _mm512_set1_epi8(WIDE as i8));
        }
        if let Some(last) = members.count.checked_sub(1) {
            let first_of_last = members.places[last - last % LANES];
            members.places[members.count..][..LANES - 1].fill(first_of_last);
        }
    }
}

impl Members {
    /// Appends the blocks of a mask.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
    fn extend(&mut self, mask: u64, numbers: __m512i, first_bytes: __m512i) {
        let to = |list: &mut [u8; BATCH + WIDE], bytes| {
            let list: &mut [u8] = &mut list[self.count..][..WIDE];
            // SAFETY: the slice has 64 bytes.
            unsafe { _mm512_storeu_si512(list.as_mut_ptr().cast(), bytes) };
        };
        to(&mut self.places, _mm512_maskz_compress_epi8(mask, numbers));
        to(&mut self.first_bytes, _mm512_maskz_compress_epi8(mask, first_bytes));
        self.count += mask.count_ones() as usize;
    }
}

/// Returns the numbers from 0 to 63.
#[inline]
#[target_feature(enable = "avx512f")]
fn numbers() -> __m512i {
    const NUMBERS: [u8; WIDE] = {
        let mut numbers = [0; WIDE];
        let mut i = 0;
        while i < WIDE {
            numbers[i] = i as u8;
            i += 1;
        }
        numbers
    };
    // SAFETY: the array has 64 bytes.
    unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) }
}

/// [`Modes::group`], the group of a block by its first byte, in registers.
struct Table([__m512i; 4]);

impl Table {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(modes: &Modes) -> Table {
        let quarters = modes.group.as_chunks::<WIDE>().0;
        // SAFETY: each quarter has 64 bytes.
        Table(core::array::from_fn(|i| unsafe { _mm512_loadu_si512(quarters[i].as_ptr().cast()) }))
    }

    /// Returns the groups of 64 blocks with these first bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn groups(&self, first: __m512i) -> __m512i {
        let [a, b, c, d] = self.0;
        let low = _mm512_permutex2var_epi8(a, first, b);
        let high = _mm512_permutex2var_epi8(c, first, d);
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(first), low, high)
    }
}

/// The blocks of a group in a batch, the sources of their fields, and the blocks of the batch.
struct Each<'a> {
    group: &'a Group,
    members: &'a Members,
    /// The streams of endpoints and of indices.
    sources: [&'a [u8]; 2],
    blocks: &'a mut [[u8; BLOCK]],
}

/// 64 bytes of endpoints and 64 bytes of indices, which begin with those of four blocks; and the
/// first byte of each lane's block, repeated 16 times.
struct Fields {
    endpoints: __m512i,
    indices: __m512i,
    first: __m512i,
}

impl Each<'_> {
    /// Joins the blocks of the group with this number.
    ///
    /// # Safety
    /// Both sources must have the bytes of all members and 64 more. All places must be numbers of
    /// blocks.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    unsafe fn gather<const ALIGNED: bool>(self, number: usize) {
        // SAFETY: the caller guarantees what `# Safety` requires.
        unsafe {
            match number {
                1 if ALIGNED => {
                    let mode = Mode1::new(self.group);
                    self.run(|fields| mode.blocks(fields));
                }
                3 if ALIGNED => {
                    let mode = Mode3::new(self.group);
                    self.run(|fields| mode.blocks(fields));
                }
                6 if ALIGNED => {
                    let mode = Mode6::new(self.group);
                    self.run(|fields| mode.blocks(fields));
                }
                _ => {
                    let [endpoints, indices] = self.group.steps;
                    let endpoints = Spread::new(self.group.endpoints_to, endpoints);
                    let indices = Spread::new(self.group.indices_to, indices);
                    self.run(|fields| {
                        let joined =
                            _mm512_or_si512(endpoints.of(fields.endpoints), indices.of(fields.indices));
                        with_first(joined, fields.first, 0xff)
                    });
                }
            }
        }
    }

    /// Makes blocks from their fields, four at a time.
    ///
    /// # Safety
    /// The requirements of [`gather`](Self::gather).
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    unsafe fn run(self, blocks_of: impl Fn(Fields) -> __m512i) {
        let Each { group, members, sources, blocks } = self;
        let [mut endpoints, mut indices] = sources.map(<[u8]>::as_ptr);
        let blocks = blocks.as_mut_ptr();
        let in_lanes = lanes(1);
        let fours =
            members.places.as_chunks::<LANES>().0.iter().zip(members.first_bytes.as_chunks::<LANES>().0);
        for (places, &first) in fours.take(members.count.div_ceil(LANES)) {
            // SAFETY: the caller guarantees what `# Safety` requires.
            unsafe {
                let words = blocks_of(Fields {
                    endpoints: _mm512_loadu_si512(endpoints.cast()),
                    indices: _mm512_loadu_si512(indices.cast()),
                    first: _mm512_shuffle_epi8(_mm512_set1_epi32(i32::from_le_bytes(first)), in_lanes),
                });
                // The first lane is stored last, since places after a group's last block repeat the
                // first one.
                let to = |i: usize| blocks.add(usize::from(places[i])).cast();
                _mm_storeu_si128(to(3), _mm512_extracti32x4_epi32::<3>(words));
                _mm_storeu_si128(to(2), _mm512_extracti32x4_epi32::<2>(words));
                _mm_storeu_si128(to(1), _mm512_extracti32x4_epi32::<1>(words));
                _mm_storeu_si128(to(0), _mm512_castsi512_si128(words));
                endpoints = endpoints.add(LANES * group.steps[0]);
                indices = indices.add(LANES * group.steps[1]);
            }
        }
    }
}

/// Returns i * `step` in every byte of lane i.
#[inline]
#[target_feature(enable = "avx512f")]
fn lanes(step: usize) -> __m512i {
    let [a, b, c] = [1, 2, 3].map(|lane| lane * step as i64 * ONES);
    _mm512_setr_epi64(0, 0, a, a, b, b, c, c)
}

/// Returns the same 16 bytes in each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn each_lane(bytes: [i8; BLOCK]) -> __m512i {
    // SAFETY: the array has 16 bytes.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// Moves consecutive bytes of four blocks into their lanes.
struct Spread {
    to: __m512i,
    keep: u64,
}

impl Spread {
    /// `to` has, for each byte of a lane, the index of the block's byte. Each block has `step`
    /// bytes. Negative indices give 0.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(to: __m128i, step: usize) -> Spread {
        let to = _mm512_broadcast_i32x4(to);
        Spread { to: _mm512_add_epi8(to, lanes(step)), keep: !_mm512_movepi8_mask(to) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn of(&self, bytes: __m512i) -> __m512i {
        _mm512_maskz_permutexvar_epi8(self.keep, self.to, bytes)
    }
}

/// Inserts these bits of `first` into the lower 64 bits of each lane. Each byte of `first` is the
/// first byte of the lane's block.
#[inline]
#[target_feature(enable = "avx512f")]
fn with_first(words: __m512i, first: __m512i, bits: i64) -> __m512i {
    // words | (first & bits)
    let bits = _mm512_setr_epi64(bits, 0, bits, 0, bits, 0, bits, 0);
    _mm512_ternarylogic_epi64::<0xf8>(words, first, bits)
}

/// Combines the four fields of each 32 bits to one number, as
/// [`unalign_avx2::close_gaps`](super::unalign_avx2) does.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn close_gaps(fields: __m512i, odd: i16, pair: i32) -> __m512i {
    let pairs = _mm512_maddubs_epi16(_mm512_set1_epi16((odd << 8) | 1), fields);
    _mm512_madd_epi16(pairs, _mm512_set1_epi32((pair << 16) | 1))
}

/// Adds the second 32 bits of each lane, which are green, to the first and the third, and keeps the
/// bits of each byte that `mask` has.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_green(fields: __m512i, mask: i8) -> __m512i {
    let green = _mm512_maskz_shuffle_epi32::<0b11_01_11_01>(0x5555, fields);
    _mm512_and_si512(_mm512_add_epi8(fields, green), _mm512_set1_epi8(mask))
}

/// For each 64 bits, joins the lower 28 bits of both halves, those of the upper half above those of
/// the lower. The upper four bits of the upper half must be 0.
#[inline]
#[target_feature(enable = "avx512f")]
fn halves_of_28_bits(halves: __m512i) -> __m512i {
    let shifted = _mm512_srli_epi64::<4>(halves);
    // Takes bits below 28 from `halves`, the others from `shifted`.
    _mm512_ternarylogic_epi64::<0xca>(_mm512_set1_epi64(0xfff_ffff), halves, shifted)
}

/// For each 64 bits, returns the sum of the weights of the bytes whose top bit is set.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn top_bits(bytes: __m512i, weights: __m512i) -> __m512i {
    let weights = _mm512_maskz_mov_epi8(_mm512_movepi8_mask(bytes), weights);
    _mm512_sad_epu8(weights, _mm512_setzero_si512())
}

/// Mode 1. The endpoint bytes are R0 G0 B0 R1 G1 B1 R2 G2 B2 with 6 bits each. Their top two bits
/// are R3, G3, B3.
struct Mode1 {
    triples: Spread,
    spare: Spread,
    indices: Spread,
    close: __m512i,
}

impl Mode1 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(group: &Group) -> Mode1 {
        let [endpoints, indices] = group.steps;
        Mode1 {
            triples: Spread::new(_mm_setr_epi8(0, 3, 6, N, 1, 4, 7, N, 2, 5, 8, N, N, N, N, N), endpoints),
            spare: Spread::new(_mm_setr_epi8(0, 1, 2, N, 3, 4, 5, N, 6, 7, 8, N, N, N, N, N), endpoints),
            indices: Spread::new(_mm_setr_epi8(N, N, N, N, N, N, N, N, N, N, 0, 1, 2, 3, 4, 5), indices),
            close: each_lane([N, 0, 1, 2, 4, 5, 6, 8, 9, 10, N, N, N, N, N, N]),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn blocks(&self, fields: Fields) -> __m512i {
        let triples = self.triples.of(fields.endpoints);
        let spare = _mm512_srli_epi16::<6>(self.spare.of(fields.endpoints));
        let spare = _mm512_and_si512(spare, _mm512_set1_epi8(3));
        let last = _mm512_slli_epi32::<24>(close_gaps(spare, 4, 16));
        // (triples & 63) | last
        let colors = _mm512_ternarylogic_epi64::<0xf8>(last, triples, _mm512_set1_epi8(63));
        let colors = close_gaps(add_green(colors, 63), 64, 1 << 12);
        let colors = _mm512_shuffle_epi8(colors, self.close);
        with_first(_mm512_or_si512(colors, self.indices.of(fields.indices)), fields.first, 0xff)
    }
}

/// Mode 3. The endpoint bytes are R0 G0 B0 R1 G1 B1 R2 G2 B2 R3 G3 with 7 bits each. Their top bits
/// are B3, then the four bits that follow the colours. The lowest two bits of the index bytes come
/// before the colours.
struct Mode3 {
    colors: Spread,
    tops: Spread,
    indices: Spread,
    indices_keep: __m512i,
}

impl Mode3 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(group: &Group) -> Mode3 {
        let [endpoints, indices] = group.steps;
        Mode3 {
            colors: Spread::new(_mm_setr_epi8(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, N, N, N, N, N), endpoints),
            tops: Spread::new(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, N, 7, 8, 9, 10, N, N, N, N), endpoints),
            indices: Spread::new(_mm_setr_epi8(N, 0, N, N, N, N, N, N, N, N, N, N, 0, 1, 2, 3), indices),
            indices_keep: each_lane([0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, !3, -1, -1, -1]),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn blocks(&self, fields: Fields) -> __m512i {
        let weights = each_lane([1, 2, 4, 8, 16, 32, 64, 0, 1, 2, 4, 8, 0, 0, 0, 0]);
        let tops = top_bits(self.tops.of(fields.endpoints), weights);
        let last = _mm512_slli_epi64::<24>(_mm512_bslli_epi128::<8>(tops));
        let colors = self.colors.of(fields.endpoints);
        // last | (colors & 127)
        let colors = _mm512_ternarylogic_epi64::<0xf8>(last, colors, _mm512_set1_epi8(127));
        let colors = halves_of_28_bits(close_gaps(add_green(colors, 127), 128, 1 << 14));
        // 56 bits from bit 10, 28 bits from bit 66, and four bits from bit 94.
        let shifts = _mm512_setr_epi64(10, 2, 10, 2, 10, 2, 10, 2);
        let crossing = _mm512_srli_epi64::<54>(_mm512_bslli_epi128::<8>(colors));
        let parity = _mm512_maskz_slli_epi64::<30>(0b1010_1010, tops);
        let words = _mm512_ternarylogic_epi64::<0xfe>(_mm512_sllv_epi64(colors, shifts), crossing, parity);
        let indices = self.indices.of(fields.indices);
        // words | (indices & indices_keep)
        let words = _mm512_ternarylogic_epi64::<0xf8>(words, indices, self.indices_keep);
        with_first(words, fields.first, 0xff)
    }
}

/// Mode 6. The endpoint bytes are R0 G0 B0 A0 R1 G1 B1 with 7 bits each. Their top bits are A1.
struct Mode6 {
    channels: Spread,
    green: Spread,
    indices: Spread,
}

impl Mode6 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(group: &Group) -> Mode6 {
        let [endpoints, indices] = group.steps;
        Mode6 {
            channels: Spread::new(_mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, N, N, N, N, N, N, N, N, N), endpoints),
            green: Spread::new(_mm_setr_epi8(1, 5, N, N, 1, 5, N, N, N, N, N, N, N, N, N, N), endpoints),
            indices: Spread::new(_mm_setr_epi8(N, N, N, N, N, N, N, N, 0, 1, 2, 3, 4, 5, 6, 7), indices),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn blocks(&self, fields: Fields) -> __m512i {
        let channels = self.channels.of(fields.endpoints);
        let weights = each_lane([1, 16, 2, 32, 4, 64, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let last = _mm512_slli_epi64::<56>(top_bits(channels, weights));
        let channels = _mm512_add_epi8(channels, self.green.of(fields.endpoints));
        // last | (channels & 127)
        let channels = _mm512_ternarylogic_epi64::<0xf8>(last, channels, _mm512_set1_epi8(127));
        let colors = _mm512_slli_epi64::<7>(halves_of_28_bits(close_gaps(channels, 128, 1 << 14)));
        let words = _mm512_or_si512(colors, self.indices.of(fields.indices));
        with_first(words, fields.first, 0x8000_0000_0000_007f_u64.cast_signed())
    }
}
