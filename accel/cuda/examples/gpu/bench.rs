//! The tables: decoding and encoding between RAM, device memory (VRAM) and a file; kernels by events.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use linerate_bench::harness::provenance;
use linerate_bench::waveforms::Set;
use linerate_cuda::{
    Codec, Context, DecodeJob, DeviceBuffer, EncodeJob, Event, Input, Stream, Workspace, stream_bound,
};
use linerate_rice::v2::{ElementType, StreamOptions};
use linerate_rice::{Options, Params};

use super::nvcomp::{ALGORITHMS, Algorithm, Batch, Nvcomp};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Samples of a row.
const ROW: u32 = 7000;

/// What is measured, and where it goes.
pub(crate) struct Settings {
    pub(crate) rows: Vec<usize>,
    pub(crate) rounds: usize,
    pub(crate) csv: Option<PathBuf>,
    /// nvCOMP's library, a file name for the system's search or a path.
    pub(crate) nvcomp: OsString,
    command: String,
}

impl Settings {
    /// Chunks of 2000 and 20,000 rows, 10 rounds, no CSV.
    pub(crate) fn new(command: String) -> Settings {
        Settings { rows: vec![2000, 20_000], rounds: 10, csv: None, nvcomp: "libnvcomp.so.6".into(), command }
    }
}

/// Where bytes come from and go to.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Ram,
    Vram,
    File,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Ram => "ram",
            Place::Vram => "vram",
            Place::File => "file",
        }
    }
}

/// The paths of the tables: of compressed data and of samples, source first for decoding. Encoding goes the other way.
const PATHS: [(Place, Place); 6] = [
    (Place::Vram, Place::Vram),
    (Place::Ram, Place::Vram),
    (Place::Ram, Place::Ram),
    (Place::File, Place::Vram),
    (Place::File, Place::Ram),
    (Place::Vram, Place::Ram),
];

/// What codes the samples.
enum Contender {
    /// A copy.
    Uncompressed,
    V1(Params),
    V2(Box<StreamOptions>),
}

impl Contender {
    fn name(&self) -> &'static str {
        match self {
            Contender::Uncompressed => "none",
            Contender::V1(_) => "v1 m=8",
            Contender::V2(_) => "v2",
        }
    }

    /// The chunk of `samples`, by the CPU's codec: the kernels must give the same bytes.
    fn encoded_by_cpu(&self, samples: &[u8]) -> Result<Vec<u8>> {
        let values = || -> Vec<i16> {
            samples.as_chunks::<2>().0.iter().map(|pair| i16::from_le_bytes(*pair)).collect()
        };
        Ok(match self {
            Contender::Uncompressed => samples.to_vec(),
            Contender::V1(params) => linerate_rice::encode(params, &values(), Options::new())?,
            Contender::V2(options) => linerate_rice::v2::encode(options, &values(), Options::new())?,
        })
    }

    fn bound(&self, bytes: usize) -> usize {
        match self {
            Contender::Uncompressed => bytes,
            Contender::V1(params) => params.bound(bytes / 2),
            Contender::V2(options) => stream_bound(ElementType::I16, options, bytes),
        }
    }
}

/// Durations of the rounds.
struct Times(Vec<Duration>);

impl Times {
    fn measure(rounds: usize, mut work: impl FnMut() -> Result<Duration>) -> Result<Times> {
        work()?; // grows buffers, loads kernels
        let mut all = (0..rounds.max(1)).map(|_| work()).collect::<Result<Vec<_>>>()?;
        all.sort();
        Ok(Times(all))
    }

    /// The time by events on the device for what `queue` gives `stream`.
    fn on_device(rounds: usize, stream: &Stream, mut queue: impl FnMut() -> Result<()>) -> Result<Times> {
        let [first, last] = [Event::new(stream.context())?, Event::new(stream.context())?];
        Times::measure(rounds, || {
            first.record(stream)?;
            queue()?;
            last.record(stream)?;
            last.synchronize()?;
            Ok(Duration::from_secs_f64(f64::from(last.milliseconds_since(&first)?) / 1e3))
        })
    }

    /// MB/s of the best round and of the median.
    fn rates(&self, bytes: usize) -> (f64, f64) {
        let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
        (rate(self.0[0]), rate(self.0[self.0.len() / 2]))
    }
}

/// One chunk of rows, and the memory that it is coded in.
struct Bench<'a> {
    codec: &'a Codec,
    stream: &'a Stream,
    workspace: Workspace,
    rounds: usize,
    samples: Vec<u8>,
    /// Device memory: the samples, what is decoded, and what is encoded.
    original: DeviceBuffer,
    decoded: DeviceBuffer,
    encoded: DeviceBuffer,
    file: PathBuf,
}

#[allow(unsafe_code)]
impl Bench<'_> {
    /// Queues decoding of `input` to the memory for it.
    fn decode(&mut self, contender: &Contender, input: Input<'_>) -> Result<()> {
        let (pointer, bytes) = (self.decoded.pointer(), self.samples.len());
        let job = DecodeJob { chunk: input, samples: pointer, capacity: bytes / 2 };
        // SAFETY: the buffers live in `self`, and each round waits for the stream before the next.
        unsafe {
            match contender {
                Contender::Uncompressed => match input {
                    Input::Host(host) => self.stream.copy_to_device(pointer, host)?,
                    Input::Device { address, bytes } => {
                        self.stream.copy_on_device(pointer, address, bytes)?
                    }
                },
                Contender::V1(params) => {
                    self.codec.decode(params, &[job], self.stream, &mut self.workspace)?
                }
                Contender::V2(options) => {
                    let segment = options.segment_len() as usize;
                    let jobs = [job];
                    self.codec.decode_streams(
                        ElementType::I16,
                        segment,
                        &jobs,
                        self.stream,
                        &mut self.workspace,
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Queues encoding of `input` to the memory for it.
    fn encode(&mut self, contender: &Contender, input: Input<'_>) -> Result<()> {
        let (pointer, capacity) = (self.encoded.pointer(), self.encoded.len());
        let job = EncodeJob { samples: input, chunk: pointer, capacity };
        // SAFETY: as for decoding.
        unsafe {
            match contender {
                Contender::Uncompressed => match input {
                    Input::Host(host) => self.stream.copy_to_device(pointer, host)?,
                    Input::Device { address, bytes } => {
                        self.stream.copy_on_device(pointer, address, bytes)?
                    }
                },
                Contender::V1(params) => {
                    self.codec.encode(params, &[job], self.stream, &mut self.workspace)?
                }
                Contender::V2(options) => self.codec.encode_streams(
                    ElementType::I16,
                    options,
                    &[job],
                    self.stream,
                    &mut self.workspace,
                )?,
            }
        }
        Ok(())
    }

    /// Whether there are kernels that encode.
    fn can_encode(&mut self, contender: &Contender, original: Input<'_>) -> Result<bool> {
        match self.encode(contender, original) {
            Ok(()) => self.outcome(contender).map(|_| true),
            Err(error) if matches!(error.downcast_ref(), Some(linerate_cuda::Error::NoKernel(_))) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Puts `chunk` where encoded bytes are.
    fn put_encoded(&self, chunk: &[u8]) -> Result<()> {
        // SAFETY: the buffer is longer than any chunk; the stream is waited for.
        unsafe { self.stream.copy_to_device(self.encoded.pointer(), chunk)? };
        Ok(self.stream.synchronize()?)
    }

    /// Waits for what was queued; the bytes encoded or samples decoded.
    fn outcome(&mut self, contender: &Contender) -> Result<usize> {
        self.stream.synchronize()?;
        match contender {
            Contender::Uncompressed => Ok(self.samples.len()),
            _ => self.workspace.outcomes()?.remove(0).map_err(Into::into),
        }
    }

    /// Decodes from `from` to `to`, `chunk` being the encoded bytes, which are in `self.encoded` too.
    fn decode_path(&mut self, contender: &Contender, chunk: &[u8], from: Place, to: Place) -> Result<Times> {
        let mut read = vec![0; chunk.len()];
        let mut out = vec![0; self.samples.len()];
        fs::write(&self.file, chunk)?;
        let times = Times::measure(self.rounds, || {
            let start = Instant::now();
            let input = match from {
                Place::Vram => Input::Device { address: self.encoded.pointer(), bytes: chunk.len() },
                Place::Ram => Input::Host(chunk),
                Place::File => {
                    File::open(&self.file)?.read_exact(&mut read)?;
                    Input::Host(&read)
                }
            };
            self.decode(contender, input)?;
            self.outcome(contender)?;
            if to == Place::Ram {
                self.decoded.read(&mut out, self.stream)?;
            }
            Ok(start.elapsed())
        })?;
        self.decoded.read(&mut out, self.stream)?;
        match out == self.samples {
            true => Ok(times),
            false => Err(format!("{}: the decoded samples differ", contender.name()).into()),
        }
    }

    /// Encodes from `from` to `to`; the encoded bytes must be `chunk`.
    fn encode_path(&mut self, contender: &Contender, chunk: &[u8], from: Place, to: Place) -> Result<Times> {
        let samples = std::mem::take(&mut self.samples);
        let mut out = vec![0; chunk.len()];
        let times = Times::measure(self.rounds, || {
            let start = Instant::now();
            let input = match from {
                Place::Vram => Input::Device { address: self.original.pointer(), bytes: samples.len() },
                _ => Input::Host(&samples),
            };
            self.encode(contender, input)?;
            self.outcome(contender)?;
            if to != Place::Vram {
                self.encoded.read(&mut out, self.stream)?;
            }
            if to == Place::File {
                File::create(&self.file)?.write_all(&out)?;
            }
            Ok(start.elapsed())
        });
        self.samples = samples;
        self.encoded.read(&mut out, self.stream)?;
        match out == chunk {
            true => times,
            false => Err(format!("{}: the encoded bytes differ", contender.name()).into()),
        }
    }

    /// The device's own time: of decoding and of encoding, from and to device memory.
    fn kernels(
        &mut self,
        contender: &Contender,
        chunk: usize,
        can_encode: bool,
    ) -> Result<(Times, Option<Times>)> {
        let encoded = Input::Device { address: self.encoded.pointer(), bytes: chunk };
        let original = Input::Device { address: self.original.pointer(), bytes: self.samples.len() };
        let (rounds, stream) = (self.rounds, self.stream);
        let decode = Times::on_device(rounds, stream, || self.decode(contender, encoded))?;
        self.outcome(contender)?;
        if !can_encode {
            return Ok((decode, None));
        }
        let encode = Times::on_device(rounds, stream, || self.encode(contender, original))?;
        self.outcome(contender)?;
        Ok((decode, Some(encode)))
    }

    /// Times of an algorithm of nvCOMP on the device, encoding first, and the compressed bytes.
    fn nvcomp(&mut self, nvcomp: &Nvcomp, algorithm: &Algorithm) -> Result<(Times, Times, usize)> {
        let (context, bytes) = (self.codec.context(), self.samples.len());
        let addresses = [self.original.pointer(), self.decoded.pointer()];
        // SAFETY: both buffers are that long and outlive the batch.
        let batch = unsafe { Batch::new(nvcomp, algorithm, context, self.stream, bytes, addresses) }?;
        let encode = Times::on_device(self.rounds, self.stream, || batch.compress())?;
        batch.finish()?;
        let compressed = batch.compressed_bytes()?;
        // SAFETY: the buffer is that long. What an earlier contender decoded there must not pass for its result.
        unsafe { self.stream.fill(self.decoded.pointer(), 0xa5, bytes)? };
        let decode = Times::on_device(self.rounds, self.stream, || batch.decompress())?;
        batch.finish()?;
        let mut out = vec![0; bytes];
        self.decoded.read(&mut out, self.stream)?;
        match out == self.samples {
            true => Ok((encode, decode, compressed)),
            false => Err(format!("{}: the decoded samples differ", algorithm.name).into()),
        }
    }
}

/// A row of the record.
struct Row {
    shape: String,
    contender: String,
    version: String,
    bytes: usize,
    rows: usize,
    size_percent: Option<f64>,
    encode: Option<(f64, f64)>,
    decode: Option<(f64, f64)>,
    note: String,
}

/// Measures, and returns the table; appends to the record.
pub(crate) fn run(context: &Context, settings: &Settings) -> Result<String> {
    let codec = Codec::new(context);
    let mut rows = Vec::new();
    for &n in &settings.rows {
        measure(&codec, n, settings, &mut rows)?;
    }
    if let Some(csv) = &settings.csv {
        append(csv, context, settings, &rows)?;
    }
    let mut text = format!("{}; MB/s of samples, best round\n", context.device_name()?);
    let rate = |rates: Option<(f64, f64)>| rates.map_or("-".to_owned(), |(best, _)| format!("{best:.0}"));
    writeln!(
        text,
        "{:>6} {:<16} {:<18} {:>7} {:>9} {:>9}",
        "rows", "path", "contender", "size %", "decode", "encode"
    )?;
    for row in &rows {
        let size = row.size_percent.map_or("-".to_owned(), |size| format!("{size:.1}"));
        let (decode, encode) = (rate(row.decode), rate(row.encode));
        let line = format!(
            "{:>6} {:<16} {:<18} {size:>7} {decode:>9} {encode:>9}  {}",
            row.rows, row.shape, row.contender, row.note
        );
        writeln!(text, "{}", line.trim_end())?;
    }
    Ok(text)
}

/// A chunk of `n` rows.
fn measure(codec: &Codec, n: usize, settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let samples: Vec<u8> = Set::Nab.samples(n).iter().flat_map(|x| x.to_le_bytes()).collect();
    let bytes = samples.len();
    let context = codec.context();
    let stream = Stream::new(context)?;
    let params = Params::new(8, NonZeroU32::new(ROW))?;
    let options = StreamOptions::new().row(NonZeroU32::new(ROW));
    let contenders = [Contender::Uncompressed, Contender::V1(params), Contender::V2(Box::new(options))];
    let bound = contenders.iter().map(|contender| contender.bound(bytes)).max().unwrap_or(bytes);
    let folder = tempfile::tempdir()?;
    let mut bench = Bench {
        codec,
        workspace: Workspace::new(context)?,
        rounds: settings.rounds,
        original: DeviceBuffer::from_slice(context, &samples, &stream)?,
        decoded: DeviceBuffer::new(context, bytes)?,
        encoded: DeviceBuffer::new(context, bound)?,
        file: folder.path().join("chunk"),
        samples,
        stream: &stream,
    };
    let mut copy_rate = f64::INFINITY;
    for contender in &contenders {
        let original = Input::Device { address: bench.original.pointer(), bytes };
        let can_encode = bench.can_encode(contender, original)?;
        let chunk = contender.encoded_by_cpu(&bench.samples)?;
        bench.put_encoded(&chunk)?;
        let row = |shape: String, encode, decode, note| Row {
            shape,
            contender: contender.name().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            bytes,
            rows: n,
            size_percent: percent(chunk.len(), bytes),
            encode,
            decode,
            note,
        };
        let (decode, encode) = bench.kernels(contender, chunk.len(), can_encode)?;
        let (decode, encode) = (decode.rates(bytes), encode.map(|times| times.rates(bytes)));
        if matches!(contender, Contender::Uncompressed) {
            copy_rate = decode.0;
        }
        let note = kernel_note(copy_rate, decode, encode);
        rows.push(row("gpu-kernel".into(), encode, Some(decode), note));
        for (packed, plain) in PATHS {
            let decode = bench.decode_path(contender, &chunk, packed, plain)?;
            rows.push(row(
                format!("gpu-{}-{}", packed.name(), plain.name()),
                None,
                Some(decode.rates(bytes)),
                String::new(),
            ));
            if !can_encode {
                continue;
            }
            let encode = bench.encode_path(contender, &chunk, plain, packed)?;
            rows.push(row(
                format!("gpu-{}-{}", plain.name(), packed.name()),
                Some(encode.rates(bytes)),
                None,
                String::new(),
            ));
        }
    }
    rows.extend(nvcomp_rows(&mut bench, settings, n, copy_rate));
    Ok(())
}

/// A row per algorithm of nvCOMP. Where it is missing or fails, the row says so.
fn nvcomp_rows(bench: &mut Bench<'_>, settings: &Settings, n: usize, copy_rate: f64) -> Vec<Row> {
    let nvcomp = Nvcomp::load(&settings.nvcomp);
    let bytes = bench.samples.len();
    let row = |algorithm: &Algorithm| {
        let mut row = Row {
            shape: "gpu-kernel".into(),
            contender: algorithm.name.to_owned(),
            version: nvcomp.as_ref().map_or(String::new(), Nvcomp::version),
            bytes,
            rows: n,
            size_percent: None,
            encode: None,
            decode: None,
            note: String::new(),
        };
        let loaded = nvcomp.as_ref().map_err(Clone::clone);
        match loaded.and_then(|nvcomp| bench.nvcomp(nvcomp, algorithm).map_err(|e| e.to_string())) {
            Ok((encode, decode, compressed)) => {
                let (encode, decode) = (encode.rates(bytes), decode.rates(bytes));
                row.note = kernel_note(copy_rate, decode, Some(encode));
                (row.encode, row.decode) = (Some(encode), Some(decode));
                row.size_percent = percent(compressed, bytes);
            }
            Err(reason) => row.note = format!("not measured: {reason}"),
        }
        row
    };
    ALGORITHMS.iter().map(row).collect()
}

fn percent(compressed: usize, bytes: usize) -> Option<f64> {
    Some(100.0 * compressed as f64 / bytes as f64)
}

/// The shares of the rate of a copy, of best rates.
fn kernel_note(copy: f64, decode: (f64, f64), encode: Option<(f64, f64)>) -> String {
    let share = |rates: (f64, f64)| 100.0 * rates.0 / copy;
    let decoding = format!("by events; decoding at {:.1} % of a copy on the device", share(decode));
    match encode {
        Some(rates) => format!("{decoding}, encoding at {:.1} %", share(rates)),
        None => format!("{decoding}; there are no kernels that encode"),
    }
}

const COLUMNS: &str = "shape,date,cpu,device,driver,linerate,corpus,bytes,dtype,rows,row_samples,contender,\
contender_version,size_percent,encode_best_mb_s,encode_median_mb_s,decode_best_mb_s,decode_median_mb_s,rounds,note,command";

fn append(csv: &PathBuf, context: &Context, settings: &Settings, rows: &[Row]) -> Result<()> {
    let is_new = !csv.exists();
    let mut file = OpenOptions::new().create(true).append(true).open(csv)?;
    if is_new {
        writeln!(file, "{COLUMNS}")?;
    }
    let (run, device) = (provenance::run(), context.device_name()?);
    let driver = context.driver().version()?;
    for row in rows {
        let number = |value: Option<f64>, digits| value.map_or(String::new(), |v| format!("{v:.digits$}"));
        let best = |rates: Option<(f64, f64)>| number(rates.map(|r| r.0), 1);
        let median = |rates: Option<(f64, f64)>| number(rates.map(|r| r.1), 1);
        let fields = [
            row.shape.clone(),
            run.date.clone(),
            run.cpu.clone(),
            device.clone(),
            format!("CUDA {}.{}", driver / 1000, driver % 1000 / 10),
            run.linerate.clone(),
            "nab".to_owned(),
            row.bytes.to_string(),
            "int16".to_owned(),
            row.rows.to_string(),
            ROW.to_string(),
            row.contender.clone(),
            row.version.clone(),
            number(row.size_percent, 3),
            best(row.encode),
            median(row.encode),
            best(row.decode),
            median(row.decode),
            settings.rounds.to_string(),
            row.note.clone(),
            format!("make bench-gpu FLAGS=\"{}\"", settings.command),
        ];
        let quoted = fields.map(|field| match field.contains([',', '"']) {
            true => format!("\"{}\"", field.replace('"', "\"\"")),
            false => field,
        });
        writeln!(file, "{}", quoted.join(","))?;
    }
    Ok(())
}
