//! Inflate: whole streams from one buffer into another, and streams in pieces.

use linerate_inflate::{BufferDecoder, Format, Options, Progress, Status, StreamDecoder};

use crate::border::{buffers, input, place, run, value};
use crate::error::{Call, linerate_error};
use crate::handles::Table;
use crate::scratch::linerate_scratch;

/// Reasons for which a stream decoder returns.
#[repr(i32)]
pub enum linerate_status {
    /// The call consumed all input. If there is no more, the data is truncated. But a zstd decoder
    /// that gets no input after LINERATE_END also returns this.
    LINERATE_NEED_INPUT = 0,
    /// The output buffer is full and more output may follow, or the next call returns an error.
    LINERATE_NEED_OUTPUT = 1,
    /// The stream, gzip member or zstd frame has ended.
    LINERATE_END = 2,
    /// The zlib header requires a preset dictionary.
    LINERATE_NEED_DICTIONARY = 3,
}

use linerate_status::{LINERATE_END, LINERATE_NEED_DICTIONARY, LINERATE_NEED_INPUT, LINERATE_NEED_OUTPUT};

/// Bytes that a call of a decoder read and wrote, and why it returned.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_progress {
    /// Bytes of input consumed.
    pub read: usize,
    /// Bytes of output written.
    pub written: usize,
    /// The reason for the return, a linerate_status.
    pub status: i32,
}

/// A decoder of deflate, zlib or gzip data in pieces. One thread at a time may use it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_inflater {
    /// The handle.
    pub id: u64,
}

/// Options of a decoder. linerate_inflate_defaults fills them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_inflate_options {
    /// The container, a linerate_format.
    pub format: i32,
    /// Base-2 logarithm of the window in bytes, 8 to 15: the largest distance of a match, and the
    /// largest window that a zlib header may state. Default: 15. linerate_inflate has no window and
    /// ignores it.
    pub window_bits: u32,
    /// Largest output of a stream, in bytes; more is an error. A linerate_inflater counts all
    /// members and streams since its last reset together. Default: no limit.
    pub output_limit: u64,
    /// If not 0, the decoder verifies CRC-32, Adler-32, the length after gzip data, and the
    /// checksum of a gzip header. Default: 1.
    pub verify_checksum: u8,
    /// Reserved: 0.
    pub reserved: [u8; 7],
}

static INFLATERS: Table<StreamDecoder<'static>> = Table::new(4);

impl linerate_inflate_options {
    fn options(&self) -> Call<Options> {
        let format = match self.format {
            0 => Format::Deflate,
            1 => Format::Zlib,
            2 => Format::Gzip,
            3 => Format::ZlibOrGzip,
            _ => return Err(linerate_error::bad_argument(c"unknown format")),
        };
        Ok(Options::new(format)
            .window_bits(u8::try_from(self.window_bits).unwrap_or(u8::MAX))
            .output_limit(self.output_limit)
            .verify_checksum(self.verify_checksum != 0))
    }
}

impl From<Progress> for linerate_progress {
    fn from(progress: Progress) -> linerate_progress {
        let status = match progress.status {
            Status::NeedInput => LINERATE_NEED_INPUT,
            Status::NeedOutput => LINERATE_NEED_OUTPUT,
            Status::NeedDictionary => LINERATE_NEED_DICTIONARY,
            _ => LINERATE_END,
        };
        linerate_progress { read: progress.read, written: progress.written, status: status as i32 }
    }
}

/// Returns the default options for a linerate_format.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_inflate_defaults(format: i32) -> linerate_inflate_options {
    linerate_inflate_options {
        format,
        window_bits: 15,
        output_limit: u64::MAX,
        verify_checksum: 1,
        reserved: [0; 7],
    }
}

/// Decodes the stream or gzip member at the beginning of the input into out. Stores in progress how
/// many bytes were read and written. The dictionary has dictionary_len bytes or is null; it
/// precedes the content of raw deflate data, and of a zlib stream whose header requires a
/// dictionary. Fails with LINERATE_BAD_ARGUMENT if the header requires a dictionary and this one is
/// null or another one. Damaged data and small buffers give LINERATE_OUTPUT_TOO_SMALL,
/// LINERATE_TRUNCATED, LINERATE_CORRUPT or LINERATE_LIMIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_inflate(
    scratch: linerate_scratch,
    options: *const linerate_inflate_options,
    dictionary: *const u8,
    dictionary_len: usize,
    from: *const u8,
    len: usize,
    out: *mut u8,
    capacity: usize,
    progress: *mut linerate_progress,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, progress) = unsafe {
            (value!(options, "linerate_inflate_defaults fills those of a format")?, place!(progress)?)
        };
        // SAFETY: the caller's promises.
        let (dictionary, (from, out)) = unsafe {
            let (dictionary, _) = buffers!(dictionary, dictionary_len, out, capacity)?;
            (dictionary, buffers!(from, len, out, capacity)?)
        };
        let dictionary = (!dictionary.is_empty()).then_some(dictionary);
        let mut scratch = scratch.lock()?;
        let sizes =
            BufferDecoder::new(options.options()?).decode(scratch.inflate()?, dictionary, from, out)?;
        progress.write(Progress { read: sizes.read, written: sizes.written, status: Status::End }.into());
        Ok(())
    })
}

/// Allocates a decoder. Its window grows with the output, and with a preset dictionary, up to the
/// size of window_bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_inflater_new(
    options: *const linerate_inflate_options,
    inflater: *mut linerate_inflater,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, inflater) = unsafe {
            (value!(options, "linerate_inflate_defaults fills those of a format")?, place!(inflater)?)
        };
        let id = INFLATERS.insert(StreamDecoder::new(options.options()?)?)?;
        inflater.write(linerate_inflater { id });
        Ok(())
    })
}

/// Frees a decoder. Ignores one whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_inflater_free(inflater: linerate_inflater) -> linerate_error {
    run(|| INFLATERS.free_unless_zero(inflater.id))
}

/// Decodes until the input, the output buffer, or the stream or gzip member ends. After
/// LINERATE_END it does nothing until linerate_inflater_next_member or linerate_inflater_reset. If
/// the data is damaged, calls return all output before the error first, with LINERATE_NEED_OUTPUT,
/// and then the error, until linerate_inflater_reset. The offset of the error counts compressed
/// bytes from the beginning of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_inflater_decode(
    inflater: linerate_inflater,
    scratch: linerate_scratch,
    from: *const u8,
    len: usize,
    out: *mut u8,
    capacity: usize,
    progress: *mut linerate_progress,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let ((input, out), progress) = unsafe { (buffers!(from, len, out, capacity)?, place!(progress)?) };
        let (mut inflater, mut scratch) = (INFLATERS.lock(inflater.id)?, scratch.lock()?);
        progress.write(inflater.decode(scratch.inflate()?, input, out)?.into());
        Ok(())
    })
}

/// Begins a new stream with the same options, and reuses the memory of the last stream.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_inflater_reset(inflater: linerate_inflater) -> linerate_error {
    run(|| {
        INFLATERS.lock(inflater.id)?.reset();
        Ok(())
    })
}

/// Continues, after LINERATE_END, with the next gzip member or stream of the input. The output
/// limit applies to all of them together, and offsets of errors count from the beginning of the
/// first.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_inflater_next_member(inflater: linerate_inflater) -> linerate_error {
    run(|| {
        INFLATERS.lock(inflater.id)?.next_member();
        Ok(())
    })
}

/// Sets the preset dictionary. Call it after LINERATE_NEED_DICTIONARY, or before a block of raw
/// deflate data: the first one, or the one before which the encoder set the dictionary. Fails with
/// LINERATE_BAD_ARGUMENT if the zlib header requires another dictionary, or none, and in the middle
/// of a block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_inflater_set_dictionary(
    inflater: linerate_inflater,
    dictionary: *const u8,
    len: usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let dictionary = unsafe { input!(dictionary, len) }?;
        Ok(INFLATERS.lock(inflater.id)?.set_dictionary(dictionary)?)
    })
}

/// Stores the Adler-32 of the dictionary that a zlib header requires. Call it after
/// LINERATE_NEED_DICTIONARY; at any other time it stores 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_inflater_dictionary_id(
    inflater: linerate_inflater,
    id: *mut u32,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let id = unsafe { place!(id) }?;
        id.write(INFLATERS.lock(inflater.id)?.dictionary_id().unwrap_or(0));
        Ok(())
    })
}

/// Stores the number of bytes that a decoder has allocated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_inflater_memory(
    inflater: linerate_inflater,
    bytes: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { place!(bytes) }?;
        bytes.write(INFLATERS.lock(inflater.id)?.memory());
        Ok(())
    })
}
