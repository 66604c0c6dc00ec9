//! Calls our decoders of frames and of streams.

use linerate_zstd::{Dictionary, Error, Format, FrameDecoder, Kind, Options, Scratch, Status, StreamDecoder};

use linerate_testkit::data::Noise;
use linerate_testkit::tiers;

/// Makes a scratch for the reference, then one for every supported tier.
pub fn scratches() -> Vec<(String, Scratch)> {
    let fast = tiers().map(|tier| (format!("{tier:?}"), Scratch::new().tier(tier)));
    [("specification".to_owned(), Scratch::new().reference())].into_iter().chain(fast).collect()
}

/// Decodes all frames at once into at most `most` bytes.
pub fn whole(
    options: Options,
    scratch: &mut Scratch,
    dictionary: Option<&Dictionary<'_>>,
    src: &[u8],
    most: usize,
) -> Result<Vec<u8>, Error> {
    let mut out = vec![0xa5; most];
    let n = FrameDecoder::new(options).decode(scratch, dictionary, src, &mut out)?;
    out.truncate(n);
    Ok(out)
}

/// Sizes of input pieces and of output capacity, call by call.
pub enum Pieces {
    /// All input in each call, with a capacity of 128 KiB.
    Whole,
    /// This number of input bytes, and this capacity, in each call.
    Each(usize, usize),
    /// Random sizes, mostly small.
    Random(Noise),
}

impl Pieces {
    fn next(&mut self) -> (usize, usize) {
        match self {
            Pieces::Whole => (usize::MAX, 1 << 17),
            Pieces::Each(input, capacity) => (*input, *capacity),
            Pieces::Random(noise) => {
                let mut one = || noise.below(1 << noise.clone().below(17)) + usize::from(noise.below(4) > 0);
                (one(), one())
            }
        }
    }
}

/// Decodes piece by piece.
pub fn stream(
    options: Options,
    scratch: &mut Scratch,
    dictionary: Option<&Dictionary<'_>>,
    src: &[u8],
    most: usize,
    pieces: &mut Pieces,
) -> Result<Vec<u8>, Error> {
    let mut decoder = StreamDecoder::new(options);
    stream_with(&mut decoder, scratch, dictionary, src, most, pieces)
}

/// Decodes like [`stream`], with an existing decoder. Asserts the guarantees of every call.
pub fn stream_with(
    decoder: &mut StreamDecoder,
    scratch: &mut Scratch,
    dictionary: Option<&Dictionary<'_>>,
    src: &[u8],
    most: usize,
    pieces: &mut Pieces,
) -> Result<Vec<u8>, Error> {
    const TOO_MUCH: Error = Error::new(Kind::OutputTooSmall, 0, "more than expected");
    let mut out = Vec::new();
    let mut capacity = vec![0; 1 << 17];
    let mut at = 0usize;
    let mut still = 0u32;
    loop {
        let (input, space) = pieces.next();
        let end = src.len().min(at.saturating_add(input));
        let capacity = &mut capacity[..space.min(1 << 17)];
        let progress = decoder.decode(scratch, dictionary, &src[at..end], capacity)?;
        assert!(progress.read <= end - at && progress.written <= capacity.len());
        at += progress.read;
        out.extend_from_slice(&capacity[..progress.written]);
        if out.len() > most {
            return Err(TOO_MUCH);
        }
        match progress.status {
            Status::NeedInput => assert!(at == end, "unconsumed input with NeedInput"),
            Status::NeedOutput => {}
            Status::FrameEnd => assert!(decoder.is_between_frames()),
        }
        // Without input and with free capacity, no more output can come.
        if at == src.len()
            && progress.written == 0
            && !capacity.is_empty()
            && progress.status != Status::NeedOutput
        {
            let cut = Error::new(Kind::Truncated, at as u64, "the input ends within a frame");
            return if decoder.is_between_frames() { Ok(out) } else { Err(cut) };
        }
        let moved = progress.read > 0 || progress.written > 0;
        still = if moved || input == 0 || capacity.is_empty() { 0 } else { still + 1 };
        assert!(still < 3, "calls with input and capacity that do nothing: {progress:?}");
    }
}

pub fn magicless() -> Options {
    Options::new().format(Format::Magicless)
}
