//! The encoder's analysis of a segment, compiled once per CPU tier: loops over samples that the compiler
//! vectorises.

use linerate_core::Tier;

use super::dispatch::dispatch;
use super::isa::{Isa, Kernel};
use crate::v2::Element;
use crate::v2::plan::{Plan, Scratch, plan_here};

/// Plans the encoding of a segment. Leaves its residuals and modes in `scratch`.
pub(crate) fn plan<T: Element>(
    tier: Tier,
    words: &[T::Word],
    scratch: &mut Scratch<T::Word>,
) -> Plan<T::Word> {
    dispatch(tier, Planning::<T> { tier, words, scratch })
}

struct Planning<'a, T: Element> {
    tier: Tier,
    words: &'a [T::Word],
    scratch: &'a mut Scratch<T::Word>,
}

impl<T: Element> Kernel for Planning<'_, T> {
    type Output = Plan<T::Word>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Plan<T::Word> {
        plan_here::<T>(self.tier, self.words, self.scratch)
    }
}
