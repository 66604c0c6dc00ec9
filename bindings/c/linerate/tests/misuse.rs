//! Makes random calls from several threads, which share all handles, including freed ones and those
//! of other types: null pointers, wrong numbers, sizes and states, damaged input and overlapping
//! buffers. Each call must return, and must not report more bytes than its buffers hold. The seed
//! is fixed; how the threads interleave is not. The threads guess handles, which could be those of
//! other tests, so this is a process of its own.

#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Mutex;

use linerate::archive::*;
use linerate::controller::*;
use linerate::deflate::*;
use linerate::error::*;
use linerate::gateway::*;
use linerate::gzip::*;
use linerate::inflate::*;
use linerate::pack::*;
use linerate::pack_update::*;
use linerate::rice::*;
use linerate::scratch::*;
use linerate::session::*;
use linerate::store::*;
use linerate::zstd::*;
use linerate_testkit::data::{self, Noise};

const CALLS: usize = 25_000;
const THREADS: u64 = 4;
const CAPACITY: usize = 40_000;

/// Handles of all types, live and freed.
static HANDLES: Mutex<Vec<u64>> = Mutex::new(Vec::new());

struct Caller<'f> {
    noise: Noise,
    /// Valid data in each format. Never modified.
    files: &'f [&'static [u8]],
    input: Vec<u8>,
    output: Vec<u8>,
    stream: linerate_deflater,
    folder: CString,
}

/// An input argument and an output argument.
struct Buffers {
    from: *const u8,
    len: usize,
    out: *mut u8,
    capacity: usize,
}

impl Caller<'_> {
    fn number(&mut self) -> u64 {
        match self.noise.below(4) {
            0 => self.noise.number(),
            1 => u64::MAX - self.noise.below(3) as u64,
            _ => self.noise.below(20) as u64,
        }
    }

    fn small(&mut self) -> i32 {
        if self.noise.below(8) == 0 { self.number() as i32 } else { self.noise.below(4) as i32 }
    }

    /// Returns a handle, which may be live: mostly one of the last of a type, sometimes another or
    /// a random number.
    fn handle(&mut self, tag: usize) -> u64 {
        let handles = HANDLES.lock().unwrap();
        let of_kind: Vec<u64> = match self.noise.below(12) {
            0 => return 0,
            1 => return self.noise.number(),
            2 => handles.iter().rev().take(50).copied().collect(),
            _ => {
                handles.iter().rev().filter(|id| (*id >> 24 & 255) as usize == tag).take(4).copied().collect()
            }
        };
        if of_kind.is_empty() { 1 } else { of_kind[self.noise.below(of_kind.len())] }
    }

    /// Returns a place for a result, or null.
    fn place<T>(&mut self, room: &mut MaybeUninit<T>) -> *mut T {
        if self.noise.below(40) == 0 { ptr::null_mut() } else { room.as_mut_ptr() }
    }

    /// Returns the options, or null.
    fn given<T>(&mut self, options: &T) -> *const T {
        if self.noise.below(40) == 0 { ptr::null() } else { options }
    }

    fn buffers(&mut self) -> Buffers {
        let file = self.files[self.noise.below(self.files.len())];
        let len = if self.noise.below(3) == 0 { self.noise.below(file.len() + 1) } else { file.len() };
        self.input[..len].copy_from_slice(&file[..len]);
        if self.noise.below(3) == 0 && len > 0 {
            let at = self.noise.below(len);
            self.input[at] = self.noise.number() as u8;
        }
        let capacity = if self.noise.below(3) == 0 { self.noise.below(CAPACITY) } else { CAPACITY };
        let mut buffers = Buffers { from: self.input.as_ptr(), len, out: self.output.as_mut_ptr(), capacity };
        match self.noise.below(40) {
            0 => buffers.from = ptr::null(),
            1 => buffers.out = ptr::null_mut(),
            2 => buffers.from = self.output.as_ptr(),
            3 => buffers.len = usize::MAX,
            4 => buffers.capacity = usize::MAX / 2 + 2,
            _ => {}
        }
        buffers
    }

    /// Makes a call that creates a handle.
    fn make(&mut self) -> linerate_error {
        let (buffers, kind, number) = (self.buffers(), self.small(), self.number());
        let arm = self.noise.below(14);
        let dictionary = self.handle([0, 3, 0, 0, 0, 0, 6, 0, 8, 0, 0, 0, 0, 0][arm]);
        let mut id = MaybeUninit::<u64>::uninit();
        let place = self.place(&mut id);
        // SAFETY: pointers are null or point to memory of their types. Every handle is one number. The
        // functions reject impossible lengths.
        let error = unsafe {
            match arm {
                0 => linerate_scratch_new(if number % 2 == 0 { 15 } else { number as u32 }, place.cast()),
                1 => {
                    let mut options = linerate_session_defaults(kind);
                    (options.level, options.window_bits) = (self.small(), number as u32);
                    options.dictionary.id = if number % 3 == 0 { dictionary } else { 0 };
                    linerate_session_new(self.given(&options), place.cast())
                }
                2 => linerate_deflate_dictionary_new(buffers.from, buffers.len, place.cast()),
                3 => linerate_controller_new(kind, number as u32, number, place.cast()),
                4 => {
                    let mut options = linerate_inflate_defaults(kind);
                    options.output_limit = number.saturating_mul(1000);
                    options.window_bits = if number % 2 == 0 { 15 } else { number as u32 };
                    linerate_inflater_new(self.given(&options), place.cast())
                }
                5 => linerate_zstd_dictionary_new(buffers.from, buffers.len, place.cast()),
                6 => {
                    let mut options = linerate_zstd_defaults();
                    options.magicless = u8::from(number % 5 == 0);
                    let id = if number % 3 == 0 { dictionary } else { 0 };
                    linerate_zstd_decoder_new(
                        self.given(&options),
                        linerate_zstd_dictionary { id },
                        place.cast(),
                    )
                }
                7 => {
                    let mut options = linerate_store_defaults();
                    (options.table_budget, options.huge_pages) = (number as usize, 0);
                    linerate_store_new(self.given(&options), place.cast())
                }
                8 => linerate_block_decoder_new(linerate_store { id: dictionary }, place.cast()),
                9 => {
                    let mut options = linerate_gateway_defaults(self.small());
                    (options.encoding, options.check_sequence) = (kind, u8::from(number % 2 == 0));
                    linerate_gateway_new(self.given(&options), place.cast())
                }
                10 => {
                    let list = linerate_bytes { at: buffers.from, len: buffers.len };
                    linerate_gateway_dictionaries_new(self.given(&list), (number % 2) as usize, place.cast())
                }
                11 | 12 => {
                    let file = self.files[self.noise.below(self.files.len())];
                    let mut options = linerate_gzip_defaults();
                    options.threads = (number % 4) as u32;
                    if number % 3 == 0 {
                        (options.index, options.index_len) = (buffers.from, buffers.len);
                    }
                    let options = self.given(&options);
                    if arm == 11 {
                        linerate_gzip_open_memory(file.as_ptr(), file.len(), options, place.cast())
                    } else {
                        let read =
                            (number % 5 != 0).then_some(read_at as unsafe extern "C" fn(_, _, _, _) -> _);
                        let context = if number % 2 == 0 { file.as_ptr() } else { ptr::null() };
                        let context = context.cast_mut().cast();
                        linerate_gzip_open_callback(read, context, file.len() as u64, options, place.cast())
                    }
                }
                _ => {
                    let file = self.files[self.noise.below(self.files.len())];
                    let options = linerate_archive_defaults();
                    let options = self.given(&options);
                    linerate_archive_open_memory(file.as_ptr(), file.len(), options, place.cast())
                }
            }
        };
        if error.kind == 0 {
            // SAFETY: the call has stored a handle.
            HANDLES.lock().unwrap().push(unsafe { id.assume_init() });
        }
        error
    }

    fn free(&mut self) -> linerate_error {
        let arm = self.noise.below(13);
        let id = self.handle(arm + 1);
        match arm {
            0 => linerate_scratch_free(linerate_scratch { id }),
            1 => linerate_session_free(linerate_session { id }),
            2 => linerate_deflate_dictionary_free(linerate_deflate_dictionary { id }),
            3 => linerate_inflater_free(linerate_inflater { id }),
            4 => linerate_controller_free(linerate_controller { id }),
            5 => linerate_zstd_dictionary_free(linerate_zstd_dictionary { id }),
            6 => linerate_zstd_decoder_free(linerate_zstd_decoder { id }),
            7 => linerate_store_free(linerate_store { id }),
            8 => linerate_block_decoder_free(linerate_block_decoder { id }),
            9 => linerate_gateway_free(linerate_gateway { id }),
            10 => linerate_gateway_dictionaries_free(linerate_gateway_dictionaries { id }),
            11 => linerate_archive_free(linerate_archive { id }),
            _ => linerate_gzip_free(linerate_gzip { id }),
        }
    }

    /// Makes a call that writes bytes. Returns its result, the number of bytes that it reports, and
    /// the most that it may report.
    fn convert(&mut self) -> (linerate_error, usize, usize) {
        let Buffers { from, len, out, capacity } = self.buffers();
        let arm = self.noise.below(22);
        let tag = [0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0, 4, 6, 6, 7, 9, 10, 12, 12, 13, 13, 9][arm];
        let (id, number, kind) = (self.handle(tag), self.number(), self.small());
        let scratch = linerate_scratch { id: self.handle(1) };
        let (mut written, mut progress) = (MaybeUninit::new(0), MaybeUninit::uninit());
        progress.write(linerate_progress { read: 0, written: 0, status: 0 });
        let mut message = MaybeUninit::<linerate_message>::zeroed();
        let (n, p) = (self.place(&mut written), self.place(&mut progress));
        let zstd_dictionary = linerate_zstd_dictionary { id: if number % 2 == 0 { 0 } else { id } };
        let (inflate, zstd) = (linerate_inflate_defaults(kind), linerate_zstd_defaults());
        let (inflate, zstd) = (self.given(&inflate), self.given(&zstd));
        if self.noise.below(20) == 0 {
            self.stream.phase = number as u32;
        }
        let mut stream = self.stream;
        let mut count = capacity;
        // SAFETY: as in `make`.
        let error = unsafe {
            match arm {
                0 => linerate_deflate(scratch, kind, self.small(), from, len, out, capacity, n),
                1 => linerate_deflater_init(&mut stream, kind, self.small()),
                2 => linerate_deflater_set_level(&mut stream, kind),
                3 | 4 => {
                    linerate_deflater_encode(&mut stream, scratch, from, len, out, capacity, kind != 0, n)
                }
                5 => {
                    let history = number as usize;
                    linerate_deflater_encode_with_history(
                        &mut stream,
                        scratch,
                        from,
                        len,
                        history,
                        out,
                        capacity,
                        true,
                        n,
                    )
                }
                6 => linerate_deflater_flush(&mut stream, out, capacity, n),
                7 => linerate_deflater_finish(&mut stream, out, capacity, n),
                8 if number % 4 == 0 => linerate_session_remember(linerate_session { id }, from, len),
                8 => linerate_session_message(linerate_session { id }, scratch, from, len, out, capacity, n),
                9 => linerate_session_finish(linerate_session { id }, out, capacity, n),
                10 => linerate_inflate(scratch, inflate, from, len / 2, from, len, out, capacity, p),
                11 => {
                    linerate_inflater_decode(linerate_inflater { id }, scratch, from, len, out, capacity, p)
                }
                12 => linerate_zstd_decode(scratch, zstd, zstd_dictionary, from, len, out, capacity, n),
                13 => linerate_zstd_decode_frame(scratch, zstd, zstd_dictionary, from, len, out, capacity, p),
                14 => linerate_zstd_decoder_decode(
                    linerate_zstd_decoder { id },
                    scratch,
                    from,
                    len,
                    out,
                    capacity,
                    p,
                ),
                15 => {
                    let decoder = linerate_block_decoder { id };
                    linerate_block_decoder_decode(decoder, number, from, len, out, capacity, n)
                }
                16 => {
                    let gateway = linerate_gateway { id };
                    let error = linerate_gateway_message(
                        gateway,
                        scratch,
                        from,
                        len,
                        out,
                        capacity,
                        message.as_mut_ptr(),
                    );
                    linerate_gateway_payload(gateway, out, capacity, n);
                    error
                }
                17 => linerate_archive_read(linerate_archive { id }, number as usize, out, capacity, n),
                18 => linerate_archive_read_range(
                    linerate_archive { id },
                    kind as usize,
                    number,
                    out,
                    capacity,
                    n,
                ),
                19 => linerate_gzip_read(linerate_gzip { id }, out, capacity, n),
                20 => {
                    let mut position = 0;
                    let place = if number % 9 == 0 { ptr::null_mut() } else { &raw mut position };
                    linerate_gzip_seek(linerate_gzip { id }, number as i64, kind, place)
                }
                _ => {
                    count = 8;
                    let block = linerate_job {
                        dictionary: number,
                        block: from,
                        len,
                        out,
                        capacity,
                        written: 0,
                        error: linerate_error_of_nothing(),
                    };
                    let mut jobs = [block];
                    let jobs = if number % 7 == 0 { ptr::null_mut() } else { jobs.as_mut_ptr() };
                    linerate_block_decoder_batch(linerate_block_decoder { id }, jobs, 1, kind)
                }
            }
        };
        if error.kind == 0 || self.noise.below(8) > 0 {
            self.stream = stream;
        }
        // SAFETY: both were written at the beginning.
        let (written, progress) = unsafe { (written.assume_init(), progress.assume_init()) };
        assert!(progress.read <= len);
        (error, written.max(progress.written), count)
    }

    /// Makes one of the calls that neither create nor free a handle, nor convert data.
    fn ask(&mut self) -> linerate_error {
        let Buffers { from, len, out, capacity } = self.buffers();
        // Types of handles. Calls without a handle come last.
        let tags = [2, 2, 5, 5, 4, 4, 4, 4, 4, 6, 7, 7, 8, 8, 8, 10, 10, 10, 12, 12, 12, 12, 12, 12];
        let arm = self.noise.below(tags.len() + 11);
        let tag = tags.get(arm).copied().unwrap_or(0);
        let (id, number, kind) = (self.handle(tag), self.number(), self.small());
        let mut room = [MaybeUninit::<u64>::uninit(); 32];
        let room = if self.noise.below(30) == 0 { ptr::null_mut() } else { room.as_mut_ptr() };
        let mut run = linerate_run_defaults();
        (run.threads, run.existing) = (1 + (number % 3) as u32, kind);
        run.on_progress = Some(on_progress);
        run.on_failure = Some(on_failure);
        let mut params = linerate_rice_defaults();
        (params.m, params.segment, params.tap_count) =
            (if number % 2 == 0 { 8 } else { number as u32 }, kind as u32, number as u32);
        let options = linerate_rice2_options { segment: kind as u32, row: number as u32, channels: 1 };
        let (samples, count) = (out.cast::<i16>(), capacity / 2);
        let (first, end) = (number as usize, (number as usize).wrapping_add(kind as usize));
        // SAFETY: as in `make`; results have at most 256 bytes.
        unsafe {
            match arm {
                0 if number % 2 == 0 => linerate_session_forget(linerate_session { id }),
                0 => linerate_session_set_level(linerate_session { id }, kind),
                1 => linerate_session_memory(linerate_session { id }, room.cast()),
                2 => linerate_controller_level(linerate_controller { id }, number, number, room.cast()),
                3 => linerate_controller_add_input(linerate_controller { id }, number as usize),
                4 => linerate_inflater_reset(linerate_inflater { id }),
                5 => linerate_inflater_next_member(linerate_inflater { id }),
                6 => linerate_inflater_set_dictionary(linerate_inflater { id }, from, len),
                7 => linerate_inflater_dictionary_id(linerate_inflater { id }, room.cast()),
                8 => linerate_inflater_memory(linerate_inflater { id }, room.cast()),
                9 => linerate_zstd_dictionary_id(linerate_zstd_dictionary { id }, room.cast()),
                10 => linerate_zstd_decoder_reset(linerate_zstd_decoder { id }),
                11 => linerate_zstd_decoder_memory(linerate_zstd_decoder { id }, room.cast()),
                12 => linerate_store_insert(linerate_store { id }, from, len, room.cast()),
                13 => linerate_store_release(linerate_store { id }, number),
                14 => linerate_store_get_stats(linerate_store { id }, room.cast()),
                15 => linerate_gateway_reset(linerate_gateway { id }),
                16 => linerate_gateway_resume_after(linerate_gateway { id }, number),
                17 => linerate_gateway_memory(linerate_gateway { id }, room.cast()),
                18 => linerate_archive_count(linerate_archive { id }, room.cast()),
                19 => linerate_archive_get(linerate_archive { id }, kind as usize, room.cast()),
                20 => linerate_archive_path(linerate_archive { id }, kind as usize, out.cast(), capacity),
                21 => linerate_archive_find(linerate_archive { id }, from.cast(), len.min(20), room.cast()),
                22 => linerate_archive_verify(linerate_archive { id }, &run, room.cast()),
                23 => {
                    linerate_archive_extract(linerate_archive { id }, self.folder.as_ptr(), &run, room.cast())
                }
                24 => linerate_zstd_frame_info(&linerate_zstd_defaults(), from, len, room.cast()),
                25 => linerate_rice_bound(&params, len, room.cast()),
                26 => linerate_rice_encode(&params, from.cast(), len / 2, out, capacity, 2, room.cast()),
                27 => linerate_rice_samples(from, len, room.cast()),
                28 => linerate_rice_decode(&params, from, len, samples, count, 2, room.cast()),
                29 => {
                    linerate_rice_decode_segments(&params, from, len, first, end, samples, count, room.cast())
                }
                30 => linerate_rice2_bound(&options, kind, len, room.cast()),
                31 => {
                    let (samples, count) = (from.cast(), len / 4);
                    linerate_rice2_encode(&options, kind, samples, count, out, capacity, 2, room.cast())
                }
                32 => linerate_rice2_get_info(from, len, room.cast()),
                33 => {
                    let count = capacity.min(CAPACITY) / 4;
                    linerate_rice2_decode(from, len, kind, out.cast(), count, 1, room.cast())
                }
                _ => {
                    let count = capacity.min(CAPACITY) / 4;
                    linerate_rice2_decode_segments(
                        from,
                        len,
                        first,
                        end,
                        kind,
                        out.cast(),
                        count,
                        room.cast(),
                    )
                }
            }
        }
    }

    /// Calls the functions that cannot fail. Then opens an archive or a gzip file at a path, which
    /// is null or that of a folder, or writes an archive.
    fn ask_without_state(&mut self) -> linerate_error {
        let (Buffers { from, len, .. }, number) = (self.buffers(), self.number());
        let size = number as usize;
        assert!(linerate_deflate_bound(size) >= size && linerate_session_bound(size) >= size);
        assert!(linerate_deflater_bound(size) >= size);
        assert!(linerate_deflater_flush_bound() > 0 && linerate_deflater_finish_bound() > 0);
        assert!(!linerate_kind_name(number as i32).is_null() && !linerate_version().is_null());
        let mut archive = MaybeUninit::<linerate_archive>::uninit();
        let mut gzip = MaybeUninit::<linerate_gzip>::uninit();
        let options = linerate_archive_defaults();
        // SAFETY: as in `make`.
        unsafe {
            linerate_crc32(number as u32, from, len);
            linerate_adler32(number as u32, from, len);
            let path = if number % 2 == 0 { ptr::null() } else { self.folder.as_ptr() };
            if number % 16 == 5 {
                return self.write_archive();
            }
            if number % 4 < 2 {
                return linerate_gzip_open(path, ptr::null(), self.place(&mut gzip));
            }
            linerate_archive_open(path, self.given(&options), self.place(&mut archive))
        }
    }
}

// Writes the archive `folder`.nx: from the content of `folder`, from archives that exist or not,
// and from null pointers.
impl Caller<'_> {
    fn write_archive(&mut self) -> linerate_error {
        let (arm, kind, number) = (self.noise.below(3), self.small(), self.number());
        let target = CString::new([self.folder.as_bytes(), b".nx"].concat()).unwrap();
        let mut options = linerate_pack_defaults();
        (options.preset, options.level, options.threads) = (kind, self.small(), 1 + (number % 3) as u32);
        options.replace = u8::from(number % 5 != 0);
        (options.metadata, options.skip_bad_names) = (u8::from(number % 2 == 0), u8::from(number % 7 == 0));
        options.on_progress = Some(on_pack_progress);
        options.on_failure = Some(on_failure);
        options.choose = (number % 3 == 0).then_some(choose as unsafe extern "C" fn(_, _, _) -> _);
        let paths = [self.folder.as_ptr(), if number % 9 == 0 { ptr::null() } else { target.as_ptr() }];
        let names = [if number % 11 == 0 { ptr::null() } else { c"a".as_ptr() }];
        let (mut report, options) = (MaybeUninit::uninit(), self.given(&options));
        let report = self.place(&mut report);
        let target = if number % 13 == 0 { ptr::null() } else { target.as_ptr() };
        // SAFETY: pointers are null or lead to C strings and structures of their types.
        unsafe {
            match arm {
                0 => linerate_archive_pack(paths.as_ptr(), 1, target, options, report),
                1 => {
                    let (deleted, kept) = (names.as_ptr(), ptr::null());
                    let counts = ((number % 2) as usize, usize::from(number % 4 == 0));
                    linerate_archive_update(
                        target,
                        paths.as_ptr(),
                        counts.0,
                        deleted,
                        counts.1,
                        kept,
                        options,
                        report,
                    )
                }
                _ => linerate_archive_merge(paths[1..].as_ptr(), 1, kind, target, options, report),
            }
        }
    }
}

/// Placeholder for a result.
fn linerate_error_of_nothing() -> linerate_error {
    linerate_error { kind: 0, os: 0, offset: 0, message: ptr::null() }
}

unsafe extern "C" fn on_progress(_: *mut c_void, _: *const linerate_archive_progress) -> i32 {
    1
}

unsafe extern "C" fn on_pack_progress(_: *mut c_void, progress: *const linerate_pack_progress) -> i32 {
    // SAFETY: the library passes a valid progress.
    i32::from(unsafe { (*progress).blocks } % 3 != 2)
}

unsafe extern "C" fn choose(_: *mut c_void, path: *const c_char, len: usize) -> i32 {
    // SAFETY: the library passes a path of that length, at least one byte.
    i32::from(unsafe { path.cast::<u8>().add(len - 1).read() } != b'b')
}

/// Reads a part of the file that the context points to. Without a context, returns an error or too
/// large a number.
unsafe extern "C" fn read_at(context: *mut c_void, offset: u64, buffer: *mut c_void, len: usize) -> i64 {
    if context.is_null() {
        return if offset.is_multiple_of(2) { -1 } else { i64::MAX };
    }
    // SAFETY: the library reads only within the file.
    unsafe { ptr::copy_nonoverlapping(context.cast::<u8>().add(offset as usize), buffer.cast(), len) };
    len as i64
}

unsafe extern "C" fn on_failure(_: *mut c_void, _: *const c_char, _: usize, error: linerate_error) {
    assert!((1..9).contains(&error.kind));
}

/// Data in every format.
fn files() -> Vec<&'static [u8]> {
    use linerate_deflate::{Format, Level, compress_to_vec};
    let rows = data::json_rows(9, 20);
    let mut builder = linerate_nx::pack::Builder::new(linerate_nx::pack::PackOptions::default()).unwrap();
    builder.add_bytes("a", rows.clone()).unwrap();
    builder.add_bytes("b", data::mixed(10_000)).unwrap();
    let mut frame = vec![0; zstd_safe::compress_bound(rows.len())];
    let n = zstd_safe::compress(&mut frame[..], &rows, 3).unwrap();
    frame.truncate(n);
    let samples: Vec<i16> = (0..3000).map(|i| i % 100).collect();
    let options = linerate_rice::Options::new();
    let files = [
        compress_to_vec(Format::Deflate, Level::Default, &rows),
        compress_to_vec(Format::Zlib, Level::Default, &rows),
        compress_to_vec(Format::Gzip, Level::Default, &rows),
        frame,
        builder.to_bytes().unwrap().0,
        linerate_rice::encode(&linerate_rice::Params::default(), &samples, options).unwrap(),
        linerate_rice::v2::encode(&linerate_rice::v2::StreamOptions::new(), &samples, options).unwrap(),
        rows,
    ];
    files.into_iter().map(|file| &*file.leak()).collect()
}

#[test]
fn every_random_call_returns_and_stays_within_its_buffers() {
    let (files, folder) = (files(), tempfile::tempdir().unwrap());
    let callers = (0..THREADS).map(|seed| {
        let folder = folder.path().join(seed.to_string());
        Caller {
            noise: Noise::new(seed),
            files: &files,
            input: vec![0; CAPACITY],
            output: vec![0; CAPACITY + 1],
            stream: linerate_deflater {
                checksum: 0,
                total_in: 0,
                pending: 0,
                pending_len: 0,
                format: 0,
                level: 1,
                phase: 0,
            },
            folder: CString::new(folder.to_str().unwrap()).unwrap(),
        }
    });
    let kinds = Mutex::new([0; 10]);
    std::thread::scope(|scope| {
        for mut caller in callers {
            let kinds = &kinds;
            scope.spawn(move || {
                for _ in 0..CALLS {
                    let error = match caller.noise.below(10) {
                        0 | 1 => caller.make(),
                        2 => caller.free(),
                        3..7 => {
                            caller.output[CAPACITY] = 0xa5;
                            let (error, written, most) = caller.convert();
                            assert!(written <= most.min(CAPACITY), "{written} bytes were written");
                            assert_eq!(caller.output[CAPACITY], 0xa5);
                            error
                        }
                        7 => caller.ask_without_state(),
                        _ => caller.ask(),
                    };
                    assert!((0..9).contains(&error.kind), "kind {}", error.kind);
                    let mut text = [0; 100];
                    // SAFETY: an error of the library, and a buffer of this size.
                    assert!(unsafe { linerate_error_text(error, text.as_mut_ptr(), text.len()) } > 0);
                    kinds.lock().unwrap()[error.kind as usize] += 1;
                }
            });
        }
    });
    let kinds = kinds.into_inner().unwrap();
    let all = THREADS as usize * CALLS;
    assert_eq!(kinds.iter().sum::<usize>(), all);
    assert!(kinds[0] > all / 10 && kinds[5] > all / 10, "both verdicts occur: {kinds:?}");
    assert!([1, 2, 4].iter().all(|kind| kinds[*kind] > 0), "{kinds:?}");
}

#[test]
fn every_function_is_called_here() {
    let (here, header) = (include_str!("misuse.rs"), include_str!("../linerate.h"));
    let before = header.match_indices('(').map(|(at, _)| &header[..at]);
    let words =
        before.filter_map(|text| text.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next());
    let names: Vec<&str> = words.filter(|word| word.starts_with("linerate_")).collect();
    assert!(names.len() > 80, "{names:?}");
    for name in names {
        assert!(here.contains(&format!("{name}(")), "{name}");
    }
}
