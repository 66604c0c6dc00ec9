//! Encodes generated detector waveforms with Delta-Rice and with a straightforward codec of the
//! same format, proves each output, and prints sizes and speeds. The second part of `make demo`.

use std::num::NonZeroU32;
use std::process::ExitCode;
use std::time::Duration;

use linerate_bench::waveforms::{Set, plain};
use linerate_bench::{cpu_time, pin, stats};
use linerate_rice::{Error, Filter, Options, Params, decode_into, encode_into, tune, v2};

/// Waveforms of [`Set::Nab`] that are made: 4.2 MB.
const ROWS: usize = 300;

/// Times that each codec encodes and decodes everything; the fastest counts.
const ROUNDS: usize = 25;

type Encode = dyn Fn(&[i16], &mut Vec<u8>) -> Result<(), String>;
type Decode = dyn Fn(&[u8], &mut [i16]) -> Result<(), String>;

/// A codec with its parameters.
struct Codec {
    name: String,
    encode: Box<Encode>,
    decode: Box<Decode>,
}

/// What a codec took.
struct Cost {
    bytes: usize,
    encode: Vec<Duration>,
    decode: Vec<Duration>,
}

fn main() -> ExitCode {
    match demo() {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("demo: {what}");
            ExitCode::FAILURE
        }
    }
}

fn demo() -> Result<(), String> {
    pin(None);
    let set = Set::Nab;
    let samples = set.samples(ROWS);
    let bytes = size_of_val(&samples[..]);
    println!("\n{ROWS} generated waveforms of {} samples, 16 bits, {bytes} bytes\n", set.row_samples());
    let best = tune::best_m(&samples, segment(set), &Filter::DELTA);
    let codecs = [
        straightforward(set, 8),
        version_1(set, 8, "")?,
        version_1(set, best, ", the best m")?,
        version_2(set),
    ];
    let mut costs = prove(&codecs, &samples)?;
    measure(&codecs, &samples, &mut costs)?;
    print(&codecs, &costs, bytes);
    println!("\nEvery output above was decoded and is the input, sample for sample. The straightforward");
    println!("codec writes the same bytes as version 1 with m = 8.");
    Ok(())
}

/// A waveform is a segment.
fn segment(set: Set) -> Option<NonZeroU32> {
    NonZeroU32::new(set.row_samples() as u32)
}

fn straightforward(set: Set, m: u32) -> Codec {
    let row = set.row_samples();
    Codec {
        name: format!("straightforward, m = {m}"),
        encode: Box::new(move |samples, out| {
            *out = plain::encode(samples, row, m);
            Ok(())
        }),
        decode: Box::new(move |chunk, out| {
            plain::decode(chunk, row, m, out);
            Ok(())
        }),
    }
}

fn version_1(set: Set, m: u32, note: &str) -> Result<Codec, String> {
    let params = Params::new(m, segment(set)).map_err(said)?;
    Ok(Codec {
        name: format!("version 1, m = {m}{note}"),
        encode: Box::new(move |samples, out| {
            out.resize(params.bound(samples.len()), 0);
            let n = encode_into(&params, samples, out, Options::new()).map_err(said)?;
            out.truncate(n);
            Ok(())
        }),
        decode: Box::new(move |chunk, out| {
            decode_into(&params, chunk, out, Options::new()).map(drop).map_err(said)
        }),
    })
}

fn version_2(set: Set) -> Codec {
    let settings = v2::StreamOptions::new().row(segment(set));
    Codec {
        name: "version 2".into(),
        encode: Box::new(move |samples, out| {
            out.resize(v2::bound::<i16>(&settings, samples.len()), 0);
            let n = v2::encode_into(&settings, samples, out, Options::new()).map_err(said)?;
            out.truncate(n);
            Ok(())
        }),
        decode: Box::new(|stream, out| v2::decode_into(stream, out, Options::new()).map(drop).map_err(said)),
    }
}

fn said(error: Error) -> String {
    error.to_string()
}

/// Sizes, after each codec has given the samples back.
fn prove(codecs: &[Codec], samples: &[i16]) -> Result<Vec<Cost>, String> {
    let mut chunk = Vec::new();
    let mut back = vec![0; samples.len()];
    let mut prove = |codec: &Codec| {
        (codec.encode)(samples, &mut chunk)?;
        back.fill(0);
        (codec.decode)(&chunk, &mut back)?;
        let cost = Cost { bytes: chunk.len(), encode: vec![], decode: vec![] };
        if back == samples { Ok(cost) } else { Err("other samples came back".into()) }
    };
    let named = |codec: &Codec| prove(codec).map_err(|what: String| format!("{}: {what}", codec.name));
    codecs.iter().map(named).collect()
}

/// CPU time; the codecs take turns.
fn measure(codecs: &[Codec], samples: &[i16], costs: &mut [Cost]) -> Result<(), String> {
    let mut chunk = Vec::new();
    let mut back = vec![0; samples.len()];
    for _ in 0..ROUNDS {
        for (codec, cost) in codecs.iter().zip(&mut *costs) {
            let start = cpu_time();
            (codec.encode)(samples, &mut chunk)?;
            let encoded = cpu_time();
            (codec.decode)(&chunk, &mut back)?;
            cost.encode.push(encoded - start);
            cost.decode.push(cpu_time() - encoded);
        }
    }
    Ok(())
}

/// The first codec is what the others are compared with.
fn print(codecs: &[Codec], costs: &[Cost], bytes: usize) {
    let best = |times: &[Duration]| stats::best(times).unwrap_or_default();
    let (encode, decode) = (best(&costs[0].encode), best(&costs[0].decode));
    println!("{:30}{:>8}{:>22}{:>22}", "", "", "encode, CPU MB/s", "decode, CPU MB/s");
    for (codec, cost) in codecs.iter().zip(costs) {
        let speed = |first: Duration, time: Duration| {
            let ratio = first.as_secs_f64() / time.as_secs_f64();
            format!("{:>14.0}{:>8}", stats::speed(bytes, time), format!("{ratio:.1}x"))
        };
        let size = 100.0 * cost.bytes as f64 / bytes as f64;
        let (fast_encode, fast_decode) =
            (speed(encode, best(&cost.encode)), speed(decode, best(&cost.decode)));
        println!("{:30}{size:>7.1}%{fast_encode}{fast_decode}", codec.name);
    }
}
