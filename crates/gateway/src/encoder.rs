//! The other end of a connection.

use linerate_core::{Error, Kind};
use zlib_rs::{Deflate, DeflateFlush};
use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

use crate::fault::{Fault, Result};
use crate::transport::Transport;

/// What gateways are known to use.
const ZSTD_LEVEL: i32 = 7;
const ZSTD_TABLE_LOG: u32 = 15;
const ZSTD_WINDOW_LOG: u32 = 16;
const ZLIB_LEVEL: i32 = 6;
const ZLIB_WINDOW_LOG: u8 = 15;

/// Room that is made for each step of output.
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
    /// The server's end of a connection, with the settings that gateways use: zlib level 6, or zstd level
    /// 7 with a window of 64 KiB and tables of 2^15.
    ///
    /// # Errors
    /// [`Kind::Limit`] if there is no memory.
    pub fn new(transport: Transport) -> Result<Self> {
        let made = match transport {
            Transport::Zlib => Ok(Codec::Zlib(Deflate::new(ZLIB_LEVEL, true, ZLIB_WINDOW_LOG))),
            Transport::Zstd => zstd().map(Codec::Zstd),
        };
        made.map(|codec| Encoder { codec, messages: 0 }).map_err(|error| Fault { error, message: 0 })
    }

    /// Compresses a message and appends what goes over the wire to `wire`.
    ///
    /// # Errors
    /// [`Kind::Limit`] if there is no memory.
    pub fn message(&mut self, payload: &[u8], wire: &mut Vec<u8>) -> Result<()> {
        let done = match &mut self.codec {
            Codec::Zlib(deflate) => flush_zlib(deflate, payload, wire),
            Codec::Zstd(context) => flush_zstd(context, payload, wire),
        };
        done.map_err(|error| Fault { error, message: self.messages })?;
        self.messages += 1;
        Ok(())
    }
}

fn refused(_: usize) -> Error {
    Error::new(Kind::Limit, 0, "libzstd refuses to compress a message")
}

fn zstd() -> std::result::Result<CCtx<'static>, Error> {
    let mut context =
        CCtx::try_create().ok_or(Error::new(Kind::Limit, 0, "there is no memory for an encoder"))?;
    for parameter in [
        CParameter::CompressionLevel(ZSTD_LEVEL),
        CParameter::WindowLog(ZSTD_WINDOW_LOG),
        CParameter::ChainLog(ZSTD_TABLE_LOG),
        CParameter::HashLog(ZSTD_TABLE_LOG),
        CParameter::ChecksumFlag(false),
        CParameter::ContentSizeFlag(false),
    ] {
        context.set_parameter(parameter).map_err(refused)?;
    }
    Ok(context)
}

fn flush_zlib(
    deflate: &mut Deflate,
    mut payload: &[u8],
    wire: &mut Vec<u8>,
) -> std::result::Result<(), Error> {
    let broken = |_| Error::new(Kind::Corrupt, 0, "zlib refuses to compress a message");
    loop {
        let at = wire.len();
        wire.resize(at + STEP, 0);
        let (read, written) = (deflate.total_in(), deflate.total_out());
        let done = deflate.compress(payload, &mut wire[at..], DeflateFlush::SyncFlush);
        let written = (deflate.total_out() - written) as usize;
        payload = &payload[(deflate.total_in() - read) as usize..];
        wire.truncate(at + written);
        done.map_err(broken)?;
        if written < STEP {
            return Ok(());
        }
    }
}

fn flush_zstd(context: &mut CCtx<'_>, payload: &[u8], wire: &mut Vec<u8>) -> std::result::Result<(), Error> {
    let mut input = InBuffer::around(payload);
    loop {
        let at = wire.len();
        wire.resize(at + STEP, 0);
        let mut output = OutBuffer::around(&mut wire[at..]);
        let left = context.compress_stream2(&mut output, &mut input, ZSTD_EndDirective::ZSTD_e_flush);
        let written = output.pos();
        wire.truncate(at + written);
        if left.map_err(refused)? == 0 {
            return Ok(());
        }
    }
}
