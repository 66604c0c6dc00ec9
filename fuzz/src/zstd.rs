//! zstd frames and dictionaries: arbitrary bytes, decoded as libzstd decodes them.

use std::cell::RefCell;

use linerate_core::{Error, Kind};
use linerate_testkit::zstd::oracle::{Oracle, Verdict, agrees, agrees_in_pieces};
use linerate_zstd::{Dictionary, FrameDecoder, Options, Scratch, Status, StreamDecoder};

use crate::program::Noise;

/// Limit on the content of an input, in bytes.
const MOST: usize = 256 << 10;
/// Logarithm of the largest window: 1 MiB.
const WINDOW_LOG: u32 = 20;

/// libzstd as the oracle, a scratch for the reference form of our decoder and one for each CPU
/// tier, and an output buffer. All are reused for every input.
struct Jury {
    oracle: Oracle,
    forms: Vec<Scratch>,
    out: Vec<u8>,
}

thread_local! {
    static JURY: RefCell<Jury> = RefCell::new(Jury::new());
}

impl Jury {
    fn new() -> Jury {
        let forms = [Scratch::new().reference()].into_iter();
        let forms = forms.chain(linerate_testkit::tiers().map(|tier| Scratch::new().tier(tier))).collect();
        Jury { oracle: Oracle::default(), forms, out: vec![0; MOST] }
    }

    /// Decodes `src` in one call by every form, and compares with libzstd's decoders for one call
    /// and for streams. `bytes` is the dictionary as libzstd gets it.
    fn try_frame(&mut self, dictionary: Option<&Dictionary<'_>>, bytes: &[u8], src: &[u8]) {
        let theirs = self.oracle.both(src, bytes, WINDOW_LOG, MOST);
        for scratch in &mut self.forms {
            for two_phase in [false, true] {
                let decoder = FrameDecoder::new(options().two_phase(two_phase));
                let n = decoder.decode(scratch, dictionary, src, &mut self.out);
                check(agrees, n.map(|n| self.out[..n].to_vec()), &theirs, src);
            }
        }
    }

    /// Decodes `src` in pieces of random lengths by every form, and compares with libzstd's
    /// decoders. `bytes` is the dictionary as libzstd gets it; the lengths depend on `seed`.
    fn try_stream(&mut self, dictionary: Option<&Dictionary<'_>>, bytes: &[u8], seed: u8, src: &[u8]) {
        let theirs = self.oracle.both(src, bytes, WINDOW_LOG, MOST);
        for scratch in &mut self.forms {
            check(agrees_in_pieces, stream(scratch, dictionary, seed, src), &theirs, src);
        }
    }
}

fn options() -> Options {
    Options::new().window_limit(1 << WINDOW_LOG)
}

/// Decides whether our verdict agrees with those of libzstd.
type Judge = fn(&Result<Vec<u8>, Error>, &[Verdict]) -> bool;

fn check(judge: Judge, ours: Result<Vec<u8>, Error>, theirs: &[Verdict], src: &[u8]) {
    assert!(
        judge(&ours, theirs),
        "{:?} where libzstd says {:?}",
        ours.map(|bytes| bytes.len()),
        theirs.iter().map(|verdict| verdict.as_ref().map(Vec::len)).collect::<Vec<_>>()
    );
    if let Err(e) = ours {
        assert!(e.offset <= src.len() as u64, "{e} in {} bytes", src.len());
    }
}

/// Decodes `src` in pieces of random lengths, which depend on `seed`.
fn stream(
    scratch: &mut Scratch,
    dictionary: Option<&Dictionary<'_>>,
    seed: u8,
    src: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut noise = Noise::new(seed.into());
    let mut decoder = StreamDecoder::new(options());
    let mut room = [0; 1 << 12];
    let (mut at, mut out) = (0, Vec::new());
    loop {
        let longest = 1 << noise.below(12);
        let end = src.len().min(at + noise.below(longest) + usize::from(seed < 250));
        let room = &mut room[..1 + noise.below(longest)];
        let progress = decoder.decode(scratch, dictionary, &src[at..end], room)?;
        assert!(progress.read <= end - at && progress.written <= room.len());
        at += progress.read;
        out.extend_from_slice(&room[..progress.written]);
        assert!(progress.status != Status::NeedInput || at == end);
        if out.len() > MOST {
            return Err(Error::new(Kind::OutputTooSmall, 0, "more than is wanted"));
        }
        if at == src.len() && progress.written == 0 && progress.status != Status::NeedOutput {
            let cut = Error::new(Kind::Truncated, at as u64, "the input ends within a frame");
            return if decoder.is_between_frames() { Ok(out) } else { Err(cut) };
        }
    }
}

/// Decodes the bytes in one call and compares with libzstd.
///
/// # Panics
/// If verdicts or contents differ, apart from the differences that [`agrees`] allows.
pub fn zstd_frame(data: &[u8]) {
    JURY.with_borrow_mut(|jury| jury.try_frame(None, &[], data));
}

/// Decodes the bytes in pieces and compares with libzstd. The first byte is the seed of the lengths.
///
/// # Panics
/// If verdicts or contents differ, apart from the differences that [`agrees_in_pieces`] allows, or
/// if a call reports more progress than is possible.
pub fn zstd_stream(data: &[u8]) {
    let Some((&seed, src)) = data.split_first() else { return };
    JURY.with_borrow_mut(|jury| jury.try_stream(None, &[], seed, src));
}

/// Takes the bytes as the length of a dictionary (two bytes), the dictionary, and frames that use it.
///
/// # Panics
/// As [`zstd_frame`] and [`zstd_stream`]; if copied, placed and borrowed digests of the dictionary
/// decode differently; or if the dictionary is refused although libzstd accepts it and [`agrees`]
/// allows no difference.
pub fn zstd_dictionary(data: &[u8]) {
    let Some((len, rest)) = data.split_first_chunk::<2>() else { return };
    let (bytes, src) = rest.split_at(rest.len().min(u16::from_le_bytes(*len).into()));
    if bytes.is_empty() {
        return;
    }
    JURY.with_borrow_mut(|jury| match Dictionary::new(bytes) {
        Ok(dictionary) => {
            jury.try_frame(Some(&dictionary), bytes, src);
            jury.try_stream(Some(&dictionary), bytes, bytes[0], src);
            same_forms(jury, &dictionary, bytes, src);
        }
        Err(e) => {
            assert!(e.offset <= bytes.len() as u64, "{e} in {} bytes", bytes.len());
            assert!(Dictionary::measure(bytes).is_err() && Dictionary::by_reference(bytes).is_err());
            // This frame has one raw block, and decodes with any valid dictionary.
            const STORED: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 9, 0, 0, b'x'];
            let theirs = jury.oracle.both(STORED, bytes, WINDOW_LOG, 1);
            check(agrees, Err(e.with_offset(0)), &theirs, STORED);
        }
    });
}

/// Checks that two other forms of `dictionary` decode `src` as it does: one digested into memory of
/// the caller, and one that refers to `bytes` instead of copying them.
fn same_forms(jury: &mut Jury, dictionary: &Dictionary<'_>, bytes: &[u8], src: &[u8]) {
    let digest = Dictionary::measure(bytes).expect("it was digested");
    assert_eq!(digest, dictionary.digest());
    let mut words = vec![0u64; digest.region_len().div_ceil(8)];
    let region = bytemuck::cast_slice_mut(&mut words);
    let placed = Dictionary::digest_into(bytes, region).expect("room as it says");
    let referred = Dictionary::by_reference(bytes).expect("it was digested");
    let decoder = FrameDecoder::new(options());
    let mut decode = |dictionary| {
        let n = decoder.decode(&mut jury.forms[0], Some(dictionary), src, &mut jury.out)?;
        Ok::<_, Error>(jury.out[..n].to_vec())
    };
    let first = decode(dictionary);
    assert_eq!(decode(&placed), first);
    assert_eq!(decode(&referred), first);
}
