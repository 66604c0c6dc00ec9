//! Decoding by table: the next 12 bits of a segment select up to three samples at once.
//!
//! Finding where a code ends is one dependent step after another, which leaves most of a core
//! idle; so four segments are decoded in turns.

use std::sync::OnceLock;

use super::decode::Lane;
use super::isa::{Isa, Kernel};
use super::spec::{Position, read, unzigzag};

/// Bits that select an entry. 4096 entries of 8 bytes stay in the first-level cache.
const BITS: u32 = 12;
/// Most samples of an entry.
const MOST: u64 = 3;

/// One entry per value of the next [`BITS`] bits. From the low end: bits used in 8 bits, number
/// of samples in 8 bits (0: the first code is longer than the window), three samples of 16 bits.
/// With the running difference these are sums from the start of the entry; the last sample is
/// repeated, so that the highest lane is what the next entry goes on from.
pub(crate) type Table = [u64; 1 << BITS];

/// The table for k, made on first use and shared by all threads: 32 KiB each.
pub(crate) fn table(k: u32, delta: bool) -> &'static Table {
    static TABLES: [[OnceLock<Box<Table>>; 16]; 2] = [const { [const { OnceLock::new() }; 16] }; 2];
    TABLES[usize::from(delta)][k as usize].get_or_init(|| build(k, delta))
}

fn build(k: u32, delta: bool) -> Box<Table> {
    let mut table: Box<Table> =
        vec![0; 1 << BITS].into_boxed_slice().try_into().expect("the length of a table");
    for (bits, entry) in (0u32..).zip(table.iter_mut()) {
        *entry = build_entry(bits << (32 - BITS), k, delta);
    }
    table
}

fn build_entry(window: u32, k: u32, delta: bool) -> u64 {
    let (mut used, mut count, mut last, mut samples) = (0, 0, 0i16, [0u16; 3]);
    while count < MOST {
        match read(window << used, k) {
            Some((z, len)) if used + len <= BITS => {
                let y = unzigzag(z);
                last = if delta { last.wrapping_add(y) } else { y };
                samples[count as usize..].fill(last as u16);
                (used, count) = (used + len, count + 1);
            }
            _ => break,
        }
    }
    let lanes = samples.iter().rev().fold(0, |lanes, &s| (lanes << 16) | u64::from(s));
    (lanes << 16) | (count << 8) | u64::from(used)
}

/// Entries taken per turn of a lane. Two fit in the 33 bits that a load leaves for certain.
const TURN: usize = 2;
/// Most bits of a turn: every entry may be replaced by one code of at most 25 bits.
const TURN_BITS: usize = TURN * 25;
/// Most samples of a turn.
const TURN_SAMPLES: usize = TURN * MOST as usize;
/// A load reads 8 bytes from the word of its bit on: at most 31 + 64 bits from that bit.
const LOAD_BITS: usize = 96;

/// Decodes the bulk of `L` segments in turns. Leaves the rest, up to some tens of samples each,
/// to the caller: see [`Lane::at`]. Returns `None` if a code has more than eight zeros.
pub(crate) struct Interleaved<'a, 'b, const L: usize, const DELTA: bool> {
    pub(crate) lanes: &'a mut [Lane<'b>; L],
    pub(crate) table: &'static Table,
    pub(crate) k: u32,
}

impl<const L: usize, const DELTA: bool> Kernel for Interleaved<'_, '_, L, DELTA> {
    type Output = Option<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Option<()> {
        let Interleaved { lanes, table, k } = self;
        let input: [*const u8; L] = core::array::from_fn(|l| lanes[l].readable.as_ptr());
        let mut out: [*mut i16; L] = core::array::from_fn(|l| lanes[l].out.as_mut_ptr());
        let mut bit: [usize; L] = [0; L];
        // SAFETY: the caller vouches for the CPU.
        let mut sum: [I::Four; L] = core::array::from_fn(|_| unsafe { I::splat(0) });
        loop {
            // Turns after which every lane still has room, whatever the bits are.
            let turns = (0..L).map(|l| {
                // SAFETY: both point into `lanes[l].out`.
                let done = unsafe { out[l].offset_from(lanes[l].out.as_ptr()) } as usize;
                // An entry writes 4 samples, one more than it may have.
                let samples = (lanes[l].out.len() - done).saturating_sub(1) / TURN_SAMPLES;
                let bits = lanes[l].readable.len() * 8;
                samples.min(bits.saturating_sub(bit[l] + LOAD_BITS) / TURN_BITS)
            });
            let turns = turns.min().unwrap_or(0);
            if turns == 0 {
                break;
            }
            for _ in 0..turns {
                for l in 0..L {
                    // SAFETY: 8 bytes are readable there for each of `turns` turns.
                    let mut window = unsafe { load(input[l], bit[l]) };
                    for _ in 0..TURN {
                        // A shift by 52 leaves an index below 4096, so there is no check.
                        let entry = &table[(window >> (64 - BITS)) as usize];
                        let count = (*entry >> 8) as u8;
                        if count == 0 {
                            // SAFETY: as for the load above; `out` has room for this sample.
                            unsafe {
                                let (y, len) = long((load(input[l], bit[l]) >> 32) as u32, k)?;
                                let x = if DELTA { I::lane(sum[l]).wrapping_add(y) } else { y };
                                *out[l] = x;
                                sum[l] = I::splat(x);
                                out[l] = out[l].add(1);
                                bit[l] += len as usize;
                                window = load(input[l], bit[l]);
                            }
                            continue;
                        }
                        let used = *entry as u8;
                        window <<= used & 63;
                        bit[l] += usize::from(used);
                        // SAFETY: room for 4 samples at `out` in each of `turns` turns.
                        unsafe {
                            sum[l] = I::emit::<DELTA>(sum[l], entry, out[l]);
                            out[l] = out[l].add(usize::from(count));
                        }
                    }
                }
            }
        }
        for l in 0..L {
            // SAFETY: both point into `lanes[l].out`; the CPU is vouched for.
            unsafe {
                let sample = out[l].offset_from(lanes[l].out.as_ptr()) as usize;
                lanes[l].at = Position { bit: bit[l], sample, last: I::lane(sum[l]) };
            }
        }
        Some(())
    }
}

/// At least 33 bits of the stream from `bit` on, highest first.
///
/// # Safety
/// 8 bytes must be readable at the word that holds the bit.
#[inline(always)]
unsafe fn load(input: *const u8, bit: usize) -> u64 {
    // SAFETY: as the caller vouches.
    let words = u64::from_le(unsafe { input.add(bit / 32 * 4).cast::<u64>().read_unaligned() });
    words.rotate_left(32) << (bit % 32)
}

/// A code that is longer than a window. Not inlined: it is rare where this decoder is chosen.
#[cold]
#[inline(never)]
fn long(window: u32, k: u32) -> Option<(i16, u32)> {
    read(window, k).map(|(z, len)| (unzigzag(z), len))
}
