//! Working memory: one per thread, passed to every call.

use linerate_core::{Tier, cpu};

use crate::tables::Tables;

/// Working memory for any number of decoders that one thread uses in turn: about 12 KB of decode
/// tables, with nothing on the heap. Results never depend on earlier use. A decoder that continues
/// in the middle of a block reuses its tables if no other decoder has used the scratch since, and
/// otherwise builds them again.
pub struct Scratch {
    pub(crate) tables: Tables,
    /// Tier of the fast loop. If it is `None`, the checked loop decodes everything.
    pub(crate) tier: Option<Tier>,
}

impl Scratch {
    /// Creates a scratch that runs the loop of the best tier this CPU supports, or of a lower one
    /// that `LINERATE_CPU` names.
    pub fn new() -> Self {
        Scratch { tables: Tables::new(), tier: Some(cpu::tier()) }
    }

    /// Runs the loop of `tier` instead. An unsupported tier is ignored.
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Self {
        if tier.is_supported() {
            self.tier = Some(tier);
        }
        self
    }

    /// Runs the checked loop, which the fast loops are tested against. It is slow.
    #[must_use]
    pub fn reference(mut self) -> Self {
        self.tier = None;
        self
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}
