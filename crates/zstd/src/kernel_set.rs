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
    /// The choice, as far as the build has one: with the feature `small` the scalar kernels alone. The compiler sees it, so
    /// that no code of the others is left.
    #[inline(always)]
    pub(crate) fn compiled(self) -> Self {
        if cfg!(feature = "small") { KernelSet::Tier(Tier::Scalar) } else { self }
    }

    /// The kernels of the best supported tier.
    pub(crate) fn detected() -> Self {
        KernelSet::Tier(linerate_core::cpu::tier())
    }
}
