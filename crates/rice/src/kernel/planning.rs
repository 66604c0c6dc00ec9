//! The encoder's analysis of a segment, compiled once per CPU tier: loops over samples that the
//! compiler vectorises.

use linerate_core::Tier;

use super::dispatch::dispatch;
use super::isa::{Isa, Kernel};
use super::quotients::Sums;
use crate::v2::element::Word;
use crate::v2::plan::{Plan, Scratch, plan_here};
use crate::v2::references::References;

/// Plans the encoding of a segment of words that stand for numbers with or without a sign. In a
/// stream with channels, `references` are the references of the part, whose prediction is
/// subtracted already. Leaves the part's residuals and modes in `scratch`.
pub(crate) fn plan<W: Word>(
    tier: Tier,
    words: &[W],
    signed: bool,
    references: Option<References>,
    scratch: &mut Scratch<W>,
) -> Plan<W> {
    dispatch(tier, Planning { tier, words, signed, references, scratch })
}

struct Planning<'a, W: Word> {
    tier: Tier,
    words: &'a [W],
    signed: bool,
    references: Option<References>,
    scratch: &'a mut Scratch<W>,
}

impl<W: Word> Kernel for Planning<'_, W> {
    type Output = Plan<W>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Plan<W> {
        // SAFETY: the caller vouches for the CPU.
        let sums = unsafe { Sums::<I>::new() };
        plan_here(&sums, self.tier, self.words, self.signed, self.references, self.scratch)
    }
}
