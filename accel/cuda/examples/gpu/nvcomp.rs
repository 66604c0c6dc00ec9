//! NVIDIA's library nvCOMP, for comparison: its algorithms Cascaded, Bitcomp and ANS through its
//! batched C interface, version 6. The library is loaded at run time if it is installed. The test
//! double `shim/nvcomp.cpp` checks the options that are passed here, and is itself compiled against
//! nvCOMP's header.

use std::error::Error;
use std::ffi::{OsStr, c_int, c_void};

use libloading::Library;
use linerate_cuda::{Context, DeviceBuffer, Stream};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Size of the samples of an nvCOMP chunk in bytes, as nvCOMP's headers recommend.
const CHUNK: usize = 64 << 10;
/// Alignment of compressed chunks in device memory, in bytes. [`Nvcomp::sizes`] checks that nvCOMP
/// requires no more.
const ALIGN: usize = 256;
/// The major version of nvCOMP whose interface this is.
const MAJOR: u32 = 6;

/// Options that functions of nvCOMP take by value: a C structure as 32-bit words. Those of the
/// three algorithms have the same size, 64 bytes.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Options([u32; 16]);

impl Options {
    /// Creates options that begin with `words`. The rest, including reserved bytes, is 0.
    const fn new(words: &[u32]) -> Options {
        let mut all = [0; 16];
        let mut i = 0;
        while i < words.len() {
            all[i] = words[i];
            i += 1;
        }
        Options(all)
    }
}

/// An algorithm, with its options for 16-bit samples.
pub(crate) struct Algorithm {
    pub(crate) name: &'static str,
    /// Name of the algorithm within the names of its functions.
    symbol: &'static str,
    compress: Options,
    decompress: Options,
}

/// `NVCOMP_TYPE_SHORT`.
const SHORT: u32 = 2;

/// The algorithms of nvCOMP that are measured, each with the options that compress 16-bit samples
/// most.
pub(crate) const ALGORITHMS: [Algorithm; 3] = [
    Algorithm {
        name: "nvcomp cascaded",
        symbol: "Cascaded",
        // The type, asymmetric mode, bit packing as terminal codec, no coarse and all fine
        // encodings, level 7. The codec and the encodings are numbers of 64 bits.
        compress: Options::new(&[SHORT, 1, 1, 0, 0, 0, 7, 0, 7]),
        // The default backend, padding, then type, mode, terminal codec and coarse encodings as for
        // compressing: nvCOMP decodes faster if it knows them.
        decompress: Options::new(&[0, 0, SHORT, 1, 1, 0, 0, 0]),
    },
    Algorithm {
        name: "nvcomp bitcomp",
        symbol: "Bitcomp",
        // Algorithm 0, the default, which compresses most; then the type. Mode 0 is lossless.
        compress: Options::new(&[0, SHORT]),
        decompress: Options::new(&[]),
    },
    Algorithm {
        name: "nvcomp ans",
        symbol: "ANS",
        // rANS of bytes: ANS has no type for 16-bit integers.
        compress: Options::new(&[]),
        decompress: Options::new(&[]),
    },
];

/// `nvcompStatus_t`: 0, or the number of an error.
type Status = c_int;
type GetAlignments = unsafe extern "C" fn(Options, *mut [usize; 3]) -> Status;
type GetTempSize = unsafe extern "C" fn(usize, usize, Options, *mut usize, usize, *mut c_void) -> Status;
type GetMaxOutput = unsafe extern "C" fn(usize, Options, *mut usize) -> Status;
/// Parameters: chunks, sizes, largest size, count, scratch and its size, outputs, their sizes,
/// options, statuses, stream.
type Compress =
    unsafe extern "C" fn(u64, u64, usize, usize, u64, usize, u64, u64, Options, u64, *mut c_void) -> Status;
/// Parameters: compressed chunks, sizes, capacities, decompressed sizes, count, scratch and its
/// size, outputs, options, statuses, stream.
type Decompress =
    unsafe extern "C" fn(u64, u64, u64, u64, usize, u64, usize, u64, Options, u64, *mut c_void) -> Status;

/// The functions of one algorithm.
struct Functions {
    compress_alignments: GetAlignments,
    decompress_alignments: GetAlignments,
    compress_temp: GetTempSize,
    decompress_temp: GetTempSize,
    max_output: GetMaxOutput,
    compress: Compress,
    decompress: Decompress,
}

/// A loaded nvCOMP.
pub(crate) struct Nvcomp {
    library: Library,
    version: u32,
}

#[allow(unsafe_code)]
impl Nvcomp {
    /// Loads the library `name`, a file name for the system's search or a path.
    ///
    /// # Errors
    /// A sentence that says that the library is not installed or has another major version.
    pub(crate) fn load(name: &OsStr) -> std::result::Result<Nvcomp, String> {
        let missing = |e: libloading::Error| format!("nvCOMP is not installed ({e})");
        // SAFETY: the library is nvCOMP, or one that the user names instead. Its initialisers have
        // no requirements.
        let library = unsafe { Library::new(name) }.map_err(missing)?;
        let mut properties = [0u32; 2];
        // SAFETY: nvcompGetProperties fills a structure of two 32-bit numbers, the versions of
        // nvCOMP and of CUDA.
        let status = unsafe {
            let get = library.get::<unsafe extern "C" fn(*mut [u32; 2]) -> Status>(b"nvcompGetProperties");
            get.map_err(missing)?(&raw mut properties)
        };
        let version = properties[0];
        match status == 0 && version / 1000 == MAJOR {
            true => Ok(Nvcomp { library, version }),
            false => Err(format!("nvCOMP is of version {version}; install {MAJOR}.0, which is {MAJOR}000")),
        }
    }

    /// The version, such as `6.0.0`.
    pub(crate) fn version(&self) -> String {
        format!("{}.{}.{}", self.version / 1000, self.version % 1000 / 100, self.version % 100)
    }

    /// Looks up the function of nvCOMP whose name is made up of `nvcompBatched`, the algorithm's
    /// symbol and `name`.
    ///
    /// # Safety
    /// `F` is the type of a pointer to this function.
    unsafe fn function<F: Copy>(&self, algorithm: &Algorithm, name: &str) -> Result<F> {
        let symbol = format!("nvcompBatched{}{name}", algorithm.symbol);
        // SAFETY: by the caller.
        Ok(*unsafe { self.library.get::<F>(symbol.as_bytes()) }?)
    }

    fn functions(&self, algorithm: &Algorithm) -> Result<Functions> {
        // SAFETY: the types are those of nvCOMP's header, against which `shim/nvcomp.cpp` is
        // compiled.
        unsafe {
            Ok(Functions {
                compress_alignments: self.function(algorithm, "CompressGetRequiredAlignments")?,
                decompress_alignments: self.function(algorithm, "DecompressGetRequiredAlignments")?,
                compress_temp: self.function(algorithm, "CompressGetTempSize")?,
                decompress_temp: self.function(algorithm, "DecompressGetTempSize")?,
                max_output: self.function(algorithm, "CompressGetMaxOutputChunkSize")?,
                compress: self.function(algorithm, "CompressAsync")?,
                decompress: self.function(algorithm, "DecompressAsync")?,
            })
        }
    }

    /// Returns the sizes that `algorithm` needs for `bytes` bytes of samples.
    ///
    /// # Errors
    /// nvCOMP's error, a function that the library lacks, or a required alignment that 256 bytes is
    /// no multiple of.
    pub(crate) fn sizes(&self, algorithm: &Algorithm, bytes: usize, stream: &Stream) -> Result<Sizes> {
        let call = self.functions(algorithm)?;
        let (count, raw) = (bytes.div_ceil(CHUNK), stream.raw());
        let (mut max_output, mut temps, mut alignments) = (0, [0; 2], [[0; 3]; 2]);
        let Algorithm { compress, decompress, .. } = *algorithm;
        // SAFETY: each function fills one value, which its pointer points to.
        let statuses = unsafe {
            [
                (call.max_output)(CHUNK, compress, &raw mut max_output),
                (call.compress_temp)(count, CHUNK, compress, &raw mut temps[0], bytes, raw),
                (call.decompress_temp)(count, CHUNK, decompress, &raw mut temps[1], bytes, raw),
                (call.compress_alignments)(compress, &raw mut alignments[0]),
                (call.decompress_alignments)(decompress, &raw mut alignments[1]),
            ]
        };
        statuses.into_iter().try_for_each(check)?;
        let alignment = alignments.into_iter().flatten().max().unwrap_or(0);
        if alignment > ALIGN || !ALIGN.is_multiple_of(alignment.max(1)) {
            return Err(format!("nvCOMP wants chunks at multiples of {alignment} bytes").into());
        }
        Ok(Sizes { count, max_output, temp: temps[0].max(temps[1]) })
    }
}

/// Sizes that a [`Batch`] needs.
#[derive(Debug)]
pub(crate) struct Sizes {
    pub(crate) count: usize,
    /// Largest size of a compressed chunk in bytes.
    pub(crate) max_output: usize,
    /// Size in bytes of the scratch of the whole batch, enough for both directions.
    pub(crate) temp: usize,
}

fn check(status: Status) -> Result<()> {
    match status {
        0 => Ok(()),
        _ => Err(format!("nvCOMP reports status {status}").into()),
    }
}

/// The samples of a measurement, all chunks together, as a batch of nvCOMP chunks, with the device
/// memory for coding them.
pub(crate) struct Batch<'a> {
    algorithm: &'a Algorithm,
    call: Functions,
    stream: &'a Stream,
    sizes: Sizes,
    /// Array of the addresses of the samples: one 64-bit number per nvCOMP chunk, as in the next
    /// five arrays.
    plain: DeviceBuffer,
    /// Array of the sizes of the samples in bytes.
    plain_bytes: DeviceBuffer,
    /// Array of the addresses where nvCOMP stores the compressed chunks.
    packed: DeviceBuffer,
    /// Array of the sizes of the compressed chunks in bytes, which nvCOMP fills in.
    packed_bytes: DeviceBuffer,
    /// Array of the addresses where nvCOMP stores the decoded samples.
    decoded: DeviceBuffer,
    /// Array of the sizes of the decoded samples in bytes, which nvCOMP fills in.
    decoded_bytes: DeviceBuffer,
    /// Array with one `nvcompStatus_t` per nvCOMP chunk.
    statuses: DeviceBuffer,
    temp: DeviceBuffer,
    _compressed: DeviceBuffer,
}

#[allow(unsafe_code)]
impl<'a> Batch<'a> {
    /// Creates a batch of the `bytes` bytes of samples at `plain`, which decodes to `decoded`. Both
    /// are device addresses.
    ///
    /// # Errors
    /// Errors of the driver or of nvCOMP.
    ///
    /// # Safety
    /// Both addresses are valid for `bytes` bytes until the batch is dropped.
    pub(crate) unsafe fn new(
        nvcomp: &Nvcomp,
        algorithm: &'a Algorithm,
        context: &Context,
        stream: &'a Stream,
        bytes: usize,
        [plain, decoded]: [u64; 2],
    ) -> Result<Batch<'a>> {
        let sizes = nvcomp.sizes(algorithm, bytes, stream)?;
        let stride = sizes.max_output.next_multiple_of(ALIGN);
        let compressed = DeviceBuffer::new(context, sizes.count * stride)?;
        let array = |value: &dyn Fn(usize) -> u64| {
            let values: Vec<u8> = (0..sizes.count).flat_map(|i| value(i).to_le_bytes()).collect();
            DeviceBuffer::from_slice(context, &values, stream)
        };
        let at = |base: u64, stride: usize| move |i: usize| base + (i * stride) as u64;
        Ok(Batch {
            algorithm,
            call: nvcomp.functions(algorithm)?,
            stream,
            plain: array(&at(plain, CHUNK))?,
            plain_bytes: array(&|i| (bytes - i * CHUNK).min(CHUNK) as u64)?,
            packed: array(&at(compressed.pointer(), stride))?,
            packed_bytes: DeviceBuffer::new(context, 8 * sizes.count)?,
            decoded: array(&at(decoded, CHUNK))?,
            decoded_bytes: DeviceBuffer::new(context, 8 * sizes.count)?,
            statuses: DeviceBuffer::new(context, 4 * sizes.count)?,
            temp: DeviceBuffer::new(context, sizes.temp)?,
            _compressed: compressed,
            sizes,
        })
    }

    /// Queues the compression of all chunks.
    pub(crate) fn compress(&self) -> Result<()> {
        // SAFETY: arrays, outputs and scratch have the sizes that nvCOMP requires, and live in
        // `self`.
        check(unsafe {
            (self.call.compress)(
                self.plain.pointer(),
                self.plain_bytes.pointer(),
                CHUNK,
                self.sizes.count,
                self.temp.pointer(),
                self.temp.len(),
                self.packed.pointer(),
                self.packed_bytes.pointer(),
                self.algorithm.compress,
                self.statuses.pointer(),
                self.stream.raw(),
            )
        })
    }

    /// Queues the decompression of all chunks, which must have been compressed.
    pub(crate) fn decompress(&self) -> Result<()> {
        // SAFETY: as for `compress`. The capacities of the outputs are the sizes of the samples.
        check(unsafe {
            (self.call.decompress)(
                self.packed.pointer(),
                self.packed_bytes.pointer(),
                self.plain_bytes.pointer(),
                self.decoded_bytes.pointer(),
                self.sizes.count,
                self.temp.pointer(),
                self.temp.len(),
                self.decoded.pointer(),
                self.algorithm.decompress,
                self.statuses.pointer(),
                self.stream.raw(),
            )
        })
    }

    /// Waits for the queued work. If nvCOMP chunks have errors, returns that of the first one.
    pub(crate) fn finish(&self) -> Result<()> {
        let mut statuses = vec![0; self.statuses.len()];
        self.statuses.read(&mut statuses, self.stream)?;
        statuses.as_chunks::<4>().0.iter().try_for_each(|status| check(Status::from_le_bytes(*status)))
    }

    /// Returns the total size of the compressed chunks in bytes.
    pub(crate) fn compressed_bytes(&self) -> Result<usize> {
        let mut sizes = vec![0; self.packed_bytes.len()];
        self.packed_bytes.read(&mut sizes, self.stream)?;
        Ok(sizes.as_chunks::<8>().0.iter().map(|size| u64::from_le_bytes(*size) as usize).sum())
    }
}
