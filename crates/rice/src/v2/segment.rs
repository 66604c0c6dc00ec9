//! The layout of a segment: the head in the table below, then modes, fixed bits, escapes and unary
//! codes. Fixed bits are the low bits of zigzag values, as many as the mode of a block says. A
//! unary code has the quotient, which is the rest of the value; escapes hold quotients that are too
//! large for one. A raw segment, whose kind is 4, has only the first two fields, and then its
//! samples as they are, padded with zeros to a multiple of 4 bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | checksum of the samples |
//! | 1 | kind: predictor in bits 0 to 3; flags [`STEP`], [`ESCAPES`], [`REFERENCES`] |
//! | 1 | lowest mode of the segment |
//! | 1 | bits per mode in bits 0 to 2; order of the linear prediction in bits 3 to 7 |
//! | W | centre; W is the number of bytes of a sample |
//! | W | with [`STEP`]: step |
//! | 2 | with [`ESCAPES`]: number of escapes less one |
//! | 1 + 2 order | with a linear prediction: shift and coefficients |
//! | 1 + 3 n | with [`REFERENCES`]: references to n other channels |

use linerate_core::{Error, Kind, Result};

use super::BLOCK;
use super::blocks::{Modes, fixed_bytes};
use super::element::Word;
use super::references::References;

/// Number of bytes before the samples of a raw segment, which stores its samples as they are.
pub(super) const RAW_HEAD: usize = 5;

/// Maximum order of a linear prediction.
pub(crate) const MAX_ORDER: usize = 8;

const LINEAR: u8 = 3;
const RAW: u8 = 4;
const STEP: u8 = 0x10;
const ESCAPES: u8 = 0x20;
const REFERENCES: u8 = 0x40;

/// Predicts a sample from the samples before it, in the segment's own scale. The prediction is the
/// sum of coefficients times samples, latest sample first, shifted right with rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Predictor {
    taps: [i16; MAX_ORDER],
    order: u8,
    shift: u8,
    /// Whether the predictor is one of [`Predictor::FIXED`], whose coefficients are not stored.
    fixed: bool,
}

impl Predictor {
    /// Order 0 predicts the centre, order 1 the previous sample, and order 2 continues the line
    /// through the two previous samples.
    pub(crate) const FIXED: [Predictor; 3] = [Self::fixed(0), Self::fixed(1), Self::fixed(2)];

    const fn fixed(order: u8) -> Predictor {
        let taps = match order {
            0 => [0; MAX_ORDER],
            1 => [1, 0, 0, 0, 0, 0, 0, 0],
            _ => [2, -1, 0, 0, 0, 0, 0, 0],
        };
        Predictor { taps, order, shift: 0, fixed: true }
    }

    /// Linear prediction from 1 to [`MAX_ORDER`] samples. The sum is divided by 2^`shift`, at most
    /// 2^15.
    pub(super) fn linear(taps: &[i16], shift: u8) -> Predictor {
        let mut all = [0; MAX_ORDER];
        all[..taps.len()].copy_from_slice(taps);
        Predictor { taps: all, order: taps.len() as u8, shift, fixed: false }
    }

    /// The coefficients, beginning with the coefficient of the latest sample.
    pub(crate) fn taps(&self) -> &[i16] {
        &self.taps[..usize::from(self.order)]
    }

    pub(crate) fn shift(&self) -> u32 {
        u32::from(self.shift)
    }

    /// The order of a predictor that is one of [`Self::FIXED`].
    pub(crate) fn fixed_order(&self) -> Option<u8> {
        self.fixed.then_some(self.order)
    }

    /// Size in bytes in the head of a segment.
    pub(super) fn bytes(&self) -> usize {
        if self.fixed { 0 } else { 1 + 2 * self.taps().len() }
    }
}

/// The head of a segment that is not raw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<W> {
    pub(crate) predictor: Predictor,
    /// The sample value at zero of the segment's own scale.
    pub(crate) centre: W,
    /// The difference of samples per unit of the segment's own scale. Encoders write at least 1;
    /// decoders accept 0 too.
    pub(crate) step: W,
    pub(crate) modes: Modes,
    pub(crate) escapes: usize,
    /// Channels whose samples take part in the prediction.
    pub(crate) references: References,
}

/// A parsed segment, borrowed from its bytes.
pub(crate) enum Segment<'a, W> {
    Raw(&'a [u8]),
    Coded {
        head: Head<W>,
        /// The packed modes of the blocks.
        modes: &'a [u8],
        /// The bytes after the modes.
        body: &'a [u8],
    },
}

const fn short(at: usize) -> Error {
    Error::new(Kind::Corrupt, at as u64, "a segment too short for what it holds")
}

/// Reads the fields of a segment in order.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let taken = self.bytes[self.at..].get(..n).ok_or(short(self.at))?;
        self.at += n;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8> {
        self.take(1).map(|b| b[0])
    }

    fn word<W: Word>(&mut self) -> Result<W> {
        self.take(W::BYTES).map(load)
    }

    fn u16(&mut self) -> Result<u16> {
        self.take(2).map(|b| u16::from_le_bytes([b[0], b[1]]))
    }

    fn error(&self, what: &'static str) -> Error {
        Error::new(Kind::Corrupt, self.at as u64, what)
    }
}

/// Reads the little-endian word at the start of `bytes`.
pub(crate) fn load<W: Word>(bytes: &[u8]) -> W {
    W::of(bytes[..W::BYTES].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}

/// Reads the checksum at the beginning of a segment.
pub(super) fn sum_of(segment: &[u8]) -> Result<u32> {
    segment.first_chunk().map(|sum| u32::from_le_bytes(*sum)).ok_or(short(0))
}

impl<'a, W: Word> Segment<'a, W> {
    /// Parses a segment of `samples` samples of channel `channel`, 0 if the stream has no channels.
    pub(super) fn parse(bytes: &'a [u8], samples: usize, channel: usize) -> Result<Segment<'a, W>> {
        let mut fields = Fields { bytes, at: 4 };
        sum_of(bytes)?;
        let kind = fields.byte()?;
        if kind == RAW {
            let raw = fields.take(samples * W::BYTES)?;
            return match &bytes[fields.at..] {
                rest if rest.len() < 4 && rest.iter().all(|&b| b == 0) => Ok(Segment::Raw(raw)),
                _ => Err(fields.error("a raw segment that does not end after its samples")),
            };
        }
        if kind & !(STEP | ESCAPES | REFERENCES) > LINEAR {
            return Err(fields.error("a segment of an unknown kind"));
        }
        let low = fields.byte()?;
        let widths = fields.byte()?;
        let modes = Modes::new::<W>(low, widths & 7).ok_or(fields.error("modes that do not exist"))?;
        let centre = fields.word()?;
        let step = if kind & STEP != 0 { fields.word()? } else { W::of(1) };
        let escapes = if kind & ESCAPES != 0 { usize::from(fields.u16()?) + 1 } else { 0 };
        let order = usize::from(widths >> 3);
        let predictor = match kind & 0xf {
            LINEAR if (1..=MAX_ORDER).contains(&order) => {
                let shift = fields.byte()?;
                let taps = fields.take(2 * order)?.as_chunks().0;
                let mut all = [0; MAX_ORDER];
                all.iter_mut().zip(taps).for_each(|(to, &tap)| *to = i16::from_le_bytes(tap));
                match shift {
                    0..16 => Predictor::linear(&all[..order], shift),
                    _ => return Err(fields.error("a prediction that shifts by more than 15 bits")),
                }
            }
            fixed @ 0..LINEAR if order == 0 => Predictor::FIXED[usize::from(fixed)],
            _ => return Err(fields.error("a prediction of an impossible order")),
        };
        let references = match kind & REFERENCES {
            0 => References::NONE,
            _ => {
                let counts = fields.byte()?;
                let list = fields.take(References::ENTRY * usize::from(counts & 0xf))?;
                let parsed = References::parse(counts, list, channel);
                parsed.ok_or(fields.error("a reference to a channel that does not come before"))?
            }
        };
        let packed = fields.take(modes.bytes(samples.div_ceil(BLOCK)))?;
        let head = Head { predictor, centre, step, modes, escapes, references };
        Ok(Segment::Coded { head, modes: packed, body: &bytes[fields.at..] })
    }
}

/// The parts of a segment's body.
pub(crate) struct Body<'a> {
    pub(crate) fixed: &'a [u8],
    pub(crate) escapes: &'a [u8],
    pub(crate) unary: &'a [u8],
    /// Number of unary codes: one for each sample of the blocks whose mode has unary codes.
    pub(crate) codes: usize,
}

impl<'a> Body<'a> {
    /// Divides `body` by the modes of its blocks.
    pub(crate) fn of<W: Word>(
        body: &'a [u8],
        modes: &[u8],
        samples: usize,
        escapes: usize,
    ) -> Result<Body<'a>> {
        let (mut bytes, mut codes) = (0, 0);
        for (i, &mode) in modes.iter().enumerate() {
            let n = (samples - i * BLOCK).min(BLOCK);
            bytes += fixed_bytes(mode, n);
            codes += if super::blocks::has_unary::<W>(mode) { n } else { 0 };
        }
        let (fixed, rest) = body.split_at_checked(bytes).ok_or(short(0))?;
        let (escapes, unary) = rest.split_at_checked(escapes * W::BYTES).ok_or(short(bytes))?;
        Ok(Body { fixed, escapes, unary, codes })
    }
}

/// Size of the head of a segment in bytes.
pub(super) fn head_bytes<W: Word>(head: &Head<W>) -> usize {
    let step = if head.step == W::of(1) { 0 } else { W::BYTES };
    let escapes = if head.escapes == 0 { 0 } else { 2 };
    7 + W::BYTES + step + escapes + head.predictor.bytes() + head.references.bytes()
}

/// Writes a head to the front of `out`, which must be long enough, and returns its size in bytes.
pub(super) fn write_head<W: Word>(head: &Head<W>, sum: u32, out: &mut [u8]) -> usize {
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        out[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    let predictor = &head.predictor;
    let has_step = head.step != W::of(1);
    let flags = if has_step { STEP } else { 0 }
        | if head.escapes > 0 { ESCAPES } else { 0 }
        | if head.references.is_empty() { 0 } else { REFERENCES };
    let order = if predictor.fixed { 0 } else { predictor.order };
    put(&sum.to_le_bytes());
    put(&[
        predictor.fixed_order().unwrap_or(LINEAR) | flags,
        head.modes.low(),
        head.modes.width() | order << 3,
    ]);
    put(&head.centre.get().to_le_bytes()[..W::BYTES]);
    if has_step {
        put(&head.step.get().to_le_bytes()[..W::BYTES]);
    }
    if head.escapes > 0 {
        put(&((head.escapes - 1) as u16).to_le_bytes());
    }
    if !predictor.fixed {
        put(&[predictor.shift]);
        predictor.taps().iter().for_each(|tap| put(&tap.to_le_bytes()));
    }
    head.references.write(put);
    at
}

/// Writes the head of a raw segment, and returns its size in bytes.
pub(super) fn write_raw_head(sum: u32, out: &mut [u8]) -> usize {
    out[..4].copy_from_slice(&sum.to_le_bytes());
    out[4] = RAW;
    RAW_HEAD
}
