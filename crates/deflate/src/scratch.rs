//! Working memory: one per thread, passed into every call, carrying nothing between them.

use linerate_core::Tier;

use crate::kernel::fast::FastWork;
use crate::kernel::parse::Work;
use crate::kernel::trees::Trees;

/// Working memory for levels 0 and 1: at most 64 KiB.
///
/// A call leaves nothing in it that a later call can see, so one per thread serves any number of
/// streams. It is never cleared as a whole: entries of earlier calls are told apart by number.
pub struct FastScratch {
    pub(crate) tier: Option<Tier>,
    pub(crate) work: FastWork,
}

/// Working memory for every level: at most 128 KiB.
///
/// See [`FastScratch`] for what sharing it means.
pub struct Scratch {
    pub(crate) tier: Option<Tier>,
    pub(crate) fast: FastWork,
    pub(crate) work: Work,
    pub(crate) trees: Trees,
}

const _: () = assert!(size_of::<FastScratch>() <= 64 << 10);
const _: () = assert!(size_of::<Scratch>() <= 128 << 10);

impl FastScratch {
    /// Scratch that runs the best code this CPU has. Large: put it in a `static` or a box.
    pub const fn new() -> Self {
        FastScratch { tier: None, work: FastWork::new() }
    }

    /// Scratch on the heap, made without passing through the stack.
    #[cfg(feature = "alloc")]
    pub fn boxed() -> alloc::boxed::Box<Self> {
        crate::kernel::zeroed::boxed()
    }

    /// Runs code of `tier` instead of the best; a tier this machine lacks is ignored.
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Self {
        self.set_tier(tier);
        self
    }

    /// As [`tier`](Self::tier), in place.
    pub fn set_tier(&mut self, tier: Tier) {
        self.tier = tier.is_supported().then_some(tier);
    }
}

impl Scratch {
    /// Scratch that runs the best code this CPU has. Large: put it in a `static` or a box.
    pub const fn new() -> Self {
        Scratch { tier: None, fast: FastWork::new(), work: Work::new(), trees: Trees::new() }
    }

    /// Scratch on the heap, made without passing through the stack.
    #[cfg(feature = "alloc")]
    pub fn boxed() -> alloc::boxed::Box<Self> {
        crate::kernel::zeroed::boxed()
    }

    /// Runs code of `tier` instead of the best; a tier this machine lacks is ignored.
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Self {
        self.set_tier(tier);
        self
    }

    /// As [`tier`](Self::tier), in place.
    pub fn set_tier(&mut self, tier: Tier) {
        self.tier = tier.is_supported().then_some(tier);
    }
}

impl Default for FastScratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// Either scratch, borrowed: what [`Stream::encode`](crate::Stream::encode) takes.
pub enum ScratchMut<'a> {
    /// Serves levels 0 and 1.
    Fast(&'a mut FastScratch),
    /// Serves every level.
    Full(&'a mut Scratch),
}

impl<'a> From<&'a mut FastScratch> for ScratchMut<'a> {
    fn from(scratch: &'a mut FastScratch) -> Self {
        ScratchMut::Fast(scratch)
    }
}

impl<'a> From<&'a mut Scratch> for ScratchMut<'a> {
    fn from(scratch: &'a mut Scratch) -> Self {
        ScratchMut::Full(scratch)
    }
}

#[cfg(feature = "alloc")]
impl<'a> From<&'a mut alloc::boxed::Box<FastScratch>> for ScratchMut<'a> {
    fn from(scratch: &'a mut alloc::boxed::Box<FastScratch>) -> Self {
        ScratchMut::Fast(scratch)
    }
}

#[cfg(feature = "alloc")]
impl<'a> From<&'a mut alloc::boxed::Box<Scratch>> for ScratchMut<'a> {
    fn from(scratch: &'a mut alloc::boxed::Box<Scratch>) -> Self {
        ScratchMut::Full(scratch)
    }
}
