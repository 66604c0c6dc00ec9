//! Decoding and encoding between RAM, device memory (VRAM) and a file; kernels by events.

use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use linerate_bench::harness::row;
use linerate_bench::records::{Figure, Measurement};
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

/// What is measured.
pub(crate) struct Settings {
    pub(crate) rows: Vec<usize>,
    pub(crate) rounds: usize,
    /// nvCOMP's library, a file name for the system's search or a path.
    pub(crate) nvcomp: OsString,
}

impl Default for Settings {
    /// Chunks of 2000 and 20,000 rows, 10 rounds.
    fn default() -> Settings {
        Settings { rows: vec![2000, 20_000], rounds: 10, nvcomp: "libnvcomp.so.6".into() }
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
        Ok(Times((0..rounds.max(1)).map(|_| work()).collect::<Result<_>>()?))
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

    /// MB/s.
    fn speed(&self, bytes: usize) -> Option<Figure> {
        let speed = |time: &Duration| bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
        Figure::of(&self.0.iter().map(speed).collect::<Vec<_>>())
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
    /// Queues a copy.
    ///
    /// # Safety
    /// As for the stream's.
    unsafe fn copy(&self, pointer: u64, input: Input<'_>) -> Result<()> {
        // SAFETY: by the caller.
        unsafe {
            match input {
                Input::Host(host) => self.stream.copy_to_device(pointer, host)?,
                Input::Device { address, bytes } => self.stream.copy_on_device(pointer, address, bytes)?,
            }
        }
        Ok(())
    }

    /// Queues decoding of `input` to the memory for it.
    fn decode(&mut self, contender: &Contender, input: Input<'_>) -> Result<()> {
        let (pointer, bytes) = (self.decoded.pointer(), self.samples.len());
        let job = DecodeJob { chunk: input, samples: pointer, capacity: bytes / 2 };
        // SAFETY: the buffers live in `self`, and each round waits for the stream before the next.
        unsafe {
            match contender {
                Contender::Uncompressed => self.copy(pointer, input)?,
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
                Contender::Uncompressed => self.copy(pointer, input)?,
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

/// Measures every contender on every path.
pub(crate) fn run(context: &Context, settings: &Settings) -> Result<Vec<Measurement>> {
    let codec = Codec::new(context);
    let mut found = Vec::new();
    for &n in &settings.rows {
        measure(&codec, n, settings, &mut found)?;
    }
    Ok(found)
}

/// A chunk of `n` rows.
fn measure(codec: &Codec, n: usize, settings: &Settings, found: &mut Vec<Measurement>) -> Result<()> {
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
    let device = context.device_name()?;
    let mut add = |contender: &str,
                   path: &str,
                   compressed: usize,
                   encode: Option<Times>,
                   decode: Option<Times>| {
        let mut row = row("gpu", "nab", contender)
            .param("path", path)
            .param("rows", n)
            .param("device", device.as_str())
            .exact("size", compressed as f64 / bytes as f64);
        for (metric, times) in [("encode", encode), ("decode", decode)] {
            let speed = times.and_then(|times| times.speed(bytes));
            row.metrics.extend(speed.map(|speed| (metric.to_owned(), speed)));
        }
        // A path may be one of encoding and of decoding: from RAM to VRAM, say.
        match found.iter_mut().find(|other| other.contender == row.contender && other.params == row.params) {
            Some(other) => other.metrics.extend(row.metrics),
            None => found.push(row),
        }
    };
    for contender in &contenders {
        let original = Input::Device { address: bench.original.pointer(), bytes };
        let can_encode = bench.can_encode(contender, original)?;
        let chunk = contender.encoded_by_cpu(&bench.samples)?;
        bench.put_encoded(&chunk)?;
        let (decode, encode) = bench.kernels(contender, chunk.len(), can_encode)?;
        add(contender.name(), "kernel", chunk.len(), encode, Some(decode));
        for (packed, plain) in PATHS {
            let decode = bench.decode_path(contender, &chunk, packed, plain)?;
            let path = format!("{} to {}", packed.name(), plain.name());
            add(contender.name(), &path, chunk.len(), None, Some(decode));
            if can_encode {
                let encode = bench.encode_path(contender, &chunk, plain, packed)?;
                let path = format!("{} to {}", plain.name(), packed.name());
                add(contender.name(), &path, chunk.len(), Some(encode), None);
            }
        }
    }
    let nvcomp = Nvcomp::load(&settings.nvcomp);
    for algorithm in &ALGORITHMS {
        let measured = match &nvcomp {
            Ok(nvcomp) => bench.nvcomp(nvcomp, algorithm).map_err(|error| error.to_string()),
            Err(missing) => Err(missing.clone()),
        };
        match measured {
            Ok((encode, decode, size)) => add(algorithm.name, "kernel", size, Some(encode), Some(decode)),
            Err(reason) => eprintln!("not measured: {}: {reason}", algorithm.name),
        }
    }
    Ok(())
}
