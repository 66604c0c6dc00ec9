//! The gateway's side of a connection.

use linerate_core::{Error, Kind};
use linerate_zstd::Dictionary;
use zlib_rs::{Deflate, DeflateFlush};
use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

use crate::error::{Result, SessionError};
use crate::transport::Transport;

// Parameters that gateways are known to use.
const ZSTD_LEVEL: i32 = 7;
const ZSTD_TABLE_LOG: u32 = 15;
const ZSTD_WINDOW_LOG: u32 = 16;
const ZLIB_LEVEL: i32 = 6;
const ZLIB_WINDOW_LOG: u8 = 15;
/// Added to the window bits, this makes zlib-rs write gzip's header and trailer.
const GZIP: u8 = 16;

/// The frame header that libzstd writes with these parameters: magic number, descriptor, 64 KiB
/// window.
const ZSTD_HEADER: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0, (ZSTD_WINDOW_LOG as u8 - 10) << 3];
/// An empty raw block that is not the last one of its frame.
const ZSTD_EMPTY_BLOCK: [u8; 3] = [0; 3];

/// Number of bytes by which the output buffer grows.
const STEP: usize = 16 << 10;

/// Compresses messages as a gateway does, for tests, recordings and gateways themselves.
pub struct Encoder {
    codec: Codec,
    messages: u64,
}

enum Codec {
    /// One zlib stream, flushed after each message.
    Zlib(Deflate),
    /// One zstd frame, flushed after each message.
    Zstd(CCtx<'static>, FrameHeader),
    /// A zlib stream, gzip member or raw deflate stream for each message.
    Deflate(Deflate),
    /// A zstd frame for each message.
    Frames(CCtx<'static>),
}

/// State of the frame header of a zstd stream. libzstd writes it with the first payload that is not
/// empty.
#[derive(PartialEq, Eq)]
enum FrameHeader {
    Missing,
    /// The encoder wrote it with an empty message. libzstd writes it again with the first payload
    /// that is not empty, and the encoder removes that copy.
    Ours,
    /// libzstd wrote it.
    Whole,
}

impl Encoder {
    /// Creates an encoder with the parameters that gateways use: zlib level 6, or zstd level 7 with
    /// a window of 64 KiB and tables of 2^15 entries. Independent messages use the same levels.
    ///
    /// # Errors
    /// Returns [`Kind::Limit`] if memory runs out for zstd.
    ///
    /// # Panics
    /// Panics if memory runs out for the other transports, since zlib-rs does.
    pub fn new(transport: Transport) -> Result<Self> {
        let made = match transport {
            Transport::Zlib => Ok(Codec::Zlib(Deflate::new(ZLIB_LEVEL, true, ZLIB_WINDOW_LOG))),
            Transport::Zstd => zstd().map(|context| Codec::Zstd(context, FrameHeader::Missing)),
            Transport::ZstdFrame => frames().map(Codec::Frames),
            Transport::ZlibMessage => Ok(Codec::Deflate(Deflate::new(ZLIB_LEVEL, true, ZLIB_WINDOW_LOG))),
            Transport::Gzip => Ok(Codec::Deflate(Deflate::new(ZLIB_LEVEL, true, GZIP + ZLIB_WINDOW_LOG))),
            Transport::RawDeflate => Ok(Codec::Deflate(Deflate::new(ZLIB_LEVEL, false, ZLIB_WINDOW_LOG))),
        };
        made.map(|codec| Encoder { codec, messages: 0 })
            .map_err(|error| SessionError { error, message_index: 0 })
    }

    /// Sets the dictionary of the frames of [`Transport::ZstdFrame`]. libzstd digests it with the
    /// first message.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for a damaged dictionary, for another transport, or if memory
    /// runs out.
    pub fn with_dictionary(mut self, dictionary: &[u8]) -> Result<Self> {
        // libzstd only copies the dictionary, so it would report damage with the first message.
        let set = match &mut self.codec {
            Codec::Frames(context) => {
                Dictionary::new(dictionary).is_ok() && context.load_dictionary(dictionary).is_ok()
            }
            _ => false,
        };
        let what = "the dictionary is damaged, or the transport takes none";
        let error = Error::new(Kind::BadArgument, 0, what);
        if set { Ok(self) } else { Err(SessionError { error, message_index: 0 }) }
    }

    /// Compresses a message, flushes or finishes the stream as its transport does, and appends the
    /// compressed bytes to `wire`.
    ///
    /// # Errors
    /// Returns [`Kind::Limit`] if libzstd fails, as it does without memory, and [`Kind::Corrupt`]
    /// if zlib-rs fails. `wire` may then have a part of the message.
    pub fn message(&mut self, payload: &[u8], wire: &mut Vec<u8>) -> Result<()> {
        let done = match &mut self.codec {
            Codec::Zlib(deflate) => compress_deflate(deflate, payload, wire, DeflateFlush::SyncFlush),
            Codec::Zstd(context, header) => compress_zstd_message(context, header, payload, wire),
            Codec::Deflate(deflate) => {
                let done = compress_deflate(deflate, payload, wire, DeflateFlush::Finish);
                deflate.reset();
                done
            }
            Codec::Frames(context) => compress_frame(context, payload, wire),
        };
        done.map_err(|error| SessionError { error, message_index: self.messages })?;
        self.messages += 1;
        Ok(())
    }
}

fn zstd_error(_: usize) -> Error {
    Error::new(Kind::Limit, 0, "libzstd cannot compress a message")
}

fn zstd() -> std::result::Result<CCtx<'static>, Error> {
    let mut context = CCtx::try_create().ok_or(Error::new(Kind::Limit, 0, "out of memory for an encoder"))?;
    for parameter in [
        CParameter::CompressionLevel(ZSTD_LEVEL),
        CParameter::WindowLog(ZSTD_WINDOW_LOG),
        CParameter::ChainLog(ZSTD_TABLE_LOG),
        CParameter::HashLog(ZSTD_TABLE_LOG),
        CParameter::ChecksumFlag(false),
        CParameter::ContentSizeFlag(false),
    ] {
        context.set_parameter(parameter).map_err(zstd_error)?;
    }
    Ok(context)
}

fn frames() -> std::result::Result<CCtx<'static>, Error> {
    let mut context = CCtx::try_create().ok_or(Error::new(Kind::Limit, 0, "out of memory for an encoder"))?;
    context.set_parameter(CParameter::CompressionLevel(ZSTD_LEVEL)).map_err(zstd_error)?;
    Ok(context)
}

fn compress_frame(
    context: &mut CCtx<'_>,
    payload: &[u8],
    wire: &mut Vec<u8>,
) -> std::result::Result<(), Error> {
    // Makes the frame header state the size of the content.
    context.set_pledged_src_size(Some(payload.len() as u64)).map_err(zstd_error)?;
    compress_zstd(context, payload, wire, ZSTD_EndDirective::ZSTD_e_end)
}

fn compress_deflate(
    deflate: &mut Deflate,
    mut payload: &[u8],
    wire: &mut Vec<u8>,
    flush: DeflateFlush,
) -> std::result::Result<(), Error> {
    let failed = |_| Error::new(Kind::Corrupt, 0, "zlib cannot compress a message");
    loop {
        let start = wire.len();
        wire.resize(start + STEP, 0);
        let (read, written) = (deflate.total_in(), deflate.total_out());
        let done = deflate.compress(payload, &mut wire[start..], flush);
        let written = (deflate.total_out() - written) as usize;
        payload = &payload[(deflate.total_in() - read) as usize..];
        wire.truncate(start + written);
        done.map_err(failed)?;
        if written < STEP {
            return Ok(());
        }
    }
}

/// Compresses a message of a zstd stream and flushes. For an empty payload it writes an empty block
/// itself, since a flush of libzstd without content produces no bytes, and a message must have
/// some.
fn compress_zstd_message(
    context: &mut CCtx<'_>,
    header: &mut FrameHeader,
    payload: &[u8],
    wire: &mut Vec<u8>,
) -> std::result::Result<(), Error> {
    if payload.is_empty() {
        if *header == FrameHeader::Missing {
            wire.extend(ZSTD_HEADER);
            *header = FrameHeader::Ours;
        }
        wire.extend(ZSTD_EMPTY_BLOCK);
        return Ok(());
    }
    let start = wire.len();
    compress_zstd(context, payload, wire, ZSTD_EndDirective::ZSTD_e_flush)?;
    if std::mem::replace(header, FrameHeader::Whole) == FrameHeader::Ours {
        wire.drain(start..start + ZSTD_HEADER.len());
    }
    Ok(())
}

fn compress_zstd(
    context: &mut CCtx<'_>,
    payload: &[u8],
    wire: &mut Vec<u8>,
    directive: ZSTD_EndDirective,
) -> std::result::Result<(), Error> {
    let mut input = InBuffer::around(payload);
    loop {
        let start = wire.len();
        wire.resize(start + STEP, 0);
        let mut output = OutBuffer::around(&mut wire[start..]);
        let left = context.compress_stream2(&mut output, &mut input, directive);
        let written = output.pos();
        wire.truncate(start + written);
        if left.map_err(zstd_error)? == 0 {
            return Ok(());
        }
    }
}
