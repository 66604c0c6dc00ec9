//! Measures decoding and encoding of batches of chunks between RAM, device memory (VRAM) and a
//! file. Events time the kernels.

use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;
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

/// Samples per row of the generated waveforms.
const ROW: u32 = 7000;

/// Settings of the benchmark.
pub(crate) struct Settings {
    pub(crate) shapes: Vec<Shape>,
    pub(crate) rounds: usize,
    /// nvCOMP's library: a path, or a file name for the system's search.
    pub(crate) nvcomp: OsString,
}

/// How many chunks one call decodes or encodes, and how large they are.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) chunks: usize,
    /// Rows per chunk.
    pub(crate) rows: usize,
}

impl FromStr for Shape {
    type Err = String;

    /// Parses `ROWS`, for one chunk of that many rows, or `COUNTxROWS`. Neither number may be 0.
    fn from_str(text: &str) -> std::result::Result<Shape, String> {
        let (chunks, rows) = text.split_once('x').unwrap_or(("1", text));
        let number = |digits: &str| match digits.parse::<NonZeroUsize>() {
            Ok(number) => Ok(number.get()),
            Err(error) => Err(format!("--chunks: {text}: {error}; give ROWS or COUNTxROWS, from 1 on")),
        };
        Ok(Shape { chunks: number(chunks)?, rows: number(rows)? })
    }
}

impl Default for Settings {
    /// One chunk of 2000 rows, one of 20,000, and 100 chunks of 200, each for 10 rounds.
    fn default() -> Settings {
        let shapes = [(1, 2000), (1, 20_000), (100, 200)];
        let shapes = shapes.map(|(chunks, rows)| Shape { chunks, rows }).to_vec();
        Settings { shapes, rounds: 10, nvcomp: "libnvcomp.so.6".into() }
    }
}

/// Where data comes from or goes to.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Place {
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

/// The paths that are measured: the place of the compressed data, then that of the samples.
/// Decoding goes from the first to the second, encoding the other way.
const PATHS: [(Place, Place); 6] = [
    (Place::Vram, Place::Vram),
    (Place::Ram, Place::Vram),
    (Place::Ram, Place::Ram),
    (Place::File, Place::Vram),
    (Place::File, Place::Ram),
    (Place::Vram, Place::Ram),
];

/// What encodes and decodes the samples.
pub(crate) enum Contender {
    /// Nothing: the samples are copied as they are.
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

    /// Encodes `samples`, 16-bit samples as bytes, with the CPU's codec. The kernels must give the
    /// same bytes.
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

/// The duration of each round of a measurement.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    fn measure(rounds: usize, mut work: impl FnMut() -> Result<Duration>) -> Result<Times> {
        work()?; // an untimed round grows buffers and loads kernels
        Ok(Times((0..rounds.max(1)).map(|_| work()).collect::<Result<_>>()?))
    }

    /// Measures how long the device takes for the work that `queue` puts on `stream`, by events.
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

    /// Returns the speed for `bytes` bytes of samples, in MB/s.
    fn speed(&self, bytes: usize) -> Option<Figure> {
        let speed = |time: &Duration| bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
        Figure::of(&self.0.iter().map(speed).collect::<Vec<_>>())
    }
}

/// The compressed chunks of a batch, one after another in host memory.
pub(crate) struct Packed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) lens: Vec<usize>,
}

impl Packed {
    fn inputs<'a>(&self, mut bytes: &'a [u8]) -> Vec<Input<'a>> {
        let mut take = |len: &usize| {
            let (chunk, rest) = bytes.split_at(*len);
            bytes = rest;
            Input::Host(chunk)
        };
        self.lens.iter().map(&mut take).collect()
    }
}

/// A batch of chunks of samples, and the memory for encoding and decoding it.
pub(crate) struct Bench<'a> {
    codec: &'a Codec,
    stream: &'a Stream,
    workspace: Workspace,
    rounds: usize,
    pub(crate) samples: Vec<u8>,
    /// Size of the samples of each chunk in bytes.
    chunk: usize,
    /// Distance in bytes from one chunk to the next in `encoded`.
    slot: usize,
    /// Device memory that holds the samples.
    original: DeviceBuffer,
    /// Device memory for decoded samples.
    decoded: DeviceBuffer,
    /// Device memory for encoded chunks, one in each slot.
    encoded: DeviceBuffer,
    file: PathBuf,
}

impl<'a> Bench<'a> {
    /// Generates the chunks of `shape`, and allocates device memory for them and for what any of
    /// `contenders` makes of them. `file` is the path of the file for paths from and to a file.
    pub(crate) fn new(
        codec: &'a Codec,
        stream: &'a Stream,
        shape: Shape,
        contenders: &[Contender],
        rounds: usize,
        file: PathBuf,
    ) -> Result<Bench<'a>> {
        let rows = shape.chunks * shape.rows;
        let samples: Vec<u8> = Set::Nab.samples(rows).iter().flat_map(|x| x.to_le_bytes()).collect();
        let chunk = samples.len() / shape.chunks;
        let bounds = contenders.iter().map(|contender| contender.bound(chunk));
        let slot = bounds.max().unwrap_or(chunk).next_multiple_of(16);
        let context = codec.context();
        Ok(Bench {
            codec,
            stream,
            workspace: Workspace::new(context)?,
            rounds,
            original: DeviceBuffer::from_slice(context, &samples, stream)?,
            decoded: DeviceBuffer::new(context, samples.len())?,
            encoded: DeviceBuffer::new(context, slot * shape.chunks)?,
            samples,
            chunk,
            slot,
            file,
        })
    }
}

#[allow(unsafe_code)]
impl Bench<'_> {
    /// Queues a copy of `input` to the device address `pointer`.
    ///
    /// # Safety
    /// As for [`Stream::copy_to_device`] or [`Stream::copy_on_device`].
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

    /// Queues decoding of `inputs`, all chunks of the batch, to `self.decoded`.
    fn decode(&mut self, contender: &Contender, inputs: &[Input<'_>]) -> Result<()> {
        let output = |i: usize| self.decoded.pointer() + (i * self.chunk) as u64;
        let capacity = self.chunk / 2;
        let jobs = inputs.iter().enumerate();
        let jobs: Vec<_> =
            jobs.map(|(i, chunk)| DecodeJob { chunk: *chunk, samples: output(i), capacity }).collect();
        // SAFETY: the buffers live in `self`, and each round waits for the stream before the next.
        unsafe {
            match contender {
                Contender::Uncompressed => {
                    jobs.iter().try_for_each(|job| self.copy(job.samples, job.chunk))?;
                }
                Contender::V1(params) => {
                    self.codec.decode(params, &jobs, self.stream, &mut self.workspace)?;
                }
                Contender::V2(options) => {
                    let segment = options.segment_len() as usize;
                    let (stream, workspace) = (self.stream, &mut self.workspace);
                    self.codec.decode_streams(ElementType::I16, segment, &jobs, stream, workspace)?;
                }
            }
        }
        Ok(())
    }

    /// Queues encoding of `inputs`, the samples of all chunks, to the slots of `self.encoded`.
    fn encode(&mut self, contender: &Contender, inputs: &[Input<'_>]) -> Result<()> {
        let jobs = inputs.iter().enumerate();
        let jobs: Vec<_> = jobs
            .map(|(i, samples)| EncodeJob { samples: *samples, chunk: self.slot(i), capacity: self.slot })
            .collect();
        // SAFETY: as for decoding.
        unsafe {
            match contender {
                Contender::Uncompressed => {
                    jobs.iter().try_for_each(|job| self.copy(job.chunk, job.samples))?;
                }
                Contender::V1(params) => {
                    self.codec.encode(params, &jobs, self.stream, &mut self.workspace)?;
                }
                Contender::V2(options) => {
                    let (stream, workspace) = (self.stream, &mut self.workspace);
                    self.codec.encode_streams(ElementType::I16, options, &jobs, stream, workspace)?;
                }
            }
        }
        Ok(())
    }

    /// Whether there are kernels that encode for `contender`. Tries by encoding all chunks once.
    fn can_encode(&mut self, contender: &Contender) -> Result<bool> {
        match self.encode(contender, &self.device_samples()) {
            Ok(()) => self.finish(contender).map(|()| true),
            Err(error) if matches!(error.downcast_ref(), Some(linerate_cuda::Error::NoKernel(_))) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Device address of encoded chunk `i`.
    fn slot(&self, i: usize) -> u64 {
        self.encoded.pointer() + (i * self.slot) as u64
    }

    /// The encoded chunks in device memory.
    fn device_chunks(&self, packed: &Packed) -> Vec<Input<'static>> {
        let lens = packed.lens.iter().enumerate();
        lens.map(|(i, bytes)| Input::Device { address: self.slot(i), bytes: *bytes }).collect()
    }

    /// The samples of all chunks in device memory.
    fn device_samples(&self) -> Vec<Input<'static>> {
        let (start, bytes) = (self.original.pointer(), self.chunk);
        let offsets = (0..self.samples.len()).step_by(bytes);
        offsets.map(|offset| Input::Device { address: start + offset as u64, bytes }).collect()
    }

    /// Encodes the chunks with the CPU's codec, copies them to the slots in device memory, and
    /// returns them. The kernels must give the same bytes.
    pub(crate) fn encoded_by_cpu(&self, contender: &Contender) -> Result<Packed> {
        let mut packed = Packed { bytes: Vec::new(), lens: Vec::new() };
        for (i, samples) in self.samples.chunks(self.chunk).enumerate() {
            let chunk = contender.encoded_by_cpu(samples)?;
            // SAFETY: a slot is at least as long as any chunk; the stream is waited for.
            unsafe { self.stream.copy_to_device(self.slot(i), &chunk)? };
            self.stream.synchronize()?;
            packed.lens.push(chunk.len());
            packed.bytes.extend(chunk);
        }
        Ok(packed)
    }

    /// Copies the encoded chunks from device memory to `out`, one after another, with the lengths
    /// that `packed` has for them.
    fn read_encoded(&self, packed: &Packed, mut out: &mut [u8]) -> Result<()> {
        for (i, len) in packed.lens.iter().enumerate() {
            let chunk = out.split_off_mut(..*len).ok_or("the chunks are longer than their sum")?;
            // SAFETY: the slot is that long; `out` lives until the stream has been waited for.
            unsafe { self.stream.copy_to_host(chunk, self.slot(i))? };
        }
        Ok(self.stream.synchronize()?)
    }

    /// Waits for the queued work. If chunks have errors, returns that of the first one.
    fn finish(&mut self, contender: &Contender) -> Result<()> {
        self.stream.synchronize()?;
        if !matches!(contender, Contender::Uncompressed) {
            for outcome in self.workspace.outcomes()? {
                outcome?;
            }
        }
        Ok(())
    }

    /// Overwrites a buffer, so that what an earlier contender left there cannot pass for the result
    /// of this one.
    fn clear(&self, buffer: &DeviceBuffer) -> Result<()> {
        // SAFETY: the buffer is that long, and lives until the stream has been waited for.
        unsafe { self.stream.fill(buffer.pointer(), 0xa5, buffer.len())? };
        Ok(self.stream.synchronize()?)
    }

    /// Measures decoding from `from` to `to`, and checks the samples. The encoded chunks must be in
    /// `self.encoded` too.
    pub(crate) fn decode_path(
        &mut self,
        contender: &Contender,
        packed: &Packed,
        from: Place,
        to: Place,
    ) -> Result<Times> {
        let mut read = vec![0; packed.bytes.len()];
        let mut out = vec![0; self.samples.len()];
        fs::write(&self.file, &packed.bytes)?;
        self.clear(&self.decoded)?;
        let times = Times::measure(self.rounds, || {
            let start = Instant::now();
            let inputs = match from {
                Place::Vram => self.device_chunks(packed),
                Place::Ram => packed.inputs(&packed.bytes),
                Place::File => {
                    File::open(&self.file)?.read_exact(&mut read)?;
                    packed.inputs(&read)
                }
            };
            self.decode(contender, &inputs)?;
            self.finish(contender)?;
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

    /// Measures encoding from `from` to `to`. The encoded chunks must equal `packed`; then they are
    /// in `self.encoded`.
    pub(crate) fn encode_path(
        &mut self,
        contender: &Contender,
        packed: &Packed,
        from: Place,
        to: Place,
    ) -> Result<Times> {
        self.clear(&self.encoded)?;
        let on_device = self.device_samples();
        let samples = std::mem::take(&mut self.samples);
        let mut out = vec![0; packed.bytes.len()];
        let inputs: Vec<_> = match from {
            Place::Vram => on_device,
            _ => samples.chunks(self.chunk).map(Input::Host).collect(),
        };
        let times = Times::measure(self.rounds, || {
            let start = Instant::now();
            self.encode(contender, &inputs)?;
            self.finish(contender)?;
            if to != Place::Vram {
                self.read_encoded(packed, &mut out)?;
            }
            if to == Place::File {
                File::create(&self.file)?.write_all(&out)?;
            }
            Ok(start.elapsed())
        });
        self.samples = samples;
        self.read_encoded(packed, &mut out)?;
        match out == packed.bytes {
            true => times,
            false => Err(format!("{}: the encoded bytes differ", contender.name()).into()),
        }
    }

    /// Measures decoding and encoding from and to device memory, in the device's own time.
    fn kernels(
        &mut self,
        contender: &Contender,
        packed: &Packed,
        can_encode: bool,
    ) -> Result<(Times, Option<Times>)> {
        let (encoded, original) = (self.device_chunks(packed), self.device_samples());
        let (rounds, stream) = (self.rounds, self.stream);
        let decode = Times::on_device(rounds, stream, || self.decode(contender, &encoded))?;
        self.finish(contender)?;
        if !can_encode {
            return Ok((decode, None));
        }
        let encode = Times::on_device(rounds, stream, || self.encode(contender, &original))?;
        self.finish(contender)?;
        Ok((decode, Some(encode)))
    }

    /// Measures encoding and decoding by an algorithm of nvCOMP from and to device memory. Returns
    /// both times, and the compressed size in bytes.
    fn nvcomp(&mut self, nvcomp: &Nvcomp, algorithm: &Algorithm) -> Result<(Times, Times, usize)> {
        let (context, bytes) = (self.codec.context(), self.samples.len());
        let addresses = [self.original.pointer(), self.decoded.pointer()];
        // SAFETY: both buffers are that long and outlive the batch.
        let batch = unsafe { Batch::new(nvcomp, algorithm, context, self.stream, bytes, addresses) }?;
        let encode = Times::on_device(self.rounds, self.stream, || batch.compress())?;
        batch.finish()?;
        let compressed = batch.compressed_bytes()?;
        self.clear(&self.decoded)?;
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

/// Measures every contender on every path, and nvCOMP in device memory, for each shape of the
/// settings.
pub(crate) fn run(context: &Context, settings: &Settings) -> Result<Vec<Measurement>> {
    let codec = Codec::new(context);
    let mut found = Vec::new();
    for shape in &settings.shapes {
        measure(&codec, *shape, settings, &mut found)?;
    }
    Ok(found)
}

/// Measures every contender on every path, and nvCOMP in device memory, with the chunks of `shape`.
/// Appends the results to `found`.
fn measure(codec: &Codec, shape: Shape, settings: &Settings, found: &mut Vec<Measurement>) -> Result<()> {
    let context = codec.context();
    let stream = Stream::new(context)?;
    let params = Params::new(8, NonZeroU32::new(ROW))?;
    let options = StreamOptions::new().row(NonZeroU32::new(ROW));
    let contenders = [Contender::Uncompressed, Contender::V1(params), Contender::V2(Box::new(options))];
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("chunk");
    let mut bench = Bench::new(codec, &stream, shape, &contenders, settings.rounds, file)?;
    let bytes = bench.samples.len();
    let device = context.device_name()?;
    let mut add = |contender: &str,
                   path: &str,
                   compressed: usize,
                   encode: Option<Times>,
                   decode: Option<Times>| {
        let mut row = row("gpu", "nab", contender)
            .param("path", path)
            .param("chunks", shape.chunks)
            .param("rows", shape.rows)
            .param("device", device.as_str())
            .exact("size", compressed as f64 / bytes as f64);
        for (metric, times) in [("encode", encode), ("decode", decode)] {
            let speed = times.and_then(|times| times.speed(bytes));
            row.metrics.extend(speed.map(|speed| (metric.to_owned(), speed)));
        }
        // A path may belong to both encoding and decoding, such as from RAM to VRAM.
        match found.iter_mut().find(|other| other.contender == row.contender && other.params == row.params) {
            Some(other) => other.metrics.extend(row.metrics),
            None => found.push(row),
        }
    };
    for contender in &contenders {
        let can_encode = bench.can_encode(contender)?;
        let packed = bench.encoded_by_cpu(contender)?;
        let size = packed.bytes.len();
        let (decode, encode) = bench.kernels(contender, &packed, can_encode)?;
        add(contender.name(), "kernel", size, encode, Some(decode));
        for (compressed, plain) in PATHS {
            let decode = bench.decode_path(contender, &packed, compressed, plain)?;
            let path = format!("{} to {}", compressed.name(), plain.name());
            add(contender.name(), &path, size, None, Some(decode));
            if can_encode {
                let encode = bench.encode_path(contender, &packed, plain, compressed)?;
                let path = format!("{} to {}", plain.name(), compressed.name());
                add(contender.name(), &path, size, Some(encode), None);
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
