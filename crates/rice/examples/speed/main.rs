//! Prints sizes and speeds per tier, on generated waveforms and on `.npy` files given as
//! arguments:
//!
//! ```text
//! cargo run --release -p linerate-rice --example speed -- [--csv FILE] [--rounds N] [--threads N] [FILE.npy...]
//! ```
//!
//! Speeds are millions of raw bytes per second: medians over the rounds (5, or `--rounds`), in
//! which all contenders take turns. On one thread they are of CPU time. "x" is the ratio to
//! "plain", a straightforward codec in `plain.rs`; "clz" is a better decoder of that kind. With
//! `--threads N` the best tier is also measured on 1 and on N threads in time passed, and "x" is
//! the ratio of these two. A file must hold 16-bit little-endian samples; a row is a segment.
//! `--csv` adds the figures to a file.

mod measure;
mod plain;
mod record;
mod samples;

use std::cell::RefCell;
use std::num::NonZeroU32;

use linerate_rice::{Filter, Options, Params, Tier, decode_into, encode, encode_into, tune};
use measure::{Contender, cpu_time, measure, wall_time};
use record::{Record, Row};

/// The command line.
struct Arguments {
    rounds: usize,
    threads: Option<usize>,
    csv: Option<String>,
    files: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = arguments(std::env::args().skip(1))?;
    let mut record = match &options.csv {
        Some(path) => Some(Record::open(path, options.rounds, command(&options))?),
        None => None,
    };
    println!(
        "{:<24} {:>5} {:>6}  {:<6}  {:<10} {:>6} {:>6}",
        "samples", "m", "size", "", "codec", "MB/s", "x"
    );
    show("generated, 7000", &samples::generated(1000, 7000), 7000, &options, record.as_mut())?;
    for path in &options.files {
        let name = base_name(path);
        let read = std::fs::read(path)?;
        let (samples, row) = samples::read_npy(&read)
            .ok_or_else(|| format!("{path}: not a .npy file of 16-bit little-endian samples"))?;
        show(name, &samples, row, &options, record.as_mut())?;
    }
    Ok(())
}

fn arguments(args: impl Iterator<Item = String>) -> Result<Arguments, Box<dyn std::error::Error>> {
    let mut options = Arguments { rounds: 5, threads: None, csv: None, files: Vec::new() };
    let mut args = args;
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--csv" => options.csv = Some(value()?),
            "--rounds" => options.rounds = value()?.parse::<usize>()?.max(1),
            "--threads" => options.threads = Some(value()?.parse()?),
            _ if arg.starts_with('-') => return Err(format!("{arg} is not an option").into()),
            _ => options.files.push(arg),
        }
    }
    Ok(options)
}

/// The command for the record: file names without the folders of one machine.
fn command(options: &Arguments) -> String {
    let mut words = vec!["speed".to_owned(), format!("--rounds {}", options.rounds)];
    words.extend(options.threads.map(|n| format!("--threads {n}")));
    words.extend(options.files.iter().map(|path| base_name(path).to_owned()));
    words.join(" ")
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// All figures of one set of samples: for m = 8 and for the best m.
fn show(
    name: &str,
    samples: &[i16],
    row: usize,
    options: &Arguments,
    mut record: Option<&mut Record>,
) -> Result<(), Box<dyn std::error::Error>> {
    let segment = NonZeroU32::new(u32::try_from(row)?);
    let best = tune::best_m(samples, segment, &Filter::DELTA);
    let others = [8, best];
    for &m in if best == 8 { &others[..1] } else { &others } {
        let params = Params::new(m, segment)?;
        let chunk = encode(&params, samples, Options::new())?;
        assert_eq!(plain::encode(samples, row, m), chunk);
        let set = Set { samples, row, params, chunk };
        let size_percent = 100.0 * set.chunk.len() as f64 / size_of_val(samples) as f64;
        for (operation, clock, mut contenders) in set.fields(options.threads) {
            let times = measure(&mut contenders, options.rounds);
            let speed = |time: std::time::Duration| size_of_val(samples) as f64 / 1e6 / time.as_secs_f64();
            let base = speed(times[0].median);
            for (contender, time) in contenders.iter().zip(&times) {
                let median = speed(time.median);
                println!(
                    "{name:<24} {m:>5} {size_percent:>5.1}%  {operation:<6}  {:<10} {median:>6.0} {:>6.2}",
                    contender.name,
                    median / base
                );
                let row = Row {
                    samples: name,
                    bytes: size_of_val(samples),
                    row,
                    m,
                    size_percent,
                    operation,
                    codec: &contender.name,
                    clock,
                    best_mb_s: speed(time.best),
                    median_mb_s: median,
                    base: &contenders[0].name,
                    speed_vs_base: median / base,
                };
                record.as_mut().map_or(Ok(()), |record| record.add(&row))?;
            }
        }
    }
    Ok(())
}

/// Samples and the chunk they make.
struct Set<'a> {
    samples: &'a [i16],
    row: usize,
    params: Params,
    chunk: Vec<u8>,
}

/// An operation, the clock it is measured by, and who takes part. The first is the base.
type Field<'a> = (&'a str, &'a str, Vec<Contender<'a>>);

impl Set<'_> {
    fn fields(&self, threads: Option<usize>) -> Vec<Field<'_>> {
        let tiers: Vec<_> = Tier::ALL.into_iter().filter(|t| t.is_supported()).collect();
        let one = |tier: &Tier| (tier.name().to_owned(), Options::new().tier(*tier));
        let (m, row) = (self.params.m(), self.row);
        let plain = Contender {
            name: "plain".into(),
            clock: cpu_time,
            work: Box::new(move || drop(plain::encode(self.samples, row, m))),
        };
        let encode = [plain].into_iter().chain(tiers.iter().map(|t| self.encode(one(t), cpu_time)));

        let plain = self.decode("plain", move |out| plain::decode(&self.chunk, row, m, out));
        let clz = self.decode("clz", move |out| plain::clz_decode(&self.chunk, row, m, out));
        let decode = [plain, clz].into_iter().chain(tiers.iter().map(|t| self.decode_on(one(t), cpu_time)));

        let mut fields = vec![("encode", "cpu", encode.collect()), ("decode", "cpu", decode.collect())];
        if let Some(threads) = threads {
            let on =
                |n: usize| (format!("{} x{n}", linerate_core::cpu::tier().name()), Options::new().threads(n));
            let both = [1, threads];
            fields.push(("encode", "wall", both.map(|n| self.encode(on(n), wall_time)).into()));
            fields.push(("decode", "wall", both.map(|n| self.decode_on(on(n), wall_time)).into()));
        }
        fields
    }

    fn encode(
        &self,
        (name, options): (String, Options),
        clock: fn() -> std::time::Duration,
    ) -> Contender<'_> {
        let mut out = vec![0; self.params.bound(self.samples.len())];
        let work = move || {
            assert_eq!(encode_into(&self.params, self.samples, &mut out, options), Ok(self.chunk.len()));
        };
        Contender { name, clock, work: Box::new(work) }
    }

    fn decode_on(
        &self,
        (name, options): (String, Options),
        clock: fn() -> std::time::Duration,
    ) -> Contender<'_> {
        let decode = move |out: &mut [i16]| {
            assert_eq!(decode_into(&self.params, &self.chunk, out, options), Ok(out.len()));
        };
        Contender { clock, ..self.decode(&name, decode) }
    }

    /// A decoder, which has decoded the chunk once and rightly.
    fn decode<'a>(&'a self, name: &str, decode: impl Fn(&mut [i16]) + 'a) -> Contender<'a> {
        let out = RefCell::new(vec![0i16; self.samples.len()]);
        decode(&mut out.borrow_mut());
        assert_eq!(*out.borrow(), self.samples, "{name}");
        Contender {
            name: name.into(),
            clock: cpu_time,
            work: Box::new(move || decode(&mut out.borrow_mut())),
        }
    }
}
