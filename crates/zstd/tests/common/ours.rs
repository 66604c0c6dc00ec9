//! Our decoder in every way to call it.

use linerate_zstd::{Decoder, Dictionary, Error, Format, Kind, Options, Scratch, Status, StreamDecoder};

use linerate_testkit::data::Noise;
use linerate_testkit::tiers;

/// Every form of the hot loops that this machine can run, the specification first.
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
    let n = Decoder::new(options).decode(scratch, dictionary, src, &mut out)?;
    out.truncate(n);
    Ok(out)
}

/// How an input is cut and how much room there is for output, call by call.
pub enum Pieces {
    /// All at once.
    Whole,
    /// So many bytes of input and of room.
    Each(usize, usize),
    /// At random, mostly few.
    Random(Noise),
}

impl Pieces {
    fn next(&mut self) -> (usize, usize) {
        match self {
            Pieces::Whole => (usize::MAX, 1 << 17),
            Pieces::Each(input, room) => (*input, *room),
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

/// The same with a decoder that is there already. Asserts what every call promises.
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
    let mut room = vec![0; 1 << 17];
    let mut at = 0usize;
    let mut still = 0u32;
    loop {
        let (input, space) = pieces.next();
        let end = src.len().min(at.saturating_add(input));
        let room = &mut room[..space.min(1 << 17)];
        let progress = decoder.decode(scratch, dictionary, &src[at..end], room)?;
        assert!(progress.read <= end - at && progress.written <= room.len());
        at += progress.read;
        out.extend_from_slice(&room[..progress.written]);
        if out.len() > most {
            return Err(TOO_MUCH);
        }
        match progress.status {
            Status::NeedInput => assert!(at == end, "input is left that nobody wants"),
            Status::NeedOutput => {}
            Status::FrameEnd => assert!(decoder.is_between_frames()),
        }
        // Without input and with room there is nothing left to come.
        if at == src.len()
            && progress.written == 0
            && !room.is_empty()
            && progress.status != Status::NeedOutput
        {
            let cut = Error::new(Kind::Truncated, at as u64, "the input ends within a frame");
            return if decoder.is_between_frames() { Ok(out) } else { Err(cut) };
        }
        let moved = progress.read > 0 || progress.written > 0;
        still = if moved || input == 0 || room.is_empty() { 0 } else { still + 1 };
        assert!(still < 3, "calls with input and room that do nothing: {progress:?}");
    }
}

pub fn magicless() -> Options {
    Options::new().format(Format::Magicless)
}
