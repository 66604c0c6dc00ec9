//! zstd: whole frames from one buffer into another, frames in pieces, and dictionaries.

use std::sync::Arc;

use linerate_zstd::{Dictionary, Format, FrameDecoder, Header, Options, Status, StreamDecoder, frame_extent};

use crate::border::{buffers, input, place, run, value_or};
use crate::error::{Call, linerate_error};
use crate::handles::Table;
use crate::inflate::{linerate_progress, linerate_status};
use crate::scratch::linerate_scratch;

/// A digested zstd dictionary. Many threads may use it. Decoders keep its content alive, so it may
/// be freed before them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_zstd_dictionary {
    /// The handle; 0 means no dictionary.
    pub id: u64,
}

/// A decoder of zstd frames in pieces. One thread at a time may use it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_zstd_decoder {
    /// The handle.
    pub id: u64,
}

/// Options of the zstd decoders. linerate_zstd_defaults fills them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_zstd_options {
    /// Largest window of a frame that is decoded in pieces, in bytes. Default: 128 MiB.
    pub window_limit: u64,
    /// If not 0, frames have no magic number. Default: 0.
    pub magicless: u8,
    /// If not 0, the decoder verifies the checksums of frames. Default: 1.
    pub verify_checksum: u8,
    /// Reserved: 0.
    pub reserved: [u8; 6],
}

/// A frame as its header and the headers of its blocks describe it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_zstd_frame {
    /// Size of the whole frame in bytes, from its beginning to its checksum, if it has one.
    pub compressed: usize,
    /// The size of the content in bytes that the header states, if has_content_size is not 0;
    /// otherwise the largest size that the headers of the blocks allow.
    pub bound: u64,
    /// Size of the window in bytes, or 0 if the frame is skippable.
    pub window: u64,
    /// The Dictionary_ID that the header states, or 0 if it states none.
    pub dictionary_id: u32,
    /// Not 0 if the header states the size of the content, or if the frame is skippable and its
    /// content therefore has 0 bytes.
    pub has_content_size: u8,
    /// Not 0 if a checksum follows the content.
    pub has_checksum: u8,
    /// Not 0 if the frame is skippable and has no content.
    pub is_skippable: u8,
    /// Reserved: 0.
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

/// Returns the default options.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_zstd_defaults() -> linerate_zstd_options {
    let window_limit = Options::new().window_limit;
    linerate_zstd_options { window_limit, magicless: 0, verify_checksum: 1, reserved: [0; 6] }
}

/// Reads the header of the frame at the beginning of the input and the headers of its blocks.
/// Decodes nothing. Fails with LINERATE_TRUNCATED if the input ends before the frame does.
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

/// Decodes all frames of the input, one after another, into out, and stores the total size of their
/// content in written. Skippable frames have no content. A dictionary whose id is 0 means none.
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

/// Decodes the frame at the beginning of the input into out, and ignores the input after it. Stores
/// in progress how many bytes were read and written. A dictionary whose id is 0 means none.
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

/// Allocates a dictionary, a copy of the bytes, and digests it. The bytes are a trained dictionary
/// if they begin with its magic number and are at least 8, and otherwise raw content.
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

/// Frees a dictionary. Ignores one whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_zstd_dictionary_free(dictionary: linerate_zstd_dictionary) -> linerate_error {
    run(|| DICTIONARIES.free_unless_zero(dictionary.id))
}

/// Stores the Dictionary_ID by which frames name the dictionary, or 0 for raw content.
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

/// Allocates a decoder for frames that use this dictionary or, if its id is 0, none. The window
/// grows with the content, up to the size that the header of the frame states.
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

/// Frees a decoder. Ignores one whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_zstd_decoder_free(decoder: linerate_zstd_decoder) -> linerate_error {
    run(|| DECODERS.free_unless_zero(decoder.id))
}

/// Decodes until the input, the output buffer or a frame ends; a skippable frame counts too. After
/// LINERATE_END the next call begins the next frame. If the data is damaged, calls return all
/// output before the error first, with LINERATE_NEED_OUTPUT, and then the error, until
/// linerate_zstd_decoder_reset. The offset of the error counts compressed bytes from the first byte
/// that the decoder got since it was made or reset.
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

/// Begins a new frame, and reuses the memory of the last one.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_zstd_decoder_reset(decoder: linerate_zstd_decoder) -> linerate_error {
    run(|| {
        DECODERS.lock(decoder.id)?.stream.reset();
        Ok(())
    })
}

/// Stores the number of bytes that a decoder has allocated, without its dictionary.
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
