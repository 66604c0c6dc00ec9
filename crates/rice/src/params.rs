//! The parameters of a chunk. They are stored outside it, in HDF5's filter message.

use core::num::NonZeroU32;

use linerate_core::{Error, Kind, Result};

/// Maximum number of coefficients of a [`Filter`].
pub const MAX_TAPS: usize = 32;

/// An integer FIR filter that predicts samples before coding, modulo 2^16.
///
/// With coefficients c and samples x, and zeros before the segment, the coded values are
/// y\[i\] = c\[0\] x\[i\] + c\[1\] x\[i-1\] + ... The default \[1, -1\] is the running difference.
///
/// The inverse restores every input if and only if c\[0\] is 1 or -1.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Filter {
    taps: [i32; MAX_TAPS],
    len: u8,
}

impl Filter {
    /// The running difference, \[1, -1\].
    pub const DELTA: Filter = Filter::of(&[1, -1]);
    /// The samples as they are, \[1\].
    pub const IDENTITY: Filter = Filter::of(&[1]);

    const fn of(taps: &[i32]) -> Filter {
        let mut filter = Filter { taps: [0; MAX_TAPS], len: taps.len() as u8 };
        let mut i = 0;
        while i < taps.len() {
            filter.taps[i] = taps[i];
            i += 1;
        }
        filter
    }

    /// Creates a filter from its coefficients, c\[0\] first.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] if there are none or if c\[0\] is 0; [`Kind::Unsupported`] if there
    /// are more than [`MAX_TAPS`].
    pub fn new(taps: &[i32]) -> Result<Filter> {
        match taps {
            [] => Err(Error::new(Kind::BadArgument, 0, "a filter needs at least one coefficient")),
            [0, ..] => {
                Err(Error::new(Kind::BadArgument, 0, "the first coefficient is 0: nothing can be decoded"))
            }
            _ if taps.len() > MAX_TAPS => {
                Err(Error::new(Kind::Unsupported, 0, "a filter of more than 32 coefficients"))
            }
            _ => Ok(Filter::of(taps)),
        }
    }

    /// The coefficients, c\[0\] first.
    pub fn taps(&self) -> &[i32] {
        &self.taps[..usize::from(self.len)]
    }

    /// Whether the inverse restores every input: c\[0\] is 1 or -1.
    pub fn is_lossless(&self) -> bool {
        matches!(self.taps[0], 1 | -1)
    }
}

impl core::fmt::Debug for Filter {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Filter").field(&self.taps()).finish()
    }
}

/// The parameters of a chunk: m, segment and filter, as in the `cd_values` of filter 32025.
///
/// ```
/// use linerate_rice::{Filter, Params};
/// let params = Params::from_cd_values(&[32, 7000])?;
/// assert_eq!((params.m(), params.segment().unwrap().get()), (32, 7000));
/// assert_eq!(params.filter(), &Filter::DELTA);
/// assert_eq!(Params::from_cd_values(&[])?, Params::default());
/// assert!(Params::from_cd_values(&[12]).is_err(), "not a power of two");
/// # Ok::<(), linerate_rice::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    m: u32,
    segment: Option<NonZeroU32>,
    filter: Filter,
}

impl Default for Params {
    /// The parameters that absent `cd_values` mean: m = 8, one segment, the running difference.
    fn default() -> Self {
        Params { m: 8, segment: None, filter: Filter::DELTA }
    }
}

impl Params {
    /// Minimum number of samples of a segment that joins short rows, in [`Params::segment_for`].
    /// Each segment costs about 11 bytes for its length, its first sample and padding.
    const MIN_SEGMENT: u64 = 1024;
    /// Samples per segment of a single long row, in [`Params::segment_for`]. Decoders work on
    /// several segments at once; a chunk of one segment decodes at a fifth of the speed.
    const LONG_ROW_SEGMENT: u64 = 16_384;

    /// Largest m.
    const MAX_M: u32 = 32_768;
    /// Maximum number of `cd_values` of [`Params::cd_values`].
    pub const MAX_CD_VALUES: usize = 3 + MAX_TAPS;

    /// Creates parameters whose filter is the running difference.
    ///
    /// * `m`: the Rice parameter, a power of two in 1..=32768. m = 1 can only be decoded.
    /// * `segment`: samples per independently coded waveform, or `None` for the whole chunk.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for any other `m`.
    pub fn new(m: u32, segment: Option<NonZeroU32>) -> Result<Params> {
        if !m.is_power_of_two() || m > Self::MAX_M {
            return Err(Error::new(Kind::BadArgument, 0, "m is not a power of two from 1 to 32768"));
        }
        Ok(Params { m, segment, filter: Filter::DELTA })
    }

    /// The same parameters with another filter.
    #[must_use]
    pub fn with_filter(self, filter: Filter) -> Params {
        Params { filter, ..self }
    }

    /// Reads the values of an HDF5 filter message in any of its forms: none, \[m\], \[m, segment\]
    /// or \[m, segment, F, c0, .., c(F-1)\]. Negative numbers are in two's complement, and a
    /// segment of -1 is the whole chunk. Values after the last coefficient are ignored.
    ///
    /// # Errors
    /// Errors of [`Params::new`] and [`Filter::new`]; [`Kind::BadArgument`] also for a segment of 0
    /// or below -1, and for a count of coefficients that is not positive or exceeds the values that
    /// follow. The offset is where the invalid value begins, in bytes, at 4 bytes per value.
    pub fn from_cd_values(values: &[u32]) -> Result<Params> {
        let bad = |index: u64, what| Error::new(Kind::BadArgument, 4 * index, what);
        let m = values.first().copied().unwrap_or(8);
        let segment = match values.get(1).map(|&v| v as i32) {
            None | Some(-1) => None,
            Some(n @ 1..) => NonZeroU32::new(n as u32),
            Some(0) => return Err(bad(1, "a segment of 0 samples")),
            Some(_) => return Err(bad(1, "a negative segment other than -1")),
        };
        let params = Params::new(m, segment)?;
        let Some(&count) = values.get(2) else { return Ok(params) };
        if count as i32 <= 0 {
            return Err(bad(2, "the number of coefficients is not positive"));
        }
        if count as usize > values.len() - 3 {
            return Err(bad(2, "fewer coefficients than their count"));
        }
        if count as usize > MAX_TAPS {
            return Err(Error::new(Kind::Unsupported, 8, "a filter of more than 32 coefficients"));
        }
        let mut taps = [0; MAX_TAPS];
        let taps = &mut taps[..count as usize];
        taps.iter_mut().zip(&values[3..]).for_each(|(tap, &v)| *tap = v as i32);
        Ok(params.with_filter(Filter::new(taps).map_err(|e| e.shifted(12))?))
    }

    /// Returns the number of `cd_values`, and the values. [`Params::from_cd_values`] reads them
    /// back.
    ///
    /// A segment of more than 2^31 - 1 samples cannot be expressed and becomes -1.
    pub fn cd_values(&self) -> (usize, [u32; Self::MAX_CD_VALUES]) {
        let mut values = [0; Self::MAX_CD_VALUES];
        let taps = self.filter.taps();
        values[0] = self.m;
        values[1] = self.segment.map(NonZeroU32::get).filter(|&n| n <= i32::MAX as u32).unwrap_or(u32::MAX);
        values[2] = taps.len() as u32;
        values[3..].iter_mut().zip(taps).for_each(|(v, &tap)| *v = tap as u32);
        (3 + taps.len(), values)
    }

    /// The Rice parameter.
    pub fn m(&self) -> u32 {
        self.m
    }

    /// Samples per independently coded waveform, or `None` for the whole chunk.
    pub fn segment(&self) -> Option<NonZeroU32> {
        self.segment
    }

    /// The filter applied before coding.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Returns the maximum size in bytes of a chunk of `samples` samples: 25 bits per sample, each
    /// segment rounded up to 4 bytes, plus 4 bytes per segment and 4 bytes for the chunk.
    ///
    /// Saturates at `usize::MAX`, which no buffer can hold.
    pub fn bound(&self, samples: usize) -> usize {
        let words = |n: usize| n / 32 * 25 + (n % 32 * 25).div_ceil(32); // no overflow
        let of_one = |n: usize| words(n).saturating_add(1).saturating_mul(4);
        if samples == 0 {
            return 4;
        }
        let segment = self.segment_of(samples);
        let last = samples % segment;
        let full = of_one(segment).saturating_mul(samples / segment);
        full.saturating_add(if last == 0 { 0 } else { of_one(last) }).saturating_add(4)
    }

    /// Chooses the samples per segment for a chunk of this shape. A segment is one row (the last
    /// axis), or as many whole rows as it takes to have 1,024 samples. A chunk of a single row is
    /// divided into segments of 16,384 samples. `None`, one segment for the whole chunk, if the
    /// chunk has no more samples than such a segment, or if such a segment has 2^31 samples or
    /// more, which `cd_values` cannot express.
    ///
    /// ```
    /// use linerate_rice::Params;
    /// let segment = |shape: &[u64]| Params::segment_for(shape).map(|n| n.get());
    /// assert_eq!(segment(&[64, 7000]), Some(7000));
    /// assert_eq!(segment(&[4800, 2]), Some(1024)); // 512 rows
    /// assert_eq!(segment(&[100_000]), Some(16_384));
    /// assert_eq!(segment(&[7000]), None);
    /// ```
    pub fn segment_for(shape: &[u64]) -> Option<NonZeroU32> {
        let samples = shape.iter().fold(1u64, |product, &n| product.saturating_mul(n));
        let row = shape.last().copied().unwrap_or(1).max(1);
        let segment = match row == samples {
            true => Self::LONG_ROW_SEGMENT,
            false => row.saturating_mul(Self::MIN_SEGMENT.div_ceil(row)),
        };
        // `cd_values` store the segment length as a signed number.
        let fits = i32::try_from(segment).ok().filter(|_| segment < samples);
        fits.and_then(|n| NonZeroU32::new(n as u32))
    }

    /// log2(m).
    pub(crate) fn k(&self) -> u32 {
        self.m.trailing_zeros()
    }

    /// Samples per segment in a chunk of `samples` samples: at least 1, at most `samples` unless
    /// that is 0.
    pub(crate) fn segment_of(&self, samples: usize) -> usize {
        let whole = samples.max(1);
        self.segment.map_or(whole, |n| usize::try_from(n.get()).unwrap_or(whole).min(whole))
    }

    /// Checks that encoding loses no data.
    pub(crate) fn check_encode(&self) -> Result<()> {
        if self.m < 2 {
            return Err(Error::new(Kind::BadArgument, 0, "m = 1 can only be decoded"));
        }
        if !self.filter.is_lossless() {
            return Err(Error::new(
                Kind::BadArgument,
                12,
                "a filter whose first coefficient is not 1 or -1 would lose data",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(values: &[u32]) -> (Kind, u64) {
        let e = Params::from_cd_values(values).unwrap_err();
        (e.kind, e.offset)
    }

    #[test]
    fn cd_values_of_every_form_are_read() {
        let whole = u32::MAX;
        assert_eq!(Params::from_cd_values(&[16]).unwrap().m(), 16);
        assert_eq!(Params::from_cd_values(&[8, whole]).unwrap(), Params::default());
        let params = Params::from_cd_values(&[8, 5, 3, 1, -2i32 as u32, 1]).unwrap();
        assert_eq!(params.filter().taps(), [1, -2, 1]);
        assert_eq!(params.segment(), NonZeroU32::new(5));
        let more = Params::from_cd_values(&[8, 5, 1, 1, 77, 78]).unwrap();
        assert_eq!(more.filter(), &Filter::IDENTITY);
    }

    #[test]
    fn invalid_cd_values_are_errors_at_their_offset() {
        for m in [0, 3, 12, 65_536, u32::MAX] {
            assert_eq!(error(&[m]), (Kind::BadArgument, 0), "m = {m}");
        }
        for segment in [0, -2, i32::MIN] {
            assert_eq!(error(&[8, segment as u32]), (Kind::BadArgument, 4), "{segment}");
        }
        assert_eq!(error(&[8, 5, 0]), (Kind::BadArgument, 8));
        assert_eq!(error(&[8, 5, u32::MAX, 1]), (Kind::BadArgument, 8));
        assert_eq!(error(&[8, 5, 2, 1]), (Kind::BadArgument, 8));
        assert_eq!(error(&[8, 5, 2, 0, 1]), (Kind::BadArgument, 12));
        let mut many = vec![8, 5, 33];
        many.extend([1; 33]);
        assert_eq!(error(&many), (Kind::Unsupported, 8));
    }

    #[test]
    fn cd_values_round_trip() {
        let all = [1; MAX_TAPS];
        for taps in [&[1, -1][..], &[1], &[-1, 2, -1], &all] {
            for segment in [None, NonZeroU32::new(1), NonZeroU32::new(i32::MAX as u32)] {
                let params = Params::new(64, segment).unwrap().with_filter(Filter::new(taps).unwrap());
                let (n, values) = params.cd_values();
                assert_eq!(Params::from_cd_values(&values[..n]).unwrap(), params);
            }
        }
    }

    #[test]
    fn segment_for_joins_short_rows_and_divides_a_long_one() {
        let segment = |shape: &[u64]| Params::segment_for(shape).map_or(0, NonZeroU32::get);
        for (shape, wanted) in [
            (&[38_400, 1][..], 1024),
            (&[4800, 2], 1024),
            (&[100, 700], 1400),
            (&[100, 1023], 2046),
            (&[100, 1024], 1024),
            (&[2, 500_000], 500_000),
            (&[3, 4, 500], 1500),
            (&[500_000], 16_384),
            (&[1, 500_000], 16_384),
            (&[500_000, 1], 1024),
            (&[2, 350], 0),
            (&[16_384], 0),
            (&[16_385], 16_384),
            (&[], 0),
            (&[0, 7], 0),
            (&[7, 0], 0),
            (&[2, 1 << 31], 0),
        ] {
            assert_eq!(segment(shape), wanted, "{shape:?}");
        }
    }

    #[test]
    fn the_bound_counts_every_segment() {
        let one = Params::new(8, NonZeroU32::new(1)).unwrap();
        assert_eq!(one.bound(3), 4 + 3 * 8);
        assert_eq!(Params::default().bound(64), 4 + 4 + 200);
        assert_eq!(Params::default().bound(0), 4);
        assert_eq!(Params::default().bound(usize::MAX), usize::MAX);
        let partial = Params::new(8, NonZeroU32::new(64)).unwrap();
        assert_eq!(partial.bound(65), 4 + 204 + 8);
    }
}
