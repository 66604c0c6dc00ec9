//! Decoding a batch of segments: which kernel, and the exact error where one fails.

use linerate_core::{Result, Tier};

use super::spec::{self, Position};

/// Most segments that are decoded side by side.
pub(crate) const BATCH: usize = 16;

/// A segment to decode.
#[derive(Default)]
pub(crate) struct Lane<'a> {
    /// Its payload.
    pub(crate) payload: &'a [u8],
    /// From the start of the payload to the end of the chunk: what may be read.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "for kernels that need std"))]
    pub(crate) readable: &'a [u8],
    /// Where its samples go.
    pub(crate) out: &'a mut [i16],
    /// Offset of the payload in the chunk.
    pub(crate) offset: usize,
    /// How far a kernel has come.
    pub(crate) at: Position,
}

impl Lane<'_> {
    fn finish(&mut self, k: u32, delta: bool) -> Result<()> {
        spec::decode(self.payload, k, delta, self.at, self.out).map_err(|e| e.shifted(self.offset as u64))
    }
}

/// Decodes up to [`BATCH`] segments, in any order.
///
/// # Errors
/// As the specification has them for the first segment at fault.
pub(crate) fn decode(tier: Tier, lanes: &mut [Lane], k: u32, delta: bool) -> Result<()> {
    // Kernels only say that something is wrong, or leave it to the last samples to find out; they
    // may also have run past a payload into the next. Either way the specification decides.
    if fast(tier, lanes, k, delta).is_some() && lanes.iter_mut().all(|l| l.finish(k, delta).is_ok()) {
        return Ok(());
    }
    lanes.iter_mut().try_for_each(|lane| {
        lane.at = Position::default();
        lane.finish(k, delta)
    })
}

#[cfg(not(feature = "std"))]
fn fast(_: Tier, _: &mut [Lane], _: u32, _: bool) -> Option<()> {
    Some(())
}

#[cfg(feature = "std")]
fn fast(tier: Tier, lanes: &mut [Lane], k: u32, delta: bool) -> Option<()> {
    #[cfg(target_arch = "x86_64")]
    if super::lockstep::pays(tier, lanes) {
        return super::lockstep::decode(lanes, k, delta);
    }
    if delta { turns::<true>(tier, lanes, k) } else { turns::<false>(tier, lanes, k) }
}

/// Bits per sample from which on the table is not used: most look-ups would yield one sample or
/// none.
#[cfg(feature = "std")]
const LONG_CODES: usize = 7;

#[cfg(feature = "std")]
fn turns<const DELTA: bool>(tier: Tier, lanes: &mut [Lane], k: u32) -> Option<()> {
    use super::isa::dispatch;
    use super::table::table;
    use super::turns::Turns;

    let total = |of: fn(&Lane) -> usize| lanes.iter().map(of).sum::<usize>();
    let long = 8 * total(|l| l.payload.len()) > LONG_CODES * total(|l| l.out.len());
    let table = (!long).then(|| table(k, DELTA));
    let (fours, rest) = lanes.as_chunks_mut::<4>();
    for lanes in fours {
        dispatch(tier, Turns::<4, DELTA> { lanes, table, k })?;
    }
    let (twos, rest) = rest.as_chunks_mut::<2>();
    for lanes in twos {
        dispatch(tier, Turns::<2, DELTA> { lanes, table, k })?;
    }
    for lanes in rest.as_chunks_mut::<1>().0 {
        dispatch(tier, Turns::<1, DELTA> { lanes, table, k })?;
    }
    Some(())
}
