//! The choice between the reference implementation and the kernels of a CPU tier.

use linerate_core::Tier;

/// Which implementation of the hot loops runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelSet {
    /// The safe reference implementation, which the kernels must match.
    Reference,
    /// The kernels compiled for a tier that this CPU supports.
    Tier(Tier),
}

impl KernelSet {
    /// Reduces the choice to what the build has: with the feature `small`, only the scalar kernels.
    /// This is known at compile time, so that the compiler drops the code of the others.
    #[inline(always)]
    pub(crate) fn compiled(self) -> Self {
        if cfg!(feature = "small") { KernelSet::Tier(Tier::Scalar) } else { self }
    }

    /// Returns the kernels of the best supported tier, or of a lower one that `LINERATE_CPU` names.
    pub(crate) fn detected() -> Self {
        KernelSet::Tier(linerate_core::cpu::tier())
    }
}
