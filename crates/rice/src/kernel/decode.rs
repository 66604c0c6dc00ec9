//! Decoding a batch of segments: which kernel, and the exact error where one fails.

use linerate_core::{Result, Tier};

use super::isa::dispatch;
use super::spec::{self, Position};
use super::turns::Turns;

/// Most segments that are decoded side by side.
pub(crate) const BATCH: usize = 16;

/// A segment to decode.
#[derive(Default)]
pub(crate) struct Lane<'a> {
    /// Its payload.
    pub(crate) payload: &'a [u8],
    /// From the start of the payload to the end of the chunk: what may be read.
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

/// Samples left of a segment below which a kernel would hardly begin.
const FEW: usize = 32;

/// Decodes the bulk of each segment. `None` if something is wrong.
fn fast(tier: Tier, lanes: &mut [Lane], k: u32, delta: bool) -> Option<()> {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    side_by_side(tier, lanes, k, delta)?;
    // All of them, or what differs in length.
    in_turns(tier, lanes, k, delta)
}

/// Bits per sample from which on the table is not used: with so many escapes, look-ups would often
/// find nothing.
#[cfg(feature = "std")]
const LONG_CODES: usize = 9;

#[cfg(feature = "std")]
fn have_long_codes(lanes: &[Lane]) -> bool {
    let total = |of: fn(&Lane) -> usize| lanes.iter().map(of).sum::<usize>();
    8 * total(|l| l.payload.len()) > LONG_CODES * total(|l| l.out.len())
}

/// Segments from which on registers with a lane for each are worth while, even if half of the
/// lanes stay empty.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
const MANY: usize = 5;

/// Samples of a segment from which on sixteen outputs at once are too many for the caches; with
/// AVX2 the table, where it can be used, is then faster.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
const LONG_SEGMENT: usize = 128 << 10;

/// Decodes what the segments have in common in length, if there are enough of them.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn side_by_side(tier: Tier, lanes: &mut [Lane], k: u32, delta: bool) -> Option<()> {
    // The last segment of a chunk may be much shorter than the rest.
    let samples = lanes.first()?.out.len();
    let like = lanes.iter().take_while(|l| l.out.len() >= samples - samples / 8).count();
    let lanes = &mut lanes[..like];
    // Positions are counted in 32-bit words from the first payload on.
    let near = (4..i32::MAX as usize).contains(&lanes[0].readable.len());
    if !near || samples < FEW {
        return Some(());
    }
    if tier >= Tier::Avx512 && lanes.len() > BATCH / 2 {
        // SAFETY: the tier was detected.
        return unsafe { super::lockstep::decode(lanes, k, delta) };
    }
    if tier >= Tier::Avx2 && lanes.len() >= MANY && (samples < LONG_SEGMENT || have_long_codes(lanes)) {
        // SAFETY: the tier was detected.
        return unsafe { super::eights::decode(lanes, k, delta) };
    }
    Some(())
}

/// Decodes what is left of the segments.
fn in_turns(tier: Tier, lanes: &mut [Lane], k: u32, delta: bool) -> Option<()> {
    if lanes.iter().all(|l| l.out.len() - l.at.sample < FEW) {
        return Some(());
    }
    #[cfg(feature = "std")]
    let table = (!have_long_codes(lanes)).then(|| super::table::table(k));
    #[cfg(not(feature = "std"))]
    let table = None;
    dispatch(tier, Turns { lanes, table, k, delta })
}
