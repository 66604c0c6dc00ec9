//! The gateway's side of a connection.

use linerate_core::{Error, Kind};
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

/// Bytes by which the output grows.
const STEP: usize = 16 << 10;

/// Compresses messages as a gateway does, for tests, recordings and gateways themselves.
pub struct Encoder {
    codec: Codec,
    messages: u64,
}

enum Codec {
    Zlib(Deflate),
    Zstd(CCtx<'static>),
}

impl Encoder {
    /// An encoder with the parameters that gateways use: zlib level 6, or zstd level 7 with a window of
    /// 64 KiB and tables of 2^15 entries.
    ///
    /// # Errors
    /// [`Kind::Limit`] if memory runs out.
    pub fn new(transport: Transport) -> Result<Self> {
        let made = match transport {
            Transport::Zlib => Ok(Codec::Zlib(Deflate::new(ZLIB_LEVEL, true, ZLIB_WINDOW_LOG))),
            Transport::Zstd => zstd().map(Codec::Zstd),
        };
        made.map(|codec| Encoder { codec, messages: 0 })
            .map_err(|error| SessionError { error, message_index: 0 })
    }

    /// Compresses a message, flushes, and appends the compressed bytes to `wire`.
    ///
    /// # Errors
    /// [`Kind::Limit`] if memory runs out.
    pub fn message(&mut self, payload: &[u8], wire: &mut Vec<u8>) -> Result<()> {
        let done = match &mut self.codec {
            Codec::Zlib(deflate) => flush_zlib(deflate, payload, wire),
            Codec::Zstd(context) => flush_zstd(context, payload, wire),
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

fn flush_zlib(
    deflate: &mut Deflate,
    mut payload: &[u8],
    wire: &mut Vec<u8>,
) -> std::result::Result<(), Error> {
    let failed = |_| Error::new(Kind::Corrupt, 0, "zlib cannot compress a message");
    loop {
        let start = wire.len();
        wire.resize(start + STEP, 0);
        let (read, written) = (deflate.total_in(), deflate.total_out());
        let done = deflate.compress(payload, &mut wire[start..], DeflateFlush::SyncFlush);
        let written = (deflate.total_out() - written) as usize;
        payload = &payload[(deflate.total_in() - read) as usize..];
        wire.truncate(start + written);
        done.map_err(failed)?;
        if written < STEP {
            return Ok(());
        }
    }
}

fn flush_zstd(context: &mut CCtx<'_>, payload: &[u8], wire: &mut Vec<u8>) -> std::result::Result<(), Error> {
    let mut input = InBuffer::around(payload);
    loop {
        let start = wire.len();
        wire.resize(start + STEP, 0);
        let mut output = OutBuffer::around(&mut wire[start..]);
        let left = context.compress_stream2(&mut output, &mut input, ZSTD_EndDirective::ZSTD_e_flush);
        let written = output.pos();
        wire.truncate(start + written);
        if left.map_err(zstd_error)? == 0 {
            return Ok(());
        }
    }
}
