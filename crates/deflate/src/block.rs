//! Placeholder: stored blocks only, until the kernels land.
use linerate_core::Result;

use crate::kernel::bits::BitWriter;
use crate::{Level, ScratchMut};

pub(crate) struct Call<'a> {
    pub(crate) buffer: &'a [u8],
    pub(crate) history: usize,
    pub(crate) last: bool,
}

pub(crate) fn encode(_: Level, _: ScratchMut<'_>, call: &Call<'_>, bits: &mut BitWriter<'_>) -> Result<()> {
    let input = &call.buffer[call.history..];
    let pieces = input.len().div_ceil(65_535);
    for (i, piece) in input.chunks(65_535).enumerate() {
        bits.put_stored(piece, call.last && i + 1 == pieces)?;
    }
    Ok(())
}
