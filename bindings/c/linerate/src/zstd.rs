//! zstd: whole frames from one buffer into another, frames in pieces behind a handle, and dictionaries.

use std::sync::Arc;

use linerate_zstd::{Dictionary, Format, FrameDecoder, Header, Options, Status, StreamDecoder, frame_extent};

use crate::border::{buffers, input, place, run, value_or};
use crate::error::{Call, linerate_error};
use crate::handles::Table;
use crate::inflate::{linerate_progress, linerate_status};
use crate::scratch::linerate_scratch;

/// A dictionary of zstd, digested. Many threads may use it; decoders keep it alive, and it may be freed before them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_zstd_dictionary {
    /// The handle; 0 is none.
    pub id: u64,
}

/// A decoder of zstd frames in pieces. Used by one thread at a time.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_zstd_decoder {
    /// The handle.
    pub id: u64,
}

/// Options of decoding zstd; linerate_zstd_defaults fills them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_zstd_options {
    /// Largest window of a frame in pieces, in bytes. Default: 128 MiB.
    pub window_limit: u64,
    /// Not 0: frames have no magic number. Default: 0.
    pub magicless: u8,
    /// Not 0: checksums of frames are verified. Default: 1.
    pub verify_checksum: u8,
    /// 0.
    pub reserved: [u8; 6],
}

/// What the headers of a frame say.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_zstd_frame {
    /// Bytes of the frame, from its magic number to its checksum.
    pub compressed: usize,
    /// Bytes of its content at most; exactly, if has_content_size is not 0.
    pub bound: u64,
    /// Bytes of its window.
    pub window: u64,
    /// Its Dictionary_ID, or 0.
    pub dictionary_id: u32,
    /// Not 0: the header states the size of the content.
    pub has_content_size: u8,
    /// Not 0: a checksum follows the content.
    pub has_checksum: u8,
    /// Not 0: a skippable frame, without content.
    pub is_skippable: u8,
    /// 0.
    pub reserved: u8,
}

struct Decoder {
    stream: StreamDecoder,
    dictionary: Option<Arc<Dictionary<'static>>>,
}

static DICTIONARIES: Table<Arc<Dictionary<'static>>> = Table::new(6);
static DECODERS: Table<Decoder> = Table::new(7);

impl linerate_zstd_options {
    fn format(&self) -> Format {
        if self.magicless != 0 { Format::Magicless } else { Format::Standard }
    }

    fn options(&self) -> Options {
        Options::new()
            .format(self.format())
            .window_limit(self.window_limit)
            .verify_checksum(self.verify_checksum != 0)
    }
}

impl linerate_zstd_dictionary {
    fn get(self) -> Call<Option<Arc<Dictionary<'static>>>> {
        match self.id {
            0 => Ok(None),
            id => Ok(Some(Arc::clone(&*DICTIONARIES.share(id)?))),
        }
    }
}

/// The defaults.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_zstd_defaults() -> linerate_zstd_options {
    let window_limit = Options::new().window_limit;
    linerate_zstd_options { window_limit, magicless: 0, verify_checksum: 1, reserved: [0; 6] }
}

/// Reads the headers of the frame at the beginning of the input, and of its blocks; nothing is decoded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_zstd_frame_info(
    options: *const linerate_zstd_options,
    from: *const u8,
    len: usize,
    frame: *mut linerate_zstd_frame,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, input, frame) =
            unsafe { (value_or!(options, linerate_zstd_defaults())?, input!(from, len)?, place!(frame)?) };
        let (extent, header) =
            (frame_extent(input, options.format())?, Header::parse(input, options.format())?);
        let stated = match header {
            Header::Frame(header) => Some(header),
            Header::Skippable { .. } => None,
        };
        frame.write(linerate_zstd_frame {
            compressed: extent.compressed,
            bound: extent.bound,
            window: stated.as_ref().map_or(0, |header| header.window),
            dictionary_id: stated.as_ref().map_or(0, |header| header.dictionary_id),
            has_content_size: extent.content_size.is_some().into(),
            has_checksum: stated.as_ref().is_some_and(|header| header.checksum).into(),
            is_skippable: stated.is_none().into(),
            reserved: 0,
        });
        Ok(())
    })
}

/// Decodes all frames of the input, one after another, into out. The dictionary may be none, with the id 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_zstd_decode(
    scratch: linerate_scratch,
    options: *const linerate_zstd_options,
    dictionary: linerate_zstd_dictionary,
    from: *const u8,
    len: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, (input, out), written) = unsafe {
            (
                value_or!(options, linerate_zstd_defaults())?,
                buffers!(from, len, out, capacity)?,
                place!(written)?,
            )
        };
        let (dictionary, mut scratch) = (dictionary.get()?, scratch.lock()?);
        let decoder = FrameDecoder::new(options.options());
        written.write(decoder.decode(scratch.zstd()?, dictionary.as_deref(), input, out)?);
        Ok(())
    })
}

/// Decodes the frame at the beginning of the input into out; progress says where both ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_zstd_decode_frame(
    scratch: linerate_scratch,
    options: *const linerate_zstd_options,
    dictionary: linerate_zstd_dictionary,
    from: *const u8,
    len: usize,
    out: *mut u8,
    capacity: usize,
    progress: *mut linerate_progress,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, (input, out), progress) = unsafe {
            (
                value_or!(options, linerate_zstd_defaults())?,
                buffers!(from, len, out, capacity)?,
                place!(progress)?,
            )
        };
        let (dictionary, mut scratch) = (dictionary.get()?, scratch.lock()?);
        let decoder = FrameDecoder::new(options.options());
        let sizes = decoder.decode_frame(scratch.zstd()?, dictionary.as_deref(), input, out)?;
        let status = linerate_status::LINERATE_END as i32;
        progress.write(linerate_progress { read: sizes.read, written: sizes.written, status });
        Ok(())
    })
}

/// Allocates a dictionary and digests it: a trained one, or raw content of at least 8 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_zstd_dictionary_new(
    bytes: *const u8,
    len: usize,
    dictionary: *mut linerate_zstd_dictionary,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (bytes, dictionary) = unsafe { (input!(bytes, len)?, place!(dictionary)?) };
        let id = DICTIONARIES.insert(Arc::new(Dictionary::new(bytes)?))?;
        dictionary.write(linerate_zstd_dictionary { id });
        Ok(())
    })
}

/// Frees a dictionary; one whose id is 0 is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_zstd_dictionary_free(dictionary: linerate_zstd_dictionary) -> linerate_error {
    run(|| DICTIONARIES.free_unless_zero(dictionary.id))
}

/// Stores the Dictionary_ID that frames name it by; 0 for raw content.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_zstd_dictionary_id(
    dictionary: linerate_zstd_dictionary,
    id: *mut u32,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let id = unsafe { place!(id) }?;
        id.write(DICTIONARIES.share(dictionary.id)?.id());
        Ok(())
    })
}

/// Allocates a decoder, for frames with this dictionary or, if its id is 0, without one. Its window grows with the content, up to
/// what a frame's header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_zstd_decoder_new(
    options: *const linerate_zstd_options,
    dictionary: linerate_zstd_dictionary,
    decoder: *mut linerate_zstd_decoder,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, decoder) = unsafe { (value_or!(options, linerate_zstd_defaults())?, place!(decoder)?) };
        let new = Decoder { stream: StreamDecoder::new(options.options()), dictionary: dictionary.get()? };
        decoder.write(linerate_zstd_decoder { id: DECODERS.insert(new)? });
        Ok(())
    })
}

/// Frees a decoder; one whose id is 0 is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_zstd_decoder_free(decoder: linerate_zstd_decoder) -> linerate_error {
    run(|| DECODERS.free_unless_zero(decoder.id))
}

/// Decodes until input, output or a frame ends; after LINERATE_END the next call takes the next frame. An error is returned after
/// all output that precedes it, and by every later call until linerate_zstd_decoder_reset; its offset counts from the first byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_zstd_decoder_decode(
    decoder: linerate_zstd_decoder,
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
        let (mut decoder, mut scratch) = (DECODERS.lock(decoder.id)?, scratch.lock()?);
        let Decoder { stream, dictionary } = &mut *decoder;
        let done = stream.decode(scratch.zstd()?, dictionary.as_deref(), input, out)?;
        let status = match done.status {
            Status::NeedInput => linerate_status::LINERATE_NEED_INPUT,
            Status::NeedOutput => linerate_status::LINERATE_NEED_OUTPUT,
            Status::FrameEnd => linerate_status::LINERATE_END,
        } as i32;
        progress.write(linerate_progress { read: done.read, written: done.written, status });
        Ok(())
    })
}

/// Begins with a new frame, in the memory of the last.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_zstd_decoder_reset(decoder: linerate_zstd_decoder) -> linerate_error {
    run(|| {
        DECODERS.lock(decoder.id)?.stream.reset();
        Ok(())
    })
}

/// Stores the bytes that a decoder holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_zstd_decoder_memory(
    decoder: linerate_zstd_decoder,
    bytes: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { place!(bytes) }?;
        bytes.write(DECODERS.lock(decoder.id)?.stream.memory());
        Ok(())
    })
}
