//! The emitter: writes tokens as bits, without a branch per token.

use linerate_core::Result;

use super::dispatch::Kernel;
use super::isa::Isa;
use super::token_bits::BitBuffer;
use crate::coding::bits::BitWriter;
use crate::coding::tables::Tables;
use crate::coding::token::parts;

/// Writes all tokens.
pub(crate) struct Emit<'a, 'o> {
    pub(crate) tokens: &'a [u32],
    pub(crate) tables: &'a Tables,
    pub(crate) bits: &'a mut BitWriter<'o>,
    /// The bit position after the block, which tells whether the output has slack.
    pub(crate) end: u64,
}

/// Returns the bits of a token and their number: at most 20 for the first and 28 for the second
/// symbol.
#[inline(always)]
fn code(tables: &Tables, token: u32) -> (u64, u32) {
    let (first, second, extra) = parts(token);
    debug_assert!(second < tables.seconds.len());
    // SAFETY: `first` has 9 bits, and a parse writes no `second` of 288 or more.
    let (first, second) = unsafe { (tables.firsts[first], *tables.seconds.get_unchecked(second)) };
    let n = first & 0xff;
    let second_value = u64::from(second >> 16) | u64::from(extra) << (second >> 8 & 0xff);
    (u64::from(first >> 8) | second_value << n, n + (second & 0xff))
}

impl Kernel for Emit<'_, '_> {
    type Output = Result<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Result<()> {
        let Emit { tokens, tables, bits, end } = self;
        // Every store is 8 bytes wide and begins before the end of the block.
        if end / 8 + 8 > bits.out.len() as u64 {
            return emit_tight(tokens, tables, bits);
        }
        let start = bits.out.as_mut_ptr();
        let mut out = BitBuffer { next: start.wrapping_add(bits.pos), acc: bits.acc, len: bits.len };
        // SAFETY: the capacity has just been checked; the caller vouches for the tier.
        unsafe {
            let (groups, rest) = tokens.as_chunks::<8>();
            for group in groups {
                match I::pairs(group, tables) {
                    Some([values, lens]) => {
                        for (value, len) in values.into_iter().zip(lens) {
                            out.put_bits(value, len as u32);
                            out.store();
                        }
                    }
                    None => out.put_tokens(group, tables),
                }
            }
            out.put_tokens(rest, tables);
            bits.pos = out.next.offset_from(start) as usize;
        }
        (bits.acc, bits.len) = (out.acc, out.len);
        Ok(())
    }
}

impl BitBuffer {
    /// Writes tokens one by one.
    ///
    /// # Safety
    /// 8 bytes must be writable where each token begins.
    #[inline(always)]
    unsafe fn put_tokens(&mut self, tokens: &[u32], tables: &Tables) {
        for &token in tokens {
            // The accumulator holds at most 7 + 48 bits, so it cannot overflow.
            let (value, len) = code(tables, token);
            self.put_bits(value, len);
            // SAFETY: as the caller vouches.
            unsafe { self.store() };
        }
    }
}

/// Writes all tokens to an output without slack, with bounds checks.
#[cold]
fn emit_tight(tokens: &[u32], tables: &Tables, bits: &mut BitWriter<'_>) -> Result<()> {
    for &token in tokens {
        let (value, n) = code(tables, token);
        bits.put(value, n)?;
    }
    Ok(())
}

pub(crate) fn end_block(tables: &Tables, bits: &mut BitWriter<'_>) {
    bits.put_or_count(u64::from(tables.end_of_block >> 8), tables.end_of_block & 0xff);
}

#[cfg(test)]
mod tests {
    use linerate_core::{Tier, cpu};

    use super::*;
    use crate::coding::token::{FIRSTS, SECONDS};
    use crate::kernel::dispatch::dispatch;

    #[test]
    fn every_tier_emits_the_same_bits_for_tokens_of_any_length() {
        let mut x = 1u32;
        let mut random = |n: usize| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 8) as usize % n
        };
        // A token takes up to 20 + 28 bits, so a pair takes up to 96.
        for longest in [3, 8, 15] {
            let mut tables = Tables::new();
            for entry in &mut tables.firsts {
                let n = 1 + random(longest + longest / 3);
                *entry = (random(1 << n) << 8 | n) as u32;
            }
            for entry in &mut tables.seconds {
                let (n, extra) = (1 + random(longest), random(longest.min(13) + 1));
                *entry = (random(1 << n) << 16 | n << 8 | (n + extra)) as u32;
            }
            for len in (0..200).step_by(if cfg!(miri) { 29 } else { 1 }) {
                let tokens: Vec<u32> = (0..len)
                    .map(|_| {
                        let (first, second) = (random(FIRSTS), random(SECONDS));
                        let entry = tables.seconds[second];
                        let extra = random(1 << ((entry & 0xff) - (entry >> 8 & 0xff)));
                        (first | second << 9 | extra << 18) as u32
                    })
                    .collect();
                let emitted = |tier: Tier| {
                    let mut out = vec![0; 8 * len + 16];
                    let end = out.len() as u64 * 8 - 64;
                    let mut bits = BitWriter::new(&mut out, 0b101, 3);
                    dispatch(tier, Emit { tokens: &tokens, tables: &tables, bits: &mut bits, end }).unwrap();
                    let (written, pending, pending_len) = bits.end();
                    (out[..written].to_vec(), pending, pending_len)
                };
                assert_eq!(emitted(cpu::tier()), emitted(Tier::Scalar));
            }
        }
    }
}
