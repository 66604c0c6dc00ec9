//! Working memory: one per thread, passed to every call.

use linerate_core::{Tier, cpu};

use crate::tables::Tables;

/// Working memory for any number of decoders used one after another by one thread: decode tables, about 12 KB, without
/// anything on the heap. Results never depend on earlier use; a decoder that goes on in the middle of a block finds its
/// tables again, if no other has used the scratch since, and builds them anew otherwise.
pub struct Scratch {
    pub(crate) tables: Tables,
    /// Tier of the fast loop; without one the checked loop decodes everything.
    pub(crate) tier: Option<Tier>,
}

impl Scratch {
    /// A scratch that runs the loop of the best tier this CPU supports.
    pub fn new() -> Self {
        Scratch { tables: Tables::new(), tier: Some(cpu::tier()) }
    }

    /// Runs the loop of `tier` instead; an unsupported tier is ignored.
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Self {
        if tier.is_supported() {
            self.tier = Some(tier);
        }
        self
    }

    /// Runs the checked loop that the fast ones are tested against. Slow.
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
