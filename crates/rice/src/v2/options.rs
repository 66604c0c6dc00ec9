//! Options of the encoder.

use core::num::NonZeroU32;

use linerate_core::{Error, Kind, Result};

use super::geometry::Geometry;
use super::{MAX_CHANNELS, MAX_SEGMENT, Shape};

/// Longest row, in samples, that is a segment of its own.
const LONGEST_ROW: u32 = 16_384;

/// Samples per segment where a segment is not one row. Few enough that predictors follow a changing
/// signal and that threads can share the segments.
const DEFAULT_SEGMENT: u32 = 4096;

/// Shortest row, in samples, that is a segment of its own. Shorter rows share segments, because
/// each segment costs about 20 bytes.
const SHORT_ROW: u32 = 1024;

/// Longest row, in samples, that the encoder tries as channels. Neural probes have 384 channels,
/// and a waveform is hardly ever as short as this.
const LONGEST_FRAME: u32 = 512;

/// Minimum number of rows for which the encoder tries channels.
const MIN_FRAMES: usize = 64;

/// How the encoder divides samples into segments, and which shape the stream keeps.
///
/// ```
/// use linerate_rice::v2::StreamOptions;
/// let rows_of_7000 = StreamOptions::new().row(7000.try_into().ok());
/// assert_eq!(rows_of_7000.segment_len(), 7000);
/// assert_eq!(StreamOptions::new().segment_len(), 4096);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StreamOptions {
    segment: Option<NonZeroU32>,
    row: Option<NonZeroU32>,
    shape: Option<Shape>,
    channels: Option<NonZeroU32>,
}

impl StreamOptions {
    /// The defaults: segments of 4096 samples, no rows, no shape. If you set rows, the encoder also
    /// tries them as [`channels`](Self::channels), and uses channels if they make a few segments
    /// smaller by more than 1 %.
    pub const fn new() -> StreamOptions {
        StreamOptions { segment: None, row: None, shape: None, channels: None }
    }

    /// Sets the number of samples per segment, at most [`MAX_SEGMENT`]. Segments are coded
    /// independently, so each can be decoded alone. `None` chooses by the length of a row: one row
    /// if it has 1024 to 16,384 samples, otherwise about 4096 samples. With channels, the number
    /// counts samples of all channels and is rounded up to whole rows, and `None` means 4096
    /// samples of each channel.
    #[must_use]
    pub const fn segment(self, segment: Option<NonZeroU32>) -> StreamOptions {
        StreamOptions { segment, ..self }
    }

    /// Sets the number of samples per row. The stream stores it, so that a table of waveforms keeps
    /// its shape. The last row may be incomplete.
    #[must_use]
    pub const fn row(self, row: Option<NonZeroU32>) -> StreamOptions {
        StreamOptions { row, ..self }
    }

    /// Sets the shape of the array. The stream stores it in 8 bytes, and 8 more per axis. Needed
    /// only if the number of samples and the length of a row do not describe the shape.
    #[must_use]
    pub const fn shape(self, shape: Option<Shape>) -> StreamOptions {
        StreamOptions { shape, ..self }
    }

    /// Sets the number of channels, at most [`MAX_CHANNELS`]. A row then holds one sample of each
    /// channel, taken at the same time, and its length is the number of channels. Each channel is
    /// predicted along time and from the channels before it. 1 means no channels. `None` finds out:
    /// if no segment is set, and the samples are at least 64 whole rows of 2 to 512 samples, a few
    /// segments are planned both ways.
    ///
    /// ```
    /// use linerate_rice::{Options, v2};
    /// let wave = |i: i16| i % 701 * (i % 13);
    /// let stereo: Vec<i16> = (0..20_000).flat_map(|i| [wave(i), wave(i) + i % 3]).collect();
    /// let size = |channels: u32| {
    ///     let settings = v2::StreamOptions::new().channels(channels.try_into().ok());
    ///     v2::encode(&settings, &stereo, Options::new()).map(|stream| stream.len())
    /// };
    /// assert!(size(2)? < size(1)? * 2 / 3);
    /// # Ok::<(), linerate_rice::Error>(())
    /// ```
    #[must_use]
    pub const fn channels(self, channels: Option<NonZeroU32>) -> StreamOptions {
        StreamOptions { channels, ..self }
    }

    /// The shape that the stream stores.
    pub const fn array_shape(&self) -> Option<&Shape> {
        self.shape.as_ref()
    }

    /// The number of channels, if it is given.
    pub const fn channel_count(&self) -> Option<NonZeroU32> {
        self.channels
    }

    /// Samples per row, if that is set. Otherwise the number of channels if that is set and above
    /// 1, since a row then has one sample of each channel.
    pub const fn row_len(&self) -> Option<NonZeroU32> {
        match (self.row, self.channels) {
            (None, Some(channels)) if channels.get() > 1 => Some(channels),
            (row, _) => row,
        }
    }

    /// Samples per segment without channels; the last segment may have fewer.
    pub fn segment_len(&self) -> u32 {
        match (self.segment, self.row) {
            (Some(segment), _) => segment.get(),
            (None, None) => DEFAULT_SEGMENT,
            (None, Some(row)) => match row.get() {
                row @ 0..SHORT_ROW => DEFAULT_SEGMENT / row * row,
                row @ SHORT_ROW..=LONGEST_ROW => row,
                // Equal parts, in whole blocks.
                row => row.div_ceil(row.div_ceil(DEFAULT_SEGMENT)).next_multiple_of(super::BLOCK as u32),
            },
        }
    }

    /// Checks that `samples` samples can be encoded with these options.
    pub(super) fn check(&self, samples: usize) -> Result<()> {
        let refuse = |what| Err(Error::new(Kind::BadArgument, 0, what));
        if self.segment_len() > MAX_SEGMENT {
            return refuse("a segment of more than 65536 samples");
        }
        if let Some(channels) = self.channels.filter(|n| n.get() > 1) {
            if channels.get() > MAX_CHANNELS {
                return refuse("more than 1024 channels");
            }
            if self.row_len() != Some(channels) || !samples.is_multiple_of(channels.get() as usize) {
                return refuse("rows that do not hold one sample of each channel");
            }
        }
        if self.shape.is_some_and(|shape| shape.samples() != Some(samples as u64)) {
            return refuse("a shape of more or fewer samples than there are");
        }
        Ok(())
    }

    /// Returns the divisions of `samples` samples that the encoder chooses from: without channels,
    /// and with them.
    pub(super) fn geometries(&self, samples: usize) -> [Option<Geometry>; 2] {
        let plain = Geometry { samples, channels: 1, frames: self.segment_len() as usize };
        let with = |channels: NonZeroU32| {
            let channels = u64::from(channels.get());
            let frames =
                self.segment.map_or(DEFAULT_SEGMENT.into(), |n| u64::from(n.get()).div_ceil(channels));
            let frames = frames.min(Geometry::MAX_SEGMENT / channels) as usize;
            Geometry { samples, channels: channels as usize, frames }
        };
        let holds_channels = |row: &NonZeroU32| {
            let row = row.get() as usize;
            (2..=LONGEST_FRAME as usize).contains(&row)
                && samples.is_multiple_of(row)
                && samples / row >= MIN_FRAMES
                && self.segment.is_none()
        };
        match self.channels {
            Some(NonZeroU32::MIN) => [Some(plain), None],
            Some(channels) => [None, Some(with(channels))],
            None => [Some(plain), self.row.filter(holds_channels).map(with)],
        }
    }
}
