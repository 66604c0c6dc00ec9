//! Decoders of other libraries for one connection, to compare results with: `linerate gateway
//! replay --decoder`.

use linerate_gateway::Transport;
use zlib_rs::{Inflate, InflateFlush};
#[cfg(feature = "zstd-compress")]
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name};

/// The last bytes of each zlib-stream message: the lengths of the empty block of a sync flush.
const SUFFIX: [u8; 4] = [0, 0, 0xff, 0xff];
/// Largest payload that is decoded, in bytes, whatever `--max-message` says.
const MAX_BUFFER: usize = 1 << 30;

enum Library {
    Zlib(Box<Inflate>),
    #[cfg(feature = "zstd-compress")]
    Zstd(DCtx<'static>),
}

/// The decoder of one connection.
pub(crate) struct PeerDecoder {
    library: Library,
    /// Bytes of a zlib-stream message that is not complete yet.
    parts: Vec<u8>,
    /// Buffer for a payload, one byte longer than the largest allowed one, so that a full buffer
    /// means an error.
    payload: Vec<u8>,
}

impl PeerDecoder {
    pub(crate) const NAMES: [&str; 2] = ["libzstd", "zlib-rs"];

    /// Opens a decoder for payloads of at most `max_message` bytes, or of 1 GiB if that is less.
    /// The error is a sentence.
    pub(crate) fn open(name: &str, transport: Transport, max_message: usize) -> Result<PeerDecoder, String> {
        let library = match (name, transport) {
            ("zlib-rs", Transport::Zlib) => zlib_rs(),
            ("libzstd", Transport::Zstd) => libzstd()?,
            _ => return Err(format!("{name} does not decode {transport}")),
        };
        Ok(PeerDecoder { library, parts: Vec::new(), payload: vec![0; max_message.min(MAX_BUFFER) + 1] })
    }

    /// Decodes a websocket message. Returns `None` if the payload continues in the next one, which
    /// only zlib-stream allows: there, a websocket message that ends with [`SUFFIX`] ends the
    /// payload. The error is the library's name and its message.
    pub(crate) fn message(&mut self, frame: &[u8]) -> Result<Option<&[u8]>, (&'static str, String)> {
        let (name, read, written, len) = match &mut self.library {
            Library::Zlib(inflate) => {
                self.parts.extend_from_slice(frame);
                if !self.parts.ends_with(&SUFFIX) {
                    return Ok(None);
                }
                let before = (inflate.total_in(), inflate.total_out());
                let done = inflate.decompress(&self.parts, &mut self.payload, InflateFlush::SyncFlush);
                let len = self.parts.len();
                self.parts.clear();
                done.map_err(|e| ("zlib-rs", format!("{e:?}")))?;
                let read = (inflate.total_in() - before.0) as usize;
                ("zlib-rs", read, (inflate.total_out() - before.1) as usize, len)
            }
            #[cfg(feature = "zstd-compress")]
            Library::Zstd(context) => {
                let mut input = InBuffer::around(frame);
                let mut output = OutBuffer::around(&mut self.payload[..]);
                let done = context.decompress_stream(&mut output, &mut input);
                done.map_err(|e| ("libzstd", get_error_name(e).to_owned()))?;
                ("libzstd", input.pos(), output.pos(), frame.len())
            }
        };
        match read == len && written < self.payload.len() {
            true => Ok(Some(&self.payload[..written])),
            false => Err((name, "the message was not decoded completely".into())),
        }
    }

    /// Begins a new connection. The error is a sentence.
    pub(crate) fn reset(&mut self) -> Result<(), String> {
        self.parts.clear();
        self.library = match &self.library {
            Library::Zlib(_) => zlib_rs(),
            #[cfg(feature = "zstd-compress")]
            Library::Zstd(_) => libzstd()?,
        };
        Ok(())
    }

    /// Bytes held by the connection, if the library reports them; otherwise 0.
    pub(crate) fn memory(&self) -> usize {
        match &self.library {
            Library::Zlib(_) => 0,
            #[cfg(feature = "zstd-compress")]
            Library::Zstd(context) => context.sizeof(),
        }
    }
}

fn zlib_rs() -> Library {
    Library::Zlib(Box::new(Inflate::new(true, 15)))
}

#[cfg(feature = "zstd-compress")]
fn libzstd() -> Result<Library, String> {
    let mut context = DCtx::try_create().ok_or("libzstd has no memory for a context")?;
    context.set_parameter(DParameter::WindowLogMax(16)).map_err(get_error_name)?;
    Ok(Library::Zstd(context))
}

#[cfg(not(feature = "zstd-compress"))]
fn libzstd() -> Result<Library, String> {
    Err("this program has no libzstd: it was built without the feature `zstd-compress`".into())
}
