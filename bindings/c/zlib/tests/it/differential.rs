//! Makes random sequences of calls. Checks their return values and promises, and that zlib decodes
//! the output with exactly the requested window.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_uint, c_ulong, c_void};
use std::ptr;

use libz_sys::{adler32, crc32, z_stream};
use linerate_testkit::c_program::Library;
use linerate_testkit::data;
use linerate_testkit::sys::zlib_window::ZlibWindow;

const NO_FLUSH: c_int = 0;
const PARTIAL: c_int = 1;
const SYNC: c_int = 2;
const FULL: c_int = 3;
const FINISH: c_int = 4;
const BLOCK: c_int = 5;
const OK: c_int = 0;
const STREAM_END: c_int = 1;
const STREAM_ERROR: c_int = -2;
const DATA_ERROR: c_int = -3;
const BUF_ERROR: c_int = -5;
const GUARD: u8 = 0xa5;

macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        /// The library's functions.
        #[allow(non_snake_case)]
        #[derive(Clone, Copy)]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            fn load(library: &str) -> Functions {
                let path = CString::new(library).expect("without null");
                // SAFETY: the library is the one under test or zlib. It stays loaded, and its
                // functions have the types of `zlib.h`.
                unsafe {
                    let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
                    assert!(!handle.is_null(), "the library is loaded");
                    Functions {
                        $($name: {
                            let name = CString::new(stringify!($name)).expect("a name");
                            let address = libc::dlsym(handle, name.as_ptr());
                            assert!(!address.is_null(), "{name:?}");
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> $result>(address)
                        },)*
                    }
                }
            }
        }
    };
}

functions! {
    deflateInit2_(*mut z_stream, c_int, c_int, c_int, c_int, c_int, *const c_char, c_int) -> c_int;
    deflate(*mut z_stream, c_int) -> c_int;
    deflateEnd(*mut z_stream) -> c_int;
    deflateReset(*mut z_stream) -> c_int;
    deflateParams(*mut z_stream, c_int, c_int) -> c_int;
    deflateTune(*mut z_stream, c_int, c_int, c_int, c_int) -> c_int;
    deflateCopy(*mut z_stream, *mut z_stream) -> c_int;
    deflateSetDictionary(*mut z_stream, *const u8, c_uint) -> c_int;
    deflateGetDictionary(*mut z_stream, *mut u8, *mut c_uint) -> c_int;
    deflateBound(*mut z_stream, c_ulong) -> c_ulong;
    deflatePending(*mut z_stream, *mut c_uint, *mut c_int) -> c_int;
    deflatePrime(*mut z_stream, c_int, c_int) -> c_int;
}

/// Pseudorandom numbers, the same in every run.
struct Noise(u64);

impl Noise {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Memory functions of the caller: blocks with guards, and the total size requested.
#[derive(Default)]
struct Heap {
    blocks: HashMap<usize, usize>,
    total: usize,
}

const GUARD_BYTES: usize = 16;

unsafe extern "C" fn allocate(heap: *mut c_void, items: c_uint, size: c_uint) -> *mut c_void {
    let len = items as usize * size as usize;
    // SAFETY: `opaque` is the test's heap; the block has a guard behind it.
    unsafe {
        let heap = &mut *heap.cast::<Heap>();
        heap.total += len;
        let block = libc::malloc(len + GUARD_BYTES).cast::<u8>();
        // Nothing may rely on zeroed memory.
        block.write_bytes(GUARD, len + GUARD_BYTES);
        heap.blocks.insert(block.addr(), len);
        block.cast()
    }
}

unsafe extern "C" fn release(heap: *mut c_void, block: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let len = (*heap.cast::<Heap>()).blocks.remove(&block.addr()).expect("a block of this heap");
        let guard = std::slice::from_raw_parts(block.cast::<u8>().add(len), GUARD_BYTES);
        assert!(guard.iter().all(|byte| *byte == GUARD), "written behind a block");
        // The second word of our streams is their address. A later stream of zlib in the same place
        // must not be mistaken for one of ours.
        assert!(
            len < 16 || block.cast::<usize>().add(1).read() != block.addr(),
            "a freed stream keeps its mark"
        );
        libc::free(block);
    }
}

fn new_stream(heap: *mut Heap) -> Box<z_stream> {
    Box::new(z_stream {
        next_in: ptr::null_mut(),
        avail_in: 0,
        total_in: 0,
        next_out: ptr::null_mut(),
        avail_out: 0,
        total_out: 0,
        msg: ptr::null_mut(),
        state: ptr::null_mut(),
        zalloc: allocate,
        zfree: release,
        opaque: heap.cast(),
        data_type: 0,
        adler: 0,
        reserved: 0,
    })
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    level: c_int,
    window_bits: c_int,
    mem_level: c_int,
    strategy: c_int,
}

impl Settings {
    fn random(noise: &mut Noise) -> Settings {
        let bits = noise.one(&[9, 10, 11, 12, 13, 14, 15, 15, 15, 15]);
        Settings {
            level: noise.one(&[-1, 0, 1, 1, 2, 3, 4, 5, 6, 6, 9]),
            window_bits: noise.one(&[bits, -bits, 16 + bits]),
            mem_level: noise.one(&[1, 5, 8, 8, 8, 9]),
            strategy: noise.one(&[0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]),
        }
    }

    fn window(&self) -> usize {
        1 << (self.window_bits.abs() % 16)
    }

    fn is_raw(&self) -> bool {
        self.window_bits < 0
    }

    /// Memory in bytes that zlib allocates for these settings, without its own state.
    fn tables(&self) -> usize {
        (4 * self.window()) + (1 << (self.mem_level + 9))
    }
}

/// A stream under test, the input that it took, and a decoder of its output.
struct Case<'f> {
    library: &'f Functions,
    z: Box<z_stream>,
    settings: Settings,
    plain: Vec<u8>,
    /// The dictionary and the input.
    history: Vec<u8>,
    dictionary: usize,
    written: Vec<u8>,
    decoded: Vec<u8>,
    decoder: ZlibWindow,
    /// Positions in output and input, in bytes, after the last full flush.
    independent: Option<(usize, usize)>,
}

impl<'f> Case<'f> {
    fn begin(library: &'f Functions, heap: *mut Heap, settings: Settings) -> Case<'f> {
        let mut z = new_stream(heap);
        let Settings { level, window_bits, mem_level, strategy } = settings;
        let size = size_of::<z_stream>() as c_int;
        // SAFETY: a stream with memory functions; the version is zlib's.
        let code = unsafe {
            let version = libz_sys::zlibVersion();
            (library.deflateInit2_)(&mut *z, level, 8, window_bits, mem_level, strategy, version, size)
        };
        assert_eq!(code, OK, "{settings:?}");
        assert!(z.msg.is_null() && z.total_in == 0 && z.total_out == 0 && z.data_type == 2);
        let decoder = ZlibWindow::new(window_bits, &[]);
        Case {
            library,
            z,
            settings,
            plain: Vec::new(),
            history: Vec::new(),
            dictionary: 0,
            written: Vec::new(),
            decoded: Vec::new(),
            decoder,
            independent: None,
        }
    }

    fn set_dictionary(&mut self, text: &[u8]) {
        // SAFETY: a stream, and memory for reading.
        let code =
            unsafe { (self.library.deflateSetDictionary)(&mut *self.z, text.as_ptr(), text.len() as c_uint) };
        if self.settings.window_bits > 15 {
            assert_eq!(code, STREAM_ERROR, "gzip has no dictionary");
            return;
        }
        assert_eq!(code, OK);
        self.decoder = ZlibWindow::new(self.settings.window_bits, text);
        self.history = text.to_vec();
        self.dictionary = text.len();
    }

    /// Makes one call of `deflate` with `room` bytes of output, and decodes its output. Returns its
    /// code, and how many bytes of the input it took.
    fn call(&mut self, input: &[u8], room: usize, flush: c_int) -> (c_int, usize) {
        let mut out = vec![GUARD; room + GUARD_BYTES];
        self.z.next_in = input.as_ptr().cast_mut();
        self.z.avail_in = input.len() as c_uint;
        self.z.next_out = out.as_mut_ptr();
        self.z.avail_out = room as c_uint;
        let (total_in, total_out) = (self.z.total_in, self.z.total_out);
        // SAFETY: a stream with valid input and output.
        let code = unsafe { (self.library.deflate)(&mut *self.z, flush) };
        let (taken, got) = (input.len() - self.z.avail_in as usize, room - self.z.avail_out as usize);
        assert_eq!(self.z.next_in, input.as_ptr().wrapping_add(taken).cast_mut());
        assert_eq!(self.z.next_out, out.as_mut_ptr().wrapping_add(got));
        assert_eq!(self.z.total_in, total_in + taken as c_ulong);
        assert_eq!(self.z.total_out, total_out + got as c_ulong);
        assert!(out[room..].iter().all(|byte| *byte == GUARD), "written behind the output");
        assert!(matches!(self.z.data_type, 0..=2));
        self.plain.extend(&input[..taken]);
        self.history.extend(&input[..taken]);
        self.written.extend(&out[..got]);
        self.decoded.extend(self.decoder.take(&out[..got]).unwrap_or_else(|e| panic!("{e}")));
        assert!(self.plain.starts_with(&self.decoded));
        (code, taken)
    }

    /// Feeds `input` with `flush`, in as many calls as the output space needs.
    fn feed(&mut self, mut input: &[u8], noise: &mut Noise, flush: c_int) {
        let small = noise.below(4) == 0;
        for calls in 0.. {
            assert!(calls < 1_000_000, "no end");
            let room = if small { 1 + noise.below(40) } else { 1 + noise.below(50_000) };
            let (code, taken) = self.call(input, room, flush);
            input = &input[taken..];
            let is_full = self.z.avail_out == 0;
            match code {
                STREAM_END => {
                    assert!(flush == FINISH && input.is_empty());
                    break;
                }
                // There is nothing to do: no input, and no stronger flush than before.
                BUF_ERROR => {
                    assert!(taken == 0 && input.is_empty() && flush != FINISH);
                    break;
                }
                _ => assert_eq!(code, OK),
            }
            assert!(flush != FINISH || is_full, "the end is not reached, and there is room");
            assert!(is_full || input.is_empty(), "input is left, and there is room");
            // The manual requires calls until there is room left.
            if !is_full && input.is_empty() {
                break;
            }
        }
        if matches!(flush, PARTIAL | SYNC | FULL | FINISH) {
            assert_eq!(self.decoded.len(), self.plain.len(), "all can be decoded after flush {flush}");
        }
        if flush == FULL {
            self.independent = Some((self.written.len(), self.plain.len()));
        }
        self.check_state();
    }

    /// Checks the functions that may be called at any time.
    fn check_state(&mut self) {
        let (mut bytes, mut bits) = (9, 9);
        let mut window = vec![0; 1 << 15];
        let mut len = 0;
        // SAFETY: a stream, numbers, and memory for the largest window.
        unsafe {
            assert_eq!((self.library.deflatePending)(&mut *self.z, &mut bytes, &mut bits), OK);
            assert_eq!((self.library.deflateTune)(&mut *self.z, 4, 5, 16, 8), OK);
            let code = (self.library.deflateGetDictionary)(&mut *self.z, window.as_mut_ptr(), &mut len);
            assert_eq!(code, OK);
        }
        assert!(bits < 8 || (bits <= 16 && self.settings.level == 9), "{bits} bits");
        let window = &window[..len as usize];
        assert!(window.len() <= self.settings.window());
        assert!(self.history.ends_with(window));
        if self.independent.is_none() {
            // zlib's own encoder holds back input for one match.
            assert!(window.len() + 262 >= self.settings.window().min(self.history.len()));
        }
    }

    fn check_sum(&self) {
        // SAFETY: memory for reading.
        let sum = unsafe {
            let (text, len) = (self.plain.as_ptr(), self.plain.len() as c_uint);
            match self.settings.window_bits {
                ..0 => return,
                0..16 => adler32(1, text, len),
                16.. => crc32(0, text, len),
            }
        };
        assert_eq!(self.z.adler, sum);
    }

    /// Inserts the ten bits of an empty block of fixed codes, in two calls of `deflatePrime`.
    fn prime(&mut self, noise: &mut Noise) {
        let first = noise.below(11) as c_int;
        // SAFETY: a stream.
        let code = unsafe {
            match (self.library.deflatePrime)(&mut *self.z, first, 2) {
                OK => (self.library.deflatePrime)(&mut *self.z, 10 - first, 2 >> first),
                other => other,
            }
        };
        assert_eq!(code, OK);
    }

    fn params(&mut self, input: &[u8], noise: &mut Noise) {
        let (level, strategy) = (noise.one(&[-1, 0, 1, 3, 6, 9]), noise.one(&[0, 0, 0, 1, 2, 3, 4]));
        let mut out = vec![0; 200_000 + input.len()];
        self.z.next_in = input.as_ptr().cast_mut();
        self.z.avail_in = input.len() as c_uint;
        self.z.next_out = out.as_mut_ptr();
        self.z.avail_out = out.len() as c_uint;
        // SAFETY: a stream with valid input and output.
        let code = unsafe { (self.library.deflateParams)(&mut *self.z, level, strategy) };
        assert_eq!(code, OK, "level {level}, strategy {strategy}");
        let (taken, got) = (input.len() - self.z.avail_in as usize, out.len() - self.z.avail_out as usize);
        self.plain.extend(&input[..taken]);
        self.history.extend(&input[..taken]);
        self.written.extend(&out[..got]);
        self.decoded.extend(self.decoder.take(&out[..got]).unwrap_or_else(|e| panic!("{e}")));
    }

    /// Replaces the stream by a copy of it. It must have no input or output left to process.
    fn copy(&mut self) {
        let mut copy = new_stream(ptr::null_mut());
        // SAFETY: two streams, the second in use.
        unsafe {
            assert_eq!((self.library.deflateCopy)(&mut *copy, &mut *self.z), OK);
            assert_ne!(copy.state, self.z.state);
            let code = (self.library.deflateEnd)(&mut *self.z);
            assert!(matches!(code, OK | DATA_ERROR));
        }
        self.z = copy;
        assert_eq!(self.call(&[], 10, NO_FLUSH).0, BUF_ERROR, "the copy knows the last flush");
    }

    /// Checks the end of a stream, after all of it was decoded.
    fn finish(&mut self) {
        assert!(self.decoded == self.plain);
        self.check_sum();
        // zlib's own streams count the dictionary as input.
        assert!(self.z.total_in as usize - self.plain.len() <= self.dictionary);
        assert_eq!(self.z.total_out as usize, self.written.len());
        let (code, _) = self.call(&[], 10, FINISH);
        assert_eq!(code, STREAM_END, "once more");
        assert_eq!(self.call(&[], 10, SYNC).0, STREAM_ERROR, "after the end");
        assert_eq!(self.call(b"x", 10, FINISH).0, BUF_ERROR, "input after the end");
        if let (Some((written, plain)), true) = (self.independent, self.settings.is_raw()) {
            let mut decoder = ZlibWindow::new(self.settings.window_bits, &[]);
            let rest = decoder.take(&self.written[written..]).expect("decodes without what was before");
            assert!(rest == self.plain[plain..]);
        }
    }

    fn reset(&mut self) {
        // SAFETY: a stream.
        assert_eq!(unsafe { (self.library.deflateReset)(&mut *self.z) }, OK);
        assert!(self.z.total_in == 0 && self.z.total_out == 0 && self.z.msg.is_null());
        (self.plain, self.history, self.written, self.decoded) = Default::default();
        self.decoder = ZlibWindow::new(self.settings.window_bits, &[]);
        self.independent = None;
        self.dictionary = 0;
    }

    fn end(mut self, expected: c_int) {
        // SAFETY: a stream.
        unsafe {
            assert_eq!((self.library.deflateEnd)(&mut *self.z), expected);
            assert_eq!((self.library.deflateEnd)(&mut *self.z), STREAM_ERROR, "a closed stream");
            assert_eq!((self.library.deflate)(&mut *self.z, FINISH), STREAM_ERROR);
        }
    }
}

fn inputs() -> Vec<Vec<u8>> {
    data::kinds(120_000).into_iter().map(|(_, bytes)| bytes).collect()
}

fn functions() -> Option<Functions> {
    Library::built("linerate_z").map(|library| Functions::load(library.shared().to_str().expect("a path")))
}

/// Runs one stream after another on the same state, in random calls.
fn run(library: &Functions, inputs: &[Vec<u8>], seed: u64) {
    let mut noise = Noise(seed);
    let mut heap = Heap::default();
    let settings = Settings::random(&mut noise);
    let mut case = Case::begin(library, &mut heap, settings);
    assert!(heap.total <= 8192 + settings.tables(), "more memory than zlib takes: {}", heap.total);
    for stream in 0..2 {
        let input = &inputs[noise.below(inputs.len())];
        let mut position = noise.below(input.len());
        if noise.below(5) == 0 {
            let text = &input[..1 + noise.below(40_000)];
            case.set_dictionary(text);
        }
        if settings.is_raw() && noise.below(4) == 0 && case.dictionary == 0 {
            case.prime(&mut noise);
        }
        // Some streams are messages, some long pieces.
        let longest = noise.one(&[40, 900, 9_000, 90_000]);
        for _ in 0..1 + noise.below(14) {
            let end = input.len().min(position + noise.below(longest));
            let piece = &input[position..end];
            position = end;
            match noise.below(18) {
                16 | 17 if settings.is_raw() => case.prime(&mut noise),
                0 => case.params(piece, &mut noise),
                1 => {
                    case.feed(piece, &mut noise, BLOCK);
                    case.copy();
                }
                2 => case.feed(piece, &mut noise, FULL),
                3 => case.feed(piece, &mut noise, PARTIAL),
                4 => case.feed(piece, &mut noise, BLOCK),
                5..=9 => case.feed(piece, &mut noise, SYNC),
                _ => case.feed(piece, &mut noise, NO_FLUSH),
            }
        }
        case.feed(&input[position..input.len().min(position + longest)], &mut noise, FINISH);
        case.finish();
        if stream == 0 {
            case.reset();
        }
    }
    case.end(OK);
    assert!(heap.blocks.is_empty(), "memory is lost");
}

#[test]
fn random_calls_are_decoded_in_their_windows_and_keep_zlibs_promises() {
    let Some(library) = functions() else { return };
    let inputs = inputs();
    for seed in 0..400 {
        let caught = std::panic::catch_unwind(|| run(&library, &inputs, seed));
        caught.unwrap_or_else(|_| panic!("seed {seed}"));
    }
}

/// The same calls on one of our streams and on one of zlib's.
struct Twin {
    library: Functions,
    z: Box<z_stream>,
    is_raw: bool,
}

impl Twin {
    fn begin(library: Functions, settings: Settings, heap: *mut Heap) -> Twin {
        let case = Case::begin(&library, heap, settings);
        let Case { z, .. } = case;
        Twin { library, z, is_raw: settings.is_raw() }
    }

    /// Makes a random call, whose arguments depend only on `noise`, with room for all output.
    /// Returns comparable results.
    fn call(&mut self, noise: &mut Noise, input: &[u8]) -> (c_int, c_ulong, c_ulong) {
        let Twin { library, z, .. } = self;
        let at = noise.below(input.len());
        let piece = &input[at..input.len().min(at + noise.below(3_000))];
        let mut out = vec![0; 200_000];
        (z.next_in, z.avail_in) = (piece.as_ptr().cast_mut(), piece.len() as c_uint);
        (z.next_out, z.avail_out) = (out.as_mut_ptr(), out.len() as c_uint);
        let (mut other, mut ended) = (new_stream(z.opaque.cast()), 0);
        // SAFETY: a stream with valid input and output, and a second one that is not in use.
        let code = unsafe {
            match noise.below(24) {
                0 => (library.deflateReset)(&mut **z),
                1 => (library.deflateParams)(&mut **z, noise.one(&[1, 4, 6]), 0),
                2 => {
                    // Streams differ in where a raw one accepts a dictionary, so its result is not
                    // compared.
                    let code =
                        (library.deflateSetDictionary)(&mut **z, piece.as_ptr(), piece.len() as c_uint);
                    if self.is_raw { OK } else { code }
                }
                3 => {
                    let code = (library.deflateCopy)(&mut *other, &mut **z);
                    (library.deflateEnd)(&mut **z);
                    *z = other;
                    code
                }
                4 | 5 => {
                    z.adler = noise.below(1 << 30) as c_ulong;
                    OK
                }
                6 => {
                    let code = (library.deflate)(&mut **z, FINISH);
                    ended = z.adler;
                    // Most streams are short, since a dictionary is used at the beginning.
                    code + 10 * (library.deflateReset)(&mut **z)
                }
                _ => (library.deflate)(&mut **z, noise.one(&[NO_FLUSH, PARTIAL, SYNC, FULL, BLOCK])),
            }
        };
        (code, z.adler, ended)
    }
}

/// Deflated data, and the bit offset of its last block: the empty block that a partial flush made.
struct Log {
    deflated: Vec<u8>,
    end: usize,
}

impl Log {
    /// Appends compressed `text` at the bit `end`, over the empty block there. The content before
    /// is the dictionary.
    fn append(&mut self, library: &Functions, level: c_int, plain: &[u8], text: &[u8], flush: c_int) {
        let mut heap = Heap::default();
        let settings = Settings { level, window_bits: -15, mem_level: 8, strategy: 0 };
        let mut case = Case::begin(library, &mut heap, settings);
        let Log { deflated, end } = self;
        let last_byte = deflated.get(*end / 8).copied().unwrap_or(0);
        deflated.truncate(*end / 8);
        let mut out = vec![0; 100_000];
        let dictionary = &plain[plain.len().saturating_sub(1 << 15)..];
        let z = &mut *case.z;
        (z.next_in, z.avail_in) = (text.as_ptr().cast_mut(), text.len() as c_uint);
        (z.next_out, z.avail_out) = (out.as_mut_ptr(), out.len() as c_uint);
        // SAFETY: a stream with valid input and output.
        unsafe {
            let bits = (*end % 8) as c_int;
            let value = c_int::from(last_byte) & ((1 << bits) - 1);
            assert_eq!((library.deflatePrime)(z, bits, value), OK);
            let code = (library.deflateSetDictionary)(z, dictionary.as_ptr(), dictionary.len() as c_uint);
            assert_eq!(code, OK);
            let code = (library.deflate)(z, flush);
            assert_eq!(code, if flush == FINISH { STREAM_END } else { OK });
            let _ = (library.deflateEnd)(z);
        }
        deflated.extend(&out[..z.total_out as usize]);
        let last = deflated.iter().rposition(|byte| *byte != 0).expect("a bit");
        // The second bit of an empty block of fixed codes is its only 1.
        *end = 8 * last + deflated[last].ilog2() as usize - 1;
    }
}

#[test]
fn records_are_appended_at_the_bit_where_a_partial_flush_has_begun() {
    let Some(ours) = functions() else { return };
    let zlib = Functions::load("libz.so.1");
    let input = data::mixed(60_000);
    for (library, level) in [(ours, 1), (ours, 6), (zlib, 6)] {
        let mut log = Log { deflated: Vec::new(), end: 0 };
        let (mut noise, mut at) = (Noise(9), 0);
        for _ in 0..40 {
            let next = at + noise.below(1_500);
            log.append(&library, level, &input[..at], &input[at..next], PARTIAL);
            at = next;
            let decoded = ZlibWindow::new(-15, &[]).take(&log.deflated).expect("a stream");
            assert!(decoded == input[..at], "level {level}, {at} bytes");
        }
        log.append(&library, level, &input[..at], b"the end", FINISH);
        let decoded = ZlibWindow::new(-15, &[]).take(&log.deflated).expect("a stream");
        assert!(decoded == [&input[..at], b"the end"].concat());
    }
}

#[test]
fn partial_flush_ends_in_an_empty_block_of_ten_bits() {
    let Some(ours) = functions() else { return };
    let zlib = Functions::load("libz.so.1");
    let (input, mut noise) = (data::mixed(60_000), Noise(3));
    for (library, level) in [(ours, 1), (ours, 6), (zlib, 6)] {
        let mut heap = Heap::default();
        let settings = Settings { level, window_bits: -15, mem_level: 8, strategy: 0 };
        let mut case = Case::begin(&library, &mut heap, settings);
        // Enough messages to get an index of the window, and one that is too long for it.
        for message in 0..60 {
            let from = noise.below(20_000);
            let to = from + if message == 40 { 40_000 } else { 1 + noise.below(600) };
            let (code, _) = case.call(&input[from..to], 100_000, PARTIAL);
            assert_eq!((code, case.decoded.len()), (OK, case.plain.len()));
            let mut bits = 0;
            // SAFETY: a stream, and a number.
            unsafe { (library.deflatePending)(&mut *case.z, ptr::null_mut(), &mut bits) };
            let last = case.written.iter().rposition(|byte| *byte != 0).expect("a bit");
            let after = 8 * (case.written.len() - 1 - last) as u32 + case.written[last].leading_zeros();
            assert_eq!(after + bits as u32, 8, "level {level}, message {message}: bits after 0 1");
            assert!(!case.written.ends_with(&[0, 0, 0xff, 0xff]));
        }
        case.feed(&[], &mut noise, FINISH);
        case.finish();
        case.end(OK);
    }
}

#[test]
fn flush_that_fits_its_output_exactly_is_made_once() {
    let Some(library) = functions() else { return };
    let input = data::mixed(60_000);
    for flush in [PARTIAL, SYNC, FULL] {
        for window_bits in [-15, 15, 31] {
            let settings = Settings { level: 6, window_bits, mem_level: 8, strategy: 0 };
            let mut heap = Heap::default();
            let mut wide = Case::begin(&library, &mut heap, settings);
            let mut exact = Case::begin(&library, &mut heap, settings);
            for message in input.chunks(700).take(30) {
                let before = wide.written.len();
                wide.call(message, 100_000, flush);
                let (mut code, room) = (OK, wide.written.len() - before);
                let mut rest = message;
                // Calls until there is room left, as programs do.
                for call in 0..2 {
                    let taken;
                    (code, taken) = exact.call(rest, room, flush);
                    rest = &rest[taken..];
                    assert_eq!(exact.z.avail_out == 0, call == 0, "flush {flush}");
                }
                assert_eq!(code, OK, "as zlib has it after a call that left no room");
                assert!(exact.written == wide.written, "flush {flush}");
            }
            // A different flush from the one that fitted is made.
            let before = wide.written.len();
            wide.call(b"a message", 100_000, PARTIAL);
            exact.call(b"a message", wide.written.len() - before, PARTIAL);
            exact.call(&[], 100, SYNC);
            assert!(exact.written.ends_with(&[0, 0, 0xff, 0xff]));
            wide.end(DATA_ERROR);
            exact.end(DATA_ERROR);
        }
    }
}

#[test]
fn adler_is_what_zlib_sets_call_by_call() {
    let Some(ours) = functions() else { return };
    let zlib = Functions::load("libz.so.1");
    let input = data::mixed(60_000);
    for window_bits in [-15, -9, 15, 9, 31, 25] {
        for seed in 0..150 {
            let settings = Settings { level: 6, window_bits, mem_level: 8, strategy: 0 };
            let mut heap = Heap::default();
            let (mut noise, mut same) = (Noise(seed), Noise(seed));
            let mut pair = [ours, zlib].map(|library| Twin::begin(library, settings, &mut heap));
            for call in 0..30 {
                let (one, two) = (pair[0].call(&mut noise, &input), pair[1].call(&mut same, &input));
                assert_eq!(one, two, "{window_bits}, seed {seed}, call {call}");
            }
            for Twin { library, z, .. } in &mut pair {
                // SAFETY: a stream.
                unsafe { (library.deflateEnd)(&mut **z) };
            }
        }
    }
}

#[test]
fn empty_dictionary_is_not_asked_for() {
    let Some(library) = functions() else { return };
    let (mut noise, mut heap) = (Noise(5), Heap::default());
    // One of our streams, and one of zlib's.
    for level in [6, 9] {
        let settings = Settings { level, window_bits: 15, mem_level: 8, strategy: 0 };
        let mut case = Case::begin(&library, &mut heap, settings);
        case.set_dictionary(b"");
        case.feed(b"some text, some text", &mut noise, FINISH);
        // FDICT (RFC 1950, section 2.2).
        assert_eq!(case.written[1] & 0x20, 0, "level {level}");
        case.finish();
        case.end(OK);
    }
}

#[test]
fn bound_without_a_stream_is_that_of_zlib_at_least() {
    let Some(library) = functions() else { return };
    for len in [0, 1, 7, 100, 65_535, 1 << 20, 1 << 30] {
        // SAFETY: a null pointer is no stream.
        let (ours, zlibs) = unsafe {
            ((library.deflateBound)(ptr::null_mut(), len), libz_sys::deflateBound(ptr::null_mut(), len))
        };
        assert!(ours >= zlibs, "{len} bytes: {ours} and {zlibs}");
    }
}

#[test]
fn one_call_ends_the_stream_in_the_room_of_the_bound() {
    let Some(library) = functions() else { return };
    let mut noise = Noise(1);
    let random: Vec<u8> = (0..400_000).map(|_| noise.below(256) as u8).collect();
    for window_bits in [9, 12, 15, -9, -15, 31, 25] {
        for mem_level in [1, 8, 9] {
            for level in [1, 3, 6] {
                for len in [0, 1, 2, 100, 4_080, 5_000, 65_535, 65_536, 98_304, 98_305, 300_000, 400_000] {
                    let mut heap = Heap::default();
                    let settings = Settings { level, window_bits, mem_level, strategy: 0 };
                    let mut case = Case::begin(&library, &mut heap, settings);
                    // SAFETY: a stream.
                    let bound = unsafe { (library.deflateBound)(&mut *case.z, len as c_ulong) } as usize;
                    let input = &random[..len];
                    let mut out = vec![0; bound];
                    case.z.next_in = input.as_ptr().cast_mut();
                    case.z.avail_in = len as c_uint;
                    case.z.next_out = out.as_mut_ptr();
                    case.z.avail_out = bound as c_uint;
                    // SAFETY: a stream with valid input and output.
                    let code = unsafe { (library.deflate)(&mut *case.z, FINISH) };
                    assert_eq!(code, STREAM_END, "{settings:?}, {len} bytes, bound {bound}");
                    if (window_bits, mem_level) == (15, 8) {
                        // The size that zlib's `compress` allocates.
                        let zlib = len + (len >> 12) + (len >> 14) + (len >> 25) + 13;
                        assert!(case.z.total_out as usize <= zlib, "{len} bytes");
                    }
                    case.end(OK);
                }
            }
        }
    }
}

#[test]
fn output_does_not_depend_on_how_input_arrives_or_on_the_room_for_output() {
    let Some(library) = functions() else { return };
    let input = data::mixed(400_000);
    let settings = Settings { level: 6, window_bits: 31, mem_level: 8, strategy: 0 };
    let mut written = (0..4).map(|seed| {
        let (mut noise, mut heap) = (Noise(seed), Heap::default());
        let mut case = Case::begin(&library, &mut heap, settings);
        let step = [1_000, 30_000, 100_000, 400_000][seed as usize];
        input.chunks(step).for_each(|piece| case.feed(piece, &mut noise, NO_FLUSH));
        case.feed(&[], &mut noise, FINISH);
        let written = std::mem::take(&mut case.written);
        case.end(OK);
        written
    });
    let first = written.next().expect("four");
    assert!(written.all(|other| other == first));
}

#[test]
fn wrong_calls_are_refused_and_change_nothing() {
    let Some(library) = functions() else { return };
    let mut heap = Heap::default();
    let settings = Settings { level: 6, window_bits: 15, mem_level: 8, strategy: 0 };
    let mut case = Case::begin(&library, &mut heap, settings);
    for flush in [-1, 6, 7, 100] {
        assert_eq!(case.call(b"x", 10, flush).0, STREAM_ERROR);
    }
    assert_eq!(case.call(b"x", 0, NO_FLUSH).0, BUF_ERROR);
    // SAFETY: streams, some of which are null, and what the calls point to.
    unsafe {
        case.z.next_out = ptr::null_mut();
        case.z.avail_out = 10;
        assert_eq!((library.deflate)(&mut *case.z, FINISH), STREAM_ERROR);
        assert!(!case.z.msg.is_null());
        for (level, strategy) in [(10, 0), (-2, 0), (6, 5), (6, -1)] {
            assert_eq!((library.deflateParams)(&mut *case.z, level, strategy), STREAM_ERROR);
        }
        assert_eq!((library.deflatePrime)(&mut *case.z, 8, 0), STREAM_ERROR, "zlib's container");
        assert_eq!((library.deflateSetDictionary)(&mut *case.z, ptr::null(), 3), STREAM_ERROR);
        assert_eq!((library.deflate)(ptr::null_mut(), FINISH), STREAM_ERROR);
        assert_eq!((library.deflateEnd)(ptr::null_mut()), STREAM_ERROR);
        assert_eq!((library.deflateCopy)(ptr::null_mut(), &mut *case.z), STREAM_ERROR);
        let mut other = new_stream(&mut heap);
        assert_eq!((library.deflateEnd)(&mut *other), STREAM_ERROR, "not initialised");
        let (version, size) = (libz_sys::zlibVersion(), size_of::<z_stream>() as c_int);
        let init = library.deflateInit2_;
        assert_eq!(init(&mut *other, 6, 8, 15, 8, 0, c"2.0".as_ptr(), size), -6);
        assert_eq!(init(&mut *other, 6, 8, 15, 8, 0, version, size - 1), -6);
        for (level, method, bits, mem_level, strategy) in
            [(10, 8, 15, 8, 0), (6, 7, 15, 8, 0), (6, 8, 48, 8, 0), (6, 8, 15, 0, 0), (6, 8, 15, 8, 9)]
        {
            let code = init(&mut *other, level, method, bits, mem_level, strategy, version, size);
            assert_eq!(code, STREAM_ERROR);
        }
    }
    // The stream still works, and reports that input is lost.
    let mut noise = Noise(3);
    case.feed(b"some text, some text", &mut noise, SYNC);
    assert_eq!(case.decoded, b"some text, some text");
    case.end(DATA_ERROR);
    assert!(heap.blocks.is_empty());
}
