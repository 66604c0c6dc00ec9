//! Fits trees to a block of level 1 that no built-in pair suits, such as 16-bit images and signals.
//! The trees are made from the block's bytes alone, before any match is found.

use super::dispatch::Kernel;
use super::header::Header;
use super::isa::Isa;
use crate::coding::bits::BitWriter;
use crate::coding::builtin::{BINARY_DISTANCES, put_header};
use crate::coding::huffman::{Code, TreeWork};
use crate::coding::tables::{END_OF_BLOCK, LITLENS, Tables};
use crate::kernel::fast::MAX_LITLEN;

/// Number of bytes counted of every [`STRIDE`] bytes.
const COUNTED: usize = 64;
const STRIDE: usize = 256;
/// A block of this size or less is counted whole.
const COUNT_ALL: usize = 4 << 10;
/// Size of the largest header in bytes: 19 lengths of 3 bits, and 316 lengths of at most 7 bits
/// with up to 7 extra bits.
const MAX_HEADER: usize = 640;

/// Trees for one block.
pub(crate) struct Fitted {
    counts: [[u32; 256]; 2],
    litlen_freqs: [u32; LITLENS],
    litlens: Code<LITLENS>,
    header: Header,
    work: TreeWork,
    written: [u8; MAX_HEADER],
    header_bits: u32,
}

impl Fitted {
    pub(crate) const fn new() -> Self {
        Fitted {
            counts: [[0; 256]; 2],
            litlen_freqs: [0; LITLENS],
            litlens: Code::new(),
            header: Header::new(),
            work: TreeWork::new(),
            written: [0; MAX_HEADER],
            header_bits: 0,
        }
    }

    /// Writes the block header.
    pub(crate) fn begin(&self, bits: &mut BitWriter<'_>) {
        put_header(&self.written, self.header_bits, bits);
    }

    /// Counts a sample of the bytes of `input`, and returns the size of the sample.
    fn count(&mut self, input: &[u8]) -> u32 {
        let stride = if input.len() <= COUNT_ALL { COUNTED } else { STRIDE };
        self.counts = [[0; 256]; 2];
        let mut counted = 0;
        for piece in input.chunks(stride) {
            let piece = &piece[..piece.len().min(COUNTED)];
            // Two tables, because equal neighbours in one table would wait for each other.
            for (i, &byte) in piece.iter().enumerate() {
                self.counts[i % 2][usize::from(byte)] += 1;
            }
            counted += piece.len() as u32;
        }
        counted
    }

    /// Estimates frequencies from `counted` bytes. Every symbol gets a code, because the block may
    /// contain any. Short lengths get a share for the few matches that will occur.
    fn estimate(&mut self, counted: u32) {
        let [even, odd] = &self.counts;
        for (freq, (a, b)) in self.litlen_freqs.iter_mut().zip(even.iter().zip(odd)) {
            *freq = (a + b).max(1);
        }
        self.litlen_freqs[END_OF_BLOCK..].fill(1);
        for (freq, share) in self.litlen_freqs[258..].iter_mut().zip([64, 128, 256]) {
            *freq = (counted / share).max(1);
        }
    }
}

/// Makes trees for `input`. Returns whether with their header they save more than 1/8 compared with
/// literals that take `bits_per_64` bits, or 512 if that is less, for 64 bytes.
pub(crate) struct Fit<'a> {
    pub(crate) fitted: &'a mut Fitted,
    pub(crate) tables: &'a mut Tables,
    pub(crate) input: &'a [u8],
    pub(crate) bits_per_64: u32,
}

impl Kernel for Fit<'_> {
    type Output = bool;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> bool {
        let Fit { fitted, tables, input, bits_per_64 } = self;
        let counted = fitted.count(input);
        fitted.estimate(counted);
        let Fitted { litlen_freqs, litlens, header, work, .. } = fitted;
        litlens.make(litlen_freqs, u32::from(MAX_LITLEN), work);
        // SAFETY: as the caller vouches.
        let header_bits = unsafe { header.make::<I>(&litlens.lengths, &BINARY_DISTANCES.lengths, work) };
        let literals = litlen_freqs[..256].iter().zip(&litlens.lengths);
        let bits: u64 = literals.map(|(&freq, &length)| u64::from(freq) * u64::from(length)).sum();
        let (counted, whole) = (u64::from(counted), input.len() as u64);
        let cost = bits * whole / counted + u64::from(header_bits);
        // Literals cost at most 8 bits per byte, as in a stored block. Trees that do not save more
        // than 1/8 of that cost are not worth their time.
        if cost * 64 >= whole * u64::from(bits_per_64.min(8 * 64)) * 7 / 8 {
            return false;
        }
        let mut bits = BitWriter::new(&mut fitted.written, 0, 0);
        let put = bits.put(0b10, 2).and_then(|()| header.put(&mut bits)).and_then(|()| bits.align());
        debug_assert!(put.is_ok(), "the header fits");
        fitted.header_bits = 2 + header_bits;
        tables.fill(litlens, &BINARY_DISTANCES);
        true
    }
}
