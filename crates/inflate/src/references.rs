//! [`References`]: finds the bytes of a window that later matches refer to.

use crate::block_decoder::{BlockDecoder, NO_STOP, Stop};
use crate::scratch::Scratch;
use crate::window::{FIRST_MARKER, History, WINDOW};

/// Decodes up to 32 KiB after a window whose bytes are unknown, into 16-bit units. The window is
/// filled with markers for its places. The markers that appear in the output show which places
/// matches refer to, directly or through copies.
pub(crate) struct References {
    blocks: BlockDecoder,
    scratch: Box<Scratch>,
    /// The window, then the output.
    units: Box<[u16]>,
    len: usize,
    is_done: bool,
    /// Whether everything so far was decoded without an error.
    is_known: bool,
}

impl References {
    pub(crate) fn new() -> Self {
        let mut units = vec![0; 2 * WINDOW].into_boxed_slice();
        units.iter_mut().zip(FIRST_MARKER..).take(WINDOW).for_each(|(unit, marker)| *unit = marker);
        let (blocks, scratch) = (BlockDecoder::new(), Box::default());
        References { blocks, scratch, units, len: WINDOW, is_done: true, is_known: false }
    }

    /// Returns which of the 32 KiB before a block later matches refer to: see
    /// [`referred`](Self::referred).
    pub(crate) fn find(&mut self, blocks: BlockDecoder, src: &[u8]) -> Vec<bool> {
        self.begin(blocks);
        self.feed(src);
        self.referred()
    }

    /// Begins anew with a decoder that is before a block.
    pub(crate) fn begin(&mut self, blocks: BlockDecoder) {
        (self.blocks, self.len, self.is_done, self.is_known) = (blocks, WINDOW, false, true);
    }

    /// Returns whether no more input is needed: 32 KiB are decoded, the data has ended, or it is
    /// damaged.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Continues with more of the input.
    pub(crate) fn feed(&mut self, src: &[u8]) {
        if self.is_done {
            return;
        }
        let (stop, _, written) = self.blocks.decode_until(
            &mut self.scratch,
            (History::EMPTY, WINDOW),
            src,
            &mut self.units,
            self.len,
            NO_STOP,
        );
        self.len += written;
        self.is_known = !matches!(stop, Err(Stop::Failed(_)));
        self.is_done = !matches!(stop, Err(Stop::Exhausted));
    }

    /// Returns for each byte of the 32 KiB, oldest first, whether matches refer to it. If the data
    /// is damaged or incomplete, they may refer to any byte, and all are true.
    pub(crate) fn referred(&self) -> Vec<bool> {
        let is_known = self.is_known && self.is_done;
        let mut referred = vec![!is_known; WINDOW];
        for unit in &self.units[WINDOW..self.len] {
            if let Some(place) = unit.checked_sub(FIRST_MARKER) {
                referred[usize::from(place)] = true;
            }
        }
        referred
    }
}
