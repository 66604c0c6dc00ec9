//! Working memory: one per thread, passed to every call. It carries no state from one call to the
//! next.

use linerate_core::Tier;

#[cfg(feature = "alloc")]
use crate::block::optimal::Optimal;
use crate::kernel::chains::ChainTables;
use crate::kernel::fast::FastState;
use crate::kernel::parse::ParseState;
#[cfg(feature = "alloc")]
use crate::kernel::quick::STAGING;
use crate::kernel::trees::Trees;

/// Working memory for levels 0 and 1: at most 64 KiB.
///
/// Results never depend on earlier use, so one scratch per thread serves any number of streams.
/// Short calls do not clear it: they recognize the entries of earlier calls by their rebased
/// positions.
pub struct FastScratch {
    pub(crate) tier: Option<Tier>,
    pub(crate) work: FastState,
}

/// Working memory for every level and for sessions: at most 600 KiB. Levels 0 to 3 touch 127 KiB of
/// it; level 3 touches another 320 KiB on 16-bit samples. Levels 8 and 9 [allocate](Self::memory)
/// another 7 MiB.
///
/// Any number of streams can share it, like a [`FastScratch`].
pub struct Scratch {
    pub(crate) tier: Option<Tier>,
    pub(crate) fast: FastState,
    pub(crate) work: ParseState,
    pub(crate) trees: Trees,
    pub(crate) chains: ChainTables,
    /// Buffer for a short message of a session and its block.
    #[cfg(feature = "alloc")]
    pub(crate) staging: [u8; STAGING],
    /// State of levels 8 and 9, allocated by the first call at one of them.
    #[cfg(feature = "alloc")]
    pub(crate) optimal: Option<alloc::boxed::Box<Optimal>>,
}

const _: () = assert!(size_of::<FastScratch>() <= 64 << 10);
const _: () = assert!(size_of::<Scratch>() <= 600 << 10);

impl FastScratch {
    /// Creates a scratch that runs the kernels of [`linerate_core::cpu::tier`]: the best tier that
    /// this CPU supports, or a lower one that `LINERATE_CPU` names. It is large: put it in a
    /// `static` or a box.
    pub const fn new() -> Self {
        FastScratch { tier: None, work: FastState::new() }
    }

    /// Creates a scratch on the heap without passing it through the stack.
    #[cfg(feature = "alloc")]
    pub fn boxed() -> alloc::boxed::Box<Self> {
        crate::sys::zeroed::boxed()
    }

    /// Runs the kernels of `tier` from now on. An unsupported tier selects that of
    /// [`new`](Self::new).
    pub fn set_tier(&mut self, tier: Tier) {
        self.tier = tier.is_supported().then_some(tier);
    }
}

impl Scratch {
    /// Creates a scratch that runs the kernels of [`linerate_core::cpu::tier`]: the best tier that
    /// this CPU supports, or a lower one that `LINERATE_CPU` names. It is large: put it in a
    /// `static` or a box.
    pub const fn new() -> Self {
        Scratch {
            tier: None,
            fast: FastState::new(),
            work: ParseState::new(),
            trees: Trees::new(),
            chains: ChainTables::new(),
            #[cfg(feature = "alloc")]
            staging: [0; STAGING],
            #[cfg(feature = "alloc")]
            optimal: None,
        }
    }

    /// Creates a scratch on the heap without passing it through the stack.
    #[cfg(feature = "alloc")]
    pub fn boxed() -> alloc::boxed::Box<Self> {
        crate::sys::zeroed::boxed()
    }

    /// Runs the kernels of `tier` from now on. An unsupported tier selects that of
    /// [`new`](Self::new).
    pub fn set_tier(&mut self, tier: Tier) {
        self.tier = tier.is_supported().then_some(tier);
    }

    /// Returns the size in bytes of the scratch itself and of the memory that the first call at
    /// level 8 or 9 allocated.
    pub fn memory(&self) -> usize {
        #[cfg(feature = "alloc")]
        let allocated = self.optimal.as_ref().map_or(0, |optimal| size_of_val(&**optimal));
        #[cfg(not(feature = "alloc"))]
        let allocated = 0;
        size_of::<Self>() + allocated
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

/// A borrowed scratch of either kind, for [`Stream::encode`](crate::Stream::encode).
pub enum ScratchMut<'a> {
    /// A scratch for levels 0 and 1.
    Fast(&'a mut FastScratch),
    /// A scratch for every level.
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
