//! The shape "rice": Delta-Rice of both versions, with a contender for each CPU tier. Version 1 is
//! also measured beside straightforward codecs, and with several threads by the wall clock; all
//! else in CPU time of one thread.

pub mod plain;

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use linerate_rice::v2::{self, Element, StreamOptions};
use linerate_rice::{Filter, Options, Params, Tier, decode_into, encode, encode_into, tune};

use crate::harness::{Clock, Common, Contender, Rounds, measure as harness, message, progress, repeats, row};
use crate::records::Measurement;
use crate::waveforms::Set;

/// Options of `linerate-bench rice`.
#[derive(Args, Clone, Debug)]
pub struct RiceArgs {
    /// Number of threads to measure beside one thread, for version 1 with the highest tier
    #[arg(long, value_name = "N", default_value_t = 2)]
    threads: usize,
    #[command(flatten)]
    pub(crate) common: Common,
    /// `.npy` files of 16- or 32-bit little-endian integers, whose last axis is a row [default:
    /// generated sets of detectors]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Names of the straightforward codecs.
const PLAIN: [&str; 2] = ["plain", "clz"];

/// Names of the contenders on this machine, with the CPU tier of each.
pub fn names() -> Vec<String> {
    let tiers = || Tier::ALL.into_iter().filter(|tier| tier.is_supported()).map(Tier::name);
    let first = PLAIN.into_iter().chain(tiers()).map(|tier| format!("linerate v1, {tier}"));
    first.chain(tiers().map(|tier| format!("linerate v2, {tier}"))).collect()
}

/// Samples of 16 or of 32 bits. Unsigned samples are taken as signed.
enum Samples {
    Short(Vec<i16>),
    Long(Vec<i32>),
}

/// Measures each file or, without files, each generated set, of which `--quick` takes the first.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &RiceArgs) -> Result<(), String> {
    let mut output = args.common.open(&[])?;
    let mut all = Vec::new();
    for path in &args.files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (samples, row) = read_npy(path)?;
        all.push((name, samples, row));
    }
    if args.files.is_empty() {
        for set in if args.common.quick { &Set::ALL[..1] } else { &Set::ALL[..] } {
            progress(&format!("making {}", set.name()));
            let rows = if args.common.quick { 40 } else { set.rows() };
            all.push((set.name().to_owned(), Samples::Short(set.samples(rows)), set.row_samples()));
        }
    }
    for (name, samples, row_length) in &all {
        let rounds = args.common.rounds(5);
        match samples {
            Samples::Short(samples) => {
                output
                    .add("Delta-Rice, version 1", first(name, samples, *row_length, args.threads, rounds)?)?;
                output.add("Delta-Rice, version 2", second(name, samples, *row_length, rounds)?)?;
            }
            Samples::Long(samples) => {
                output.add("Delta-Rice, version 2", second(name, samples, *row_length, rounds)?)?;
            }
        }
    }
    output.finish()
}

fn read_npy(path: &Path) -> Result<(Samples, usize), String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let wrong = || format!("{}: not a .npy file of 16- or 32-bit little-endian integers", path.display());
    let head = bytes.strip_prefix(b"\x93NUMPY\x01\x00").ok_or_else(wrong)?;
    let (length, rest) = head.split_first_chunk::<2>().ok_or_else(wrong)?;
    let (text, data) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length))).ok_or_else(wrong)?;
    let text = String::from_utf8_lossy(text);
    let shape = text.split_once('(').and_then(|(_, rest)| rest.split_once(')')).ok_or_else(wrong)?.0;
    let row = shape.trim_end_matches([',', ' ']).rsplit(',').next().and_then(|n| n.trim().parse().ok());
    let samples = match ["i2'", "u2'", "i4'", "u4'"].map(|dtype| text.contains(&format!("<{dtype}"))) {
        _ if text.contains("'fortran_order': True") => return Err(wrong()),
        [true, ..] | [_, true, ..] => {
            Samples::Short(data.as_chunks().0.iter().map(|b| i16::from_le_bytes(*b)).collect())
        }
        [.., true, _] | [.., true] => {
            Samples::Long(data.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect())
        }
        _ => return Err(wrong()),
    };
    Ok((samples, row.ok_or_else(wrong)?))
}

/// Measures version 1 with m = 8 and with the best m. The base is the straightforward codec "plain"
/// or, for several threads, one thread.
fn first(
    name: &str,
    samples: &[i16],
    row_length: usize,
    threads: usize,
    rounds: usize,
) -> Result<Vec<Measurement>, String> {
    let segment = u32::try_from(row_length).ok().and_then(NonZeroU32::new).ok_or("a row has no length")?;
    let segment = Some(segment);
    let best = tune::best_m(samples, segment, &Filter::DELTA);
    let tiers: Vec<Tier> = Tier::ALL.into_iter().filter(|tier| tier.is_supported()).collect();
    let mut found = Vec::new();
    let all = if best == 8 { vec![8] } else { vec![8, best] };
    for &m in &all {
        let params = Params::new(m, segment).map_err(message)?;
        let chunk = encode(&params, samples, Options::new()).map_err(message)?;
        if plain::encode(samples, row_length, m) != chunk {
            return Err("the plain encoder writes a different chunk".into());
        }
        let bytes = size_of_val(samples);
        let blank = |operation: &str, tier: &str, threads: usize, clock: Clock| {
            row("rice-v1-tiers", name, "linerate v1")
                .param("operation", operation)
                .param("tier", tier)
                .param("threads", threads)
                .param("m", m)
                .param("row", row_length)
                .param("clock", if clock == Clock::Elapsed { "wall" } else { "cpu" })
                .exact("size", chunk.len() as f64 / bytes as f64)
        };
        let out = RefCell::new((vec![0u8; params.bound(samples.len())], vec![0i16; samples.len()]));
        let (out, params, chunk) = (&out, &params, &chunk);
        let encoder = |tier: &str, threads: usize, clock: Clock, options: Options| {
            let turn = move |_| {
                let out = &mut out.borrow_mut().0[..];
                let encode = || encode_into(params, samples, out, options).map_err(message);
                let (n, time) = repeated(clock, bytes, encode)?;
                if out[..n] == chunk[..] { Ok(time) } else { Err("it writes a different chunk".to_owned()) }
            };
            Contender::new(blank("encode", tier, threads, clock), turn)
        };
        let decoder = |tier: &str, threads: usize, clock: Clock, decode| {
            decoding(blank("decode", tier, threads, clock), clock, out, samples, decode)
        };
        let decode = |options: Options| -> Decode<'_> {
            Box::new(move |out| decode_into(params, chunk, out, options) == Ok(out.len()))
        };
        let plainly = |decode: fn(&[u8], usize, u32, &mut [i16])| -> Decode<'_> {
            Box::new(move |out| {
                decode(chunk, row_length, m, out);
                true
            })
        };
        let plain_encode = |_| {
            let encode = || Ok(std::hint::black_box(plain::encode(samples, row_length, m)));
            repeated(Clock::Thread, bytes, encode).map(|(_, time)| time)
        };
        let cpu = Clock::Thread;
        let mut encoders = vec![Contender::new(blank("encode", PLAIN[0], 1, cpu), plain_encode)];
        let mut decoders = vec![
            decoder(PLAIN[0], 1, cpu, plainly(plain::decode)),
            decoder(PLAIN[1], 1, cpu, plainly(plain::clz_decode)),
        ];
        for &tier in &tiers {
            let options = Options::new().tier(tier);
            encoders.push(encoder(tier.name(), 1, cpu, options));
            decoders.push(decoder(tier.name(), 1, cpu, decode(options)));
        }
        let (highest, wall) = (linerate_core::cpu::tier().name(), Clock::Elapsed);
        let on = |threads: usize| Options::new().threads(threads);
        let several_encode = [1, threads].map(|n| encoder(highest, n, wall, on(n)));
        let several_decode = [1, threads].map(|n| decoder(highest, n, wall, decode(on(n))));
        for (base, field) in [
            ("plain", encoders),
            ("plain", decoders),
            ("1 thread", several_encode.into()),
            ("1 thread", several_decode.into()),
        ] {
            let all = field.into_iter().map(|contender| contender.bytes(bytes).base(0, base));
            found.extend(harness(all.collect(), Rounds::warm(rounds))?);
        }
    }
    Ok(found)
}

/// Repeats `work` on `bytes` bytes as often as the clock needs. Returns the last result, and the
/// mean time of one repetition.
fn repeated<T>(
    clock: Clock,
    bytes: usize,
    mut work: impl FnMut() -> Result<T, String>,
) -> Result<(T, Duration), String> {
    let count = repeats(bytes);
    let all = || {
        for _ in 1..count {
            work()?;
        }
        work()
    };
    clock.time(all).map(|(done, time)| (done, time / count))
}

/// Decodes a chunk of version 1 into a buffer. Returns whether all of the chunk was decoded.
type Decode<'a> = Box<dyn Fn(&mut [i16]) -> bool + 'a>;

/// A contender that decodes a chunk of version 1. Each turn compares the decoded samples, untimed.
fn decoding<'a>(
    row: Measurement,
    clock: Clock,
    out: &'a RefCell<(Vec<u8>, Vec<i16>)>,
    samples: &'a [i16],
    decode: Decode<'a>,
) -> Contender<'a> {
    Contender::new(row, move |_| {
        let decoded = &mut out.borrow_mut().1[..];
        let (done, time) = repeated(clock, size_of_val(samples), || Ok(decode(decoded)))?;
        if done && decoded == samples { Ok(time) } else { Err("it decodes different samples".to_owned()) }
    })
}

/// Measures encoding and decoding with version 2 on each CPU tier that is allowed, with one thread.
fn second<T: Element>(
    name: &str,
    samples: &[T],
    row_length: usize,
    rounds: usize,
) -> Result<Vec<Measurement>, String> {
    // Samples that are a single row are coded without rows.
    let row_length = Some(row_length).filter(|&length| length < samples.len());
    let row_length = row_length.and_then(|length| u32::try_from(length).ok()).and_then(NonZeroU32::new);
    let settings = StreamOptions::new().row(row_length);
    let mut stream = vec![0; v2::bound::<T>(&settings, samples.len())];
    let n = v2::encode_into(&settings, samples, &mut stream, Options::new()).map_err(message)?;
    stream.truncate(n);
    let channels = v2::info(&stream).map_err(message)?.channels;
    let (bytes, stream, settings) = (size_of_val(samples), &stream, &settings);
    let buffers =
        RefCell::new((vec![0u8; v2::bound::<T>(settings, samples.len())], vec![T::default(); samples.len()]));
    let buffers = &buffers;
    let mut found = Vec::new();
    for operation in ["encode", "decode"] {
        // The environment variable LINERATE_CPU lowers the highest tier.
        let tiers =
            Tier::ALL.into_iter().filter(|&tier| tier.is_supported() && tier <= linerate_core::cpu::tier());
        let contenders = tiers.map(|tier| {
            let row = row("rice-v2", name, "linerate v2")
                .param("operation", operation)
                .param("tier", tier.name())
                .param("channels", channels)
                .exact("size", stream.len() as f64 / bytes as f64);
            let options = Options::new().tier(tier);
            Contender::new(row, move |_| {
                let (out, decoded) = &mut *buffers.borrow_mut();
                let (right, time) = match operation {
                    "encode" => {
                        let encode = || v2::encode_into(settings, samples, out, options).map_err(message);
                        let (n, time) = repeated(Clock::Thread, bytes, encode)?;
                        (out[..n] == stream[..], time)
                    }
                    _ => {
                        let decode = || v2::decode_into(stream, decoded, options).map_err(message);
                        let (_, time) = repeated(Clock::Thread, bytes, decode)?;
                        (decoded[..] == *samples, time)
                    }
                };
                if right { Ok(time) } else { Err("it writes or decodes different bytes".to_owned()) }
            })
            .bytes(bytes)
            .base(0, "scalar")
        });
        found.extend(harness(contenders.collect(), Rounds::warm(rounds))?);
    }
    Ok(found)
}
